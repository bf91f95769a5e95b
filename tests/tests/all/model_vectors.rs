//! The reference model gives the recorded answers.

use leasebook::{Blocked, Conflict, Lease, NotHeld, Refusal, Status};
use leasebook_tests::agree::fault_of_cycle;
use leasebook_tests::line;
use leasebook_tests::model::Model;
use leasebook_tests::op::{Answer, Op, Timed};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn the_model_gives_the_recorded_answers() {
    let files = recorded_runs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors"));
    assert!(files.len() >= 100, "{} recorded runs found", files.len());
    for file in files {
        replay(&file);
    }
}

fn recorded_runs(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder of recorded runs") {
        let path = entry.expect("an entry of it").path();
        if path.is_dir() {
            files.extend(recorded_runs(&path));
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn replay(file: &Path) {
    let text = std::fs::read_to_string(file).expect("a recorded run");
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let mut model = Model::new(line::options(&lines.next().expect("an opening line")));
    let mut tokens = BTreeMap::new(); // theirs to ours
    for (number, mut line) in lines.enumerate() {
        let recorded = line["answer"].take();
        if line["op"] == "unpin" {
            let theirs = line["token"].as_str().unwrap_or_default();
            line["token"] = tokens.get(theirs).cloned().unwrap_or_else(|| json!("pin-0"));
        }
        let Some(timed) = line::read(&line) else { continue };
        let answer = timed.on_model(&mut model);
        let place = || format!("{}, line {}: {line}", file.display(), number + 2);
        if let (Answer::Pin(Ok(ours)), Some(theirs)) = (&answer, recorded["token"].as_str()) {
            tokens.insert(theirs.to_string(), json!(ours.to_string()));
        }
        let cycle = recorded.get("cycle").is_some();
        if let (Answer::Grant(Err(Refusal::Deadlock { cycle, .. })), Op::Wait(wait)) = (&answer, &timed.op) {
            let edges = wait.with(|attempt| model.lease_edges_with(attempt));
            assert_eq!(fault_of_cycle(cycle, &edges), None, "{}\n{cycle:?}", place());
        }
        let expected = with_our_tokens(recorded, &tokens);
        let found = said(&answer, &timed);
        assert_eq!(cycle, found["reason"] == "deadlock", "{}", place());
        assert!(covers(&expected, &found), "{}\nexpected {expected}\n   found {found}", place());
    }
}

/// Is everything that was recorded also found? More may be found.
fn covers(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected.iter().all(|(name, value)| match name.as_str() {
            "cycle" => true, // any valid one, checked by itself
            "pins" | "waiters" if value.is_array() => covers_as_set(value, &found[name]),
            _ => found.get(name).is_some_and(|found| covers(value, found)),
        }),
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len() && expected.iter().zip(found).all(|(a, b)| covers(a, b))
        }
        _ => expected == found,
    }
}

fn covers_as_set(expected: &Value, found: &Value) -> bool {
    let (Some(expected), Some(found)) = (expected.as_array(), found.as_array()) else { return false };
    expected.len() == found.len() && expected.iter().all(|one| found.iter().any(|other| covers(one, other)))
}

fn with_our_tokens(mut recorded: Value, tokens: &BTreeMap<String, Value>) -> Value {
    let ours = |theirs: &Value| tokens.get(theirs.as_str().unwrap_or_default()).cloned().unwrap_or(Value::Null);
    if recorded.get("token").is_some() {
        recorded["token"] = ours(&recorded["token"]);
    }
    for pin in recorded.get_mut("pins").and_then(Value::as_array_mut).into_iter().flatten() {
        pin["token"] = ours(&pin["token"]);
    }
    recorded
}

/// An answer in the shape of the recorded ones.
pub fn said(answer: &Answer, timed: &Timed) -> Value {
    match answer {
        Answer::Grant(Ok(leases)) => json!({"granted": true, "leases": leases.iter().map(lease).collect::<Vec<_>>()}),
        Answer::Grant(Err(refusal)) => refused(refusal),
        Answer::Refresh(Ok(refreshed)) => json!({"refreshed": true, "lease": lease(refreshed)}),
        Answer::Refresh(Err(refusal)) => json!({"refreshed": false, "reason": refusal.reason(), "ttl-ms": ttl(timed)}),
        Answer::Release(Ok(answer)) => {
            let not_held = answer.not_held.iter().map(|what| match what {
                NotHeld::Path(path) => json!(path),
                NotHeld::Generation(generation) => json!(generation),
            });
            json!({"released": answer.released, "not-held": not_held.collect::<Vec<_>>()})
        }
        Answer::Release(Err(_)) => json!({"reason": "limit-exceeded"}),
        Answer::Count(count) => json!({"count": count}),
        Answer::Revoke(None) => json!({"revoked": false, "reason": "stale"}),
        Answer::Revoke(Some(gone)) => {
            json!({"revoked": true, "holder": gone.holder.as_str(), "path": gone.path, "pending": gone.pending})
        }
        Answer::Found(found) => json!({"found": found}),
        Answer::Covering(covering) => {
            let mut said = json!({"verdict": covering.verdict.name()});
            if let Some(lease) = &covering.lease {
                said["holder"] = json!(lease.holder.as_str());
                said["leased"] = json!(lease.leased);
                said["held-for-ms"] = json!(lease.held_for_ms);
            }
            if !covering.evaluable {
                said["evaluable"] = json!(false);
            }
            said
        }
        Answer::Pin(Ok(token)) => json!({"pinned": true, "token": token.to_string()}),
        Answer::Pin(Err(refusal)) => {
            let path = if let leasebook::PinRefusal::NotHeld { path } = refusal { json!(path) } else { Value::Null };
            json!({"pinned": false, "reason": refusal.reason(), "path": path})
        }
        Answer::Ready(ids) => json!({"ready": ids}),
        Answer::Deadline(deadline) => json!({"deadline-ms": deadline}),
        Answer::Leases(leases) => json!({"leases": leases.iter().map(lease).collect::<Vec<_>>()}),
        Answer::Status(answer) => status(answer),
    }
}

fn refused(refusal: &Refusal) -> Value {
    let mut said = refusal.blocked().map_or(json!({}), blocked);
    said["granted"] = json!(false);
    said["reason"] = json!(refusal.reason());
    match refusal {
        Refusal::InvalidTtl { ttl_ms } => said["ttl-ms"] = json!(*ttl_ms as i64),
        Refusal::InvalidKeep { keep_ms } => said["keep-ms"] = json!(keep_ms.map(|keep_ms| keep_ms as i64)),
        Refusal::UnevaluablePath { unevaluable } => said["unevaluable"] = json!(unevaluable),
        Refusal::Conflict(blocked) => said["blockers"] = json!(names(&blocked.blockers)),
        _ => {}
    }
    said
}

fn blocked(blocked: &Blocked) -> Value {
    let mut said = json!({"conflicts": blocked.conflicts.iter().map(conflict).collect::<Vec<_>>()});
    if let Some(ahead) = &blocked.ahead {
        said["ahead"] = json!({"holders": names(&ahead.holders), "position": ahead.position});
    }
    said
}

fn conflict(conflict: &Conflict) -> Value {
    let mut said = json!({
        "path": conflict.path, "leased": conflict.leased, "holder": conflict.holder.as_str(),
        "mode": conflict.mode.name(), "held-for-ms": conflict.held_for_ms, "expires-in-ms": conflict.expires_in_ms
    });
    if conflict.ended {
        said["ended"] = json!(true);
    }
    said
}

fn lease(lease: &Lease) -> Value {
    json!({
        "path": lease.path, "holder": lease.holder.as_str(), "mode": lease.mode.name(),
        "generation": lease.generation, "acquired-at-ms": lease.acquired_at_ms, "ttl-ms": lease.ttl_ms,
        "expires-at-ms": lease.expires_at_ms, "held-for-ms": lease.held_for_ms, "expires-in-ms": lease.expires_in_ms
    })
}

fn status(status: &Status) -> Value {
    let leases = status.leases.iter().map(|standing| {
        let mut said = lease(&standing.lease);
        said["pins"] = json!(standing.pins);
        said["release-pending"] = json!(standing.release_pending);
        said
    });
    let waiters = status.waiters.iter().map(|waiter| {
        let modes: Vec<_> = waiter.modes.iter().map(|mode| mode.name()).collect();
        json!({
            "id": waiter.id, "holder": waiter.holder.as_str(), "paths": waiter.paths, "modes": modes,
            "blockers": names(&waiter.blockers), "waiting-for-ms": waiter.waiting_for_ms
        })
    });
    let pins = status.pins.iter().map(|pin| {
        json!({
            "token": pin.token.to_string(), "holder": pin.holder.as_str(), "generations": pin.generations,
            "pinned-for-ms": pin.pinned_for_ms
        })
    });
    json!({
        "leases": leases.collect::<Vec<_>>(), "waiters": waiters.collect::<Vec<_>>(),
        "pins": pins.collect::<Vec<_>>()
    })
}

fn names(holders: &[leasebook::Holder]) -> Vec<&str> {
    holders.iter().map(|holder| holder.as_str()).collect()
}

fn ttl(timed: &Timed) -> Value {
    match timed.op {
        Op::Refresh { ttl, .. } => json!(ttl.map(|ttl| ttl as i64)),
        _ => Value::Null,
    }
}
