//! Acquisition: publish a marker, and have the lease if no other is there.
//!
//! Two writers that publish and then list cannot both miss each other: whoever lists last sees the other's marker. So
//! two may refuse each other, and never two are granted.

use super::answer::{Acquisition, Left, Owned, Step};
use super::clean::{Clean, Seen};
use super::effect::{Effect, FileCode, FileError, Outcome};
use super::entry::Entry;
use super::failure::{Code, Failure, Fault};
use super::layout::Layout;
use super::limits::{RECORD_BYTES_MAX, REMAKES_MAX};
use super::record::{OwnerRecord, nonce_number};
use super::scan::{MARKER, Purpose, path_of};
use alloc::string::String;
use alloc::vec::Vec;

/// The machine that acquires a lease, or says who is in the way. It neither waits nor tries again.
#[derive(Clone, Debug, Hash)]
pub struct Acquire {
    at: At,
    /// The name of the effect that is awaited.
    step: &'static str,
    entry: Entry,
    /// What is published, as soon as publishing has begun.
    record: Option<OwnerRecord>,
    remakes: u32,
    /// The own marker has just been read, and is what was published.
    known: bool,
    /// The removal of what was published, and what is answered after it.
    clean: Option<(Clean, Answer)>,
}

type Answer = Result<Acquisition, Failure>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Entry,
    Nonce,
    Publish,
    Scan,
    Legacy,
    Own,
    Signal,
    Over,
}

/// What a step leads to.
enum Next {
    Effect(Effect),
    Refused(Acquisition),
    Acquired(Owned),
}

impl Acquire {
    /// An acquisition. `left`: what earlier operations of the same store could not remove; of it, what is in the same
    /// marker directory is tried first.
    pub fn new(layout: &Layout, left: Vec<Left>) -> Self {
        Self {
            at: At::Entry,
            step: "acquire",
            entry: Entry::new(Purpose::Clear, layout.legacy().to_vec(), left),
            record: None,
            remakes: 0,
            known: false,
            clean: None,
        }
    }

    /// What is next, after the outcome of the last effect; `None` begins.
    ///
    /// An outcome that does not fit the effect ends the operation with [`Code::UnexpectedOutcome`].
    pub fn next(&mut self, outcome: Option<Outcome>) -> Step<Answer> {
        let outcome = outcome.as_ref();
        if let Some((clean, _)) = &mut self.clean {
            return match clean.next(outcome) {
                Some(effect) => Step::Effect(effect),
                None => self.cleaned(),
            };
        }
        let answer = match self.advance(outcome) {
            Ok(Next::Effect(effect)) => {
                self.step = effect.name();
                return Step::Effect(effect);
            }
            Ok(Next::Acquired(owned)) => {
                self.at = At::Over;
                return Step::Done(Ok(Acquisition::Acquired(owned)));
            }
            Ok(Next::Refused(refused)) => Ok(refused),
            Err(fault) => Err(fault.at(self.step, &self.own_path())),
        };
        self.at = At::Over;
        let Some(record) = self.record.take() else { return Step::Done(answer) };
        // A publication that failed has perhaps been one.
        let left = Left { markers: self.entry.place.markers.clone(), record };
        let (clean, effect) = Clean::begin(left, self.known, true);
        self.clean = Some((clean, answer));
        Step::Effect(effect)
    }

    /// The own markers that still have to be removed, when the operation is over: the store [keeps](Left::keep) them.
    pub fn take_left(&mut self) -> Vec<Left> {
        self.entry.take_left()
    }

    fn advance(&mut self, outcome: Option<&Outcome>) -> Result<Next, Fault> {
        let effect = match (self.at, outcome) {
            (At::Entry, outcome) => match self.entry.next(outcome)? {
                Some(effect) => effect,
                None => {
                    // Nothing was published yet, and who waits for a lease should not be in the way of others.
                    if let Some(refused) = self.legacy_found().or_else(|| self.busy()) {
                        return Ok(Next::Refused(refused));
                    }
                    self.at = At::Nonce;
                    Effect::Nonce
                }
            },
            (At::Nonce, Some(Outcome::Nonce(nonce))) => {
                let identity = &self.entry.place.identity;
                let record = OwnerRecord::new(identity.pid, &identity.host, nonce)
                    .map_err(|_| Failure::new(Code::InvalidNonce, nonce))?;
                let publish = publish(&record);
                if matches!(&publish, Effect::Publish { content, .. } if content.len() > RECORD_BYTES_MAX) {
                    return Err(Failure::new(Code::InvalidIdentity, "the host name is too long"));
                }
                self.record = Some(record);
                self.at = At::Publish;
                publish
            }
            (At::Publish, Some(Outcome::Done)) => {
                self.at = At::Scan;
                self.entry.scan.begin(nonce_number(self.own_nonce()))
            }
            // Others that fail remove the empty directory. Each of them has come to an end, so this does not go on for
            // ever; but it may go on for long.
            (At::Publish, Some(Outcome::Failed(FileError { code: FileCode::DirectoryVanished, .. })))
                if self.remakes < REMAKES_MAX =>
            {
                self.remakes += 1;
                publish(self.record()?)
            }
            (At::Scan, Some(outcome)) => match self.entry.scan.next(&self.entry.place, outcome)? {
                Some(effect) => effect,
                None if !self.entry.scan.own_seen => return Err(Failure::new(Code::OwnMarkerGone, "")),
                // The second look: who still uses a legacy marker may have made it without seeing ours.
                None => {
                    self.at = At::Legacy;
                    self.entry.legacy.begin().unwrap_or_else(|| self.read())
                }
            },
            (At::Legacy, Some(outcome)) => match self.entry.legacy.next(outcome)? {
                Some(effect) => effect,
                None => match self.legacy_found() {
                    Some(refused) => return Ok(Next::Refused(refused)),
                    None => self.read(),
                },
            },
            (At::Own, Some(outcome)) => {
                match Seen::of(outcome, self.record()?) {
                    Seen::Own => self.known = true,
                    Seen::Gone => return Err(Failure::new(Code::OwnMarkerGone, "")),
                    Seen::Changed => return Err(Failure::new(Code::OwnMarkerChanged, "")),
                    Seen::Unread => return Err(Failure::of(Some(outcome))),
                }
                if let Some(refused) = self.busy() {
                    return Ok(Next::Refused(refused));
                }
                self.at = At::Signal;
                Effect::Signal
            }
            (At::Signal, Some(Outcome::Done)) => {
                let markers = self.entry.place.markers.clone();
                let record = self.record.take().ok_or_else(|| Failure::of(None))?;
                return Ok(Next::Acquired(Owned { markers, record }));
            }
            (_, outcome) => return Err(Failure::of(outcome)),
        };
        Ok(Next::Effect(effect))
    }

    /// Reads the own marker again, the last before the lease is confirmed.
    fn read(&mut self) -> Effect {
        self.at = At::Own;
        Effect::Read { name: [self.own_nonce(), MARKER].concat(), limit: RECORD_BYTES_MAX, clean_up: false }
    }

    /// What was published is removed, or is known to be left.
    fn cleaned(&mut self) -> Step<Answer> {
        let Some((clean, answer)) = self.clean.take() else {
            return Step::Done(Err(Failure::of(None).at(self.step, "")));
        };
        let Some(fault) = clean.failed else { return Step::Done(answer) };
        let failure = fault.at("", &clean.left.path());
        self.entry.keep_left(clean.left);
        // What first went wrong is told, with what is left; where nothing had, that the marker could not be removed.
        Step::Done(Err(match answer {
            Ok(_) => failure,
            Err(first) => Failure { left: failure.left, ..first },
        }))
    }

    fn legacy_found(&mut self) -> Option<Acquisition> {
        self.entry.legacy.found.take().map(|(legacy, path)| Acquisition::Legacy { legacy, path })
    }

    /// Whatever is kept is in the way, also a stale marker that could not be removed.
    fn busy(&mut self) -> Option<Acquisition> {
        let owners = core::mem::take(&mut self.entry.scan.kept);
        (!owners.is_empty()).then_some(Acquisition::Busy { owners })
    }

    fn record(&self) -> Result<&OwnerRecord, Fault> {
        self.record.as_ref().ok_or_else(|| Failure::of(None))
    }

    fn own_nonce(&self) -> &str {
        self.record.as_ref().map_or("", OwnerRecord::nonce)
    }

    /// The path of the own marker, or before there is one, that of the marker directory.
    fn own_path(&self) -> String {
        let markers = &self.entry.place.markers;
        match &self.record {
            Some(record) => path_of(markers, record.nonce()) + MARKER,
            None => markers.clone(),
        }
    }
}

fn publish(record: &OwnerRecord) -> Effect {
    Effect::Publish { nonce: record.nonce().into(), content: record.line() }
}
