//! A legacy marker is refused and kept, also one that comes while the lease is acquired.

use super::{PID, layout, recover};
use leasebook::marker::{Acquire, Acquisition, Effect, InvalidLayout, LEGACY_NAMES_MAX, Layout, NAME_BYTES_MAX};
use leasebook_tests::markers::{HOST, MarkerFiles, Process, marker, record, run};

#[test]
fn a_legacy_marker_is_refused_at_both_looks() {
    for comes_late in [false, true] {
        let mut files = MarkerFiles::new();
        let mut process = Process::start(&mut files, PID);
        if !comes_late {
            files.legacy.insert("old/lock".into());
        }
        let mut machine = Acquire::new(&layout(&[".lock", "old/lock", "zz"]), Vec::new());
        let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, files| {
            if matches!(effect, Effect::Publish { .. }) {
                files.legacy.insert("old/lock".into());
            }
            None
        });
        let expected = Acquisition::Legacy { legacy: "old/lock".into(), path: "/srv/old/lock".into() };
        assert_eq!(answer, Ok(expected));
        assert!(files.legacy.contains("old/lock"), "it is kept");
        assert_eq!((files.names(), files.directory), (Vec::new(), None));
    }
}

#[test]
fn a_legacy_marker_is_told_before_anything_is_recovered() {
    let mut files = MarkerFiles::new();
    files.put_file(&marker(1), record(1, 66, HOST));
    files.legacy.insert(".lock".into());
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[".lock"]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, super::undisturbed);
    assert!(matches!(answer, Ok(Acquisition::Legacy { .. })), "{answer:?}");
    assert_eq!(files.names(), [marker(1)]);
    // Recovery has nothing to do with it.
    assert_eq!(recover(&mut files, true).removed.len(), 1);
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    for name in ["", ".", "..", "/", "a/", "/a", "a/b", "../a", "a/..", "a\\b", "\\", "a\0", "\0", &long] {
        let refusal = Layout::new(name, &[]).expect_err(name);
        assert_eq!(refusal, InvalidLayout::MarkerDirectory { name: name.into() });
        assert!(refusal.to_string().starts_with("the marker directory must be one plain name of 1 to 255 bytes"));
        if name != "a/b" {
            let refusal = Layout::new(".writers", &["fine", name]).expect_err(name);
            assert_eq!(refusal, InvalidLayout::Legacy { name: name.into() });
        }
    }
    for name in ["a", ".writers", "...", " ", "ä", "a:b", &long[1..]] {
        assert_eq!(Layout::new(name, &["a/b/c", name]).expect("fine").directory(), name);
    }
    assert!(Layout::new("a", &["x"; LEGACY_NAMES_MAX]).is_ok());
    assert_eq!(Layout::new("a", &["x"; LEGACY_NAMES_MAX + 1]), Err(InvalidLayout::TooManyLegacy));
}
