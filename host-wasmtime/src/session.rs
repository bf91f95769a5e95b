//! Sessions: a plugin is given leases under one holder, and nothing of it outlives the plugin.
//!
//! Unlike [`add_to_linker`](crate::add_to_linker) this is a border between guests: nothing that a plugin says names a
//! holder. Its waiter ids get a prefix that no other session has, and its pins are handles that only it holds.

use crate::bindings::leasebook::lease::table::{
    self as wit, Covering, Lease, Limit, LimitReached, Mode, PinRefused, PinToken, RefreshRefused, Refused, Released,
};
use crate::bindings::plugin::leasebook::lease::session as interface;
use crate::error::CallError;
use crate::table::SharedLeaseTable;
use crate::types::{Period, Release, WaitAttempt, Wish};
use std::hash::{BuildHasher, RandomState};
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};
use wasmtime::{Result, Store};

/// The longest waiter id of a plugin, in bytes: what the table takes (256) less the prefix of the session.
pub const SESSION_WAITER_ID_BYTES_MAX: usize = 256 - PREFIX_BYTES;

/// Sixteen hexadecimal digits and a full stop.
const PREFIX_BYTES: usize = 17;

/// What one plugin may do with a table: everything that a holder may, as one holder. A part of the data of its store.
///
/// Dropping it, for instance with the store, ends it: the plugin's pins, leases and waiters go at once.
pub struct Session {
    table: SharedLeaseTable,
    holder: String,
    /// What the plugin's waiter ids begin with in the table.
    prefix: String,
    /// Handles of pins that the plugin has not dropped.
    handles: u32,
    over: bool,
}

impl Session {
    /// A session of this holder: 1 to 256 bytes without control characters, else the table refuses whatever the plugin
    /// asks. A holder has one session at a time: when one ends, so does everything of the holder.
    pub fn new(table: SharedLeaseTable, holder: impl Into<String>) -> Self {
        let holder = holder.into();
        // Drawn, so that neither a plugin nor whoever uses the table directly hits upon it.
        let prefix = format!("{:016x}.", RandomState::new().hash_one(&holder));
        Self { table, holder, prefix, handles: 0, over: false }
    }

    /// For whom the plugin speaks.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// Ends the session: what the plugin has goes at once, and every further call of it traps. Counts the leases.
    pub fn end(&mut self) -> std::result::Result<u32, CallError> {
        self.over = true;
        self.table.end_session(&self.holder)
    }

    /// The ids, as the plugin says them, of its waiters whose attempt would now be granted, in queue order: it is time to
    /// call the plugin again.
    pub fn ready(&self) -> std::result::Result<Vec<String>, CallError> {
        let ready = self.table.ready()?;
        Ok(ready.iter().filter_map(|id| id.strip_prefix(&self.prefix)).map(str::to_owned).collect())
    }

    /// A waiter id as the table knows it.
    fn own_id(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }

    /// How many handles of pins may be open at once, and the bound that says so.
    fn handles_max(&self) -> LimitReached {
        let limits = self.table.options().limits;
        let (which, limit) = match limits.pins < limits.pins_per_holder {
            true => (Limit::Pins, limits.pins),
            false => (Limit::PinsPerHolder, limits.pins_per_holder),
        };
        LimitReached { which, limit: limit.into() }
    }

    /// The sentence of a bound, as the table says it.
    fn sentence(&self, reached: LimitReached) -> Option<String> {
        let say = || format!("the limit of {} is reached for {}", reached.limit, reached.which.name());
        self.table.options().sentences.then(say)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It fails only where the table is poisoned. A host that restores it from records ends the sessions there.
        let _ = self.end();
    }
}

/// Calls a plugin, and ends its session where that fails: a plugin that trapped or ran out of fuel is gone for sure.
///
/// `session` finds the session in the data of the store.
pub fn call_plugin<T, R>(
    store: &mut Store<T>,
    session: impl FnOnce(&mut T) -> &mut Session,
    call: impl FnOnce(&mut Store<T>) -> Result<R>,
) -> Result<R> {
    call(store).inspect_err(|_| {
        // A poisoned table has nothing left to end; that the plugin failed is what the caller is told.
        let _ = session(store.data_mut()).end();
    })
}

/// A standing pin of a plugin, as its handle names it.
pub struct Pinned {
    token: PinToken,
}

/// A [`Session`] and the handles of the plugin, borrowed for one call.
pub struct SessionView<'a> {
    session: &'a mut Session,
    handles: &'a mut ResourceTable,
}

impl<'a> SessionView<'a> {
    /// Borrows the two.
    pub fn new(session: &'a mut Session, handles: &'a mut ResourceTable) -> Self {
        Self { session, handles }
    }

    fn live(&self) -> Result<&Session> {
        if self.session.over {
            return Err(wasmtime::format_err!("the session of this plugin is over"));
        }
        Ok(self.session)
    }

    fn unpin_handle(&mut self, pinned: Resource<Pinned>) -> Result<bool> {
        let Pinned { token } = self.handles.delete(pinned)?;
        self.session.handles -= 1;
        // Where the session is over, the pin is gone, and dropping a handle is no reason to trap.
        Ok(!self.session.over && self.session.table.unpin(token)?)
    }
}

/// Answers a plugin's imports of `leasebook:lease/session` from the view of its store's data.
///
/// Calls are synchronous and short; they work in a store of either kind. A poisoned table traps the plugin, and so does
/// a session that is over. What one call may carry is bounded by the fuel of the store
/// ([`set_hostcall_fuel`](wasmtime::Store::set_hostcall_fuel), a trap) and by
/// [`CALL_BYTES_MAX`](crate::CALL_BYTES_MAX), a refusal; what a plugin may have, by the limits per holder of the table.
pub fn add_session_to_linker<T: 'static>(linker: &mut Linker<T>, view: fn(&mut T) -> SessionView<'_>) -> Result<()> {
    interface::add_to_linker::<T, Viewed>(linker, view)
}

struct Viewed;

impl HasData for Viewed {
    type Data<'a> = SessionView<'a>;
}

type Answer<T, R> = Result<std::result::Result<T, R>>;

impl interface::Host for SessionView<'_> {
    fn holder(&mut self) -> Result<String> {
        Ok(self.live()?.holder.clone())
    }

    fn acquire(&mut self, wishes: Vec<wit::Wish>, ttl_ms: Option<f64>) -> Answer<Vec<Lease>, Refused> {
        let Session { table, holder, .. } = self.live()?;
        let wishes: Vec<Wish<'_>> = wishes.iter().map(Wish::from).collect();
        Ok(table.acquire(holder, &wishes, ttl_ms.map(Period))?.map_err(Into::into))
    }

    fn wait_attempt(&mut self, attempt: interface::Attempt) -> Answer<Vec<Lease>, Refused> {
        let session = self.live()?;
        let waiter_id = session.own_id(&attempt.waiter_id);
        let wishes: Vec<Wish<'_>> = attempt.wishes.iter().map(Wish::from).collect();
        let attempt = WaitAttempt {
            waiter_id: &waiter_id,
            holder: &session.holder,
            wishes: &wishes,
            ttl: attempt.ttl_ms.map(Period),
            allow_hold: attempt.allow_hold,
            keep: attempt.keep_ms.map(Period),
        };
        Ok(session.table.wait_attempt(&attempt)?.map_err(|refused| {
            let mut refused = Refused::from(refused);
            if let wit::Refusal::LimitExceeded(reached) = &mut refused.reason
                && reached.which == Limit::WaiterId
            {
                // The table counts the prefix; the plugin knows nothing of it.
                reached.limit = SESSION_WAITER_ID_BYTES_MAX as u64;
                refused.sentence = session.sentence(*reached);
            }
            refused
        }))
    }

    fn cancel_wait(&mut self, waiter_id: String) -> Result<bool> {
        let session = self.live()?;
        Ok(session.table.cancel_wait(&session.own_id(&waiter_id))?)
    }

    fn ready(&mut self) -> Result<Vec<String>> {
        Ok(self.live()?.ready()?)
    }

    fn refresh(&mut self, generation: u64, ttl_ms: Option<f64>) -> Answer<Lease, RefreshRefused> {
        let Session { table, holder, .. } = self.live()?;
        Ok(table.refresh(holder, generation, ttl_ms.map(Period))?.map_err(Into::into))
    }

    fn release(&mut self, what: wit::Release) -> Answer<Released, LimitReached> {
        let Session { table, holder, .. } = self.live()?;
        Ok(match what {
            wit::Release::All => table.release(holder, Release::All)?,
            wit::Release::Paths(paths) => {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                table.release(holder, Release::Paths(&paths))?
            }
            wit::Release::Generation(generation) => table.release(holder, Release::Generation(generation))?,
        })
    }

    fn covering(&mut self, path: String, mode: Mode) -> Result<Covering> {
        let Session { table, holder, .. } = self.live()?;
        Ok(table.covering(holder, &path, mode)?)
    }

    fn pin(&mut self, paths: Vec<String>, mode: Mode, for_ms: Option<u64>) -> Answer<Resource<Pinned>, PinRefused> {
        let session = self.live()?;
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let deadline = for_ms.map(|for_ms| session.table.now_ms().saturating_add(for_ms));
        let token = match session.table.pin(&session.holder, &paths, mode, deadline)? {
            Ok(token) => token,
            Err(refused) => return Ok(Err(refused.into())),
        };
        // The table counts pins that stand. A handle is kept here until it is dropped, also when its pin has run out.
        let reached = session.handles_max();
        if u64::from(session.handles) >= reached.limit {
            session.table.unpin(token)?;
            let sentence = session.sentence(reached);
            return Ok(Err(PinRefused { reason: wit::PinRefusal::LimitExceeded(reached), sentence }));
        }
        let pinned = self.handles.push(Pinned { token })?;
        self.session.handles += 1;
        Ok(Ok(pinned))
    }

    fn unpin(&mut self, what: Resource<Pinned>) -> Result<bool> {
        self.live()?;
        self.unpin_handle(what)
    }

    fn end_session(&mut self) -> Result<u32> {
        let Session { table, holder, .. } = self.live()?;
        Ok(table.end_session(holder)?)
    }
}

impl interface::HostPinned for SessionView<'_> {
    fn drop(&mut self, pinned: Resource<Pinned>) -> Result<()> {
        self.unpin_handle(pinned).map(drop)
    }
}
