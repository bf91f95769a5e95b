//! Tables for other guests: a host hands its own to components that import `leasebook:lease/table`.
//!
//! It is no border between guests: whoever has a table speaks for any holder of it. What only an operator may do
//! (revoke, release everything) is kept from a guest unless the host says otherwise, and events and records stay with
//! the host always.

use crate::bindings::Guest as Generated;
use crate::bindings::leasebook::lease::table as wit;
use crate::table::SharedLeaseTable;
use crate::types::{Period, Release, WaitAttempt, Wish};
use crate::{
    Containment, Covering, InvalidOptions, Lease, LimitReached, Mode, PinToken, Record, Released, RestoreError,
    Revoked, Status,
};
use wasmtime::Result;
use wasmtime::component::{HasData, Linker, Resource, ResourceTable};

/// The table that a guest is given, and what it may do with it. A part of the data of the guest's store.
#[derive(Clone)]
pub struct LeaseCtx {
    table: SharedLeaseTable,
    operator: bool,
}

/// Builds a [`LeaseCtx`].
#[must_use]
pub struct LeaseCtxBuilder {
    ctx: LeaseCtx,
}

impl LeaseCtx {
    /// A context that gives this table, and keeps from the guest what only an operator may do.
    pub fn builder(table: SharedLeaseTable) -> LeaseCtxBuilder {
        LeaseCtxBuilder { ctx: Self { table, operator: false } }
    }
}

impl LeaseCtxBuilder {
    /// May the guest revoke leases and release everything? A guest that may not traps where it tries. No unless set.
    pub fn operator(mut self, operator: bool) -> Self {
        self.ctx.operator = operator;
        self
    }

    /// The context.
    pub fn build(self) -> LeaseCtx {
        self.ctx
    }
}

/// A [`LeaseCtx`] and the handles of the guest, borrowed for one call.
///
/// [`Resource`]s of it are handles of [`SharedLeaseTable`]s: a host that wants to pass a table as an argument pushes a
/// clone to the [`ResourceTable`].
pub struct LeaseView<'a> {
    ctx: &'a LeaseCtx,
    handles: &'a mut ResourceTable,
}

impl<'a> LeaseView<'a> {
    /// Borrows the two.
    pub fn new(ctx: &'a LeaseCtx, handles: &'a mut ResourceTable) -> Self {
        Self { ctx, handles }
    }

    fn table(&self, handle: &Resource<SharedLeaseTable>) -> Result<&SharedLeaseTable> {
        Ok(self.handles.get(handle)?)
    }

    fn for_operators(&self, what: &str) -> Result<()> {
        if self.ctx.operator {
            return Ok(());
        }
        Err(wasmtime::format_err!("this guest may not {what}: it was given the table without an operator's rights"))
    }
}

/// Answers a guest's imports of `leasebook:lease/table` from the view of its store's data.
///
/// `table.new` hands out the table of the [`LeaseCtx`]. It refuses options that ask for another one, and `restore`
/// altogether. Calls are synchronous and short; they work in a store of either kind. A poisoned table traps the guest.
///
/// What one call of a guest may carry is bounded twice: by the fuel of its store
/// ([`set_hostcall_fuel`](wasmtime::Store::set_hostcall_fuel), a trap), and, as for a host, by
/// [`CALL_BYTES_MAX`](crate::CALL_BYTES_MAX), a refusal.
pub fn add_to_linker<T: 'static>(linker: &mut Linker<T>, view: fn(&mut T) -> LeaseView<'_>) -> Result<()> {
    Generated::add_to_linker::<T, Viewed>(linker, view)
}

struct Viewed;

impl HasData for Viewed {
    type Data<'a> = LeaseView<'a>;
}

impl wit::Host for LeaseView<'_> {
    fn contains(&mut self, path: String, directory: String) -> Result<Containment> {
        Ok(self.ctx.table.contains(&path, &directory)?)
    }
}

impl wit::HostTable for LeaseView<'_> {
    fn new(
        &mut self,
        options: wit::Options,
    ) -> Result<std::result::Result<Resource<SharedLeaseTable>, InvalidOptions>> {
        let table = &self.ctx.table;
        if let Some(field) = table.options().differing_option(&options) {
            let expected = "none, or that of the table which this host gives".into();
            return Ok(Err(InvalidOptions { field: field.into(), expected }));
        }
        Ok(Ok(self.handles.push(table.clone())?))
    }

    fn restore(
        &mut self,
        _: wit::Options,
        _: Vec<Record>,
    ) -> Result<std::result::Result<Resource<SharedLeaseTable>, RestoreError>> {
        let expected = "a host that lets guests restore tables".into();
        Ok(Err(RestoreError { record: String::new(), expected }))
    }

    fn acquire(
        &mut self,
        table: Resource<SharedLeaseTable>,
        holder: String,
        wishes: Vec<wit::Wish>,
        ttl_ms: Option<f64>,
    ) -> Result<std::result::Result<Vec<Lease>, wit::Refused>> {
        let wishes: Vec<Wish<'_>> = wishes.iter().map(Wish::from).collect();
        Ok(self.table(&table)?.acquire(&holder, &wishes, ttl_ms.map(Period))?.map_err(Into::into))
    }

    fn wait_attempt(
        &mut self,
        table: Resource<SharedLeaseTable>,
        attempt: wit::WaitAttempt,
    ) -> Result<std::result::Result<Vec<Lease>, wit::Refused>> {
        let wishes: Vec<Wish<'_>> = attempt.wishes.iter().map(Wish::from).collect();
        let attempt = WaitAttempt {
            waiter_id: &attempt.waiter_id,
            holder: &attempt.holder,
            wishes: &wishes,
            ttl: attempt.ttl_ms.map(Period),
            allow_hold: attempt.allow_hold,
            keep: attempt.keep_ms.map(Period),
        };
        Ok(self.table(&table)?.wait_attempt(&attempt)?.map_err(Into::into))
    }

    fn cancel_wait(&mut self, table: Resource<SharedLeaseTable>, waiter_id: String) -> Result<bool> {
        Ok(self.table(&table)?.cancel_wait(&waiter_id)?)
    }

    fn refresh(
        &mut self,
        table: Resource<SharedLeaseTable>,
        holder: String,
        generation: u64,
        ttl_ms: Option<f64>,
    ) -> Result<std::result::Result<Lease, wit::RefreshRefused>> {
        Ok(self.table(&table)?.refresh(&holder, generation, ttl_ms.map(Period))?.map_err(Into::into))
    }

    fn release(
        &mut self,
        table: Resource<SharedLeaseTable>,
        holder: String,
        what: wit::Release,
    ) -> Result<std::result::Result<Released, LimitReached>> {
        let table = self.table(&table)?;
        Ok(match what {
            wit::Release::All => table.release(&holder, Release::All)?,
            wit::Release::Paths(paths) => {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                table.release(&holder, Release::Paths(&paths))?
            }
            wit::Release::Generation(generation) => table.release(&holder, Release::Generation(generation))?,
        })
    }

    fn release_holder(&mut self, table: Resource<SharedLeaseTable>, holder: String) -> Result<u32> {
        Ok(self.table(&table)?.release_holder(&holder)?)
    }

    fn release_all(&mut self, table: Resource<SharedLeaseTable>) -> Result<u32> {
        self.for_operators("release everything")?;
        Ok(self.table(&table)?.release_all()?)
    }

    fn end_session(&mut self, table: Resource<SharedLeaseTable>, holder: String) -> Result<u32> {
        Ok(self.table(&table)?.end_session(&holder)?)
    }

    fn revoke(&mut self, table: Resource<SharedLeaseTable>, generation: u64, force: bool) -> Result<Option<Revoked>> {
        self.for_operators("revoke leases")?;
        Ok(self.table(&table)?.revoke(generation, force)?)
    }

    fn covering(
        &mut self,
        table: Resource<SharedLeaseTable>,
        holder: String,
        path: String,
        mode: Mode,
    ) -> Result<Covering> {
        Ok(self.table(&table)?.covering(&holder, &path, mode)?)
    }

    fn pin(
        &mut self,
        table: Resource<SharedLeaseTable>,
        holder: String,
        paths: Vec<String>,
        mode: Mode,
        deadline_ms: Option<u64>,
    ) -> Result<std::result::Result<PinToken, wit::PinRefused>> {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        Ok(self.table(&table)?.pin(&holder, &paths, mode, deadline_ms)?.map_err(Into::into))
    }

    fn unpin(&mut self, table: Resource<SharedLeaseTable>, token: PinToken) -> Result<bool> {
        Ok(self.table(&table)?.unpin(token)?)
    }

    fn ready(&mut self, table: Resource<SharedLeaseTable>) -> Result<Vec<String>> {
        Ok(self.table(&table)?.ready()?)
    }

    fn next_deadline(&mut self, table: Resource<SharedLeaseTable>) -> Result<Option<u64>> {
        Ok(self.table(&table)?.next_deadline()?)
    }

    fn leases(&mut self, table: Resource<SharedLeaseTable>) -> Result<Vec<Lease>> {
        Ok(self.table(&table)?.leases()?)
    }

    fn status(&mut self, table: Resource<SharedLeaseTable>) -> Result<Status> {
        Ok(self.table(&table)?.status()?)
    }

    // The host drains events and changes, and what one drains no other sees: a guest that did would lose records of
    // the table.

    fn take_events(&mut self, _: Resource<SharedLeaseTable>) -> Result<Vec<wit::Event>> {
        Ok(Vec::new())
    }

    fn records(&mut self, table: Resource<SharedLeaseTable>, which: wit::Extent) -> Result<Vec<Record>> {
        match which {
            wit::Extent::Everything => Ok(self.table(&table)?.records()?),
            wit::Extent::Changes => Ok(Vec::new()),
        }
    }

    fn drop(&mut self, table: Resource<SharedLeaseTable>) -> Result<()> {
        self.handles.delete(table)?;
        Ok(())
    }
}
