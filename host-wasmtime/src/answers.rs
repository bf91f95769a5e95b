//! Answers in the shapes of the core, where the interface packs them tighter to keep the component small.

use crate::bindings::leasebook::lease::journal as wit_journal;
use crate::bindings::leasebook::lease::table::AnyRefusal;
use crate::bindings::leasebook::lease::types as wit;
use crate::{Ahead, Conflict, LimitReached, Mode, PinRefusal, RefreshRefusal, RefusedAttempt};

/// What is in the way of an acquire or of a wait attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocked {
    /// The leases in the way: the wishes in order, under each the leases in grant order; at most 256. Empty where only
    /// the queue is in the way.
    pub conflicts: Vec<Conflict>,
    /// There are more conflicts than are listed.
    pub truncated: bool,
    /// Of a registered waiter: the holders in the way by lease or by queue, sorted; at most 256, those by lease first.
    pub blockers: Vec<String>,
    /// Who is ahead in the queue, where anybody is.
    pub ahead: Option<Ahead>,
}

/// A refused wait, and the cycle that it would have closed.
#[derive(Clone, Debug, PartialEq)]
pub struct Deadlock {
    /// What is in the way.
    pub blocked: Blocked,
    /// The cycle of holders: first = last, each waits for the next.
    pub cycle: Vec<String>,
}

/// Why an acquire or a wait attempt was not granted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The holder is not an id of 1 to 256 bytes without control characters.
    InvalidHolder,
    /// The ttl is not a whole number of milliseconds from 1 to 24 hours; the number as it was given.
    InvalidTtl(f64),
    /// The time to keep a waiter is not a whole number of milliseconds from 1, or absent in `fifo`; the number as it
    /// was given.
    InvalidKeep(Option<f64>),
    /// No path was asked for.
    NoPaths,
    /// Paths that cannot be reasoned about: all of them, as asked.
    UnevaluablePath(Vec<String>),
    /// A bound was reached.
    LimitExceeded(LimitReached),
    /// Another holder waits under this waiter id.
    WaiterIdTaken,
    /// The holder already waits under another id (`fifo` only).
    AlreadyWaiting,
    /// Leases or earlier waiters are in the way. A wait attempt is registered now.
    Conflict(Blocked),
    /// The holder holds a lease and said that it would not wait then. Its waiter is dropped.
    HoldAndWait(Blocked),
    /// Waiting would close a cycle. Its waiter is dropped.
    Deadlock(Deadlock),
}

impl Refusal {
    /// The name that every runtime uses for the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::InvalidHolder => "invalid-holder",
            Self::InvalidTtl(_) => "invalid-ttl",
            Self::InvalidKeep(_) => "invalid-keep",
            Self::NoPaths => "no-paths",
            Self::UnevaluablePath(_) => "unevaluable-path",
            Self::LimitExceeded(_) => "limit-exceeded",
            Self::WaiterIdTaken => "waiter-id-taken",
            Self::AlreadyWaiting => "already-waiting",
            Self::Conflict(_) => "conflict",
            Self::HoldAndWait(_) => "hold-and-wait",
            Self::Deadlock(_) => "deadlock",
        }
    }

    /// What is in the way, where somebody is.
    pub fn blocked(&self) -> Option<&Blocked> {
        match self {
            Self::Conflict(blocked) | Self::HoldAndWait(blocked) => Some(blocked),
            Self::Deadlock(deadlock) => Some(&deadlock.blocked),
            _ => None,
        }
    }
}

impl From<wit::Refusal> for Refusal {
    fn from(refusal: wit::Refusal) -> Self {
        match refusal {
            wit::Refusal::InvalidHolder => Self::InvalidHolder,
            wit::Refusal::InvalidTtl(ttl_ms) => Self::InvalidTtl(ttl_ms),
            wit::Refusal::InvalidKeep(keep_ms) => Self::InvalidKeep(keep_ms),
            wit::Refusal::NoPaths => Self::NoPaths,
            wit::Refusal::UnevaluablePath(paths) => Self::UnevaluablePath(paths),
            wit::Refusal::LimitExceeded(limit) => Self::LimitExceeded(limit),
            wit::Refusal::WaiterIdTaken => Self::WaiterIdTaken,
            wit::Refusal::AlreadyWaiting => Self::AlreadyWaiting,
            wit::Refusal::Blocked(wit::Blocked { obstacle, conflicts, truncated, blockers, ahead, cycle }) => {
                let blocked = Blocked { conflicts, truncated, blockers, ahead };
                match obstacle {
                    wit::Obstacle::Conflict => Self::Conflict(blocked),
                    wit::Obstacle::HoldAndWait => Self::HoldAndWait(blocked),
                    wit::Obstacle::Deadlock => Self::Deadlock(Deadlock { blocked, cycle }),
                }
            }
        }
    }
}

impl From<Refusal> for wit::Refusal {
    fn from(refusal: Refusal) -> Self {
        let pack = |obstacle, blocked: Blocked, cycle| {
            let Blocked { conflicts, truncated, blockers, ahead } = blocked;
            Self::Blocked(wit::Blocked { obstacle, conflicts, truncated, blockers, ahead, cycle })
        };
        match refusal {
            Refusal::InvalidHolder => Self::InvalidHolder,
            Refusal::InvalidTtl(ttl_ms) => Self::InvalidTtl(ttl_ms),
            Refusal::InvalidKeep(keep_ms) => Self::InvalidKeep(keep_ms),
            Refusal::NoPaths => Self::NoPaths,
            Refusal::UnevaluablePath(paths) => Self::UnevaluablePath(paths),
            Refusal::LimitExceeded(limit) => Self::LimitExceeded(limit),
            Refusal::WaiterIdTaken => Self::WaiterIdTaken,
            Refusal::AlreadyWaiting => Self::AlreadyWaiting,
            Refusal::Conflict(blocked) => pack(wit::Obstacle::Conflict, blocked, Vec::new()),
            Refusal::HoldAndWait(blocked) => pack(wit::Obstacle::HoldAndWait, blocked, Vec::new()),
            Refusal::Deadlock(Deadlock { blocked, cycle }) => pack(wit::Obstacle::Deadlock, blocked, cycle),
        }
    }
}

macro_rules! any_refusal {
    ($($refusal:ty: $case:ident),*) => {
        $(
            impl From<$refusal> for AnyRefusal {
                fn from(refusal: $refusal) -> Self {
                    Self::$case(refusal.into())
                }
            }

            impl From<&$refusal> for AnyRefusal {
                fn from(refusal: &$refusal) -> Self {
                    refusal.clone().into()
                }
            }
        )*
    };
}

any_refusal!(Refusal: Acquire, RefreshRefusal: Refresh, PinRefusal: Pin);

/// Something that happened to a table, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When it took effect, in milliseconds of the clock. An expiry took effect at the lease's own end, however late it
    /// is noticed.
    pub at_ms: u64,
    /// What happened.
    pub what: Fact,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fact {
    /// A new lease, or a stronger one in place.
    Granted(GrantedLease),
    /// A standing lease got a new ttl.
    Refreshed(RefreshedLease),
    /// A lease was given back.
    Released(EndedLease),
    /// A lease ran out.
    Expired(EndedLease),
    /// An operator took a lease away.
    Revoked(EndedLease),
    /// A waiter was registered, or tried again in vain.
    Waiting(WaiterEvent),
    /// Nothing is in the way of a waiter any more: its next attempt would be granted.
    Ready(WaiterEvent),
    /// A waiter was not renewed in time.
    Lapsed(WaiterEvent),
    /// A waiter was cancelled, or went with its holder.
    Cancelled(WaiterEvent),
    /// An attempt was refused for good.
    Refused(RefusedAttempt),
    /// More happened than the host drained: this many older events were dropped.
    Dropped(u64),
}

/// A lease that was granted.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantedLease {
    /// Its id.
    pub generation: u64,
    /// Whose.
    pub holder: String,
    /// Its path, in its first spelling.
    pub path: String,
    /// How it is held now.
    pub mode: Mode,
    /// When it expires, in milliseconds of the clock.
    pub expires_at_ms: u64,
}

/// A lease that was refreshed.
#[derive(Clone, Debug, PartialEq)]
pub struct RefreshedLease {
    /// Its id.
    pub generation: u64,
    /// Whose.
    pub holder: String,
    /// When it expires now, in milliseconds of the clock.
    pub expires_at_ms: u64,
}

/// A lease that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedLease {
    /// Its id.
    pub generation: u64,
    /// Whose.
    pub holder: String,
    /// Its path, in its first spelling.
    pub path: String,
    /// Pins still keep it in place.
    pub pending: bool,
}

/// A waiter that something happened to.
#[derive(Clone, Debug, PartialEq)]
pub struct WaiterEvent {
    /// Its id.
    pub waiter_id: String,
    /// Whose.
    pub holder: String,
}

impl From<wit_journal::Event> for Event {
    fn from(event: wit_journal::Event) -> Self {
        let what = match event.what {
            wit_journal::Fact::Lease(lease) => of_lease(lease),
            wit_journal::Fact::Waiter(waiter) => of_waiter(waiter),
            wit_journal::Fact::Refused(refused) => Fact::Refused(refused),
            wit_journal::Fact::Dropped(count) => Fact::Dropped(count),
        };
        Self { at_ms: event.at_ms, what }
    }
}

fn of_lease(event: wit_journal::LeaseEvent) -> Fact {
    use wit_journal::LeaseChange;
    let wit_journal::LeaseEvent { change, generation, holder, path, mode, expires_at_ms, pending } = event;
    let expires_at_ms = expires_at_ms.unwrap_or_default();
    match change {
        LeaseChange::Granted => {
            let mode = mode.unwrap_or(Mode::Exclusive);
            Fact::Granted(GrantedLease { generation, holder, path, mode, expires_at_ms })
        }
        LeaseChange::Refreshed => Fact::Refreshed(RefreshedLease { generation, holder, expires_at_ms }),
        LeaseChange::Released => Fact::Released(EndedLease { generation, holder, path, pending }),
        LeaseChange::Expired => Fact::Expired(EndedLease { generation, holder, path, pending }),
        LeaseChange::Revoked => Fact::Revoked(EndedLease { generation, holder, path, pending }),
    }
}

fn of_waiter(event: wit_journal::WaiterEvent) -> Fact {
    use wit_journal::WaiterChange;
    let waiter = WaiterEvent { waiter_id: event.waiter_id, holder: event.holder };
    match event.change {
        WaiterChange::Waiting => Fact::Waiting(waiter),
        WaiterChange::Ready => Fact::Ready(waiter),
        WaiterChange::Lapsed => Fact::Lapsed(waiter),
        WaiterChange::Cancelled => Fact::Cancelled(waiter),
    }
}
