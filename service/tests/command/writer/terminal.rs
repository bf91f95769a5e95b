//! At a terminal: what is typed reaches the command once, and who waits sees for whom.

use super::super::command;
use super::{HOLDS, Writer, markers};
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{ioctl_tiocsctty, setsid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};

/// A terminal with `leasebook run` at it.
struct Terminal {
    screen: File,
    shown: String,
    process: Child,
}

impl Terminal {
    fn with(root: &Path, options: &[&str], script: &str) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut command = command(&[&["run", root.to_str().unwrap()], options, &["--", "sh", "-c", script]].concat());
        let stream = || Stdio::from(theirs.try_clone().unwrap());
        command.stdin(stream()).stdout(stream()).stderr(stream()).env_remove("CI").env("TERM", "xterm");
        // SAFETY: two system calls, between fork and exec.
        unsafe {
            command.pre_exec(|| {
                setsid()?;
                Ok(ioctl_tiocsctty(rustix::stdio::stdin())?)
            });
        }
        let process = command.spawn().unwrap();
        Self { screen: File::from(ours), shown: String::new(), process }
    }

    /// Reads until this is shown.
    fn until(&mut self, text: &str) {
        while !self.shown.contains(text) {
            let mut bytes = [0; 1024];
            // The end of a terminal is an error.
            let length = self.screen.read(&mut bytes).unwrap_or_else(|error| panic!("{error}: {}", self.shown));
            self.shown += &String::from_utf8_lossy(&bytes[..length]);
        }
    }

    fn typed(&mut self, text: &str) {
        self.screen.write_all(text.as_bytes()).unwrap();
    }

    fn end(mut self) -> (i32, String) {
        let mut bytes = [0; 1024];
        while let Ok(length @ 1..) = self.screen.read(&mut bytes) {
            self.shown += &String::from_utf8_lossy(&bytes[..length]);
        }
        (self.process.wait().unwrap().code().unwrap(), std::mem::take(&mut self.shown))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn ctrl_c_reaches_the_command_once() {
    let dir = tempfile::tempdir().unwrap();
    // A second one, if there were one, would come while the line is read.
    let script = "trap 'echo interrupted; came=1' INT; echo runs; until [ $came ]; do sleep 0.01; done; read -r line; \
                  echo read $line";
    let mut terminal = Terminal::with(dir.path(), &[], script);
    terminal.until("runs");
    terminal.typed("\u{3}");
    terminal.until("interrupted");
    assert_eq!(markers(dir.path()).len(), 1, "the lease is held as long as the command runs");
    terminal.typed("end\n");
    terminal.until("read end");
    let (code, shown) = terminal.end();
    assert_eq!((code, shown.matches("interrupted").count()), (0, 1), "{shown}");
    assert_eq!(markers(dir.path()).len(), 0);
}

#[test]
fn ctrl_c_reaches_a_command_in_a_group_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let script = "exec setsid sh -c 'trap \"exit 5\" INT; echo runs; while :; do sleep 0.01; done'";
    let mut terminal = Terminal::with(dir.path(), &[], script);
    terminal.until("runs");
    terminal.typed("\u{3}");
    assert_eq!(terminal.process.wait().unwrap().code(), Some(5));
    assert_eq!(markers(dir.path()).len(), 0);
}

#[test]
fn a_terminal_that_goes_away_ends_the_command_and_the_lease() {
    let dir = tempfile::tempdir().unwrap();
    // Here it leads the session, so that nobody else is told.
    let mut terminal = Terminal::with(dir.path(), &[], "trap 'exit 5' HUP; echo runs; while :; do sleep 0.01; done");
    terminal.until("runs");
    assert_eq!(markers(dir.path()).len(), 1);
    terminal.screen = File::open("/dev/null").unwrap();
    assert_eq!(terminal.process.wait().unwrap().code(), Some(5));
    assert_eq!(markers(dir.path()).len(), 0);
}

#[test]
fn who_waits_sees_for_whom_and_the_line_goes_away() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = Writer::spawn(dir.path(), &[], HOLDS);
    first.expect("runs");
    let mut terminal = Terminal::with(dir.path(), &["--wait", "600"], "echo mine");
    terminal.until(&format!("waiting for process {} on ", first.pid()));
    first.end();
    terminal.until("mine");
    let (code, shown) = terminal.end();
    assert_eq!(code, 0);
    let after = shown.rsplit("waiting for").next().unwrap();
    assert!(after.contains("\u{1b}[2K") || after.contains("\u{1b}[K"), "the line is cleared: {after:?}");
}

#[test]
fn ctrl_c_ends_the_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let first = Writer::holding(dir.path());
    let mut terminal = Terminal::with(dir.path(), &["--wait", "600"], "echo mine");
    terminal.until("waiting for process");
    terminal.typed("\u{3}");
    assert_eq!(terminal.end().0, 130);
    assert_eq!(markers(dir.path()).len(), 1);
    drop(first);
}
