//! Operations and answers as values, so that one list of operations can be run on a table, on the model and on twins.

use crate::model::Model;
use leasebook::{
    Covering, Lease, Millis, Mode, Period, PinRefusal, PinToken, RefreshRefusal, Refusal, Release, Released, Revoked,
    Status, Table, TooManyPaths, WaitAttempt, Wish,
};

/// One operation. Numbers that may be unusable are as the caller gives them.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the fields are the arguments of the operations
pub enum Op {
    Acquire { holder: String, wishes: Vec<(String, Mode)>, ttl: Option<f64> },
    Wait(Wait),
    CancelWait { waiter_id: String },
    Refresh { holder: String, generation: u64, ttl: Option<f64> },
    Release { holder: String, what: What },
    ReleaseHolder { holder: String },
    ReleaseAll,
    EndSession { holder: String },
    Revoke { generation: u64, force: bool },
    Covering { holder: String, path: String, mode: Mode },
    Pin { holder: String, paths: Vec<String>, mode: Mode, deadline_ms: Option<u64> },
    Unpin { token: u64 },
    Ready,
    NextDeadline,
    Leases,
    Status,
}

/// The arguments of a wait attempt.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // said above
pub struct Wait {
    pub waiter_id: String,
    pub holder: String,
    pub wishes: Vec<(String, Mode)>,
    pub ttl: Option<f64>,
    pub allow_hold: bool,
    pub keep: Option<f64>,
}

/// What a release names.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // as in `Release`
pub enum What {
    All,
    Paths(Vec<String>),
    Generation(u64),
}

/// An operation and the moment it happens at.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// The clock, in milliseconds.
    pub at_ms: u64,
    /// What happens.
    pub op: Op,
}

/// What an operation answers.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the answers of the operations
pub enum Answer {
    Grant(Result<Vec<Lease>, Refusal>),
    Refresh(Result<Lease, RefreshRefusal>),
    Release(Result<Released, TooManyPaths>),
    Count(usize),
    Revoke(Option<Revoked>),
    Found(bool),
    Covering(Covering),
    Pin(Result<PinToken, PinRefusal>),
    Ready(Vec<String>),
    /// In milliseconds. It may lie beyond every moment that a clock can show.
    Deadline(Option<u64>),
    Leases(Vec<Lease>),
    Status(Status),
}

/// Anything that is asked like a table. Written once, for both.
macro_rules! perform {
    ($timed:expr, $book:expr, $ms:expr) => {{
        let now = Millis::new($timed.at_ms);
        match &$timed.op {
            Op::Acquire { holder, wishes, ttl } => {
                Answer::Grant($book.acquire(now, holder, &borrowed(wishes), ttl.map(Period::from)))
            }
            Op::Wait(wait) => Answer::Grant(wait.with(|attempt| $book.wait_attempt(now, attempt))),
            Op::CancelWait { waiter_id } => Answer::Found($book.cancel_wait(now, waiter_id)),
            Op::Refresh { holder, generation, ttl } => {
                Answer::Refresh($book.refresh(now, holder, *generation, ttl.map(Period::from)))
            }
            Op::Release { holder, what } => Answer::Release(match what {
                What::All => $book.release(now, holder, Release::All),
                What::Paths(paths) => $book.release(now, holder, Release::Paths(&strs(paths))),
                What::Generation(generation) => $book.release(now, holder, Release::Generation(*generation)),
            }),
            Op::ReleaseHolder { holder } => Answer::Count($book.release_holder(now, holder)),
            Op::ReleaseAll => Answer::Count($book.release_all(now)),
            Op::EndSession { holder } => Answer::Count($book.end_session(now, holder)),
            Op::Revoke { generation, force } => Answer::Revoke($book.revoke(now, *generation, *force)),
            Op::Covering { holder, path, mode } => Answer::Covering($book.covering(now, holder, path, *mode)),
            Op::Pin { holder, paths, mode, deadline_ms } => {
                Answer::Pin($book.pin(now, holder, &strs(paths), *mode, deadline_ms.map(Millis::new)))
            }
            Op::Unpin { token } => Answer::Found($book.unpin(now, PinToken(*token))),
            Op::Ready => Answer::Ready($book.ready(now)),
            Op::NextDeadline => Answer::Deadline($book.next_deadline(now).map($ms)),
            Op::Leases => Answer::Leases($book.leases(now)),
            Op::Status => Answer::Status($book.status(now)),
        }
    }};
}

impl Timed {
    /// Runs it on a table.
    pub fn on_table(&self, table: &mut Table) -> Answer {
        perform!(self, table, Millis::get)
    }

    /// Runs it on the model.
    pub fn on_model(&self, model: &mut Model) -> Answer {
        perform!(self, model, |ms| ms)
    }
}

impl Wait {
    /// Lends the attempt in the form that a table takes.
    pub fn with<T>(&self, use_it: impl FnOnce(&WaitAttempt<'_>) -> T) -> T {
        use_it(&WaitAttempt {
            waiter_id: &self.waiter_id,
            holder: &self.holder,
            wishes: &borrowed(&self.wishes),
            ttl: self.ttl.map(Period::from),
            allow_hold: self.allow_hold,
            keep: self.keep.map(Period::from),
        })
    }
}

fn borrowed(wishes: &[(String, Mode)]) -> Vec<Wish<'_>> {
    wishes.iter().map(|(path, mode)| Wish { path, mode: *mode }).collect()
}

fn strs(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}
