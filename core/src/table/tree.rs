//! An index of items by location: leases of holders, or wishes of waiters.
//!
//! One hash index over (parent, segment) finds a location in as many look-ups as it has segments, whatever else stands.
//! Each node carries a summary of its subtree: how many items, how many exclusive ones, and whether all belong to one
//! holder. A search enters only what its summary does not rule out.
//!
//! It decides nothing: what is in the way of what is said by [`Ask`], and what follows by the table.
//!
//! Invariants: a node other than the two roots has an item in its subtree; items of a node, and children by
//! their first item ever, stand in ascending order.

use super::hash::{self, Index, Seed};
use crate::path::Path;
use crate::words::word;
use alloc::{boxed::Box, string::String, vec::Vec};

/// No node, no item, no holder.
pub(super) const NONE: u32 = u32::MAX;

const RELATIVE: u32 = 0;
const ABSOLUTE: u32 = 1;

/// Whose items are looked for: those in the way of a holder's wish.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    /// The asker; [`NONE`] where the table does not know it.
    pub holder: u32,
    /// An exclusive wish is in the way of everything, a shared one only of what is exclusive.
    pub exclusive: bool,
}

impl Ask {
    pub fn is_blocked_by(self, item: &Item) -> bool {
        item.holder != self.holder && (self.exclusive || item.exclusive)
    }
}

/// One segment of a path. Up to 15 bytes stand in two words, the length in the last byte, so that telling two apart and
/// hashing take no loop; of a longer one the words are a slot in [`Tree::long`] and the mark [`Segment::LONG`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment([u64; 2]);

impl Segment {
    const SHORT_MAX: usize = 15;
    const LONG: u64 = 0xff << 56;

    /// `None` where the segment is long.
    fn short(text: &str) -> Option<Self> {
        let text = text.as_bytes();
        let bytes = (text.len() as u64) << 56;
        match text.len() {
            0..=8 => Some(Self([word(text), bytes])),
            9..=Self::SHORT_MAX => Some(Self([word(&text[..8]), word(&text[8..]) | bytes])),
            _ => None,
        }
    }

    fn long(slot: u32) -> Self {
        Self([slot.into(), Self::LONG])
    }

    fn as_long(self) -> Option<usize> {
        (self.0[1] == Self::LONG).then_some(self.0[0] as usize)
    }

    fn push_to(self, spelling: &mut String) {
        let bytes = (u128::from(self.0[1]) << 64 | u128::from(self.0[0])).to_le_bytes();
        spelling.push_str(core::str::from_utf8(&bytes[..usize::from(bytes[15])]).unwrap_or_default());
    }

    fn hash(self, seed: &Seed, parent: u32) -> u64 {
        hash::numbers(seed, parent.into(), self.0)
    }
}

/// A node of the tree, with the summary of its subtree.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Node {
    segment: Segment,
    /// No item of the subtree comes before this; the order of the siblings.
    pub since: u64,
    /// Sum of the holders of the items, and of their squares: together they tell whether all are one (the variance is
    /// zero), and stay true when an item goes. Above the sum, from bit [`EXCLUSIVE`] on, the number of exclusive items.
    holders: u64,
    squares: u64,
    pub count: u32,
    pub parent: u32,
    /// [`NONE`] before the first of the siblings.
    prev: u32,
    /// Behind the last of the siblings comes the first.
    next: u32,
    last_child: u32,
    last: u32,
}

// A node is one line of a cache.
const _: () = assert!(size_of::<Node>() == 64);

/// A million items of a million holders sum up to less than 2^44, and a million is less than 2^20.
const EXCLUSIVE: u32 = 44;

/// An item at a node.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Ascending over time, above 0; 0 marks a vacant slot.
    pub order: u64,
    pub holder: u32,
    pub node: u32,
    /// [`NONE`] before the first at the node.
    pub prev: u32,
    /// Behind the last at the node comes the first.
    next: u32,
    pub exclusive: bool,
}

/// How far a path is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    /// The deepest known node on the path.
    pub node: u32,
    /// How many bytes of the spelling come after it.
    left: u32,
    /// It is the node of the whole path.
    pub complete: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    /// The long segments.
    long: Vec<Box<str>>,
    free_long: Vec<u32>,
    items: Vec<Item>,
    free_items: Vec<u32>,
    index: Index,
    seed: Seed,
}

impl Tree {
    pub fn new(hash_key: u64) -> Self {
        Self {
            nodes: Vec::from([Node::new(Segment([0, 0]), NONE, 0); 2]),
            free_nodes: Vec::new(),
            long: Vec::new(),
            free_long: Vec::new(),
            items: Vec::new(),
            free_items: Vec::new(),
            index: Index::default(),
            seed: Seed::new(hash_key),
        }
    }

    /// Adds an item at a path; `spot` is what [`Tree::walk`] says of it now. The order is above that of all others.
    pub fn insert(&mut self, spot: Spot, path: Path<'_>, order: u64, holder: u32, exclusive: bool) -> u32 {
        let mut node = spot.node;
        if !spot.complete {
            for segment in path.last_segments(spot.left as usize) {
                node = self.add_child(node, segment, order);
            }
        }
        self.link(node, self.nodes[node as usize].last, order, holder, exclusive)
    }

    /// Adds an item that is like a standing one, right behind it.
    pub fn insert_after(&mut self, slot: u32) -> u32 {
        let Item { order, holder, node, exclusive, .. } = self.items[slot as usize];
        self.link(node, slot, order, holder, exclusive)
    }

    fn link(&mut self, node: u32, prev: u32, order: u64, holder: u32, exclusive: bool) -> u32 {
        let slot = self.free_items.pop().unwrap_or(self.items.len() as u32);
        let next = if prev == NONE { slot } else { self.items[prev as usize].next };
        let item = Item { order, holder, node, prev, next, exclusive };
        match self.items.get_mut(slot as usize) {
            Some(vacant) => *vacant = item,
            None => push(&mut self.items, item),
        }
        if prev != NONE {
            self.items[prev as usize].next = slot;
        }
        if prev == self.nodes[node as usize].last {
            self.nodes[node as usize].last = slot;
        } else {
            self.items[next as usize].prev = slot;
        }
        let sums = u64::from(holder) | u64::from(exclusive) << EXCLUSIVE;
        let square = u64::from(holder) * u64::from(holder);
        let mut node = node;
        while node != NONE {
            let at = &mut self.nodes[node as usize];
            at.count += 1;
            at.holders += sums;
            at.squares += square;
            node = at.parent;
        }
        slot
    }

    /// Takes an item out, and the nodes that nothing needs any more.
    pub fn remove(&mut self, slot: u32) {
        let vacant = Item { order: 0, holder: NONE, node: NONE, prev: NONE, next: NONE, exclusive: false };
        let item = core::mem::replace(&mut self.items[slot as usize], vacant);
        self.free_items.push(slot);
        let last = self.nodes[item.node as usize].last;
        if item.prev != NONE || last != slot {
            self.items[if item.prev == NONE { last } else { item.prev } as usize].next = item.next;
        }
        if last == slot {
            self.nodes[item.node as usize].last = item.prev;
        } else {
            self.items[item.next as usize].prev = item.prev;
        }
        let sums = u64::from(item.holder) | u64::from(item.exclusive) << EXCLUSIVE;
        let square = u64::from(item.holder) * u64::from(item.holder);
        let mut node = item.node;
        while node != NONE {
            let at = &mut self.nodes[node as usize];
            at.count -= 1;
            at.holders -= sums;
            at.squares -= square;
            let (parent, empty) = (at.parent, at.count == 0);
            if empty && parent != NONE {
                self.remove_node(node);
            }
            node = parent;
        }
    }

    /// Makes a shared item exclusive.
    pub fn strengthen(&mut self, slot: u32) {
        let item = &mut self.items[slot as usize];
        item.exclusive = true;
        let mut node = item.node;
        while node != NONE {
            let at = &mut self.nodes[node as usize];
            at.holders += 1 << EXCLUSIVE;
            node = at.parent;
        }
    }

    fn add_child(&mut self, parent: u32, text: &str, since: u64) -> u32 {
        let (segment, hash) = match Segment::short(text) {
            Some(segment) => (segment, segment.hash(&self.seed, parent)),
            None => (self.keep_long(text), hash::text(&self.seed, parent.into(), text)),
        };
        let node = self.free_nodes.pop().unwrap_or(self.nodes.len() as u32);
        let before = core::mem::replace(&mut self.nodes[parent as usize].last_child, node);
        let next = if before == NONE { node } else { core::mem::replace(&mut self.nodes[before as usize].next, node) };
        let child = Node { prev: before, next, ..Node::new(segment, parent, since) };
        match self.nodes.get_mut(node as usize) {
            Some(vacant) => *vacant = child,
            None => push(&mut self.nodes, child),
        }
        let (nodes, long, seed) = (&self.nodes, &self.long, &self.seed);
        self.index.insert(hash, node, &|n| node_hash(nodes, long, seed, n));
        node
    }

    fn keep_long(&mut self, text: &str) -> Segment {
        Segment::long(match self.free_long.pop() {
            Some(slot) => {
                self.long[slot as usize] = text.into();
                slot
            }
            None => {
                self.long.push(text.into());
                self.long.len() as u32 - 1
            }
        })
    }

    fn remove_node(&mut self, node: u32) {
        self.index.remove(node_hash(&self.nodes, &self.long, &self.seed, node), node);
        let Node { parent, prev, next, segment, .. } = self.nodes[node as usize];
        if let Some(slot) = segment.as_long() {
            self.long[slot] = Box::default();
            self.free_long.push(slot as u32);
        }
        let last = self.nodes[parent as usize].last_child;
        if prev != NONE || last != node {
            self.nodes[if prev == NONE { last } else { prev } as usize].next = next;
        }
        if last == node {
            self.nodes[parent as usize].last_child = prev;
        } else {
            self.nodes[next as usize].prev = prev;
        }
        self.free_nodes.push(node);
    }
}

impl Tree {
    /// Follows a path as far as it is known; every known node on it is shown to `each`.
    pub fn walk(&self, path: Path<'_>, mut each: impl FnMut(u32)) -> Spot {
        let mut node = self.root(path.is_absolute());
        each(node);
        let mut segments = path.segments();
        loop {
            let left = segments.left() as u32;
            let Some(segment) = segments.next() else { return Spot { node, left, complete: true } };
            let Some(child) = self.child(node, segment) else { return Spot { node, left, complete: false } };
            node = child;
            each(node);
        }
    }

    fn child(&self, parent: u32, text: &str) -> Option<u32> {
        match Segment::short(text) {
            Some(segment) => self.index.find(segment.hash(&self.seed, parent), |n| {
                let node = &self.nodes[n as usize];
                node.segment == segment && node.parent == parent
            }),
            None => self.index.find(hash::text(&self.seed, parent.into(), text), |n| {
                let node = &self.nodes[n as usize];
                node.parent == parent && node.segment.as_long().is_some_and(|slot| *self.long[slot] == *text)
            }),
        }
    }

    pub fn root(&self, absolute: bool) -> u32 {
        if absolute { ABSOLUTE } else { RELATIVE }
    }

    pub fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The first and the last item at a node itself.
    pub fn ends(&self, node: u32) -> (u32, u32) {
        match self.nodes[node as usize].last {
            NONE => (NONE, NONE),
            last => (self.items[last as usize].next, last),
        }
    }

    /// The item after this one at the same node.
    pub fn next(&self, slot: u32) -> u32 {
        let item = &self.items[slot as usize];
        if self.nodes[item.node as usize].last == slot { NONE } else { item.next }
    }

    pub fn first_child(&self, node: u32) -> u32 {
        match self.nodes[node as usize].last_child {
            NONE => NONE,
            last => self.nodes[last as usize].next,
        }
    }

    pub fn next_sibling(&self, node: u32) -> u32 {
        let Node { parent, next, .. } = self.nodes[node as usize];
        if parent == NONE || self.nodes[parent as usize].last_child == node { NONE } else { next }
    }

    pub fn item(&self, slot: u32) -> &Item {
        &self.items[slot as usize]
    }

    /// The slots of all items, in no order that means anything.
    pub fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.items.len() as u32).filter(|&slot| self.items[slot as usize].order > 0)
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        (self.nodes[RELATIVE as usize].count + self.nodes[ABSOLUTE as usize].count) as usize
    }

    /// May something in the subtree of this node be in the way?
    pub fn may_block(&self, node: u32, ask: Ask) -> bool {
        let node = &self.nodes[node as usize];
        node.blocking(ask.exclusive) > 0 && !node.belongs_to(ask.holder)
    }

    /// The holder of all items in the subtree, where they are of one.
    pub fn sole_holder(&self, node: u32) -> Option<u32> {
        let node = &self.nodes[node as usize];
        let holder = node.sum().checked_div(u64::from(node.count))? as u32;
        node.belongs_to(holder).then_some(holder)
    }

    /// Is the first node the second one, or above it?
    pub fn is_above(&self, node: u32, mut other: u32) -> bool {
        while other != node && other != NONE {
            other = self.nodes[other as usize].parent;
        }
        other == node
    }

    /// Does one of the two locations contain the other, or can that not be told? `spot` is [`Tree::walk`]'s of a path.
    pub fn may_overlap(&self, node: u32, spot: Spot) -> bool {
        self.is_above(node, spot.node)
            || (spot.complete && self.is_above(spot.node, node))
            || self.root_of(node) != self.root_of(spot.node)
    }

    pub fn root_of(&self, mut node: u32) -> u32 {
        while self.nodes[node as usize].parent != NONE {
            node = self.nodes[node as usize].parent;
        }
        node
    }

    /// The plainest spelling of a node's location.
    pub fn spelling(&self, node: u32) -> String {
        let absolute = self.root_of(node) == ABSOLUTE;
        let mut spelling = String::with_capacity(48);
        self.spell(node, absolute, &mut spelling);
        if spelling.is_empty() {
            spelling.push(if absolute { '/' } else { '.' });
        }
        spelling
    }

    fn spell(&self, node: u32, absolute: bool, spelling: &mut String) {
        let at = &self.nodes[node as usize];
        if at.parent == NONE {
            return;
        }
        self.spell(at.parent, absolute, spelling);
        if absolute || !spelling.is_empty() {
            spelling.push('/');
        }
        match at.segment.as_long() {
            Some(slot) => spelling.push_str(&self.long[slot]),
            None => at.segment.push_to(spelling),
        }
    }
}

impl Node {
    fn new(segment: Segment, parent: u32, since: u64) -> Self {
        Self {
            segment,
            since,
            holders: 0,
            squares: 0,
            count: 0,
            parent,
            prev: NONE,
            next: NONE,
            last_child: NONE,
            last: NONE,
        }
    }

    /// Are all items of the subtree this holder's? The sum of (x - holder)^2 over them is then zero.
    fn belongs_to(&self, holder: u32) -> bool {
        let (count, holder) = (u64::from(self.count), u64::from(holder));
        self.sum() == count.wrapping_mul(holder) && self.squares == count.wrapping_mul(holder.wrapping_mul(holder))
    }

    /// The sum of the holders.
    fn sum(&self) -> u64 {
        self.holders & ((1 << EXCLUSIVE) - 1)
    }

    /// How many items of the subtree are in the way of such a wish, whoever has them.
    pub fn blocking(&self, exclusive_wish: bool) -> u32 {
        if exclusive_wish { self.count } else { (self.holders >> EXCLUSIVE) as u32 }
    }
}

/// Adds to a list that grows by a quarter: a large table has little room to spare.
pub(super) fn push<T>(list: &mut Vec<T>, what: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 4 + 4);
    }
    list.push(what);
}

fn node_hash(nodes: &[Node], long: &[Box<str>], seed: &Seed, node: u32) -> u64 {
    let Node { segment, parent, .. } = nodes[node as usize];
    match segment.as_long() {
        Some(slot) => hash::text(seed, parent.into(), &long[slot]),
        None => segment.hash(seed, parent),
    }
}
