//! Answers in the shapes of the core, where the interface packs them tighter to keep the component small.

use crate::bindings::leasebook::lease::table as wit;
use crate::{Ahead, Conflict, LimitReached, Mode, PinRefusal, RefreshRefusal};
use std::fmt;

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

/// A refused operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused<Reason> {
    /// Why.
    pub reason: Reason,
    /// The same in one sentence for a person or a model, where [`Options::sentences`](crate::Options::sentences) asks
    /// for it; [`Display`](fmt::Display) shows it, or else the name of the reason.
    pub sentence: Option<String>,
}

macro_rules! refused {
    ($($refused:ident($reason:ty)),*) => {
        $(
            impl fmt::Display for Refused<$reason> {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(self.sentence.as_deref().unwrap_or(self.reason.reason()))
                }
            }

            impl std::error::Error for Refused<$reason> {}

            impl From<wit::$refused> for Refused<$reason> {
                fn from(refused: wit::$refused) -> Self {
                    Self { reason: refused.reason.into(), sentence: refused.sentence }
                }
            }

            impl From<Refused<$reason>> for wit::$refused {
                fn from(refused: Refused<$reason>) -> Self {
                    Self { reason: refused.reason.into(), sentence: refused.sentence }
                }
            }
        )*
    };
}

refused!(Refused(Refusal), RefreshRefused(RefreshRefusal), PinRefused(PinRefusal));

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

/// An attempt that was refused for good.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedAttempt {
    /// Who asked, as given.
    pub holder: String,
    /// The name of the reason, as [`Refusal::reason`] has it.
    pub reason: String,
}

/// A waiter that something happened to.
#[derive(Clone, Debug, PartialEq)]
pub struct WaiterEvent {
    /// Its id.
    pub waiter_id: String,
    /// Whose.
    pub holder: String,
}

impl From<wit::Event> for Event {
    fn from(event: wit::Event) -> Self {
        use wit::Happening;
        let wit::Event { at_ms, what, holder, about, number, mode, expires_at_ms, pending } = event;
        let expires_at_ms = expires_at_ms.unwrap_or_default();
        let lease = |holder, path| EndedLease { generation: number, holder, path, pending };
        let waiter = |holder, waiter_id| WaiterEvent { waiter_id, holder };
        let what = match what {
            Happening::Granted => {
                let mode = mode.unwrap_or(Mode::Exclusive);
                Fact::Granted(GrantedLease { generation: number, holder, path: about, mode, expires_at_ms })
            }
            Happening::Refreshed => Fact::Refreshed(RefreshedLease { generation: number, holder, expires_at_ms }),
            Happening::Released => Fact::Released(lease(holder, about)),
            Happening::Expired => Fact::Expired(lease(holder, about)),
            Happening::Revoked => Fact::Revoked(lease(holder, about)),
            Happening::Waiting => Fact::Waiting(waiter(holder, about)),
            Happening::Ready => Fact::Ready(waiter(holder, about)),
            Happening::Lapsed => Fact::Lapsed(waiter(holder, about)),
            Happening::Cancelled => Fact::Cancelled(waiter(holder, about)),
            Happening::Refused => Fact::Refused(RefusedAttempt { holder, reason: about }),
            Happening::Dropped => Fact::Dropped(number),
        };
        Self { at_ms, what }
    }
}
