//! Who waits: requests that are parked, and actors that ask again from time to time.

use super::stampede::HINT_MS_MAX;
use crate::{Holder, Mode};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// How long a waiter keeps its place beyond the hint it was given, in milliseconds: for the way of its next request.
pub const KEEP_MS: u64 = 2_000;
/// The longest that a waiter keeps its place when it is not parked.
pub(super) const KEPT_MS_MAX: u64 = HINT_MS_MAX + KEEP_MS;
/// How many requests may be parked in the name of one actor. They are retries of one request, for which twenty at once
/// are many; more would be memory for nothing.
pub const PARKED_PER_ACTOR_MAX: usize = 1_024;

/// A parked request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub(super) id: u64,
    /// When its wait is over.
    pub(super) until_ms: u64,
    pub(super) key: Option<(String, [u8; 32])>,
    pub(super) asked_mode: Mode,
}

/// What an actor waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    /// What was asked for, by name.
    pub(super) wishes: Vec<(String, Mode)>,
    pub(super) ttl_ms: Option<u64>,
    pub(super) tickets: Vec<Ticket>,
    /// When its place is lost, unless somebody asks again before.
    pub(super) lapses_at_ms: u64,
}

impl Wait {
    /// Whether the same is asked for, in whatever order.
    pub(super) fn is_for(&self, wishes: &[(String, Mode)]) -> bool {
        let sorted = |wishes: &[(String, Mode)]| {
            let mut sorted: Vec<_> = wishes.to_vec();
            sorted.sort();
            sorted
        };
        self.wishes == wishes || (self.wishes.len() == wishes.len() && sorted(&self.wishes) == sorted(wishes))
    }

    /// How much longer its place is to be kept, where it was told to ask again after a hint.
    pub(super) fn keep_ms(&self, now_ms: u64, hint_ms: u64) -> u64 {
        let until_ms = self.tickets.iter().map(|ticket| ticket.until_ms).max().unwrap_or(0);
        until_ms.saturating_sub(now_ms) + hint_ms + KEEP_MS
    }

    fn is_one_for(&self, resource: &str) -> bool {
        self.wishes.iter().any(|(wish, _)| wish == resource)
    }
}

/// All who wait, at most once each.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    by_actor: BTreeMap<Holder, Wait>,
    by_ticket: BTreeMap<u64, Holder>,
    by_end: BTreeSet<(u64, u64)>,
    /// How many wait for a resource, by its name.
    counts: BTreeMap<String, usize>,
}

impl Waits {
    pub(super) fn get(&self, actor: &Holder) -> Option<&Wait> {
        self.by_actor.get(actor)
    }

    /// How many others than this actor wait for a resource.
    pub(super) fn others(&self, actor: &Holder, resource: &str) -> usize {
        let own = self.by_actor.get(actor).is_some_and(|wait| wait.is_one_for(resource));
        self.counts.get(resource).map_or(0, |count| count - usize::from(own))
    }

    /// How many requests are parked in this actor's name.
    pub(super) fn parked(&self, actor: &str) -> usize {
        self.by_actor.get(actor).map_or(0, |wait| wait.tickets.len())
    }

    /// Somebody waits for an answer in this actor's name.
    pub(super) fn is_parked(&self, actor: &str) -> bool {
        self.parked(actor) > 0
    }

    /// Puts what an actor waits for, in place of what it did before, whose tickets are handed out.
    pub(super) fn put(&mut self, actor: &Holder, wait: Wait) -> Vec<Ticket> {
        let former = self.remove(actor).map(|former| former.tickets).unwrap_or_default();
        for (resource, _) in &wait.wishes {
            *self.counts.entry(resource.clone()).or_default() += 1;
        }
        for ticket in &wait.tickets {
            self.by_ticket.insert(ticket.id, actor.clone());
            self.by_end.insert((ticket.until_ms, ticket.id));
        }
        self.by_actor.insert(actor.clone(), wait);
        former
    }

    pub(super) fn remove(&mut self, actor: &Holder) -> Option<Wait> {
        let wait = self.by_actor.remove(actor)?;
        for (resource, _) in &wait.wishes {
            if let Some(count) = self.counts.get_mut(resource) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(resource);
                }
            }
        }
        for ticket in &wait.tickets {
            self.by_ticket.remove(&ticket.id);
            self.by_end.remove(&(ticket.until_ms, ticket.id));
        }
        Some(wait)
    }

    /// Takes one parked request out; its actor waits on without it.
    pub(super) fn remove_ticket(&mut self, id: u64) -> Option<(Holder, Ticket)> {
        let actor = self.by_ticket.remove(&id)?;
        let tickets = &mut self.by_actor.get_mut(&actor)?.tickets;
        let at = tickets.iter().position(|ticket| ticket.id == id)?;
        let ticket = tickets.remove(at);
        self.by_end.remove(&(ticket.until_ms, id));
        Some((actor, ticket))
    }

    /// When the first wait of a parked request is over.
    pub(super) fn next_end(&self) -> Option<u64> {
        self.by_end.first().map(|(until_ms, _)| *until_ms)
    }

    /// The first parked request whose wait is over, and since when.
    pub(super) fn over(&self, now_ms: u64) -> Option<(u64, u64)> {
        self.by_end.first().copied().filter(|(until_ms, _)| *until_ms <= now_ms)
    }

    /// Is there a parked request of this number?
    pub(super) fn has_ticket(&self, id: u64) -> bool {
        self.by_ticket.contains_key(&id)
    }
}
