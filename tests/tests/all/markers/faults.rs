//! Every effect fails with every code at every step: nothing is acquired, and the own marker is gone or named.

use super::{DEAD, OTHER, PID, acquired, layout, undisturbed};
use leasebook::marker::{
    Acquire, Acquisition, Code, Effect, FileCode, FileError, MarkerState, Outcome, Recover, Release, Released,
};
use leasebook_tests::markers::{HOST, MARKERS, MarkerFiles, Process, marker, nonce, record, run};

fn failed(code: FileCode) -> Outcome {
    Outcome::Failed(FileError { code, path: String::new(), detail: "the disk burns".into() })
}

/// How an effect fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// This one, and nothing of it is done.
    Once,
    /// This one, although it is done.
    Done,
    /// This one, and every later one.
    ForEver,
}

/// Where an acquisition takes place.
fn scenes() -> [(&'static str, MarkerFiles); 4] {
    let empty = MarkerFiles::new();
    let (mut stale, mut busy, mut closed) = (empty.clone(), empty.clone(), empty.clone());
    stale.put_file(&marker(0x66), record(0x66, DEAD, HOST));
    busy.put_file(&marker(0x66), record(0x66, DEAD, HOST));
    busy.put_file(&marker(8), record(8, OTHER, HOST));
    busy.alive.insert(OTHER);
    closed.put_file(&marker(9), record(9, OTHER, "elsewhere"));
    [("empty", empty), ("stale", stale), ("busy", busy), ("foreign", closed)]
}

/// Own markers and what was begun of them.
fn own(files: &MarkerFiles) -> Vec<String> {
    let own = |name: &String| name.starts_with("0000000000000000000000000000070");
    files.names().into_iter().filter(own).collect()
}

#[test]
fn an_acquisition_that_meets_any_failure_acquires_nothing() {
    let mut tried = 0;
    for ((scene, files), code, how) in scenes()
        .into_iter()
        .flat_map(|scene| FileCode::ALL.map(|code| (scene.clone(), code)))
        .flat_map(|(scene, code)| [How::Once, How::Done, How::ForEver].map(|how| (scene.clone(), code, how)))
    {
        for at in 0.. {
            let mut files = files.clone();
            let mut process = Process::start(&mut files, PID);
            let mut hit = None;
            let mut machine = Acquire::new(&layout(&[".lock"]), Vec::new());
            let answer = run(&mut machine, &mut process, &mut files, |n, effect, process, files| {
                if n < at || n > at && how != How::ForEver {
                    return None;
                }
                hit.get_or_insert(effect.clone());
                if how == How::Done {
                    while process.perform(files, effect).is_none() {}
                }
                Some(failed(code))
            });
            let Some(hit) = hit else { break };
            tried += 1;
            let told = format!("{scene}, effect {at} {hit:?} {how:?} {code:?}: {answer:?}\n{files:#?}");

            let left = machine.take_left();
            match &answer {
                Ok(Acquisition::Acquired(_)) => {
                    // Making the directory again is what this failure is there for; a stale marker that is said to stay
                    // and is gone is in nobody's way.
                    let remade = code == FileCode::DirectoryVanished && matches!(hit, Effect::Publish { .. });
                    assert!(remade && how != How::ForEver, "{told}");
                    assert_eq!(own(&files).len(), 1, "{told}");
                    continue;
                }
                Ok(Acquisition::Busy { owners }) => assert!(!owners.is_empty(), "{told}"),
                Ok(Acquisition::Legacy { .. }) => panic!("{told}"),
                Err(failure) => {
                    assert!(matches!(failure.code, Code::File(found) if found == code), "{told}");
                    assert!(!failure.step.is_empty() && failure.cause == "the disk burns", "{told}");
                    let needs_path = !matches!(failure.step, "resolve-root" | "identity" | "nonce");
                    assert!(!needs_path || !failure.path.is_empty(), "{told}");
                }
            }
            let named = answer.as_ref().err().and_then(|failure| failure.left.clone());
            assert_eq!(named.is_some(), !left.is_empty(), "{told}");
            if let Some(name) = own(&files).first() {
                assert_eq!(named, Some(format!("{MARKERS}/{name}")), "{told}");
            }
        }
    }
    println!("failures tried: {tried}");
    assert!(tried > 1_500, "{tried}");
}

#[test]
fn a_release_that_meets_any_failure_can_be_tried_again() {
    for (code, how) in FileCode::ALL.into_iter().flat_map(|code| [(code, How::Once), (code, How::Done)]) {
        for at in 0.. {
            let mut files = MarkerFiles::new();
            let mut process = Process::start(&mut files, PID);
            let mut release = Release::new(acquired(&mut files, &mut process));
            let mut hit = None;
            let answer = run(&mut release, &mut process, &mut files, |n, effect, process, files| {
                if n != at {
                    return None;
                }
                hit = Some(effect.clone());
                if how == How::Done {
                    process.perform(files, effect);
                }
                Some(failed(code))
            });
            let Some(hit) = hit else { break };
            let failure = answer.expect_err("it failed");
            assert_eq!((failure.code, failure.step), (Code::File(code), hit.name()));
            assert!(release.left().is_some(), "a store can still remove it");
            let again = run(&mut release, &mut process, &mut files, undisturbed);
            let gone = how == How::Done && matches!(hit, Effect::Remove { .. });
            assert_eq!(again, Ok(if gone { Released::Lost } else { Released::Released }));
            assert_eq!((files.names(), release.left()), (Vec::new(), None));
        }
    }
}

#[test]
fn a_recovery_that_meets_any_failure_removes_nothing_that_is_alive() {
    for (code, how) in FileCode::ALL.into_iter().flat_map(|code| [(code, How::Once), (code, How::ForEver)]) {
        for at in 0.. {
            let (_, mut files) = scenes()[2].clone();
            let mut process = Process::start(&mut files, PID);
            let mut hit = None;
            let mut recover = Recover::new(true, Vec::new());
            let answer = run(&mut recover, &mut process, &mut files, |n, effect, _, _| {
                if n < at || n > at && how == How::Once {
                    return None;
                }
                hit.get_or_insert(effect.clone());
                Some(failed(code))
            });
            let Some(hit) = hit else { break };
            assert!(files.node(&marker(8)).is_some());
            match answer {
                // What cannot be opened or removed is kept, and says why.
                Ok(recovery) => {
                    let opened = matches!(hit, Effect::Read { .. }) && code == FileCode::PermissionDenied;
                    assert!(opened || matches!(hit, Effect::Remove { .. }), "{hit:?} {code:?}");
                    let told = recovery.kept.iter().filter(|record| record.detail.is_some());
                    assert!(told.count() > 0, "{recovery:?}");
                    let stale = recovery.kept.iter().any(|record| record.state == MarkerState::Stale);
                    assert!(stale || opened, "{recovery:?}");
                }
                Err(failure) => assert_eq!(failure.code, Code::File(code)),
            }
        }
    }
}

#[test]
fn a_marker_that_can_be_removed_and_not_opened_is_removed() {
    // All files of the process are open: it can list and remove, and open nothing.
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let mut published = false;
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, _| {
        let fails = published && matches!(effect, Effect::Read { .. } | Effect::List);
        published |= matches!(effect, Effect::Publish { .. });
        fails.then(|| failed(FileCode::TooManyOpenFiles))
    });
    let failure = answer.expect_err("it cannot list");
    assert_eq!((failure.code, failure.left), (Code::File(FileCode::TooManyOpenFiles), None));
    assert_eq!((files.names(), files.directory), (Vec::new(), None));
}

#[test]
fn what_a_failed_publication_has_begun_is_removed() {
    for (steps, name) in [(2, "tmp"), (3, "tmp"), (4, "json")] {
        for code in [FileCode::NoSpace, FileCode::InputOutput, FileCode::TooManyOpenFiles] {
            let mut files = MarkerFiles::new();
            let mut process = Process::start(&mut files, PID);
            let mut machine = Acquire::new(&layout(&[]), Vec::new());
            let answer = run(&mut machine, &mut process, &mut files, |_, effect, process, files| {
                if !matches!(effect, Effect::Publish { .. }) {
                    return None;
                }
                // The host that fails does not even remove what it began.
                (0..steps).for_each(|_| _ = process.perform(files, effect));
                assert_eq!(own(files), [format!("{}.{name}", nonce(PID << 8 | 1))]);
                Some(failed(code))
            });
            let failure = answer.expect_err("it failed");
            assert_eq!((failure.code, failure.step, failure.left), (Code::File(code), "publish", None));
            assert_eq!((files.names(), files.directory), (Vec::new(), None));
        }
    }
}

#[test]
fn a_failure_is_one_sentence() {
    let mut files = MarkerFiles::new();
    let own = marker(PID << 8 | 1);
    files.stuck.insert(own.clone());
    let mut process = Process::start(&mut files, PID);
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let path = format!("{MARKERS}/{own}");
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, _| {
        let error = FileError { code: FileCode::InputOutput, path: path.clone(), detail: "os error 5".into() };
        matches!(effect, Effect::Read { clean_up: false, .. }).then_some(Outcome::Failed(error))
    });
    assert_eq!(
        answer.expect_err("it failed").to_string(),
        format!(
            "the device failed at {path}, in the step read: os error 5; {path} could not be removed, and is in the way \
             of others until it is"
        )
    );
}
