//! The marker directory goes between any two steps: it is made again, a bounded number of times, and nobody is granted
//! what is no longer there.

use super::{OTHER, PID, acquired, layout, undisturbed};
use leasebook::marker::{Acquire, Acquisition, Code, Effect, FileCode, REMAKES_MAX, Release, Released};
use leasebook_tests::markers::{HOST, MarkerFiles, Process, marker, record, run};

/// The directory vanishes while a marker is published, so many times; answers how often it was published.
fn vanish(times: u32, by_path: bool) -> (Result<Acquisition, leasebook::marker::Failure>, u32, MarkerFiles) {
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    process.by_path = by_path;
    let mut published = 0;
    let mut machine = Acquire::new(&layout(&[]), Vec::new());
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, process, files| {
        if matches!(effect, Effect::Publish { .. }) {
            published += 1;
            if published <= times {
                assert_eq!(process.perform(files, effect), None, "the directory is made");
                files.remove_tree();
            }
        }
        None
    });
    (answer, published, files)
}

#[test]
fn it_is_made_again_up_to_32_times() {
    for by_path in [false, true] {
        for times in [0, 1, 2, 31, REMAKES_MAX] {
            let (answer, published, files) = vanish(times, by_path);
            assert!(matches!(answer, Ok(Acquisition::Acquired(_))), "{answer:?}");
            assert_eq!((published, files.names().len()), (times + 1, 1));
        }
        for times in [REMAKES_MAX + 1, REMAKES_MAX + 2, 1_000] {
            let (answer, published, files) = vanish(times, by_path);
            let failure = answer.expect_err("it does not go on for ever");
            assert_eq!((failure.code, failure.step), (Code::File(FileCode::DirectoryVanished), "publish"));
            assert_eq!((published, files.names(), failure.left), (REMAKES_MAX + 1, Vec::new(), None));
        }
    }
}

#[test]
fn whoever_removes_it_at_any_step_nobody_is_granted_what_is_gone() {
    for (by_path, replaced) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut ends = Vec::new();
        for at in 0.. {
            let mut files = MarkerFiles::new();
            files.put_file(&marker(1), record(1, 66, HOST));
            let mut process = Process::start(&mut files, PID);
            process.by_path = by_path;
            let mut machine = Acquire::new(&layout(&[".lock"]), Vec::new());
            let mut hit = None;
            let answer = run(&mut machine, &mut process, &mut files, |n, effect, _, files| {
                if n == at {
                    hit = Some(effect.name());
                    files.remove_tree();
                    if replaced {
                        files.make();
                    }
                }
                None
            });
            let Some(hit) = hit else { break };
            match answer {
                // Before it was published, or after it was confirmed.
                Ok(Acquisition::Acquired(_)) => assert!(!files.names().is_empty() || hit == "signal", "{hit}"),
                Err(failure) => {
                    assert_eq!((failure.code, failure.left), (Code::OwnMarkerGone, None), "{hit}");
                    assert_eq!(files.names(), Vec::<String>::new());
                }
                other => panic!("{hit}: {other:?}"),
            }
            ends.push(hit);
        }
        assert!(ends.len() > 14, "{ends:?}");
    }
}

#[test]
fn others_that_go_on_in_a_new_directory_are_safe_from_one_that_lost_its_own() {
    // Its directory is removed, and another writer acquires in a new one.
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut release = Release::new(acquired(&mut files, &mut process));
    files.remove_tree();
    let mut other = Process::start(&mut files, OTHER);
    let mut theirs = Release::new(acquired(&mut files, &mut other));
    assert_eq!(run(&mut release, &mut process, &mut files, undisturbed), Ok(Released::Lost));
    assert_eq!(run(&mut theirs, &mut other, &mut files, undisturbed), Ok(Released::Released));
}

#[test]
fn a_destination_that_moves_takes_the_marker_along() {
    // With a handle of its directory, a release finds its marker wherever that is now; what has its name by now is not
    // touched.
    let mut files = MarkerFiles::new();
    let mut process = Process::start(&mut files, PID);
    let mut release = Release::new(acquired(&mut files, &mut process));
    let moved = files.directory.take().expect("it is there");
    let mut other = Process::start(&mut files, OTHER);
    let mut theirs = Release::new(acquired(&mut files, &mut other));
    assert_eq!(run(&mut release, &mut process, &mut files, undisturbed), Ok(Released::Released));
    assert!(files.directories[moved].is_empty() && files.names().len() == 1);
    assert_eq!(run(&mut theirs, &mut other, &mut files, undisturbed), Ok(Released::Released));
}
