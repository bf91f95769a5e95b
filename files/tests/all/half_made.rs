//! What a writer left that died before its marker had its name.

use super::watched::watched;
use super::{MARKERS, NOBODY, acquired, everything, identity, nonce, record, store};
use leasebook_files::{FileCode, FileError, FileStep};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const HOUR: Duration = Duration::from_secs(60 * 60);

fn half(dir: &tempfile::TempDir, digit: char, content: &str, age: Duration) -> PathBuf {
    fs::create_dir_all(dir.path().join(MARKERS)).unwrap();
    let path = dir.path().join(MARKERS).join(format!("{}.tmp", nonce(digit)));
    fs::write(&path, content).unwrap();
    File::options().write(true).open(&path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    path
}

#[test]
fn recovery_removes_what_nobody_can_be_writing_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let host = identity().unwrap();
    let whole = |digit, pid| record(pid, &host, &nonce(digit));
    let stale = half(&dir, '1', &whole('1', NOBODY), Duration::ZERO);
    let active = half(&dir, '2', &whole('2', std::process::id()), HOUR * 2);
    let young = half(&dir, '3', "{\"ver", HOUR - Duration::from_secs(60));
    let old = half(&dir, '4', "{\"ver", HOUR + Duration::from_secs(60));
    let empty = half(&dir, '5', "", HOUR * 2);
    let foreign = half(&dir, '6', &record(NOBODY, "elsewhere", &nonce('6')), HOUR * 2);
    let before = everything(dir.path());

    store().inspect(dir.path(), None).unwrap();
    store().recover(dir.path(), false, None).unwrap();
    assert_eq!(everything(dir.path()), before);
    let done = store().recover(dir.path(), true, None).unwrap();
    assert_eq!(done.tidied.len(), 3, "{:?}", done.tidied);
    for (path, kept) in [(stale, false), (active, true), (young, true), (old, false), (empty, false), (foreign, true)] {
        assert_eq!(path.exists(), kept, "{}", path.display());
    }
    assert_eq!(everything(dir.path()).len(), before.len() - 3, "nothing is left of the comparison of ages");
}

/// The disk is full at this step, and a file is left.
fn full(step: FileStep) -> FileError {
    let source = io::Error::other("no space");
    FileError { code: FileCode::NoSpace, step, path: "x".into(), left: Some("/left.tmp".into()), source }
}

#[test]
fn what_stays_because_something_failed_is_told_with_what_that_left() {
    let dir = tempfile::tempdir().unwrap();
    let old = half(&dir, '1', "", HOUR * 2);
    let store = watched(|step, _| (step == "age").then(|| full(FileStep::Age)));
    let done = store.recover(dir.path(), true, None).unwrap();
    assert!(done.tidied.is_empty() && old.exists());
    let expected = "its age could not be told: no space; /left.tmp could not be removed and is still there";
    assert_eq!((done.untidied.len(), &*done.untidied[0].detail), (1, expected));
    assert!(old.ends_with(&done.untidied[0].name));
}

#[test]
fn after_a_failed_publication_only_what_still_is_there_is_named() {
    // The machine removes it after the file functions could not.
    let dir = tempfile::tempdir().unwrap();
    let store = watched(|step, _| (step == "publish").then(|| full(FileStep::Publish)));
    let failure = store.acquire(dir.path(), None).unwrap_err();
    assert_eq!((&*failure.cause, &failure.left), ("no space", &None));
}

#[test]
fn it_is_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    half(&dir, '1', "", Duration::ZERO);
    half(&dir, '2', &record(std::process::id(), &identity().unwrap(), &nonce('2')), Duration::ZERO);
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
}
