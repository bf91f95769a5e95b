//! The answers of a lease book, and how they are written: one JSON object a line, whatever the runtime.
//!
//! The recorded runs (`cargo xtask vectors`) fix the shape; more fields than theirs are allowed, and here they are
//! `sentence` on a refusal, and those that say what would otherwise be known by their absence (`ended`, `evaluable`).

use super::record;
use super::said::*;
use leasebook::limits::PATHS_MAX;
use leasebook::{
    Containment, Covering, Event, Lease, Limit, Millis, PinRefusal, PinToken, Record, RefreshRefusal, Refusal,
    Released, Revoked, Status, TooManyPaths,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::fmt::Display;

/// What the book said.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the contents are those of `leasebook::Table`
pub enum Answer {
    New(Started),
    Restored(Result<Started, NotRestored>),
    At(Millis),
    Attempt(Result<Vec<Lease>, Refused<Refusal>>),
    Refreshed(Result<Lease, Refused<RefreshRefusal>>),
    Released(Result<Released, TooManyPaths>),
    Revoked(Option<Revoked>),
    Pinned(Result<PinToken, Refused<PinRefusal>>),
    Covering(Covering),
    Contains(Containment),
    Found(bool),
    Count(usize),
    Ready(Vec<String>),
    NextDeadline(Option<Millis>),
    Leases(Vec<Lease>),
    Status(Status),
    Events(Vec<Event>),
    Records(Vec<Record>),
    /// A bound of the runtime itself, which a table knows nothing of; `outcome` is what did not come about.
    Over {
        outcome: &'static str,
        sentence: String,
        which: &'static str,
        limit: u64,
    },
}

/// A refusal, and the sentence that the runtime says it in.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused<Reason> {
    /// Why.
    pub reason: Reason,
    /// The same for a person or a model.
    pub sentence: String,
}

impl<Reason: Display> From<Reason> for Refused<Reason> {
    fn from(reason: Reason) -> Self {
        Self { sentence: reason.to_string(), reason }
    }
}

/// What a table that was just made works with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Started {
    /// `barge` or `fifo`.
    pub fairness: &'static str,
    /// The ttl where a caller names none.
    pub default_ttl_ms: u64,
    /// `native` or `component`.
    pub runtime: &'static str,
}

/// Why records do not make a table.
#[derive(Clone, Debug, PartialEq)]
pub struct NotRestored {
    /// The key of the record at fault; empty where it is all of them together.
    pub record: String,
    /// What was expected of it.
    pub expected: String,
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::New(started) => started.serialize(to),
            Self::Restored(Ok(started)) => {
                Restored { restored: true, started: Some(*started), error: None }.serialize(to)
            }
            Self::Restored(Err(NotRestored { record, expected })) => {
                let sentence = format!("record {}: expected {expected}", record.escape_debug());
                let error = Some(RestoreWrong { record, expected, sentence });
                Restored { restored: false, started: None, error }.serialize(to)
            }
            Self::At(moment) => object(to, "at-ms", moment.get()),
            Self::Attempt(Ok(leases)) => Granted { granted: true, leases: said_of(leases) }.serialize(to),
            Self::Attempt(Err(refused)) => NotGranted::new(refused).serialize(to),
            Self::Refreshed(Ok(lease)) => Refreshed { refreshed: true, lease: lease.into() }.serialize(to),
            Self::Refreshed(Err(Refused { reason, sentence })) => NotRefreshed {
                refreshed: false,
                reason: reason.reason(),
                sentence,
                ttl_ms: if let RefreshRefusal::InvalidTtl { ttl_ms } = reason { Some(Number(*ttl_ms)) } else { None },
            }
            .serialize(to),
            Self::Released(Ok(Released { released, not_held })) => {
                Given { released, not_held: not_held.iter().map(NotHeldSaid).collect(), over: None }.serialize(to)
            }
            Self::Released(Err(TooManyPaths)) => Given {
                released: &[],
                not_held: Vec::new(),
                over: Some(Over {
                    reason: "limit-exceeded",
                    sentence: TooManyPaths.to_string(),
                    bound: Bound::new(Limit::Paths, PATHS_MAX as u64),
                }),
            }
            .serialize(to),
            Self::Revoked(Some(Revoked { holder, path, pending })) => {
                RevokedSaid { revoked: true, holder, path, pending: *pending }.serialize(to)
            }
            Self::Revoked(None) => {
                NotRevoked { revoked: false, reason: "stale", sentence: "no lease of that generation stands" }
                    .serialize(to)
            }
            Self::Pinned(Ok(token)) => Pinned { pinned: true, token: token.to_string() }.serialize(to),
            Self::Pinned(Err(Refused { reason, sentence })) => NotPinned {
                pinned: false,
                reason: reason.reason(),
                sentence,
                path: if let PinRefusal::NotHeld { path } = reason { Some(path) } else { None },
                bound: match reason {
                    PinRefusal::LimitExceeded { which, limit } => Some(Bound::new(*which, *limit)),
                    _ => None,
                },
            }
            .serialize(to),
            Self::Covering(Covering { verdict, lease, evaluable }) => Covered {
                verdict: verdict.name(),
                holder: lease.as_ref().map(|lease| &*lease.holder),
                leased: lease.as_ref().map(|lease| lease.leased.as_str()),
                held_for_ms: lease.as_ref().map(|lease| lease.held_for_ms),
                evaluable: *evaluable,
            }
            .serialize(to),
            Self::Contains(containment) => object(
                to,
                "contains",
                match containment {
                    Containment::Yes => "yes",
                    Containment::No => "no",
                    Containment::Unknown => "unknown",
                },
            ),
            Self::Found(found) => object(to, "found", found),
            Self::Count(count) => object(to, "count", count),
            Self::Ready(ready) => object(to, "ready", ready),
            Self::NextDeadline(moment) => object(to, "deadline-ms", moment.map(Millis::get)),
            Self::Leases(leases) => object(to, "leases", said_of::<LeaseSaid<'_>, _>(leases)),
            Self::Status(status) => StatusSaid {
                leases: said_of(&status.leases),
                waiters: said_of(&status.waiters),
                pins: said_of(&status.pins),
            }
            .serialize(to),
            Self::Over { outcome, sentence, which, limit } => {
                let mut map = to.serialize_map(Some(5))?;
                map.serialize_entry(outcome, &false)?;
                map.serialize_entry("reason", "limit-exceeded")?;
                map.serialize_entry("sentence", sentence)?;
                map.serialize_entry("which", which)?;
                map.serialize_entry("limit", limit)?;
                map.end()
            }
            Self::Events(events) => object(to, "events", record::seen(events)),
            Self::Records(records) => object(to, "records", record::written(records)),
        }
    }
}

fn object<S: Serializer>(to: S, name: &'static str, value: impl Serialize) -> Result<S::Ok, S::Error> {
    to.collect_map([(name, value)])
}
