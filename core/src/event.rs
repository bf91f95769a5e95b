//! Facts for observers. Dropping one changes nothing.

use crate::holder::Holder;
use crate::lease::Mode;
use alloc::string::String;

/// Something that happened to a table, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it took effect, in milliseconds of the host's clock. An expiry took effect at the lease's own end, however
    /// late it is noticed.
    pub at_ms: u64,
    /// What happened.
    pub what: Fact,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields are those of the operations, under the same names
pub enum Fact {
    /// A new lease, or a stronger one in place.
    Granted { generation: u64, holder: Holder, path: String, mode: Mode, expires_at_ms: u64 },
    /// A standing lease got a new ttl.
    Refreshed { generation: u64, holder: Holder, expires_at_ms: u64 },
    /// A lease was given back; `pending` where pins still keep it in place.
    Released { generation: u64, holder: Holder, path: String, pending: bool },
    /// A lease ran out; `pending` where pins still keep it in place.
    Expired { generation: u64, holder: Holder, path: String, pending: bool },
    /// An operator took a lease away; `pending` where pins still keep it in place.
    Revoked { generation: u64, holder: Holder, path: String, pending: bool },
    /// A waiter was registered, or tried again in vain.
    Waiting { waiter_id: String, holder: Holder },
    /// Nothing is in the way of a waiter any more: its next attempt would be granted.
    Ready { waiter_id: String, holder: Holder },
    /// A waiter was not renewed in time.
    Lapsed { waiter_id: String, holder: Holder },
    /// A waiter was cancelled, or went with its holder.
    Cancelled { waiter_id: String, holder: Holder },
    /// An attempt was refused for good; the reason as in [`Refusal::reason`](crate::Refusal::reason).
    Refused { holder: String, reason: &'static str },
    /// More happened than the host drained: this many older events were dropped.
    Dropped { count: u64 },
}
