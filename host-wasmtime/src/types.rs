//! What is asked of a table: borrowed, so that a call copies once, into the component. Most answers are the generated
//! types of `wit/`; here they get the methods that the core's have.

use crate::bindings::leasebook::lease::table::{
    self as wit, Limit, Mode, PinRefusal, PinToken, RefreshRefusal, Verdict,
};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use wasmtime::component::{ComponentType, Lower};

/// A path and the mode asked for it.
#[derive(Clone, Copy, Debug, PartialEq, ComponentType, Lower)]
#[component(record)]
pub struct Wish<'a> {
    /// The path, as the caller spells it.
    #[component(name = "path")]
    pub path: &'a str,
    /// The mode.
    #[component(name = "mode")]
    pub mode: Mode,
}

impl<'a> Wish<'a> {
    /// A wish for a path alone.
    pub fn exclusive(path: &'a str) -> Self {
        Self { path, mode: Mode::Exclusive }
    }

    /// A wish for a path beside other shared ones.
    pub fn shared(path: &'a str) -> Self {
        Self { path, mode: Mode::Shared }
    }
}

impl<'a> From<&'a wit::Wish> for Wish<'a> {
    fn from(wish: &'a wit::Wish) -> Self {
        Self { path: &wish.path, mode: wish.mode }
    }
}

/// For how long: any number that a caller may come with, also an unusable one, which is then refused as a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period(pub(crate) f64);

impl From<f64> for Period {
    /// Milliseconds.
    fn from(ms: f64) -> Self {
        Self(ms)
    }
}

impl From<u64> for Period {
    /// Milliseconds. What a double cannot hold exactly is far over every limit, and stays so.
    fn from(ms: u64) -> Self {
        Self(ms as f64)
    }
}

impl From<Duration> for Period {
    /// Whole milliseconds; what is left over is cut off.
    fn from(duration: Duration) -> Self {
        Self(duration.as_millis() as f64)
    }
}

/// An attempt to get leases, or to wait for them.
#[derive(Clone, Copy, Debug)]
pub struct WaitAttempt<'a> {
    /// The id of the waiter; it belongs to its holder. At most 256 bytes.
    pub waiter_id: &'a str,
    /// Who asks.
    pub holder: &'a str,
    /// What for.
    pub wishes: &'a [Wish<'a>],
    /// For how long, once granted; `None` = the default of the table.
    pub ttl: Option<Period>,
    /// Wait even though the holder holds a lease.
    pub allow_hold: bool,
    /// How long the waiter is kept after its last attempt; `None` = for ever. Required in `fifo`.
    pub keep: Option<Period>,
}

/// [`WaitAttempt`] as the component takes it.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(crate) struct LoweredAttempt<'a> {
    #[component(name = "waiter-id")]
    pub waiter_id: &'a str,
    #[component(name = "holder")]
    pub holder: &'a str,
    #[component(name = "wishes")]
    pub wishes: &'a [Wish<'a>],
    #[component(name = "ttl-ms")]
    pub ttl_ms: Option<f64>,
    #[component(name = "allow-hold")]
    pub allow_hold: bool,
    #[component(name = "keep-ms")]
    pub keep_ms: Option<f64>,
}

/// What to release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ComponentType, Lower)]
#[component(variant)]
pub enum Release<'a> {
    /// Everything the holder has.
    #[component(name = "all")]
    All,
    /// By location: what lies inside a leased directory names no lease. Empty: nothing is released.
    #[component(name = "paths")]
    Paths(&'a [&'a str]),
    /// One lease by its generation.
    #[component(name = "generation")]
    Generation(u64),
}

impl Mode {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Exclusive => "exclusive",
        }
    }
}

impl Limit {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paths => "paths",
            Self::WaiterId => "waiter-id",
            Self::Leases => "leases",
            Self::Waiters => "waiters",
            Self::Wishes => "wishes",
            Self::Pins => "pins",
            Self::Numbers => "numbers",
            Self::CallBytes => "call-bytes",
            Self::MemoryBytes => "memory-bytes",
            Self::LeasesPerHolder => "leases-per-holder",
            Self::WaitersPerHolder => "waiters-per-holder",
            Self::PinsPerHolder => "pins-per-holder",
        }
    }
}

impl Verdict {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Other => "other",
            Self::Own => "own",
            Self::Unknown => "unknown",
            Self::Free => "free",
        }
    }
}

impl RefreshRefusal {
    /// The name that every runtime uses for the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::InvalidTtl(_) => "invalid-ttl",
            Self::Stale => "stale",
        }
    }
}

impl PinRefusal {
    /// The name that every runtime uses for the reason.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NoPaths => "no-paths",
            Self::LimitExceeded(_) => "limit-exceeded",
            Self::NotHeld(_) => "not-held",
        }
    }
}

impl fmt::Display for PinToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pin-{}", self.number)
    }
}

impl FromStr for PinToken {
    type Err = std::num::ParseIntError;

    fn from_str(shown: &str) -> Result<Self, Self::Err> {
        shown.strip_prefix("pin-").unwrap_or("").parse().map(|number| Self { number })
    }
}
