//! What comes in: arguments from WIT, as the core takes them.

use crate::bindings::exports::leasebook::lease::table as wit;
use alloc::{string::String, vec::Vec};
use leasebook::{Mode, Options, Period, Wish};

/// The bound on memory where the options name none: 512 MiB, twice what a table of a million leases with paths of 60
/// bytes takes. A host that gives four times as much can also copy everything into one answer.
const MEMORY_BYTES_MAX: u64 = 512 << 20;
/// The highest bound on memory: four times as much is all that a 32-bit memory can have.
const MEMORY_BYTES_MOST: u64 = 1 << 30;

pub fn mode(mode: wit::Mode) -> Mode {
    match mode {
        wit::Mode::Shared => Mode::Shared,
        wit::Mode::Exclusive => Mode::Exclusive,
    }
}

pub fn period(ms: Option<f64>) -> Option<Period> {
    ms.map(Period::from)
}

/// Lends wishes to an operation. One wish is by far the most frequent, and needs no memory.
pub fn with_wishes<T>(wishes: &[wit::Wish], operation: impl FnOnce(&[Wish<'_>]) -> T) -> T {
    fn borrow(wish: &wit::Wish) -> Wish<'_> {
        Wish { path: &wish.path, mode: mode(wish.mode) }
    }
    match wishes {
        [wish] => operation(&[borrow(wish)]),
        wishes => operation(&wishes.iter().map(borrow).collect::<Vec<_>>()),
    }
}

/// Lends paths to an operation.
pub fn with_paths<T>(paths: &[String], operation: impl FnOnce(&[&str]) -> T) -> T {
    match paths {
        [path] => operation(&[path]),
        paths => operation(&paths.iter().map(String::as_str).collect::<Vec<_>>()),
    }
}

/// What the glue itself needs of the options.
#[derive(Clone, Copy)]
pub struct Own {
    pub memory_bytes_max: u64,
    pub sentences: bool,
}

/// The options of the core, and our own.
pub fn options(given: wit::Options) -> Result<(Options, Own), wit::InvalidOptions> {
    let mut options = Options::default();
    if let Some(ttl_ms) = given.default_ttl_ms {
        options.default_ttl_ms = ttl_ms;
    }
    if let Some(wit::Fairness::Fifo) = given.fairness {
        options.fairness = leasebook::Fairness::Fifo;
    }
    if let Some(limits) = given.limits {
        options.limits.leases = limits.leases as usize;
        options.limits.waiters = limits.waiters as usize;
        options.limits.wishes = limits.wishes as usize;
        options.limits.pins = limits.pins as usize;
        options.limits.leases_per_holder = limits.leases_per_holder as usize;
        options.limits.waiters_per_holder = limits.waiters_per_holder as usize;
        options.limits.pins_per_holder = limits.pins_per_holder as usize;
    }
    options.hash_key = given.hash_key.unwrap_or(0);
    options.events = given.events.unwrap_or(0) as usize;
    options.journal = given.journal.unwrap_or(false);
    let memory_bytes_max = given.memory_bytes_max.unwrap_or(MEMORY_BYTES_MAX);
    if !(1..=MEMORY_BYTES_MOST).contains(&memory_bytes_max) {
        return Err(wit::InvalidOptions { field: "memory-bytes-max".into(), expected: "1 to 1 073 741 824".into() });
    }
    Ok((options, Own { memory_bytes_max, sentences: given.sentences.unwrap_or(true) }))
}
