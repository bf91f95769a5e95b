//! Requests: granted, parked or refused; and what comes of a wait.

use super::{Held, Model, Remembered, Ticket, Wait, refused};
use crate::op::Ask;
use leasebook::coordination::{
    Answer, Class, Deadlock, Grant, IDEMPOTENCY_KEY_BYTES_MAX, InvalidField, KEEP_MS, LeaseId, REMEMBERED_MS, Refused,
    Stampede,
};
use leasebook::limits::PATHS_MAX;
use leasebook::{Ahead, Blocked, Holder, Mode, Period, Refusal, WaitAttempt, Wish};

/// The longest hint, and the first one.
const HINTS_MS: (u64, u64) = (800, 25);

impl Model {
    /// Asks for leases.
    pub fn ask(&mut self, now: leasebook::Millis, ask: &Ask) -> Answer {
        self.tick(now);
        let answer = match self.check(ask) {
            Some(field) => refused(Refused::Invalid(InvalidField { field, expected: "", found: None })),
            None => self.decide(ask),
        };
        self.settle();
        answer
    }

    /// The first field that cannot be used.
    fn check(&self, ask: &Ask) -> Option<&'static str> {
        let whole = |number: f64, least: u64, most: u64| {
            number.fract() == 0.0 && number >= least as f64 && number <= most as f64
        };
        let key = |(key, _): &(String, [u8; 32])| {
            !key.is_empty() && key.len() <= IDEMPOTENCY_KEY_BYTES_MAX && !key.chars().any(char::is_control)
        };
        let checks = [
            // Steps name few actors; which DIDs are good ones is a test of its own.
            ("actorDid", ask.actor.starts_with("did:")),
            ("resources", (1..=PATHS_MAX).contains(&ask.resources.len())),
            ("resource", ask.resources.iter().all(|name| is_name(name))),
            ("ttlMs", ask.ttl.is_none_or(|ttl| whole(ttl, 1, self.options.ttl_ms_max))),
            ("waitMs", ask.wait.is_none_or(|wait| whole(wait, 0, self.options.wait_ms_max))),
            ("idempotencyKey", ask.key.as_ref().is_none_or(key)),
        ];
        checks.iter().find(|(_, good)| !good).map(|(field, _)| *field)
    }

    fn decide(&mut self, ask: &Ask) -> Answer {
        let actor = Holder::new(&ask.actor).expect("checked before");
        if let Some(answer) = self.replay(&actor, ask) {
            return answer;
        }
        let mut wishes: Vec<(String, Mode)> = Vec::new();
        for name in &ask.resources {
            let shared = ask.mode == Mode::Shared && self.class(name) == Class::ConcurrentRead;
            let wish = (name.clone(), if shared { Mode::Shared } else { Mode::Exclusive });
            if !wishes.contains(&wish) {
                wishes.push(wish);
            }
        }
        let wait_ms = ask.wait.unwrap_or(0.0) as u64;
        if wait_ms > 0 && self.parked().contains(&ask.ticket) {
            return refused(Refused::Invalid(InvalidField { field: "ticket", expected: "", found: None }));
        }
        let standing = self.waits.iter().find(|wait| wait.actor == actor).cloned();
        let former = standing.clone().filter(|wait| is_same(&wait.wishes, &wishes));
        if former.is_none() {
            let tried = self.table.acquire(self.now, &actor, &lent(&wishes), ask.ttl.map(Period::from));
            match tried {
                Ok(leases) => return Answer::Granted(self.grant(&actor, &leases, ask.mode, ask.key.as_ref())),
                Err(Refusal::Conflict(_)) => {}
                Err(refusal) => return refused(bound(refusal)),
            }
            let full = wishes.iter().find(|(name, _)| {
                let waits = self.waits.iter().filter(|wait| wait.actor != actor);
                waits.filter(|wait| wait.wishes.iter().any(|(other, _)| other == name)).count()
                    >= self.options.waiters_per_resource
            });
            if let Some((name, _)) = full {
                let limit = self.options.waiters_per_resource;
                return refused(Refused::QueueFull { resource: name.clone(), limit });
            }
        }
        let mut wait = Wait { actor, wishes, ttl_ms: ask.ttl, tickets: Vec::new() };
        wait.tickets.extend(former.iter().flat_map(|former| former.tickets.clone()));
        if wait_ms > 0 {
            let until_ms = self.now.get() + wait_ms;
            let (key, asked_mode) = (ask.key.clone(), ask.mode);
            wait.tickets.push(Ticket { id: ask.ticket, until_ms, key, asked_mode });
        }
        let tried = self.attempt(&wait);
        let bounded =
            matches!(&tried, Err(refusal) if !matches!(refusal, Refusal::Conflict(_) | Refusal::Deadlock { .. }));
        if !bounded {
            // The former wait ends here, in one way or another.
            self.waits.retain(|other| other.actor != wait.actor);
        }
        let superseded = standing.filter(|_| former.is_none()).map(|wait| wait.tickets).unwrap_or_default();
        let superseded = superseded.into_iter().map(|ticket| (ticket.id, refused(Refused::Superseded)));
        match tried {
            Ok(leases) => {
                let grant = self.grant(&wait.actor, &leases, ask.mode, ask.key.as_ref());
                self.ended.extend(superseded);
                let others = former.map(|former| former.tickets).unwrap_or_default();
                self.tell_granted(&wait.actor, others, &grant);
                Answer::Granted(grant)
            }
            Err(Refusal::Conflict(blocked)) => {
                self.ended.extend(superseded);
                let held = held(&wait.actor, *blocked);
                self.waits.push(wait);
                if wait_ms > 0 { Answer::Parked } else { refused(held) }
            }
            Err(Refusal::Deadlock { blocked, .. }) => {
                self.ended.extend(superseded);
                let deadlock = deadlock(&wait.actor, *blocked);
                let others = former.map(|former| former.tickets).unwrap_or_default();
                self.ended.extend(others.into_iter().map(|ticket| (ticket.id, refused(deadlock.clone()))));
                refused(deadlock)
            }
            Err(refusal) => refused(bound(refusal)),
        }
    }

    fn replay(&self, actor: &Holder, ask: &Ask) -> Option<Answer> {
        let (key, body) = ask.key.as_ref()?;
        if let Some(known) = self.memory.iter().find(|known| known.actor == *actor && known.key == *key) {
            if known.body != *body {
                return Some(refused(Refused::IdempotencyMismatch));
            }
            let ended = self.leases.iter().all(|lease| lease.id != known.lease.lease_id);
            let (lease, asked_mode) = (known.lease.clone(), known.asked_mode);
            return Some(Answer::Granted(Grant { lease, replayed: true, ended, refreshed: false, asked_mode }));
        }
        let wait = self.waits.iter().find(|wait| wait.actor == *actor)?;
        let other = |ticket: &Ticket| ticket.key.as_ref().is_some_and(|(k, b)| k == key && b != body);
        wait.tickets.iter().any(other).then(|| refused(Refused::IdempotencyMismatch))
    }

    /// Tries as a waiter, twice where the hint is not the longest: its place is kept for as long as the hint, and 2 s.
    fn attempt(&mut self, wait: &Wait) -> Result<Vec<leasebook::Lease>, Refusal> {
        let first = self.attempt_for(wait, HINTS_MS.0);
        match &first {
            Err(Refusal::Conflict(blocked)) => {
                let hint_ms = stampede(&wait.actor, blocked.ahead.as_ref()).wait_ms;
                self.attempt_for(wait, hint_ms)
            }
            _ => first,
        }
    }

    fn attempt_for(&mut self, wait: &Wait, hint_ms: u64) -> Result<Vec<leasebook::Lease>, Refusal> {
        let until_ms = wait.tickets.iter().map(|ticket| ticket.until_ms).max().unwrap_or(0);
        let keep_ms = until_ms.saturating_sub(self.now.get()) + hint_ms + KEEP_MS;
        let attempt = WaitAttempt {
            waiter_id: &wait.actor,
            holder: &wait.actor,
            wishes: &lent(&wait.wishes),
            ttl: wait.ttl_ms.map(Period::from),
            allow_hold: true,
            keep: Some(keep_ms.into()),
        };
        self.table.wait_attempt(self.now, &attempt)
    }

    fn grant(
        &mut self,
        actor: &Holder,
        granted: &[leasebook::Lease],
        asked_mode: Mode,
        key: Option<&(String, [u8; 32])>,
    ) -> Grant {
        let generations: Vec<u64> = granted.iter().map(|lease| lease.generation).collect();
        let whole = self.leases.iter().position(|lease| generations.iter().all(|g| lease.generations.contains(g)));
        let at = match whole {
            Some(at) => {
                for generation in self.leases[at].generations.clone() {
                    let ttl = Some(Period::from(granted[0].ttl_ms));
                    self.table.refresh(self.now, actor, generation, ttl).expect("it stands");
                }
                at
            }
            None => {
                let mut fence = generations.iter().copied().max().unwrap_or(0);
                for lease in &mut self.leases {
                    if lease.generations.iter().any(|g| generations.contains(g)) {
                        fence = fence.max(lease.fence);
                        lease.generations.retain(|g| !generations.contains(g));
                    }
                }
                self.leases.retain(|lease| !lease.generations.is_empty());
                self.last_lease += 1;
                let (id, acquired_at_ms) = (LeaseId(self.last_lease), self.now.get());
                self.leases.push(Held { id, holder: actor.clone(), generations, acquired_at_ms, fence });
                self.leases.len() - 1
            }
        };
        let lease = self.leases[at].told(&self.table.status(self.now));
        let grant = Grant { lease, replayed: false, ended: false, refreshed: whole.is_some(), asked_mode };
        self.remember(actor, key, &grant);
        grant
    }

    fn remember(&mut self, actor: &Holder, key: Option<&(String, [u8; 32])>, grant: &Grant) {
        let Some((key, body)) = key else { return };
        self.memory.push(Remembered {
            actor: actor.clone(),
            key: key.clone(),
            body: *body,
            until_ms: self.now.get() + REMEMBERED_MS,
            lease: grant.lease.clone(),
            asked_mode: grant.asked_mode,
        });
    }

    fn tell_granted(&mut self, actor: &Holder, tickets: Vec<Ticket>, grant: &Grant) {
        for ticket in tickets {
            let known = |(key, _): &(String, [u8; 32])| self.memory.iter().any(|m| m.actor == *actor && m.key == *key);
            let replayed = ticket.key.as_ref().is_some_and(known);
            let grant = Grant { asked_mode: ticket.asked_mode, replayed, ..grant.clone() };
            if !replayed {
                self.remember(actor, ticket.key.as_ref(), &grant);
            }
            self.ended.push((ticket.id, Answer::Granted(grant)));
        }
    }

    /// Grants parked requests for which nothing is in the way, in queue order.
    pub(super) fn settle(&mut self) {
        loop {
            let ready = self.table.ready(self.now);
            let wait = |id: &String| self.waits.iter().find(|wait| *wait.actor == **id && !wait.tickets.is_empty());
            let Some(wait) = ready.iter().find_map(wait).cloned() else { return };
            self.waits.retain(|other| other.actor != wait.actor);
            match self.attempt(&wait) {
                Ok(leases) => {
                    let grant = self.grant(&wait.actor, &leases, Mode::Exclusive, None);
                    self.tell_granted(&wait.actor, wait.tickets, &grant);
                }
                Err(refusal) => {
                    self.table.cancel_wait(self.now, &wait.actor);
                    let answer = refused(bound(refusal));
                    self.ended.extend(wait.tickets.iter().map(|ticket| (ticket.id, answer.clone())));
                }
            }
        }
    }

    /// The wait of a parked request is over: it is told what is in its way now.
    pub(super) fn time_up(&mut self, ticket: u64) {
        let ready = self.table.ready(self.now);
        let has = |wait: &&mut Wait| wait.tickets.iter().any(|other| other.id == ticket);
        let Some(wait) = self.waits.iter_mut().find(has) else { return };
        wait.tickets.retain(|other| other.id != ticket);
        let wait = wait.clone();
        let answer = if ready.iter().any(|id| **id == *wait.actor) {
            held(&wait.actor, Blocked::default())
        } else {
            match self.attempt(&wait) {
                Err(Refusal::Conflict(blocked)) => held(&wait.actor, *blocked),
                Err(refusal) => bound(refusal),
                Ok(_) => panic!("who is not ready was granted"),
            }
        };
        self.ended.push((ticket, refused(answer)));
    }
}

/// May this be the name of a resource?
pub(super) fn is_name(name: &str) -> bool {
    let segments: Vec<&str> = name.split('/').collect();
    let odd = |segment: &&str| segment.is_empty() || *segment == "." || *segment == "..";
    !segments.iter().any(odd)
        && segments.len() <= 255
        && name.len() <= 4096
        && !name.chars().any(|c| c.is_control() || c == '\\')
}

fn lent(wishes: &[(String, Mode)]) -> Vec<Wish<'_>> {
    wishes.iter().map(|(path, mode)| Wish { path, mode: *mode }).collect()
}

fn is_same(one: &[(String, Mode)], other: &[(String, Mode)]) -> bool {
    one.iter().all(|wish| other.contains(wish)) && other.iter().all(|wish| one.contains(wish))
}

/// A refusal of the table that says which bound was reached.
fn bound(refusal: Refusal) -> Refused {
    match refusal {
        Refusal::LimitExceeded { which, limit } => Refused::LimitExceeded { which, limit },
        other => panic!("no bound: {other}"),
    }
}

fn stampede(asker: &Holder, ahead: Option<&Ahead>) -> Stampede {
    let waiters = ahead.map_or(0, |ahead| ahead.position - 1);
    let mut admitted = ahead.map(|ahead| ahead.holders.clone()).unwrap_or_default();
    admitted.push(asker.clone());
    admitted.truncate(8);
    let mut wait_ms = HINTS_MS.1;
    for _ in 0..waiters {
        wait_ms = (wait_ms * 2).min(HINTS_MS.0);
    }
    Stampede { admitted, wait_ms, position: waiters + 1, waiters }
}

fn held(asker: &Holder, blocked: Blocked) -> Refused {
    let mut holders: Vec<Holder> = Vec::new();
    for conflict in &blocked.conflicts {
        if !holders.contains(&conflict.holder) {
            holders.push(conflict.holder.clone());
        }
    }
    let stampede = stampede(asker, blocked.ahead.as_ref());
    if holders.is_empty() {
        holders = blocked.ahead.map(|ahead| ahead.holders).unwrap_or_default();
    }
    let Blocked { conflicts, truncated, .. } = blocked;
    Refused::Held(Box::new(leasebook::coordination::Held { conflicts, truncated, holders, stampede }))
}

/// Which cycle is told is judged by whoever compares.
fn deadlock(asker: &Holder, blocked: Blocked) -> Refused {
    Refused::Deadlock(Box::new(Deadlock {
        holder: asker.clone(),
        waiting_on: String::new(),
        cycle: Vec::new(),
        conflicts: blocked.conflicts,
    }))
}
