//! Facts for the ledger and for observers. Dropping one changes nothing.

use super::answer::{Deadlock, Lease};
use super::ask::LeaseId;
use super::trust::Trust;
use crate::Holder;
use alloc::{boxed::Box, string::String, vec::Vec};

/// Something that happened to an authority, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it took effect, in milliseconds of the host's clock. An expiry took effect at the lease's own end, however
    /// late it is noticed.
    pub at_ms: u64,
    /// What happened.
    pub what: Fact,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// With a grant.
    Granted,
    /// The actor asked for something else.
    Superseded,
    /// It would have closed a cycle.
    Deadlock,
    /// Nobody waited for the answer any more.
    Cancelled,
    /// The actor did not ask again in time.
    Lapsed,
}

impl WaitEnd {
    /// The name that every interface uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Superseded => "superseded",
            Self::Deadlock => "deadlock",
            Self::Cancelled => "cancelled",
            Self::Lapsed => "lapsed",
        }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are those of the answers, under the same names
pub enum Fact {
    /// A new lease.
    Granted(Box<Lease>),
    /// A standing lease got a new ttl, or a stronger mode.
    Refreshed(Box<Lease>),
    /// Resources of a lease were given back; `ended` where none of it is left.
    Released { lease_id: LeaseId, holder: Holder, resources: Vec<String>, ended: bool },
    /// A lease ran out.
    Expired { lease_id: LeaseId, holder: Holder, resources: Vec<String> },
    /// An operator took a lease away.
    Revoked { lease_id: LeaseId, holder: Holder, resources: Vec<String> },
    /// A grant reached nobody, and was taken back.
    Withdrawn { lease_id: LeaseId, holder: Holder, resources: Vec<String> },
    /// A request was refused: by whom, for what, and who is in the way.
    Refused { actor: Holder, resources: Vec<String>, error: &'static str, holders: Vec<Holder> },
    /// A request would have closed a cycle of waits.
    Deadlock { actor: Holder, resources: Vec<String>, deadlock: Box<Deadlock> },
    /// An actor waits now, or asked again in vain.
    Waiting { actor: Holder, resources: Vec<String>, position: usize },
    /// An actor does not wait any more.
    WaitEnded { actor: Holder, how: WaitEnd },
    /// The score of an actor changed.
    Trust { actor: Holder, trust: Trust },
    /// More happened than the host drained: this many older events were dropped.
    Dropped { count: u64 },
}
