//! Two processes want the same directory: one has it until it releases.

use super::child::Child;
use super::watched::watched;
use super::{MARKERS, acquired, busy, everything, store};
use leasebook_files::marker::{MarkerState, Released};
use leasebook_files::{Acquisition, Cancel, identity};

#[test]
fn one_has_it_and_the_other_is_told_who() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Child::spawn("hold", dir.path());
    child.expect("acquired");
    let Acquisition::Busy { owners } = store().acquire(dir.path(), None).unwrap() else { panic!("not busy") };
    let owner = owners[0].owner.as_ref().unwrap();
    assert_eq!((owners.len(), owners[0].state), (1, MarkerState::Active));
    assert_eq!((owner.pid(), owner.host()), (child.pid(), identity().unwrap().as_str()));
    assert!(owners[0].since_ms.is_some());
    assert_eq!(everything(dir.path()), [MARKERS.to_owned(), format!("{MARKERS}/{}", owners[0].name)]);

    let inspected = store().inspect(dir.path(), None).unwrap();
    assert_eq!(inspected.records, owners);

    child.tell("release");
    child.expect("released");
    let lease = acquired(store().acquire(dir.path(), None).unwrap());
    child.tell("acquire");
    child.expect("busy");
    assert_eq!(lease.release().unwrap(), Released::Released);
    child.tell("acquire");
    child.expect("acquired");
    child.tell("drop");
    child.expect("dropped");
    assert!(child.ended().success());
    assert_eq!(everything(dir.path()), [MARKERS]);
}

#[test]
fn one_process_has_it_once() {
    let dir = tempfile::tempdir().unwrap();
    let lease = acquired(store().acquire(dir.path(), None).unwrap());
    assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [std::process::id()]);
    drop(lease);
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
}

#[test]
fn a_release_leaves_the_marker_directory_and_a_failed_attempt_takes_it_along() {
    let dir = tempfile::tempdir().unwrap();
    acquired(store().acquire(dir.path(), None).unwrap()).release().unwrap();
    assert_eq!(everything(dir.path()), [MARKERS]);
    let cancel = Cancel::new();
    let signal = cancel.clone();
    let cancelled = watched(move |step, _| {
        if step == "publish" {
            signal.cancel();
        }
        None
    });
    cancelled.acquire(dir.path(), Some(&cancel)).unwrap_err();
    assert_eq!(everything(dir.path()), [""; 0]);
}
