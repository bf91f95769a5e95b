//! A release removes the own marker, once, and only if it is still what was published.

use super::{OTHER, PID, acquired, undisturbed};
use leasebook::marker::{Code, Effect, Outcome, Owned, Release, Released, Step};
use leasebook_tests::markers::{HOST, MARKERS, MarkerFiles, Node, Process, marker, nonce, record, run};

const OWN: u32 = PID << 8 | 1;

fn held() -> (MarkerFiles, Process, Owned) {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let owned = acquired(&mut files, &mut process);
    assert_eq!((owned.path(), owned.record().pid()), (format!("{MARKERS}/{}", marker(OWN)), PID));
    (files, process, owned)
}

#[test]
fn it_is_done_once_and_says_the_same_ever_after() {
    let (mut files, mut process, owned) = held();
    let mut release = Release::new(owned);
    assert_eq!(run(&mut release, &mut process, &mut files, undisturbed), Ok(Released::Released));
    assert_eq!(files.names(), Vec::<String>::new());
    assert!(files.directory.is_some(), "the directory stays for the next");
    for outcome in [None, None, Some(Outcome::Absent), Some(Outcome::Cancelled)] {
        assert_eq!(release.next(outcome), Step::Done(Ok(Released::Released)));
    }
}

#[test]
fn a_marker_that_is_gone_is_lost_on_every_call() {
    for at in ["read", "remove"] {
        let (mut files, mut process, owned) = held();
        let mut release = Release::new(owned);
        let answer = run(&mut release, &mut process, &mut files, |_, effect, _, files| {
            if effect.name() == at {
                files.remove_tree();
            }
            None
        });
        assert_eq!(answer, Ok(Released::Lost));
        // Even if there is one again.
        files.put_file(&marker(OWN), record(OWN, PID, HOST));
        assert_eq!(release.next(None), Step::Done(Ok(Released::Lost)));
        assert_eq!(files.names(), [marker(OWN)]);
    }
}

#[test]
fn a_changed_marker_is_kept_and_named() {
    let changed = |bytes: Vec<u8>| Node::File { bytes, changed_ms: 0 };
    for node in [
        changed(Vec::new()),
        changed(record(OWN, OTHER, HOST)),
        changed(record(OWN, PID, "build-8")),
        changed(record(OWN + 1, PID, HOST)),
        changed(vec![b' '; 5_000]),
        Node::Special,
        Node::Directory,
    ] {
        let (mut files, mut process, owned) = held();
        let mut release = Release::new(owned);
        files.put(&marker(OWN), node.clone());
        for _ in 0..2 {
            let failure = run(&mut release, &mut process, &mut files, undisturbed).expect_err("it is kept");
            assert_eq!((failure.code, failure.path), (Code::OwnMarkerChanged, format!("{MARKERS}/{}", marker(OWN))));
            assert_eq!(files.node(&marker(OWN)), Some(&node));
        }
        // A failed release can be tried again.
        files.put_file(&marker(OWN), record(OWN, PID, HOST));
        assert_eq!(run(&mut release, &mut process, &mut files, undisturbed), Ok(Released::Released));
    }
}

#[test]
fn the_same_record_in_another_spelling_is_the_same() {
    let (mut files, mut process, owned) = held();
    let nonce = nonce(OWN);
    files
        .put_file(&marker(OWN), format!("{{ \"nonce\":\"{nonce}\", \"host\":\"{HOST}\",\"version\":1,\"pid\":{PID}}}"));
    assert_eq!(run(&mut Release::new(owned), &mut process, &mut files, undisturbed), Ok(Released::Released));
}

#[test]
fn a_fork_is_refused_and_the_marker_stays() {
    let (mut files, mut process, owned) = held();
    let mut child = process.clone();
    child.pid = OTHER;
    let mut copy = Release::new(owned.clone());
    for _ in 0..2 {
        let failure = run(&mut copy, &mut child, &mut files, undisturbed).expect_err("it is another process");
        assert_eq!((failure.code, failure.step), (Code::OtherProcess, "own-pid"));
        assert_eq!(copy.left(), None, "it leaves nothing to a store: it has nothing");
        assert_eq!(files.names(), [marker(OWN)]);
    }
    assert_eq!(run(&mut Release::new(owned), &mut process, &mut files, undisturbed), Ok(Released::Released));
}

#[test]
fn no_identity_is_computed_again() {
    let (mut files, mut process, owned) = held();
    process.host = "renamed".into();
    let answer = run(&mut Release::new(owned), &mut process, &mut files, |_, effect, _, _| {
        assert!(!matches!(effect, Effect::Identity | Effect::ResolveRoot), "{effect:?}");
        assert!(effect.cleans_up(), "nothing of it can be cancelled: {effect:?}");
        None
    });
    assert_eq!(answer, Ok(Released::Released));
}

#[test]
fn of_two_machines_of_one_lease_one_releases_and_one_has_lost() {
    let (mut files, mut process, owned) = held();
    let (mut first, mut second) = (Release::new(owned.clone()), Release::new(owned));
    assert_eq!(run(&mut first, &mut process, &mut files, undisturbed), Ok(Released::Released));
    assert_eq!(run(&mut second, &mut process, &mut files, undisturbed), Ok(Released::Lost));
}
