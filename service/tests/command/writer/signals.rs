//! Signals reach the command; and when `leasebook run` is killed, its command is too.

use super::{Writer, markers};
use rustix::process::{Pid, Signal, test_kill_process};

#[test]
fn what_is_sent_to_it_reaches_the_command() {
    for (name, signal) in [
        ("TERM", Signal::TERM),
        ("INT", Signal::INT),
        ("HUP", Signal::HUP),
        ("QUIT", Signal::QUIT),
        ("USR1", Signal::USR1),
        ("USR2", Signal::USR2),
    ] {
        let dir = tempfile::tempdir().unwrap();
        // A shell looks for signals between two commands, so that none comes too early or too late.
        let script = format!("trap 'echo {name}; exit 5' {name}; echo runs; while :; do sleep 0.01; done");
        let mut writer = Writer::spawn(dir.path(), &[], &script);
        writer.expect("runs");
        assert_eq!(markers(dir.path()).len(), 1);
        writer.signal(signal);
        writer.expect(name);
        assert_eq!(writer.end().0, 5, "{name}");
        assert_eq!(markers(dir.path()).len(), 0, "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_command_begins_with_nothing_blocked_or_ignored_that_was_not() {
    let dir = tempfile::tempdir().unwrap();
    let masks = "grep -E 'Sig(Blk|Ign)' /proc/self/status; echo end";
    // The signals that have names; the C library has a few of its own beyond.
    let named = |line: &str| {
        let (name, bits) = line.split_once(":\t").unwrap();
        (name.to_owned(), u64::from_str_radix(bits, 16).unwrap() & 0x7fff_ffff)
    };
    let mut plain = std::process::Command::new("sh");
    plain.args(["-c", masks]);
    let plain = super::super::with_default_signals(plain).output().unwrap();
    let plain = String::from_utf8(plain.stdout).unwrap();
    let mut writer = Writer::spawn(dir.path(), &[], masks);
    let (first, second) = (writer.hear(), writer.hear());
    writer.expect("end");
    assert_eq!([named(&first), named(&second)].as_slice(), plain.lines().take(2).map(named).collect::<Vec<_>>());
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let leasebook = env!("CARGO_BIN_EXE_leasebook");
    let root = dir.path().display();
    // The inner one is told to hang up while it waits for the outer one, and goes on waiting.
    let script =
        format!("trap '' HUP; '{leasebook}' run '{root}' --wait 0.3 -- true & kill -HUP $!; wait $!; echo ended $?");
    let mut writer = Writer::spawn(dir.path(), &[], &script);
    writer.expect("ended 75");
    assert_eq!(writer.end().0, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn children_that_are_ignored_end_as_they_do_and_stay_ignored() {
    use std::os::unix::process::CommandExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let ignoring = |arguments: &[&str]| {
        let mut command = super::super::command(&[&["run", root, "--"], arguments].concat());
        // SAFETY: one system call, between fork and exec.
        unsafe {
            command.pre_exec(|| match libc::signal(libc::SIGCHLD, libc::SIG_IGN) {
                libc::SIG_ERR => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            });
        }
        command.output().unwrap()
    };
    for (script, code) in [("exit 3", 3), ("true", 0), ("kill -TERM $$", 143)] {
        let done = ignoring(&["sh", "-c", script]);
        assert_eq!((done.status.code(), &*done.stderr), (Some(code), &b""[..]), "{script}");
    }
    let done = ignoring(&["grep", "SigIgn", "/proc/self/status"]);
    let line = String::from_utf8(done.stdout).unwrap();
    let bits = u64::from_str_radix(line.trim().strip_prefix("SigIgn:\t").unwrap(), 16).unwrap();
    assert_eq!((bits >> (libc::SIGCHLD - 1)) & 1, 1, "{line}");
}

#[cfg(target_os = "linux")]
#[test]
fn killed_it_takes_the_command_with_it_and_the_next_recovers() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::spawn(dir.path(), &[], "trap '' TERM HUP INT; echo $$; read -r forever");
    let command: i32 = writer.hear().parse().unwrap();
    let command = Pid::from_raw(command).unwrap();
    assert!(test_kill_process(command).is_ok());
    // Its input stays open, so that nothing else ends the command.
    let input = writer.stdin.take().unwrap();
    writer.process.kill().unwrap();
    writer.process.wait().unwrap();
    // Its output ends when the command is gone.
    assert_eq!(writer.hear(), "");
    drop(input);
    assert_eq!(markers(dir.path()).len(), 1, "stale");
    let done = super::super::run(&["run", dir.path().to_str().unwrap(), "--", "echo", "mine"], "");
    assert_eq!((done.code, done.out.as_str()), (0, "mine\n"));
    assert_eq!(markers(dir.path()).len(), 0);
}
