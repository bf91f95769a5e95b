//! An own marker that clean-up could not remove is named, and the next acquire of that destination, or recover with
//! apply, removes it first.

use super::{DEAD, OTHER, PID, layout, undisturbed};
use leasebook::marker::{Acquire, Acquisition, Code, Effect, FileCode, LEFT_MAX, Left, Outcome, Recover, Release};
use leasebook_tests::markers::{MARKERS, MarkerFiles, Process, marker, nonce, record, run};

/// The first marker of the process.
fn own() -> String {
    marker(PID << 8 | 1)
}

/// An acquisition is cancelled, and its marker cannot be removed.
fn leave_any(files: &mut MarkerFiles, process: &mut Process) -> Vec<Left> {
    files.stuck.insert(marker(process.pid << 8 | 1));
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, process, files, |_, effect, _, _| {
        matches!(effect, Effect::Signal).then_some(Outcome::Cancelled)
    });
    answer.expect_err("it is cancelled");
    machine.take_left()
}

/// The same by the process of these tests, and all of it is checked.
fn leave(files: &mut MarkerFiles, process: &mut Process) -> Vec<Left> {
    files.stuck.insert(own());
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, process, files, |_, effect, _, _| {
        matches!(effect, Effect::Signal).then_some(Outcome::Cancelled)
    });
    let failure = answer.expect_err("it is cancelled");
    assert_eq!((failure.code, failure.left.as_deref()), (Code::Cancelled, Some(&*format!("{MARKERS}/{}", own()))));
    assert!(
        failure.to_string().ends_with("could not be removed, and is in the way of others until it is"),
        "{failure}"
    );
    assert_eq!(files.names(), [own()]);
    let left = machine.take_left();
    assert_eq!((left.len(), left[0].path()), (1, format!("{MARKERS}/{}", own())));
    left
}

#[test]
fn the_next_acquisition_removes_it_first() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let left = leave(&mut files, &mut process);
    files.stuck.clear();
    let mut machine = Acquire::new(&layout(&[".lock"]), left);
    let mut names = Vec::new();
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, _| {
        names.push(effect.name());
        None
    });
    assert!(matches!(answer, Ok(Acquisition::Acquired(_))), "{answer:?}");
    assert_eq!(names[..5], ["resolve-root", "read", "remove", "remove", "legacy-exists"]);
    assert_eq!((files.names().len(), machine.take_left()), (1, Vec::new()));
}

#[test]
fn a_recovery_removes_it_too_and_an_inspection_does_not() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let left = leave(&mut files, &mut process);
    files.stuck.clear();
    let mut looking = Recover::new(false, left);
    let found = run(&mut looking, &mut process, &mut files, undisturbed).expect("it looks");
    assert_eq!((found.kept.len(), files.names()), (1, vec![own()]));
    let mut applying = Recover::new(true, looking.take_left());
    let found = run(&mut applying, &mut process, &mut files, undisturbed).expect("it recovers");
    assert_eq!((found.kept.len(), files.names(), applying.take_left()), (0, Vec::new(), Vec::new()));
}

#[test]
fn while_it_cannot_be_removed_the_store_acquires_nothing() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut left = leave(&mut files, &mut process);
    for _ in 0..3 {
        let mut machine = Acquire::new(&layout(&[]), left);
        let failure = run(&mut machine, &mut process, &mut files, undisturbed).expect_err("it is in the way");
        assert_eq!(failure.code, Code::File(FileCode::PermissionDenied));
        assert_eq!(failure.left, Some(format!("{MARKERS}/{}", own())));
        left = machine.take_left();
        assert_eq!(left.len(), 1);
    }
}

#[test]
fn what_has_taken_its_place_is_kept() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let left = leave(&mut files, &mut process);
    files.stuck.clear();
    files.put_file(&own(), record(PID << 8 | 1, 9, "elsewhere"));
    let mut machine = Acquire::new(&layout(&[]), left);
    let answer = run(&mut machine, &mut process, &mut files, undisturbed);
    assert!(matches!(answer, Ok(Acquisition::Busy { .. })), "{answer:?}");
    assert_eq!((files.names(), machine.take_left()), (vec![own()], Vec::new()));
}

#[test]
fn what_is_left_of_another_destination_stays_in_the_list() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let left = leave(&mut files, &mut process);
    let mut elsewhere = MarkerFiles::new();
    let mut process = Process::start(&mut elsewhere, PID);
    let mut machine = Acquire::new(&layout(&[]), left.clone());
    let answer = run(&mut machine, &mut process, &mut elsewhere, |_, effect, _, _| {
        let root = || Outcome::Root { root: "/elsewhere".into(), markers: "/elsewhere/.writers".into() };
        matches!(effect, Effect::ResolveRoot).then(root)
    });
    assert!(matches!(answer, Ok(Acquisition::Acquired(_))), "{answer:?}");
    assert_eq!(machine.take_left(), left);
}

#[test]
fn a_refusal_whose_marker_stays_is_a_failure() {
    // Nobody may take "busy" for an attempt that left nothing.
    let mut files = MarkerFiles::new();
    files.stuck.insert(own());
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, files| {
        if matches!(effect, Effect::Publish { .. }) {
            files.put_file(&marker(1), record(1, DEAD, "elsewhere"));
        }
        None
    });
    let failure = answer.expect_err("the own marker stays");
    assert_eq!((failure.code, failure.step), (Code::File(FileCode::PermissionDenied), "remove"));
    assert_eq!((failure.left, machine.take_left().len()), (Some(format!("{MARKERS}/{}", own())), 1));
}

#[test]
fn a_lease_that_goes_away_unreleased_is_left_to_the_store() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let release = Release::new(super::acquired(&mut files, &mut process));
    let left = Vec::from_iter(release.left());
    let mut machine = Acquire::new(&layout(&[]), left);
    let answer = run(&mut machine, &mut process, &mut files, undisturbed);
    assert!(matches!(answer, Ok(Acquisition::Acquired(_))), "{answer:?}");
}

#[test]
fn the_list_is_bounded_and_keeps_the_newest() {
    let left = |number: u32| {
        let mut files = MarkerFiles::new();
        let mut process = Process::start(&mut files, number);
        leave_any(&mut files, &mut process)
    };
    let mut list = Vec::new();
    for number in 1..=LEFT_MAX as u32 {
        Left::keep(&mut list, left(number));
    }
    assert_eq!((list.len(), list[0].record().pid()), (LEFT_MAX, 1));
    Left::keep(&mut list, left(1_000).into_iter().chain(left(1_001)));
    let pids: Vec<u32> = list.iter().map(|left| left.record().pid()).collect();
    assert_eq!((pids.len(), pids[0], &pids[LEFT_MAX - 2..]), (LEFT_MAX, 3, &[1_000, 1_001][..]));
    Left::keep(&mut list, None);
    assert_eq!(list.len(), LEFT_MAX);
}

#[test]
fn a_half_made_one_is_named_as_what_is_in_nobodys_way() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let half = format!("{}.tmp", nonce(PID << 8 | 1));
    files.stuck.insert(half.clone());
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, process, files| {
        if !matches!(effect, Effect::Publish { .. }) {
            return None;
        }
        (0..2).for_each(|_| _ = process.perform(files, effect));
        Some(Outcome::Cancelled)
    });
    let failure = answer.expect_err("it is cancelled");
    assert_eq!(failure.left, Some(format!("{MARKERS}/{half}")));
    assert!(failure.to_string().ends_with("could not be removed, and is in nobody's way"), "{failure}");
    assert_eq!((files.names(), machine.take_left().len()), (vec![half], 1));
    // It is no marker, so others come.
    let mut other = Process::start(&mut files, OTHER);
    super::acquired(&mut files, &mut other);
}
