//! What a writer left that died before its marker had its name.

use super::{MARKERS, NOBODY, acquired, everything, identity, nonce, record, store};
use std::fs::{self, File};
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

#[test]
fn it_is_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    half(&dir, '1', "", Duration::ZERO);
    half(&dir, '2', &record(std::process::id(), &identity().unwrap(), &nonce('2')), Duration::ZERO);
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
}
