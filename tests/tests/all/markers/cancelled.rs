//! Cancelled at any step: nothing is acquired, and nothing is left.

use super::{DEAD, PID, acquired, layout, undisturbed};
use leasebook::marker::{Acquire, Code, Effect, Recover, Release, Released};
use leasebook_tests::markers::{HOST, MarkerFiles, Process, marker, record, run};

fn scene() -> MarkerFiles {
    let mut files = MarkerFiles::new();
    files.put_file(&marker(0x66), record(0x66, DEAD, HOST));
    files
}

#[test]
fn an_acquisition_that_is_cancelled_before_any_effect_leaves_nothing() {
    for start in [MarkerFiles::new(), scene()] {
        let mut steps = Vec::new();
        for at in 0.. {
            let mut files = start.clone();
            let mut process = Process::start(&mut files, PID);
            let mut machine = Acquire::new(&layout(&[".lock"]), Vec::new());
            let mut hit = None;
            let answer = run(&mut machine, &mut process, &mut files, |n, effect, process, _| {
                if n == at {
                    process.cancelled = true;
                    hit = Some(effect.name());
                }
                None
            });
            let Some(hit) = hit else {
                assert!(answer.is_ok());
                break;
            };
            let failure = answer.expect_err("it is cancelled");
            assert_eq!((failure.code, failure.step, failure.left), (Code::Cancelled, hit, None));
            files.names().iter().for_each(|name| assert_eq!(*name, marker(0x66)));
            steps.push(hit);
        }
        assert_eq!(steps.last(), Some(&"signal"), "the signal is looked at last");
        assert!(steps.contains(&"publish") && steps.contains(&"list") && steps.contains(&"legacy-exists"));
    }
}

#[test]
fn an_effect_that_has_started_is_awaited_and_then_undone() {
    // The signal comes while the marker is published: the host brings that to its end.
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, process, files| {
        if !matches!(effect, Effect::Publish { .. }) {
            return None;
        }
        assert_eq!(process.perform(files, effect), None, "it has begun");
        process.cancelled = true;
        None
    });
    assert_eq!(answer.expect_err("it is cancelled").code, Code::Cancelled);
    assert_eq!((files.names(), files.directory), (Vec::new(), None));
}

#[test]
fn a_publication_that_is_cancelled_although_it_was_made_is_undone() {
    // A host that cannot tell whether a cancelled call still did its work.
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, process, files| {
        if !matches!(effect, Effect::Publish { .. }) {
            return None;
        }
        while process.perform(files, effect).is_none() {}
        Some(leasebook::marker::Outcome::Cancelled)
    });
    assert_eq!(answer.expect_err("it is cancelled").code, Code::Cancelled);
    assert_eq!(files.names(), Vec::<String>::new());
}

#[test]
fn a_recovery_that_is_cancelled_says_so() {
    for at in 0.. {
        let mut files = scene();
        let mut process = Process::start(&mut files, PID);
        let mut machine = Recover::new(true, Vec::new());
        let answer = run(&mut machine, &mut process, &mut files, |n, _, process, _| {
            process.cancelled |= n == at;
            None
        });
        match answer {
            Ok(recovery) => {
                assert_eq!((recovery.removed.len(), at > 4), (1, true));
                break;
            }
            Err(failure) => assert_eq!(failure.code, Code::Cancelled),
        }
    }
}

#[test]
fn a_release_does_not_know_the_signal_of_the_acquisition() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut release = Release::new(acquired(&mut files, &mut process));
    process.cancelled = true;
    assert_eq!(run(&mut release, &mut process, &mut files, undisturbed), Ok(Released::Released));
    assert_eq!(files.names(), Vec::<String>::new());
}
