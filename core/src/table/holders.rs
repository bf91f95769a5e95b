//! Who has something in a table: leases, waiters or pins. A holder without any is forgotten.

use super::hash::{self, Index, Seed};
use super::pairs::Pairs;
use super::tree::NONE;
use crate::holder::Holder;
use alloc::vec::Vec;

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub id: Holder,
    /// Its leases in grant order are a list; these are its ends.
    pub first: u32,
    pub last: u32,
    pub leases: u32,
    pub pins: u32,
    /// (generation, slot) of its leases that only pins keep.
    pub ended: Pairs,
    /// Its waiters; at most one in `fifo`.
    pub waiters: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Holders {
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    index: Index,
    seed: Seed,
}

impl Holders {
    pub fn new(hash_key: u64) -> Self {
        Self { entries: Vec::new(), free: Vec::new(), index: Index::default(), seed: Seed::new(!hash_key) }
    }

    pub fn find(&self, id: &str) -> Option<u32> {
        self.index.find(hash::text(&self.seed, 0, id), |n| self.is(n, id))
    }

    /// The holder of a valid id, made known where it is not.
    pub fn add(&mut self, id: &str) -> u32 {
        let key = hash::text(&self.seed, 0, id);
        if let Some(holder) = self.index.find(key, |n| self.is(n, id)) {
            return holder;
        }
        let id = Holder::known(id);
        let entry =
            Entry { id, first: NONE, last: NONE, leases: 0, pins: 0, ended: Pairs::default(), waiters: Vec::new() };
        let holder = match self.free.pop() {
            Some(holder) => {
                self.entries[holder as usize] = Some(entry);
                holder
            }
            None => {
                self.entries.push(Some(entry));
                self.entries.len() as u32 - 1
            }
        };
        let (entries, seed) = (&self.entries, &self.seed);
        self.index.insert(key, holder, &|n| entries[n as usize].as_ref().map_or(0, |e| hash::text(seed, 0, &e.id)));
        holder
    }

    /// Forgets a holder that has nothing any more.
    pub fn tidy(&mut self, holder: u32) {
        let entry = self.get(holder);
        if entry.leases > 0 || entry.pins > 0 || !entry.waiters.is_empty() {
            return;
        }
        self.index.remove(hash::text(&self.seed, 0, &entry.id), holder);
        self.entries[holder as usize] = None;
        self.free.push(holder);
    }

    pub fn get(&self, holder: u32) -> &Entry {
        self.entries[holder as usize].as_ref().expect("whoever has something is known")
    }

    pub fn get_mut(&mut self, holder: u32) -> &mut Entry {
        self.entries[holder as usize].as_mut().expect("whoever has something is known")
    }

    fn is(&self, holder: u32, id: &str) -> bool {
        self.entries[holder as usize].as_ref().is_some_and(|entry| *entry.id == *id)
    }
}
