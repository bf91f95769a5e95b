//! A host that answers what was not asked gets a typed error, never a panic and never a lease.

use super::{DEAD, OTHER, PID, acquired, layout};
use leasebook::marker::{
    Acquire, Acquisition, Code, Effect, Identity, Inspect, NAMES_MAX, Outcome, Recover, Release, RemoveNamed, Step,
};
use leasebook_tests::markers::{HOST, Machine, MarkerFiles, Process, marker, nonce, record, run};

/// One outcome of each kind.
fn outcomes() -> Vec<Outcome> {
    vec![
        Outcome::Root { root: "/".into(), markers: "/m".into() },
        Outcome::Present { path: "/p".into() },
        Outcome::Absent,
        Outcome::Identity(Identity { host: HOST.into(), pid: PID }),
        Outcome::Pid(PID),
        Outcome::Nonce(nonce(0xffff)),
        Outcome::Names(Vec::new()),
        Outcome::Content { bytes: record(1, DEAD, HOST), since_ms: None },
        Outcome::NotOrdinary,
        Outcome::TooLarge,
        Outcome::Alive,
        Outcome::Dead,
        Outcome::Age(u64::MAX),
        Outcome::Done,
        Outcome::Cancelled,
    ]
}

/// May this effect be answered so?
fn fits(effect: &Effect, outcome: &Outcome) -> bool {
    match effect {
        Effect::ResolveRoot => matches!(outcome, Outcome::Root { .. }),
        Effect::LegacyExists { .. } => matches!(outcome, Outcome::Present { .. } | Outcome::Absent),
        Effect::Identity => matches!(outcome, Outcome::Identity(_)),
        Effect::OwnPid => matches!(outcome, Outcome::Pid(_)),
        Effect::Nonce => matches!(outcome, Outcome::Nonce(_)),
        Effect::Publish { .. } | Effect::Signal => matches!(outcome, Outcome::Done),
        Effect::List => matches!(outcome, Outcome::Names(_) | Outcome::Absent),
        Effect::Read { .. } => {
            matches!(outcome, Outcome::Content { .. } | Outcome::NotOrdinary | Outcome::TooLarge | Outcome::Absent)
        }
        Effect::Probe { .. } => matches!(outcome, Outcome::Alive | Outcome::Dead),
        Effect::Age { .. } => matches!(outcome, Outcome::Age(_) | Outcome::Absent),
        Effect::Remove { .. } => matches!(outcome, Outcome::Done | Outcome::Absent),
        // Whatever is said of it changes nothing.
        Effect::RemoveDirectoryIfEmpty => true,
    }
}

fn check<M: Machine>(files: &MarkerFiles, process: &Process, machine: impl Fn() -> M) {
    let held = files.node(&marker(PID << 8 | 1)).is_some();
    for wrong in outcomes() {
        for at in 0.. {
            let (mut files, mut process) = (files.clone(), process.clone());
            let mut hit = None;
            let answer = run(&mut machine(), &mut process, &mut files, |n, effect, _, _| {
                if n != at {
                    return None;
                }
                hit = Some(effect.clone());
                Some(wrong.clone())
            });
            let Some(hit) = hit else { break };
            if fits(&hit, &wrong) {
                continue;
            }
            let failure = answer.err().unwrap_or_else(|| panic!("{wrong:?} is no answer to {hit:?}"));
            if hit.cleans_up() || wrong != Outcome::Cancelled {
                assert_eq!((failure.code, failure.step), (Code::UnexpectedOutcome, hit.name()), "{wrong:?} {hit:?}");
            } else {
                assert_eq!((failure.code, failure.step), (Code::Cancelled, hit.name()));
            }
            // A release that failed keeps its marker, to be tried again; an acquisition keeps none that it does not name.
            let own = files.node(&marker(PID << 8 | 1)).is_some();
            assert!(!own || failure.left.is_some() || held, "{wrong:?} {hit:?}");
        }
    }
}

fn scene() -> MarkerFiles {
    let mut files = MarkerFiles::new();
    files.put_file(&marker(0x66), record(0x66, DEAD, HOST));
    files.put_file(&format!("{}.tmp", nonce(0x67)), "?");
    files.now_ms += leasebook::marker::INCOMPLETE_AGE_MS_MIN;
    files
}

#[test]
fn an_outcome_that_does_not_fit_is_a_typed_error_of_every_machine() {
    let mut files = scene();
    let process = Process::start(&mut files, PID);
    check(&files, &process, || Acquire::new(&layout(&[".lock"]), Vec::new()));
    check(&files, &process, Inspect::new);
    check(&files, &process, || Recover::new(true, Vec::new()));
    check(&files, &process, || RemoveNamed::new(&nonce(0x66), Some((HOST, DEAD))));
    let mut held = files.clone();
    let owned = acquired(&mut held, &mut process.clone());
    check(&held, &process, || Release::new(owned.clone()));
}

#[test]
fn no_outcome_where_one_is_due_never_grants() {
    // A host that loses outcomes: at every step, once.
    for at in 0..40 {
        let mut files = scene();
        let mut process = Process::start(&mut files, PID);
        let mut machine = Acquire::new(&layout(&[".lock"]), Vec::new());
        let mut outcome = None;
        let mut lost = false;
        for effects in 0.. {
            match machine.next(outcome.take()) {
                Step::Done(Ok(answer)) => {
                    assert!(matches!(answer, Acquisition::Acquired(_)) && !lost);
                    break;
                }
                Step::Done(Err(failure)) => {
                    assert_eq!(failure.code, Code::UnexpectedOutcome);
                    break;
                }
                Step::Effect(effect) => {
                    while outcome.is_none() {
                        outcome = process.perform(&mut files, &effect);
                    }
                    if effects == at {
                        lost = true;
                        outcome = None;
                    }
                }
            }
        }
    }
}

#[test]
fn a_machine_that_is_done_stays_done() {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    run(&mut machine, &mut process, &mut files, super::undisturbed).expect("acquired");
    for outcome in [None, Some(Outcome::Done), Some(Outcome::Absent)] {
        let Step::Done(Err(failure)) = machine.next(outcome) else { panic!("it is done") };
        assert_eq!(failure.code, Code::UnexpectedOutcome);
    }
    assert_eq!(files.names().len(), 1, "what was acquired is not touched");
}

#[test]
fn an_identity_or_a_nonce_that_no_marker_may_say_is_refused() {
    let long = "h".repeat(4_096);
    let identity = |host: &str, pid| Outcome::Identity(Identity { host: host.into(), pid });
    for (outcome, code) in [
        (identity("", PID), Code::InvalidIdentity),
        (identity("a\nb", PID), Code::InvalidIdentity),
        (identity("a\0", PID), Code::InvalidIdentity),
        (identity(&long, PID), Code::InvalidIdentity),
        (identity(HOST, 0), Code::InvalidIdentity),
        (identity(HOST, 1 << 31), Code::InvalidIdentity),
        (identity(HOST, u32::MAX), Code::InvalidIdentity),
        (Outcome::Nonce(String::new()), Code::InvalidNonce),
        (Outcome::Nonce("../../etc/passwd".into()), Code::InvalidNonce),
        (Outcome::Nonce(nonce(0xabc).to_uppercase()), Code::InvalidNonce),
        (Outcome::Nonce(nonce(1) + "0"), Code::InvalidNonce),
    ] {
        let mut files = MarkerFiles::new();
        let mut process = Process::start(&mut files, OTHER);
        let mut machine = Acquire::new(&layout(&[]), Vec::new());
        let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, _| {
            let same = matches!(
                (effect, &outcome),
                (Effect::Identity, Outcome::Identity(_)) | (Effect::Nonce, Outcome::Nonce(_))
            );
            same.then(|| outcome.clone())
        });
        assert_eq!(answer.expect_err("it is refused").code, code);
        assert_eq!(files.directory, None);
    }
}

#[test]
fn a_listing_beyond_the_bound_is_refused() {
    for (names, refused) in [(NAMES_MAX, false), (NAMES_MAX + 1, true)] {
        let mut files = MarkerFiles::new();
        let mut process = Process::start(&mut files, PID);
        let answer = run(&mut Inspect::new(), &mut process, &mut files, |_, effect, _, _| {
            matches!(effect, Effect::List).then(|| Outcome::Names(vec![String::new(); names]))
        });
        assert_eq!(answer.is_err_and(|failure| failure.code == Code::TooManyNames), refused);
    }
}
