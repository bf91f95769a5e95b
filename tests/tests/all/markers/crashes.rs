//! A host dies after any small step: at most a stale marker is left, never a half one, and `recover` clears it.

use super::{DEAD, OTHER, PID, acquired, layout, recover};
use leasebook::marker::{Acquire, Effect, INCOMPLETE_AGE_MS_MIN, Outcome, Recover, Release, Step};
use leasebook_tests::markers::{HOST, Machine, MarkerFiles, Process, marker, nonce, record};

/// The process of a rival that comes late, and dies with the host.
const RIVAL: u32 = 9;

/// What happens in the directory before each effect.
type Meddle = fn(&Effect, &mut MarkerFiles);

fn nothing(_: &Effect, _: &mut MarkerFiles) {}

fn rival(effect: &Effect, files: &mut MarkerFiles) {
    if matches!(effect, Effect::Publish { .. }) {
        files.alive.insert(RIVAL);
        files.put_file(&marker(9), record(9, RIVAL, HOST));
    }
}

fn legacy(effect: &Effect, files: &mut MarkerFiles) {
    if matches!(effect, Effect::Publish { .. }) {
        files.legacy.insert(".lock".into());
    }
}

/// Drives a machine until it is done, or until so many small steps are done. True: it was done.
fn drive<M: Machine>(
    machine: &mut M,
    process: &mut Process,
    files: &mut MarkerFiles,
    meddle: Meddle,
    steps: usize,
) -> bool {
    let mut left = steps;
    let mut outcome: Option<Outcome> = None;
    loop {
        let effect = match machine.next(outcome.take()) {
            Step::Done(_) => return true,
            Step::Effect(effect) => effect,
        };
        meddle(&effect, files);
        while outcome.is_none() {
            if left == 0 {
                return false;
            }
            left -= 1;
            outcome = process.perform(files, &effect);
        }
    }
}

/// Kills the host after every number of steps; answers how many there were.
fn check<M: Machine>(
    name: &str,
    files: &MarkerFiles,
    process: &Process,
    meddle: Meddle,
    machine: impl Fn() -> M,
) -> usize {
    for steps in 0.. {
        let (mut files, mut process) = (files.clone(), process.clone());
        if drive(&mut machine(), &mut process, &mut files, meddle, steps) {
            println!("{name}: {steps} steps");
            return steps;
        }
        files.alive.remove(&process.pid);
        files.alive.remove(&RIVAL);
        files.legacy.clear();
        files.check_whole();

        // Whoever comes next acquires, as it is, and after a recovery.
        let mut next = files.clone();
        let mut other = Process::start(&mut next, OTHER);
        acquired(&mut next, &mut other);

        files.now_ms += INCOMPLETE_AGE_MS_MIN;
        let recovery = recover(&mut files, true);
        assert_eq!(recovery.kept, [], "{name} after {steps} steps");
        assert_eq!(files.names(), Vec::<String>::new(), "{name} after {steps} steps");
    }
    unreachable!("a machine comes to its end")
}

#[test]
fn a_death_at_any_step_leaves_nothing_that_recovery_does_not_clear() {
    let mut stale = MarkerFiles::new();
    stale.put_file(&marker(0x66), record(0x66, DEAD, HOST));
    stale.put_file(&format!("{}.tmp", nonce(0x67)), record(0x67, DEAD, HOST));
    stale.put_file(&format!("{}.tmp", nonce(0x68)), "{\"version\":1,\"pi");
    stale.now_ms += INCOMPLETE_AGE_MS_MIN;

    let acquire = || Acquire::new(&layout(&[".lock", "old/lock"]), Vec::new());
    let mut total = 0;
    for (name, mut files) in [("in an empty root", MarkerFiles::new()), ("after a death", stale.clone())] {
        let mut process = Process::start(&mut files, PID);
        for (how, meddle) in
            [("acquire", nothing as Meddle), ("refused by a rival", rival), ("refused by legacy", legacy)]
        {
            total += check(&format!("{how} {name}"), &files, &process, meddle, acquire);
        }
        let owned = acquired(&mut files, &mut process);
        total += check(&format!("release {name}"), &files, &process, nothing, || Release::new(owned.clone()));
    }
    let process = Process::start(&mut stale, PID);
    total += check("recover after a death", &stale, &process, nothing, || Recover::new(true, Vec::new()));
    println!("crash steps in all: {total}");
    assert!(total >= 100, "{total}");
}
