//! Time as a value: the moment an operation happens at, and how long a lease is asked for.

use crate::limits::{NOW_MS_MAX, NUMBER_MAX, TTL_MS_MAX};
use core::time::Duration;

/// A moment, in milliseconds since an epoch that the host chooses.
///
/// A table never reads a clock: every operation is given its moment. The clock behind it should keep counting while
/// the machine sleeps, and should not follow steps of the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(u64);

impl Millis {
    /// A moment. One later than [`NOW_MS_MAX`] counts as that, so that every expiry is exact in a double.
    pub const fn new(ms: u64) -> Self {
        Self(if ms > NOW_MS_MAX { NOW_MS_MAX } else { ms })
    }

    /// A moment that a table itself worked out; the end of a lease may lie after the latest `now`.
    pub(crate) const fn exact(ms: u64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the host's epoch.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// Where a host's time comes from.
pub trait Clock {
    /// The present moment.
    fn now(&self) -> Millis;
}

impl<F: Fn() -> Millis> Clock for F {
    fn now(&self) -> Millis {
        self()
    }
}

/// For how long: any number that a caller may come with, also an unusable one, which is then refused as a value.
///
/// ```
/// use leasebook::Period;
/// assert_eq!(Period::from(1_500_u64).ms(1_000_000), Some(1_500));
/// assert_eq!(Period::from(f64::NAN).ms(1_000_000), None);
/// assert_eq!(Period::from(-1.0).ms(1_000_000), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period(f64);

impl Period {
    /// The number as it was given, in milliseconds.
    pub fn given(self) -> f64 {
        self.0
    }

    /// Whole milliseconds from 1 to `most`, or `None` where the number is not that.
    pub fn ms(self, most: u64) -> Option<u64> {
        let whole = self.0 as u64; // saturating; NaN becomes 0
        (whole as f64 == self.0 && (1..=most).contains(&whole)).then_some(whole)
    }

    /// The number as a ttl: 1 to [`TTL_MS_MAX`].
    pub fn ttl_ms(self) -> Option<u64> {
        self.ms(TTL_MS_MAX)
    }

    /// The number as the time that a waiter is kept: 1 to [`NUMBER_MAX`].
    pub fn keep_ms(self) -> Option<u64> {
        self.ms(NUMBER_MAX)
    }
}

impl From<f64> for Period {
    fn from(ms: f64) -> Self {
        Self(ms)
    }
}

impl From<u64> for Period {
    fn from(ms: u64) -> Self {
        // What a double cannot hold exactly is far over every limit, and stays so.
        Self(ms as f64)
    }
}

impl From<Duration> for Period {
    /// Whole milliseconds; what is left over is cut off.
    fn from(duration: Duration) -> Self {
        Self(duration.as_millis() as f64)
    }
}
