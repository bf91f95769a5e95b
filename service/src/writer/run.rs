//! `leasebook run`: a command runs while the writer lease of a directory is held.
//!
//! The command's standard streams are its own, and its exit code passes through. What this has to say goes to standard
//! error, and is said when the lease is released.

use super::command::{self, Ended};
use super::signals::Signals;
use super::wait::{self, Got};
use super::{Place, failed, said};
use crate::exit::Exit;
use anyhow::Context;
use leasebook_files::WriterLease;
use leasebook_files::marker::{Failure, Released};
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
  leasebook run /srv/archive -- rsync -a new/ /srv/archive/
  leasebook run --wait 60 . -- make publish

The lease is a marker in DEST that says who writes: `leasebook inspect DEST` shows it. One that a killed writer
left is recovered by the next. The exit code is that of CMD, or 128 and the number of the signal that ended it.
INT, TERM, HUP, QUIT, USR1 and USR2 are passed on to CMD; what is typed reaches it anyway. On Linux CMD
itself is killed when this command is; what it had begun goes on, without a lease (elsewhere CMD does, too). What
CMD leaves in the background is not waited for.

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
    let destination = &arguments.place.destination;
    let lease = match wait::acquire(&store, destination, arguments.wait, &signals) {
        Ok(Got::Lease(lease)) => lease,
        Ok(Got::Busy(owners)) => {
            said::busy(&arguments.place, &owners, &arguments.command)?;
            return Ok(Exit::Busy.into());
        }
        Ok(Got::Legacy(path)) => {
            said::legacy(&arguments.place, &path)?;
            return Ok(Exit::Busy.into());
        }
        Ok(Got::Signal(number)) => return Ok(command::code_of_signal(number)),
        Err(failure) => return Ok(failed(&failure).into()),
    };
    let ended = match signals.came() {
        // It came too late to end the attempt, and early enough.
        Some(number) => Ended::Signal(number),
        None => command::run(&arguments.command, &signals),
    };
    let released = release(&lease);
    Ok(conclude(ended, released, lease.path()))
}

/// Releases, and tries once more where that failed.
fn release(lease: &WriterLease) -> Result<Released, Failure> {
    lease.release().or_else(|_| lease.release())
}

/// Says what there is to say. A command that failed tells more by its exit code than its lease could.
fn conclude(ended: Ended, released: Result<Released, Failure>, marker: &str) -> ExitCode {
    let (code, good) = match ended {
        Ended::Code(code) => (ExitCode::from(code), code == 0),
        Ended::Signal(number) => (command::code_of_signal(number), false),
        Ended::NotRun(exit, why) => {
            eprintln!("error: {why}");
            (exit.into(), false)
        }
    };
    let exit = match released {
        Ok(Released::Released) => return code,
        Ok(Released::Lost) => {
            eprintln!("error: the lease was lost while the command ran: {marker} was gone, and others could write");
            Exit::Marker
        }
        Err(failure) => failed(&failure),
    };
    if good { exit.into() } else { code }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_seconds_within_bounds() {
        assert_eq!(seconds("0"), Ok(Duration::ZERO));
        assert_eq!(seconds("1.5"), Ok(Duration::from_millis(1_500)));
        assert_eq!(seconds("2592000"), Ok(Duration::from_secs(2_592_000)));
        for bad in ["", "-1", "NaN", "inf", "2592001", "1e300", "5s"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
