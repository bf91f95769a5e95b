//! The bodies of answers, as they are documented and written.

use super::problem::Code;
use leasebook::coordination as core;
use leasebook::{Holder, Mode};
use serde::Serialize;
use utoipa::ToSchema;

/// A lease.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lease {
    /// Its id, one for each request, stable over refresh.
    #[schema(example = "lease-7")]
    pub lease_id: String,
    /// Its resources, in the order asked.
    pub resources: Vec<String>,
    /// Who has it.
    pub holder: String,
    /// How: exclusive or shared.
    #[schema(example = "exclusive")]
    pub mode: &'static str,
    /// Its ttl, in milliseconds.
    pub ttl_ms: u64,
    /// When it was granted, in milliseconds of the Unix epoch. A refresh keeps it.
    pub acquired_at_ms: u64,
    /// When it expires, in milliseconds of the Unix epoch. It is expired at this moment itself.
    pub expires_at_ms: u64,
    /// Its fencing token: whoever is granted one of the resources later has a higher one.
    pub generation: u64,
}

impl From<&core::Lease> for Lease {
    fn from(lease: &core::Lease) -> Self {
        Self {
            lease_id: lease.lease_id.to_string(),
            resources: lease.resources.clone(),
            holder: lease.holder.as_str().into(),
            mode: lease.mode.name(),
            ttl_ms: lease.ttl_ms,
            acquired_at_ms: lease.acquired_at_ms,
            expires_at_ms: lease.expires_at_ms,
            generation: lease.generation,
        }
    }
}

/// All of the resources were granted.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Granted {
    /// Always true.
    pub ok: bool,
    /// The lease.
    pub lease: Lease,
    /// The asker had it already, and it got a new ttl.
    pub refreshed: bool,
    /// It was asked under an idempotency key that was granted before; this is the same grant.
    pub replayed: bool,
    /// The lease of a grant that was remembered is over by now.
    pub ended: bool,
    /// It was asked for as shared, which counts only on resources that are configured as concurrent-read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// A signed receipt of this answer and the request: a compact JWS, whose keys are at `/.well-known/jwks.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

impl From<&core::Grant> for Granted {
    fn from(grant: &core::Grant) -> Self {
        let stronger = grant.asked_mode == Mode::Shared && grant.lease.mode == Mode::Exclusive;
        Self {
            ok: true,
            lease: (&grant.lease).into(),
            refreshed: grant.refreshed,
            replayed: grant.replayed,
            ended: grant.ended,
            note: stronger.then_some("granted exclusive: not all of the resources may be read concurrently"),
            receipt: None,
        }
    }
}

/// A lease in the way.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
    /// The resource asked for.
    pub resource: String,
    /// The resource leased: the same, one that contains it, or one that it contains.
    pub leased: String,
    /// Who has it.
    pub holder: String,
    /// How: exclusive or shared.
    pub mode: &'static str,
    /// For how long it has been held, in milliseconds.
    pub held_for_ms: u64,
    /// In how many milliseconds it expires.
    pub expires_in_ms: i64,
}

/// The queue, and when to ask again.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Stampede {
    /// The actors of the first 8 waiters, who may ask again.
    pub admitted: Vec<String>,
    /// How long to stay away, in milliseconds: 25 doubled for each waiter before, at most 800. Add a jitter of your own.
    pub wait_ms: u64,
    /// The place in the queue; the first is 1.
    pub position: usize,
    /// How many wait before.
    pub waiters: usize,
}

/// One step of a cycle of waits.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waits {
    /// Who waits.
    pub actor_did: String,
    /// For what, which the next one of the cycle holds.
    pub waiting_on: String,
}

/// Why nothing was granted or released.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Refused {
    /// Always false.
    pub ok: bool,
    /// The code.
    pub error: Code,
    /// What is in the way, in one sentence.
    pub message: String,
    /// The field at fault, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// Who is in the way: the first of `holders`; of a deadlock, whom the asker would have waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// All who are in the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<String>,
    /// The resource leased by `holder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leased: Option<String>,
    /// For how long that has been held, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_for_ms: Option<u64>,
    /// In how many milliseconds it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<i64>,
    /// The leases in the way, at most 256.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// There are more of them than are listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stampede: Option<Stampede>,
    /// Of a deadlock: the resource that `holder` itself waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_on: Option<String>,
    /// Of a deadlock: the whole cycle, beginning with the asker.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<Waits>,
    /// A signed receipt of this answer and the request: a compact JWS, whose keys are at `/.well-known/jwks.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

impl Refused {
    /// The refusal of an authority.
    pub fn new(refused: &core::Refused) -> Self {
        let empty = Self {
            ok: false,
            error: code(refused),
            message: refused.to_string(),
            field: None,
            holder: None,
            holders: Vec::new(),
            leased: None,
            held_for_ms: None,
            expires_in_ms: None,
            conflicts: Vec::new(),
            truncated: false,
            stampede: None,
            waiting_on: None,
            cycle: Vec::new(),
            receipt: None,
        };
        match refused {
            core::Refused::Invalid(invalid) => Self { field: Some(invalid.field), ..empty },
            core::Refused::Held(held) => {
                let first = held.conflicts.first();
                Self {
                    holder: held.holders.first().map(|holder| holder.as_str().into()),
                    holders: names(&held.holders),
                    leased: first.map(|first| first.leased.clone()),
                    held_for_ms: first.map(|first| first.held_for_ms),
                    expires_in_ms: first.map(|first| first.expires_in_ms),
                    conflicts: conflicts(&held.conflicts),
                    truncated: held.truncated,
                    stampede: Some(Stampede {
                        admitted: names(&held.stampede.admitted),
                        wait_ms: held.stampede.wait_ms,
                        position: held.stampede.position,
                        waiters: held.stampede.waiters,
                    }),
                    ..empty
                }
            }
            core::Refused::Deadlock(deadlock) => Self {
                holder: Some(deadlock.holder.as_str().into()),
                waiting_on: Some(deadlock.waiting_on.clone()),
                cycle: cycle(&deadlock.cycle),
                conflicts: conflicts(&deadlock.conflicts),
                ..empty
            },
            _ => empty,
        }
    }

    /// When to ask again, in whole seconds as the header Retry-After has them, rounded up.
    pub fn retry_after_s(&self) -> Option<u64> {
        self.stampede.as_ref().map(|stampede| stampede.wait_ms.div_ceil(1_000))
    }
}

fn code(refused: &core::Refused) -> Code {
    match refused {
        core::Refused::Invalid(_) => Code::InvalidField,
        core::Refused::Held(held) if held.conflicts.is_empty() => Code::Queued,
        core::Refused::Held(_) => Code::LeaseHeld,
        core::Refused::Deadlock(_) => Code::Deadlock,
        core::Refused::IdempotencyMismatch => Code::IdempotencyMismatch,
        core::Refused::Superseded => Code::Superseded,
        core::Refused::QueueFull { .. } => Code::QueueFull,
        core::Refused::StaleLease { .. } => Code::StaleLease,
        core::Refused::NotHeld { .. } => Code::NotHeld,
        // What a later core refuses is a bound until it has a code of its own.
        _ => Code::LimitExceeded,
    }
}

fn names(holders: &[Holder]) -> Vec<String> {
    holders.iter().map(|holder| holder.as_str().into()).collect()
}

fn conflicts(conflicts: &[leasebook::Conflict]) -> Vec<Conflict> {
    let conflict = |conflict: &leasebook::Conflict| Conflict {
        resource: conflict.path.clone(),
        leased: conflict.leased.clone(),
        holder: conflict.holder.as_str().into(),
        mode: conflict.mode.name(),
        held_for_ms: conflict.held_for_ms,
        expires_in_ms: conflict.expires_in_ms,
    };
    conflicts.iter().map(conflict).collect()
}

fn cycle(cycle: &[core::Waits]) -> Vec<Waits> {
    let step =
        |waits: &core::Waits| Waits { actor_did: waits.actor.as_str().into(), waiting_on: waits.waiting_on.clone() };
    cycle.iter().map(step).collect()
}

/// What was given back.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Released {
    /// Always true.
    pub ok: bool,
    /// The resources that were given back.
    pub released: Vec<String>,
    /// The leases that are over now.
    pub ended: Vec<String>,
    /// The leases of which some resources stay.
    pub kept: Vec<String>,
    /// A signed receipt of this answer and the request: a compact JWS, whose keys are at `/.well-known/jwks.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

impl From<&core::Given> for Released {
    fn from(given: &core::Given) -> Self {
        let ids = |ids: &[core::LeaseId]| ids.iter().map(ToString::to_string).collect();
        Self {
            ok: true,
            released: given.resources.clone(),
            ended: ids(&given.ended),
            kept: ids(&given.kept),
            receipt: None,
        }
    }
}

/// Who waits for a resource.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Queue {
    /// The resource.
    pub resource: String,
    /// Who waits for it, the first first.
    pub waiters: Vec<Waiter>,
}

/// One who waits.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waiter {
    /// Who.
    pub actor_did: String,
    /// All that it waits for.
    pub resources: Vec<String>,
    /// How: exclusive or shared.
    pub mode: &'static str,
    /// Since when, in milliseconds of the Unix epoch.
    pub since_ms: u64,
    /// A request of it is waiting for the answer; otherwise it asks again from time to time.
    pub parked: bool,
    /// Whom it waits for.
    pub waits_for: Vec<WaitsFor>,
}

/// Whom one waits for, and on what.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WaitsFor {
    /// Whom.
    pub holder: String,
    /// The resource that is waited for; absent where the other only comes first in the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// What the other holds of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leased: Option<String>,
}

/// A request that was refused as a deadlock.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deadlocked {
    /// When, in milliseconds of the Unix epoch.
    pub at_ms: u64,
    /// Whose.
    pub actor_did: String,
    /// What for.
    pub resources: Vec<String>,
    /// Whom it would have waited for.
    pub holder: String,
    /// The resource that this holder itself waited for.
    pub waiting_on: String,
    /// The whole cycle.
    pub cycle: Vec<Waits>,
}

/// The queues of a workspace.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// Always true.
    pub ok: bool,
    /// The queues, by resource. Who waits for several resources is in several of them.
    pub queues: Vec<Queue>,
    /// What was refused as a deadlock in the last 10 minutes, the oldest first.
    pub deadlocks: Vec<Deadlocked>,
}

impl Waiting {
    /// The queues, of those who wait in queue order.
    pub fn new(waiters: &[core::Waiter], seen: &[core::Seen]) -> Self {
        let mut queues: std::collections::BTreeMap<&str, Vec<Waiter>> = std::collections::BTreeMap::new();
        for waiter in waiters {
            let told = Waiter {
                actor_did: waiter.actor.as_str().into(),
                resources: waiter.resources.clone(),
                mode: waiter.mode.name(),
                since_ms: waiter.since_ms,
                parked: waiter.parked > 0,
                waits_for: waiter.waits_for.iter().map(waits_for).collect(),
            };
            for resource in &waiter.resources {
                queues.entry(resource).or_default().push(told.clone());
            }
        }
        let queue = |(resource, waiters): (&str, Vec<Waiter>)| Queue { resource: resource.into(), waiters };
        let deadlocked = |seen: &core::Seen| Deadlocked {
            at_ms: seen.at_ms,
            actor_did: seen.actor.as_str().into(),
            resources: seen.resources.clone(),
            holder: seen.deadlock.holder.as_str().into(),
            waiting_on: seen.deadlock.waiting_on.clone(),
            cycle: cycle(&seen.deadlock.cycle),
        };
        Self {
            ok: true,
            queues: queues.into_iter().map(queue).collect(),
            deadlocks: seen.iter().map(deadlocked).collect(),
        }
    }
}

fn waits_for(edge: &core::WaitsFor) -> WaitsFor {
    let (resource, leased) = edge.by.clone().unzip();
    WaitsFor { holder: edge.holder.as_str().into(), resource, leased }
}

/// The standing leases of a workspace.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Leases {
    /// Always true.
    pub ok: bool,
    /// What time it is for the service, in milliseconds of the Unix epoch.
    pub now_ms: u64,
    /// The leases, the oldest first.
    pub leases: Vec<Lease>,
}

/// The score of an actor.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trusted {
    /// Always true.
    pub ok: bool,
    /// Whose.
    pub actor_did: String,
    /// 0 to 100; 50 is where everybody starts. 0.5 more for each lease that is given back, 5 less for each that runs out.
    pub score: f64,
}
