//! What is asked and what is answered: plain values, all copies.

use crate::holder::Holder;
use crate::limits::Limit;
use alloc::{boxed::Box, string::String, vec::Vec};
use core::{fmt, str::FromStr};

/// How a path is claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mode {
    /// Beside other shared ones.
    Shared,
    /// Alone. The default.
    #[default]
    Exclusive,
}

impl Mode {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Exclusive => "exclusive",
        }
    }
}

/// A path and the mode asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish<'a> {
    /// The path, as the caller spells it.
    pub path: &'a str,
    /// The mode.
    pub mode: Mode,
}

impl<'a> Wish<'a> {
    /// A wish for a path alone.
    pub fn exclusive(path: &'a str) -> Self {
        Self { path, mode: Mode::Exclusive }
    }

    /// A wish for a path beside other shared ones.
    pub fn shared(path: &'a str) -> Self {
        Self { path, mode: Mode::Shared }
    }
}

/// A snapshot of one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its first spelling.
    pub path: String,
    /// Who has it.
    pub holder: Holder,
    /// How.
    pub mode: Mode,
    /// Its id, strictly increasing over the new leases of a table; the fencing token.
    pub generation: u64,
    /// When it was first granted, in milliseconds of the host's clock. A refresh keeps it.
    pub acquired_at_ms: u64,
    /// Its last ttl, in milliseconds.
    pub ttl_ms: u64,
    /// When it expires, in milliseconds of the host's clock. It is expired at this moment itself.
    pub expires_at_ms: u64,
    /// How long it has been held, in milliseconds.
    pub held_for_ms: u64,
    /// How long it has left, in milliseconds; zero or negative for one that only a pin keeps.
    pub expires_in_ms: i64,
}

/// A standing lease in the way of a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The path asked for, as asked.
    pub path: String,
    /// The path leased, in its first spelling.
    pub leased: String,
    /// Who has it. In `fifo` it may be the asker: its own ended lease is in its way until the last unpin.
    pub holder: Holder,
    /// How.
    pub mode: Mode,
    /// For how long it has been held, in milliseconds.
    pub held_for_ms: u64,
    /// In how many milliseconds it expires; zero or negative where only a pin keeps it.
    pub expires_in_ms: i64,
    /// It is released or expired, and only a pin keeps it in place.
    pub ended: bool,
}

/// Who is ahead in the queue (`fifo` only).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The holders of the waiters ahead, in queue order; at most [`LISTED_MAX`](crate::limits::LISTED_MAX).
    pub holders: Vec<Holder>,
    /// The number of waiters ahead, listed or not, plus one.
    pub position: usize,
}

/// What is in the way of an acquire or of a wait attempt.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Blocked {
    /// The leases in the way: the wishes in order, under each the leases in grant order; at most
    /// [`LISTED_MAX`](crate::limits::LISTED_MAX). Empty where only the queue is in the way.
    pub conflicts: Vec<Conflict>,
    /// There are more conflicts than are listed.
    pub truncated: bool,
    /// Of a registered waiter: the holders in the way by lease or by queue, sorted. Of more than can be listed: the
    /// first ones by lease in this order, then those by queue in queue order; at most
    /// [`LISTED_MAX`](crate::limits::LISTED_MAX).
    pub blockers: Vec<Holder>,
    /// Who is ahead in the queue, where anybody is.
    pub ahead: Option<Ahead>,
}

/// Why an acquire or a wait attempt was not granted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// The holder is not an id of 1 to 256 bytes without control characters.
    InvalidHolder,
    /// The ttl is not a whole number of milliseconds from 1 to 24 hours.
    InvalidTtl {
        /// The number as it was given.
        ttl_ms: f64,
    },
    /// The time to keep a waiter is not a whole number of milliseconds from 1, or absent in `fifo`.
    InvalidKeep {
        /// The number as it was given.
        keep_ms: Option<f64>,
    },
    /// No path was asked for.
    NoPaths,
    /// Paths that cannot be reasoned about: all of them, as asked.
    UnevaluablePath {
        /// The paths.
        unevaluable: Vec<String>,
    },
    /// A bound was reached.
    LimitExceeded {
        /// Which.
        which: Limit,
        /// Its value.
        limit: u64,
    },
    /// Another holder waits under this waiter id.
    WaiterIdTaken,
    /// The holder already waits under another id (`fifo` only).
    AlreadyWaiting,
    /// Leases or earlier waiters are in the way. A wait attempt is registered now.
    Conflict(Box<Blocked>),
    /// The holder holds a lease and said that it would not wait then. Its waiter is dropped.
    HoldAndWait(Box<Blocked>),
    /// Waiting would close a cycle. Its waiter is dropped.
    Deadlock {
        /// What is in the way.
        blocked: Box<Blocked>,
        /// The cycle of holders: first = last, each waits for the next.
        cycle: Vec<Holder>,
    },
}

impl Refusal {
    /// The name that every runtime uses for the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::InvalidHolder => "invalid-holder",
            Self::InvalidTtl { .. } => "invalid-ttl",
            Self::InvalidKeep { .. } => "invalid-keep",
            Self::NoPaths => "no-paths",
            Self::UnevaluablePath { .. } => "unevaluable-path",
            Self::LimitExceeded { .. } => "limit-exceeded",
            Self::WaiterIdTaken => "waiter-id-taken",
            Self::AlreadyWaiting => "already-waiting",
            Self::Conflict(_) => "conflict",
            Self::HoldAndWait(_) => "hold-and-wait",
            Self::Deadlock { .. } => "deadlock",
        }
    }

    /// What is in the way, where somebody is.
    pub fn blocked(&self) -> Option<&Blocked> {
        match self {
            Self::Conflict(blocked) | Self::HoldAndWait(blocked) | Self::Deadlock { blocked, .. } => Some(blocked),
            _ => None,
        }
    }
}

/// Why a lease was not refreshed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RefreshRefusal {
    /// The ttl is not a whole number of milliseconds from 1 to 24 hours.
    InvalidTtl {
        /// The number as it was given.
        ttl_ms: f64,
    },
    /// The holder has no live lease of this generation.
    Stale,
}

impl RefreshRefusal {
    /// The name that every runtime uses for the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::InvalidTtl { .. } => "invalid-ttl",
            Self::Stale => "stale",
        }
    }
}

/// What to release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release<'a> {
    /// Everything the holder has.
    All,
    /// By location: what lies inside a leased directory names no lease. Empty: nothing is released.
    Paths(&'a [&'a str]),
    /// One lease by its generation.
    Generation(u64),
}

/// What a release named that the holder does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotHeld {
    /// A path, as asked.
    Path(String),
    /// A generation.
    Generation(u64),
}

/// What a release did.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Released {
    /// The leases released, by their first spelling, in the order asked; ended ones again.
    pub released: Vec<String>,
    /// What is not held.
    pub not_held: Vec<NotHeld>,
}

/// More than [`PATHS_MAX`](crate::limits::PATHS_MAX) paths in one release; nothing was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyPaths;

/// What a revocation took away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revoked {
    /// Whose lease.
    pub holder: Holder,
    /// Its path, in its first spelling.
    pub path: String,
    /// It is only marked, and goes at the last unpin.
    pub pending: bool,
}

/// What stands over a path, for one holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A lease that an acquire would call a conflict.
    Other,
    /// A live own lease, at least that strong, contains the path.
    Own,
    /// Another's lease cannot be compared with the path.
    Unknown,
    /// Nothing.
    Free,
}

impl Verdict {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Own => "own",
            Self::Unknown => "unknown",
            Self::Free => "free",
        }
    }
}

/// The answer of `covering`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covering {
    /// What stands there.
    pub verdict: Verdict,
    /// The lease behind the verdict, where there is one.
    pub lease: Option<CoveringLease>,
    /// The path can be reasoned about. Where it cannot, the verdict may still be [`Verdict::Free`]: a guard tests this.
    pub evaluable: bool,
}

/// The lease behind a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveringLease {
    /// Whose.
    pub holder: Holder,
    /// Its path, in its first spelling.
    pub leased: String,
    /// For how long it has been held, in milliseconds.
    pub held_for_ms: u64,
}

/// The name of one pin; shown as `pin-7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PinToken(pub u64);

impl fmt::Display for PinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pin-{}", self.0)
    }
}

/// What was read is not a token as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidPinToken;

impl fmt::Display for InvalidPinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pin token is shown as pin-7")
    }
}

impl core::error::Error for InvalidPinToken {}

impl FromStr for PinToken {
    type Err = InvalidPinToken;

    fn from_str(shown: &str) -> Result<Self, Self::Err> {
        let number = shown.strip_prefix("pin-").ok_or(InvalidPinToken)?;
        // One token has one spelling.
        let plain = number.bytes().all(|byte| byte.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
        if plain { number.parse().map(Self).map_err(|_| InvalidPinToken) } else { Err(InvalidPinToken) }
    }
}

/// Why nothing was pinned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PinRefusal {
    /// No path was named.
    NoPaths,
    /// A bound was reached.
    LimitExceeded {
        /// Which.
        which: Limit,
        /// Its value.
        limit: u64,
    },
    /// The holder has no live lease, at least that strong, that contains this path.
    NotHeld {
        /// The path, as asked.
        path: String,
    },
}

impl PinRefusal {
    /// The name that every runtime uses for the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NoPaths => "no-paths",
            Self::LimitExceeded { .. } => "limit-exceeded",
            Self::NotHeld { .. } => "not-held",
        }
    }
}

/// An attempt to get leases, or to wait for them.
#[derive(Clone, Copy, Debug)]
pub struct WaitAttempt<'a> {
    /// The id of the waiter; it belongs to its holder. At most 256 bytes.
    pub waiter_id: &'a str,
    /// Who asks.
    pub holder: &'a str,
    /// What for.
    pub wishes: &'a [Wish<'a>],
    /// For how long, once granted; `None` = the default of the table.
    pub ttl: Option<crate::Period>,
    /// Wait even though the holder holds a lease.
    pub allow_hold: bool,
    /// How long the waiter is kept after its last attempt; `None` = for ever. Required in `fifo`.
    pub keep: Option<crate::Period>,
}

/// Everything of one instant.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Status {
    /// The leases, in grant order.
    pub leases: Vec<LeaseStatus>,
    /// The waiters, in queue order.
    pub waiters: Vec<WaiterStatus>,
    /// The pins, in the order of their tokens.
    pub pins: Vec<PinStatus>,
}

/// A lease with what keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseStatus {
    /// The lease.
    pub lease: Lease,
    /// How many pins keep it in place.
    pub pins: usize,
    /// It was released or revoked, and goes at the last unpin. Expiry alone does not mark a lease.
    pub release_pending: bool,
}

/// A registered waiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaiterStatus {
    /// Its id.
    pub id: String,
    /// Whose.
    pub holder: Holder,
    /// The paths it wants, as asked.
    pub paths: Vec<String>,
    /// The modes it wants them in, parallel to `paths`.
    pub modes: Vec<Mode>,
    /// The holders in the way now, by lease or by queue, sorted, at most
    /// [`LISTED_MAX`](crate::limits::LISTED_MAX); empty exactly where its next attempt would be granted.
    pub blockers: Vec<Holder>,
    /// How long it has been waiting, in milliseconds.
    pub waiting_for_ms: u64,
}

/// A standing pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinStatus {
    /// Its token.
    pub token: PinToken,
    /// Whose.
    pub holder: Holder,
    /// The leases it keeps in place.
    pub generations: Vec<u64>,
    /// How long it has stood, in milliseconds.
    pub pinned_for_ms: u64,
}
