//! The operations of an authority.

use super::answer::{Answer, Given, Lease, Refused, Seen, Waiter, WaitsFor};
use super::ask::{Giving, LeaseId, Request, check_resources};
use super::decide::holder;
use super::event::{Event, Fact, WaitEnd};
use super::grants::{Entry, Grants};
use super::log::{Changed, Log};
use super::options::Options;
use super::record::Record;
use super::remembered::Memory;
use super::trust::Trust;
use super::waiting::Waits;
use crate::{Holder, InvalidOptions, Millis, Table};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

/// How long a refused deadlock is told, in milliseconds: 10 minutes.
pub(super) const SEEN_MS: u64 = 600_000;

/// What time ended.
enum End {
    Expiry(Entry),
    Lapse(Holder),
}

/// The one decider of a workspace.
///
/// Commands (`ask`, `release`, `cancel`, `withdraw`, `revoke`, `tick`) take the moment they happen at, and first let
/// time pass until then. After each, the host drains [`Authority::settled`], and makes durable what
/// [`Authority::take_records`] hands out before it gives any answer away.
#[derive(Clone, Debug)]
pub struct Authority {
    pub(super) options: Options,
    pub(super) table: Table,
    pub(super) now_ms: u64,
    pub(super) last_lease: u64,
    pub(super) grants: Grants,
    pub(super) trust: BTreeMap<Holder, Trust>,
    pub(super) memory: Memory,
    pub(super) waits: Waits,
    pub(super) seen: VecDeque<Seen>,
    pub(super) ended: Vec<(u64, Answer)>,
    pub(super) log: Log,
}

impl Authority {
    /// An authority without leases.
    pub fn new(options: Options) -> Result<Self, InvalidOptions> {
        let table = Table::new(options.table()?)?;
        Ok(Self::over(options, table))
    }

    pub(super) fn over(options: Options, table: Table) -> Self {
        let log = Log::new(options.events, options.journal);
        Self {
            options,
            table,
            now_ms: 0,
            last_lease: 0,
            grants: Grants::default(),
            trust: BTreeMap::new(),
            memory: Memory::default(),
            waits: Waits::default(),
            seen: VecDeque::new(),
            ended: Vec::new(),
            log,
        }
    }

    /// Asks for leases. `ticket`: a number that no parked request has; the answer to a parked one comes under it.
    ///
    /// Where leases of others or a queue are in the way, the actor becomes a waiter: parked for as long as the request
    /// waits, and kept in its place for as long as its hint and 2 seconds after that.
    pub fn ask(&mut self, now: Millis, ticket: u64, request: &Request<'_>) -> Answer {
        self.tick(now);
        let answer = match self.read(request) {
            Err(invalid) => Answer::Refused(Refused::Invalid(invalid)),
            Ok(asked) => self.decide(now, ticket, asked),
        };
        self.settle(now);
        answer
    }

    /// Gives resources back: all that are named, or none.
    pub fn release(&mut self, now: Millis, giving: &Giving<'_>) -> Result<Given, Refused> {
        self.tick(now);
        let actor = holder(giving.actor).map_err(Refused::Invalid)?;
        if giving.lease_id.is_none() || !giving.resources.is_empty() {
            check_resources(giving.resources).map_err(Refused::Invalid)?;
        }
        let named = match self.named(&actor, giving) {
            Ok(named) => named,
            Err(refused) => {
                let resources = giving.resources.iter().map(|resource| (*resource).into()).collect();
                self.tell_refused(&actor, resources, &refused);
                return Err(refused);
            }
        };
        let mut given = Given::default();
        for (id, resources) in named {
            self.give(now, id, &resources, &mut given);
        }
        self.absorb();
        self.settle(now);
        Ok(given)
    }

    /// Ends the wait of a parked request: it is never granted. With its last one, its actor does not wait any more.
    /// `false`: there is no such request.
    pub fn cancel(&mut self, now: Millis, ticket: u64) -> bool {
        self.advance(now);
        // Before anybody is granted anything: what became free at this very moment goes to the next one.
        let found = self.waits.remove_ticket(ticket);
        if let Some((actor, _)) = &found
            && !self.waits.is_parked(actor)
        {
            self.end_wait(now, actor, WaitEnd::Cancelled);
        }
        self.settle(now);
        found.is_some()
    }

    /// Takes back a grant that reached nobody. `false`: there is no such lease.
    pub fn withdraw(&mut self, now: Millis, lease_id: LeaseId) -> bool {
        self.take_away(now, lease_id, |lease_id, holder, resources| Fact::Withdrawn { lease_id, holder, resources })
    }

    /// Takes a lease away, by an operator. `false`: there is no such lease.
    pub fn revoke(&mut self, now: Millis, lease_id: LeaseId) -> bool {
        self.take_away(now, lease_id, |lease_id, holder, resources| Fact::Revoked { lease_id, holder, resources })
    }

    /// Lets time pass: leases expire, waits are over, who is ready is granted.
    pub fn tick(&mut self, now: Millis) {
        self.advance(now);
        self.settle(now);
    }

    /// The answers of parked requests that have ended since the last call: in queue order where they were granted.
    pub fn settled(&mut self) -> Vec<(u64, Answer)> {
        core::mem::take(&mut self.ended)
    }

    /// When time alone changes something next, in milliseconds of the host's clock; `None` = never. At a moment that
    /// is not after `now` the host calls [`Authority::tick`] at once. Nothing is ended by looking: what it would grant
    /// to those who are parked would be lost on a host that goes to sleep then.
    pub fn next_deadline(&mut self, now: Millis) -> Option<u64> {
        if !self.ended.is_empty() {
            return Some(now.get());
        }
        let table = self.table.next_deadline(Millis::new(self.now_ms)).map(Millis::get);
        let wait = self.waits.next_end();
        table.into_iter().chain(wait).min()
    }

    /// The records that changed since the last call. Empty where [`Options::journal`] is off.
    pub fn take_records(&mut self) -> Vec<Record> {
        let mut log = core::mem::take(&mut self.log);
        let records = log.take_records(self);
        self.log = log;
        records
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.log.take_events(self.now_ms)
    }

    /// The standing leases, in the order of their ids.
    pub fn leases(&mut self, now: Millis) -> Vec<Lease> {
        self.tick(now);
        self.grants.all().map(Entry::lease).collect()
    }

    /// One lease; `None`: it is over, or there never was one.
    pub fn lease(&mut self, now: Millis, lease_id: LeaseId) -> Option<Lease> {
        self.tick(now);
        self.grants.get(lease_id).map(Entry::lease)
    }

    /// All who wait, in queue order, and for whom.
    pub fn queue(&mut self, now: Millis) -> Vec<Waiter> {
        self.tick(now);
        let status = self.table.status(now);
        let told = status.waiters.into_iter().filter_map(|waiter| {
            let wait = self.waits.get(&waiter.holder)?;
            let waits_for = waiter.blockers.iter().map(|blocker| WaitsFor {
                holder: blocker.clone(),
                by: self.between(&wait.wishes, blocker).map(|(wish, held)| (wish.into(), held.into())),
            });
            Some(Waiter {
                waits_for: waits_for.collect(),
                actor: waiter.holder,
                resources: wait.wishes.iter().map(|(resource, _)| resource.clone()).collect(),
                mode: wait.wishes.iter().map(|(_, mode)| *mode).max().unwrap_or_default(),
                since_ms: self.now_ms.saturating_sub(waiter.waiting_for_ms),
                parked: wait.tickets.len(),
            })
        });
        told.collect()
    }

    /// The requests that were refused as deadlocks in the last 10 minutes, at most 256, the oldest first.
    pub fn deadlocks(&mut self, now: Millis) -> Vec<Seen> {
        self.tick(now);
        self.seen.iter().cloned().collect()
    }

    /// The score of an actor. One that nothing is known of has the score that everybody starts with.
    pub fn trust(&self, actor: &str) -> Trust {
        self.trust.get(actor).copied().unwrap_or_default()
    }

    /// The scores of all whose score has ever changed.
    pub fn trusts(&self) -> impl Iterator<Item = (&Holder, Trust)> {
        self.trust.iter().map(|(actor, trust)| (actor, *trust))
    }

    /// How it was started.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Lets time pass, up to granting anything to anybody. Waits that are over end one after the other, each as of its
    /// own end: however late a host is, the refusal tells the truth, and the waiter has its place for as long as ever.
    fn advance(&mut self, now: Millis) {
        while let Some((until_ms, ticket)) = self.waits.over(self.now_ms.max(now.get())) {
            let until = Millis::new(until_ms);
            self.pass(until);
            self.time_up(until, ticket);
        }
        self.pass(now);
    }

    /// Lets the table know the time, and takes in what that ended.
    fn pass(&mut self, now: Millis) {
        self.now_ms = self.now_ms.max(now.get());
        // A look: it reaps.
        self.table.next_deadline(now);
        self.absorb();
        for (actor, key) in self.memory.forget(self.now_ms) {
            self.log.change(Changed::Remembered(actor, key));
        }
        while self.seen.front().is_some_and(|seen| seen.at_ms + SEEN_MS <= self.now_ms) {
            self.seen.pop_front();
        }
    }

    /// Takes in what the table did: what is gone without having been given back has expired, and a waiter that is gone
    /// without having been ended has lapsed.
    pub(super) fn absorb(&mut self) {
        let (mut expired, mut ends) = (BTreeSet::new(), Vec::new());
        for record in self.table.take_records() {
            match record {
                crate::Record::LeaseGone(generation) => {
                    expired.extend(self.grants.of_generation(generation));
                    self.log.location(Record::LocationGone(generation));
                }
                crate::Record::Lease(lease) => self.log.location(Record::Location(lease)),
                crate::Record::Counters(counters) => self.log.counters(counters),
                crate::Record::WaiterGone(id) => {
                    let actor = Holder::known(&id);
                    // What is registered anew under the same id has a record of its own.
                    if let Some(wait) = self.waits.get(&actor)
                        && !self.table.is_waiting(&id)
                    {
                        ends.push((wait.lapses_at_ms, End::Lapse(actor)));
                    }
                }
                crate::Record::Waiter(_) | crate::Record::Pin(_) | crate::Record::PinGone(_) => {}
            }
        }
        // All locations of a lease end at one moment, since they are granted and refreshed together.
        let expired = expired.into_iter().filter_map(|id| self.grants.remove(id));
        ends.extend(expired.map(|entry| (entry.expires_at_ms, End::Expiry(entry))));
        // A host that is late is told in the order in which things happened.
        ends.sort_by_key(|(at_ms, _)| *at_ms);
        for (at_ms, end) in ends {
            match end {
                End::Expiry(entry) => self.expired(&entry),
                // Its parked requests have ended before, since its place is kept for longer than any of them waits.
                End::Lapse(actor) => {
                    self.waits.remove(&actor);
                    self.log.event(at_ms, || Fact::WaitEnded { actor, how: WaitEnd::Lapsed });
                }
            }
        }
    }

    fn expired(&mut self, entry: &Entry) {
        self.log.change(Changed::Grant(entry.id));
        let (lease_id, holder, resources) = (entry.id, entry.holder.clone(), entry.resources());
        self.log.event(entry.expires_at_ms, || Fact::Expired { lease_id, holder, resources });
        self.score(&entry.holder, Trust::expired, entry.expires_at_ms);
    }

    pub(super) fn score(&mut self, actor: &Holder, change: fn(Trust) -> Trust, at_ms: u64) {
        let former = self.trust(actor);
        let trust = change(former);
        if trust == former {
            return;
        }
        self.trust.insert(actor.clone(), trust);
        self.log.change(Changed::Trust(actor.clone()));
        let actor = actor.clone();
        self.log.event(at_ms, || Fact::Trust { actor, trust });
    }
}
