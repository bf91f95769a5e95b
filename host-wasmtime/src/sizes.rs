//! How much a call carries, judged before anything is copied into the component.
//!
//! Where an argument is over its bound but only its size matters, it is cut: a holder of a megabyte holds as little as
//! one of 260 bytes. Where the answer repeats the argument, the call is refused as a value.

use crate::options::CALL_BYTES_MAX;
use crate::types::Wish;
use crate::{Limit, LimitReached, Record, RestoreError};

/// What a path or a record costs beside its text: the least that any of them takes in the component's memory.
const EACH_BYTES: u64 = 16;
/// Longer than any holder and any waiter id that a table accepts: 256 bytes and one character more.
const ID_BYTES: usize = 260;
/// Longer than any path that a table reasons about: 4 096 bytes and one character more.
const PATH_BYTES: usize = 4_100;

/// A holder or a waiter id, cut where it is none anyway.
pub fn id(given: &str) -> &str {
    cut(given, ID_BYTES)
}

/// A path whose answer does not repeat it, cut where it is unevaluable anyway.
pub fn path(given: &str) -> &str {
    cut(given, PATH_BYTES)
}

fn cut(given: &str, bytes: usize) -> &str {
    &given[..given.floor_char_boundary(bytes)]
}

pub fn check_wishes(wishes: &[Wish<'_>]) -> Result<(), LimitReached> {
    check(wishes.iter().map(|wish| wish.path.len()))
}

pub fn check_paths(paths: &[&str]) -> Result<(), LimitReached> {
    check(paths.iter().map(|path| path.len()))
}

fn check(lengths: impl Iterator<Item = usize>) -> Result<(), LimitReached> {
    if total(lengths) > CALL_BYTES_MAX {
        return Err(LimitReached { which: Limit::CallBytes, limit: CALL_BYTES_MAX });
    }
    Ok(())
}

/// Records may take what the table may take.
pub fn check_records(records: &[Record], bytes_max: u64) -> Result<(), RestoreError> {
    let bytes = total(records.iter().map(|record| match record {
        Record::Lease(lease) => lease.path.len() + lease.holder.len(),
        Record::Waiter(waiter) => {
            let paths: usize = waiter.paths.iter().map(|path| path.len() + EACH_BYTES as usize).sum();
            waiter.id.len() + waiter.holder.len() + paths + waiter.modes.len() + 8 * waiter.passed.len()
        }
        Record::WaiterGone(id) => id.len(),
        Record::Pin(pin) => pin.holder.len() + 8 * pin.generations.len(),
        Record::LeaseGone(_) | Record::PinGone(_) | Record::Counters(_) => 0,
    }));
    if bytes > bytes_max {
        return Err(RestoreError { record: String::new(), expected: format!("at most {bytes_max} bytes of records") });
    }
    Ok(())
}

fn total(lengths: impl Iterator<Item = usize>) -> u64 {
    lengths.map(|bytes| bytes as u64 + EACH_BYTES).sum()
}
