//! The demo tells six scenes of a table and two of writer leases on one screen, on a real tree and real processes.

use super::{RUNTIMES, command, run};
use serde_json::{Value, json};
use std::fs;

/// Those of writer leases, where there are `cat` and `true`.
#[cfg(unix)]
const WRITERS: [&str; 2] = ["one writer at a time", "a writer is killed"];
#[cfg(not(unix))]
const WRITERS: [&str; 0] = [];

const SCENES: [&str; 6] =
    ["grant", "refusal", "directory over file", "deadlock", "pin across expiry", "takeover after a ttl"];

fn tree(files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "kept").unwrap();
    }
    dir
}

fn demo(dir: &tempfile::TempDir, arguments: &[&str]) -> String {
    let run = run(&[&["demo", dir.path().to_str().unwrap()], arguments].concat(), "");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    run.out
}

#[test]
fn six_scenes_in_order_on_one_screen() {
    let dir = tree(&["core/src/lib.rs", "docs/DESIGN.md", "README.md"]);
    let out = demo(&dir, &[]);
    let mut rest = out.as_str();
    for scene in SCENES.iter().chain(&WRITERS) {
        let at = rest.find(&format!("\n{scene} ")).unwrap_or_else(|| panic!("{scene}: {out}"));
        rest = &rest[at + 1..];
    }
    for words in [
        "core/src/lib.rs is inside core, held by writer-1 for 12 s, free in at most 288 s\n",
        "docs contains docs/DESIGN.md, held by reviewer-1 for 5 s, free in at most 295 s\n",
        "refused: deadlock",
        "reviewer-1 waits for writer-1, writer-1 waits for reviewer-1",
        "granted as generation 3",
        "refused: stale",
        "3 files in 3 folders",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    assert!(!out.contains("not as told"), "{out}");
    assert!(!out.contains('\u{1b}'), "no colour where it is piped");
    assert!(out.lines().count() <= 36, "{} lines: {out}", out.lines().count());
}

#[test]
#[cfg(unix)]
fn two_writers_are_told_of_each_other_and_a_killed_one_is_recovered() {
    let dir = tree(&["a/b", "c/d"]);
    let said: Value = serde_json::from_str(&demo(&dir, &["--json"])).unwrap();
    let turns = said["writers"].as_array().unwrap();
    let codes: Vec<&Value> = turns.iter().map(|turn| &turn["code"]).collect();
    assert_eq!(codes, [&Value::Null, &json!(75), &Value::Null, &json!(0)]);
    let busy = turns[1]["said"].as_str().unwrap();
    assert!(busy.starts_with("busy: archive is being written by process "), "{busy}");
    let process = turns[0]["ended"].as_str().unwrap().strip_prefix("runs as ").unwrap();
    assert!(busy.contains(process), "{busy} by {process}");
    assert_eq!(turns[3]["said"], "");
}

#[test]
fn it_fits_a_hundred_columns_whatever_the_tree() {
    let long =
        "a-folder-with-a-name-that-nobody-would-type/and-another-one-inside/and-a-file-with-a-long-name.extension";
    for dir in [tree(&["a/b/c", "d/e"]), tree(&[long, "z/y"]), tree(&["src/one/x", "src/two/ü/y"])] {
        for line in demo(&dir, &[]).lines() {
            assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
        }
    }
}

#[test]
fn colour_is_for_terminals_and_those_who_ask() {
    let dir = tree(&["a/b", "c/d"]);
    let with = |name: &str| {
        let output = command(&["demo", dir.path().to_str().unwrap()]).env(name, "1").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(with("CLICOLOR_FORCE").contains('\u{1b}'));
    assert!(!with("NO_COLOR").contains('\u{1b}'));
}

#[test]
fn the_tree_is_only_read() {
    let dir = tree(&["a/b", "c/d"]);
    demo(&dir, &[]);
    let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(fs::read_to_string(dir.path().join("a/b")).unwrap(), "kept");
}

#[test]
fn as_json_it_is_the_operations_and_answers_of_a_book() {
    let dir = tree(&["a/b/c", "d/e/f"]);
    let said = |runtime| -> Value { serde_json::from_str(&demo(&dir, &["--json", "--runtime", runtime])).unwrap() };
    let [native, component] = RUNTIMES.map(said);
    assert_eq!(native["scenes"], component["scenes"]);
    assert_eq!((&native["runtime"], &component["runtime"]), (&json!("native"), &json!("component")));

    let scenes = component["scenes"].as_array().unwrap();
    let names: Vec<&Value> = scenes.iter().map(|scene| &scene["scene"]).collect();
    assert_eq!(names, SCENES);
    let steps: Vec<&Value> = scenes.iter().flat_map(|scene| scene["steps"].as_array().unwrap()).collect();
    // The same operations over a pipe are answered the same.
    let lines: Vec<String> = steps.iter().map(|step| step["operation"].to_string()).collect();
    let piped = run(&["table"], lines.join("\n"));
    assert_eq!(piped.answers(), steps.iter().map(|step| step["answer"].clone()).collect::<Vec<_>>());

    let root = dir.path().canonicalize().unwrap();
    assert_eq!(component["root"], root.to_str().unwrap());
    assert_eq!(steps[0]["operation"]["paths"][0], root.join("a").to_str().unwrap());
    let deadlock = scenes[3]["steps"][1]["answer"].clone();
    assert_eq!(deadlock["cycle"], json!(["reviewer-1", "writer-1", "reviewer-1"]));
}
