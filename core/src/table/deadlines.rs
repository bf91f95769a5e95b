//! When time alone changes something: one queue over leases, waiters and pins.
//!
//! Entries are never taken out of the middle. One that no longer says the truth is passed over when it comes up, and
//! the queue is made anew when most entries are such; so a refresh or a release costs nothing here.

use super::pairs::Heap;
use core::cmp::Reverse;

/// What a deadline is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Pin(u32),
    Waiter(u32),
    Lease(u32),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Deadlines {
    heap: Heap,
}

/// Fewer entries than this are not worth making anew.
const SMALL: usize = 64;

impl Deadlines {
    pub fn push(&mut self, at: u64, due: Due) {
        let (kind, slot) = match due {
            Due::Pin(slot) => (0, slot),
            Due::Waiter(slot) => (1, slot),
            Due::Lease(slot) => (2, slot),
        };
        self.heap.push(Reverse((at, slot << 2 | kind)));
    }

    /// The earliest entry, true or not.
    pub fn peek(&self) -> Option<(u64, Due)> {
        let &Reverse((at, tag)) = self.heap.peek()?;
        let slot = tag >> 2;
        Some((at, [Due::Pin(slot), Due::Waiter(slot), Due::Lease(slot)][(tag & 3) as usize]))
    }

    pub fn pop(&mut self) {
        self.heap.pop();
    }

    /// Are most entries useless, where `live` things may have one?
    pub fn is_stale(&self, live: usize) -> bool {
        self.heap.len() > 2 * live + SMALL
    }

    /// Takes all entries out, so that they can be pushed anew.
    pub fn clear(&mut self) {
        self.heap.clear();
    }
}
