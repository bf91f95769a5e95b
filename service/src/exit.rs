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
    /// The runtime failed; what it had answered until then stands.
    Runtime = 70,
    /// Input or output failed.
    Io = 74,
}

impl Exit {
    /// All of them, with what `--help` says of each.
    pub const ALL: [(Self, &str); 6] = [
        (Self::Success, "everything was answered; a refusal is an answer"),
        (Self::Usage, "the command line was not understood"),
        (Self::BadLine, "at the end of the input: some line was bad, the others were answered"),
        (Self::NoInput, "the folder for the demo is missing, or has too little in it"),
        (Self::Runtime, "the runtime failed, and the book is gone"),
        (Self::Io, "reading or writing failed (a closed output ends quietly, with 0 or 65)"),
    ];

    /// The section of `--help`.
    pub fn help() -> String {
        let lines = Self::ALL.iter().map(|(exit, meaning)| format!("  {:>2}  {meaning}\n", *exit as u8));
        format!("Exit codes:\n{}", lines.collect::<String>())
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
