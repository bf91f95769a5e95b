//! What steers a terminal never reaches it, wherever it stands.

use super::super::{Run, run};
use super::{MARKERS, Writer};
use std::fs;

#[test]
fn a_destination_that_steers_terminals_is_escaped() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a\u{1b}[31m\u{202e}");
    fs::create_dir(&root).unwrap();
    let path = root.to_str().unwrap();
    let told = |done: Run, code: i32| {
        let said = format!("{}{}", done.out, done.err);
        assert_eq!(done.code, code, "{said}");
        assert!(said.contains("a\\u{1b}[31m\\u{202e}"), "{said}");
        assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said:?}");
    };
    told(run(&["inspect", path], ""), 0);
    told(run(&["run", &format!("{path}/missing"), "--", "true"], ""), 66);
    told(run(&["run", path, "--", &format!("{path}/missing")], ""), 127);
    told(run(&["run", path, "--", "sh", "-c", "rm \"$0\"/.lease*/*.json", path], ""), 76);
    told(
        run(&["run", path, "--", "sh", "-c", "for it in \"$0\"/.lease*/*.json; do echo > \"$it\"; done", path], ""),
        76,
    );
    fs::remove_dir_all(root.join(MARKERS)).unwrap();
    fs::write(root.join("old"), "").unwrap();
    told(run(&["run", path, "--legacy", "old", "--", "true"], ""), 75);
    let _first = Writer::holding(&root);
    told(run(&["run", path, "--", "true"], ""), 75);
    told(run(&["inspect", path], ""), 0);
    told(run(&["recover", path], ""), 0);
}
