//! Operations as lines of the vector format: read from recorded runs, and printed where a trial fails, so that the run
//! can be replayed by anything that speaks the format.

use crate::op::{Op, Timed, Wait, What};
use leasebook::{Fairness, Mode, Options, PinToken};
use serde_json::{Map, Value, json};

/// A line that opens a table.
pub fn opening(options: &Options, at_ms: u64) -> Value {
    let fairness = match options.fairness {
        Fairness::Barge => "barge",
        Fairness::Fifo => "fifo",
    };
    json!({"op": "new", "at-ms": at_ms, "default-ttl-ms": options.default_ttl_ms, "fairness": fairness})
}

/// The options of a line that opens a table.
pub fn options(line: &Value) -> Options {
    let fairness = if line["fairness"] == "fifo" { Fairness::Fifo } else { Fairness::Barge };
    let default_ttl_ms = line["default-ttl-ms"].as_u64().expect("an opening line has a default ttl");
    Options { default_ttl_ms, fairness, ..Options::default() }
}

/// An operation as a line.
pub fn write(timed: &Timed) -> Value {
    let (name, fields) = match &timed.op {
        Op::Acquire { holder, wishes, ttl } => (
            "acquire",
            json!({"holder": holder, "paths": paths_of(wishes), "modes": modes_of(wishes), "ttl-ms": ttl.map(number)}),
        ),
        Op::Wait(wait) => (
            "wait-attempt",
            json!({"waiter-id": wait.waiter_id, "holder": wait.holder, "paths": paths_of(&wait.wishes),
                   "modes": modes_of(&wait.wishes), "ttl-ms": wait.ttl.map(number), "allow-hold": wait.allow_hold,
                   "keep-ms": wait.keep.map(number)}),
        ),
        Op::CancelWait { waiter_id } => ("cancel-wait", json!({"waiter-id": waiter_id})),
        Op::Refresh { holder, generation, ttl } => {
            ("refresh", json!({"holder": holder, "generation": generation, "ttl-ms": ttl.map(number)}))
        }
        Op::Release { holder, what: What::All } => ("release", json!({"holder": holder, "paths": []})),
        Op::Release { holder, what: What::Paths(paths) } => ("release", json!({"holder": holder, "paths": paths})),
        Op::Release { holder, what: What::Generation(generation) } => {
            ("release", json!({"holder": holder, "generation": generation}))
        }
        Op::ReleaseHolder { holder } => ("release-holder", json!({"holder": holder})),
        Op::ReleaseAll => ("release-all", json!({})),
        Op::EndSession { holder } => ("end-session", json!({"holder": holder})),
        Op::Revoke { generation, force } => ("revoke", json!({"generation": generation, "force": force})),
        Op::Covering { holder, path, mode } => {
            ("covering", json!({"holder": holder, "path": path, "mode": mode.name()}))
        }
        Op::Pin { holder, paths, mode, deadline_ms } => {
            ("pin", json!({"holder": holder, "paths": paths, "mode": mode.name(), "deadline-ms": deadline_ms}))
        }
        Op::Unpin { token } => ("unpin", json!({"token": PinToken(*token).to_string()})),
        Op::Ready => ("ready", json!({})),
        Op::NextDeadline => ("next-deadline", json!({})),
        Op::Leases => ("leases", json!({})),
        Op::Status => ("status", json!({})),
    };
    let mut line = Map::from_iter([("op".to_string(), name.into()), ("at-ms".to_string(), timed.at_ms.into())]);
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    Value::Object(line)
}

/// The operation of a line; `None` where it only moves the clock.
pub fn read(line: &Value) -> Option<Timed> {
    let text = |field: &str| line[field].as_str().unwrap_or_default().to_string();
    let texts = |field: &str| -> Vec<String> {
        let list = line[field].as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter().map(|item| item.as_str().unwrap_or_default().to_string()).collect()
    };
    let mode = |value: Option<&Value>| match value.and_then(Value::as_str) {
        Some("shared") => Mode::Shared,
        _ => Mode::Exclusive,
    };
    let wishes = || -> Vec<(String, Mode)> {
        texts("paths").into_iter().enumerate().map(|(n, path)| (path, mode(line["modes"].get(n)))).collect()
    };
    let (holder, ttl) = (text("holder"), line["ttl-ms"].as_f64());
    let generation = line["generation"].as_u64();
    let op = match line["op"].as_str().expect("a line names its operation") {
        "advance" => return None,
        "acquire" => Op::Acquire { holder, wishes: wishes(), ttl },
        "wait-attempt" => Op::Wait(Wait {
            waiter_id: text("waiter-id"),
            holder,
            wishes: wishes(),
            ttl,
            allow_hold: line["allow-hold"] == true,
            keep: line["keep-ms"].as_f64(),
        }),
        "cancel-wait" => Op::CancelWait { waiter_id: text("waiter-id") },
        "refresh" => Op::Refresh { holder, generation: generation.unwrap_or_default(), ttl },
        "release" => {
            let what = match (generation, texts("paths")) {
                (Some(generation), _) => What::Generation(generation),
                (None, paths) if paths.is_empty() => What::All,
                (None, paths) => What::Paths(paths),
            };
            Op::Release { holder, what }
        }
        "release-holder" => Op::ReleaseHolder { holder },
        "release-all" => Op::ReleaseAll,
        "end-session" => Op::EndSession { holder },
        "revoke" => Op::Revoke { generation: generation.unwrap_or_default(), force: line["force"] == true },
        "covering" => Op::Covering { holder, path: text("path"), mode: mode(line.get("mode")) },
        "pin" => Op::Pin {
            holder,
            paths: texts("paths"),
            mode: mode(line.get("mode")),
            deadline_ms: line["deadline-ms"].as_u64(),
        },
        "unpin" => Op::Unpin { token: text("token").parse::<PinToken>().map_or(0, |token| token.0) },
        "ready" => Op::Ready,
        "next-deadline" => Op::NextDeadline,
        "leases" => Op::Leases,
        "status" => Op::Status,
        other => panic!("no operation {other}"),
    };
    Some(Timed { at_ms: line["at-ms"].as_u64().expect("a line has its moment"), op })
}

fn paths_of(wishes: &[(String, Mode)]) -> Vec<&str> {
    wishes.iter().map(|(path, _)| path.as_str()).collect()
}

fn modes_of(wishes: &[(String, Mode)]) -> Vec<&str> {
    wishes.iter().map(|(_, mode)| mode.name()).collect()
}

/// A whole number as one, so that a reader that tells 5 from 5.0 sees what was meant; what is none, in words.
fn number(given: f64) -> Value {
    match given {
        whole if whole.fract() == 0.0 && whole.abs() <= 9_007_199_254_740_992.0 => json!(whole as i64),
        finite if finite.is_finite() => json!(finite),
        none => json!(none.to_string()),
    }
}
