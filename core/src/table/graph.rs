//! Who waits for whom: the edges among holders, and the search for cycles.
//!
//! Nothing here is remembered. A lease edge leads from a waiting holder to the holder of every lease in the way of its
//! wishes; a queue edge (`fifo` only) to the holder of every waiter it queues behind. A search goes on from both ends
//! in turn, and stops when either side is exhausted.

use super::pairs::{Pair, sorted};
use super::search;
use super::tree::{Ask, NONE};
use super::{Asked, Table};
use crate::holder::Holder;
use crate::path::Path;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use hashbrown::HashTable;

/// Holders that were found, each with the one it was found from.
#[derive(Debug, Default)]
pub(super) struct Marks(HashTable<(u32, u32)>);

impl Marks {
    /// Marks a holder; `false` where it was marked before.
    pub fn insert(&mut self, holder: u32, from: u32) -> bool {
        let new = !self.contains(holder);
        if new {
            self.0.insert_unique(spread(holder), (holder, from), |&(holder, _)| spread(holder));
        }
        new
    }

    pub fn contains(&self, holder: u32) -> bool {
        self.from(holder).is_some()
    }

    fn from(&self, holder: u32) -> Option<u32> {
        self.0.find(spread(holder), |&(marked, _)| marked == holder).map(|&(_, from)| from)
    }
}

/// Slots are small numbers that nobody outside chooses; they only need to be spread.
fn spread(holder: u32) -> u64 {
    u64::from(holder).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Which edges are meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    /// Queue edges too.
    pub queue: bool,
    /// A waiter that counts as gone.
    pub without: Option<u32>,
}

impl Table {
    /// Whom a holder waits for; some perhaps more than once.
    pub(super) fn edges_out(&mut self, holder: u32, edges: Edges) -> Vec<u32> {
        let mut out = Vec::new();
        for slot in self.standing_waiters(holder, edges) {
            let waiter = self.waiters.get(slot);
            for &wish in &waiter.wishes {
                let ask = Ask { holder, exclusive: self.waiters.wishes.item(wish).exclusive };
                let mut before = NONE;
                self.visits += search::holders(&self.leases.tree, self.waiters.path(wish), ask, |blocker| {
                    if blocker != before {
                        out.push(blocker);
                        before = blocker;
                    }
                });
            }
            if edges.queue {
                let ahead = self.places_ahead(slot, usize::MAX);
                out.extend(
                    ahead
                        .iter()
                        .filter(|&&(_, slot)| Some(slot) != edges.without)
                        .map(|&(_, slot)| self.waiters.get(slot).holder),
                );
            }
        }
        out
    }

    /// Who waits for a holder; some perhaps more than once.
    pub(super) fn edges_in(&mut self, holder: u32, edges: Edges) -> Vec<u32> {
        let mut found = Vec::new();
        if self.waiters.len() == 0 {
            return Vec::new();
        }
        // From the leases to the wishes in their way, or the other way round, whichever are fewer.
        if self.holders.get(holder).leases as usize <= self.waiters.wishes.len() {
            let mut lease = self.holders.get(holder).first;
            while lease != NONE {
                let item = self.leases.tree.item(lease);
                let (ask, next) = (Ask { holder, exclusive: item.exclusive }, self.leases.data(lease).newer);
                let spelling = self.leases.spelling(lease);
                self.wishes_in_the_way(Path::known(&spelling), ask, 0, &mut found);
                lease = next;
            }
        } else {
            for slot in self.waiter_slots() {
                let waiter = self.waiters.get(slot);
                if waiter.holder == holder {
                    continue;
                }
                for &wish in &waiter.wishes {
                    let ask = Ask { holder: waiter.holder, exclusive: self.waiters.wishes.item(wish).exclusive };
                    let mut blocks = false;
                    self.visits += search::holders(&self.leases.tree, self.waiters.path(wish), ask, |blocker| {
                        blocks |= blocker == holder;
                    });
                    if blocks {
                        found.push((waiter.place, slot));
                        break;
                    }
                }
            }
        }
        if edges.queue && self.is_fifo() {
            for slot in self.standing_waiters(holder, edges) {
                let place = self.waiters.get(slot).place;
                let mut behind = Vec::new();
                for (path, exclusive) in self.wishes_of(slot) {
                    self.wishes_in_the_way(Path::known(&path), Ask { holder, exclusive }, place, &mut behind);
                }
                behind.retain(|&(_, slot)| self.waiters.get(slot).passed.binary_search(&place).is_err());
                found.append(&mut behind);
            }
        }
        let found = sorted(found);
        let left = found.iter().filter(|&&(_, slot)| Some(slot) != edges.without);
        left.map(|&(_, slot)| self.waiters.get(slot).holder).collect()
    }

    fn standing_waiters(&self, holder: u32, edges: Edges) -> Vec<u32> {
        let waiters = self.holders.get(holder).waiters.iter().copied();
        waiters.filter(|&slot| Some(slot) != edges.without).collect()
    }

    /// (place, slot) of the waiters after a place whose wishes something at this path is in the way of.
    fn wishes_in_the_way(&mut self, path: Path<'_>, ask: Ask, after: u64, found: &mut Vec<Pair>) {
        let wishes = &self.waiters.wishes;
        self.visits += search::items_after(wishes, path, ask, after, |slot| {
            let item = wishes.item(slot);
            found.push((item.order, self.waiters.waiter_of(slot)));
        });
    }

    /// Does a way lead along the edges from one of the starts to the goal?
    fn is_led_to(&mut self, starts: &[u32], goal: u32, edges: Edges) -> bool {
        let (mut reached, mut reaching) = (Marks::default(), Marks::default());
        let mut ahead = VecDeque::new();
        // How many of those ahead wait: the others lead nowhere. Where none does, nobody asks who waits for the goal,
        // which may be thousands.
        let mut waiting_ahead = 0;
        let waits = |table: &Self, holder: u32| usize::from(!table.holders.get(holder).waiters.is_empty());
        for &start in starts {
            if start != goal && reached.insert(start, NONE) {
                waiting_ahead += waits(self, start);
                ahead.push_back(start);
            }
        }
        reaching.insert(goal, NONE);
        let mut back = VecDeque::from([goal]);
        loop {
            if waiting_ahead == 0 {
                return false;
            }
            let Some(at) = back.pop_front() else { return false };
            for holder in self.edges_in(at, edges) {
                if reaching.insert(holder, at) {
                    if reached.contains(holder) {
                        return true;
                    }
                    back.push_back(holder);
                }
            }
            let Some(at) = ahead.pop_front() else { return false };
            waiting_ahead -= waits(self, at);
            for holder in self.edges_out(at, edges) {
                if reached.insert(holder, at) {
                    if reaching.contains(holder) {
                        return true;
                    }
                    waiting_ahead += waits(self, holder);
                    ahead.push_back(holder);
                }
            }
        }
    }

    /// The cycle of lease edges that an attempt leads to, if there is one: first = last.
    pub(super) fn deadlock(
        &mut self,
        asker: u32,
        id: &str,
        asked: &[Asked<'_>],
        standing: Option<u32>,
    ) -> Option<Vec<Holder>> {
        let edges = Edges { queue: false, without: standing };
        let mut starts = self.lease_blockers(asker, asked);
        if asker != NONE {
            starts.append(&mut self.edges_out(asker, edges));
            if self.is_led_to(&starts, asker, edges) {
                let way = self.shortest_way(starts, asker, edges);
                let ids = way.iter().map(|&holder| self.holders.get(holder).id.clone());
                return Some(core::iter::once(Holder::known(id)).chain(ids).collect());
            }
        }
        // Only where a grant has closed a cycle among waiters may one lie further on.
        if self.tangled { self.cycle_beyond(&starts, edges) } else { None }
    }

    /// The way that is told of those there are: a shortest one, the first by ids. It is the same however the table came
    /// to be what it is.
    fn shortest_way(&mut self, starts: Vec<u32>, goal: u32, edges: Edges) -> Vec<u32> {
        let mut reached = Marks::default();
        let mut ahead = VecDeque::from([(NONE, starts)]);
        while let Some((from, next)) = ahead.pop_front() {
            for holder in self.by_id(next) {
                if reached.insert(holder, from) {
                    if holder == goal {
                        let mut way = Vec::from([goal]);
                        follow(&reached, &mut way);
                        way.reverse();
                        return way;
                    }
                    let on = self.edges_out(holder, edges);
                    ahead.push_back((holder, on));
                }
            }
        }
        Vec::new()
    }

    /// The holders in the order of their ids, each once.
    fn by_id(&self, holders: Vec<u32>) -> Vec<u32> {
        let id = |holder: u32| &self.holders.get(holder).id;
        let mut ordered = Vec::with_capacity(holders.len());
        for holder in holders {
            let at = ordered.partition_point(|&other| id(other) < id(holder));
            if ordered.get(at) != Some(&holder) {
                ordered.insert(at, holder);
            }
        }
        ordered
    }

    fn lease_blockers(&mut self, asker: u32, asked: &[Asked<'_>]) -> Vec<u32> {
        let (mut found, mut blockers) = (Marks::default(), Vec::new());
        for wish in asked {
            let ask = Ask { holder: asker, exclusive: wish.exclusive };
            self.visits += search::holders(&self.leases.tree, wish.path, ask, |blocker| {
                if found.insert(blocker, NONE) {
                    blockers.push(blocker);
                }
            });
        }
        blockers
    }

    /// A cycle that the starts lead to, found by walking on until a holder comes up that is on the way here.
    fn cycle_beyond(&mut self, starts: &[u32], edges: Edges) -> Option<Vec<Holder>> {
        let mut seen = Marks::default();
        let mut way: Vec<(u32, Vec<u32>)> = Vec::from([(NONE, self.by_id(starts.to_vec()))]);
        while let Some((_, left)) = way.last_mut() {
            let Some(next) = left.pop() else {
                way.pop();
                continue;
            };
            if let Some(at) = way.iter().position(|&(holder, _)| holder == next) {
                let cycle = way[at..].iter().map(|&(holder, _)| holder).chain([next]);
                return Some(cycle.map(|holder| self.holders.get(holder).id.clone()).collect());
            }
            if seen.insert(next, NONE) {
                let on = self.edges_out(next, edges);
                way.push((next, self.by_id(on)));
            }
        }
        None
    }

    /// Where the lease edges of a registration close cycles with queue edges, the youngest queue edge of each goes.
    ///
    /// The graph had no cycle before, so every cycle leads through the newcomer. Queue edges are kept oldest first; one
    /// goes where its tail can be reached from the newcomer and the newcomer from its head, along lease edges and kept
    /// ones.
    pub(super) fn break_cycles(&mut self, slot: u32) {
        if !self.is_fifo() || self.waiters.len() < 2 {
            return;
        }
        let newcomer = self.waiters.get(slot).holder;
        let (all, leases_only) = (Edges { queue: true, without: None }, Edges { queue: false, without: None });
        let starts = self.edges_out(newcomer, leases_only);
        if starts.is_empty() || !self.is_led_to(&starts, newcomer, all) {
            return;
        }
        let knot = self.knot(newcomer, &starts, all);
        let mut members = Marks::default();
        for (n, &(_, slot)) in knot.iter().enumerate() {
            members.insert(self.waiters.get(slot).holder, n as u32);
        }
        let Some(first) = members.from(newcomer) else { return };
        let mut kept = Kept::new(knot.len(), first);
        for (n, &(_, slot)) in knot.iter().enumerate() {
            for to in self.edges_out(self.waiters.get(slot).holder, leases_only) {
                if let Some(to) = members.from(to) {
                    kept.add(n as u32, to);
                }
            }
        }
        for (n, &(_, slot)) in knot.iter().enumerate() {
            let mut passes = false;
            for (place, ahead) in self.places_ahead(slot, usize::MAX) {
                let Some(to) = members.from(self.waiters.get(ahead).holder) else { continue };
                if kept.closes_cycle(n as u32, to) {
                    passes = true;
                    let passed = &mut self.waiters.get_mut(slot).passed;
                    if let Err(at) = passed.binary_search(&place) {
                        passed.insert(at, place);
                    }
                } else {
                    kept.add(n as u32, to);
                }
            }
            if passes {
                self.waiters.unsettle(slot);
                self.record_waiter(slot);
            }
        }
    }

    /// (place, slot) of the waiters whose holders are on cycles through the newcomer: it reaches them, and they it. In
    /// `fifo` a holder has one waiter.
    fn knot(&mut self, newcomer: u32, starts: &[u32], edges: Edges) -> Vec<Pair> {
        let mut reached = Marks::default();
        let mut ahead = starts.to_vec();
        let mut candidates = Vec::new();
        while let Some(at) = ahead.pop() {
            if at != newcomer && reached.insert(at, NONE) {
                candidates.push(at);
                ahead.append(&mut self.edges_out(at, edges));
            }
        }
        let mut reaching = Marks::default();
        reaching.insert(newcomer, NONE);
        let mut back = Vec::from([newcomer]);
        while let Some(at) = back.pop() {
            for holder in self.edges_in(at, edges) {
                if reached.contains(holder) && reaching.insert(holder, NONE) {
                    back.push(holder);
                }
            }
        }
        candidates.push(newcomer);
        let on_cycles = candidates.into_iter().filter(|&holder| reaching.contains(holder));
        let waiters = on_cycles.filter_map(|holder| self.holders.get(holder).waiters.first().copied());
        sorted(waiters.map(|slot| (self.waiters.get(slot).place, slot)))
    }
}

/// Goes on from the last of a way to where each was found from.
fn follow(marks: &Marks, way: &mut Vec<u32>) {
    while let Some(next) = way.last().and_then(|&last| marks.from(last)).filter(|&next| next != NONE) {
        way.push(next);
    }
}

/// The edges kept so far among the members of a knot, by their number in it, and what they join to the newcomer.
struct Kept {
    out: Vec<Vec<u32>>,
    into: Vec<Vec<u32>>,
    /// The newcomer reaches them.
    reached: Vec<bool>,
    /// They reach the newcomer.
    reaching: Vec<bool>,
}

impl Kept {
    fn new(members: usize, newcomer: u32) -> Self {
        let lists = || (0..members).map(|_| Vec::new()).collect::<Vec<_>>();
        let marks = || (0..members).map(|n| n == newcomer as usize).collect::<Vec<_>>();
        Self { out: lists(), into: lists(), reached: marks(), reaching: marks() }
    }

    fn closes_cycle(&self, from: u32, to: u32) -> bool {
        self.reached[from as usize] && self.reaching[to as usize]
    }

    fn add(&mut self, from: u32, to: u32) {
        self.out[from as usize].push(to);
        self.into[to as usize].push(from);
        if self.reached[from as usize] {
            grow(&mut self.reached, &self.out, to);
        }
        if self.reaching[to as usize] {
            grow(&mut self.reaching, &self.into, from);
        }
    }
}

/// Marks a member and everything that the edges lead on to.
fn grow(marks: &mut [bool], edges: &[Vec<u32>], from: u32) {
    let mut left = Vec::from([from]);
    while let Some(at) = left.pop() {
        if !core::mem::replace(&mut marks[at as usize], true) {
            left.extend_from_slice(&edges[at as usize]);
        }
    }
}
