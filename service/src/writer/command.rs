//! The command that runs under a lease.

use super::signals::Signals;
use super::words::shown_path;
use crate::exit::Exit;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// How it ended.
pub enum Ended {
    /// With this code.
    Code(u8),
    /// By this signal.
    Signal(i32),
    /// It did not begin, for this reason.
    NotRun(Exit, String),
    /// It was run, and for this reason it is not known how it ended.
    Unknown(io::Error),
}

/// What shells add to the number of a signal.
const SIGNAL_BASE: i32 = 128;

/// The exit code that stands for the end by a signal.
pub fn code_of_signal(number: i32) -> u8 {
    u8::try_from(SIGNAL_BASE + number).unwrap_or(u8::MAX)
}

/// Runs a command to its end. Signals reach it.
pub fn run(words: &[OsString], signals: &Signals) -> Ended {
    let (program, arguments) = words.split_first().expect("the arguments have at least one word");
    let mut command = Command::new(program);
    command.args(arguments);
    let name = if program.is_empty() { "''".to_owned() } else { shown_path(Path::new(program)) };
    let not_run = |error: io::Error| {
        let exit = if error.kind() == io::ErrorKind::NotFound { Exit::NotFound } else { Exit::NotRun };
        Ended::NotRun(exit, format!("the command {name} cannot be run: {error}"))
    };
    signals.restore_in(&mut command);
    dies_with_us(&mut command);
    let mut running = match command.spawn() {
        Ok(child) => Running { child, waited_for: false },
        Err(error) => return not_run(error),
    };
    signals.forward_to(&running.child);
    running.wait(signals).map_or_else(Ended::Unknown, ended)
}

/// A command that was begun. The lease must not end before it: where it is not waited for, as in a panic, it is killed.
struct Running {
    child: Child,
    waited_for: bool,
}

impl Running {
    fn wait(&mut self, signals: &Signals) -> io::Result<ExitStatus> {
        let waited = wait(&mut self.child, signals);
        // Where that failed there is no such child, and its process id may be another's.
        self.waited_for = true;
        waited
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.waited_for {
            // What fails here, nobody can be told.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Waits for its end. From the moment at which its process id may be used again, nothing is forwarded to it.
#[cfg(unix)]
fn wait(child: &mut Child, signals: &Signals) -> io::Result<ExitStatus> {
    use rustix::io::retry_on_intr;
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let id = WaitId::Pid(Pid::from_child(child));
    let waited = retry_on_intr(|| waitid(id.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
    signals.forward_no_more();
    waited?;
    child.wait()
}

#[cfg(not(unix))]
fn wait(child: &mut Child, _: &Signals) -> io::Result<ExitStatus> {
    child.wait()
}

#[cfg(unix)]
fn ended(status: ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Code(u8::try_from(code).unwrap_or(u8::MAX)),
        (None, Some(number)) => Ended::Signal(number),
        (None, None) => Ended::Code(u8::MAX),
    }
}

#[cfg(not(unix))]
fn ended(status: ExitStatus) -> Ended {
    Ended::Code(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}

/// Has the command killed when this process is gone, however it went: the next writer takes the lease then, and two
/// would write. It is SIGKILL, since any other could be ignored. It is bound to the thread that spawns, which is the
/// main one, and lasts as long as the process.
#[cfg(target_os = "linux")]
fn dies_with_us(command: &mut Command) {
    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt;
    let parent = getpid();
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // It may have gone before that was set.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
    };
    // SAFETY: what runs between fork and exec makes two system calls, and neither allocates nor takes a lock.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(prepare);
    }
}

#[cfg(not(target_os = "linux"))]
fn dies_with_us(_: &mut Command) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use rustix::process::{Pid, test_kill_process};

    #[test]
    fn a_command_that_is_not_waited_for_is_killed() {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(test_kill_process(pid).is_ok());
        drop(Running { child, waited_for: false });
        assert_eq!(test_kill_process(pid), Err(rustix::io::Errno::SRCH));
    }
}
