//! How leases are given back and taken away, and waits ended.

use super::Model;
use super::asking::is_name;
use leasebook::coordination::{Given, InvalidField, LeaseId, Refused};
use leasebook::{Millis, Release};

impl Model {
    /// Gives resources back: all that are named, or none.
    pub fn release(
        &mut self,
        now: Millis,
        actor: &str,
        resources: &[String],
        lease_id: Option<LeaseId>,
    ) -> Result<Given, Refused> {
        self.tick(now);
        if lease_id.is_none() && resources.is_empty() {
            return Err(Refused::Invalid(InvalidField { field: "resources", expected: "", found: None }));
        }
        if !resources.iter().all(|name| is_name(name)) {
            return Err(Refused::Invalid(InvalidField { field: "resource", expected: "", found: None }));
        }
        let status = self.table.status(self.now);
        let own = |name: &String| {
            let mut leases = status.leases.iter().map(|standing| &standing.lease);
            leases.find(|lease| lease.holder == *actor && lease.path == *name).map(|lease| lease.generation)
        };
        let mut named = Vec::new();
        if let Some(lease_id) = lease_id {
            let stale = Refused::StaleLease { lease_id };
            let mut mine = self.leases.iter().filter(|lease| lease.id == lease_id && lease.holder == *actor);
            let lease = mine.next().ok_or(stale.clone())?;
            for name in resources {
                let generation = own(name).filter(|generation| lease.generations.contains(generation));
                named.push(generation.ok_or(stale.clone())?);
            }
            if resources.is_empty() {
                named = lease.generations.clone();
            }
        } else {
            for name in resources {
                named.push(own(name).ok_or(Refused::NotHeld { resource: name.clone() })?);
            }
        }
        let mut given = Given::default();
        for lease in self.leases.clone() {
            // In the order in which they were named, but for a lease that is named itself.
            let mut gone: Vec<u64> = named.iter().copied().filter(|g| lease.generations.contains(g)).collect();
            if lease_id.is_some() {
                gone = lease.generations.iter().copied().filter(|g| named.contains(g)).collect();
            }
            if gone.is_empty() {
                continue;
            }
            for generation in gone {
                let released = self.table.release(self.now, actor, Release::Generation(generation));
                for path in released.expect("one lease").released {
                    given.resources.push(path);
                }
            }
            let standing = self.leases.iter_mut().find(|other| other.id == lease.id).expect("it stands");
            standing.generations.retain(|generation| !named.contains(generation));
            if standing.generations.is_empty() {
                self.leases.retain(|other| other.id != lease.id);
                self.score(&lease.holder, |halves| halves + 1);
                given.ended.push(lease.id);
            } else {
                given.kept.push(lease.id);
            }
        }
        self.settle();
        Ok(given)
    }

    /// Takes a lease away, which counts for nothing.
    pub fn take_away(&mut self, now: Millis, lease_id: LeaseId) -> bool {
        self.tick(now);
        let Some(lease) = self.leases.iter().find(|lease| lease.id == lease_id).cloned() else { return false };
        self.leases.retain(|other| other.id != lease_id);
        for generation in lease.generations {
            self.table.revoke(self.now, generation, true);
        }
        self.settle();
        true
    }

    /// Ends the wait of a parked request.
    pub fn cancel(&mut self, now: Millis, ticket: u64) -> bool {
        self.advance(now);
        let found = self.parked().contains(&ticket);
        for wait in &mut self.waits {
            let before = wait.tickets.len();
            wait.tickets.retain(|other| other.id != ticket);
            if before > 0 && wait.tickets.is_empty() {
                self.table.cancel_wait(self.now, &wait.actor);
            }
        }
        let status = self.table.status(self.now);
        self.waits.retain(|wait| status.waiters.iter().any(|waiter| waiter.holder == wait.actor));
        self.settle();
        found
    }
}
