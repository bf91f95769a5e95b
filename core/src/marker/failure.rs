//! Why an operation failed, with one ready sentence.

use super::effect::{FileCode, FileError, Outcome};
use super::scan::INCOMPLETE;
use crate::sentence::Quoted;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// Why an operation failed. Nothing is granted, and nothing of it is left but what `left` names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// Which kind of failure.
    pub code: Code,
    /// The step it happened at: the [name of an effect](super::Effect::name).
    pub step: &'static str,
    /// The path it happened at, as it is shown; empty where none has to do with it.
    pub path: String,
    /// What the system said, or what was found; empty where `code` says it all.
    pub cause: String,
    /// The path of the marker of one's own that could not be removed. It is in the way of others until it is. Where it
    /// ends in `.tmp`, it is in nobody's way, and a recovery removes it once this process is gone.
    pub left: Option<String>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// An effect could not be done.
    File(FileCode),
    /// The operation was cancelled.
    Cancelled,
    /// The own marker was gone before the lease was confirmed: somebody removed it, or the listing is not coherent.
    OwnMarkerGone,
    /// The own marker is not what was published. It is kept.
    OwnMarkerChanged,
    /// There are more names than an operation goes through: [`NAMES_MAX`](super::NAMES_MAX).
    TooManyNames,
    /// The host's identity cannot be put into a marker: its pid is not 1 to 2^31 - 1, or its name is empty, too long,
    /// or has control characters.
    InvalidIdentity,
    /// The host's nonce is not 32 lower-case hex digits.
    InvalidNonce,
    /// The lease was acquired by another process: a fork has not got it.
    OtherProcess,
    /// The host gave an outcome that does not fit the effect: a fault of the host.
    UnexpectedOutcome,
}

impl Code {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::File(code) => code.name(),
            Self::Cancelled => "cancelled",
            Self::OwnMarkerGone => "own-marker-gone",
            Self::OwnMarkerChanged => "own-marker-changed",
            Self::TooManyNames => "too-many-names",
            Self::InvalidIdentity => "invalid-identity",
            Self::InvalidNonce => "invalid-nonce",
            Self::OtherProcess => "other-process",
            Self::UnexpectedOutcome => "unexpected-outcome",
        }
    }

    /// What happened, for a person.
    fn text(self) -> &'static str {
        match self {
            Self::File(code) => code.text(),
            Self::Cancelled => "the operation was cancelled",
            Self::OwnMarkerGone => "the own marker was gone before the lease was confirmed",
            Self::OwnMarkerChanged => "the own marker is not what was published, and is kept",
            Self::TooManyNames => "the marker directory has more than 1000000 names",
            Self::InvalidIdentity => "the identity of this process cannot be put into a marker",
            Self::InvalidNonce => "a nonce is 32 lower-case hex digits",
            Self::OtherProcess => "the lease was acquired by another process",
            Self::UnexpectedOutcome => "the host gave an outcome that does not fit the step",
        }
    }
}

/// A failure on its way out of a machine: where it happened is filled in at the end.
pub(super) type Fault = Box<Failure>;

impl Failure {
    pub(super) fn new(code: Code, cause: &str) -> Fault {
        Box::new(Self { code, step: "", path: String::new(), cause: cause.into(), left: None })
    }

    /// What an outcome means that is not among the answers of the effect; `None`: there is none where one is due.
    pub(super) fn of(outcome: Option<&Outcome>) -> Fault {
        match outcome {
            Some(Outcome::Failed(FileError { code, path, detail })) => {
                let mut fault = Self::new(Code::File(*code), detail);
                fault.path.push_str(path);
                fault
            }
            Some(Outcome::Cancelled) => Self::new(Code::Cancelled, ""),
            _ => Self::new(Code::UnexpectedOutcome, ""),
        }
    }

    /// The same for an effect that may not be cancelled.
    pub(super) fn of_clean_up(outcome: Option<&Outcome>) -> Fault {
        Self::of(outcome.filter(|outcome| !matches!(outcome, Outcome::Cancelled)))
    }

    /// Fills in where it happened, where that is not known better.
    #[expect(clippy::boxed_local, reason = "what comes out of a machine is not boxed, and all of it ends here")]
    pub(super) fn at(mut self: Box<Self>, step: &'static str, path: &str) -> Self {
        if self.step.is_empty() {
            self.step = step;
        }
        if self.path.is_empty() {
            self.path.push_str(path);
        }
        *self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, cause) = (Quoted(&self.path), Quoted(&self.cause));
        f.write_str(self.code.text())?;
        if !self.path.is_empty() {
            write!(f, " at {path}")?;
        }
        write!(f, ", in the step {}", self.step)?;
        if !self.cause.is_empty() {
            write!(f, ": {cause}")?;
        }
        if let Some(left) = &self.left {
            write!(f, "; {} could not be removed, ", Quoted(left))?;
            f.write_str(if left.ends_with(INCOMPLETE) {
                "and is in nobody's way"
            } else {
                "and is in the way of others until it is"
            })?;
        }
        Ok(())
    }
}

impl core::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::super::limits::NAMES_MAX;
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_failure_says_what_where_and_what_is_left() {
        let mut fault = Failure::new(Code::File(FileCode::NoSpace), "No space left on device");
        fault.left = Some("/srv/\u{1b}[2J/b.json".into());
        assert_eq!(
            fault.at("publish", "/srv/a.json").to_string(),
            "no space is left at /srv/a.json, in the step publish: No space left on device; /srv/\\u{1b}[2J/b.json \
             could not be removed, and is in the way of others until it is"
        );
        let mut fault = Failure::new(Code::Cancelled, "");
        fault.left = Some("/srv/b.tmp".into());
        assert_eq!(
            fault.at("publish", "").to_string(),
            "the operation was cancelled, in the step publish; /srv/b.tmp could not be removed, and is in nobody's way"
        );
        let failure = Failure::new(Code::Cancelled, "").at("signal", "");
        assert_eq!(failure.to_string(), "the operation was cancelled, in the step signal");
        let failure = Failure::new(Code::TooManyNames, "").at("list", "/srv");
        assert!(failure.to_string().contains(&NAMES_MAX.to_string()));
    }

    #[test]
    fn each_kind_of_failure_has_a_name_of_its_own() {
        let mut names = FileCode::ALL.map(FileCode::name).to_vec();
        names
            .extend([Code::Cancelled, Code::OwnMarkerGone, Code::OwnMarkerChanged, Code::TooManyNames].map(Code::name));
        names.extend([Code::InvalidIdentity, Code::InvalidNonce, Code::OtherProcess].map(Code::name));
        names.push(Code::UnexpectedOutcome.name());
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), count), (count, 21));
    }
}
