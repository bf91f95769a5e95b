//! The command that runs under a lease.

use super::signals::Signals;
use crate::exit::Exit;
use std::ffi::OsString;
use std::io;
use std::process::{Child, Command, ExitCode, ExitStatus};

/// How it ended.
pub enum Ended {
    /// With this code.
    Code(u8),
    /// By this signal.
    Signal(i32),
    /// It did not begin, for this reason.
    NotRun(Exit, String),
}

/// What shells add to the number of a signal.
const SIGNAL_BASE: i32 = 128;

/// The exit code that stands for the end by a signal.
pub fn code_of_signal(number: i32) -> ExitCode {
    ExitCode::from(u8::try_from(SIGNAL_BASE + number).unwrap_or(u8::MAX))
}

/// Runs a command to its end. Signals reach it.
pub fn run(words: &[OsString], signals: &Signals) -> Ended {
    let (program, arguments) = words.split_first().expect("the arguments have at least one word");
    let mut command = Command::new(program);
    command.args(arguments);
    let not_run = |error: io::Error| {
        let exit = if error.kind() == io::ErrorKind::NotFound { Exit::NotFound } else { Exit::NotRun };
        Ended::NotRun(exit, format!("the command {} cannot be run: {error}", program.display()))
    };
    signals.restore_in(&mut command);
    dies_with_us(&mut command);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return not_run(error),
    };
    signals.forward_to(&child);
    match wait(&mut child, signals) {
        Ok(status) => ended(status),
        Err(error) => not_run(error),
    }
}

/// Waits for its end. From the moment at which its process id may be used again, nothing is forwarded to it.
#[cfg(unix)]
fn wait(child: &mut Child, signals: &Signals) -> io::Result<ExitStatus> {
    use rustix::io::retry_on_intr;
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let id = WaitId::Pid(Pid::from_child(child));
    retry_on_intr(|| waitid(id.clone(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT))?;
    signals.forward_no_more();
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
