//! The table as a host's value: one of its own, and one that threads share.
//!
//! Both have the operations of the core without `now`; each answers what the core answers, or a [`CallError`].

use crate::bindings::leasebook::lease::table::Extent;
use crate::book::{Book, Plan};
use crate::clock::{Clock, SystemClock};
use crate::component::{State, TableComponent};
use crate::error::{CallError, LoadError};
use crate::exports::Exports;
use crate::options::{Options, instance_bytes_max};
use crate::types::{LoweredAttempt, Period, Release, WaitAttempt, Wish};
use crate::{
    Containment, Covering, Event, Lease, LimitReached, Mode, PinRefusal, PinToken, Record, RefreshRefusal, Refusal,
    Refused, Released, Revoked, Status, sizes,
};
use std::sync::{Arc, Mutex};
use wasmtime::Store;
use wasmtime::component::ResourceAny;

/// All leases, waiters and pins of one namespace, kept by an instance of the component.
///
/// The operations are those of the core's `Table`; they read the clock that the table was built with. A refusal is an
/// answer. A [`CallError`] is not: after the first one the table is poisoned and every later call says so.
pub struct LeaseTable {
    book: Book,
    clock: Arc<dyn Clock>,
    options: Options,
}

/// A [`LeaseTable`] behind a lock. Clones share it.
///
/// The clock is read outside the lock, and nobody's code runs inside. A call takes about a microsecond, and longer
/// where it lists or carries much.
#[derive(Clone)]
pub struct SharedLeaseTable {
    shared: Arc<Shared>,
}

struct Shared {
    book: Mutex<Book>,
    clock: Arc<dyn Clock>,
    options: Options,
}

/// Builds a table.
///
/// Unless told otherwise it is the component that the crate carries, compiled for this table alone, with a
/// [`SystemClock`].
#[must_use]
pub struct Builder {
    options: Options,
    component: Option<TableComponent>,
    clock: Arc<dyn Clock>,
    instance_bytes_max: Option<u64>,
    call_ticks: Option<u64>,
}

impl LeaseTable {
    /// An empty table of the component that the crate carries, on the system's clock.
    pub fn new(options: Options) -> Result<Self, LoadError> {
        Self::builder(options).build()
    }

    /// A table with more of its parts chosen.
    pub fn builder(options: Options) -> Builder {
        Builder {
            options,
            component: None,
            clock: Arc::new(SystemClock::new()),
            instance_bytes_max: None,
            call_ticks: None,
        }
    }

    /// How it started.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The table, for many threads.
    pub fn share(self) -> SharedLeaseTable {
        let Self { book, clock, options } = self;
        SharedLeaseTable { shared: Arc::new(Shared { book: Mutex::new(book), clock, options }) }
    }

    fn run<T>(
        &mut self,
        operation: impl FnOnce(&Exports, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        self.book.call(self.clock.now_ms(), operation)
    }
}

impl SharedLeaseTable {
    /// How it started.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// What its clock says.
    pub(crate) fn now_ms(&self) -> u64 {
        self.shared.clock.now_ms()
    }

    fn run<T>(
        &self,
        operation: impl FnOnce(&Exports, &mut Store<State>, ResourceAny) -> wasmtime::Result<T>,
    ) -> Result<T, CallError> {
        let now_ms = self.shared.clock.now_ms();
        match self.shared.book.lock() {
            Ok(mut book) => book.call(now_ms, operation),
            Err(_) => Err(CallError::Poisoned { cause: "a thread panicked during a call".into() }),
        }
    }
}

impl Builder {
    /// The component to instantiate; one for many tables saves compiling it for each.
    pub fn component(mut self, component: &TableComponent) -> Self {
        self.component = Some(component.clone());
        self
    }

    /// Where its time comes from.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// How large the memory of the instance may grow, in bytes. Unless set, four times as large as
    /// [`Options::memory_bytes_max`] and [`CALL_BYTES_MAX`](crate::CALL_BYTES_MAX) together: room for a copy of
    /// everything as an answer. A call that needs more traps, which poisons the table.
    pub fn instance_bytes_max(mut self, bytes: u64) -> Self {
        self.instance_bytes_max = Some(bytes);
        self
    }

    /// How far the epoch of the engine may get during one call, so that none can hang; a call that takes longer traps,
    /// which poisons the table. It has an effect in an engine with `epoch_interruption`
    /// ([`TableComponent::config`]), whose epoch somebody counts up. Unbounded unless set.
    pub fn call_ticks(mut self, ticks: u64) -> Self {
        self.call_ticks = Some(ticks);
        self
    }

    /// An empty table.
    pub fn build(self) -> Result<LeaseTable, LoadError> {
        self.make(Book::new)
    }

    /// A table from its records: those of `records` followed by all that `take_records` gave since, in order. It
    /// answers like the one they came from, and never reuses a generation. At most
    /// [`Options::memory_bytes_max`] bytes of records.
    pub fn restore(self, records: &[Record]) -> Result<LeaseTable, LoadError> {
        self.make(|plan| Book::restore(plan, records))
    }

    fn make(self, book: impl FnOnce(&Plan<'_>) -> Result<Book, LoadError>) -> Result<LeaseTable, LoadError> {
        let component = self.component.map_or_else(TableComponent::embedded, Ok)?;
        let plan = Plan {
            component: &component,
            options: &self.options,
            instance_bytes_max: self
                .instance_bytes_max
                .unwrap_or_else(|| instance_bytes_max(self.options.memory_bytes_max)),
            call_ticks: self.call_ticks,
        };
        let book = book(&plan)?;
        Ok(LeaseTable { book, clock: self.clock, options: self.options })
    }
}

/// A refusal of our own: before anything is copied into the component.
fn too_much<R>(options: &Options, limit: LimitReached, reason: fn(LimitReached) -> R) -> Refused<R> {
    let sentence = options.sentences.then(|| format!("one call carries at most {} bytes of paths", limit.limit));
    Refused { reason: reason(limit), sentence }
}

macro_rules! operations {
    ($table:ty, $receiver:ty) => {
        impl $table {
            /// Grants all the wishes, or none of them. `holder` is 1 to 256 bytes, `wishes` 1 to 1 024; `ttl` is whole
            /// milliseconds up to 24 hours, `None` = the default of the table. Leases in the order of the wishes; a
            /// location that the holder already has is refreshed.
            pub fn acquire(
                self: $receiver,
                holder: &str,
                wishes: &[Wish<'_>],
                ttl: Option<Period>,
            ) -> Result<Result<Vec<Lease>, Refused<Refusal>>, CallError> {
                if let Err(limit) = sizes::check_wishes(wishes) {
                    return Ok(Err(too_much(self.options(), limit, Refusal::LimitExceeded)));
                }
                let ttl_ms = ttl.map(|ttl| ttl.0);
                let holder = sizes::id(holder);
                let granted = self.run(|exports, store, table| exports.acquire(store, table, holder, wishes, ttl_ms));
                Ok(granted?.map_err(Refused::from))
            }

            /// Grants all the wishes, or registers the holder as waiting for them; each further call is an attempt and
            /// keeps the waiter. A grant ends the waiter.
            pub fn wait_attempt(
                self: $receiver,
                attempt: &WaitAttempt<'_>,
            ) -> Result<Result<Vec<Lease>, Refused<Refusal>>, CallError> {
                if let Err(limit) = sizes::check_wishes(attempt.wishes) {
                    return Ok(Err(too_much(self.options(), limit, Refusal::LimitExceeded)));
                }
                let lowered = LoweredAttempt {
                    waiter_id: sizes::id(attempt.waiter_id),
                    holder: sizes::id(attempt.holder),
                    wishes: attempt.wishes,
                    ttl_ms: attempt.ttl.map(|ttl| ttl.0),
                    allow_hold: attempt.allow_hold,
                    keep_ms: attempt.keep.map(|keep| keep.0),
                };
                let granted = self.run(|exports, store, table| exports.wait_attempt(store, table, lowered));
                Ok(granted?.map_err(Refused::from))
            }

            /// Ends a waiter; false where there is none of that id.
            pub fn cancel_wait(self: $receiver, waiter_id: &str) -> Result<bool, CallError> {
                self.run(|exports, store, table| exports.cancel_wait(store, table, sizes::id(waiter_id)))
            }

            /// Gives a live lease a new ttl from now on; `None` = the default of the table. Its generation stays.
            pub fn refresh(
                self: $receiver,
                holder: &str,
                generation: u64,
                ttl: Option<Period>,
            ) -> Result<Result<Lease, Refused<RefreshRefusal>>, CallError> {
                let ttl_ms = ttl.map(|ttl| ttl.0);
                let holder = sizes::id(holder);
                let refreshed =
                    self.run(|exports, store, table| exports.refresh(store, table, holder, generation, ttl_ms));
                Ok(refreshed?.map_err(Refused::from))
            }

            /// Gives leases of the holder back. Pinned ones end now and go at the last unpin. Releases nothing where
            /// more than 1 024 paths, or more than [`CALL_BYTES_MAX`](crate::CALL_BYTES_MAX) bytes of them, are named.
            pub fn release(
                self: $receiver,
                holder: &str,
                what: Release<'_>,
            ) -> Result<Result<Released, LimitReached>, CallError> {
                if let Release::Paths(paths) = what
                    && let Err(limit) = sizes::check_paths(paths)
                {
                    return Ok(Err(limit));
                }
                self.run(|exports, store, table| exports.release(store, table, sizes::id(holder), what))
            }

            /// Gives back everything a holder has and ends its waiters; pins keep what they pin. Counts the leases.
            pub fn release_holder(self: $receiver, holder: &str) -> Result<u32, CallError> {
                self.run(|exports, store, table| exports.release_holder(store, table, sizes::id(holder)))
            }

            /// Gives back everything and ends all waiters; pins keep what they pin. Counts the leases.
            pub fn release_all(self: $receiver) -> Result<u32, CallError> {
                self.run(|exports, store, table| exports.release_all(store, table))
            }

            /// As `release_holder`, of a holder known to be gone: its pins go first, and keep nothing. Counts the
            /// leases.
            pub fn end_session(self: $receiver, holder: &str) -> Result<u32, CallError> {
                self.run(|exports, store, table| exports.end_session(store, table, sizes::id(holder)))
            }

            /// Takes a lease away, by an operator. A pinned one is marked and goes at the last unpin, a forced one
            /// goes now. `None`: no lease of that generation stands.
            pub fn revoke(self: $receiver, generation: u64, force: bool) -> Result<Option<Revoked>, CallError> {
                self.run(|exports, store, table| exports.revoke(store, table, generation, force))
            }

            /// What stands over a path for this holder, who would use it in this mode. Any string is answered.
            pub fn covering(self: $receiver, holder: &str, path: &str, mode: Mode) -> Result<Covering, CallError> {
                let (holder, path) = (sizes::id(holder), sizes::path(path));
                self.run(|exports, store, table| exports.covering(store, table, holder, path, mode))
            }

            /// Keeps the live leases of the holder that contain these paths (1 to 1 024) in place until `unpin`, or
            /// until the deadline: a moment of the clock, in milliseconds; `None` = no deadline.
            pub fn pin(
                self: $receiver,
                holder: &str,
                paths: &[&str],
                mode: Mode,
                deadline_ms: Option<u64>,
            ) -> Result<Result<PinToken, Refused<PinRefusal>>, CallError> {
                if let Err(limit) = sizes::check_paths(paths) {
                    return Ok(Err(too_much(self.options(), limit, PinRefusal::LimitExceeded)));
                }
                let holder = sizes::id(holder);
                let pinned =
                    self.run(|exports, store, table| exports.pin(store, table, holder, paths, mode, deadline_ms));
                Ok(pinned?.map_err(Refused::from))
            }

            /// Ends a pin; false where there is none of that token.
            pub fn unpin(self: $receiver, token: PinToken) -> Result<bool, CallError> {
                self.run(|exports, store, table| exports.unpin(store, table, token))
            }

            /// The ids of the waiters whose attempt would now be granted, in queue order.
            pub fn ready(self: $receiver) -> Result<Vec<String>, CallError> {
                self.run(|exports, store, table| exports.ready(store, table))
            }

            /// The next moment at which time alone changes something, in milliseconds of the clock; `None` = there is
            /// none.
            pub fn next_deadline(self: $receiver) -> Result<Option<u64>, CallError> {
                self.run(|exports, store, table| exports.next_deadline(store, table))
            }

            /// The leases, in grant order.
            pub fn leases(self: $receiver) -> Result<Vec<Lease>, CallError> {
                self.run(|exports, store, table| exports.leases(store, table))
            }

            /// Leases, waiters and pins of one instant.
            pub fn status(self: $receiver) -> Result<Status, CallError> {
                self.run(|exports, store, table| exports.status(store, table))
            }

            /// The events since the last call; at most as many as the options say.
            pub fn take_events(self: $receiver) -> Result<Vec<Event>, CallError> {
                let events = self.run(|exports, store, table| exports.take_events(store, table))?;
                Ok(events.into_iter().map(Event::from).collect())
            }

            /// The records that changed since the last call, where the options ask for a journal. To be stored in this
            /// order, before the answer of the operation is acted upon.
            pub fn take_records(self: $receiver) -> Result<Vec<Record>, CallError> {
                self.run(|exports, store, table| exports.records(store, table, Extent::Changes))
            }

            /// Everything as records: counters, leases, waiters, pins.
            pub fn records(self: $receiver) -> Result<Vec<Record>, CallError> {
                self.run(|exports, store, table| exports.records(store, table, Extent::Everything))
            }

            /// Does the directory contain the path? The same test that a table uses, for a policy beside it. Any two
            /// strings are answered.
            pub fn contains(self: $receiver, path: &str, directory: &str) -> Result<Containment, CallError> {
                let (path, directory) = (sizes::path(path), sizes::path(directory));
                self.run(|exports, store, _| exports.contains(store, path, directory))
            }
        }
    };
}

operations!(LeaseTable, &mut Self);
operations!(SharedLeaseTable, &Self);
