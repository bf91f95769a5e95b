//! `--wait` tries again, until the directory is free or the time is up.

use super::super::run;
use super::{Writer, markers};
use std::time::Instant;

#[test]
fn who_waits_runs_when_the_other_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = Writer::holding(dir.path());
    let mut second = Writer::spawn(dir.path(), &["--wait", "600"], "echo mine");
    assert_eq!(first.end().0, 0);
    second.expect("mine");
    assert_eq!(second.end(), (0, String::new(), String::new()), "and says nothing where there is no terminal");
    assert_eq!(markers(dir.path()).len(), 0);
}

#[test]
fn many_who_come_at_once_all_get_their_turn() {
    let dir = tempfile::tempdir().unwrap();
    let script = "mkdir inside && rmdir inside && echo alone";
    let script = format!("cd '{}' && {script}", dir.path().display());
    let writers: Vec<Writer> = (0..8).map(|_| Writer::spawn(dir.path(), &["--wait", "600"], &script)).collect();
    for mut writer in writers {
        writer.expect("alone");
        assert_eq!(writer.end().0, 0);
    }
}

#[test]
fn when_the_time_is_up_it_is_busy() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Writer::holding(dir.path());
    let begun = Instant::now();
    let done = run(&["run", dir.path().to_str().unwrap(), "--wait", "0.2", "--", "echo", "run"], "");
    assert_eq!((done.code, done.out.as_str()), (75, ""));
    assert!(begun.elapsed().as_millis() >= 200);
    assert!(done.err.starts_with("busy: "), "{}", done.err);
    assert_eq!(markers(dir.path()).len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_ends_the_waiting_and_leaves_nothing() {
    use rustix::process::Signal;
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let dir = tempfile::tempdir().unwrap();
        let _first = Writer::holding(dir.path());
        let mut second = Writer::spawn(dir.path(), &["--wait", "600"], "echo run");
        until_it_listens(&second);
        second.signal(signal);
        assert_eq!(second.end(), (code, String::new(), String::new()));
        assert_eq!(markers(dir.path()).len(), 1);
    }
}

/// A process listens as soon as it has a second thread, which reads the signals.
#[cfg(target_os = "linux")]
fn until_it_listens(writer: &Writer) {
    let tasks = format!("/proc/{}/task", writer.pid());
    while std::fs::read_dir(&tasks).is_ok_and(|tasks| tasks.count() < 2) {
        std::thread::yield_now();
    }
}
