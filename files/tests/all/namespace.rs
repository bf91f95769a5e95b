//! A process of another namespace of process ids is foreign here, and never falsely stale.
#![cfg(target_os = "linux")]

use super::child::{Child, command_below};
use super::{MARKERS, acquired, everything, identity, needs, store};
use leasebook_files::Acquisition;
use leasebook_files::marker::MarkerState;

/// How a child gets a namespace of its own.
fn unshare(proc_too: bool) -> Option<Vec<&'static str>> {
    let options = if proc_too { vec!["-pf", "--kill-child", "--mount-proc"] } else { vec!["-pf", "--kill-child"] };
    needs::works("unshare", "unshare", &[&options[..], &["true"]].concat()).then_some(options)
}

#[test]
fn its_marker_is_kept_though_its_number_is_nobodys() {
    for proc_too in [true, false] {
        let Some(options) = unshare(proc_too) else { return };
        let dir = tempfile::tempdir().unwrap();
        let mut child = Child::spawn_by(command_below("unshare", &options, "hold", dir.path()));
        child.expect("acquired");
        let Acquisition::Busy { owners } = store().acquire(dir.path(), None).unwrap() else { panic!("not busy") };
        assert_eq!((owners.len(), owners[0].state), (1, MarkerState::Foreign));
        let owner = owners[0].owner.as_ref().unwrap();
        let (name, namespace) = owner.host().split_once(";pidns=").unwrap();
        assert_eq!(Some(name), identity().unwrap().split(';').next());
        assert!(namespace.contains('@'), "{namespace}");
        assert_eq!(store().recover(dir.path(), true, None).unwrap().removed, []);
        child.tell("release");
        child.expect("released");

        // And the other way round.
        let lease = acquired(store().acquire(dir.path(), None).unwrap());
        child.tell("acquire");
        child.expect("busy");
        lease.release().unwrap();
        assert!(child.ended().success());
        assert_eq!(everything(dir.path()), [MARKERS]);
    }
}

#[test]
fn each_namespace_has_a_name_of_its_own() {
    let Some(options) = unshare(true) else { return };
    let names: Vec<String> = (0..2)
        .map(|_| Child::spawn_by(command_below("unshare", &options, "who", "")))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|mut child| child.hear().unwrap())
        .collect();
    // They may follow each other, and numbers be used again; what they are not is this one.
    assert!(names.iter().all(|name| *name != identity().unwrap()), "{names:?}");
}
