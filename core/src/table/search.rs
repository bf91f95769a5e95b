//! What is in the way of a wish: in order, or only whose it is.

use super::pairs::Heap;
use super::tree::{Ask, NONE, Spot, Tree};
use crate::path::Path;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// The items in the way of one wish, in ascending order, found one at a time.
///
/// A heap of places to go on from, each under the lowest order that can still come from there: a list of items, or a
/// chain of siblings with their subtrees. So the first n items cost about n times the depth, however many there are.
pub(super) struct Search<'t> {
    tree: &'t Tree,
    ask: Ask,
    from: Heap,
    /// Nodes and items looked at.
    pub visits: u64,
}

/// Which part of the tree a search looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What overlaps the path.
    Overlapping,
    /// What cannot be compared with it.
    Incomparable,
    /// Both.
    All,
}

/// The last bit of a place in the heap says which it is.
const CHAIN: u32 = 0;
const ITEM: u32 = 1;

impl<'t> Search<'t> {
    /// Starts a search for a path (`None` = unevaluable: nothing can be compared with it), and says how far the path
    /// is known.
    pub fn new(tree: &'t Tree, path: Option<Path<'_>>, ask: Ask, part: Part) -> (Self, Option<Spot>) {
        let mut search = Self { tree, ask, from: Heap::new(), visits: 0 };
        let mut known = None;
        if let Some(path) = path {
            let overlapping = part != Part::Incomparable;
            let spot = tree.walk(path, |node| {
                search.visits += 1;
                if overlapping {
                    search.push_item(tree.ends(node).0);
                }
            });
            if overlapping && spot.complete {
                search.push_chain(tree.first_child(spot.node));
            }
            known = Some(spot);
        }
        if part != Part::Overlapping {
            for absolute in [false, true] {
                if path.is_none_or(|path| path.is_absolute() != absolute) {
                    search.push_chain(tree.root(absolute));
                }
            }
        }
        (search, known)
    }

    fn push_item(&mut self, mut slot: u32) {
        while slot != NONE {
            self.visits += 1;
            let item = self.tree.item(slot);
            if self.ask.is_blocked_by(item) {
                return self.from.push(Reverse((item.order, slot << 1 | ITEM)));
            }
            slot = self.tree.next(slot);
        }
    }

    fn push_chain(&mut self, mut node: u32) {
        while node != NONE {
            self.visits += 1;
            if self.tree.may_block(node, self.ask) {
                return self.from.push(Reverse((self.tree.node(node).since, node << 1 | CHAIN)));
            }
            node = self.tree.next_sibling(node);
        }
    }
}

impl Iterator for Search<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            let Reverse((_, tagged)) = self.from.pop()?;
            let at = tagged >> 1;
            if tagged & 1 == ITEM {
                self.push_item(self.tree.next(at));
                return Some(at);
            }
            self.push_chain(self.tree.next_sibling(at));
            self.push_item(self.tree.ends(at).0);
            self.push_chain(self.tree.first_child(at));
        }
    }
}

/// Shows every holder in the way of a wish to `each`, some perhaps more than once. A subtree of one holder costs one
/// step. Returns how many nodes and items were looked at.
pub(super) fn holders(tree: &Tree, path: Path<'_>, ask: Ask, mut each: impl FnMut(u32)) -> u64 {
    let mut visits = 0;
    let items = |mut slot: u32, each: &mut dyn FnMut(u32)| {
        let mut seen = 0;
        while slot != NONE {
            seen += 1;
            let item = tree.item(slot);
            if ask.is_blocked_by(item) {
                each(item.holder);
            }
            slot = tree.next(slot);
        }
        seen
    };
    let mut chains = Vec::new();
    let spot = tree.walk(path, |node| visits += 1 + items(tree.ends(node).0, &mut each));
    if spot.complete {
        chains.push(tree.first_child(spot.node));
    }
    chains.push(tree.root(!path.is_absolute()));
    while let Some(mut at) = chains.pop() {
        while at != NONE {
            visits += 1;
            if tree.may_block(at, ask) {
                match tree.sole_holder(at) {
                    Some(holder) => each(holder),
                    None => {
                        visits += items(tree.ends(at).0, &mut each);
                        chains.push(tree.first_child(at));
                    }
                }
            }
            at = tree.next_sibling(at);
        }
    }
    visits
}

/// Shows every item in the way of a wish that comes after an order to `each`, in no order that means anything. Returns
/// how many nodes and items were looked at.
pub(super) fn items_after(tree: &Tree, path: Path<'_>, ask: Ask, after: u64, mut each: impl FnMut(u32)) -> u64 {
    let mut visits = 0;
    // A list is ascending, so its end is what comes after.
    let mut list_end = |node: u32| {
        let (_, mut slot) = tree.ends(node);
        let mut seen = 1;
        while slot != NONE && tree.item(slot).order > after {
            seen += 1;
            if ask.is_blocked_by(tree.item(slot)) {
                each(slot);
            }
            slot = tree.item(slot).prev;
        }
        seen
    };
    let spot = tree.walk(path, |node| visits += list_end(node));
    let mut chains = Vec::from([tree.root(!path.is_absolute())]);
    if spot.complete {
        chains.push(tree.first_child(spot.node));
    }
    while let Some(mut at) = chains.pop() {
        while at != NONE {
            visits += 1;
            if tree.may_block(at, ask) {
                visits += list_end(at);
                chains.push(tree.first_child(at));
            }
            at = tree.next_sibling(at);
        }
    }
    visits
}

/// How many items are in the way of a wish, and how many nodes and items it took to tell. `own`: the asker's items.
pub(super) fn count(tree: &Tree, path: Path<'_>, ask: Ask, own: impl Iterator<Item = u32> + Clone) -> (usize, u64) {
    let (mut count, mut visits) = (0, 0);
    let mut add_subtree = |top: u32| {
        count += tree.node(top).blocking(ask.exclusive) as usize;
        count -= own
            .clone()
            .map(|slot| tree.item(slot))
            .filter(|item| (ask.exclusive || item.exclusive) && tree.is_above(top, item.node))
            .count();
    };
    let spot = tree.walk(path, |_| visits += 1);
    add_subtree(tree.root(!path.is_absolute()));
    let mut above = spot.node;
    if spot.complete {
        add_subtree(spot.node);
        above = tree.node(above).parent;
    }
    while above != NONE {
        let mut at = tree.ends(above).0;
        while at != NONE {
            visits += 1;
            count += usize::from(ask.is_blocked_by(tree.item(at)));
            at = tree.next(at);
        }
        above = tree.node(above).parent;
    }
    (count, visits)
}
