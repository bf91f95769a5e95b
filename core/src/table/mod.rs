//! The table: all leases of one namespace, changed only through the operations below.

mod deadlines;
mod grant;
mod graph;
mod hash;
mod holders;
mod leases;
mod log;
mod look;
mod options;
mod pairs;
mod pins;
mod queue;
mod reap;
mod records;
mod search;
mod tree;
mod waiters;

pub use options::{Fairness, InvalidOptions, Options};

use crate::event::Event;
use crate::lease::{
    Covering, Lease, Mode, NotHeld, PinRefusal, PinToken, RefreshRefusal, Refusal, Release, Released, Revoked, Status,
    TooManyPaths, WaitAttempt, Wish,
};
use crate::limits::PATHS_MAX;
use crate::path::Path;
use crate::record::{Counters, Record};
use crate::time::{Millis, Period};
use alloc::{string::String, vec::Vec};
use deadlines::Deadlines;
use grant::End;
use holders::Holders;
use leases::Leases;
use log::Log;
use pins::Pins;
use tree::Spot;
use waiters::Waiters;

/// The leases, waiters and pins of one namespace.
///
/// # Operations
///
/// Four kinds of methods: *commands* (`acquire`, `wait_attempt`, `refresh`, `release…`, `end_session`, `revoke`,
/// `cancel_wait`, `pin`, `unpin`) change the table; *looks* (`covering`, `ready`, `next_deadline`, `leases`, `status`)
/// do not; *drains* (`take_events`, `take_records`) hand out what a host carries on; the rest are getters. Commands
/// and looks take the moment they happen at, and first reap what has ended by then: a look at t1 changes no answer at
/// t2. A `now` earlier than the latest one seen counts as that.
///
/// A host that serves waiters drains [`Table::ready`] after every command. One that keeps records drains
/// [`Table::take_records`] after every command, and makes them durable before it gives the answer away.
#[derive(Clone, Debug)]
pub struct Table {
    options: Options,
    now: u64,
    last_generation: u64,
    last_place: u64,
    last_token: u64,
    holders: Holders,
    leases: Leases,
    waiters: Waiters,
    pins: Pins,
    deadlines: Deadlines,
    /// A grant may have closed a cycle among waiters (`barge` only): the search for cycles must then look further.
    tangled: bool,
    visits: u64,
    log: Log,
}

/// A wish that was read: where it is, and how far the lease tree knows it.
#[derive(Clone, Copy, Debug)]
struct Asked<'a> {
    path: Path<'a>,
    exclusive: bool,
    spot: Option<Spot>,
}

impl Table {
    /// An empty table.
    pub fn new(options: Options) -> Result<Self, InvalidOptions> {
        options.check()?;
        let key = options.hash_key;
        Ok(Self {
            now: 0,
            last_generation: 0,
            last_place: 0,
            last_token: 0,
            holders: Holders::new(key),
            leases: Leases::new(key),
            waiters: Waiters::new(key),
            pins: Pins::default(),
            deadlines: Deadlines::default(),
            tangled: false,
            visits: 0,
            log: Log::new(options.events, options.journal),
            options,
        })
    }

    /// Asks for leases: all of them, or none. The leases come in the order of the wishes; a location that the holder
    /// already holds is refreshed, and never made weaker.
    ///
    /// `ttl`: 1 to [`TTL_MS_MAX`](crate::limits::TTL_MS_MAX) milliseconds; `None` = the default of the table. In
    /// `fifo` a wish stands behind the waiters it overlaps, without getting a place of its own.
    pub fn acquire(
        &mut self,
        now: Millis,
        holder: &str,
        wishes: &[Wish<'_>],
        ttl: Option<Period>,
    ) -> Result<Vec<Lease>, Refusal> {
        self.reap(now);
        let answer = self.try_acquire(holder, wishes, ttl);
        self.finish(holder, &answer, false);
        answer
    }

    /// Tries like [`Table::acquire`]; where that is a conflict, registers a waiter in the same step.
    ///
    /// The waiter stands until an attempt of it is granted, refused as `hold-and-wait` or `deadlock`, or cancelled, or
    /// until it was not tried again for its keep. An attempt under a standing id keeps the start; in `fifo` it keeps
    /// its place in the queue as long as it asks for the same locations and modes.
    pub fn wait_attempt(&mut self, now: Millis, attempt: &WaitAttempt<'_>) -> Result<Vec<Lease>, Refusal> {
        self.reap(now);
        let answer = self.try_wait(attempt);
        self.finish(attempt.holder, &answer, true);
        answer
    }

    /// Somebody waits under this id, as far as the table has seen.
    /// The first ready waiter of these; one is looked at after the other, and none is copied.
    pub(crate) fn first_ready(&self, is_one: impl Fn(&str) -> bool) -> Option<&str> {
        let mut ids = self.waiters.ready.slots().map(|slot| &*self.waiters.get(slot).id);
        ids.find(|id| is_one(id))
    }

    pub(crate) fn is_waiting(&self, waiter_id: &str) -> bool {
        self.waiters.find(waiter_id).is_some()
    }

    /// Takes a waiter out. `false`: there is none of this id.
    pub fn cancel_wait(&mut self, now: Millis, waiter_id: &str) -> bool {
        self.reap(now);
        let found = self.waiters.find(waiter_id);
        if let Some(slot) = found {
            self.cancel(slot);
        }
        self.settle();
        found.is_some()
    }

    /// Gives a live lease a new ttl. It never makes a new lease and never revives an ended one: what a keep-alive uses.
    pub fn refresh(
        &mut self,
        now: Millis,
        holder: &str,
        generation: u64,
        ttl: Option<Period>,
    ) -> Result<Lease, RefreshRefusal> {
        self.reap(now);
        let ttl_ms = self.ttl_ms(ttl).map_err(|ttl_ms| RefreshRefusal::InvalidTtl { ttl_ms })?;
        let slot = self.own_lease(holder, generation).ok_or(RefreshRefusal::Stale)?;
        if self.leases.data(slot).ended() {
            return Err(RefreshRefusal::Stale);
        }
        self.extend(slot, ttl_ms, false);
        self.settle();
        Ok(self.lease(slot))
    }

    /// Gives leases back. One that is pinned stays in place, ended, until the last unpin.
    pub fn release(&mut self, now: Millis, holder: &str, what: Release<'_>) -> Result<Released, TooManyPaths> {
        self.reap(now);
        let answer = match what {
            Release::All => {
                let slots = self.own_leases(holder);
                let released = slots.iter().map(|&slot| self.leases.spelling(slot)).collect();
                slots.into_iter().for_each(|slot| self.end(slot, End::Released));
                Released { released, not_held: Vec::new() }
            }
            Release::Generation(generation) => match self.own_lease(holder, generation) {
                Some(slot) => self.release_one(slot, self.leases.spelling(slot)),
                None => Released { released: Vec::new(), not_held: Vec::from([NotHeld::Generation(generation)]) },
            },
            Release::Paths(paths) if paths.len() > PATHS_MAX => return Err(TooManyPaths),
            Release::Paths(paths) => self.release_paths(holder, paths),
        };
        self.settle();
        Ok(answer)
    }

    /// Gives back everything of a holder, and drops its waiters: its run is over. Answers the number of its leases,
    /// those included that pins still keep.
    pub fn release_holder(&mut self, now: Millis, holder: &str) -> usize {
        self.reap(now);
        let count = self.drop_holder(holder);
        self.settle();
        count
    }

    /// The same for every holder.
    pub fn release_all(&mut self, now: Millis) -> usize {
        self.reap(now);
        for slot in self.waiter_slots() {
            self.cancel(slot);
        }
        let slots = self.lease_slots();
        for &slot in &slots {
            self.end(slot, End::Released);
        }
        self.settle();
        slots.len()
    }

    /// The holder is known to be gone: its leases and waiters go, and its pins keep nothing any more. Answers the
    /// number of leases that went.
    pub fn end_session(&mut self, now: Millis, holder: &str) -> usize {
        self.reap(now);
        if let Some(holder) = self.holders.find(holder).filter(|&h| self.holders.get(h).pins > 0) {
            let pins = self.pins.iter().filter(|(_, pin)| pin.holder == holder).map(|(slot, _)| slot);
            for slot in pins.collect::<Vec<_>>() {
                // What it kept goes with the rest in the next step, so that it is counted.
                self.loosen(slot, false);
            }
        }
        let count = self.drop_holder(holder);
        self.settle();
        count
    }

    /// Takes a lease away, by an operator. It waits for pins unless forced; the tokens stay good for unpin.
    /// `None`: there is no lease of this generation.
    pub fn revoke(&mut self, now: Millis, generation: u64, force: bool) -> Option<Revoked> {
        self.reap(now);
        let slot = self.leases.find(generation)?;
        let item = self.leases.tree.item(slot);
        let holder = self.holders.get(item.holder).id.clone();
        let revoked =
            Revoked { holder, path: self.leases.spelling(slot), pending: self.leases.data(slot).pins > 0 && !force };
        self.end(slot, if force { End::Forced } else { End::Revoked });
        self.settle();
        Some(revoked)
    }

    /// What stands over a path, for this holder: the first that holds of `other`, `own`, `unknown`, `free`. It sees
    /// leases only, never waiters.
    pub fn covering(&mut self, now: Millis, holder: &str, path: &str, mode: Mode) -> Covering {
        self.reap(now);
        self.look_at(holder, path, mode)
    }

    /// Keeps leases in place while a write is in flight: for each path the first-granted live own lease, at least that
    /// strong, that contains it. `deadline`: the moment at which the pin runs out by itself; `None` = never.
    pub fn pin(
        &mut self,
        now: Millis,
        holder: &str,
        paths: &[&str],
        mode: Mode,
        deadline: Option<Millis>,
    ) -> Result<PinToken, PinRefusal> {
        self.reap(now);
        self.try_pin(holder, paths, mode, deadline)
    }

    /// Takes a pin away; a lease that ended meanwhile goes with its last pin. `false`: there is no such pin.
    pub fn unpin(&mut self, now: Millis, token: PinToken) -> bool {
        self.reap(now);
        let found = self.pins.find(token.0);
        if let Some(slot) = found {
            self.loosen(slot, true);
        }
        self.settle();
        found.is_some()
    }

    /// The ids of the waiters whose next attempt would be granted, in queue order.
    pub fn ready(&mut self, now: Millis) -> Vec<String> {
        self.reap(now);
        self.waiters.ready.slots().map(|slot| self.waiters.get(slot).id.as_ref().into()).collect()
    }

    /// The next moment at which time alone changes something: a live lease expires, a waiter lapses, a pin runs out.
    /// `None`: never.
    pub fn next_deadline(&mut self, now: Millis) -> Option<Millis> {
        self.reap(now);
        while let Some((at, due)) = self.deadlines.peek() {
            match self.falls_due(due) {
                Some(true) if self.queued(due) == at => return Some(Millis::exact(at)),
                _ => self.requeue(at, due),
            }
        }
        None
    }

    /// All leases, in grant order.
    pub fn leases(&mut self, now: Millis) -> Vec<Lease> {
        self.reap(now);
        self.lease_slots().into_iter().map(|slot| self.lease(slot)).collect()
    }

    /// Everything, from one instant.
    pub fn status(&mut self, now: Millis) -> Status {
        self.reap(now);
        self.whole_status()
    }

    /// The events since the last call, oldest first; none unless [`Options::events`] says how many to keep.
    #[must_use]
    pub fn take_events(&mut self) -> Vec<Event> {
        self.log.take_events(self.now)
    }

    /// The records that changed since the last call, none unless [`Options::journal`] is set. A table restored from
    /// them gives the same answers. The time alone is not a change: a host starts again at a time no earlier than any
    /// it has used.
    #[must_use]
    pub fn take_records(&mut self) -> Vec<Record> {
        let counters = self.counters();
        self.log.take_records(counters)
    }

    /// How many nodes and items the searches of this table have looked at. Tests show with it that nothing scans.
    pub fn visited(&self) -> u64 {
        self.visits
    }

    /// The number of standing leases, as the last operation left it.
    pub fn standing(&self) -> usize {
        self.leases.tree.len()
    }

    /// How it was started.
    pub fn options(&self) -> &Options {
        &self.options
    }

    fn counters(&self) -> Counters {
        Counters {
            now_ms: self.now,
            last_generation: self.last_generation,
            last_place: self.last_place,
            last_token: self.last_token,
        }
    }

    fn is_fifo(&self) -> bool {
        self.options.fairness == Fairness::Fifo
    }
}
