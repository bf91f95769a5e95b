//! Inspection and recovery: one pass over the markers, told as it was found.

use super::answer::{Inspection, Left, Recovery, Step};
use super::effect::Outcome;
use super::entry::Entry;
use super::failure::Failure;
use super::scan::Purpose;
use alloc::vec::Vec;
use core::mem::take;

/// The machine that tells every marker. It writes nothing.
#[derive(Clone, Debug, Hash)]
pub struct Inspect {
    recover: Recover,
}

impl Inspect {
    /// An inspection. No marker directory = no records.
    #[expect(clippy::new_without_default, reason = "a machine that has begun is no default of anything")]
    pub fn new() -> Self {
        Self { recover: Recover::new(false, Vec::new()) }
    }

    /// What is next, after the outcome of the last effect; `None` begins.
    pub fn next(&mut self, outcome: Option<Outcome>) -> Step<Result<Inspection, Failure>> {
        match self.recover.next(outcome) {
            Step::Effect(effect) => Step::Effect(effect),
            Step::Done(result) => Step::Done(result.map(|recovery| Inspection { records: recovery.kept })),
        }
    }
}

/// The machine that removes the markers of writers that are known to be dead.
#[derive(Clone, Debug, Hash)]
pub struct Recover {
    /// The name of the effect that is awaited.
    step: &'static str,
    entry: Entry,
    over: bool,
}

impl Recover {
    /// A recovery. Without `apply` it writes nothing, and tells all markers as kept. `left`: what earlier operations of
    /// the same store could not remove; with `apply`, what is in the same marker directory is tried first.
    pub fn new(apply: bool, left: Vec<Left>) -> Self {
        let purpose = if apply { Purpose::Tidy } else { Purpose::Look };
        // A legacy marker is in the way of an acquisition, and none of recovery's.
        Self { step: "recover", entry: Entry::new(purpose, Vec::new(), left), over: false }
    }

    /// What is next, after the outcome of the last effect; `None` begins.
    pub fn next(&mut self, outcome: Option<Outcome>) -> Step<Result<Recovery, Failure>> {
        let found = if self.over { Err(Failure::of(None)) } else { self.entry.next(outcome.as_ref()) };
        let result = match found {
            Ok(Some(effect)) => {
                self.step = effect.name();
                return Step::Effect(effect);
            }
            Ok(None) => {
                let scan = &mut self.entry.scan;
                Ok(Recovery {
                    removed: take(&mut scan.removed),
                    kept: take(&mut scan.kept),
                    tidied: take(&mut scan.tidied),
                    untidied: take(&mut scan.untidied),
                })
            }
            Err(fault) => Err(fault.at(self.step, &self.entry.place.markers)),
        };
        self.over = true;
        Step::Done(result)
    }

    /// The own markers that still have to be removed, when the operation is over: the store [keeps](Left::keep) them.
    pub fn take_left(&mut self) -> Vec<Left> {
        self.entry.take_left()
    }
}
