//! What an authority answers: plain values, all copies.

use super::ask::{InvalidField, LeaseId};
use crate::{Conflict, Holder, Limit, Mode};
use alloc::{boxed::Box, string::String, vec::Vec};

/// The answer to a request for leases.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// All of them.
    Granted(Grant),
    /// None of them.
    Refused(Refused),
    /// None of them yet: the request waits, and is answered by [`Authority::settled`](super::Authority::settled).
    Parked,
}

/// What a request was granted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The lease.
    pub lease: Lease,
    /// It was asked under an idempotency key that was granted before; this is the same grant.
    pub replayed: bool,
    /// The lease of a grant that was remembered is over.
    pub ended: bool,
    /// The asker had it already; it got a new ttl.
    pub refreshed: bool,
    /// How it was asked for. Shared on a resource that may not be read concurrently is granted exclusive.
    pub asked_mode: Mode,
}

/// What one request was granted, as one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Its id.
    pub lease_id: LeaseId,
    /// Its resources, in the order asked.
    pub resources: Vec<String>,
    /// Who has it.
    pub holder: Holder,
    /// How: exclusive where any of its resources is.
    pub mode: Mode,
    /// Its last ttl, in milliseconds.
    pub ttl_ms: u64,
    /// When it was granted, in milliseconds of the host's clock. A refresh keeps it.
    pub acquired_at_ms: u64,
    /// When it expires, in milliseconds of the host's clock. It is expired at this moment itself.
    pub expires_at_ms: u64,
    /// Its fencing token: the highest of the generations of its resources. Whoever is granted one of them later has a
    /// higher one.
    pub generation: u64,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Refused {
    /// A field is not usable.
    Invalid(InvalidField),
    /// Leases of others are in the way, or only others who wait.
    Held(Box<Held>),
    /// Waiting would close a cycle.
    Deadlock(Box<Deadlock>),
    /// The idempotency key was used with another body.
    IdempotencyMismatch,
    /// A later request of the same actor asked for something else, and an actor waits for one thing at a time.
    Superseded,
    /// Too many wait for the resource already.
    QueueFull {
        /// Which.
        resource: String,
        /// How many may.
        limit: usize,
    },
    /// A bound of the authority was reached.
    LimitExceeded {
        /// Which.
        which: Limit,
        /// Its value.
        limit: u64,
    },
    /// The named lease is over, or is not the actor's, or does not have a named resource.
    StaleLease {
        /// The lease.
        lease_id: LeaseId,
    },
    /// The actor does not hold the resource.
    NotHeld {
        /// Which.
        resource: String,
    },
}

impl Refused {
    /// The code that every interface uses for the reason.
    pub fn error(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "invalid_field",
            Self::Held(held) if held.conflicts.is_empty() => "queued",
            Self::Held(_) => "lease_held",
            Self::Deadlock(_) => "deadlock",
            Self::IdempotencyMismatch => "idempotency_mismatch",
            Self::Superseded => "superseded",
            Self::QueueFull { .. } => "queue_full",
            Self::LimitExceeded { .. } => "limit_exceeded",
            Self::StaleLease { .. } => "stale_lease",
            Self::NotHeld { .. } => "not_held",
        }
    }
}

/// Who is in the way, and when to ask again.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Held {
    /// The leases in the way, at most 256. Empty where only others who wait come first.
    pub conflicts: Vec<Conflict>,
    /// There are more of them.
    pub truncated: bool,
    /// Whose they are, each once, in the order of the leases; where there is none: who waits ahead.
    pub holders: Vec<Holder>,
    /// The queue.
    pub stampede: Stampede,
}

/// Where in the queue an asker stands, and how long it should stay away.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Stampede {
    /// The actors of the first 8 waiters, who may ask again; the asker among them where it is one.
    pub admitted: Vec<Holder>,
    /// How long to stay away, in milliseconds: 25 doubled for each waiter before the asker, at most 800.
    pub wait_ms: u64,
    /// The place of the asker in the queue; the first is 1.
    pub position: usize,
    /// How many wait before the asker.
    pub waiters: usize,
}

/// A cycle of waits that a request would have closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    /// Whom the asker would have waited for.
    pub holder: Holder,
    /// The resource that this holder itself waits for.
    pub waiting_on: String,
    /// The whole cycle: each waits on the resource, which the next one holds; the last one's is held by the first.
    pub cycle: Vec<Waits>,
    /// The leases in the way of the asker, at most 256.
    pub conflicts: Vec<Conflict>,
}

/// Who waits for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Who.
    pub actor: Holder,
    /// For which resource, as it was asked.
    pub waiting_on: String,
}

/// What was given back.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Given {
    /// The leases that are over now.
    pub ended: Vec<LeaseId>,
    /// The leases of which some resources stay.
    pub kept: Vec<LeaseId>,
    /// The resources that were given back.
    pub resources: Vec<String>,
}

/// One who waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Who.
    pub actor: Holder,
    /// What for.
    pub resources: Vec<String>,
    /// How: exclusive where any of them is.
    pub mode: Mode,
    /// Since when, in milliseconds of the host's clock.
    pub since_ms: u64,
    /// Requests that are parked. 0: it asks again from time to time.
    pub parked: usize,
    /// Whom it waits for: by leases, with what they hold, and by the queue.
    pub waits_for: Vec<WaitsFor>,
}

/// One edge of the graph of waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitsFor {
    /// Whom.
    pub holder: Holder,
    /// The resource that is waited for, and what of it that holder has; `None`: it only comes first in the queue.
    pub by: Option<(String, String)>,
}

/// A request that was refused as a deadlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When, in milliseconds of the host's clock.
    pub at_ms: u64,
    /// Whose.
    pub actor: Holder,
    /// What for.
    pub resources: Vec<String>,
    /// The cycle.
    pub deadlock: Deadlock,
}
