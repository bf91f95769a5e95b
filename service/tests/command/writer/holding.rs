//! `leasebook run` holds the lease while its command runs, and gives back what the command gave.

use super::super::run;
use super::{Writer, markers};
use std::fs;

#[test]
fn the_exit_code_and_the_streams_are_the_commands() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    for (script, code, out, err) in [
        ("cat", 0, "given", ""),
        ("echo out; echo err >&2; exit 7", 7, "out\n", "err\n"),
        ("exit 75", 75, "", ""),
        ("kill -TERM $$", 143, "", ""),
        ("kill -KILL $$", 137, "", ""),
    ] {
        let done = run(&["run", root, "--", "sh", "-c", script], "given");
        assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (code, out, err), "{script}");
        assert_eq!(markers(dir.path()).len(), 0, "{script}");
    }
    assert_eq!(run(&["run", root, "--", "printf", "%s|", "--wait", "-x", "a b"], "").out, "--wait|-x|a b|");
}

#[test]
fn a_command_that_cannot_be_run_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    fs::write(dir.path().join("plain"), "").unwrap();
    let plain = dir.path().join("plain");
    for (program, code) in [("no-such-command", 127), (plain.to_str().unwrap(), 126)] {
        let done = run(&["run", root, "--", program], "");
        assert_eq!((done.code, done.out.as_str()), (code, ""));
        assert!(done.err.starts_with(&format!("error: the command {program} cannot be run: ")), "{}", done.err);
        assert_eq!(markers(dir.path()).len(), 0);
    }
}

#[test]
fn a_second_one_is_told_who_is_there_and_runs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let mut first = Writer::holding(dir.path());
    let made = dir.path().join("made");
    let second = run(&["run", root, "--", "touch", made.to_str().unwrap()], "");
    assert_eq!((second.code, second.out.as_str()), (75, ""));
    let host = rustix::system::uname();
    let who = format!("process {} on {}", first.pid(), host.nodename().to_str().unwrap());
    let mut said = second.err.lines();
    let busy = said.next().unwrap();
    assert!(busy.starts_with(&format!("busy: {root} is being written by {who}")), "{busy}");
    // Where the system tells what it runs.
    assert!(!cfg!(target_os = "linux") || busy.contains(" (sh) for ") || busy.contains(" (leasebook) for "));
    assert!(busy.ends_with(" s; nothing was run"), "{busy}");
    let again = format!("  wait for it: leasebook run --wait 60 {root} -- touch {}", made.display());
    assert_eq!(said.next(), Some(&*again));
    assert_eq!(said.next(), Some(&*format!("  look:        leasebook inspect {root}")));
    assert!(!made.exists());
    assert_eq!(first.end().0, 0);
    assert_eq!(run(&["run", root, "--", "touch", made.to_str().unwrap()], "").code, 0);
    assert!(made.exists());
}

#[test]
fn other_marker_directories_do_not_exclude_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let _first = Writer::holding(dir.path());
    assert_eq!(run(&["run", root, "--marker-dir", "others", "--", "true"], "").code, 0);
    assert!(dir.path().join("others").is_dir());
}

#[test]
fn a_legacy_marker_is_respected_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let legacy = dir.path().canonicalize().unwrap().join("old.lock");
    fs::write(&legacy, "").unwrap();
    let done = run(&["run", root, "--legacy", "x", "--legacy", "old.lock", "--", "echo", "run"], "");
    assert_eq!((done.code, done.out.as_str()), (75, ""));
    assert!(
        done.err.starts_with(&format!("busy: {} says that another program writes", legacy.display())),
        "{}",
        done.err
    );
    let again = format!("leasebook run --wait 60 {root} --legacy x --legacy old.lock -- echo run");
    assert_eq!(done.err.lines().nth(1), Some(&*format!("  wait for it: {again}")));
    assert!(legacy.exists());
    assert_eq!(run(&["run", root, "--", "true"], "").code, 0);
}

#[test]
fn a_destination_that_is_not_there_is_66() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for name in ["missing", "file"] {
        let path = dir.path().join(name);
        for arguments in [
            &["run", path.to_str().unwrap(), "--", "true"][..],
            &["inspect", path.to_str().unwrap()],
            &["recover", path.to_str().unwrap()],
        ] {
            let done = run(arguments, "");
            assert_eq!((done.code, done.out.as_str()), (66, ""), "{arguments:?}");
            assert!(done.err.starts_with("error: ") && done.err.contains(name), "{}", done.err);
        }
    }
}
