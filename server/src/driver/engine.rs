//! One turn of the driver: commands are applied, what they changed is committed, and then they are answered.

use super::{Ask, Done, Health, Parts, Reply, Unavailable, Work, lock};
use crate::clock::Clock;
use crate::feed::Feeds;
use crate::journal;
use crate::store::{Batch, Outgoing, Revision, Store, StoreError};
use leasebook::Millis;
use leasebook::coordination::{Answer, Authority, LeaseId, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) struct Engine<S, C> {
    store: S,
    clock: C,
    options: Options,
    feeds: Arc<Feeds>,
    on_outgoing: Box<dyn Fn() + Send>,
    health: Arc<Mutex<Health>>,
    /// What the store holds; `None`: it must be loaded before the next command.
    revision: Option<Revision>,
    rooms: BTreeMap<Arc<str>, Room>,
    parked: BTreeMap<u64, Parked>,
    draining: bool,
}

/// A workspace.
struct Room {
    authority: Authority,
    /// The number of the latest event for its ledger.
    number: u64,
}

/// A request that waits for a grant.
struct Parked {
    workspace: Arc<str>,
    reply: Reply<Answer>,
    /// It has an idempotency key: a grant that did not reach the caller is found again by it.
    keyed: bool,
}

/// What a turn has to do after its commit.
#[derive(Default)]
struct Turn {
    answers: Vec<(Parked, Answer)>,
    done: Vec<Done>,
}

impl<S: Store, C: Clock> Engine<S, C> {
    pub(super) fn new(parts: Parts<S, C>, health: Arc<Mutex<Health>>) -> Self {
        let Parts { store, clock, options, feeds, on_outgoing } = parts;
        Self {
            store,
            clock,
            options,
            feeds,
            on_outgoing,
            health,
            revision: None,
            rooms: BTreeMap::new(),
            parked: BTreeMap::new(),
            draining: false,
        }
    }

    /// How long until time alone changes something; `None` = never.
    pub(super) fn sleep(&mut self) -> Option<Duration> {
        let now = self.clock.now();
        let deadlines = self.rooms.values_mut().filter_map(|room| room.authority.next_deadline(now));
        let next = deadlines.min()?;
        Some(Duration::from_millis(next.saturating_sub(now.get())))
    }

    /// Applies commands, and the passing of time, and answers after the commit.
    pub(super) fn turn(&mut self, work: impl Iterator<Item = Work>) {
        let mut turn = Turn::default();
        if let Err(unavailable) = self.loaded() {
            for work in work {
                self.refuse(work, &unavailable);
            }
            return;
        }
        for work in work {
            self.apply(work, &mut turn);
        }
        let names: Vec<Arc<str>> = self.rooms.keys().cloned().collect();
        for name in &names {
            self.settle(name, &mut turn);
        }
        match self.commit() {
            Ok(()) => self.answer(turn),
            Err(error) => self.give_up(turn, &error),
        }
    }

    fn apply(&mut self, work: Work, turn: &mut Turn) {
        let now = self.clock.now();
        match work {
            // Who is gone already gets nothing.
            Work::Ask { reply, .. } if reply.is_closed() => {}
            Work::Ask { ask, ticket, reply } => self.ask(now, *ask, ticket, reply, turn),
            Work::Cancel { workspace, ticket } => {
                if self.parked.remove(&ticket).is_some()
                    && let Some(room) = self.rooms.get_mut(&workspace)
                {
                    room.authority.cancel(now, ticket);
                    self.settle(&workspace, turn);
                }
            }
            Work::With { workspace, work } => {
                let reached = self.room(&workspace).map(|room| (&mut room.authority, now));
                turn.done.extend(work(reached));
                self.settle(&workspace, turn);
            }
            Work::Drain => {
                self.draining = true;
                self.end_parked(&Unavailable::ending());
            }
        }
    }

    fn ask(&mut self, now: Millis, mut ask: Ask, ticket: u64, reply: Reply<Answer>, turn: &mut Turn) {
        if self.draining {
            ask.wait = None;
        }
        let workspace = Arc::clone(&ask.workspace);
        let room = match self.room(&workspace) {
            Ok(room) => room,
            Err(unavailable) => return drop(reply.send(Err(unavailable))),
        };
        let parked = Parked { workspace, reply, keyed: ask.idempotency.is_some() };
        match ask.with(|request| room.authority.ask(now, ticket, request)) {
            Answer::Parked => drop(self.parked.insert(ticket, parked)),
            answer => turn.answers.push((parked, answer)),
        }
        self.settle(&ask.workspace, turn);
    }

    /// Lets time pass, and collects parked requests that have ended. A grant that nobody is left to hear of is taken
    /// back before anybody else is kept from it.
    fn settle(&mut self, workspace: &Arc<str>, turn: &mut Turn) {
        let now = self.clock.now();
        let Some(room) = self.rooms.get_mut(workspace) else { return };
        room.authority.tick(now);
        loop {
            let ended = room.authority.settled();
            if ended.is_empty() {
                return;
            }
            let told = ended.into_iter().filter_map(|(ticket, answer)| Some((self.parked.remove(&ticket)?, answer)));
            let told: Vec<(Parked, Answer)> = told.collect();
            for lease_id in unheard(&told, |parked| parked.reply.is_closed()) {
                room.authority.withdraw(now, lease_id);
            }
            turn.answers.extend(told);
        }
    }

    /// Makes everything durable that the turn has changed, and tells observers.
    fn commit(&mut self) -> Result<(), StoreError> {
        let mut batch = Batch::default();
        let mut told = Vec::new();
        for (name, room) in &mut self.rooms {
            for record in room.authority.take_records() {
                batch.changes.push(journal::change(name, &record));
            }
            for event in room.authority.take_events() {
                if let Some(body) = journal::ledger_line(&event) {
                    room.number += 1;
                    batch.outgoing.push(Outgoing { workspace: name.to_string(), number: room.number, body });
                }
                told.push((Arc::clone(name), event));
            }
        }
        if !batch.is_empty() {
            let at = self.revision.unwrap_or_default();
            self.revision = Some(self.store.commit(at, &batch)?);
            lock(&self.health).commits += 1;
            if !batch.outgoing.is_empty() {
                (self.on_outgoing)();
            }
        }
        for (workspace, event) in told {
            self.feeds.tell(&workspace, &event);
        }
        Ok(())
    }

    fn answer(&mut self, turn: Turn) {
        for done in turn.done {
            done(Ok(()));
        }
        let mut told = Vec::with_capacity(turn.answers.len());
        for (parked, answer) in turn.answers {
            let Parked { workspace, reply, keyed } = parked;
            let lease_id = unclaimed(keyed, &answer);
            let heard = reply.send(Ok(answer)).is_ok();
            told.extend(lease_id.map(|lease_id| (workspace, lease_id, heard)));
        }
        // Who has gone since the last look knows nothing of a new lease.
        for (workspace, lease_id, heard) in &told {
            let by_another = || told.iter().any(|(_, other, heard)| other == lease_id && *heard);
            if !heard
                && !by_another()
                && let Some(room) = self.rooms.get_mut(workspace)
            {
                room.authority.withdraw(self.clock.now(), *lease_id);
            }
        }
    }

    /// A commit failed: whether it is in the store is not known, so that the authorities are not to be trusted.
    fn give_up(&mut self, turn: Turn, error: &StoreError) {
        tracing::error!(%error, "a commit failed; the authorities are read again");
        let unavailable = Unavailable(format!("the store failed, and nothing was granted: {error}"));
        {
            let mut health = lock(&self.health);
            health.failures += 1;
            health.failing = Some(error.to_string());
        }
        for done in turn.done {
            done(Err(unavailable.clone()));
        }
        for (parked, _) in turn.answers {
            let _ = parked.reply.send(Err(unavailable.clone()));
        }
        self.end_parked(&unavailable);
        self.rooms.clear();
        self.revision = None;
    }

    /// Reads the store where that is due.
    fn loaded(&mut self) -> Result<(), Unavailable> {
        if self.revision.is_some() {
            return Ok(());
        }
        match self.load() {
            Ok(()) => {
                lock(&self.health).failing = None;
                Ok(())
            }
            Err(error) => {
                tracing::error!(%error, "the store cannot be read");
                lock(&self.health).failing = Some(error.to_string());
                Err(Unavailable(format!("the store cannot be read, and nothing was granted: {error}")))
            }
        }
    }

    fn load(&mut self) -> Result<(), StoreError> {
        let loaded = self.store.load()?;
        let now = self.clock.now();
        let mut rooms = BTreeMap::new();
        for records in loaded.records.chunk_by(|a, b| a.workspace == b.workspace) {
            let name: Arc<str> = records[0].workspace.as_str().into();
            let records = records.iter().map(journal::record).collect::<Result<Vec<_>, _>>()?;
            let authority = Authority::restore(now, self.options.clone(), records).map_err(|error| {
                let what = format!("the records of workspace {name}: {error}");
                StoreError::Unreadable { what, expected: "records that a service has written" }
            })?;
            rooms.insert(name, Room { authority, number: 0 });
        }
        for (workspace, number) in loaded.numbers {
            let name: Arc<str> = workspace.as_str().into();
            match rooms.get_mut(&name) {
                Some(room) => room.number = number,
                None => {
                    // Only refusals so far: there are events, but no records.
                    let authority = self.authority().map_err(|error| StoreError::Unreadable {
                        what: format!("the options: {error}"),
                        expected: "usable ones",
                    })?;
                    rooms.insert(name, Room { authority, number });
                }
            }
        }
        self.rooms = rooms;
        self.revision = Some(loaded.revision);
        Ok(())
    }

    fn authority(&self) -> Result<Authority, leasebook::InvalidOptions> {
        Authority::new(self.options.clone())
    }

    fn room(&mut self, name: &Arc<str>) -> Result<&mut Room, Unavailable> {
        if !self.rooms.contains_key(name) {
            let authority = self.authority().map_err(|error| Unavailable(error.to_string()))?;
            self.rooms.insert(Arc::clone(name), Room { authority, number: 0 });
        }
        self.rooms.get_mut(name).ok_or_else(Unavailable::ending)
    }

    fn end_parked(&mut self, unavailable: &Unavailable) {
        let now = self.clock.now();
        for (ticket, parked) in std::mem::take(&mut self.parked) {
            if let Some(room) = self.rooms.get_mut(&parked.workspace) {
                room.authority.cancel(now, ticket);
            }
            let _ = parked.reply.send(Err(unavailable.clone()));
        }
    }

    fn refuse(&mut self, work: Work, unavailable: &Unavailable) {
        match work {
            Work::Ask { reply, .. } => drop(reply.send(Err(unavailable.clone()))),
            Work::With { work, .. } => drop(work(Err(unavailable.clone()))),
            Work::Cancel { .. } => {}
            Work::Drain => self.draining = true,
        }
    }
}

/// The leases that were granted to nobody who is there to hear of them.
fn unheard(told: &[(Parked, Answer)], is_gone: impl Fn(&Parked) -> bool) -> BTreeSet<LeaseId> {
    let of = |(parked, answer): &(Parked, Answer)| match answer {
        Answer::Granted(grant) => Some((grant.lease.lease_id, is_gone(parked) && !grant.refreshed && !parked.keyed)),
        _ => None,
    };
    let heard: BTreeSet<LeaseId> =
        told.iter().filter_map(of).filter(|(_, unheard)| !unheard).map(|(id, _)| id).collect();
    told.iter().filter_map(of).map(|(id, _)| id).filter(|id| !heard.contains(id)).collect()
}

/// The lease of a grant that is new, and that nothing but the answer leads to.
fn unclaimed(keyed: bool, answer: &Answer) -> Option<LeaseId> {
    match answer {
        Answer::Granted(grant) if !keyed && !grant.refreshed => Some(grant.lease.lease_id),
        _ => None,
    }
}
