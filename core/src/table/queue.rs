//! Who waits behind whom, and who is ready.
//!
//! Queue edges (`fifo` only) are not stored: a waiter queues behind every earlier waiter of another holder that one of
//! its wishes clashes with, but for those it has passed. It passes whoever already waits for it, through any chain.

use super::graph::{Edges, Marks};
use super::pairs::{Pair, sorted};
use super::search::{self, Part, Search};
use super::tree::{Ask, NONE};
use super::waiters::Watched;
use super::{Asked, Table};
use crate::event::Fact;
use crate::holder::Holder;
use crate::lease::{Ahead, WaitAttempt};
use crate::limits::LISTED_MAX;
use crate::record::Record;
use crate::table::deadlines::Due;
use crate::table::grant::mode;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

/// The waiters ahead of somebody: at least one.
#[derive(Debug)]
pub(super) struct InFront {
    pub count: usize,
    /// The first of their holders, in queue order.
    pub holders: Vec<u32>,
}

impl Table {
    /// The waiters that a newcomer with these wishes would queue behind, and the places of those it passes. Where no
    /// lease is in the way, they are told only as far as somebody is ahead: it is granted otherwise.
    pub(super) fn newcomer(
        &mut self,
        asker: u32,
        asked: &[Asked<'_>],
        leaving: Option<u32>,
        no_conflict: bool,
    ) -> (Option<InFront>, Vec<u64>) {
        if !self.is_fifo() || self.waiters.len() == 0 || !asked.iter().any(|wish| self.clashes(asker, wish)) {
            return (None, Vec::new());
        }
        if no_conflict && self.is_within_own(asker, asked) {
            return (None, Vec::new());
        }
        // The standing waiter of the asker is counted as gone.
        let edges = Edges { queue: true, without: leaving };
        let behind = if asker == NONE { Vec::new() } else { self.edges_in(asker, edges) };
        if behind.is_empty() && asked.len() == 1 && self.waiters.manifold == 0 {
            return (self.count_clashing(asker, &asked[0]), Vec::new());
        }
        let mut clashing = Vec::new();
        for wish in asked {
            self.clashing(asker, wish, &mut clashing);
        }
        let mut clashing = sorted(clashing);
        if behind.is_empty() {
            return (self.in_front(&clashing), Vec::new());
        }
        let holders = clashing.iter().map(|&(_, slot)| self.waiters.get(slot).holder).collect::<Vec<_>>();
        let waiting = self.who_waits_for(asker, holders, edges);
        let mut passed = Vec::new();
        clashing.retain(|&(place, slot)| {
            let passes = waiting.contains(self.waiters.get(slot).holder);
            if passes {
                passed.push(place);
            }
            !passes
        });
        (self.in_front(&clashing), passed)
    }

    /// Those of the given holders that wait for the asker, and perhaps others that do. It stops where all of them are
    /// found, and is searched from both ends: where nothing leads on from the given ones, nobody need ask who waits for
    /// those who wait for the asker.
    fn who_waits_for(&mut self, asker: u32, holders: Vec<u32>, edges: Edges) -> Marks {
        let (mut waiting, mut given, mut reached) = (Marks::default(), Marks::default(), Marks::default());
        let mut ahead = holders.into_iter().filter(|&holder| given.insert(holder, NONE)).collect::<VecDeque<_>>();
        let mut missing = ahead.len();
        let mut back = VecDeque::from([asker]);
        let mut leads_to_asker = false;
        while let Some(at) = back.pop_front().filter(|_| missing > 0) {
            for holder in self.edges_in(at, edges) {
                if holder != asker && waiting.insert(holder, at) {
                    missing -= usize::from(given.contains(holder));
                    back.push_back(holder);
                }
            }
            if leads_to_asker {
                continue;
            }
            let Some(at) = ahead.pop_front() else { return waiting };
            if waiting.contains(at) {
                // Found already; but whoever led here waits for the asker, too.
                leads_to_asker |= reached.contains(at);
                continue;
            }
            for holder in self.edges_out(at, edges) {
                leads_to_asker |= holder == asker || waiting.contains(holder);
                if reached.insert(holder, at) && !given.contains(holder) {
                    ahead.push_back(holder);
                }
            }
        }
        waiting
    }

    /// Does every wish lie within a live lease of the asker at least that strong? Whoever clashes with such a wish then
    /// clashes with that lease, and so waits for the asker.
    fn is_within_own(&mut self, asker: u32, asked: &[Asked<'_>]) -> bool {
        asker != NONE && asked.iter().all(|wish| self.own_over(asker, wish.path, mode(wish.exclusive)).is_some())
    }

    fn clashes(&mut self, asker: u32, wish: &Asked<'_>) -> bool {
        let ask = Ask { holder: asker, exclusive: wish.exclusive };
        let (mut search, _) = Search::new(&self.waiters.wishes, Some(wish.path), ask, Part::All);
        let clashes = search.next().is_some();
        self.visits += search.visits;
        clashes
    }

    /// (place, slot) of the waiters that a wish clashes with.
    fn clashing(&mut self, asker: u32, wish: &Asked<'_>, found: &mut Vec<Pair>) {
        let ask = Ask { holder: asker, exclusive: wish.exclusive };
        let wishes = &self.waiters.wishes;
        self.visits += search::items_after(wishes, wish.path, ask, 0, |slot| {
            let item = wishes.item(slot);
            found.push((item.order, self.waiters.waiter_of(slot)));
        });
    }

    fn in_front(&self, clashing: &[Pair]) -> Option<InFront> {
        let holders = clashing.iter().take(LISTED_MAX).map(|&(_, slot)| self.waiters.get(slot).holder);
        (!clashing.is_empty()).then(|| InFront { count: clashing.len(), holders: holders.collect() })
    }

    /// The same for a single wish among waiters of a single wish each: the summaries of the tree count them.
    fn count_clashing(&mut self, asker: u32, wish: &Asked<'_>) -> Option<InFront> {
        let wishes = &self.waiters.wishes;
        let ask = Ask { holder: asker, exclusive: wish.exclusive };
        let (mut search, _) = Search::new(wishes, Some(wish.path), ask, Part::All);
        let holders = search.by_ref().take(LISTED_MAX).map(|item| wishes.item(item).holder).collect::<Vec<_>>();
        self.visits += search.visits;
        let mut count = holders.len();
        if count == LISTED_MAX {
            let own = if asker == NONE { &[][..] } else { &self.holders.get(asker).waiters };
            let own = own.iter().flat_map(|&slot| self.waiters.get(slot).wishes.iter().copied());
            let (all, visits) = search::count(wishes, wish.path, ask, own);
            count = all;
            self.visits += visits;
        }
        (count > 0).then_some(InFront { count, holders })
    }

    /// The waiters that a standing one queues behind.
    pub(super) fn ahead_of(&mut self, slot: u32) -> Option<InFront> {
        let ahead = self.places_ahead(slot, usize::MAX);
        self.in_front(&ahead)
    }

    /// (place, slot) of the waiters that a standing one queues behind; of more than `most` the first, perhaps others.
    pub(super) fn places_ahead(&mut self, slot: u32, most: usize) -> Vec<Pair> {
        let mut ahead = Vec::new();
        if self.is_fifo() {
            let waiter = self.waiters.get(slot);
            let wishes = &self.waiters.wishes;
            for &wish in &waiter.wishes {
                let ask = Ask { holder: waiter.holder, exclusive: wishes.item(wish).exclusive };
                let (mut search, _) = Search::new(wishes, Some(self.waiters.path(wish)), ask, Part::All);
                let found = search.by_ref().map(|wish| (wishes.item(wish).order, self.waiters.waiter_of(wish)));
                let found = found.take_while(|&(place, _)| place < waiter.place);
                let found = found.filter(|(place, _)| waiter.passed.binary_search(place).is_err());
                ahead.extend(found.take(most));
                self.visits += search.visits;
            }
        }
        sorted(ahead)
    }

    /// Copies of the wishes of a waiter: spelling, exclusive.
    pub(super) fn wishes_of(&self, slot: u32) -> Vec<(String, bool)> {
        let wishes = self.waiters.get(slot).wishes.iter();
        wishes
            .map(|&wish| (self.waiters.path(wish).spelling().into(), self.waiters.wishes.item(wish).exclusive))
            .collect()
    }

    pub(super) fn say_ahead(&self, ahead: &InFront) -> Ahead {
        let holders = ahead.holders.iter().map(|&holder| self.holders.get(holder).id.clone()).collect();
        Ahead { holders, position: ahead.count + 1 }
    }

    /// Does the waiter want exactly these locations in these modes? Order, repetition and spelling do not matter. In
    /// `barge` a place means nothing, and any wishes may follow.
    pub(super) fn asks_the_same(&self, slot: u32, asked: &[Asked<'_>]) -> bool {
        let asked = asked.iter().map(|wish| (wish.path, wish.exclusive));
        self.waiters.asked_set(asked).is_some_and(|set| set == self.waiters.wish_set(slot))
    }

    // Coming and going.

    /// Registers a waiter, or renews the standing one.
    pub(super) fn register(
        &mut self,
        attempt: &WaitAttempt<'_>,
        asked: &[Asked<'_>],
        standing: Option<u32>,
        keeps_place: bool,
        passed: Vec<u64>,
        keep_ms: Option<u64>,
    ) -> u32 {
        let since = standing.map_or(self.now, |slot| self.waiters.get(slot).since);
        let slot = match standing {
            Some(slot) if keeps_place => {
                self.waiters.respell(slot, asked.iter().map(|wish| (wish.path, wish.exclusive)));
                slot
            }
            _ => {
                standing.into_iter().for_each(|slot| self.drop_waiter(slot));
                let holder = self.holders.add(attempt.holder);
                self.last_place += 1;
                let wishes = asked.iter().map(|wish| (wish.path, wish.exclusive));
                let slot = self.waiters.insert(attempt.waiter_id, holder, wishes, since, self.last_place, passed);
                self.holders.get_mut(holder).waiters.push(slot);
                slot
            }
        };
        let waiter = self.waiters.get_mut(slot);
        let holder = waiter.holder;
        waiter.lapses_at = keep_ms.map(|keep_ms| self.now.saturating_add(keep_ms));
        match waiter.lapses_at {
            None => waiter.queued = 0,
            Some(at) if waiter.queued == 0 || waiter.queued > at => {
                waiter.queued = at;
                self.deadlines.push(at, Due::Waiter(slot));
            }
            Some(_) => {}
        }
        self.break_cycles(slot);
        let (waiters, holders) = (&self.waiters, &self.holders);
        self.log.event(self.now, || Fact::Waiting {
            waiter_id: waiters.get(slot).id.as_ref().into(),
            holder: holders.get(holder).id.clone(),
        });
        self.record_waiter(slot);
        slot
    }

    /// Takes a waiter out whose wait ends otherwise than by a grant to it.
    pub(super) fn cancel(&mut self, slot: u32) {
        let waiter = self.waiters.get(slot);
        let (waiters, holders, holder) = (&self.waiters, &self.holders, waiter.holder);
        self.log.event(self.now, || Fact::Cancelled {
            waiter_id: waiters.get(slot).id.as_ref().into(),
            holder: holders.get(holder).id.clone(),
        });
        self.drop_waiter(slot);
    }

    /// Takes a waiter out.
    pub(super) fn drop_waiter(&mut self, slot: u32) {
        let waiter = self.waiters.remove(slot);
        self.log.record(|| Record::WaiterGone(waiter.id.as_ref().into()));
        self.holders.get_mut(waiter.holder).waiters.retain(|&other| other != slot);
        self.holders.tidy(waiter.holder);
        self.tangled &= self.waiters.len() > 0;
    }

    // Ready or not.

    /// Looks at every waiter whose watch has ended: it is ready now, or it watches something else.
    pub(super) fn settle(&mut self) {
        while let Some((place, slot)) = self.waiters.unsettled.pop_first() {
            let watched = self.something_in_the_way(slot);
            self.waiters.watch(slot, watched);
            if watched.is_some() {
                self.waiters.ready.remove((place, slot));
            } else if self.waiters.ready.insert((place, slot)) {
                let waiter = self.waiters.get(slot);
                let holders = &self.holders;
                self.log.event(self.now, || Fact::Ready {
                    waiter_id: waiter.id.as_ref().into(),
                    holder: holders.get(waiter.holder).id.clone(),
                });
            }
        }
    }

    fn something_in_the_way(&mut self, slot: u32) -> Option<Watched> {
        let waiter = self.waiters.get(slot);
        let (holder, place, wishes) = (waiter.holder, waiter.place, &waiter.wishes);
        if self.is_fifo() {
            let just_ahead = |&wish: &u32| self.waiters.just_ahead(wish, &waiter.passed, place);
            if let Some(ahead) = wishes.iter().find_map(just_ahead) {
                return Some(Watched::Waiter(ahead));
            }
        }
        let mut visits = 0;
        let mut found = None;
        for &wish in wishes {
            let path = self.waiters.path(wish);
            let ask = Ask { holder, exclusive: self.waiters.wishes.item(wish).exclusive };
            let (mut search, spot) = Search::new(&self.leases.tree, Some(path), ask, Part::All);
            let lease = search.next().or_else(|| {
                let spot = spot?;
                self.own_ended(holder).find(|&own| self.leases.tree.may_overlap(self.leases.tree.item(own).node, spot))
            });
            visits += search.visits;
            if let Some(lease) = lease {
                found = Some(Watched::Lease(self.leases.tree.item(lease).order));
                break;
            }
            if self.is_fifo() {
                let (mut search, _) = Search::new(&self.waiters.wishes, Some(path), ask, Part::All);
                let ahead = search.by_ref().map(|item| self.waiters.wishes.item(item).order);
                let ahead = ahead.take_while(|&other| other < place);
                found = ahead.filter(|other| waiter.passed.binary_search(other).is_err()).map(Watched::Waiter).next();
                visits += search.visits;
                if found.is_some() {
                    break;
                }
            }
        }
        self.visits += visits;
        found
    }

    /// The holders in the way of a waiter, by lease or by queue, sorted. Where they are more than can be listed, those
    /// by lease come first. `ahead`: the first holders ahead of it in the queue, where somebody has looked already.
    pub(super) fn blockers(&mut self, slot: u32, ahead: Option<&[u32]>) -> Vec<Holder> {
        let waiter = self.waiters.get(slot);
        let holder = waiter.holder;
        let mut blockers = Vec::new();
        let mut visits = 0;
        for &wish in &waiter.wishes {
            let path = self.waiters.path(wish);
            let ask = Ask { holder, exclusive: self.waiters.wishes.item(wish).exclusive };
            let mut before = NONE;
            visits += search::holders(&self.leases.tree, path, ask, |blocker| {
                if core::mem::replace(&mut before, blocker) != blocker {
                    list(&mut blockers, &self.holders.get(blocker).id);
                }
            });
            let spot = self.leases.tree.walk(path, |_| ());
            if self.own_ended(holder).any(|own| self.leases.tree.may_overlap(self.leases.tree.item(own).node, spot)) {
                list(&mut blockers, &self.holders.get(holder).id);
            }
        }
        self.visits += visits;
        let looked = match ahead {
            Some(_) => Vec::new(),
            None => self.places_ahead(slot, LISTED_MAX),
        };
        let looked = looked.into_iter().map(|(_, ahead)| self.waiters.get(ahead).holder);
        for holder in ahead.unwrap_or_default().iter().copied().chain(looked) {
            if blockers.len() < LISTED_MAX {
                list(&mut blockers, &self.holders.get(holder).id);
            }
        }
        blockers
    }
}

/// Adds to a sorted list, once, that keeps the first ones only.
fn list(holders: &mut Vec<Holder>, holder: &Holder) {
    let at = holders.partition_point(|other| other < holder);
    if at < LISTED_MAX && holders.get(at) != Some(holder) {
        holders.insert(at, holder.clone());
        holders.truncate(LISTED_MAX);
    }
}
