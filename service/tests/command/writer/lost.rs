//! A lease that did not last as long as its command is told.

use super::super::run;
use super::{MARKERS, markers};
use std::fs;

#[test]
fn a_marker_that_was_removed_meanwhile_is_76_unless_the_command_failed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    for (end, code) in [("", 76), ("; exit 3", 3)] {
        let script = format!("rm '{root}/{MARKERS}'/*.json{end}");
        let done = run(&["run", root, "--", "sh", "-c", &script], "");
        assert_eq!((done.code, done.out.as_str()), (code, ""));
        assert!(done.err.starts_with("error: the lease was lost while the command ran"), "{}", done.err);
        assert_eq!(done.err.lines().count(), 1);
    }
}

#[test]
fn a_marker_that_was_changed_is_76_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let script = format!("for it in '{root}/{MARKERS}'/*.json; do echo other > \"$it\"; done");
    let done = run(&["run", root, "--", "sh", "-c", &script], "");
    assert_eq!(done.code, 76, "{}", done.err);
    assert_eq!(done.err.lines().count(), 1, "{}", done.err);
    assert_eq!(fs::read_to_string(&markers(dir.path())[0]).unwrap(), "other\n");
}
