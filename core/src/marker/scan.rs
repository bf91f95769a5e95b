//! One pass over the marker directory: list, read, probe, and where it is asked for, remove what is stale.
//!
//! Acquisition, inspection and recovery share it. It decides whose a marker is, and which may be removed.

use super::answer::{MarkerRecord, MarkerState, Untidied};
use super::effect::{Effect, FileCode, FileError, Identity, Outcome};
use super::failure::{Code, Failure, Fault};
use super::limits::{INCOMPLETE_AGE_MS_MIN, NAMES_MAX, RECORD_BYTES_MAX};
use super::record::{OwnerRecord, Unrecognized, nonce_number, nonce_text};
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::take;

/// The ending of a marker.
pub(super) const MARKER: &str = ".json";
/// The ending of a marker that is being written.
pub(super) const INCOMPLETE: &str = ".tmp";

/// What a pass is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// To tell; nothing is written.
    Look,
    /// To remove stale markers.
    Clear,
    /// To remove stale markers, and what writers that died left of markers they had not made yet.
    Tidy,
}

/// Where a pass is made, and by whom.
#[derive(Clone, Debug, Hash)]
pub(super) struct Place {
    /// The path of the marker directory.
    pub(super) markers: String,
    pub(super) identity: Identity,
}

/// A pass.
#[derive(Clone, Debug, Hash)]
pub(super) struct Scan {
    purpose: Purpose,
    /// The nonce of the marker that is one's own: it is noticed, and not judged.
    own: Option<u128>,
    at: At,
    /// What is still to be looked at, the last first.
    nonces: Vec<u128>,
    /// The same of `.tmp` files. While they are looked at, `nonces` holds them.
    incomplete: Vec<u128>,
    tidying: bool,
    /// The file that is looked at: its name, what it says, and since when.
    nonce: u128,
    owner: Option<OwnerRecord>,
    since_ms: Option<u64>,
    /// A name of one's own, to compare ages with.
    beside: String,
    pub(super) own_seen: bool,
    pub(super) kept: Vec<MarkerRecord>,
    pub(super) removed: Vec<MarkerRecord>,
    pub(super) tidied: Vec<String>,
    pub(super) untidied: Vec<Untidied>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Begin,
    List,
    Read,
    Probe,
    ReadAgain,
    ProbeAgain,
    Nonce,
    Age,
    Remove,
    Over,
}

impl Scan {
    pub(super) fn new(purpose: Purpose) -> Self {
        Self {
            purpose,
            own: None,
            at: At::Begin,
            nonces: Vec::new(),
            incomplete: Vec::new(),
            tidying: false,
            nonce: 0,
            owner: None,
            since_ms: None,
            beside: String::new(),
            own_seen: false,
            kept: Vec::new(),
            removed: Vec::new(),
            tidied: Vec::new(),
            untidied: Vec::new(),
        }
    }

    /// Begins a pass, with its first effect.
    pub(super) fn begin(&mut self, own: Option<u128>) -> Effect {
        self.own = own;
        self.tidying = false;
        self.at = At::List;
        Effect::List
    }

    /// The next effect; `None` at the end of the pass.
    pub(super) fn next(&mut self, place: &Place, outcome: &Outcome) -> Result<Option<Effect>, Fault> {
        Ok(match (self.at, outcome) {
            (At::List, Outcome::Names(names)) => {
                if names.len() > NAMES_MAX {
                    return Err(Failure::new(Code::TooManyNames, ""));
                }
                self.nonces = self.nonces_of(names, MARKER);
                if self.purpose == Purpose::Tidy {
                    self.incomplete = self.nonces_of(names, INCOMPLETE);
                }
                self.following()
            }
            // What vanished between two looks is gone: it was released, or somebody else recovered it.
            (At::List | At::Read | At::ReadAgain | At::Age | At::Remove, Outcome::Absent) => self.following(),
            (At::Read, outcome) => return self.read(place, outcome),
            (At::Probe | At::ProbeAgain, Outcome::Alive) => self.keep(place, MarkerState::Active, ""),
            (At::Probe, Outcome::Dead) if self.purpose == Purpose::Look => self.keep(place, MarkerState::Stale, ""),
            (At::Probe, Outcome::Dead) => self.reading(At::ReadAgain),
            (At::ReadAgain, Outcome::Content { bytes, .. }) if self.parse(bytes).ok() == self.owner => {
                self.probing(At::ProbeAgain)
            }
            // Nobody writes to a marker that is published. Whatever this is, it is not the one that was probed.
            (At::ReadAgain, Outcome::Content { .. } | Outcome::NotOrdinary | Outcome::TooLarge) => {
                self.owner = None;
                self.keep(place, MarkerState::Unrecognized, "it changed while it was looked at")
            }
            // As at the first look.
            (At::ReadAgain, Outcome::Failed(FileError { code: FileCode::PermissionDenied, .. })) => {
                self.owner = None;
                self.unreadable(place)
            }
            (At::ProbeAgain, Outcome::Dead) => self.removing(),
            (At::Nonce, Outcome::Nonce(nonce)) => {
                if nonce_number(nonce).is_none() {
                    return Err(Failure::new(Code::InvalidNonce, nonce));
                }
                self.beside = [nonce, INCOMPLETE].concat();
                self.aging()
            }
            (At::Age, Outcome::Age(age_ms)) if *age_ms >= INCOMPLETE_AGE_MS_MIN => self.removing(),
            // A writer may still be at it.
            (At::Age, Outcome::Age(_)) => self.following(),
            (At::Age, Outcome::Failed(error)) => self.untidied("its age could not be told", error),
            (At::Remove, Outcome::Done) => {
                if self.tidying {
                    self.tidied.push(self.name());
                } else {
                    let record = self.record(place, MarkerState::Stale, "");
                    self.removed.push(record);
                }
                self.following()
            }
            (At::Remove, Outcome::Failed(error)) if self.tidying => self.untidied("it could not be removed", error),
            // It stays in the way, which is an answer and no failure.
            (At::Remove, Outcome::Failed(FileError { code, .. })) => {
                self.keep(place, MarkerState::Stale, &["it could not be removed: ", code.name()].concat())
            }
            (_, outcome) => return Err(Failure::of(Some(outcome))),
        })
    }

    /// Judges what a first reading brought.
    fn read(&mut self, place: &Place, outcome: &Outcome) -> Result<Option<Effect>, Fault> {
        let found = match outcome {
            Outcome::Content { bytes, since_ms } => {
                self.since_ms = *since_ms;
                self.parse(bytes)
            }
            Outcome::NotOrdinary => Err(Unrecognized::NotOrdinary),
            Outcome::TooLarge => Err(Unrecognized::TooLarge),
            // Somebody's marker that we may not open says nothing, and stands in the way. Every other failure is one of
            // this host, and says nothing about the marker.
            Outcome::Failed(FileError { code: FileCode::PermissionDenied, .. }) => Err(Unrecognized::PermissionDenied),
            outcome => return Err(Failure::of(Some(outcome))),
        };
        Ok(match found {
            Ok(owner) => {
                let local = is_local(&owner, &place.identity);
                self.owner = Some(owner);
                if local { self.probing(At::Probe) } else { self.keep(place, MarkerState::Foreign, "") }
            }
            Err(Unrecognized::PermissionDenied) => self.unreadable(place),
            Err(why) if !self.tidying => self.keep(place, MarkerState::Unrecognized, why.text()),
            // No writer makes these.
            Err(Unrecognized::NotOrdinary | Unrecognized::TooLarge) => self.following(),
            // A writer may have died while it wrote this, or be at it.
            Err(_) if self.beside.is_empty() => {
                self.at = At::Nonce;
                Some(Effect::Nonce)
            }
            Err(_) => self.aging(),
        })
    }

    /// Goes on to the next file.
    fn following(&mut self) -> Option<Effect> {
        if self.nonces.is_empty() && !self.tidying {
            self.tidying = true;
            self.nonces = take(&mut self.incomplete);
        }
        let Some(nonce) = self.nonces.pop() else {
            self.at = At::Over;
            return None;
        };
        self.nonce = nonce;
        self.owner = None;
        self.since_ms = None;
        self.reading(At::Read)
    }

    fn keep(&mut self, place: &Place, state: MarkerState, detail: &str) -> Option<Effect> {
        if !self.tidying {
            let record = self.record(place, state, detail);
            self.kept.push(record);
        }
        self.following()
    }

    /// What we may not read is kept: a marker is in the way, a `.tmp` stays.
    fn unreadable(&mut self, place: &Place) -> Option<Effect> {
        let why = Unrecognized::PermissionDenied.text();
        if !self.tidying {
            return self.keep(place, MarkerState::Unrecognized, why);
        }
        self.untidied.push(Untidied { name: self.name(), detail: why.into() });
        self.following()
    }

    /// A `.tmp` stays because something failed. What the host said may name what it left.
    fn untidied(&mut self, what: &str, error: &FileError) -> Option<Effect> {
        let said = if error.detail.is_empty() { error.code.name() } else { &error.detail };
        self.untidied.push(Untidied { name: self.name(), detail: [what, ": ", said].concat() });
        self.following()
    }

    fn record(&mut self, place: &Place, state: MarkerState, detail: &str) -> MarkerRecord {
        let name = self.name();
        let path = path_of(&place.markers, &name);
        let detail = (!detail.is_empty()).then(|| detail.into());
        MarkerRecord { name, path, state, owner: self.owner.take(), since_ms: self.since_ms, detail }
    }

    fn reading(&mut self, at: At) -> Option<Effect> {
        self.at = at;
        Some(Effect::Read { name: self.name(), limit: RECORD_BYTES_MAX, clean_up: false })
    }

    fn probing(&mut self, at: At) -> Option<Effect> {
        self.at = at;
        self.owner.as_ref().map(|owner| Effect::Probe { pid: owner.pid() })
    }

    fn aging(&mut self) -> Option<Effect> {
        self.at = At::Age;
        Some(Effect::Age { name: self.name(), beside: self.beside.clone() })
    }

    fn removing(&mut self) -> Option<Effect> {
        self.at = At::Remove;
        Some(Effect::Remove { name: self.name(), clean_up: false })
    }

    /// The name of the file that is looked at.
    fn name(&self) -> String {
        [&*nonce_text(self.nonce), if self.tidying { INCOMPLETE } else { MARKER }].concat()
    }

    /// What the file that is looked at says, if it says it under the right name.
    fn parse(&self, bytes: &[u8]) -> Result<OwnerRecord, Unrecognized> {
        let owner = OwnerRecord::parse(bytes)?;
        if nonce_number(owner.nonce()) == Some(self.nonce) { Ok(owner) } else { Err(Unrecognized::Nonce) }
    }

    /// The nonces that name files of this ending, the last first, without the own one.
    fn nonces_of(&mut self, names: &[String], ending: &str) -> Vec<u128> {
        let mut nonces = Vec::new();
        for name in names {
            let Some(nonce) = name.strip_suffix(ending).and_then(nonce_number) else { continue };
            if Some(nonce) == self.own {
                self.own_seen = true;
            } else {
                nonces.push(nonce);
            }
        }
        sort(&mut nonces);
        // A listing may tell a name twice.
        nonces.dedup();
        nonces
    }
}

/// Sorts numbers, the largest first: by insertion at shrinking distances. It is a tenth of the code of the sort in the
/// standard library, and fast enough beside the reading of as many files.
fn sort(numbers: &mut [u128]) {
    let mut gap = numbers.len();
    while gap > 1 {
        gap = (gap * 4 / 9).max(1);
        for end in gap..numbers.len() {
            let mut place = end;
            while place >= gap && numbers[place - gap] < numbers[place] {
                numbers.swap(place - gap, place);
                place -= gap;
            }
        }
    }
}

/// Can this process probe the owner of that record?
fn is_local(owner: &OwnerRecord, identity: &Identity) -> bool {
    // A namespace that cannot be read may be any.
    owner.host() == identity.host && !owner.host().ends_with(";pidns=?")
}

/// The path of a name in a directory, as it is shown.
pub(super) fn path_of(directory: &str, name: &str) -> String {
    [directory, "/", name].concat()
}

#[cfg(test)]
mod tests {
    use super::sort;
    use alloc::vec::Vec;

    #[test]
    fn numbers_are_sorted_the_largest_first() {
        for count in [0, 1, 2, 3, 10, 100, 1_000, 4_097] {
            for order in [1, 2, 3, 1_000_003, u128::MAX / 3] {
                let mut numbers = (0..count).map(|n: u128| n.wrapping_mul(order) % 1_009).collect::<Vec<_>>();
                let mut expected = numbers.clone();
                expected.sort_by(|a, b| b.cmp(a));
                sort(&mut numbers);
                assert_eq!(numbers, expected);
            }
        }
    }
}
