//! Finding things by what they are, in one table of slots each.
//!
//! The table holds slots and nothing else; whoever owns the slots says what stands there. Nothing ever iterates it.

use crate::words::word;
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

/// What a hash is keyed with.
///
/// The hasher multiplies its start, mixed with the first word that comes in, by what is left: where the two were equal,
/// every hash would be 0. So a start that strangers can guess is mixed with one that they cannot.
#[derive(Clone, Debug)]
pub(super) struct Seed {
    start: u64,
    shared: SharedSeed,
}

impl Seed {
    pub fn new(key: u64) -> Self {
        Self { start: key, shared: SharedSeed::from_u64(key) }
    }

    fn hasher(&self, start: u64) -> FoldHasher<'_> {
        FoldHasher::with_seed(self.start ^ start, &self.shared)
    }
}

/// A keyed hash of numbers.
pub(super) fn numbers<const N: usize>(seed: &Seed, start: u64, numbers: [u64; N]) -> u64 {
    let mut hasher = seed.hasher(start);
    for number in numbers {
        hasher.write_u64(number);
    }
    hasher.finish()
}

/// A keyed hash of a text.
pub(super) fn text(seed: &Seed, start: u64, text: &str) -> u64 {
    let mut hasher = seed.hasher(start);
    for chunk in text.as_bytes().chunks(8) {
        hasher.write_u64(word(chunk));
    }
    hasher.write_u64(text.len() as u64);
    hasher.finish()
}
