//! The standing leases: by location, by generation, and by holder in grant order.

use super::hash::{self, Index, Seed};
use super::holders::Holders;
use super::pairs::Pairs;
use super::tree::{Item, NONE, Spot, Tree, push};
use crate::path::Path;
use alloc::{boxed::Box, string::String, vec::Vec};

/// What the table knows of a lease besides its place in the tree, whose order is the generation.
#[derive(Clone, Debug, Default)]
pub(super) struct LeaseData {
    pub acquired_at: u64,
    pub expires_at: u64,
    /// When the deadline queue looks at this slot next; 0 = never. It outlives the lease, so that leases which come and
    /// go share one entry of the queue.
    pub queued: u64,
    /// At most 24 hours.
    pub ttl: u32,
    pub pins: u32,
    /// Its neighbours among the leases of its holder.
    older: u32,
    pub newer: u32,
    /// It was first spelled otherwise than most plainly.
    spelled: bool,
    pub release_pending: bool,
    /// Ran out while pinned.
    pub expired: bool,
}

impl LeaseData {
    pub fn ended(&self) -> bool {
        self.release_pending || self.expired
    }
}

/// What a new lease is.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewLease {
    pub generation: u64,
    pub holder: u32,
    pub exclusive: bool,
    pub acquired_at: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Leases {
    pub tree: Tree,
    /// By slot of the tree.
    data: Vec<LeaseData>,
    generations: Index,
    /// The first spellings that are not the plainest: (generation, slot).
    spelled: Pairs,
    spellings: Vec<Box<str>>,
    free_spellings: Vec<u32>,
    /// The leases at nodes that hold several, by node and holder. (A node that holds one needs no index.)
    crowd: Index,
    seed: Seed,
}

impl Leases {
    pub fn new(hash_key: u64) -> Self {
        Self {
            tree: Tree::new(hash_key),
            data: Vec::new(),
            generations: Index::default(),
            spelled: Pairs::default(),
            spellings: Vec::new(),
            free_spellings: Vec::new(),
            crowd: Index::default(),
            seed: Seed::new(hash_key.rotate_left(32)),
        }
    }

    /// Adds a lease; `spot` is what the tree says of the path now. The caller sets the deadline and what keeps it.
    pub fn insert(&mut self, holders: &mut Holders, spot: Spot, path: Path<'_>, new: NewLease) -> u32 {
        let NewLease { generation, holder, exclusive, acquired_at } = new;
        let spelled = !path.is_plain();
        if spelled {
            self.keep_spelling(generation, path);
        }
        let entry = holders.get_mut(holder);
        let data = LeaseData { acquired_at, spelled, older: entry.last, newer: NONE, ..LeaseData::default() };
        let slot = self.tree.insert(spot, path, generation, holder, exclusive);
        match self.data.get_mut(slot as usize) {
            Some(vacant) => *vacant = LeaseData { queued: vacant.queued, ..data },
            None => push(&mut self.data, data),
        }
        let before = core::mem::replace(&mut entry.last, slot);
        entry.leases += 1;
        match before {
            NONE => entry.first = slot,
            before => self.data[before as usize].newer = slot,
        }
        let (tree, seed) = (&self.tree, &self.seed);
        let generation_hash = |slot| generation_hash(seed, tree.item(slot).order);
        self.generations.insert(generation_hash(slot), slot, &generation_hash);
        let beside = tree.item(slot).prev;
        if beside != NONE {
            let crowd_hash = |slot| crowd_hash(tree, seed, slot);
            if tree.item(beside).prev == NONE {
                self.crowd.insert(crowd_hash(beside), beside, &crowd_hash);
            }
            self.crowd.insert(crowd_hash(slot), slot, &crowd_hash);
        }
        slot
    }

    /// Takes a lease out. Its holder may then have nothing any more.
    pub fn remove(&mut self, holders: &mut Holders, slot: u32) {
        let Item { order: generation, holder, node, prev, .. } = *self.tree.item(slot);
        let (first, last) = self.tree.ends(node);
        if first != last {
            self.leave_crowd(slot);
            let left = if first == slot { last } else { first };
            if (prev == NONE || slot == last) && self.tree.next(first) == last {
                self.leave_crowd(left);
            }
        }
        self.generations.remove(generation_hash(&self.seed, generation), slot);
        self.tree.remove(slot);
        let LeaseData { older, newer, spelled, queued, .. } = self.data[slot as usize];
        self.data[slot as usize] = LeaseData { queued, ..LeaseData::default() };
        if spelled {
            self.drop_spelling(generation);
        }
        let entry = holders.get_mut(holder);
        entry.leases -= 1;
        entry.ended.remove((generation, slot));
        match older {
            NONE => entry.first = newer,
            older => self.data[older as usize].newer = newer,
        }
        match newer {
            NONE => entry.last = older,
            newer => self.data[newer as usize].older = older,
        }
    }

    fn keep_spelling(&mut self, generation: u64, path: Path<'_>) {
        let slot = self.free_spellings.pop().unwrap_or_else(|| {
            self.spellings.push(Box::default());
            self.spellings.len() as u32 - 1
        });
        self.spellings[slot as usize] = path.spelling().into();
        self.spelled.insert((generation, slot));
    }

    fn drop_spelling(&mut self, generation: u64) {
        if let Some(pair) = self.spelled.first_from(generation) {
            self.spelled.remove(pair);
            self.spellings[pair.1 as usize] = Box::default();
            self.free_spellings.push(pair.1);
        }
    }

    fn leave_crowd(&mut self, slot: u32) {
        self.crowd.remove(crowd_hash(&self.tree, &self.seed, slot), slot);
    }

    pub fn find(&self, generation: u64) -> Option<u32> {
        let key = generation_hash(&self.seed, generation);
        self.generations.find(key, |slot| self.tree.item(slot).order == generation)
    }

    pub fn data(&self, slot: u32) -> &LeaseData {
        &self.data[slot as usize]
    }

    pub fn data_mut(&mut self, slot: u32) -> &mut LeaseData {
        &mut self.data[slot as usize]
    }

    /// What is known at every slot, vacant ones too.
    pub fn all_data_mut(&mut self) -> impl Iterator<Item = (u32, &mut LeaseData)> {
        (0..).zip(&mut self.data)
    }

    /// The lease of a holder at exactly this node; there is at most one.
    pub fn own_at(&self, node: u32, holder: u32) -> Option<u32> {
        let (first, last) = self.tree.ends(node);
        if first == last {
            return (first != NONE && self.tree.item(first).holder == holder).then_some(first);
        }
        let key = hash::numbers(&self.seed, 0, [u64::from(node) << 32 | u64::from(holder)]);
        self.crowd.find(key, |slot| {
            let item = self.tree.item(slot);
            item.node == node && item.holder == holder
        })
    }

    /// The first spelling of a lease.
    pub fn spelling(&self, slot: u32) -> String {
        let item = self.tree.item(slot);
        match self.spelled.first_from(item.order) {
            Some((_, spelling)) if self.data(slot).spelled => self.spellings[spelling as usize].as_ref().into(),
            _ => self.tree.spelling(item.node),
        }
    }

    /// The same where the location is known under this path already; often that saves working it out.
    pub fn spelling_of(&self, slot: u32, path: Path<'_>) -> String {
        if path.is_plain() && !self.data(slot).spelled { path.spelling().into() } else { self.spelling(slot) }
    }
}

/// Four generations in a row stand side by side in the index: the youngest leases come and go most, and what they touch
/// is at hand. Only the bits that an index tells neighbours apart by differ, those of 64-bit machines and of 32-bit
/// ones.
fn generation_hash(seed: &Seed, generation: u64) -> u64 {
    let (four, one) = (generation >> 2, generation & 3);
    hash::numbers(seed, 0, [four]) ^ (one << 57 | one << 25)
}

fn crowd_hash(tree: &Tree, seed: &Seed, slot: u32) -> u64 {
    let item = tree.item(slot);
    hash::numbers(seed, 0, [u64::from(item.node) << 32 | u64::from(item.holder)])
}
