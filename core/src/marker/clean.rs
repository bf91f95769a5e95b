//! A marker of one's own: is it still the one that was published, and how it is removed after a failed attempt.

use super::answer::Left;
use super::effect::{Effect, Outcome};
use super::failure::{Failure, Fault};
use super::limits::RECORD_BYTES_MAX;
use super::record::OwnerRecord;
use super::scan::{INCOMPLETE, MARKER, path_of};
use alloc::string::String;

/// What reading the own marker brought.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum Seen {
    /// It says what was published.
    Own,
    /// It is not there.
    Gone,
    /// There is something else by its name.
    Changed,
    /// It could not be read.
    Unread,
}

impl Seen {
    /// The whole record is compared.
    pub(super) fn of(outcome: &Outcome, record: &OwnerRecord) -> Self {
        match outcome {
            Outcome::Content { bytes, .. } if record.is_said_by(bytes) => Self::Own,
            Outcome::Content { .. } | Outcome::NotOrdinary | Outcome::TooLarge => Self::Changed,
            Outcome::Absent => Self::Gone,
            _ => Self::Unread,
        }
    }
}

/// The removal of an own marker that is perhaps there. No step of it may be cancelled, and it goes on where one fails.
#[derive(Clone, Debug, Hash)]
pub(super) struct Clean {
    pub(super) left: Left,
    at: At,
    /// The marker directory may go with it.
    directory: bool,
    /// The first failure to remove something; it names what is left because of it.
    pub(super) failed: Option<Fault>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Read,
    Marker,
    Incomplete,
    Directory,
}

impl Clean {
    /// Begins. `known`: the marker has just been read, and is the own one.
    pub(super) fn begin(left: Left, known: bool, directory: bool) -> (Self, Effect) {
        let mut clean = Self { left, at: At::Read, directory, failed: None };
        let effect = if known {
            clean.remove(At::Marker)
        } else {
            Effect::Read { name: clean.name(), limit: RECORD_BYTES_MAX, clean_up: true }
        };
        (clean, effect)
    }

    /// The next effect; `None` at the end.
    pub(super) fn next(&mut self, outcome: Option<&Outcome>) -> Option<Effect> {
        let at = match self.at {
            At::Read => match outcome.map(|outcome| Seen::of(outcome, &self.left.record)) {
                // Whatever took its place is somebody's, and stays.
                Some(Seen::Gone | Seen::Changed) => At::Incomplete,
                // What cannot be read can still be removed, since nobody else knew its name: opening a file may fail
                // where removing one does not.
                _ => At::Marker,
            },
            At::Marker | At::Incomplete => {
                if !matches!(outcome, Some(Outcome::Done | Outcome::Absent)) && self.failed.is_none() {
                    let mut fault = Failure::of_clean_up(outcome);
                    fault.step = "remove";
                    fault.left = Some(path_of(&self.left.markers, &self.name()));
                    self.failed = Some(fault);
                }
                if self.at == At::Marker { At::Incomplete } else { At::Directory }
            }
            At::Directory => return None,
        };
        if at != At::Directory {
            return Some(self.remove(at));
        }
        self.at = at;
        // With a marker in it, it is not empty.
        (self.directory && self.failed.is_none()).then_some(Effect::RemoveDirectoryIfEmpty)
    }

    fn remove(&mut self, at: At) -> Effect {
        self.at = at;
        Effect::Remove { name: self.name(), clean_up: true }
    }

    /// The file that the current step is about.
    fn name(&self) -> String {
        [self.left.record.nonce(), if self.at == At::Incomplete { INCOMPLETE } else { MARKER }].concat()
    }
}
