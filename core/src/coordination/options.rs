//! How an authority starts.

use super::class::{Class, Pattern};
use super::waiting::KEPT_MS_MAX;
use crate::{Fairness, InvalidOptions, Limits, limits};
use alloc::vec::Vec;

/// The ttl of a lease whose asker names none, in milliseconds.
pub const TTL_MS_DEFAULT: u64 = 30_000;
/// The longest ttl, in milliseconds: an hour. What takes longer is not a lease that decays.
pub const TTL_MS_MAX: u64 = 3_600_000;
/// The longest that a request waits, in milliseconds. Connections are cut by what is between two machines, mostly after
/// a minute.
pub const WAIT_MS_MAX: u64 = 60_000;
/// How many may wait for one resource.
pub const WAITERS_PER_RESOURCE_MAX: usize = 1_024;

/// How an authority starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The ttl where an asker names none: 1 to `ttl_ms_max`.
    pub default_ttl_ms: u64,
    /// The longest ttl: 1 to 86 400 000 ms.
    pub ttl_ms_max: u64,
    /// The longest wait, in milliseconds: at most 86 397 200.
    pub wait_ms_max: u64,
    /// Which resources may be read concurrently: the first pattern that covers a resource says its class.
    pub classes: Vec<(Pattern, Class)>,
    /// The bounds of the table.
    pub limits: Limits,
    /// How many may wait for one resource.
    pub waiters_per_resource: usize,
    /// How many events are kept between two calls of `take_events`; older ones are dropped. 0: none.
    pub events: usize,
    /// Keep track of changed records for `take_records`, which must then be called.
    pub journal: bool,
    /// A secret that keys the indices of the table; see [`crate::Options::hash_key`].
    pub hash_key: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            default_ttl_ms: TTL_MS_DEFAULT,
            ttl_ms_max: TTL_MS_MAX,
            wait_ms_max: WAIT_MS_MAX,
            classes: Vec::new(),
            limits: Limits::default(),
            waiters_per_resource: WAITERS_PER_RESOURCE_MAX,
            events: 0,
            journal: false,
            hash_key: crate::Options::default().hash_key,
        }
    }
}

impl Options {
    /// The options of the table, once these are checked.
    pub(super) fn table(&self) -> Result<crate::Options, InvalidOptions> {
        let checks = [
            ((1..=limits::TTL_MS_MAX).contains(&self.ttl_ms_max), "ttl-ms-max", "1 to 86 400 000 ms"),
            ((1..=self.ttl_ms_max).contains(&self.default_ttl_ms), "default-ttl-ms", "1 ms to ttl-ms-max"),
            // With the time that a place is kept after it, it stays within the longest time of a table.
            (self.wait_ms_max <= limits::TTL_MS_MAX - KEPT_MS_MAX, "wait-ms-max", "at most 86 397 200 ms"),
            (self.waiters_per_resource <= limits::WAITERS_MAX, "waiters-per-resource", "at most 10 000"),
        ];
        match checks.iter().find(|(good, ..)| !good) {
            Some(&(_, field, expected)) => Err(InvalidOptions { field, expected }),
            None => Ok(crate::Options {
                default_ttl_ms: self.default_ttl_ms,
                fairness: Fairness::Fifo,
                limits: self.limits,
                hash_key: self.hash_key,
                events: 0,
                // What is gone is read from the records: they are never dropped.
                journal: true,
            }),
        }
    }

    /// The class of a resource.
    pub fn class(&self, resource: &str) -> Class {
        self.classes.iter().find(|(pattern, _)| pattern.covers(resource)).map_or(Class::Exclusive, |(_, class)| *class)
    }
}
