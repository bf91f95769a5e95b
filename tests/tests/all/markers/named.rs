//! An operator removes one named marker of any state, by repeating what it says.

use super::{DEAD, OTHER, PID, undisturbed};
use leasebook::marker::{Code, Effect, Failure, FileCode, FileError, NamedRemoval, Outcome, OwnerRecord, RemoveNamed};
use leasebook_tests::markers::{HOST, MarkerFiles, Node, Process, marker, nonce, record, run};

fn scene() -> MarkerFiles {
    let mut files = MarkerFiles::new();
    files.alive.insert(OTHER);
    files.put_file(&marker(1), record(1, OTHER, HOST));
    files.put_file(&marker(2), record(2, DEAD, "build-6"));
    files.put_file(&marker(3), record(3, DEAD, HOST));
    files.put_file(&marker(4), "");
    files.put(&marker(5), Node::Special);
    files.put(&marker(6), Node::Directory);
    files
}

fn remove(files: &mut MarkerFiles, nonce: &str, expected: Option<(&str, u32)>) -> Result<NamedRemoval, Failure> {
    let mut process = Process::start(files, PID);
    run(&mut RemoveNamed::new(nonce, expected), &mut process, files, undisturbed)
}

#[test]
fn a_marker_of_any_state_is_removed_by_repeating_its_host_and_pid() {
    for (number, host, pid) in [(1, HOST, OTHER), (2, "build-6", DEAD), (3, HOST, DEAD)] {
        let mut files = scene();
        let owner = OwnerRecord::new(pid, host, &nonce(number)).expect("a record");
        let expected = Ok(NamedRemoval::Removed(Some(owner)));
        assert_eq!(remove(&mut files, &nonce(number), Some((host, pid))), expected);
        assert_eq!((files.node(&marker(number)), files.names().len()), (None, 5));
    }
}

#[test]
fn one_that_says_something_else_is_kept() {
    for (number, expected) in [
        (1, Some((HOST, DEAD))),
        (1, Some(("build-6", OTHER))),
        (1, None),
        (4, Some((HOST, OTHER))),
        (5, Some((HOST, OTHER))),
    ] {
        let mut files = scene();
        let before = files.directories.clone();
        let answer = remove(&mut files, &nonce(number), expected);
        assert!(matches!(answer, Ok(NamedRemoval::Different(_))), "{answer:?}");
        assert_eq!(files.directories, before);
    }
}

#[test]
fn one_that_says_nothing_is_removed_by_saying_so() {
    for number in [4, 5] {
        let mut files = scene();
        assert_eq!(remove(&mut files, &nonce(number), None), Ok(NamedRemoval::Removed(None)));
        assert_eq!(files.node(&marker(number)), None);
    }
    let failure = remove(&mut scene(), &nonce(6), None).expect_err("a directory is not removed as a file");
    assert_eq!((failure.code, failure.step), (Code::File(FileCode::Other), "remove"));
}

#[test]
fn what_is_not_there_is_absent_and_what_is_no_name_is_refused() {
    assert_eq!(remove(&mut scene(), &nonce(9), Some((HOST, 1))), Ok(NamedRemoval::Absent));
    assert_eq!(remove(&mut MarkerFiles::new(), &nonce(1), None), Ok(NamedRemoval::Absent));
    for name in ["", "..", "README", &marker(1), "../../../../../../etc/passwd-aaaaa"] {
        let failure = remove(&mut scene(), name, None).expect_err("no nonce");
        assert_eq!((failure.code, failure.step, &*failure.path), (Code::InvalidNonce, "nonce", ""));
        assert_eq!(failure.cause, name);
    }
}

#[test]
fn before_the_root_is_known_a_failure_names_no_path_of_its_own() {
    let mut files = scene();
    let mut process = Process::start(&mut files, PID);
    let mut machine = RemoveNamed::new(&nonce(1), None);
    let answer = run(&mut machine, &mut process, &mut files, |_, effect, _, _| {
        let error = FileError { code: FileCode::NotFound, path: String::new(), detail: String::new() };
        matches!(effect, Effect::ResolveRoot).then_some(Outcome::Failed(error))
    });
    let failure = answer.expect_err("there is no root");
    assert_eq!((failure.step, &*failure.path), ("resolve-root", ""));
}
