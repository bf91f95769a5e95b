//! Where the time of a table comes from.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A source of time, in milliseconds since an epoch of its own.
///
/// A table asks once for each operation, before it takes any lock. An answer earlier than the latest one counts as
/// that one. A clock whose table is restored from records goes on from the epoch it had: see
/// [`SystemClock::not_before`].
pub trait Clock: Send + Sync {
    /// The present moment, in milliseconds.
    fn now_ms(&self) -> u64;
}

impl<F: Fn() -> u64 + Send + Sync> Clock for F {
    fn now_ms(&self) -> u64 {
        self()
    }
}

/// The time of the machine: the wall clock as it stood when this clock was made, and from then on the time elapsed.
///
/// The epoch is that of Unix. Steps of the wall clock after the making change nothing. On Linux, Android (`BOOTTIME`)
/// and on Apple's systems (`MONOTONIC`) it keeps counting while the machine sleeps; elsewhere it is
/// [`Instant`](std::time::Instant), which does on Windows, and on other systems may stand still over a sleep:
/// leases then last longer than they should by that much, and never shorter.
#[derive(Clone, Debug)]
pub struct SystemClock {
    base_ms: u64,
    start: elapsed::Start,
}

impl SystemClock {
    /// A clock that starts at the present wall time.
    pub fn new() -> Self {
        Self::not_before(0)
    }

    /// A clock that starts at the present wall time, or at this moment where that is later: for a table restored from
    /// records, whose latest moment is in its counters.
    pub fn not_before(ms: u64) -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { base_ms: whole_ms(wall).max(ms), start: elapsed::Start::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        self.base_ms.saturating_add(whole_ms(self.start.elapsed()))
    }
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod elapsed {
    use rustix::time::{ClockId, clock_gettime};
    use std::time::Duration;

    /// The one of the system's clocks that counts while it sleeps.
    #[cfg(not(target_vendor = "apple"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(target_vendor = "apple")]
    const CLOCK: ClockId = ClockId::Monotonic;

    #[derive(Clone, Debug)]
    pub struct Start(Duration);

    impl Start {
        pub fn now() -> Self {
            Self(reading())
        }

        pub fn elapsed(&self) -> Duration {
            reading().saturating_sub(self.0)
        }
    }

    fn reading() -> Duration {
        let time = clock_gettime(CLOCK);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod elapsed {
    use std::time::{Duration, Instant};

    #[derive(Clone, Debug)]
    pub struct Start(Instant);

    impl Start {
        pub fn now() -> Self {
            Self(Instant::now())
        }

        pub fn elapsed(&self) -> Duration {
            self.0.elapsed()
        }
    }
}

/// A clock that stands still until it is told otherwise. Clones are one clock.
#[derive(Clone, Default)]
pub struct ManualClock(Arc<AtomicU64>);

impl ManualClock {
    /// A clock that stands at this moment.
    pub fn new(ms: u64) -> Self {
        Self(Arc::new(AtomicU64::new(ms)))
    }

    /// Sets it to a moment, also an earlier one.
    pub fn set(&self, ms: u64) {
        self.0.store(ms, Ordering::SeqCst);
    }

    /// Moves it on; at most to `u64::MAX`.
    pub fn advance(&self, by_ms: u64) {
        let moved = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |ms| Some(ms.saturating_add(by_ms)));
        debug_assert!(moved.is_ok());
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManualClock({} ms)", self.now_ms())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_starts_at_the_wall_time_or_later_and_goes_on() {
        let wall = || whole_ms(SystemTime::now().duration_since(UNIX_EPOCH).unwrap());
        let before = wall();
        let clock = SystemClock::new();
        assert!((before..=wall()).contains(&clock.base_ms));
        let (first, second) = (clock.now_ms(), clock.now_ms());
        assert!(clock.base_ms <= first && first <= second);

        let ahead = wall() + 1_000_000;
        assert!(SystemClock::not_before(ahead).now_ms() >= ahead);
        assert_eq!(SystemClock::not_before(u64::MAX).now_ms(), u64::MAX);
    }

    #[test]
    fn clones_of_a_manual_clock_are_one_clock() {
        let clock = ManualClock::new(5);
        clock.clone().advance(10);
        assert_eq!(clock.now_ms(), 15);
        clock.set(3);
        assert_eq!(clock.now_ms(), 3);
        clock.advance(u64::MAX);
        assert_eq!(clock.now_ms(), u64::MAX);
    }
}
