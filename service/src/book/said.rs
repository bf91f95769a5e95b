//! The parts of answers as they are written: the names and the order of their fields.

use super::answer::{Refused, Started};
use leasebook::{Blocked, Conflict, Holder, Lease, LeaseStatus, Limit, NotHeld, PinStatus, Refusal, WaiterStatus};
use serde::{Serialize, Serializer};

/// Each of a list.
pub(super) fn said_of<'a, Said: From<&'a T>, T>(all: &'a [T]) -> Vec<Said> {
    all.iter().map(Said::from).collect()
}

/// A number as it was given; a whole one without a fraction.
pub(super) struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let whole = self.0 as i64;
        if whole as f64 == self.0 && whole.unsigned_abs() < 1 << 53 {
            to.serialize_i64(whole)
        } else {
            to.serialize_f64(self.0)
        }
    }
}

#[derive(Serialize)]
pub(super) struct Restored<'a> {
    pub restored: bool,
    #[serde(flatten)]
    pub started: Option<Started>,
    #[serde(flatten)]
    pub error: Option<RestoreWrong<'a>>,
}

#[derive(Serialize)]
pub(super) struct RestoreWrong<'a> {
    pub record: &'a str,
    pub expected: &'a str,
    pub sentence: String,
}

#[derive(Serialize)]
pub(super) struct Granted<'a> {
    pub granted: bool,
    pub leases: Vec<LeaseSaid<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LeaseSaid<'a> {
    pub path: &'a str,
    pub holder: &'a str,
    pub mode: &'static str,
    pub generation: u64,
    pub acquired_at_ms: u64,
    pub ttl_ms: u64,
    pub expires_at_ms: u64,
    pub held_for_ms: u64,
    pub expires_in_ms: i64,
}

impl<'a> From<&'a Lease> for LeaseSaid<'a> {
    fn from(lease: &'a Lease) -> Self {
        Self {
            path: &lease.path,
            holder: &lease.holder,
            mode: lease.mode.name(),
            generation: lease.generation,
            acquired_at_ms: lease.acquired_at_ms,
            ttl_ms: lease.ttl_ms,
            expires_at_ms: lease.expires_at_ms,
            held_for_ms: lease.held_for_ms,
            expires_in_ms: lease.expires_in_ms,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct NotGranted<'a> {
    pub granted: bool,
    pub reason: &'static str,
    pub sentence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_ms: Option<Option<Number>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unevaluable: Option<&'a [String]>,
    #[serde(flatten)]
    pub bound: Option<Bound>,
    #[serde(flatten)]
    pub blocked: Option<BlockedSaid<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<&'a str>>,
}

impl<'a> NotGranted<'a> {
    pub fn new(Refused { reason: refusal, sentence }: &'a Refused<Refusal>) -> Self {
        let mut said = Self {
            granted: false,
            reason: refusal.reason(),
            sentence,
            ttl_ms: None,
            keep_ms: None,
            unevaluable: None,
            bound: None,
            blocked: refusal.blocked().map(BlockedSaid::from),
            cycle: None,
        };
        match refusal {
            Refusal::InvalidTtl { ttl_ms } => said.ttl_ms = Some(Number(*ttl_ms)),
            Refusal::InvalidKeep { keep_ms } => said.keep_ms = Some(keep_ms.map(Number)),
            Refusal::UnevaluablePath { unevaluable } => said.unevaluable = Some(unevaluable),
            Refusal::LimitExceeded { which, limit } => said.bound = Some(Bound::new(*which, *limit)),
            Refusal::Deadlock { cycle, .. } => said.cycle = Some(names(cycle)),
            _ => {}
        }
        said
    }
}

fn names(holders: &[Holder]) -> Vec<&str> {
    holders.iter().map(Holder::as_str).collect()
}

#[derive(Serialize)]
pub(super) struct Bound {
    pub which: &'static str,
    pub limit: u64,
}

impl Bound {
    pub fn new(which: Limit, limit: u64) -> Self {
        Self { which: which.name(), limit }
    }
}

#[derive(Serialize)]
pub(super) struct BlockedSaid<'a> {
    pub conflicts: Vec<ConflictSaid<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<AheadSaid<'a>>,
}

impl<'a> From<&'a Blocked> for BlockedSaid<'a> {
    fn from(blocked: &'a Blocked) -> Self {
        Self {
            conflicts: said_of(&blocked.conflicts),
            truncated: blocked.truncated,
            blockers: names(&blocked.blockers),
            ahead: blocked
                .ahead
                .as_ref()
                .map(|ahead| AheadSaid { holders: names(&ahead.holders), position: ahead.position }),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct ConflictSaid<'a> {
    pub path: &'a str,
    pub leased: &'a str,
    pub holder: &'a str,
    pub mode: &'static str,
    pub held_for_ms: u64,
    pub expires_in_ms: i64,
    pub ended: bool,
}

impl<'a> From<&'a Conflict> for ConflictSaid<'a> {
    fn from(conflict: &'a Conflict) -> Self {
        Self {
            path: &conflict.path,
            leased: &conflict.leased,
            holder: &conflict.holder,
            mode: conflict.mode.name(),
            held_for_ms: conflict.held_for_ms,
            expires_in_ms: conflict.expires_in_ms,
            ended: conflict.ended,
        }
    }
}

#[derive(Serialize)]
pub(super) struct AheadSaid<'a> {
    pub holders: Vec<&'a str>,
    pub position: usize,
}

#[derive(Serialize)]
pub(super) struct Refreshed<'a> {
    pub refreshed: bool,
    pub lease: LeaseSaid<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct NotRefreshed<'a> {
    pub refreshed: bool,
    pub reason: &'static str,
    pub sentence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<Number>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Given<'a> {
    pub released: &'a [String],
    pub not_held: Vec<NotHeldSaid<'a>>,
    #[serde(flatten)]
    pub over: Option<Over>,
}

/// A path as a string, a generation as a number.
pub(super) struct NotHeldSaid<'a>(pub &'a NotHeld);

impl Serialize for NotHeldSaid<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            NotHeld::Path(path) => to.serialize_str(path),
            NotHeld::Generation(generation) => to.serialize_u64(*generation),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Over {
    pub reason: &'static str,
    pub sentence: String,
    #[serde(flatten)]
    pub bound: Bound,
}

#[derive(Serialize)]
pub(super) struct RevokedSaid<'a> {
    pub revoked: bool,
    pub holder: &'a str,
    pub path: &'a str,
    pub pending: bool,
}

#[derive(Serialize)]
pub(super) struct NotRevoked {
    pub revoked: bool,
    pub reason: &'static str,
    pub sentence: &'static str,
}

#[derive(Serialize)]
pub(super) struct Pinned {
    pub pinned: bool,
    pub token: String,
}

#[derive(Serialize)]
pub(super) struct NotPinned<'a> {
    pub pinned: bool,
    pub reason: &'static str,
    pub sentence: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
    #[serde(flatten)]
    pub bound: Option<Bound>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Covered<'a> {
    pub verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leased: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_for_ms: Option<u64>,
    pub evaluable: bool,
}

#[derive(Serialize)]
pub(super) struct StatusSaid<'a> {
    pub leases: Vec<LeaseStatusSaid<'a>>,
    pub waiters: Vec<WaiterSaid<'a>>,
    pub pins: Vec<PinSaid<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LeaseStatusSaid<'a> {
    #[serde(flatten)]
    pub lease: LeaseSaid<'a>,
    pub pins: usize,
    pub release_pending: bool,
}

impl<'a> From<&'a LeaseStatus> for LeaseStatusSaid<'a> {
    fn from(status: &'a LeaseStatus) -> Self {
        Self { lease: (&status.lease).into(), pins: status.pins, release_pending: status.release_pending }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct WaiterSaid<'a> {
    pub id: &'a str,
    pub holder: &'a str,
    pub paths: &'a [String],
    pub modes: Vec<&'static str>,
    pub blockers: Vec<&'a str>,
    pub waiting_for_ms: u64,
}

impl<'a> From<&'a WaiterStatus> for WaiterSaid<'a> {
    fn from(waiter: &'a WaiterStatus) -> Self {
        Self {
            id: &waiter.id,
            holder: &waiter.holder,
            paths: &waiter.paths,
            modes: waiter.modes.iter().map(|mode| mode.name()).collect(),
            blockers: names(&waiter.blockers),
            waiting_for_ms: waiter.waiting_for_ms,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct PinSaid<'a> {
    pub token: String,
    pub holder: &'a str,
    pub generations: &'a [u64],
    pub pinned_for_ms: u64,
}

impl<'a> From<&'a PinStatus> for PinSaid<'a> {
    fn from(pin: &'a PinStatus) -> Self {
        Self {
            token: pin.token.to_string(),
            holder: &pin.holder,
            generations: &pin.generations,
            pinned_for_ms: pin.pinned_for_ms,
        }
    }
}
