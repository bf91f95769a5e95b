//! Release: the own marker is removed, if it is still the own one.

use super::answer::{Left, Owned, Released, Step};
use super::clean::Seen;
use super::effect::{Effect, Outcome};
use super::failure::{Code, Failure};
use super::limits::RECORD_BYTES_MAX;
use super::scan::MARKER;
use alloc::string::String;

/// The machine that releases a lease. Nothing of it can be cancelled.
///
/// It outlives its first run: after a failure, `next(None)` tries again; after an answer, it gives the same one for
/// ever. Concurrent calls share one machine, one after the other.
#[derive(Clone, Debug, Hash)]
pub struct Release {
    owned: Owned,
    at: At,
    /// This process is a fork of the one that has the lease.
    forked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    Begin,
    Pid,
    Read,
    Remove,
    Over(Released),
}

impl Release {
    /// A release of what was acquired.
    pub fn new(owned: Owned) -> Self {
        Self { owned, at: At::Begin, forked: false }
    }

    /// What is to be released.
    pub fn owned(&self) -> &Owned {
        &self.owned
    }

    /// The marker that this lease leaves if it goes away now: a store keeps it, and removes it at its next acquire, or
    /// recover with apply, of that destination. None where it is released or lost, or where another process has the
    /// lease.
    pub fn left(&self) -> Option<Left> {
        let Owned { markers, record } = &self.owned;
        let over = self.forked || matches!(self.at, At::Over(_));
        (!over).then(|| Left { markers: markers.clone(), record: record.clone() })
    }

    /// What is next, after the outcome of the last effect; `None` begins, and begins again after a failure.
    pub fn next(&mut self, outcome: Option<Outcome>) -> Step<Result<Released, Failure>> {
        let record = &self.owned.record;
        let (step, fault) = match (self.at, &outcome) {
            (At::Over(released), _) => return Step::Done(Ok(released)),
            (At::Begin, None) => {
                self.at = At::Pid;
                return Step::Effect(Effect::OwnPid);
            }
            (At::Pid, Some(Outcome::Pid(pid))) if *pid == record.pid() => {
                self.at = At::Read;
                return Step::Effect(Effect::Read { name: self.name(), limit: RECORD_BYTES_MAX, clean_up: true });
            }
            // A fork has a copy of the lease, and is not the one that has it.
            (At::Pid, Some(Outcome::Pid(_))) => {
                self.forked = true;
                ("own-pid", Failure::new(Code::OtherProcess, ""))
            }
            (At::Read, Some(outcome)) => match Seen::of(outcome, record) {
                Seen::Own => {
                    self.at = At::Remove;
                    return Step::Effect(Effect::Remove { name: self.name(), clean_up: true });
                }
                Seen::Gone => return self.end(Released::Lost),
                Seen::Changed => ("read", Failure::new(Code::OwnMarkerChanged, "")),
                Seen::Unread => ("read", Failure::of_clean_up(Some(outcome))),
            },
            (At::Remove, Some(Outcome::Done)) => return self.end(Released::Released),
            (At::Remove, Some(Outcome::Absent)) => return self.end(Released::Lost),
            (at, outcome) => {
                let step = match at {
                    At::Read => "read",
                    At::Remove => "remove",
                    _ => "own-pid",
                };
                (step, Failure::of_clean_up(outcome.as_ref()))
            }
        };
        // The marker stays, and stays in the way of others.
        self.at = At::Begin;
        Step::Done(Err(fault.at(step, &self.owned.path())))
    }

    fn end(&mut self, released: Released) -> Step<Result<Released, Failure>> {
        self.at = At::Over(released);
        Step::Done(Ok(released))
    }

    fn name(&self) -> String {
        [self.owned.record.nonce(), MARKER].concat()
    }
}
