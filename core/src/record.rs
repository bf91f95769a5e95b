//! What must be durable of a table.

use crate::holder::Holder;
use crate::lease::{Mode, PinToken};
use alloc::{string::String, vec::Vec};
use core::fmt;

/// One durable fact. A later record of the same key replaces the earlier one; a `…Gone` removes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// A lease stands, keyed by its generation.
    Lease(LeaseRecord),
    /// A lease is gone.
    LeaseGone(u64),
    /// A waiter stands, keyed by its id.
    Waiter(WaiterRecord),
    /// A waiter is gone.
    WaiterGone(String),
    /// A pin stands, keyed by its token.
    Pin(PinRecord),
    /// A pin is gone.
    PinGone(PinToken),
    /// The counters of the table; there is one.
    Counters(Counters),
}

/// A lease, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are those of `Lease`
pub struct LeaseRecord {
    pub generation: u64,
    pub holder: Holder,
    pub path: String,
    pub mode: Mode,
    pub acquired_at_ms: u64,
    pub ttl_ms: u64,
    pub expires_at_ms: u64,
    /// Released or revoked, and kept only by pins.
    pub release_pending: bool,
}

/// A waiter, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are those of `WaiterStatus`
pub struct WaiterRecord {
    pub id: String,
    pub holder: Holder,
    pub paths: Vec<String>,
    pub modes: Vec<Mode>,
    pub since_ms: u64,
    /// When it lapses; `None` = never.
    pub lapses_at_ms: Option<u64>,
    /// Its place in the queue; never used twice.
    pub place: u64,
    /// The places of the earlier waiters that it does not queue behind, ascending (`fifo` only).
    pub passed: Vec<u64>,
}

/// A pin, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are those of `PinStatus`
pub struct PinRecord {
    pub token: PinToken,
    pub holder: Holder,
    pub generations: Vec<u64>,
    pub since_ms: u64,
    /// When it runs out; `None` = never.
    pub deadline_ms: Option<u64>,
}

/// The numbers that a table never uses twice, and the latest time it has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // said above
pub struct Counters {
    pub now_ms: u64,
    pub last_generation: u64,
    pub last_place: u64,
    pub last_token: u64,
}

/// Why records do not make a table. Nothing is restored then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreError {
    /// The key of the record at fault: a generation, a waiter id, a pin token.
    pub record: String,
    /// What was expected of it.
    pub expected: &'static str,
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "record {}: expected {}", self.record.escape_debug(), self.expected)
    }
}

impl core::error::Error for RestoreError {}
