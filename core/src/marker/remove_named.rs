//! An operator's removal of one marker by name, whatever its state: it must be told what the marker says.

use super::answer::{NamedRemoval, Step};
use super::effect::{Effect, FileCode, FileError, Outcome};
use super::failure::{Code, Failure, Fault};
use super::limits::RECORD_BYTES_MAX;
use super::record::{OwnerRecord, nonce_number};
use super::scan::{MARKER, path_of};
use alloc::string::String;

/// The machine that removes one named marker for an operator, who knows better than any rule that its writer is gone.
#[derive(Clone, Debug, Hash)]
pub struct RemoveNamed {
    at: At,
    /// The name of the effect that is awaited.
    step: &'static str,
    nonce: String,
    expected: Option<(String, u32)>,
    markers: String,
    found: Option<OwnerRecord>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Begin,
    Root,
    Read,
    Remove,
    Over,
}

impl RemoveNamed {
    /// A removal of `<nonce>.json`. `expected` repeats its host and pid; `None` says that it is not recognized. A
    /// marker that says anything else is kept.
    pub fn new(nonce: &str, expected: Option<(&str, u32)>) -> Self {
        let expected = expected.map(|(host, pid)| (host.into(), pid));
        Self { at: At::Begin, step: "remove", nonce: nonce.into(), expected, markers: String::new(), found: None }
    }

    /// What is next, after the outcome of the last effect; `None` begins.
    pub fn next(&mut self, outcome: Option<Outcome>) -> Step<Result<NamedRemoval, Failure>> {
        let answer = match (self.at, &outcome) {
            (At::Begin, None) if nonce_number(&self.nonce).is_none() => {
                self.step = "nonce";
                Err(Failure::new(Code::InvalidNonce, &self.nonce))
            }
            (At::Begin, None) => return self.go(At::Root, Effect::ResolveRoot),
            (At::Root, Some(Outcome::Root { markers, .. })) => {
                self.markers.clone_from(markers);
                let read = Effect::Read { name: self.name(), limit: RECORD_BYTES_MAX, clean_up: false };
                return self.go(At::Read, read);
            }
            (At::Read | At::Remove, Some(Outcome::Absent)) => Ok(NamedRemoval::Absent),
            (At::Read, Some(outcome)) => match self.judge(outcome) {
                Ok(true) => return self.go(At::Remove, Effect::Remove { name: self.name(), clean_up: false }),
                Ok(false) => Ok(NamedRemoval::Different(self.found.take())),
                Err(fault) => Err(fault),
            },
            (At::Remove, Some(Outcome::Done)) => Ok(NamedRemoval::Removed(self.found.take())),
            (_, outcome) => Err(Failure::of(outcome.as_ref())),
        };
        self.at = At::Over;
        // Before the root is known, the marker has no path.
        let path = if self.markers.is_empty() { String::new() } else { path_of(&self.markers, &self.name()) };
        Step::Done(answer.map_err(|fault| fault.at(self.step, &path)))
    }

    /// Does the marker say what was repeated?
    fn judge(&mut self, outcome: &Outcome) -> Result<bool, Fault> {
        self.found = match outcome {
            Outcome::Content { bytes, .. } => {
                OwnerRecord::parse(bytes).ok().filter(|record| record.nonce() == self.nonce)
            }
            Outcome::NotOrdinary
            | Outcome::TooLarge
            | Outcome::Failed(FileError { code: FileCode::PermissionDenied, .. }) => None,
            outcome => return Err(Failure::of(Some(outcome))),
        };
        Ok(match (&self.found, &self.expected) {
            (Some(found), Some((host, pid))) => found.host() == host && found.pid() == *pid,
            (found, expected) => found.is_none() && expected.is_none(),
        })
    }

    fn go(&mut self, at: At, effect: Effect) -> Step<Result<NamedRemoval, Failure>> {
        self.at = at;
        self.step = effect.name();
        Step::Effect(effect)
    }

    fn name(&self) -> String {
        [&*self.nonce, MARKER].concat()
    }
}
