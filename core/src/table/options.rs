//! How a table starts.

use crate::limits::{LEASES_MAX, Limits, PINS_MAX, TTL_MS_DEFAULT, TTL_MS_MAX, WAITERS_MAX, WISHES_MAX};
use core::fmt;

/// In which order waiters are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// The attempt that lands first wins.
    #[default]
    Barge,
    /// Waiters queue; a wish stands behind every earlier one that it overlaps.
    Fifo,
}

/// How a table starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The ttl where a caller names none: 1 to 86 400 000 ms. 300 000 unless set.
    pub default_ttl_ms: u64,
    /// In which order waiters are served.
    pub fairness: Fairness,
    /// Bounds, which a host may lower.
    pub limits: Limits,
    /// A secret that keys the path index against crafted paths. It never shows in an answer. With the feature `std`,
    /// `Options::default()` draws one from the system; without, it is 0 and a host that takes paths from strangers
    /// sets its own.
    pub hash_key: u64,
    /// How many events are kept between two calls of [`Table::take_events`](crate::Table::take_events); older ones are
    /// dropped. 0, the default: none.
    pub events: usize,
    /// Keep track of changed records for [`Table::take_records`](crate::Table::take_records), which must then be called.
    /// Off unless set.
    pub journal: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            default_ttl_ms: TTL_MS_DEFAULT,
            fairness: Fairness::Barge,
            limits: Limits::default(),
            hash_key: system_key(),
            events: 0,
            journal: false,
        }
    }
}

/// A key that a stranger cannot know.
#[cfg(feature = "std")]
fn system_key() -> u64 {
    use core::hash::BuildHasher;
    std::hash::RandomState::new().hash_one(0)
}

#[cfg(not(feature = "std"))]
fn system_key() -> u64 {
    0
}

impl Options {
    pub(super) fn check(&self) -> Result<(), InvalidOptions> {
        let limits = &self.limits;
        let checks = [
            ((1..=TTL_MS_MAX).contains(&self.default_ttl_ms), "default-ttl-ms", "1 to 86 400 000 ms"),
            (limits.leases <= LEASES_MAX, "limits.leases", "at most 1 000 000"),
            (limits.waiters <= WAITERS_MAX, "limits.waiters", "at most 10 000"),
            (limits.wishes <= WISHES_MAX, "limits.wishes", "at most 1 000 000"),
            (limits.pins <= PINS_MAX, "limits.pins", "at most 100 000"),
            (limits.leases_per_holder <= LEASES_MAX, "limits.leases-per-holder", "at most 1 000 000"),
            (limits.waiters_per_holder <= WAITERS_MAX, "limits.waiters-per-holder", "at most 10 000"),
            (limits.pins_per_holder <= PINS_MAX, "limits.pins-per-holder", "at most 100 000"),
        ];
        match checks.iter().find(|(good, ..)| !good) {
            Some(&(_, field, expected)) => Err(InvalidOptions { field, expected }),
            None => Ok(()),
        }
    }
}

/// An option is out of its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidOptions {
    /// The option.
    pub field: &'static str,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for InvalidOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.field, self.expected)
    }
}

impl core::error::Error for InvalidOptions {}
