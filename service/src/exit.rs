//! The exit codes of the `leasebook` command: the system's own words (`sysexits.h`) where they exist.

use std::process::ExitCode;

/// How a run ended. The numbers are a promise to scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything was done.
    Success = 0,
    /// The command line was not understood.
    Usage = 64,
    /// Some input line was not understood; the others were answered.
    BadLine = 65,
    /// The input that was named is not there, or is not usable.
    NoInput = 66,
    /// The service cannot be reached, or cannot answer.
    Unavailable = 69,
    /// The runtime failed; what it had answered until then stands.
    Runtime = 70,
    /// The marker cannot be created.
    CannotCreate = 73,
    /// Input or output failed.
    Io = 74,
    /// Another writer is in the way.
    Busy = 75,
    /// A lease did not last, or a marker is not what it should be.
    Marker = 76,
    /// The system does not allow it.
    NotPermitted = 77,
    /// The command to run was found, and could not be run.
    NotRun = 126,
    /// The command to run was not found.
    NotFound = 127,
}

impl Exit {
    /// All of them, with what `--help` says of each, in lines.
    pub const ALL: [(Self, &str); 13] = [
        (Self::Success, "everything was answered; a refusal is an answer"),
        (Self::Usage, "the command line was not understood"),
        (
            Self::BadLine,
            "at the end of the input: some line was bad, the others were answered
verify, ledger verify: the receipt or the ledger is not what a service has written",
        ),
        (
            Self::NoInput,
            "the folder or the marker that was named is missing, or is not usable; so is a file or a key of a service",
        ),
        (Self::Unavailable, "lease, release, wait, status: the service cannot be reached, or cannot answer now"),
        (Self::Runtime, "the runtime failed, and the book is gone"),
        (Self::CannotCreate, "run: the marker cannot be created: no space, a read-only file system, or the like"),
        (
            Self::Io,
            "reading or writing failed (a closed output ends quietly, with 0 or 65)
run: and CMD was not run, or it cannot be told how it ended
recover --apply: something stale could not be removed",
        ),
        (
            Self::Busy,
            "run: another writer is in the way, and nothing was run; try again later
lease: others hold it or come first
serve: another service uses the file",
        ),
        (
            Self::Marker,
            "run: CMD ended with 0, but its lease was lost or could not be released
recover --remove: the marker names another
release: the lease is over, or the resource is not held",
        ),
        (Self::NotPermitted, "run, inspect, recover: the system does not allow it; of a service: the key is not good"),
        (Self::NotRun, "run: CMD cannot be run"),
        (Self::NotFound, "run: CMD is not found"),
    ];

    /// The section of `--help`.
    pub fn help() -> String {
        let lines = Self::ALL.iter().map(|(exit, meaning)| {
            let meaning = meaning.replace('\n', "\n       ");
            format!("  {:>3}  {meaning}\n", *exit as u8)
        });
        format!("Exit codes:\n{}", lines.collect::<String>())
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
