//! What comes of a wait: leases, or the end of it.

use super::answer::{Answer, Grant, Held, Lease, Refused};
use super::ask::LeaseId;
use super::authority::Authority;
use super::decide::{Asked, held, names, other};
use super::event::{Fact, WaitEnd};
use super::grants::{Entry, Location};
use super::log::Changed;
use super::record::Remembered;
use super::remembered::REMEMBERED_MS;
use super::stampede;
use super::waiting::Wait;
use crate::{Holder, Millis, Mode, Period, Refusal};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;

impl Authority {
    /// Makes what the table granted one lease.
    pub(super) fn grant(&mut self, asked: &Asked, leases: &[crate::Lease]) -> Grant {
        let former: BTreeSet<Option<LeaseId>> =
            asked.wishes.iter().map(|(resource, _)| self.grants.of_place(&asked.actor, resource)).collect();
        // Who asks for a part of one of its leases alone refreshes the whole of it.
        let only = former.first().copied().flatten().filter(|_| former.len() == 1);
        let standing = only.and_then(|id| self.grants.get(id).cloned());
        let refreshed = standing.is_some();
        let entry = match standing {
            Some(entry) => self.refresh(entry, leases),
            None => self.new_entry(&asked.actor, former.into_iter().flatten(), leases),
        };
        let lease = entry.lease();
        self.log.change(Changed::Grant(entry.id));
        self.grants.put(entry);
        self.absorb();
        let told = Box::new(lease.clone());
        self.log.event(self.now_ms, || if refreshed { Fact::Refreshed(told) } else { Fact::Granted(told) });
        if let Some((key, body)) = &asked.key {
            self.remember(&asked.actor, key, *body, &lease, asked.asked_mode);
        }
        Grant { lease, replayed: false, ended: false, refreshed, asked_mode: asked.asked_mode }
    }

    /// A lease some of whose locations were asked for again: all of them get the new ttl.
    fn refresh(&mut self, mut entry: Entry, leases: &[crate::Lease]) -> Entry {
        let Some(first) = leases.first() else { return entry };
        (entry.ttl_ms, entry.expires_at_ms) = (first.ttl_ms, first.expires_at_ms);
        let (now, ttl) = (Millis::new(self.now_ms), Some(Period::from(first.ttl_ms)));
        for location in &mut entry.locations {
            match leases.iter().find(|lease| lease.generation == location.generation) {
                Some(asked) => location.mode = asked.mode,
                None => {
                    let refreshed = self.table.refresh(now, &entry.holder, location.generation, ttl);
                    debug_assert!(refreshed.is_ok(), "it stands");
                }
            }
        }
        entry
    }

    /// A new lease, with what it takes over of others of the same actor.
    fn new_entry(&mut self, actor: &Holder, former: impl Iterator<Item = LeaseId>, leases: &[crate::Lease]) -> Entry {
        let mut fence = leases.iter().map(|lease| lease.generation).max().unwrap_or(0);
        for id in former {
            fence = fence.max(self.grants.get(id).map_or(0, |entry| entry.fence));
            self.move_out(id, leases);
        }
        self.last_lease += 1;
        let locations = leases.iter().map(|lease| Location {
            resource: lease.path.clone(),
            generation: lease.generation,
            mode: lease.mode,
        });
        Entry {
            id: LeaseId(self.last_lease),
            holder: actor.clone(),
            locations: locations.collect(),
            ttl_ms: leases.first().map_or(0, |lease| lease.ttl_ms),
            acquired_at_ms: self.now_ms,
            expires_at_ms: leases.first().map_or(self.now_ms, |lease| lease.expires_at_ms),
            fence,
        }
    }

    pub(super) fn remember(&mut self, actor: &Holder, key: &str, body: [u8; 32], lease: &Lease, asked_mode: Mode) {
        self.memory.put(Remembered {
            actor: actor.clone(),
            key: key.into(),
            body,
            until_ms: self.now_ms + REMEMBERED_MS,
            lease: lease.clone(),
            asked_shared: asked_mode == Mode::Shared,
        });
        self.log.change(Changed::Remembered(actor.clone(), key.into()));
    }

    /// Takes locations out of a lease that another of the same actor has now. One that is left empty is over, and
    /// counts neither as released nor as expired.
    fn move_out(&mut self, id: LeaseId, moved: &[crate::Lease]) {
        let Some(mut entry) = self.grants.remove(id) else { return };
        entry.locations.retain(|location| moved.iter().all(|lease| lease.generation != location.generation));
        if !entry.locations.is_empty() {
            self.grants.put(entry);
        }
        self.log.change(Changed::Grant(id));
    }

    /// Tells all parked requests of an actor what it was granted.
    pub(super) fn tell_granted(&mut self, actor: &Holder, wait: Option<Wait>, grant: &Grant) {
        let Some(wait) = wait else { return };
        for ticket in wait.tickets {
            let mut grant = Grant { asked_mode: ticket.asked_mode, ..grant.clone() };
            if let Some((key, body)) = &ticket.key {
                grant.replayed = self.memory.get(actor, key).is_some();
                if !grant.replayed {
                    self.remember(actor, key, *body, &grant.lease, ticket.asked_mode);
                }
            }
            self.ended.push((ticket.id, Answer::Granted(grant)));
        }
        let actor = actor.clone();
        self.log.event(self.now_ms, || Fact::WaitEnded { actor, how: WaitEnd::Granted });
    }

    /// An actor waits for something else now, or got it: those who waited in its name are told.
    pub(super) fn supersede(&mut self, actor: &Holder) {
        self.end_tickets(actor, &Refused::Superseded, WaitEnd::Superseded);
    }

    pub(super) fn end_tickets(&mut self, actor: &Holder, refused: &Refused, how: WaitEnd) {
        let wait = self.waits.remove(actor);
        self.tell_ended(actor, wait, refused, how);
    }

    pub(super) fn tell_ended(&mut self, actor: &Holder, wait: Option<Wait>, refused: &Refused, how: WaitEnd) {
        let Some(wait) = wait else { return };
        for ticket in wait.tickets {
            self.ended.push((ticket.id, Answer::Refused(refused.clone())));
        }
        let actor = actor.clone();
        self.log.event(self.now_ms, || Fact::WaitEnded { actor, how });
    }

    /// The wait of a parked request is over. It is not granted any more, but its actor keeps its place for a while.
    pub(super) fn time_up(&mut self, now: Millis, ticket: u64) {
        let Some((actor, ticket)) = self.waits.remove_ticket(ticket) else { return };
        let Some(mut wait) = self.waits.get(&actor).cloned() else { return };
        let answer = if self.table.first_ready(|id| *actor == *id).is_some() {
            let stampede = stampede::place(&actor, None);
            Refused::Held(Box::new(Held { stampede, ..Held::default() }))
        } else {
            match self.attempt(now, &actor, &mut wait) {
                Err(Refusal::Conflict(blocked)) => {
                    self.waits.put(&actor, wait.clone());
                    Refused::Held(Box::new(held(&actor, *blocked)))
                }
                Err(Refusal::Deadlock { blocked, cycle }) => {
                    let deadlock = self.deadlock(&actor, &wait.wishes, *blocked, &cycle);
                    let refused = Refused::Deadlock(Box::new(deadlock));
                    self.end_tickets(&actor, &refused, WaitEnd::Deadlock);
                    refused
                }
                Err(refusal) => other(&refusal),
                // Whoever is not ready is not granted.
                Ok(_) => unreachable!("a waiter that has somebody in its way was granted"),
            }
        };
        self.absorb();
        self.tell_refused(&actor, names(&wait.wishes), &answer);
        self.ended.push((ticket.id, Answer::Refused(answer)));
    }

    /// Grants parked requests for which nothing is in the way, in queue order.
    pub(super) fn settle(&mut self, now: Millis) {
        while let Some(actor) = self.table.first_ready(|id| self.waits.is_parked(id)) {
            let actor = Holder::known(actor);
            let Some(mut wait) = self.waits.get(&actor).cloned() else { return };
            match self.attempt(now, &actor, &mut wait) {
                Ok(leases) => {
                    let former = self.waits.remove(&actor);
                    let asked_mode = wait.tickets.first().map(|ticket| ticket.asked_mode).unwrap_or_default();
                    let (ttl_ms, wishes) = (wait.ttl_ms, wait.wishes);
                    let asked = Asked { actor: actor.clone(), wishes, asked_mode, ttl_ms, wait_ms: 0, key: None };
                    let grant = self.grant(&asked, &leases);
                    self.tell_granted(&actor, former, &grant);
                }
                Err(refusal) => {
                    // A bound of the table: it stays in the way, so that waiting on would not help.
                    let refused = other(&refusal);
                    self.tell_refused(&actor, names(&wait.wishes), &refused);
                    self.end_tickets(&actor, &refused, WaitEnd::Cancelled);
                    self.table.cancel_wait(now, &actor);
                    self.absorb();
                }
            }
        }
    }

    pub(super) fn end_wait(&mut self, now: Millis, actor: &Holder, how: WaitEnd) {
        if self.waits.remove(actor).is_some() {
            self.table.cancel_wait(now, actor);
            let actor = actor.clone();
            self.log.event(self.now_ms, || Fact::WaitEnded { actor, how });
            self.absorb();
        }
    }
}
