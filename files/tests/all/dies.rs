//! A process that ends after any of its steps leaves at most a stale marker, never half a one.

use super::child::{Child, command, say};
use super::watched::watched;
use super::{MARKERS, NOBODY, acquired, everything, put, store};
use leasebook_files::Acquisition;
use leasebook_files::marker::MarkerState;
use std::path::Path;

/// Before which step a child ends, counted over acquisition, with one recovery in it, and release.
const STEP: &str = "LEASEBOOK_FILES_STEP";

#[test]
fn after_every_step_of_acquire_and_release() {
    let mut steps = 0;
    for step in 1.. {
        let dir = tempfile::tempdir().unwrap();
        // One that it recovers on its way.
        put(dir.path(), '1', NOBODY);
        let mut child = command("dies", dir.path());
        child.env(STEP, step.to_string());
        let mut child = Child::spawn_by(child);
        let said = child.hear();
        // It is waited for: from here on there is no such process.
        child.ended();
        let records = store().inspect(dir.path(), None).unwrap().records;
        assert!(records.len() <= 2, "{step}: {records:?}");
        for record in &records {
            assert_eq!(record.state, MarkerState::Stale, "{step}");
        }
        store().recover(dir.path(), true, None).unwrap();
        assert!(everything(dir.path()).iter().all(|name| name == MARKERS), "{step}");
        drop(acquired(store().acquire(dir.path(), None).unwrap()));
        if said.as_deref() == Some("whole") {
            break;
        }
        steps = step;
    }
    println!("died before each of {steps} steps");
    assert!(steps >= 14, "{steps}");
}

/// Acquires and releases, and is gone before a step.
pub fn part(root: &Path) {
    let end: usize = std::env::var(STEP).unwrap().parse().unwrap();
    let store = watched(move |_, count| {
        if count == end {
            // No destructor runs, no buffer is written.
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
        }
        None
    });
    let Ok(Acquisition::Acquired(lease)) = store.acquire(root, None) else { panic!("nobody else is here") };
    lease.release().unwrap();
    say("whole");
}
