//! An authority made of its records.

use super::ask::{LeaseId, check_key, is_resource};
use super::authority::Authority;
use super::grants::{Entry, Location};
use super::options::Options;
use super::record::{GrantRecord, Record};
use super::remembered::REMEMBERED_MS;
use crate::limits::NUMBER_MAX;
use crate::{Holder, LeaseRecord, Millis, RestoreError, Table};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Authority {
    /// An authority as records say: all those of [`Authority::take_records`] in their order, or the latest of each key.
    /// It gives the same answers as the one they are from, but nobody waits, and never uses a number of it again.
    ///
    /// What ran out by `now` is expired at once. What the records say is checked like any other input; at the first
    /// fault nothing is restored.
    pub fn restore(
        now: Millis,
        options: Options,
        records: impl IntoIterator<Item = Record>,
    ) -> Result<Self, RestoreError> {
        let mut kept = Kept::default();
        for record in records {
            kept.take(record);
        }
        let table_options = options.table().map_err(|error| fault(error.field, error.expected))?;
        let counters = crate::Record::Counters(kept.counters);
        let locations = kept.locations.values().cloned().map(crate::Record::Lease);
        let table = Table::restore(table_options, core::iter::once(counters).chain(locations))?;
        let mut authority = Self::over(options, table);
        authority.now_ms = kept.counters.now_ms;
        authority.last_lease = kept.last_lease;
        check("last-lease", "an id up to 2^53 - 1", kept.last_lease <= NUMBER_MAX)?;
        let mut claimed = BTreeSet::new();
        for (id, grant) in &kept.grants {
            let name = LeaseId(*id).to_string();
            check(&name, "an id that was given out", (1..=kept.last_lease).contains(id))?;
            check(&name, "a grant in the past", grant.acquired_at_ms <= kept.counters.now_ms)?;
            check(&name, "a fence that was given out", grant.fence <= kept.counters.last_generation)?;
            let entry = entry(grant, &kept.locations, &mut claimed)?;
            authority.grants.put(entry);
        }
        if let Some(generation) = kept.locations.keys().find(|generation| !claimed.contains(*generation)) {
            return Err(fault(&generation.to_string(), "a location of a lease"));
        }
        authority.trust = kept.trust;
        let forgotten_by = kept.counters.now_ms + REMEMBERED_MS;
        for (_, grant) in kept.remembered {
            check(&grant.key, "a usable idempotency key", check_key(&grant.key).is_ok())?;
            check(&grant.key, "a grant that is remembered for at most 10 minutes", grant.until_ms <= forgotten_by)?;
            authority.memory.put(grant);
        }
        authority.tick(now);
        Ok(authority)
    }
}

#[derive(Default)]
struct Kept {
    locations: BTreeMap<u64, LeaseRecord>,
    grants: BTreeMap<u64, GrantRecord>,
    trust: BTreeMap<Holder, super::Trust>,
    remembered: BTreeMap<(Holder, String), super::Remembered>,
    counters: crate::Counters,
    last_lease: u64,
}

impl Kept {
    fn take(&mut self, record: Record) {
        match record {
            Record::Location(lease) => drop(self.locations.insert(lease.generation, lease)),
            Record::LocationGone(generation) => drop(self.locations.remove(&generation)),
            Record::Grant(grant) => drop(self.grants.insert(grant.lease_id, grant)),
            Record::GrantGone(id) => drop(self.grants.remove(&id)),
            Record::Trust { actor, trust } => drop(self.trust.insert(actor, trust)),
            Record::Remembered(grant) => {
                drop(self.remembered.insert((grant.actor.clone(), grant.key.clone()), grant));
            }
            Record::RememberedGone { actor, key } => drop(self.remembered.remove(&(actor, key))),
            Record::Counters(counters) => self.counters = counters,
            Record::LastLease(id) => self.last_lease = id,
        }
    }
}

/// A lease of the locations that its record names; none of them is another lease's.
fn entry(
    grant: &GrantRecord,
    locations: &BTreeMap<u64, LeaseRecord>,
    claimed: &mut BTreeSet<u64>,
) -> Result<Entry, RestoreError> {
    let id = LeaseId(grant.lease_id);
    let wrong = |expected| fault(&id.to_string(), expected);
    let mut found = Vec::new();
    for generation in &grant.generations {
        let location = locations.get(generation).ok_or_else(|| wrong("locations that are leased"))?;
        if !claimed.insert(*generation) {
            return Err(wrong("locations that are no other lease's"));
        }
        found.push(location);
    }
    let first = *found.first().ok_or_else(|| wrong("one location at least"))?;
    let of = |location: &LeaseRecord| (location.holder.clone(), location.ttl_ms, location.expires_at_ms);
    if !found.iter().all(|location| of(location) == of(first)) {
        return Err(wrong("locations of one holder that expire together"));
    }
    // An authority pins nothing, so that what is given back is gone; and it compares names as they are spelled.
    let good = |location: &&LeaseRecord| is_resource(&location.path) && !location.release_pending;
    if !found.iter().all(good) {
        return Err(wrong("names of resources, none of them given back"));
    }
    if found.iter().any(|location| location.generation > grant.fence) {
        return Err(wrong("a fence as high as any of its generations"));
    }
    let location = |record: &&LeaseRecord| Location {
        resource: record.path.clone(),
        generation: record.generation,
        mode: record.mode,
    };
    Ok(Entry {
        id,
        holder: first.holder.clone(),
        locations: found.iter().map(location).collect(),
        ttl_ms: first.ttl_ms,
        acquired_at_ms: grant.acquired_at_ms,
        expires_at_ms: first.expires_at_ms,
        fence: grant.fence,
    })
}

fn check(record: &str, expected: &'static str, good: bool) -> Result<(), RestoreError> {
    if good { Ok(()) } else { Err(fault(record, expected)) }
}

fn fault(record: &str, expected: &'static str) -> RestoreError {
    RestoreError { record: record.into(), expected }
}
