//! What stands: the answers of the table, all copies.

use super::pairs::sorted;
use super::search::{Part, Search};
use super::tree::{Ask, Item, NONE};
use super::{Asked, Table};
use crate::lease::{
    Blocked, Conflict, Covering, CoveringLease, Lease, LeaseStatus, Mode, PinStatus, PinToken, Status, Verdict,
    WaiterStatus,
};
use crate::limits::LISTED_MAX;
use crate::path::Path;
use crate::table::grant::mode;
use crate::table::queue::InFront;
use alloc::string::String;
use alloc::vec::Vec;

impl Table {
    /// (wish, lease slot) of what is in the way: the wishes in order, under each the leases in grant order, and one
    /// more than can be listed where there are more. Notes how far each path is known.
    pub(super) fn conflicts(&mut self, asker: u32, asked: &mut [Asked<'_>]) -> Vec<(u32, u32)> {
        let mut conflicts = Vec::new();
        let mut visits = 0;
        for (n, wish) in asked.iter_mut().enumerate() {
            let room = LISTED_MAX + 1 - conflicts.len();
            let ask = Ask { holder: asker, exclusive: wish.exclusive };
            let (mut search, spot) = Search::new(&self.leases.tree, Some(wish.path), ask, Part::All);
            wish.spot = spot;
            let from = conflicts.len();
            conflicts.extend(search.by_ref().take(room).map(|slot| (n as u32, slot)));
            visits += search.visits;
            let own = self.own_ended(asker).filter(|&slot| {
                spot.is_some_and(|spot| self.leases.tree.may_overlap(self.leases.tree.item(slot).node, spot))
            });
            let generation = |slot: u32| self.leases.tree.item(slot).order;
            for slot in own {
                let earlier = |&(_, other): &(u32, u32)| generation(other) < generation(slot);
                let at = from + conflicts[from..].partition_point(earlier);
                conflicts.insert(at, (n as u32, slot));
            }
            conflicts.truncate(LISTED_MAX + 1);
        }
        self.visits += visits;
        conflicts
    }

    /// In `fifo`, the leases of a holder that only pins keep: they are in its own way.
    pub(super) fn own_ended(&self, holder: u32) -> impl Iterator<Item = u32> + '_ {
        let known = (self.is_fifo() && holder != NONE).then(|| self.holders.get(holder));
        known.into_iter().flat_map(|entry| entry.ended.slots())
    }

    pub(super) fn blocked(&self, asked: &[Asked<'_>], conflicts: &[(u32, u32)], ahead: Option<InFront>) -> Blocked {
        let listed = conflicts.iter().take(LISTED_MAX).map(|&(wish, slot)| {
            let item = self.leases.tree.item(slot);
            Conflict {
                path: asked[wish as usize].path.spelling().into(),
                leased: self.leases.spelling(slot),
                holder: self.holders.get(item.holder).id.clone(),
                mode: mode(item.exclusive),
                held_for_ms: self.now - self.leases.data(slot).acquired_at,
                expires_in_ms: self.leases.data(slot).expires_at as i64 - self.now as i64,
                ended: self.leases.data(slot).ended(),
            }
        });
        Blocked {
            conflicts: listed.collect(),
            truncated: conflicts.len() > LISTED_MAX,
            blockers: Vec::new(),
            ahead: ahead.map(|ahead| self.say_ahead(&ahead)),
        }
    }

    pub(super) fn lease(&self, slot: u32) -> Lease {
        self.say(slot, self.leases.spelling(slot))
    }

    /// The same where the location is known under this path already.
    pub(super) fn lease_at(&self, slot: u32, path: Path<'_>) -> Lease {
        self.say(slot, self.leases.spelling_of(slot, path))
    }

    fn say(&self, slot: u32, path: String) -> Lease {
        let item = self.leases.tree.item(slot);
        Lease {
            path,
            holder: self.holders.get(item.holder).id.clone(),
            mode: mode(item.exclusive),
            generation: item.order,
            acquired_at_ms: self.leases.data(slot).acquired_at,
            ttl_ms: self.leases.data(slot).ttl.into(),
            expires_at_ms: self.leases.data(slot).expires_at,
            held_for_ms: self.now - self.leases.data(slot).acquired_at,
            expires_in_ms: self.leases.data(slot).expires_at as i64 - self.now as i64,
        }
    }

    // Finding own leases.

    pub(super) fn own_lease(&self, holder: &str, generation: u64) -> Option<u32> {
        let holder = self.holders.find(holder)?;
        self.leases.find(generation).filter(|&slot| self.leases.tree.item(slot).holder == holder)
    }

    /// The leases of a holder, in grant order.
    pub(super) fn own_leases(&self, holder: &str) -> Vec<u32> {
        let mut slots = Vec::new();
        let mut slot = self.holders.find(holder).map_or(NONE, |holder| self.holders.get(holder).first);
        while slot != NONE {
            slots.push(slot);
            slot = self.leases.data(slot).newer;
        }
        slots
    }

    /// The lease of a holder at exactly this location.
    pub(super) fn own_at(&self, holder: u32, path: Path<'_>) -> Option<u32> {
        let spot = self.leases.tree.walk(path, |_| ());
        if spot.complete { self.leases.own_at(spot.node, holder) } else { None }
    }

    /// The first-granted live lease of a holder, at least that strong, that contains the path.
    pub(super) fn own_over(&mut self, holder: u32, path: Path<'_>, mode: Mode) -> Option<u32> {
        let mut first = None;
        let mut visits = 0;
        self.leases.tree.walk(path, |node| {
            visits += 1;
            let own = self.leases.own_at(node, holder).map(|slot| (self.leases.tree.item(slot), slot));
            let strong = |item: &Item| item.exclusive || mode == Mode::Shared;
            if let Some((item, slot)) = own.filter(|&(item, slot)| !self.leases.data(slot).ended() && strong(item)) {
                let found = (item.order, slot);
                first = Some(first.map_or(found, |first| found.min(first)));
            }
        });
        self.visits += visits;
        first.map(|(_, slot)| slot)
    }

    /// The slots of all leases, in grant order.
    pub(super) fn lease_slots(&self) -> Vec<u32> {
        let slots = self.leases.tree.slots().map(|slot| (self.leases.tree.item(slot).order, slot));
        sorted(slots).into_iter().map(|(_, slot)| slot).collect()
    }

    /// The slots of all waiters, in queue order.
    pub(super) fn waiter_slots(&self) -> Vec<u32> {
        self.waiters.queue.slots().collect()
    }

    // Looking.

    pub(super) fn look_at(&mut self, holder: &str, path: &str, mode: Mode) -> Covering {
        let asker = self.holders.find(holder).unwrap_or(NONE);
        let ask = Ask { holder: asker, exclusive: mode == Mode::Exclusive };
        let path = Path::parse(path);
        if let Some(path) = path {
            let (mut search, spot) = Search::new(&self.leases.tree, Some(path), ask, Part::Overlapping);
            let other = search.next();
            let visits = search.visits;
            let root = self.leases.tree.root(path.is_absolute());
            let own = spot.and_then(|spot| {
                let mut own = self.own_ended(asker);
                own.find(|&slot| {
                    let node = self.leases.tree.item(slot).node;
                    self.leases.tree.root_of(node) == root && self.leases.tree.may_overlap(node, spot)
                })
            });
            self.visits += visits;
            if let Some(slot) = self.first_granted(other, own) {
                return self.covering_lease(Verdict::Other, slot, true);
            }
            if let Some(slot) = self.own_over(asker, path, mode) {
                return self.covering_lease(Verdict::Own, slot, true);
            }
        }
        let (mut search, _) = Search::new(&self.leases.tree, path, ask, Part::Incomparable);
        let other = search.next();
        let visits = search.visits;
        let own = self.own_ended(asker).find(|&slot| {
            let node = self.leases.tree.item(slot).node;
            path.is_none_or(|path| self.leases.tree.root_of(node) != self.leases.tree.root(path.is_absolute()))
        });
        self.visits += visits;
        match self.first_granted(other, own) {
            Some(slot) => self.covering_lease(Verdict::Unknown, slot, path.is_some()),
            None => Covering { verdict: Verdict::Free, lease: None, evaluable: path.is_some() },
        }
    }

    fn first_granted(&self, one: Option<u32>, other: Option<u32>) -> Option<u32> {
        one.into_iter().chain(other).min_by_key(|&slot| self.leases.tree.item(slot).order)
    }

    fn covering_lease(&self, verdict: Verdict, slot: u32, evaluable: bool) -> Covering {
        let item = self.leases.tree.item(slot);
        let holder = self.holders.get(item.holder).id.clone();
        let held_for_ms = self.now - self.leases.data(slot).acquired_at;
        let lease = CoveringLease { holder, leased: self.leases.spelling(slot), held_for_ms };
        Covering { verdict, lease: Some(lease), evaluable }
    }

    pub(super) fn whole_status(&mut self) -> Status {
        let leases = self.lease_slots().into_iter().map(|slot| {
            let data = self.leases.data(slot);
            LeaseStatus { lease: self.lease(slot), pins: data.pins as usize, release_pending: data.release_pending }
        });
        let leases = leases.collect();
        let pins = self.pins.iter().map(|(_, pin)| PinStatus {
            token: PinToken(pin.token),
            holder: self.holders.get(pin.holder).id.clone(),
            generations: pin.generations.clone(),
            pinned_for_ms: self.now - pin.since,
        });
        let pins = pins.collect();
        let waiters = self.waiter_slots().into_iter().map(|slot| {
            let blockers = self.blockers(slot, None);
            let waiter = self.waiters.get(slot);
            let (paths, modes) =
                self.wishes_of(slot).into_iter().map(|(path, exclusive)| (path, mode(exclusive))).unzip();
            WaiterStatus {
                id: waiter.id.as_ref().into(),
                holder: self.holders.get(waiter.holder).id.clone(),
                paths,
                modes,
                blockers,
                waiting_for_ms: self.now - waiter.since,
            }
        });
        let waiters = waiters.collect();
        Status { leases, waiters, pins }
    }
}
