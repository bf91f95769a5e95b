//! Records of an authority as the texts that a store keeps, and events as the lines of a ledger.
//!
//! What is read back is checked like any other input: a store may have been written by another version, or by hand.

use crate::keys::{hex, unhex};
use crate::ledger;
use crate::store::{self, Change, StoreError};
use leasebook::coordination::{Event, Fact, GrantRecord, Lease, LeaseId, Record, Remembered, Trust, Waits};
use leasebook::{Counters, Holder, LeaseRecord, Mode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Location {
    holder: String,
    path: String,
    exclusive: bool,
    acquired_at_ms: u64,
    ttl_ms: u64,
    expires_at_ms: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Grant {
    generations: Vec<u64>,
    acquired_at_ms: u64,
    fence: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Kept {
    actor: String,
    key: String,
    body: String,
    until_ms: u64,
    asked_shared: bool,
    lease_id: u64,
    resources: Vec<String>,
    exclusive: bool,
    ttl_ms: u64,
    acquired_at_ms: u64,
    expires_at_ms: u64,
    generation: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Counts {
    now_ms: u64,
    last_generation: u64,
    last_place: u64,
    last_token: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Score {
    halves: u16,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Last {
    lease_id: u64,
}

const LOCATION: &str = "location/";
const GRANT: &str = "grant/";
const TRUST: &str = "trust/";
const REMEMBERED: &str = "remembered/";
const COUNTERS: &str = "counters";
const LAST: &str = "last-lease";

/// A changed record, as it is stored.
pub(crate) fn change(workspace: &str, record: &Record) -> Change {
    let (key, value) = match record {
        Record::Location(lease) => {
            let location = Location {
                holder: lease.holder.as_str().into(),
                path: lease.path.clone(),
                exclusive: lease.mode == Mode::Exclusive,
                acquired_at_ms: lease.acquired_at_ms,
                ttl_ms: lease.ttl_ms,
                expires_at_ms: lease.expires_at_ms,
            };
            (format!("{LOCATION}{}", lease.generation), Some(text(&location)))
        }
        Record::LocationGone(generation) => (format!("{LOCATION}{generation}"), None),
        Record::Grant(grant) => {
            let GrantRecord { generations, acquired_at_ms, fence, .. } = grant.clone();
            let value = Grant { generations, acquired_at_ms, fence };
            (format!("{GRANT}{}", grant.lease_id), Some(text(&value)))
        }
        Record::GrantGone(id) => (format!("{GRANT}{id}"), None),
        Record::Trust { actor, trust } => {
            (format!("{TRUST}{}", actor.as_str()), Some(text(&Score { halves: trust.halves() })))
        }
        Record::Remembered(kept) => {
            let lease = &kept.lease;
            let value = Kept {
                actor: kept.actor.as_str().into(),
                key: kept.key.clone(),
                body: hex(&kept.body),
                until_ms: kept.until_ms,
                asked_shared: kept.asked_shared,
                lease_id: lease.lease_id.0,
                resources: lease.resources.clone(),
                exclusive: lease.mode == Mode::Exclusive,
                ttl_ms: lease.ttl_ms,
                acquired_at_ms: lease.acquired_at_ms,
                expires_at_ms: lease.expires_at_ms,
                generation: lease.generation,
            };
            (remembered(&kept.actor, &kept.key), Some(text(&value)))
        }
        Record::RememberedGone { actor, key } => (remembered(actor, key), None),
        Record::Counters(counters) => {
            let value = Counts {
                now_ms: counters.now_ms,
                last_generation: counters.last_generation,
                last_place: counters.last_place,
                last_token: counters.last_token,
            };
            (COUNTERS.into(), Some(text(&value)))
        }
        Record::LastLease(lease_id) => (LAST.into(), Some(text(&Last { lease_id: *lease_id }))),
    };
    Change { workspace: workspace.into(), key, value }
}

/// A DID has no slash, so that no two pairs have the same key.
fn remembered(actor: &Holder, key: &str) -> String {
    format!("{REMEMBERED}{}/{key}", actor.as_str())
}

fn text(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(text) => text,
        // Only a map with keys that are no texts fails.
        Err(error) => unreachable!("a record is not JSON: {error}"),
    }
}

/// A stored record, read back.
pub(crate) fn record(stored: &store::Record) -> Result<Record, StoreError> {
    let unreadable = || StoreError::Unreadable {
        what: format!("record {} of workspace {}", stored.key.escape_debug(), stored.workspace.escape_debug()),
        expected: "a record that a service has written",
    };
    read(&stored.key, &stored.value).ok_or_else(unreadable)
}

fn read(key: &str, value: &str) -> Option<Record> {
    let number = |text: &str| text.parse::<u64>().ok();
    let holder = |id: &str| Holder::new(id).ok();
    let mode = |exclusive| if exclusive { Mode::Exclusive } else { Mode::Shared };
    if let Some(generation) = key.strip_prefix(LOCATION) {
        let location: Location = serde_json::from_str(value).ok()?;
        return Some(Record::Location(LeaseRecord {
            generation: number(generation)?,
            holder: holder(&location.holder)?,
            path: location.path,
            mode: mode(location.exclusive),
            acquired_at_ms: location.acquired_at_ms,
            ttl_ms: location.ttl_ms,
            expires_at_ms: location.expires_at_ms,
            release_pending: false,
        }));
    }
    if let Some(id) = key.strip_prefix(GRANT) {
        let grant: Grant = serde_json::from_str(value).ok()?;
        return Some(Record::Grant(GrantRecord {
            lease_id: number(id)?,
            generations: grant.generations,
            acquired_at_ms: grant.acquired_at_ms,
            fence: grant.fence,
        }));
    }
    if let Some(actor) = key.strip_prefix(TRUST) {
        let score: Score = serde_json::from_str(value).ok()?;
        return Some(Record::Trust { actor: holder(actor)?, trust: Trust::from_halves(score.halves)? });
    }
    if key.starts_with(REMEMBERED) {
        let kept: Kept = serde_json::from_str(value).ok()?;
        let actor = holder(&kept.actor)?;
        return Some(Record::Remembered(Remembered {
            key: kept.key,
            body: unhex(&kept.body)?,
            until_ms: kept.until_ms,
            asked_shared: kept.asked_shared,
            lease: Lease {
                lease_id: LeaseId(kept.lease_id),
                resources: kept.resources,
                holder: actor.clone(),
                mode: mode(kept.exclusive),
                ttl_ms: kept.ttl_ms,
                acquired_at_ms: kept.acquired_at_ms,
                expires_at_ms: kept.expires_at_ms,
                generation: kept.generation,
            },
            actor,
        }));
    }
    match key {
        COUNTERS => {
            let counts: Counts = serde_json::from_str(value).ok()?;
            Some(Record::Counters(Counters {
                now_ms: counts.now_ms,
                last_generation: counts.last_generation,
                last_place: counts.last_place,
                last_token: counts.last_token,
            }))
        }
        LAST => serde_json::from_str(value).ok().map(|Last { lease_id }| Record::LastLease(lease_id)),
        _ => None,
    }
}

/// What observers are told of an event: its kind, and its fields as REST names them.
pub(crate) fn told(event: &Event) -> Value {
    let (kind, mut fields) = match &event.what {
        Fact::Granted(lease) => ("granted", json!({ "lease": lease_fields(lease) })),
        Fact::Refreshed(lease) => ("refreshed", json!({ "lease": lease_fields(lease) })),
        Fact::Released { lease_id, holder, resources, ended } => (
            "released",
            json!({ "leaseId": lease_id.to_string(), "holder": **holder, "resources": resources, "ended": ended }),
        ),
        Fact::Expired { lease_id, holder, resources } => {
            ("expired", json!({ "leaseId": lease_id.to_string(), "holder": **holder, "resources": resources }))
        }
        Fact::Revoked { lease_id, holder, resources } => {
            ("revoked", json!({ "leaseId": lease_id.to_string(), "holder": **holder, "resources": resources }))
        }
        Fact::Withdrawn { lease_id, holder, resources } => {
            ("withdrawn", json!({ "leaseId": lease_id.to_string(), "holder": **holder, "resources": resources }))
        }
        Fact::Refused { actor, resources, error, holders } => {
            let holders: Vec<&str> = holders.iter().map(Holder::as_str).collect();
            ("refused", json!({ "actorDid": **actor, "resources": resources, "error": error, "holders": holders }))
        }
        Fact::Deadlock { actor, resources, deadlock } => (
            "refused",
            json!({
                "actorDid": **actor,
                "resources": resources,
                "error": "deadlock",
                "holders": [&*deadlock.holder],
                "waitingOn": deadlock.waiting_on,
                "cycle": cycle(&deadlock.cycle),
            }),
        ),
        Fact::Waiting { actor, resources, position } => {
            ("waiting", json!({ "actorDid": **actor, "resources": resources, "position": position }))
        }
        Fact::WaitEnded { actor, how } => ("wait-ended", json!({ "actorDid": **actor, "how": how.name() })),
        Fact::Trust { actor, trust } => ("trust", json!({ "actorDid": **actor, "score": trust.score() })),
        Fact::Dropped { count } => ("dropped", json!({ "count": count })),
        _ => ("other", json!({})),
    };
    fields["kind"] = kind.into();
    fields["atMs"] = event.at_ms.into();
    fields
}

/// A cycle of waits as its fields.
pub(crate) fn cycle(cycle: &[Waits]) -> Vec<Value> {
    cycle.iter().map(|waits| json!({ "actorDid": *waits.actor, "waitingOn": waits.waiting_on })).collect()
}

/// A lease as its fields.
pub(crate) fn lease_fields(lease: &Lease) -> Value {
    json!({
        "leaseId": lease.lease_id.to_string(),
        "resources": lease.resources,
        "holder": *lease.holder,
        "mode": lease.mode.name(),
        "ttlMs": lease.ttl_ms,
        "acquiredAtMs": lease.acquired_at_ms,
        "expiresAtMs": lease.expires_at_ms,
        "generation": lease.generation,
    })
}

/// The line of an event in the ledger, where it is one for it: what was decided about leases, not who waits.
pub(crate) fn ledger_line(event: &Event) -> Option<String> {
    match &event.what {
        Fact::Waiting { .. } | Fact::WaitEnded { .. } | Fact::Trust { .. } => None,
        _ => {
            let mut body = told(event);
            let kind = match body["kind"].as_str() {
                Some("granted" | "refreshed") => "coordination.lease",
                Some("refused") => "coordination.refusal",
                Some("released" | "withdrawn") => "coordination.release",
                Some("expired") => "coordination.expiry",
                Some("revoked") => "coordination.revocation",
                _ => "coordination.dropped",
            };
            if let Some(members) = body.as_object_mut() {
                members.remove("atMs"); // the line says it
            }
            let event = |body| ledger::Event { kind: kind.into(), at_ms: event.at_ms, body }.to_text();
            // One that does not fit a line leaves its place there; its number is not lost.
            event(body).or_else(|_| event(json!({ "omitted": true }))).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasebook::Millis;
    use leasebook::coordination::{Authority, Giving, Idempotency, Options, Request};

    fn stored(record: &Record) -> Option<store::Record> {
        let Change { workspace, key, value } = change("w", record);
        value.map(|value| store::Record { workspace, key, value })
    }

    #[test]
    fn every_kind_of_record_is_read_back_as_it_was_written() {
        let mut authority = Authority::new(Options { journal: true, ..Options::default() }).unwrap();
        let request = |resources| Request {
            actor: "did:web:a",
            resources,
            mode: Mode::Exclusive,
            ttl: None,
            wait: None,
            idempotency: Some(Idempotency { key: "k/ä", body: [7; 32] }),
        };
        authority.ask(Millis::new(5), 1, &request(&["a/b", "c"]));
        let mut records = authority.take_records();
        let giving = Giving { actor: "did:web:a", resources: &["a/b", "c"], lease_id: None };
        authority.release(Millis::new(6), &giving).unwrap();
        records.extend(authority.take_records());
        let kinds: std::collections::BTreeSet<_> =
            records.iter().map(std::mem::discriminant).map(|d| format!("{d:?}")).collect();
        assert_eq!(kinds.len(), 8, "all but a remembered grant that is gone");
        for record in &records {
            if let Some(stored) = stored(record) {
                assert_eq!(super::record(&stored).unwrap(), *record);
            }
        }
    }

    #[test]
    fn what_is_decided_about_leases_is_an_event_that_a_ledger_takes() {
        let mut authority = Authority::new(Options { events: 16, ..Options::default() }).unwrap();
        let request = |actor| Request {
            actor,
            resources: &["a/b", "c"],
            mode: Mode::Exclusive,
            ttl: None,
            wait: None,
            idempotency: None,
        };
        authority.ask(Millis::new(5), 1, &request("did:web:a"));
        authority.ask(Millis::new(6), 2, &request("did:web:b"));
        let giving = Giving { actor: "did:web:a", resources: &["a/b", "c"], lease_id: None };
        authority.release(Millis::new(7), &giving).unwrap();
        let events = authority.take_events();
        let lines = events.iter().filter_map(ledger_line);
        let read: Vec<_> = lines.map(|line| ledger::Event::read(line.as_bytes()).unwrap()).collect();
        let told: Vec<_> = read.iter().map(|event| (event.kind.as_str(), event.at_ms)).collect();
        assert_eq!(told, [("coordination.lease", 5), ("coordination.refusal", 6), ("coordination.release", 7)]);
        assert_eq!(read[0].body["lease"]["resources"], json!(["a/b", "c"]));
    }

    #[test]
    fn what_no_service_has_written_is_refused_with_its_key() {
        let good = r#"{"halves":100}"#;
        for (key, value) in [
            ("trust/did:web:a", "{"),
            ("trust/did:web:a", r#"{"halves":201}"#),
            ("trust/did:web:a", r#"{"halves":100,"more":1}"#),
            ("trust/", good),
            ("location/x", good),
            ("grant/1", good),
            ("counters", good),
            ("remembered/x", good),
            ("nothing", good),
        ] {
            let stored = store::Record { workspace: "w".into(), key: key.into(), value: value.into() };
            assert!(record(&stored).unwrap_err().to_string().contains(key), "{key} {value}");
        }
    }
}
