//! What the two agents do, as operations of a lease book: six scenes on one table, by a clock that the story sets.

use super::tree::Tree;
use serde_json::{Value, json};

/// The first agent: it edits, under a lease of the whole first folder.
pub const WRITER: &str = "writer-1";
/// The second agent: it wants one file.
pub const REVIEWER: &str = "reviewer-1";

/// One thing to be shown.
pub struct Scene {
    /// What it shows.
    pub name: &'static str,
    /// What happens.
    pub steps: Vec<Step>,
}

/// One operation of one agent.
pub struct Step {
    /// When, in milliseconds since the story began.
    pub at_ms: u64,
    /// Who.
    pub who: &'static str,
    /// What is asked.
    pub verb: &'static str,
    /// What it is asked for.
    pub object: String,
    /// What is asked, as a line of `leasebook table`.
    pub operation: Value,
}

/// The story, on the places of a tree.
pub fn story(tree: &Tree) -> Vec<Scene> {
    let absolute = |relative: &str| format!("{}/{relative}", tree.root.trim_end_matches('/'));
    let [first, second] = &tree.places;
    let acquire = |at_s, who, path: &str| {
        step(at_s, who, "acquire", path, json!({"op": "acquire", "holder": who, "paths": [absolute(path)]}))
    };
    let wait = |at_s, who, path: &str| {
        let operation = json!({"op": "wait-attempt", "waiter-id": who, "holder": who, "paths": [absolute(path)],
            "allow-hold": true, "keep-ms": 60_000});
        step(at_s, who, "wait for", path, operation)
    };
    let pin = json!({"op": "pin", "holder": WRITER, "paths": [absolute(&first.file)]});
    let unpin = json!({"op": "unpin", "token": "pin-1"});
    let refresh = json!({"op": "refresh", "holder": WRITER, "generation": 1});

    let scene = |name, steps| Scene { name, steps };
    vec![
        scene("grant", vec![acquire(0, WRITER, &first.folder)]),
        scene("refusal", vec![acquire(12, REVIEWER, &first.file)]),
        scene("directory over file", vec![acquire(15, REVIEWER, &second.file), acquire(20, WRITER, &second.folder)]),
        scene("deadlock", vec![wait(21, WRITER, &second.folder), wait(25, REVIEWER, &first.folder)]),
        scene(
            "pin across expiry",
            vec![step(299, WRITER, "pin", &first.file, pin), acquire(302, REVIEWER, &first.file)],
        ),
        scene(
            "takeover after a ttl",
            vec![
                step(303, WRITER, "unpin", "(its write is done)", unpin),
                acquire(304, REVIEWER, &first.file),
                step(305, WRITER, "refresh", "generation 1", refresh),
            ],
        ),
    ]
}

fn step(at_s: u64, who: &'static str, verb: &'static str, object: &str, mut operation: Value) -> Step {
    let at_ms = at_s * 1000;
    operation["at-ms"] = at_ms.into();
    Step { at_ms, who, verb, object: object.to_owned(), operation }
}
