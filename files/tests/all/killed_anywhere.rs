//! Killed at any system call, a writer leaves at most a stale marker, never half a one.
#![cfg(target_os = "linux")]

use super::child::{Child, command_below, say};
use super::{MARKERS, NOBODY, acquired, everything, needs, put, soak, store};
use leasebook_files::Acquisition;
use leasebook_files::marker::MarkerState;
use std::path::Path;

/// The calls that change a directory, or list one.
const CALLS: [&str; 4] = ["mkdirat", "renameat", "unlinkat", "getdents64"];
/// Calls that the loader and the test harness make too, so that they are many: in soak alone.
const MORE_CALLS: [&str; 4] = ["openat", "write", "close", "read"];

#[test]
fn at_every_system_call_of_acquire_and_release() {
    if !needs::works("strace", "strace", &["true"]) {
        return;
    }
    let calls: Vec<&str> = CALLS.iter().chain(MORE_CALLS.iter().filter(|_| soak())).copied().collect();
    let (mut kills, mut stale) = (0, 0);
    for call in calls {
        for time in 1.. {
            let (whole, left) = killed_at(call, time);
            stale += usize::from(left);
            if whole {
                break;
            }
            kills += 1;
        }
    }
    println!("killed at each of {kills} calls; {stale} times a marker was left");
    assert!(kills >= 8 && stale >= 3, "{kills} {stale}");
}

/// Did the child get to its end before that call, and was its marker left?
fn killed_at(call: &str, time: usize) -> (bool, bool) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir(&root).unwrap();
    if call != "mkdirat" {
        // One that it recovers on its way.
        put(&root, '1', NOBODY);
    }
    let inject = format!("inject={call}:signal=KILL:when={time}");
    let options = ["-f", "-o", "/dev/null", "-e", &inject];
    let mut child = Child::spawn_by(command_below("strace", &options, "whole", &root));
    let said = child.hear();
    // strace ends after what it traces.
    child.ended();
    let records = store().inspect(&root, None).unwrap().records;
    assert!(records.len() <= 2, "{call} {time}: {records:?}");
    assert!(records.iter().all(|record| record.state == MarkerState::Stale), "{call} {time}: {records:?}");
    store().recover(&root, true, None).unwrap();
    let left = everything(&root);
    assert!(left.iter().all(|name| name == MARKERS || name.ends_with(".tmp")), "{call} {time}: {left:?}");
    drop(acquired(store().acquire(&root, None).unwrap()));
    (said.as_deref() == Some("whole"), records.iter().any(|record| !record.name.starts_with("1111")))
}

/// Acquires and releases.
pub fn part(root: &Path) {
    let Ok(Acquisition::Acquired(lease)) = store().acquire(root, None) else { panic!("nobody else is here") };
    lease.release().unwrap();
    say("whole");
}
