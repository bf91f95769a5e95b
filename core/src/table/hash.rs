//! Finding things by what they are, in one table of slots each.
//!
//! The table holds slots and nothing else; whoever owns the slots says what stands there. Nothing ever iterates it.

use foldhash::{SharedSeed, fast::FoldHasher};
use hashbrown::HashTable;

use core::hash::Hasher;

/// Slots by hash.
#[derive(Clone, Debug, Default)]
pub(super) struct Index(HashTable<u32>);

impl Index {
    /// The slot of this hash that is the one meant.
    pub fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        self.0.find(hash, |&slot| is(slot)).copied()
    }

    /// Adds a slot that is not in yet. `rehash` tells the hash of any slot that is.
    pub fn insert(&mut self, hash: u64, slot: u32, rehash: &dyn Fn(u32) -> u64) {
        self.0.insert_unique(hash, slot, |&slot| rehash(slot));
    }

    pub fn remove(&mut self, hash: u64, slot: u32) {
        if let Ok(entry) = self.0.find_entry(hash, |&other| other == slot) {
            entry.remove();
        }
    }
}

/// A keyed hash of numbers.
pub(super) fn numbers<const N: usize>(seed: &SharedSeed, start: u64, numbers: [u64; N]) -> u64 {
    let mut hasher = FoldHasher::with_seed(start, seed);
    for number in numbers {
        hasher.write_u64(number);
    }
    hasher.finish()
}

/// A keyed hash of a text.
pub(super) fn text(seed: &SharedSeed, start: u64, text: &str) -> u64 {
    let mut hasher = FoldHasher::with_seed(start, seed);
    for chunk in text.as_bytes().chunks(8) {
        hasher.write_u64(word(chunk));
    }
    hasher.write_u64(text.len() as u64);
    hasher.finish()
}

/// Up to 8 bytes as a number, the first one lowest. Where loads overlap they say the same.
pub(super) fn word(bytes: &[u8]) -> u64 {
    let four = |at: usize| u64::from(u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    match bytes.len() {
        0 => 0,
        len @ 1..=3 => (0..len).fold(0, |word, at| word | u64::from(bytes[at]) << (8 * at)),
        len => four(0) | four(len - 4) << (8 * (len - 4)),
    }
}
