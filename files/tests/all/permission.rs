//! A process that may not be asked after is alive.

use super::child::{Child, command};
use super::{MARKERS, NOBODY, acquired, busy, everything, needs, put, store};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// An account that owns nothing.
const NOBODY_ACCOUNT: u32 = 65_534;

/// A child that holds, as that account.
fn hold_as_nobody(root: &Path) -> Option<Child> {
    if fs::metadata(root).unwrap().uid() != 0 {
        // Nobody else can become another account.
        needs::lacks("accounts");
        return None;
    }
    // The program where that account can read it.
    let program = root.join("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for (path, mode) in [(root.to_owned(), 0o777), (root.join(MARKERS), 0o777), (program.clone(), 0o755)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let model = command("hold", root);
    let mut other = Command::new(&program);
    other.args(model.get_args()).envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
    other.uid(NOBODY_ACCOUNT).gid(NOBODY_ACCOUNT).current_dir(root);
    Some(Child::spawn_by(other))
}

/// What is there beside the program of that account.
fn all_but_the_program(root: &Path) -> Vec<String> {
    everything(root).into_iter().filter(|name| name != "program").collect()
}

#[test]
fn the_first_process_is_in_the_way_of_any_account() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), '1', 1);
    let before = everything(dir.path());
    // Also where it may be asked.
    assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [1]);
    assert_eq!(everything(dir.path()), before);
    let Some(mut child) = hold_as_nobody(dir.path()) else { return };
    child.expect("busy");
    assert!(child.ended().success());
    assert_eq!(all_but_the_program(dir.path()), before);
}

#[test]
fn a_marker_that_may_not_be_read_is_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(MARKERS).join(put(dir.path(), '1', NOBODY));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let before = everything(dir.path());
    if fs::File::open(&path).is_err() {
        assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [0]);
        assert_eq!(everything(dir.path()), before);
        return;
    }
    // This account may read everything.
    let Some(mut child) = hold_as_nobody(dir.path()) else { return };
    child.expect("busy");
    assert!(child.ended().success());
    assert_eq!(all_but_the_program(dir.path()), before);
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
    assert!(!path.exists(), "to this account it is a stale one");
}
