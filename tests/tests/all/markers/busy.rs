//! Who finds others is told who they are, and leaves nothing behind.

use super::{DEAD, OTHER, PID, acquire, acquired, layout, states};
use leasebook::marker::{Acquire, Acquisition, Code, Effect};
use leasebook_tests::markers::{HOST, MARKERS, MarkerFiles, Node, Process, marker, record, run};

fn busy(answer: Result<Acquisition, leasebook::marker::Failure>) -> Vec<leasebook::marker::MarkerRecord> {
    match answer {
        Ok(Acquisition::Busy { owners }) => owners,
        other => panic!("{other:?}"),
    }
}

#[test]
fn owners_are_told_by_the_bytes_of_their_file_names() {
    let mut files = MarkerFiles::new();
    files.alive.insert(OTHER);
    files.put_file(&marker(0xa0), record(0xa0, OTHER, HOST));
    files.put_file(&marker(0x9f), record(0x9f, 1, "elsewhere"));
    files.put_file(&marker(0x10), "?");
    files.put_file(&marker(0xa1), record(0xa1, DEAD, HOST));
    let mut process = Process::start(&mut files, PID);
    let owners = busy(acquire(&mut files, &mut process));
    let expected = [(&*marker(0x10), "unrecognized"), (&*marker(0x9f), "foreign"), (&*marker(0xa0), "active")];
    assert_eq!(states(&owners), expected);
    assert_eq!(files.names(), [marker(0x10), marker(0x9f), marker(0xa0)], "the stale one is removed, all others kept");
    let said = owners.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        said[0],
        format!("{MARKERS}/{} is unrecognized; it is not one line of JSON with a record", marker(0x10))
    );
    assert_eq!(said[2], format!("{MARKERS}/{} is active: process 8 on build-7", marker(0xa0)));
    assert_eq!(owners[2].since_ms, Some(files.now_ms));
}

#[test]
fn who_finds_others_at_once_publishes_nothing() {
    let mut files = MarkerFiles::new();
    files.put_file(&marker(1), record(1, OTHER, "elsewhere"));
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, _| {
        assert!(!matches!(effect, Effect::Publish { .. } | Effect::Remove { .. }), "{effect:?}");
        None
    });
    assert_eq!(busy(answer).len(), 1);
}

#[test]
fn who_finds_others_after_publishing_removes_its_marker_and_an_empty_directory() {
    for leaves in [false, true] {
        let mut files = MarkerFiles::new();
        let mut process = Process::start(&mut files, PID);
        let mut machine = Acquire::new(&layout(&[]), Vec::new());
        let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, files| {
            match effect {
                Effect::Publish { .. } => files.put_file(&marker(1), record(1, 3, "elsewhere")),
                Effect::Remove { .. } if leaves => {
                    let directory = files.make();
                    files.directories[directory].remove(&marker(1));
                }
                _ => {}
            }
            None
        });
        assert_eq!(states(&busy(answer)), [(&*marker(1), "foreign")]);
        assert_eq!(files.names(), if leaves { Vec::new() } else { vec![marker(1)] });
        assert_eq!(files.directory.is_none(), leaves);
    }
}

#[test]
fn what_vanishes_between_list_and_read_is_gone() {
    let mut files = MarkerFiles::new();
    files.alive.insert(OTHER);
    files.put_file(&marker(1), record(1, OTHER, HOST));
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, files| {
        if matches!(effect, Effect::Read { name, .. } if *name == marker(1)) {
            let directory = files.make();
            files.directories[directory].remove(&marker(1));
        }
        None
    });
    assert!(matches!(answer, Ok(Acquisition::Acquired(_))), "{answer:?}");
}

#[test]
fn a_stale_marker_that_cannot_be_removed_is_in_the_way() {
    let mut files = MarkerFiles::new();
    files.put_file(&marker(1), record(1, DEAD, HOST));
    files.stuck.insert(marker(1));
    let mut process = Process::start(&mut files, PID);
    let owners = busy(acquire(&mut files, &mut process));
    assert_eq!(states(&owners), [(&*marker(1), "stale")]);
    assert_eq!(owners[0].detail.as_deref(), Some("it could not be removed: permission-denied"));
    assert_eq!(files.names(), [marker(1)]);
}

#[test]
fn the_second_of_one_process_finds_the_first() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let owned = acquired(&mut files, &mut process);
    let owners = busy(acquire(&mut files, &mut process));
    assert_eq!(owners[0].owner.as_ref(), Some(owned.record()));
}

#[test]
fn the_own_marker_must_be_listed_and_be_what_was_published() {
    let gone = |files: &mut MarkerFiles, name: &str| {
        let directory = files.make();
        files.directories[directory].remove(name);
    };
    let own = marker(PID << 8 | 1);
    for (when, how, code) in [
        ("list", None, Code::OwnMarkerGone),
        ("read", None, Code::OwnMarkerGone),
        ("read", Some(b"?".to_vec()), Code::OwnMarkerChanged),
        ("read", Some(record(PID << 8 | 1, OTHER, HOST)), Code::OwnMarkerChanged),
    ] {
        let mut files = MarkerFiles::new();
        let mut process = Process::start(&mut files, PID);
        let mut machine = Acquire::new(&layout(&[]), Vec::new());
        let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, files| {
            if effect.name() == when && files.node(&own).is_some() {
                match &how {
                    Some(bytes) => files.put_file(&own, bytes.clone()),
                    None => gone(files, &own),
                }
            }
            None
        });
        let failure = answer.expect_err("it is not granted");
        assert_eq!((failure.code, failure.step, failure.left), (code, when, None));
        assert_eq!(failure.path, format!("{MARKERS}/{own}"));
        // What took its place is kept.
        assert_eq!(files.node(&own).is_some(), how.is_some());
        assert_eq!(files.directory.is_some(), how.is_some());
    }
}

#[test]
fn a_link_in_place_of_the_own_marker_is_kept() {
    let own = marker(PID << 8 | 1);
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, files| {
        if matches!(effect, Effect::Read { .. }) {
            files.put(&own, Node::Special);
        }
        None
    });
    assert_eq!(answer.expect_err("it is not granted").code, Code::OwnMarkerChanged);
    assert_eq!(files.node(&own), Some(&Node::Special));
}

#[test]
fn a_process_that_dies_while_another_acquires_is_not_in_its_way() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, files| {
        if matches!(effect, Effect::Publish { .. }) {
            files.put_file(&marker(1), record(1, DEAD, HOST));
        }
        None
    });
    assert!(matches!(answer, Ok(Acquisition::Acquired(_))), "{answer:?}");
}
