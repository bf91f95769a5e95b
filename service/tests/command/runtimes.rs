//! Both runtimes give the same bytes for the same lines.

use super::{RUNTIMES, table};
use serde_json::{Value, json};

/// Numbers that are the same in every run (a linear congruential generator; the constants are Knuth's).
struct Dice(u64);

impl Dice {
    fn roll<'a, T>(&mut self, sides: &'a [T]) -> &'a T {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        &sides[(self.0 >> 33) as usize % sides.len()]
    }
}

const OPERATIONS: [&str; 21] = [
    "acquire",
    "acquire",
    "acquire",
    "wait-attempt",
    "wait-attempt",
    "wait-attempt",
    "wait-attempt",
    "refresh",
    "release",
    "release-holder",
    "end-session",
    "revoke",
    "pin",
    "unpin",
    "cancel-wait",
    "covering",
    "ready",
    "next-deadline",
    "status",
    "records",
    "events",
];
const HOLDERS: [&str; 3] = ["ada", "bob", "dée"];
const PATHS: [&str; 7] = ["/d/x", "/d/./x/", "//d/y", "/e", "/f", "/e", "/d"];

/// Of thirty rolls, six make something unusable.
const RARELY: [u8; 30] = [1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

fn line(dice: &mut Dice, at_ms: u64) -> String {
    let (operation, mut holder) = (*dice.roll(&OPERATIONS), *dice.roll(&HOLDERS));
    let (mut path, other) = (*dice.roll(&PATHS), *dice.roll(&PATHS));
    let keep_ms = *dice.roll(&[20, 90]);
    let mode = *dice.roll(&["exclusive", "exclusive", "shared"]);
    let generation = *dice.roll(&[1, 2, 3, 5, 8, 13, 21, 34]);
    let [force, by_generation] = [(); 2].map(|()| *dice.roll(&[true, false]));
    let allow_hold = *dice.roll(&[true, true, true, false]);
    let mut ttl = dice.roll(&[json!(null), json!(40), json!(300)]).clone();
    match dice.roll(&RARELY) {
        1 => holder = "",
        2 => path = "rel",
        3 => path = "/d/..",
        4 => path = "",
        5 => ttl = json!(0),
        6 => ttl = json!(1e300),
        _ => {}
    }
    let mut line = json!({"op": operation, "at-ms": at_ms});
    let mut put = |fields: Value| line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    match operation {
        "acquire" => put(json!({"holder": holder, "paths": [path, other], "modes": [mode, "shared"], "ttl-ms": ttl})),
        "wait-attempt" => put(json!({"waiter-id": holder, "holder": holder, "paths": [other], "modes": [mode],
            "ttl-ms": ttl, "allow-hold": allow_hold, "keep-ms": keep_ms})),
        "refresh" => put(json!({"holder": holder, "generation": generation, "ttl-ms": ttl})),
        "release" if by_generation => put(json!({"holder": holder, "generation": generation})),
        "release" => put(json!({"holder": holder, "paths": [path, other]})),
        "release-holder" | "end-session" => put(json!({"holder": holder})),
        "revoke" => put(json!({"generation": generation, "force": force})),
        "pin" => put(json!({"holder": holder, "paths": [path], "mode": mode, "deadline-ms": at_ms + 50})),
        "unpin" => put(json!({"token": format!("pin-{generation}")})),
        "cancel-wait" => put(json!({"waiter-id": holder})),
        "covering" => put(json!({"holder": holder, "path": path, "mode": mode})),
        _ => {}
    }
    line.to_string()
}

#[test]
fn the_same_lines_get_the_same_bytes() {
    for (seed, fairness) in [(1, "barge"), (2, "fifo")] {
        let mut dice = Dice(seed);
        let mut at_ms = 1000;
        let lines: Vec<String> = (0..3000)
            .map(|_| {
                at_ms += dice.roll(&[0, 0, 1, 7]);
                line(&mut dice, at_ms)
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let arguments = |runtime| ["--runtime", runtime, "--fairness", fairness, "--journal", "--events", "50"];
        let [native, component] = RUNTIMES.map(|runtime| table(&arguments(runtime), &lines));
        for ((line, native), component) in lines.iter().zip(native.out.lines()).zip(component.out.lines()) {
            assert_eq!(native, component, "{line}");
        }
        assert_eq!((native.code, native.out.lines().count()), (0, lines.len()));
        assert_eq!((component.code, component.out.len()), (0, native.out.len()));
        for happened in ["\"granted\":true", "\"conflict\"", "\"deadlock\"", "\"pinned\":true", "\"lapsed\""] {
            assert!(native.out.contains(happened), "{happened} never happened");
        }
    }
}
