//! The time of a service: it goes on while the machine sleeps, follows no step of the wall clock, and never goes back
//! behind what a former run of the service has recorded.

use leasebook::Millis;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the time of a service comes from.
pub trait Clock: Send + Sync {
    /// The present moment, in milliseconds of the Unix epoch as far as the wall clock was right at the start.
    fn now(&self) -> Millis;
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> Millis {
        (**self).now()
    }
}

/// The system's clock: what the wall clock said at the start, or the latest recorded moment where that is later, and
/// the time since then.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    base_ms: u64,
    started: Elapsed,
}

impl SystemClock {
    /// Starts the clock. `latest_ms`: the latest moment that is recorded anywhere, in milliseconds.
    pub fn start(latest_ms: u64) -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall_ms = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
        Self { base_ms: wall_ms.max(latest_ms), started: Elapsed::now() }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Millis {
        Millis::new(self.base_ms.saturating_add(Elapsed::now().since_ms(self.started)))
    }
}

/// Time since the machine started, sleep included.
#[cfg(any(target_os = "linux", target_os = "android"))]
#[derive(Clone, Copy, Debug)]
struct Elapsed {
    ms: u64,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Elapsed {
    fn now() -> Self {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let millis = u64::try_from(time.tv_nsec).unwrap_or(0) / 1_000_000;
        Self { ms: seconds.saturating_mul(1_000).saturating_add(millis) }
    }

    fn since_ms(self, start: Self) -> u64 {
        self.ms.saturating_sub(start.ms)
    }
}

/// Elsewhere the monotonic clock of the standard library, which may stand still while the machine sleeps.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[derive(Clone, Copy, Debug)]
struct Elapsed(std::time::Instant);

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Elapsed {
    fn now() -> Self {
        Self(std::time::Instant::now())
    }

    fn since_ms(self, start: Self) -> u64 {
        u64::try_from(self.0.saturating_duration_since(start.0).as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_starts_no_earlier_than_what_is_recorded() {
        let future = 4_000_000_000_000;
        assert!(SystemClock::start(future).now().get() >= future);
        let now = SystemClock::start(0).now().get();
        assert!((1_600_000_000_000..future).contains(&now), "{now}");
    }
}
