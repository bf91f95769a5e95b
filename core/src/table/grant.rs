//! How leases come, change and go: the transitions behind the operations.

use super::leases::NewLease;
use super::pairs::sorted;
use super::search::{Part, Search};
use super::tree::{Ask, NONE, Tree};
use super::waiters::Watched;
use super::{Asked, Table};
use crate::event::Fact;
use crate::holder::Holder;
use crate::lease::{Lease, Mode, NotHeld, PinRefusal, PinToken, Refusal, Released, WaitAttempt, Wish};
use crate::limits::{HOLDER_BYTES_MAX, Limit, Limits, NUMBER_MAX, PATHS_MAX, WAITER_ID_BYTES_MAX};
use crate::path::Path;
use crate::record::Record;
use crate::table::deadlines::Due;
use crate::table::pins::Pin;
use crate::time::{Millis, Period};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Why a lease ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Released,
    Revoked,
    /// Revoked, whether or not pins keep it.
    Forced,
}

impl<'a> Asked<'a> {
    fn new(path: Path<'a>, mode: Mode) -> Self {
        Self { path, exclusive: mode == Mode::Exclusive, spot: None }
    }
}

impl Table {
    // What is asked, read.

    /// The refusals in which no other holder has a part, in their order.
    fn read<'a>(
        &self,
        holder: &str,
        ttl: Option<Period>,
        keep: Option<Option<Period>>,
        wishes: &[Wish<'a>],
    ) -> Result<(u64, Option<u64>, Vec<Asked<'a>>), Refusal> {
        if !Holder::is_valid(holder) {
            return Err(Refusal::InvalidHolder);
        }
        let ttl_ms = self.ttl_ms(ttl).map_err(|ttl_ms| Refusal::InvalidTtl { ttl_ms })?;
        let keep_ms = match keep {
            None => None,
            Some(None) if self.is_fifo() => return Err(Refusal::InvalidKeep { keep_ms: None }),
            Some(None) => None,
            Some(Some(keep)) => Some(keep.keep_ms().ok_or(Refusal::InvalidKeep { keep_ms: Some(keep.given()) })?),
        };
        if wishes.is_empty() {
            return Err(Refusal::NoPaths);
        }
        let mut asked = Vec::with_capacity(wishes.len().min(PATHS_MAX));
        let mut unevaluable = Vec::new();
        for wish in wishes {
            match Path::parse(wish.path) {
                Some(path) => asked.push(Asked::new(path, wish.mode)),
                None => unevaluable.push(wish.path.into()),
            }
        }
        if !unevaluable.is_empty() {
            return Err(Refusal::UnevaluablePath { unevaluable });
        }
        if wishes.len() > PATHS_MAX {
            return Err(exceeded(Limit::Paths, PATHS_MAX));
        }
        Ok((ttl_ms, keep_ms, asked))
    }

    /// A usable ttl, or the number that is none.
    pub(super) fn ttl_ms(&self, ttl: Option<Period>) -> Result<u64, f64> {
        match ttl {
            None => Ok(self.options.default_ttl_ms),
            Some(ttl) => ttl.ttl_ms().ok_or(ttl.given()),
        }
    }

    /// Is there room for the leases that a grant would make?
    fn check_room(&self, asker: u32, asked: &[Asked<'_>]) -> Result<(), Refusal> {
        let limits = &self.options.limits;
        let standing = self.leases.tree.len();
        let own = if asker == NONE { 0 } else { self.holders.get(asker).leases as usize };
        if standing + asked.len() > limits.leases || own + asked.len() > limits.leases_per_holder {
            // A location that is asked for twice is one lease.
            let mut new = Tree::new(self.options.hash_key);
            for wish in asked {
                let spot = self.leases.tree.walk(wish.path, |_| ());
                let held = spot.complete && self.leases.own_at(spot.node, asker).is_some();
                let spot = new.walk(wish.path, |_| ());
                let asked_before = spot.complete && new.ends(spot.node).0 != NONE;
                if !held && !asked_before {
                    new.insert(spot, wish.path, 1, 0, true);
                }
            }
            if standing + new.len() > limits.leases {
                return Err(exceeded(Limit::Leases, limits.leases));
            }
            if own + new.len() > limits.leases_per_holder {
                return Err(exceeded(Limit::LeasesPerHolder, limits.leases_per_holder));
            }
        }
        if self.last_generation + asked.len() as u64 > NUMBER_MAX {
            return Err(Refusal::LimitExceeded { which: Limit::Numbers, limit: NUMBER_MAX });
        }
        Ok(())
    }

    // Asking.

    pub(super) fn try_acquire(
        &mut self,
        holder: &str,
        wishes: &[Wish<'_>],
        ttl: Option<Period>,
    ) -> Result<Vec<Lease>, Refusal> {
        let (ttl_ms, _, mut asked) = self.read(holder, ttl, None, wishes)?;
        let asker = self.holders.find(holder).unwrap_or(NONE);
        self.check_room(asker, &asked)?;
        let conflicts = self.conflicts(asker, &mut asked);
        let (ahead, _) = self.newcomer(asker, &asked, None, conflicts.is_empty());
        if conflicts.is_empty() && ahead.is_none() {
            let asker = if asker == NONE { self.holders.add(holder) } else { asker };
            return Ok(self.grant(asker, &asked, ttl_ms));
        }
        Err(Refusal::Conflict(Box::new(self.blocked(&asked, &conflicts, ahead))))
    }

    pub(super) fn try_wait(&mut self, attempt: &WaitAttempt<'_>) -> Result<Vec<Lease>, Refusal> {
        let WaitAttempt { waiter_id, holder, wishes, ttl, allow_hold, keep } = *attempt;
        let (ttl_ms, keep_ms, mut asked) = self.read(holder, ttl, Some(keep), wishes)?;
        if waiter_id.len() > WAITER_ID_BYTES_MAX {
            return Err(exceeded(Limit::WaiterId, WAITER_ID_BYTES_MAX));
        }
        let asker = self.holders.find(holder).unwrap_or(NONE);
        self.check_room(asker, &asked)?;
        let standing = self.waiters.find(waiter_id);
        if standing.is_some_and(|slot| self.waiters.get(slot).holder != asker) {
            return Err(Refusal::WaiterIdTaken);
        }
        if self.is_fifo() && asker != NONE && self.holders.get(asker).waiters.iter().any(|&w| Some(w) != standing) {
            return Err(Refusal::AlreadyWaiting);
        }

        let keeps_place = standing.filter(|&slot| self.asks_the_same(slot, &asked));
        let conflicts = self.conflicts(asker, &mut asked);
        let (ahead, passed) = match keeps_place {
            Some(slot) => (self.ahead_of(slot), Vec::new()),
            None => self.newcomer(asker, &asked, standing, conflicts.is_empty()),
        };
        if conflicts.is_empty() && ahead.is_none() {
            if let Some(slot) = standing {
                self.drop_waiter(slot);
            }
            // Its waiter may have been all that it was known for.
            let asker = self.holders.add(holder);
            return Ok(self.grant(asker, &asked, ttl_ms));
        }
        let blocked = Box::new(self.blocked(&asked, &conflicts, None));
        if !allow_hold && asker != NONE && self.holders.get(asker).leases > 0 {
            standing.into_iter().for_each(|slot| self.cancel(slot));
            return Err(Refusal::HoldAndWait(blocked));
        }
        if let Some(cycle) = self.deadlock(asker, holder, &asked, standing) {
            standing.into_iter().for_each(|slot| self.cancel(slot));
            return Err(Refusal::Deadlock { blocked, cycle });
        }
        self.check_waiting_room(asker, standing, asked.len())?;
        let slot = self.register(attempt, &asked, standing, keeps_place.is_some(), passed, keep_ms);
        let mut blocked = blocked;
        blocked.blockers = self.blockers(slot, Some(ahead.as_ref().map_or(&[], |ahead| &ahead.holders)));
        blocked.ahead = ahead.map(|ahead| self.say_ahead(&ahead));
        Err(Refusal::Conflict(blocked))
    }

    /// Is there room for one more waiter, in the place of the standing one?
    fn check_waiting_room(&self, asker: u32, standing: Option<u32>, wishes: usize) -> Result<(), Refusal> {
        let limits = &self.options.limits;
        let leaving = standing.map_or(0, |slot| self.waiters.get(slot).wishes.len());
        let own = if asker == NONE { 0 } else { self.holders.get(asker).waiters.len() };
        if self.waiters.len() + 1 - usize::from(standing.is_some()) > limits.waiters {
            return Err(exceeded(Limit::Waiters, limits.waiters));
        }
        if own + 1 - usize::from(standing.is_some()) > limits.waiters_per_holder {
            return Err(exceeded(Limit::WaitersPerHolder, limits.waiters_per_holder));
        }
        if self.waiters.wishes.len() + wishes - leaving > limits.wishes {
            return Err(exceeded(Limit::Wishes, limits.wishes));
        }
        if standing.is_none() && self.last_place == NUMBER_MAX {
            return Err(Refusal::LimitExceeded { which: Limit::Numbers, limit: NUMBER_MAX });
        }
        Ok(())
    }

    /// Gives leases that nothing is in the way of.
    fn grant(&mut self, holder: u32, asked: &[Asked<'_>], ttl_ms: u64) -> Vec<Lease> {
        if let [wish] = asked {
            let slot = self.grant_one(holder, wish, ttl_ms);
            return Vec::from([self.lease_at(slot, wish.path)]);
        }
        // A wish may strengthen or refresh what an earlier one got: the answer says how all stand in the end.
        let slots = asked.iter().map(|wish| self.grant_one(holder, &Asked { spot: None, ..*wish }, ttl_ms));
        let slots = slots.collect::<Vec<_>>();
        slots.into_iter().map(|slot| self.lease(slot)).collect()
    }

    fn grant_one(&mut self, holder: u32, wish: &Asked<'_>, ttl_ms: u64) -> u32 {
        let spot = wish.spot.unwrap_or_else(|| self.leases.tree.walk(wish.path, |_| ()));
        let own = if spot.complete { self.leases.own_at(spot.node, holder) } else { None };
        let stronger = own.is_none_or(|slot| wish.exclusive && !self.leases.tree.item(slot).exclusive);
        let slot = match own {
            Some(slot) => {
                if stronger {
                    self.leases.tree.strengthen(slot);
                }
                slot
            }
            None => {
                self.last_generation += 1;
                let new = NewLease {
                    generation: self.last_generation,
                    holder,
                    exclusive: wish.exclusive,
                    acquired_at: self.now,
                };
                self.leases.insert(&mut self.holders, spot, wish.path, new)
            }
        };
        self.extend(slot, ttl_ms, stronger);
        if stronger {
            self.overtake(holder, wish);
        }
        slot
    }

    /// A new or stronger lease may be in the way of waiters that were ready (only an attempt that barges in does that).
    fn overtake(&mut self, holder: u32, wish: &Asked<'_>) {
        if !self.waiters.ready.as_slice().is_empty() {
            let ask = Ask { holder, exclusive: wish.exclusive };
            let (mut search, _) = Search::new(&self.waiters.wishes, Some(wish.path), ask, Part::All);
            let hit = search.by_ref().map(|wish| self.waiters.waiter_of(wish)).collect::<Vec<_>>();
            self.visits += search.visits;
            for slot in hit {
                if self.waiters.ready.contains((self.waiters.get(slot).place, slot)) {
                    self.waiters.unsettle(slot);
                }
            }
        }
        // Whoever holds and waits may now be waited for, on a way that leads back to it.
        self.tangled |= !self.is_fifo() && !self.holders.get(holder).waiters.is_empty();
    }

    // Changing.

    /// Sets ttl and expiry of a lease, and takes back a release of it. `granted`: it is new, or stronger now.
    pub(super) fn extend(&mut self, slot: u32, ttl_ms: u64, granted: bool) {
        let now = self.now;
        let item = self.leases.tree.item(slot);
        let (generation, holder, ended) = (item.order, item.holder, self.leases.data(slot).ended());
        if ended {
            self.holders.get_mut(holder).ended.remove((generation, slot));
        }
        let expires_at = now + ttl_ms;
        let data = self.leases.data_mut(slot);
        data.ttl = ttl_ms as u32;
        data.expires_at = expires_at;
        data.release_pending = false;
        data.expired = false;
        if data.queued == 0 || data.queued > expires_at {
            data.queued = expires_at;
            self.deadlines.push(expires_at, Due::Lease(slot));
        }
        let (leases, holders) = (&self.leases, &self.holders);
        let id = || holders.get(holder).id.clone();
        self.log.event(now, || match granted {
            true => {
                let mode = mode(leases.tree.item(slot).exclusive);
                Fact::Granted { generation, holder: id(), path: leases.spelling(slot), mode, expires_at_ms: expires_at }
            }
            false => Fact::Refreshed { generation, holder: id(), expires_at_ms: expires_at },
        });
        self.record_lease(slot);
    }

    // Going.

    pub(super) fn release_one(&mut self, slot: u32, spelling: String) -> Released {
        self.end(slot, End::Released);
        Released { released: Vec::from([spelling]), not_held: Vec::new() }
    }

    pub(super) fn release_paths(&mut self, holder: &str, paths: &[&str]) -> Released {
        let holder = self.holders.find(holder).unwrap_or(NONE);
        let find = |table: &Self, asked| {
            let path = Path::parse(asked)?;
            let slot = table.own_at(holder, path)?;
            Some((slot, table.leases.spelling_of(slot, path)))
        };
        // Most calls name one path, and need no list of what they found.
        if let &[asked] = paths
            && let Some((slot, spelling)) = find(self, asked)
        {
            return self.release_one(slot, spelling);
        }
        let mut answer = Released::default();
        let mut found = Vec::new();
        for &asked in paths {
            match find(self, asked) {
                Some((slot, spelling)) => {
                    found.push((self.leases.tree.item(slot).order, slot));
                    answer.released.push(spelling);
                }
                None => answer.not_held.push(NotHeld::Path(asked.into())),
            }
        }
        // A location that was named twice is answered twice, and ends once.
        for (_, slot) in sorted(found) {
            self.end(slot, End::Released);
        }
        answer
    }

    /// Ends a lease: it goes, or where pins keep it, it is marked and goes with the last of them.
    pub(super) fn end(&mut self, slot: u32, how: End) {
        let item = self.leases.tree.item(slot);
        let (generation, holder, was_ended) = (item.order, item.holder, self.leases.data(slot).ended());
        let pending = self.leases.data(slot).pins > 0 && how != End::Forced;
        if !was_ended || !pending {
            let (leases, holders) = (&self.leases, &self.holders);
            self.log.event(self.now, || {
                let (holder, path) = (holders.get(holder).id.clone(), leases.spelling(slot));
                match how {
                    End::Released => Fact::Released { generation, holder, path, pending },
                    _ => Fact::Revoked { generation, holder, path, pending },
                }
            });
        }
        if pending {
            self.leases.data_mut(slot).release_pending = true;
            self.keep_ended(slot);
            self.record_lease(slot);
        } else {
            self.remove_lease(slot);
        }
    }

    /// A pinned lease has ended: it has no deadline any more, and in `fifo` it is in the way of its own holder.
    pub(super) fn keep_ended(&mut self, slot: u32) {
        self.leases.data_mut(slot).queued = 0;
        let item = self.leases.tree.item(slot);
        let (generation, holder) = (item.order, item.holder);
        self.holders.get_mut(holder).ended.insert((generation, slot));
        if self.is_fifo() {
            for waiter in self.holders.get(holder).waiters.clone() {
                if self.waiters.watched(waiter).is_none() {
                    self.waiters.unsettle(waiter);
                }
            }
        }
    }

    pub(super) fn remove_lease(&mut self, slot: u32) {
        let item = self.leases.tree.item(slot);
        let (generation, holder) = (item.order, item.holder);
        self.leases.remove(&mut self.holders, slot);
        self.waiters.wake(Watched::Lease(generation));
        self.log.record(|| Record::LeaseGone(generation));
        self.holders.tidy(holder);
    }

    /// Ends the leases and waiters of a holder; answers the number of the leases.
    pub(super) fn drop_holder(&mut self, holder: &str) -> usize {
        let Some(known) = self.holders.find(holder) else { return 0 };
        for slot in self.holders.get(known).waiters.clone() {
            self.cancel(slot);
        }
        let slots = self.own_leases(holder);
        for &slot in &slots {
            self.end(slot, End::Released);
        }
        slots.len()
    }

    // Pins.

    pub(super) fn try_pin(
        &mut self,
        holder: &str,
        paths: &[&str],
        mode: Mode,
        deadline: Option<Millis>,
    ) -> Result<PinToken, PinRefusal> {
        if paths.is_empty() {
            return Err(PinRefusal::NoPaths);
        }
        let holder = self.holders.find(holder).unwrap_or(NONE);
        let own = if holder == NONE { 0 } else { self.holders.get(holder).pins as usize };
        let Limits { pins, pins_per_holder, .. } = self.options.limits;
        let limits = [
            (Limit::Paths, paths.len() > PATHS_MAX, PATHS_MAX as u64),
            (Limit::Pins, self.pins.len() >= pins, pins as u64),
            (Limit::PinsPerHolder, own >= pins_per_holder, pins_per_holder as u64),
            (Limit::Numbers, self.last_token == NUMBER_MAX, NUMBER_MAX),
        ];
        if let Some(&(which, _, limit)) = limits.iter().find(|(_, reached, _)| *reached) {
            return Err(PinRefusal::LimitExceeded { which, limit });
        }
        let mut slots = Vec::new();
        for &path in paths {
            let own = Path::parse(path).and_then(|path| self.own_over(holder, path, mode));
            let slot = own.ok_or_else(|| PinRefusal::NotHeld { path: path.into() })?;
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
        for &slot in &slots {
            self.leases.data_mut(slot).pins += 1;
        }
        self.last_token += 1;
        let (token, since, deadline) = (self.last_token, self.now, deadline.map(Millis::get));
        let generations = slots.iter().map(|&slot| self.leases.tree.item(slot).order).collect();
        let slot = self.pins.insert(Pin { token, holder, generations, since, deadline });
        self.holders.get_mut(holder).pins += 1;
        if let Some(deadline) = deadline {
            self.deadlines.push(deadline, Due::Pin(slot));
        }
        self.record_pin(slot);
        Ok(PinToken(token))
    }

    /// Takes a pin away; with `sweep`, also the ended leases that nothing keeps then.
    pub(super) fn loosen(&mut self, slot: u32, sweep: bool) {
        let Some(pin) = self.pins.remove(slot) else { return };
        for generation in pin.generations {
            // A forced revocation may have taken the lease already.
            let Some(slot) = self.leases.find(generation) else { continue };
            let data = self.leases.data_mut(slot);
            data.pins -= 1;
            if sweep && data.pins == 0 && data.ended() {
                self.tell_gone(slot);
                self.remove_lease(slot);
            }
        }
        self.log.record(|| Record::PinGone(PinToken(pin.token)));
        self.holders.get_mut(pin.holder).pins -= 1;
        self.holders.tidy(pin.holder);
    }

    /// An ended lease goes with its last pin: observers were told that it would, and are told that it did.
    fn tell_gone(&mut self, slot: u32) {
        let (leases, holders) = (&self.leases, &self.holders);
        self.log.event(self.now, || {
            let (item, data) = (leases.tree.item(slot), leases.data(slot));
            let (generation, holder) = (item.order, holders.get(item.holder).id.clone());
            let (path, pending) = (leases.spelling(slot), false);
            match data.release_pending {
                true => Fact::Released { generation, holder, path, pending },
                false => Fact::Expired { generation, holder, path, pending },
            }
        });
    }

    /// What every attempt ends with: those it woke are looked at, and a refusal for good is an event.
    pub(super) fn finish(&mut self, holder: &str, answer: &Result<Vec<Lease>, Refusal>, registers: bool) {
        self.settle();
        if let Err(refusal) = answer
            && !(registers && matches!(refusal, Refusal::Conflict(_)))
        {
            self.log.event(self.now, || {
                let holder = &holder[..holder.floor_char_boundary(HOLDER_BYTES_MAX)];
                Fact::Refused { holder: holder.into(), reason: refusal.reason() }
            });
        }
    }
}

pub(super) fn mode(exclusive: bool) -> Mode {
    if exclusive { Mode::Exclusive } else { Mode::Shared }
}

fn exceeded(which: Limit, limit: usize) -> Refusal {
    Refusal::LimitExceeded { which, limit: limit as u64 }
}
