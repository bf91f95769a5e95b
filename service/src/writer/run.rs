//! `leasebook run`: a command runs while the writer lease of a directory is held.
//!
//! The command's standard streams are its own, and its exit code passes through. What this has to say goes to standard
//! error, and is said when the lease is released.

use super::command::{self as running, Ended};
use super::signals::Signals;
use super::wait::{self, Got};
use super::words::shown;
use super::{Place, failed, said};
use crate::exit::Exit;
use crate::stderr;
use anyhow::Context;
use leasebook_files::WriterLease;
use leasebook_files::marker::{Code, Failure, Released};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

/// The longest that can be waited for, in seconds: thirty days.
const WAIT_SECONDS_MAX: f64 = 30.0 * 24.0 * 60.0 * 60.0;

/// The arguments of `leasebook run`.
#[derive(clap::Args, Debug)]
#[command(after_help = help())]
pub struct Arguments {
    #[command(flatten)]
    place: Place,
    /// Try again for so many seconds while others are in the way
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    wait: Option<Duration>,
    /// A file by which another program says that it writes, relative to DEST; it is respected and kept
    #[arg(long, value_name = "NAME")]
    legacy: Vec<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

fn help() -> String {
    format!(
        "Examples:
  leasebook run /srv/archive -- rsync -a --delete --exclude .leasebook-writers new/ /srv/archive/
  leasebook run --wait 60 . -- make publish

The lease is a marker in DEST that says who writes: `leasebook inspect DEST` shows
it. CMD must leave the marker directory alone. Where several accounts write, make
it beforehand for a group of theirs: `mkdir -m 2775`. A marker that a killed writer
left is removed by the next.

The exit code is that of CMD, or 128 and the number of the signal that ended it:
CMD's own code may equal any of those below.

INT, TERM, HUP, QUIT, USR1 and USR2 are passed on to CMD; what is typed reaches it
anyway. On Linux CMD itself is killed when this command is, unless it has changed
its account, as sudo does; what it had begun goes on, without a lease (elsewhere
CMD does, too). What CMD leaves in the background is not waited for.

{}",
        Exit::help()
    )
}

fn seconds(given: &str) -> Result<Duration, String> {
    let number = given.parse::<f64>().ok().filter(|number| (0.0..=WAIT_SECONDS_MAX).contains(number));
    number.map(Duration::from_secs_f64).ok_or_else(|| format!("expected seconds from 0 to {WAIT_SECONDS_MAX}"))
}

/// Holds the lease while the command runs.
pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let store = match arguments.place.store(&arguments.legacy) {
        Ok(store) => store,
        Err(exit) => return Ok(exit.into()),
    };
    let signals = Signals::take_over().context("listening for signals")?;
    let Arguments { place, wait, legacy, command } = arguments;
    let again = || said::again(place, *wait, legacy, command);
    let lease = match wait::acquire(&store, &place.destination, *wait, &signals) {
        Ok(Got::Lease(lease)) => lease,
        Ok(Got::Busy(owners)) => {
            said::busy(place, again(), &owners);
            return Ok(Exit::Busy.into());
        }
        Ok(Got::Legacy(path)) => {
            said::legacy(place, &again(), &path);
            return Ok(Exit::Busy.into());
        }
        Ok(Got::Signal(number)) => return Ok(running::code_of_signal(number).into()),
        Err(failure) => return Ok(failed(&failure).into()),
    };
    let ended = match signals.came() {
        // It came too late to end the attempt, and early enough.
        Some(number) => Ended::Signal(number),
        None => running::run(command, &signals),
    };
    let released = release(&lease);
    say(&ended, &released, lease.path());
    Ok(code(&ended, &released).into())
}

/// Releases, and tries once more where that failed.
fn release(lease: &WriterLease) -> Result<Released, Failure> {
    lease.release().or_else(|_| lease.release())
}

/// Says what there is to say.
fn say(ended: &Ended, released: &Result<Released, Failure>, marker: &str) {
    match ended {
        Ended::Code(_) | Ended::Signal(_) => {}
        Ended::NotRun(_, why) => stderr::say(format_args!("error: {why}")),
        Ended::Unknown(why) => {
            stderr::say(format_args!("error: the command was run, and how it ended is not known: {why}"));
        }
    }
    match released {
        Ok(Released::Released) => {}
        Ok(Released::Lost) => stderr::say(format_args!(
            "error: the lease was lost while the command ran: {} was gone, and others could write",
            shown(marker)
        )),
        Err(failure) if failure.code == Code::OwnMarkerChanged => stderr::say(format_args!(
            "error: the lease was lost while the command ran, and others could write: {failure}"
        )),
        Err(failure) => stderr::say(format_args!("error: the lease could not be released: {failure}")),
    }
}

/// The exit code. That of a command that failed tells more than its lease could.
fn code(ended: &Ended, released: &Result<Released, Failure>) -> u8 {
    let code = match ended {
        Ended::Code(code) => *code,
        Ended::Signal(number) => running::code_of_signal(*number),
        Ended::NotRun(exit, _) => *exit as u8,
        Ended::Unknown(_) => Exit::Io as u8,
    };
    let good = code == Exit::Success as u8;
    if good && !matches!(released, Ok(Released::Released)) { Exit::Marker as u8 } else { code }
}

#[cfg(test)]
mod tests {
    use super::super::exit_of;
    use super::*;
    use leasebook_files::marker::FileCode;
    use std::io;

    #[test]
    fn a_wait_is_seconds_within_bounds() {
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1_500)));
        assert_eq!(seconds("2592000"), Ok(Duration::from_secs(2_592_000)));
        for bad in ["", "-1", "NaN", "inf", "2592001", "1e300", "5s"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_exit_code_is_the_commands_unless_it_is_0_and_the_lease_was_not_well() {
        let released = |how: &str| match how {
            "released" => Ok(Released::Released),
            "lost" => Ok(Released::Lost),
            how => Err(Failure {
                code: if how == "changed" { Code::OwnMarkerChanged } else { Code::File(FileCode::PermissionDenied) },
                step: "remove",
                path: "/srv/a.json".to_owned(),
                cause: String::new(),
                left: None,
            }),
        };
        let unknown = || Ended::Unknown(io::Error::from(io::ErrorKind::NotFound));
        for (how, code_of_0) in [("released", 0), ("lost", 76), ("changed", 76), ("not permitted", 76)] {
            let code = |ended| code(&ended, &released(how));
            assert_eq!(code(Ended::Code(0)), code_of_0, "{how}");
            assert_eq!(code(Ended::Code(3)), 3, "{how}");
            assert_eq!(code(Ended::Signal(15)), 143, "{how}");
            assert_eq!(code(Ended::NotRun(Exit::NotFound, String::new())), 127, "{how}");
            assert_eq!(code(unknown()), 74, "{how}");
        }
    }

    #[test]
    fn what_fails_before_the_command_runs_is_not_76() {
        let failure = |code, step| Failure { code, step, path: String::new(), cause: String::new(), left: None };
        for (code, step, exit) in [
            (Code::OwnMarkerGone, "list", Exit::Io),
            (Code::OwnMarkerChanged, "read", Exit::Io),
            (Code::File(FileCode::PermissionDenied), "publish", Exit::NotPermitted),
            (Code::File(FileCode::NoSpace), "publish", Exit::CannotCreate),
            (Code::File(FileCode::NameTooLong), "resolve-root", Exit::NoInput),
            (Code::File(FileCode::InputOutput), "list", Exit::Io),
        ] {
            assert_eq!(exit_of(&failure(code, step)), exit, "{code:?} {step}");
        }
    }
}
