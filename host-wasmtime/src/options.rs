//! How a table starts, and the bounds of this host.

use crate::bindings::leasebook::lease::table::{self as wit, Fairness, Limits};
use std::hash::{BuildHasher, RandomState};

/// Bytes of paths that one call may carry: 16 MiB, counting 16 for each path. More is refused before anything is
/// copied into the component, with [`Limit::CallBytes`](crate::Limit::CallBytes).
///
/// It is far above what a table grants (1 024 paths of 4 096 bytes), so that what is merely unusable is still refused
/// by its own reason; and far below the memory of an instance.
pub const CALL_BYTES_MAX: u64 = 16 << 20;

/// Bytes of memory of a table beyond which it refuses what would need more: 512 MiB, unless the options say otherwise.
pub const MEMORY_BYTES_MAX: u64 = 512 << 20;

/// How large the memory of an instance may grow for a table of so many bytes: it holds the table, a copy of all of it as
/// an answer, and that copy once more as it is handed over; and on top what one call carries and is answered.
pub(crate) fn instance_bytes_max(memory_bytes_max: u64) -> u64 {
    memory_bytes_max.saturating_add(CALL_BYTES_MAX).saturating_mul(4)
}

/// How a table starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The ttl where a caller names none: 1 to 86 400 000 ms. 300 000 unless set.
    pub default_ttl_ms: u64,
    /// In which order waiters are served. [`Fairness::Barge`] unless set.
    pub fairness: Fairness,
    /// Bounds, which a host may lower. The highest of each unless set.
    pub limits: Limits,
    /// A secret that keys the path index against crafted paths; drawn from the system unless set. It never shows in an
    /// answer.
    pub hash_key: u64,
    /// How many events are kept between two calls of `take_events`; older ones are dropped. 0 unless set: none.
    pub events: u32,
    /// Keep track of changed records for `take_records`, which must then be called. Off unless set.
    pub journal: bool,
    /// Say each refusal as a sentence, too. On unless set; a host that retries in a hurry saves a microsecond without.
    pub sentences: bool,
    /// Bytes of memory in use beyond which what would need more is refused with
    /// [`Limit::MemoryBytes`](crate::Limit::MemoryBytes): 1 to 1 073 741 824. [`MEMORY_BYTES_MAX`] unless set.
    pub memory_bytes_max: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            default_ttl_ms: 300_000,
            fairness: Fairness::Barge,
            limits: Limits {
                leases: 1_000_000,
                waiters: 10_000,
                wishes: 1_000_000,
                pins: 100_000,
                leases_per_holder: 1_000_000,
                waiters_per_holder: 10_000,
                pins_per_holder: 100_000,
            },
            hash_key: RandomState::new().hash_one(0),
            events: 0,
            journal: false,
            sentences: true,
            memory_bytes_max: MEMORY_BYTES_MAX,
        }
    }
}

impl Options {
    pub(crate) fn for_component(&self) -> wit::Options {
        wit::Options {
            default_ttl_ms: Some(self.default_ttl_ms),
            fairness: Some(self.fairness),
            limits: Some(self.limits),
            hash_key: Some(self.hash_key),
            events: Some(self.events),
            journal: Some(self.journal),
            sentences: Some(self.sentences),
            memory_bytes_max: Some(self.memory_bytes_max),
        }
    }

    /// The first option in which a guest asks for another table than this one, seen by a guest: no events, no journal,
    /// and a key that is none of its business.
    pub(crate) fn differing_option(&self, asked: &wit::Options) -> Option<&'static str> {
        let differs = [
            (asked.default_ttl_ms.is_some_and(|asked| asked != self.default_ttl_ms), "default-ttl-ms"),
            (asked.fairness.is_some_and(|asked| asked != self.fairness), "fairness"),
            (asked.limits.is_some_and(|asked| asked != self.limits), "limits"),
            (asked.hash_key.is_some(), "hash-key"),
            (asked.events.is_some_and(|asked| asked != 0), "events"),
            (asked.journal == Some(true), "journal"),
            (asked.sentences.is_some_and(|asked| asked != self.sentences), "sentences"),
            (asked.memory_bytes_max.is_some_and(|asked| asked != self.memory_bytes_max), "memory-bytes-max"),
        ];
        differs.into_iter().find_map(|(differs, field)| differs.then_some(field))
    }
}
