//! How acquisition, inspection and recovery begin: the root, left-over markers of one's own, legacy markers, the
//! identity of this process, and a first pass over the markers.

use super::answer::Left;
use super::clean::Clean;
use super::effect::{Effect, Identity, Outcome};
use super::failure::{Code, Failure, Fault};
use super::record::OwnerRecord;
use super::scan::{Place, Purpose, Scan};
use alloc::string::String;
use alloc::vec::Vec;

/// The beginning of an operation.
#[derive(Clone, Debug, Hash)]
pub(super) struct Entry {
    at: At,
    purpose: Purpose,
    pub(super) place: Place,
    /// Own markers that earlier operations could not remove.
    left: Vec<Left>,
    clean: Option<Clean>,
    pub(super) legacy: Legacy,
    pub(super) scan: Scan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Begin,
    Root,
    Left,
    Legacy,
    Identity,
    Scan,
}

impl Entry {
    /// With `purpose` [`Purpose::Look`], nothing is written: what is left over stays.
    pub(super) fn new(purpose: Purpose, legacy: Vec<String>, left: Vec<Left>) -> Self {
        let identity = Identity { host: String::new(), pid: 0 };
        Self {
            at: At::Begin,
            purpose,
            place: Place { markers: String::new(), identity },
            left,
            clean: None,
            legacy: Legacy { names: legacy, at: 0, found: None },
            scan: Scan::new(purpose),
        }
    }

    /// The next effect; `None` at the end: at a legacy marker, or after the pass.
    pub(super) fn next(&mut self, outcome: Option<&Outcome>) -> Result<Option<Effect>, Fault> {
        match (self.at, outcome) {
            (At::Begin, None) => {
                self.at = At::Root;
                Ok(Some(Effect::ResolveRoot))
            }
            (At::Root, Some(Outcome::Root { markers, .. })) => {
                self.place.markers.clone_from(markers);
                self.at = At::Left;
                Ok(self.left_over())
            }
            (At::Left, outcome) => {
                if let Some(clean) = &mut self.clean {
                    let effect = clean.next(outcome);
                    if effect.is_some() {
                        return Ok(effect);
                    }
                    if let Some(fault) = clean.failed.take() {
                        let left = clean.left.clone();
                        self.keep_left(left);
                        return Err(fault);
                    }
                }
                Ok(self.left_over())
            }
            (At::Legacy, Some(outcome)) => {
                let effect = self.legacy.next(outcome)?;
                Ok(self.identify(effect))
            }
            (At::Identity, Some(Outcome::Identity(identity))) => {
                // Whatever a marker could not say is refused here, before there is one.
                if let Err(why) = OwnerRecord::new(identity.pid, &identity.host, NO_NONCE) {
                    return Err(Failure::new(Code::InvalidIdentity, why.text()));
                }
                self.place.identity.clone_from(identity);
                self.at = At::Scan;
                Ok(Some(self.scan.begin(None)))
            }
            (At::Scan, Some(outcome)) => self.scan.next(&self.place, outcome),
            (_, outcome) => Err(Failure::of(outcome)),
        }
    }

    /// Another own marker that could not be removed.
    pub(super) fn keep_left(&mut self, left: Left) {
        Left::keep(&mut self.left, [left]);
    }

    /// What still has to be removed.
    pub(super) fn take_left(&mut self) -> Vec<Left> {
        core::mem::take(&mut self.left)
    }

    /// Removes the next left-over marker of this directory; then goes on.
    fn left_over(&mut self) -> Option<Effect> {
        let here = |left: &Left| left.markers == self.place.markers;
        if self.purpose != Purpose::Look
            && let Some(place) = self.left.iter().position(here)
        {
            let (clean, effect) = Clean::begin(self.left.remove(place), false, false);
            self.clean = Some(clean);
            return Some(effect);
        }
        self.at = At::Legacy;
        let effect = self.legacy.begin();
        self.identify(effect)
    }

    /// After the legacy markers, of which none may be there.
    fn identify(&mut self, effect: Option<Effect>) -> Option<Effect> {
        if effect.is_some() || self.legacy.found.is_some() {
            return effect;
        }
        self.at = At::Identity;
        Some(Effect::Identity)
    }
}

/// Stands for the nonce where only the other fields are tried.
const NO_NONCE: &str = "00000000000000000000000000000000";

/// One look at every legacy marker.
#[derive(Clone, Debug, Hash)]
pub(super) struct Legacy {
    names: Vec<String>,
    /// Which of them is looked for.
    at: usize,
    /// The name and path of the first one there is.
    pub(super) found: Option<(String, String)>,
}

impl Legacy {
    /// Begins, or begins again, with its first effect; `None` where there are no names.
    pub(super) fn begin(&mut self) -> Option<Effect> {
        self.at = 0;
        self.effect()
    }

    /// The next effect; `None` at the end, or where one was found.
    pub(super) fn next(&mut self, outcome: &Outcome) -> Result<Option<Effect>, Fault> {
        match outcome {
            Outcome::Absent => {
                self.at += 1;
                Ok(self.effect())
            }
            Outcome::Present { path } => {
                self.found = self.names.get(self.at).map(|name| (name.clone(), path.clone()));
                Ok(None)
            }
            outcome => Err(Failure::of(Some(outcome))),
        }
    }

    fn effect(&self) -> Option<Effect> {
        self.names.get(self.at).map(|name| Effect::LegacyExists { name: name.clone() })
    }
}
