//! Ordered sets of pairs: a number to order by, and a slot.
//!
//! A sorted list: what these sets hold comes and goes mostly at the ends, and they are small or short-lived. One kind
//! of set keeps the code of a component small.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

pub(super) type Pair = (u64, u32);

/// A set of pairs in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs(Vec<Pair>);

impl Pairs {
    /// Adds a pair; `false` where it is in already.
    pub fn insert(&mut self, pair: Pair) -> bool {
        if self.0.last().is_none_or(|&last| last < pair) {
            self.0.push(pair);
            return true;
        }
        let at = self.from(pair);
        let new = self.0[at] != pair;
        if new {
            self.0.insert(at, pair);
        }
        new
    }

    pub fn remove(&mut self, pair: Pair) {
        let at = self.from(pair);
        if self.0.get(at) == Some(&pair) {
            self.0.remove(at);
        }
    }

    pub fn contains(&self, pair: Pair) -> bool {
        self.0.get(self.from(pair)) == Some(&pair)
    }

    /// The first pair whose number is at least this.
    pub fn first_from(&self, number: u64) -> Option<Pair> {
        self.0.get(self.from((number, 0))).copied()
    }

    pub fn pop_first(&mut self) -> Option<Pair> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    pub fn as_slice(&self) -> &[Pair] {
        &self.0
    }

    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|&(_, slot)| slot)
    }

    fn from(&self, pair: Pair) -> usize {
        self.0.partition_point(|&other| other < pair)
    }
}

/// A heap with the lowest pair first.
pub(super) type Heap = BinaryHeap<Reverse<Pair>>;

/// The pairs in ascending order, each once.
pub(super) fn sorted(pairs: impl IntoIterator<Item = Pair>) -> Vec<Pair> {
    let mut pairs = pairs.into_iter().collect::<Vec<_>>();
    if !pairs.is_sorted() {
        let mut heap = pairs.drain(..).map(Reverse).collect::<Heap>();
        while let Some(Reverse(pair)) = heap.pop() {
            pairs.push(pair);
        }
    }
    pairs.dedup();
    pairs
}
