//! A request is read, and granted, parked or refused.

use super::answer::{Answer, Deadlock, Grant, Held, Refused, Seen, Stampede, Waits};
use super::ask::{InvalidField, Request, check_actor, check_key, check_resources};
use super::authority::Authority;
use super::event::{Fact, WaitEnd};
use super::stampede::{self, HINT_MS_MAX};
use super::waiting::{PARKED_PER_ACTOR_MAX, Ticket, Wait};
use crate::limits::{LISTED_MAX, NUMBER_MAX, WAITERS_MAX};
use crate::{Blocked, Holder, Limit, Millis, Mode, Period, Refusal, WaitAttempt, Wish};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

/// A request that was read.
pub(super) struct Asked {
    pub(super) actor: Holder,
    /// In the order asked, each location once.
    pub(super) wishes: Vec<(String, Mode)>,
    pub(super) asked_mode: Mode,
    pub(super) ttl_ms: Option<u64>,
    pub(super) wait_ms: u64,
    pub(super) key: Option<(String, [u8; 32])>,
}

impl Authority {
    pub(super) fn read(&self, request: &Request<'_>) -> Result<Asked, InvalidField> {
        let actor = holder(request.actor)?;
        check_resources(request.resources)?;
        let ttl_ms = match request.ttl {
            None => None,
            Some(ttl) => Some(ttl.ms(self.options.ttl_ms_max).ok_or(InvalidField::new(
                "ttlMs",
                "whole milliseconds from 1 to the longest ttl, 3600000 unless configured",
            ))?),
        };
        let wait_ms = match request.wait {
            None => 0,
            Some(wait) if wait.given() == 0.0 => 0,
            Some(wait) => wait.ms(self.options.wait_ms_max).ok_or(InvalidField::new(
                "waitMs",
                "whole milliseconds from 0 to the longest wait, 60000 unless configured",
            ))?,
        };
        let key = match request.idempotency {
            None => None,
            Some(idempotency) => {
                check_key(idempotency.key)?;
                Some((idempotency.key.into(), idempotency.body))
            }
        };
        let mut known = BTreeSet::new();
        let wishes = request.resources.iter().filter(|resource| known.insert(**resource));
        let wish = |resource: &&str| ((*resource).into(), self.options.class(resource).granted(request.mode));
        Ok(Asked { actor, wishes: wishes.map(wish).collect(), asked_mode: request.mode, ttl_ms, wait_ms, key })
    }

    pub(super) fn decide(&mut self, now: Millis, ticket: u64, asked: Asked) -> Answer {
        if let Some(answer) = self.remembered(&asked) {
            return answer;
        }
        // Everybody who waits can still be given a number.
        if self.last_lease + WAITERS_MAX as u64 >= NUMBER_MAX {
            return self.refuse(&asked, Refused::LimitExceeded { which: Limit::Numbers, limit: NUMBER_MAX });
        }
        if asked.wait_ms > 0 && self.waits.has_ticket(ticket) {
            let taken = InvalidField::new("ticket", "a number that no parked request has");
            return self.refuse(&asked, Refused::Invalid(taken));
        }
        let same = self.waits.get(&asked.actor).is_some_and(|wait| wait.is_for(&asked.wishes));
        if !same {
            // Without a place in the queue: an actor may get what is free while it waits for something else.
            match self.table.acquire(now, &asked.actor, &wishes(&asked.wishes), asked.ttl_ms.map(Period::from)) {
                Ok(leases) => return Answer::Granted(self.grant(&asked, &leases)),
                Err(Refusal::Conflict(_)) => {}
                Err(refusal) => return self.refuse(&asked, other(&refusal)),
            }
            let limit = self.options.waiters_per_resource;
            let full = asked.wishes.iter().find(|(name, _)| self.waits.others(&asked.actor, name) >= limit);
            if let Some((resource, _)) = full {
                let full = Refused::QueueFull { resource: resource.clone(), limit };
                return self.refuse(&asked, full);
            }
        } else if asked.wait_ms > 0 && self.waits.parked(&asked.actor) >= PARKED_PER_ACTOR_MAX {
            let full = Refused::QueueFull { resource: asked.wishes[0].0.clone(), limit: PARKED_PER_ACTOR_MAX };
            return self.refuse(&asked, full);
        }
        self.wait(now, ticket, asked, same)
    }

    /// Tries once more, as a waiter.
    pub(super) fn wait(&mut self, now: Millis, ticket: u64, asked: Asked, same: bool) -> Answer {
        let standing = self.waits.get(&asked.actor).filter(|_| same);
        let tickets = standing.map(|wait| wait.tickets.clone()).unwrap_or_default();
        let mut wait = Wait { wishes: asked.wishes.clone(), ttl_ms: asked.ttl_ms, tickets, lapses_at_ms: self.now_ms };
        if asked.wait_ms > 0 {
            let until_ms = self.now_ms + asked.wait_ms;
            wait.tickets.push(Ticket { id: ticket, until_ms, key: asked.key.clone(), asked_mode: asked.asked_mode });
        }
        match self.attempt(now, &asked.actor, &mut wait) {
            Ok(leases) => {
                let former = self.waits.remove(&asked.actor);
                let grant = self.grant(&asked, &leases);
                if same {
                    self.tell_granted(&asked.actor, former, &grant);
                } else {
                    self.tell_ended(&asked.actor, former, &Refused::Superseded, WaitEnd::Superseded);
                }
                Answer::Granted(grant)
            }
            Err(Refusal::Conflict(blocked)) => {
                let parked = asked.wait_ms > 0;
                let is_new = self.waits.get(&asked.actor).is_none();
                if !same {
                    self.supersede(&asked.actor);
                }
                self.waits.put(&asked.actor, wait);
                let held = held(&asked.actor, *blocked);
                if parked || is_new || !same {
                    let (actor, resources) = (asked.actor.clone(), names(&asked.wishes));
                    let position = held.stampede.position;
                    self.log.event(self.now_ms, || Fact::Waiting { actor, resources, position });
                }
                self.absorb();
                if parked { Answer::Parked } else { self.refuse(&asked, Refused::Held(Box::new(held))) }
            }
            Err(Refusal::Deadlock { blocked, cycle }) => {
                let deadlock = self.deadlock(&asked.actor, &asked.wishes, *blocked, &cycle);
                let refused = Refused::Deadlock(Box::new(deadlock));
                if same {
                    self.end_tickets(&asked.actor, &refused, WaitEnd::Deadlock);
                } else {
                    self.supersede(&asked.actor);
                }
                self.refuse(&asked, refused)
            }
            Err(refusal) => self.refuse(&asked, other(&refusal)),
        }
    }

    /// Tries once as a waiter, whose place is kept for as long as the hint says that it stays away, and a while.
    pub(super) fn attempt(
        &mut self,
        now: Millis,
        actor: &Holder,
        wait: &mut Wait,
    ) -> Result<Vec<crate::Lease>, Refusal> {
        let answer = self.attempt_for(now, actor, wait, HINT_MS_MAX);
        // The hint is known only now. Of a long queue nearly all are told the longest.
        match &answer {
            Err(Refusal::Conflict(blocked)) => {
                let hint_ms = stampede::place(actor, blocked.ahead.as_ref()).wait_ms;
                if hint_ms < HINT_MS_MAX { self.attempt_for(now, actor, wait, hint_ms) } else { answer }
            }
            _ => answer,
        }
    }

    fn attempt_for(
        &mut self,
        now: Millis,
        actor: &Holder,
        wait: &mut Wait,
        hint_ms: u64,
    ) -> Result<Vec<crate::Lease>, Refusal> {
        let keep_ms = wait.keep_ms(self.now_ms, hint_ms);
        wait.lapses_at_ms = self.now_ms + keep_ms;
        self.table.wait_attempt(
            now,
            &WaitAttempt {
                waiter_id: actor,
                holder: actor,
                wishes: &wishes(&wait.wishes),
                ttl: wait.ttl_ms.map(Period::from),
                allow_hold: true,
                keep: Some(keep_ms.into()),
            },
        )
    }

    /// The answer to a request under a key that is known.
    pub(super) fn remembered(&mut self, asked: &Asked) -> Option<Answer> {
        let (key, body) = asked.key.as_ref()?;
        if let Some(known) = self.memory.get(&asked.actor, key) {
            if known.body != *body {
                return Some(self.refuse(asked, Refused::IdempotencyMismatch));
            }
            let ended = self.grants.get(known.lease.lease_id).is_none();
            let asked_mode = if known.asked_shared { Mode::Shared } else { Mode::Exclusive };
            let lease = known.lease.clone();
            return Some(Answer::Granted(Grant { lease, replayed: true, ended, refreshed: false, asked_mode }));
        }
        let parked = self.waits.get(&asked.actor)?.tickets.iter().filter_map(|ticket| ticket.key.as_ref());
        let mut other = parked.filter(|(parked, other)| parked == key && other != body);
        other.next()?;
        Some(self.refuse(asked, Refused::IdempotencyMismatch))
    }

    pub(super) fn refuse(&mut self, asked: &Asked, refused: Refused) -> Answer {
        self.absorb();
        self.tell_refused(&asked.actor, names(&asked.wishes), &refused);
        Answer::Refused(refused)
    }

    pub(super) fn tell_refused(&mut self, actor: &Holder, resources: Vec<String>, refused: &Refused) {
        let actor = actor.clone();
        self.log.event(self.now_ms, || match refused {
            Refused::Deadlock(deadlock) => Fact::Deadlock { actor, resources, deadlock: deadlock.clone() },
            Refused::Held(held) => {
                Fact::Refused { actor, resources, error: refused.error(), holders: held.holders.clone() }
            }
            _ => Fact::Refused { actor, resources, error: refused.error(), holders: Vec::new() },
        });
    }

    pub(super) fn deadlock(
        &mut self,
        asker: &Holder,
        wishes: &[(String, Mode)],
        blocked: Blocked,
        cycle: &[Holder],
    ) -> Deadlock {
        let waits = cycle.windows(2).map(|pair| {
            let of =
                if pair[0] == *asker { Some(wishes) } else { self.waits.get(&pair[0]).map(|wait| &wait.wishes[..]) };
            let of = of.unwrap_or_default();
            let place = self.between(of, &pair[1]).map(|(wish, _)| wish);
            let first = || of.first().map_or("", |(resource, _)| resource);
            Waits { actor: pair[0].clone(), waiting_on: place.unwrap_or_else(first).into() }
        });
        let cycle: Vec<Waits> = waits.collect();
        // The cycle starts with the asker; whom it would have waited for comes next.
        let next = cycle.get(1).or(cycle.first());
        let deadlock = Deadlock {
            holder: next.map_or_else(|| asker.clone(), |waits| waits.actor.clone()),
            waiting_on: next.map(|waits| waits.waiting_on.clone()).unwrap_or_default(),
            cycle,
            conflicts: blocked.conflicts,
        };
        if self.seen.len() == LISTED_MAX {
            self.seen.pop_front();
        }
        self.seen.push_back(Seen {
            at_ms: self.now_ms,
            actor: asker.clone(),
            resources: names(wishes),
            deadlock: deadlock.clone(),
        });
        deadlock
    }

    /// The first wish that something of a holder is in the way of, and what that is.
    pub(super) fn between<'a>(
        &'a self,
        wishes: &'a [(String, Mode)],
        holder: &'a Holder,
    ) -> Option<(&'a str, &'a str)> {
        let held = |wish: &'a str, mode| Some((wish, self.grants.in_the_way(holder, wish, mode)?));
        wishes.iter().find_map(|(wish, mode)| held(wish, *mode))
    }
}

pub(super) fn holder(actor: &str) -> Result<Holder, InvalidField> {
    check_actor(actor)?;
    Ok(Holder::known(actor))
}

pub(super) fn wishes(wishes: &[(String, Mode)]) -> Vec<Wish<'_>> {
    wishes.iter().map(|(path, mode)| Wish { path, mode: *mode }).collect()
}

pub(super) fn names(wishes: &[(String, Mode)]) -> Vec<String> {
    wishes.iter().map(|(resource, _)| resource.clone()).collect()
}

pub(super) fn held(asker: &Holder, blocked: Blocked) -> Held {
    let stampede: Stampede = stampede::place(asker, blocked.ahead.as_ref());
    let mut holders: Vec<Holder> = Vec::new();
    for conflict in &blocked.conflicts {
        if !holders.contains(&conflict.holder) {
            holders.push(conflict.holder.clone());
        }
    }
    if holders.is_empty() {
        holders = blocked.ahead.map(|ahead| ahead.holders).unwrap_or_default();
    }
    Held { conflicts: blocked.conflicts, truncated: blocked.truncated, holders, stampede }
}

/// A refusal of the table that is no matter of who holds what. What the authority has read the table can read, too, so
/// that bounds are what is left.
pub(super) fn other(refusal: &Refusal) -> Refused {
    match refusal {
        Refusal::LimitExceeded { which, limit } => Refused::LimitExceeded { which: *which, limit: *limit },
        Refusal::InvalidTtl { .. } => Refused::Invalid(InvalidField::new("ttlMs", "a ttl")),
        Refusal::UnevaluablePath { .. } | Refusal::NoPaths => {
            Refused::Invalid(InvalidField::new("resource", "names of resources"))
        }
        _ => Refused::Superseded,
    }
}
