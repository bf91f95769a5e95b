//! Who waits for whom.

use super::{Held, Model, Waiting, Want, clash};
use leasebook::limits::LISTED_MAX;
use leasebook::{Holder, WaitAttempt};
use std::collections::{BTreeMap, BTreeSet};

/// From each waiting holder to those that it waits for.
pub type Edges = BTreeMap<String, BTreeSet<String>>;

impl Model {
    /// Every pair of a wish and a lease in its way: the wishes in order, under each the leases in grant order.
    pub(super) fn in_the_way<'a>(&'a self, holder: &str, wants: &'a [Want]) -> Vec<(&'a Want, &'a Held)> {
        let mut pairs = Vec::new();
        for want in wants {
            for lease in &self.leases {
                if self.blocks(lease, holder, want) {
                    pairs.push((want, lease));
                }
            }
        }
        pairs
    }

    /// The holders of the leases in the way. The asker may be among them, by an own ended lease.
    fn lease_blockers(&self, holder: &str, wants: &[Want]) -> Vec<Holder> {
        let in_the_way = |lease: &&Held| wants.iter().any(|want| self.blocks(lease, holder, want));
        without_repeats(self.leases.iter().filter(in_the_way).map(|lease| lease.holder.clone()))
    }

    /// Adds the lease edges of a holder that wants this.
    fn add_lease_edges(&self, edges: &mut Edges, holder: &str, wants: &[Want]) {
        let others = self.lease_blockers(holder, wants).into_iter().filter(|blocker| blocker != holder);
        edges.entry(holder.to_string()).or_default().extend(others.map(|blocker| blocker.to_string()));
    }

    /// The lease edges of all waiters.
    pub fn lease_edges(&self) -> Edges {
        let mut edges = Edges::new();
        for waiter in &self.waiters {
            self.add_lease_edges(&mut edges, &waiter.holder, &waiter.wants);
        }
        edges
    }

    /// The lease edges of all waiters and those that an attempt has or would have.
    pub fn lease_edges_with(&self, attempt: &WaitAttempt<'_>) -> Edges {
        let wants: Vec<Want> = attempt.wishes.iter().map(Want::from).collect();
        let mut edges = self.lease_edges();
        self.add_lease_edges(&mut edges, attempt.holder, &wants);
        edges
    }

    /// The lease edges and the queue edges of all waiters.
    fn all_edges(&self) -> Edges {
        let mut edges = self.lease_edges();
        for waiter in &self.waiters {
            let ahead = self.ahead_of(waiter).into_iter().map(|ahead| ahead.holder.to_string());
            edges.entry(waiter.holder.to_string()).or_default().extend(ahead);
        }
        edges
    }

    /// The waiters of other holders that these wishes clash with, in queue order. None in `barge`.
    pub(super) fn clashing(&self, holder: &str, wants: &[Want]) -> Vec<&Waiting> {
        let meets = |waiter: &&Waiting| {
            let pairs = wants.iter().flat_map(|a| waiter.wants.iter().map(move |b| (a, b)));
            pairs.into_iter().any(|(a, b)| clash((a.location.as_ref(), a.mode), (b.location.as_ref(), b.mode)))
        };
        self.waiters.iter().filter(|waiter| self.fifo() && waiter.holder != holder && meets(waiter)).collect()
    }

    /// The waiters that this one queues behind, in queue order.
    pub(super) fn ahead_of(&self, waiter: &Waiting) -> Vec<&Waiting> {
        let mut ahead = self.clashing(&waiter.holder, &waiter.wants);
        ahead.retain(|other| other.place < waiter.place && !waiter.passed.contains(&other.place));
        ahead
    }

    /// The places of the clashing waiters that a newcomer passes: their holders already wait for it, through any
    /// chain of edges.
    pub(super) fn passes(&self, holder: &str, wants: &[Want]) -> Vec<u64> {
        let clashing = self.clashing(holder, wants);
        if clashing.is_empty() {
            return Vec::new();
        }
        let waiting = reached(&turned(&self.all_edges()), holder);
        clashing.iter().filter(|waiter| waiting.contains(waiter.holder.as_str())).map(|waiter| waiter.place).collect()
    }

    /// Keeps the queue edges oldest first, by the waiter that queues, then by the one ahead of it. One that closes a
    /// cycle with the lease edges and those kept before it is passed for good.
    pub(super) fn break_cycles(&mut self) {
        if !has_cycle(&self.all_edges()) {
            return;
        }
        let mut kept = self.lease_edges();
        for waiter in 0..self.waiters.len() {
            let from = self.waiters[waiter].holder.to_string();
            let ahead: Vec<(u64, String)> =
                self.ahead_of(&self.waiters[waiter]).iter().map(|w| (w.place, w.holder.to_string())).collect();
            for (place, to) in ahead {
                if reached(&kept, &to).contains(&from) {
                    self.waiters[waiter].passed.push(place);
                } else {
                    kept.entry(from.clone()).or_default().insert(to);
                }
            }
        }
    }

    /// A cycle of lease edges that the asker is on or led to.
    pub(super) fn deadlock(&self, holder: &str, wants: &[Want]) -> Option<Vec<Holder>> {
        let mut edges = self.lease_edges();
        self.add_lease_edges(&mut edges, holder, wants);
        let cycle = reached(&edges, holder).iter().find_map(|on_it| way_back(&edges, on_it))?;
        Some(cycle.iter().map(|id| Holder::new(id).expect("only holders have edges")).collect())
    }

    /// Whoever is in the way of a waiter now, by lease or by queue, sorted. Nobody: its next attempt is granted. Where
    /// they are too many to list, those by lease come first, in the order of their ids, then the queue.
    pub(super) fn blockers(&self, waiter: &Waiting) -> Vec<Holder> {
        let mut by_lease = self.lease_blockers(&waiter.holder, &waiter.wants);
        by_lease.sort();
        let by_queue = self.ahead_of(waiter).into_iter().map(|ahead| ahead.holder.clone());
        let mut blockers = without_repeats(by_lease.into_iter().chain(by_queue));
        blockers.truncate(LISTED_MAX);
        blockers.sort();
        blockers
    }
}

/// Everyone there is a way to, and the start itself.
fn reached(edges: &Edges, start: &str) -> BTreeSet<String> {
    let mut seen = BTreeSet::from([start.to_string()]);
    let mut next = vec![start.to_string()];
    while let Some(holder) = next.pop() {
        for neighbour in edges.get(&holder).into_iter().flatten() {
            if seen.insert(neighbour.clone()) {
                next.push(neighbour.clone());
            }
        }
    }
    seen
}

/// The same edges the other way round.
fn turned(edges: &Edges) -> Edges {
    let mut turned = Edges::new();
    for (from, to) in edges.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        turned.entry(to.clone()).or_default().insert(from.clone());
    }
    turned
}

/// Takes away whoever waits for nobody that is left. On a cycle, or led to one, is whoever stays.
fn has_cycle(edges: &Edges) -> bool {
    let waiting_for = turned(edges);
    let mut open: BTreeMap<&String, usize> = edges.iter().map(|(holder, all)| (holder, all.len())).collect();
    let free = |holder: &&String| edges.get(*holder).is_none_or(BTreeSet::is_empty);
    let mut gone: Vec<&String> = waiting_for.keys().filter(free).collect();
    while let Some(holder) = gone.pop() {
        for waiting in waiting_for.get(holder).into_iter().flatten() {
            let left = open.entry(waiting).or_default();
            *left -= 1;
            if *left == 0 {
                gone.push(waiting);
            }
        }
    }
    open.values().any(|left| *left > 0)
}

/// A shortest way from a holder to itself, that holder first and last.
fn way_back(edges: &Edges, holder: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![holder.to_string()]];
    let mut next = 0;
    while next < ways.len() {
        let way = ways[next].clone();
        next += 1;
        for to in edges.get(&way[way.len() - 1]).into_iter().flatten() {
            let longer = [&way[..], std::slice::from_ref(to)].concat();
            if to == holder {
                return Some(longer);
            }
            // The ways grow in length, so the first one that leads somewhere is the shortest.
            if !ways.iter().any(|way| &way[way.len() - 1] == to) {
                ways.push(longer);
            }
        }
    }
    None
}

fn without_repeats(holders: impl Iterator<Item = Holder>) -> Vec<Holder> {
    let mut once = Vec::new();
    for holder in holders {
        if !once.contains(&holder) {
            once.push(holder);
        }
    }
    once
}
