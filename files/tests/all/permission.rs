//! A process that may not be asked after is alive.

use super::child::{Child, command};
use super::{MARKERS, busy, everything, put, store};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// An account that owns nothing.
const NOBODY_ACCOUNT: u32 = 65_534;

#[test]
fn the_first_process_is_in_the_way_of_any_account() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), '1', 1);
    let before = everything(dir.path());
    // Also where it may be asked.
    assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [1]);
    assert_eq!(everything(dir.path()), before);
    if fs::metadata(dir.path()).unwrap().uid() != 0 {
        // This account itself may not ask, and nobody can become another.
        return;
    }
    // The program where that account can read it.
    let program = dir.path().join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for (path, mode) in [(dir.path().to_owned(), 0o777), (dir.path().join(MARKERS), 0o777), (program.clone(), 0o755)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let model = command("hold", dir.path());
    let mut other = Command::new(&program);
    other.args(model.get_args()).envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = Child::spawn_by({
        other.uid(NOBODY_ACCOUNT).gid(NOBODY_ACCOUNT).current_dir(dir.path());
        other
    });
    child.expect("busy");
    assert!(child.ended().success());
    let after: Vec<String> = everything(dir.path()).into_iter().filter(|name| name != "program").collect();
    assert_eq!(after, before);
}

#[test]
fn a_marker_that_may_not_be_read_is_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(MARKERS).join(put(dir.path(), '1', super::NOBODY));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&path).is_ok() {
        // Whoever may read everything is served by the rule for stale markers.
        drop(super::acquired(store().acquire(dir.path(), None).unwrap()));
        return;
    }
    assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [0]);
    assert!(path.exists());
}
