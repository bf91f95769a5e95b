//! What must be durable of an authority. Who waits is not: waits end with the authority.

use super::answer::Lease;
use super::trust::Trust;
use crate::{Counters, Holder, LeaseRecord};
use alloc::{string::String, vec::Vec};

/// One durable fact. A later record of the same key replaces the earlier one; a `…Gone` removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A location is leased, keyed by its generation.
    Location(LeaseRecord),
    /// A location is not leased any more.
    LocationGone(u64),
    /// A lease stands, keyed by its id.
    Grant(GrantRecord),
    /// A lease is over.
    GrantGone(u64),
    /// The score of an actor, keyed by it.
    Trust {
        /// Whose.
        actor: Holder,
        /// How high.
        trust: Trust,
    },
    /// A grant is remembered, keyed by the actor and its idempotency key.
    Remembered(Remembered),
    /// A grant is not remembered any more.
    RememberedGone {
        /// Whose.
        actor: Holder,
        /// Under which key.
        key: String,
    },
    /// The counters of the table; there is one.
    Counters(Counters),
    /// The id of the latest lease; there is one.
    LastLease(u64),
}

/// A lease, as it is stored. What its locations say is not repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRecord {
    /// Its id.
    pub lease_id: u64,
    /// The generations of its locations, in the order asked.
    pub generations: Vec<u64>,
    /// When it was granted, in milliseconds of the host's clock.
    pub acquired_at_ms: u64,
    /// Its fencing token: at least the highest of the generations.
    pub fence: u64,
}

/// A grant that is answered again to whoever asks under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remembered {
    /// Whose.
    pub actor: Holder,
    /// Under which key.
    pub key: String,
    /// The digest of the body.
    pub body: [u8; 32],
    /// When it is forgotten, in milliseconds of the host's clock.
    pub until_ms: u64,
    /// The lease as it was granted.
    pub lease: Lease,
    /// How it was asked for.
    pub asked_shared: bool,
}
