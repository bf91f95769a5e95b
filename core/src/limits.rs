//! Every bound of a table, as named constants, and the ones a host may set.

/// The latest time and the highest generation: 2^53 - 1, so that both are exact in a double.
pub const NUMBER_MAX: u64 = (1 << 53) - 1;
/// The longest ttl, in milliseconds: 24 hours.
pub const TTL_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// The ttl of a lease whose caller names none, in milliseconds: 5 minutes.
pub const TTL_MS_DEFAULT: u64 = 300_000;
/// The latest `now` that a table works with; a later one counts as this. It leaves room for the longest ttl.
pub const NOW_MS_MAX: u64 = NUMBER_MAX - TTL_MS_MAX;
/// The longest holder, in bytes; the shortest is one byte.
pub const HOLDER_BYTES_MAX: usize = 256;
/// The longest waiter id, in bytes.
pub const WAITER_ID_BYTES_MAX: usize = 256;
/// The longest path, in bytes.
pub const PATH_BYTES_MAX: usize = 4096;
/// The deepest path, in segments.
pub const PATH_SEGMENTS_MAX: usize = 255;
/// The most paths in one call.
pub const PATHS_MAX: usize = 1024;
/// The most conflicts, blockers or waiters ahead that one answer lists.
pub const LISTED_MAX: usize = 256;
/// The most leases of one table, unless the host sets fewer.
pub const LEASES_MAX: usize = 1_000_000;
/// The most waiters of one table, unless the host sets fewer.
pub const WAITERS_MAX: usize = 10_000;
/// The most wishes of all the waiters of one table, unless the host sets fewer.
pub const WISHES_MAX: usize = 1_000_000;
/// The most pins of one table, unless the host sets fewer.
pub const PINS_MAX: usize = 100_000;

/// The bounds of one table that a host may lower. Each is at most the constant it starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Standing leases. At most [`LEASES_MAX`].
    pub leases: usize,
    /// Registered waiters. At most [`WAITERS_MAX`].
    pub waiters: usize,
    /// Wishes of all registered waiters together. At most [`WISHES_MAX`].
    pub wishes: usize,
    /// Standing pins. At most [`PINS_MAX`].
    pub pins: usize,
    /// Standing leases of one holder, so that none takes all the room. At most [`LEASES_MAX`].
    pub leases_per_holder: usize,
    /// Registered waiters of one holder. At most [`WAITERS_MAX`]; in `fifo` a holder has one at most anyway.
    pub waiters_per_holder: usize,
    /// Standing pins of one holder. At most [`PINS_MAX`].
    pub pins_per_holder: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            leases: LEASES_MAX,
            waiters: WAITERS_MAX,
            wishes: WISHES_MAX,
            pins: PINS_MAX,
            leases_per_holder: LEASES_MAX,
            waiters_per_holder: WAITERS_MAX,
            pins_per_holder: PINS_MAX,
        }
    }
}

/// The bound that an operation ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Paths in one call: [`PATHS_MAX`].
    Paths,
    /// Bytes of a waiter id: [`WAITER_ID_BYTES_MAX`].
    WaiterId,
    /// Standing leases: [`Limits::leases`].
    Leases,
    /// Registered waiters: [`Limits::waiters`].
    Waiters,
    /// Wishes of registered waiters: [`Limits::wishes`].
    Wishes,
    /// Standing pins: [`Limits::pins`].
    Pins,
    /// Generations, waiter places or pin tokens of a table: [`NUMBER_MAX`].
    Numbers,
    /// Standing leases of one holder: [`Limits::leases_per_holder`].
    LeasesPerHolder,
    /// Registered waiters of one holder: [`Limits::waiters_per_holder`].
    WaitersPerHolder,
    /// Standing pins of one holder: [`Limits::pins_per_holder`].
    PinsPerHolder,
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
            Self::LeasesPerHolder => "leases-per-holder",
            Self::WaitersPerHolder => "waiters-per-holder",
            Self::PinsPerHolder => "pins-per-holder",
        }
    }
}
