//! The authority as a slow, readable model over the model of the table: lists that are scanned.
//!
//! What a lease is (its resources, mode, ttl, end) is read from the table whenever it is asked for; that a lease has
//! expired or a waiter has lapsed is seen by it not being in the table any more.

mod asking;
mod giving;

use leasebook::coordination::{Answer, Class, Lease, LeaseId, Options, Refused, Waiter, WaitsFor};
use leasebook::{Containment, Fairness, Holder, LeaseStatus, Millis, Mode, Status, contains};
use leasebook_tests::model::Model as Table;

/// Who holds, who waits, what is remembered, and how all have behaved.
#[derive(Clone, Debug)]
pub struct Model {
    options: Options,
    table: Table,
    now: Millis,
    last_lease: u64,
    /// In the order of their ids.
    leases: Vec<Held>,
    /// An actor waits once.
    waits: Vec<Wait>,
    /// In the order in which they were granted.
    memory: Vec<Remembered>,
    trust: Vec<(String, u16)>,
    ended: Vec<(u64, Answer)>,
}

#[derive(Clone, Debug)]
struct Held {
    id: LeaseId,
    holder: Holder,
    generations: Vec<u64>,
    acquired_at_ms: u64,
    fence: u64,
}

#[derive(Clone, Debug)]
struct Wait {
    actor: Holder,
    wishes: Vec<(String, Mode)>,
    ttl_ms: Option<f64>,
    tickets: Vec<Ticket>,
}

#[derive(Clone, Debug)]
struct Ticket {
    id: u64,
    until_ms: u64,
    key: Option<(String, [u8; 32])>,
    asked_mode: Mode,
}

#[derive(Clone, Debug)]
struct Remembered {
    actor: Holder,
    key: String,
    body: [u8; 32],
    until_ms: u64,
    lease: Lease,
    asked_mode: Mode,
}

impl Model {
    /// A model of an authority that starts with these options.
    pub fn new(options: Options) -> Self {
        let table = Table::new(leasebook::Options {
            default_ttl_ms: options.default_ttl_ms,
            fairness: Fairness::Fifo,
            limits: options.limits,
            ..leasebook::Options::default()
        });
        Self {
            options,
            table,
            now: Millis::new(0),
            last_lease: 0,
            leases: Vec::new(),
            waits: Vec::new(),
            memory: Vec::new(),
            trust: Vec::new(),
            ended: Vec::new(),
        }
    }

    /// Time passes: waits that are over end as of their own end, what has expired goes, who is ready is granted.
    pub fn tick(&mut self, now: Millis) {
        self.advance(now);
        self.settle();
    }

    fn advance(&mut self, now: Millis) {
        let now = self.now.max(now);
        loop {
            let over = self.waits.iter().flat_map(|wait| &wait.tickets).map(|ticket| (ticket.until_ms, ticket.id));
            let Some((until_ms, id)) = over.min().filter(|(until_ms, _)| *until_ms <= now.get()) else { break };
            self.look(Millis::new(until_ms));
            self.time_up(id);
        }
        self.look(now);
    }

    /// Moves the clock, and sees what is gone.
    fn look(&mut self, now: Millis) {
        self.now = self.now.max(now);
        let status = self.table.status(self.now);
        let expired: Vec<Held> =
            self.leases.iter().filter(|lease| lease.locations(&status).is_empty()).cloned().collect();
        for lease in expired {
            self.leases.retain(|other| other.id != lease.id);
            self.score(&lease.holder, |halves| halves.saturating_sub(10));
        }
        self.waits.retain(|wait| status.waiters.iter().any(|waiter| waiter.holder == wait.actor));
        let now_ms = self.now.get();
        self.memory.retain(|remembered| remembered.until_ms > now_ms);
    }

    fn score(&mut self, actor: &Holder, change: impl Fn(u16) -> u16) {
        let former = self.halves(actor);
        self.trust.retain(|(other, _)| *other != **actor);
        self.trust.push((actor.to_string(), change(former).min(200)));
    }

    /// The score of an actor, in halves.
    pub fn halves(&self, actor: &str) -> u16 {
        self.trust.iter().find(|(other, _)| other == actor).map_or(100, |(_, halves)| *halves)
    }

    /// The answers of parked requests that have ended since the last call.
    pub fn settled(&mut self) -> Vec<(u64, Answer)> {
        std::mem::take(&mut self.ended)
    }

    /// The standing leases.
    pub fn leases(&mut self) -> Vec<Lease> {
        let status = self.table.status(self.now);
        self.leases.iter().map(|lease| lease.told(&status)).collect()
    }

    /// When time alone changes something.
    pub fn next_deadline(&mut self) -> Option<u64> {
        let ends = self.waits.iter().flat_map(|wait| &wait.tickets).map(|ticket| ticket.until_ms).min();
        self.table.next_deadline(self.now).into_iter().chain(ends).min()
    }

    /// Does anybody wait?
    pub fn is_anybody_waiting(&self) -> bool {
        !self.waits.is_empty()
    }

    /// The numbers of the parked requests.
    pub fn parked(&self) -> Vec<u64> {
        self.waits.iter().flat_map(|wait| &wait.tickets).map(|ticket| ticket.id).collect()
    }

    /// What an actor waits for.
    pub fn wishes(&self, actor: &str) -> &[(String, Mode)] {
        self.waits.iter().find(|wait| wait.actor == *actor).map_or(&[], |wait| &wait.wishes)
    }

    /// All who wait, in queue order, and for whom.
    pub fn queue(&mut self) -> Vec<Waiter> {
        let status = self.table.status(self.now);
        let told = status.waiters.iter().map(|waiter| {
            let wait = self.waits.iter().find(|wait| wait.actor == waiter.holder).expect("all who wait are known");
            let waits_for = waiter
                .blockers
                .iter()
                .map(|holder| WaitsFor { holder: holder.clone(), by: between(&status, &wait.wishes, holder) });
            Waiter {
                actor: wait.actor.clone(),
                resources: wait.wishes.iter().map(|(name, _)| name.clone()).collect(),
                mode: wait.wishes.iter().map(|(_, mode)| *mode).max().unwrap_or_default(),
                since_ms: self.now.get() - waiter.waiting_for_ms,
                parked: wait.tickets.len(),
                waits_for: waits_for.collect(),
            }
        });
        told.collect()
    }

    /// The first wish that something of a holder is in the way of, and the first by name of what that is.
    pub fn between(&mut self, wishes: &[(String, Mode)], holder: &str) -> Option<(String, String)> {
        between(&self.table.status(self.now), wishes, holder)
    }

    fn class(&self, resource: &str) -> Class {
        let segments = |name: &str| name.split('/').map(String::from).collect::<Vec<_>>();
        let resource = segments(resource);
        let covers = |pattern: &str| {
            let pattern = segments(pattern);
            pattern.len() <= resource.len()
                && pattern.iter().zip(&resource).all(|(want, name)| want == "*" || want == name)
        };
        let first = self.options.classes.iter().find(|(pattern, _)| covers(pattern.as_str()));
        first.map_or(Class::Exclusive, |(_, class)| *class)
    }
}

impl Held {
    fn locations<'a>(&self, status: &'a Status) -> Vec<&'a LeaseStatus> {
        let find = |generation| status.leases.iter().find(|standing| standing.lease.generation == generation);
        self.generations.iter().filter_map(|generation| find(*generation)).collect()
    }

    fn told(&self, status: &Status) -> Lease {
        let locations = self.locations(status);
        let first = &locations[0].lease;
        for location in &locations {
            let together = (first.ttl_ms, first.expires_at_ms) == (location.lease.ttl_ms, location.lease.expires_at_ms);
            assert!(together, "all locations of a lease end together");
        }
        Lease {
            lease_id: self.id,
            resources: locations.iter().map(|location| location.lease.path.clone()).collect(),
            holder: self.holder.clone(),
            mode: locations.iter().map(|location| location.lease.mode).max().unwrap_or_default(),
            ttl_ms: first.ttl_ms,
            acquired_at_ms: self.acquired_at_ms,
            expires_at_ms: first.expires_at_ms,
            generation: self.fence,
        }
    }
}

fn between(status: &Status, wishes: &[(String, Mode)], holder: &str) -> Option<(String, String)> {
    wishes.iter().find_map(|(wish, mode)| {
        let overlaps =
            |path: &str| contains(wish, path) == Containment::Yes || contains(path, wish) == Containment::Yes;
        let of = status.leases.iter().map(|standing| &standing.lease).filter(|lease| lease.holder == *holder);
        let excludes = of.filter(|lease| (*mode).max(lease.mode) == Mode::Exclusive && overlaps(&lease.path));
        Some((wish.clone(), excludes.map(|lease| lease.path.clone()).min()?))
    })
}

fn refused(refused: Refused) -> Answer {
    Answer::Refused(refused)
}
