//! The registered waiters: by id, in queue order, and their wishes by location.
//!
//! Every waiter either is ready, or watches one thing in its way: a lease, or a waiter ahead of it. Only when that goes
//! is the waiter looked at again; so the end of a lease wakes those who watch it, not all who wait.

use super::hash::{self, Index, Seed};
use super::pairs::{Pair, Pairs, sorted};
use super::tree::{NONE, Spot, Tree};
use crate::path::Path;
use alloc::{boxed::Box, vec::Vec};

#[derive(Clone, Debug)]
pub(super) struct Waiter {
    pub id: Box<str>,
    pub holder: u32,
    /// Its wishes, in the order asked: slots of [`Waiters::wishes`].
    pub wishes: Vec<u32>,
    /// First attempt.
    pub since: u64,
    /// Last attempt + keep.
    pub lapses_at: Option<u64>,
    /// When the deadline queue looks at it next; 0 = never.
    pub queued: u64,
    pub place: u64,
    /// Ascending.
    pub passed: Vec<u64>,
    /// What it watches; `None` where it is ready, or yet to be looked at.
    watched: Option<Watched>,
}

/// What a waiter watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// A lease, by generation.
    Lease(u64),
    /// A waiter ahead, by place.
    Waiter(u64),
}

impl Watched {
    fn key(self) -> u64 {
        match self {
            Self::Lease(generation) => generation << 1,
            Self::Waiter(place) => place << 1 | 1,
        }
    }
}

/// A wish in the tree, whose order is the place of the waiter.
#[derive(Clone, Debug, Default)]
struct WishData {
    waiter: u32,
    spelling: Box<str>,
}

#[derive(Clone, Debug)]
pub(super) struct Waiters {
    entries: Vec<Option<Waiter>>,
    free: Vec<u32>,
    ids: Index,
    seed: Seed,
    pub wishes: Tree,
    /// By slot of the tree.
    asked: Vec<WishData>,
    /// (place, slot) of all waiters.
    pub queue: Pairs,
    /// (place, slot) of those with nothing in their way.
    pub ready: Pairs,
    /// (place, slot) of those to be looked at.
    pub unsettled: Pairs,
    /// (what is watched, slot of who watches).
    watches: Pairs,
    /// How many waiters have more than one wish.
    pub manifold: usize,
}

impl Waiters {
    pub fn new(hash_key: u64) -> Self {
        Self {
            entries: Vec::new(),
            free: Vec::new(),
            ids: Index::default(),
            seed: Seed::new(hash_key.rotate_left(16)),
            wishes: Tree::new(hash_key),
            asked: Vec::new(),
            queue: Pairs::default(),
            ready: Pairs::default(),
            unsettled: Pairs::default(),
            watches: Pairs::default(),
            manifold: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.queue.as_slice().len()
    }

    pub fn find(&self, id: &str) -> Option<u32> {
        self.ids.find(hash::text(&self.seed, 0, id), |n| self.exists(n) && *self.get(n).id == *id)
    }

    pub fn exists(&self, slot: u32) -> bool {
        self.entries.get(slot as usize).is_some_and(Option::is_some)
    }

    pub fn get(&self, slot: u32) -> &Waiter {
        self.entries[slot as usize].as_ref().expect("a slot of a standing waiter")
    }

    pub fn get_mut(&mut self, slot: u32) -> &mut Waiter {
        self.entries[slot as usize].as_mut().expect("a slot of a standing waiter")
    }

    /// Adds a waiter whose place is above that of every other one. It is unsettled.
    pub fn insert<'a>(
        &mut self,
        id: &str,
        holder: u32,
        wishes: impl Iterator<Item = (Path<'a>, bool)>,
        since: u64,
        place: u64,
        passed: Vec<u64>,
    ) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        let wishes = wishes
            .map(|(path, exclusive)| {
                let spot = self.wishes.walk(path, |_| ());
                let wish = self.wishes.insert(spot, path, place, holder, exclusive);
                self.note(wish, slot, path);
                wish
            })
            .collect::<Vec<_>>();
        self.manifold += usize::from(wishes.len() > 1);
        let key = hash::text(&self.seed, 0, id);
        self.entries[slot as usize] = Some(Waiter {
            id: id.into(),
            holder,
            wishes,
            since,
            lapses_at: None,
            queued: 0,
            place,
            passed,
            watched: None,
        });
        let (entries, seed) = (&self.entries, &self.seed);
        self.ids.insert(key, slot, &|n| entries[n as usize].as_ref().map_or(0, |w| hash::text(seed, 0, &w.id)));
        self.queue.insert((place, slot));
        self.unsettled.insert((place, slot));
        slot
    }

    /// Has a waiter's wishes said as they were asked last; the locations and modes are the same, and so is its place.
    pub fn respell<'a>(&mut self, slot: u32, wishes: impl Iterator<Item = (Path<'a>, bool)> + Clone) {
        let standing = &self.get(slot).wishes;
        let told = standing.iter().map(|&w| (self.path(w).spelling(), self.wishes.item(w).exclusive));
        if told.eq(wishes.clone().map(|(path, exclusive)| (path.spelling(), exclusive))) {
            return;
        }
        let before = core::mem::take(&mut self.get_mut(slot).wishes);
        self.manifold -= usize::from(before.len() > 1);
        let mut after = Vec::new();
        for (path, exclusive) in wishes {
            let node = self.wishes.walk(path, |_| ()).node;
            let twin = before.iter().copied().find(|&wish| {
                let item = self.wishes.item(wish);
                item.node == node && item.exclusive == exclusive
            });
            if let Some(twin) = twin {
                let wish = self.wishes.insert_after(twin);
                self.note(wish, slot, path);
                after.push(wish);
            }
        }
        for wish in before {
            self.forget(wish);
        }
        self.manifold += usize::from(after.len() > 1);
        self.get_mut(slot).wishes = after;
    }

    /// Takes a waiter out; those that watch it are unsettled.
    pub fn remove(&mut self, slot: u32) -> Waiter {
        self.watch(slot, None);
        self.ids.remove(hash::text(&self.seed, 0, &self.get(slot).id), slot);
        let waiter = self.entries[slot as usize].take().expect("a slot of a standing waiter");
        self.free.push(slot);
        for &wish in &waiter.wishes {
            self.forget(wish);
        }
        self.manifold -= usize::from(waiter.wishes.len() > 1);
        let key = (waiter.place, slot);
        self.queue.remove(key);
        self.ready.remove(key);
        self.unsettled.remove(key);
        self.wake(Watched::Waiter(waiter.place));
        waiter
    }

    /// What was watched is gone: whoever watched it is unsettled.
    pub fn wake(&mut self, gone: Watched) {
        let key = gone.key();
        while let Some((_, slot)) = self.watches.first_from(key).filter(|&(watched, _)| watched == key) {
            self.unsettle(slot);
        }
    }

    /// Keeps what the tree does not say of a wish.
    fn note(&mut self, wish: u32, waiter: u32, path: Path<'_>) {
        if self.asked.len() <= wish as usize {
            self.asked.resize_with(wish as usize + 1, WishData::default);
        }
        self.asked[wish as usize] = WishData { waiter, spelling: path.spelling().into() };
    }

    /// Takes a wish out.
    fn forget(&mut self, wish: u32) {
        self.wishes.remove(wish);
        self.asked[wish as usize] = WishData::default();
    }

    /// Whose wish it is.
    pub fn waiter_of(&self, wish: u32) -> u32 {
        self.asked[wish as usize].waiter
    }

    /// Has a waiter looked at again.
    pub fn unsettle(&mut self, slot: u32) {
        self.watch(slot, None);
        self.unsettled.insert((self.get(slot).place, slot));
    }

    pub fn watch(&mut self, slot: u32, what: Option<Watched>) {
        let before = core::mem::replace(&mut self.get_mut(slot).watched, what);
        if let Some(before) = before {
            self.watches.remove((before.key(), slot));
        }
        if let Some(what) = what {
            self.watches.insert((what.key(), slot));
        }
    }

    pub fn watched(&self, slot: u32) -> Option<Watched> {
        self.get(slot).watched
    }

    /// The path of a wish.
    pub fn path(&self, wish: u32) -> Path<'_> {
        Path::known(&self.asked[wish as usize].spelling)
    }

    /// (node, exclusive) of each wish, sorted, each once: what tells two sets of wishes apart.
    pub fn wish_set(&self, slot: u32) -> Vec<Pair> {
        let items = self.get(slot).wishes.iter().map(|&wish| self.wishes.item(wish));
        sorted(items.map(|item| (item.node.into(), item.exclusive.into())))
    }

    /// The same of paths that are asked for; `None` where one is nobody's wish.
    pub fn asked_set<'a>(&self, asked: impl Iterator<Item = (Path<'a>, bool)>) -> Option<Vec<Pair>> {
        let mut set = Vec::new();
        for (path, exclusive) in asked {
            let Spot { node, complete, .. } = self.wishes.walk(path, |_| ());
            if !complete {
                return None;
            }
            set.push((node.into(), exclusive.into()));
        }
        Some(sorted(set))
    }

    /// An earlier item at the node of this wish that is in its way, among the last few; the nearest first. A cheap
    /// look before a search, and the best thing to watch: the last one that will go.
    pub fn just_ahead(&self, wish: u32, passed: &[u64], place: u64) -> Option<u64> {
        const LOOKED_AT: usize = 16;
        let own = self.wishes.item(wish);
        let ask = super::tree::Ask { holder: own.holder, exclusive: own.exclusive };
        let mut at = own.prev;
        for _ in 0..LOOKED_AT {
            if at == NONE {
                return None;
            }
            let item = self.wishes.item(at);
            if item.order < place && ask.is_blocked_by(item) && passed.binary_search(&item.order).is_err() {
                return Some(item.order);
            }
            at = item.prev;
        }
        None
    }
}
