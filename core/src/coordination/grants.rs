//! The leases that requests were granted: which locations of the table are whose, under which id.

use super::answer::Lease;
use super::ask::LeaseId;
use crate::{Holder, Mode};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// A leased location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) resource: String,
    pub(super) generation: u64,
    pub(super) mode: Mode,
}

/// A lease that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: LeaseId,
    pub(super) holder: Holder,
    /// In the order asked; never empty.
    pub(super) locations: Vec<Location>,
    pub(super) ttl_ms: u64,
    pub(super) acquired_at_ms: u64,
    pub(super) expires_at_ms: u64,
}

impl Entry {
    pub(super) fn mode(&self) -> Mode {
        self.locations.iter().map(|location| location.mode).max().unwrap_or_default()
    }

    pub(super) fn resources(&self) -> Vec<String> {
        self.locations.iter().map(|location| location.resource.clone()).collect()
    }

    /// What is told of it.
    ///
    /// The highest generation of its locations is a fence for each of them: whoever is granted one of them later is
    /// given a generation that is new then, and so higher than all that were given before.
    pub(super) fn lease(&self) -> Lease {
        Lease {
            lease_id: self.id,
            resources: self.resources(),
            holder: self.holder.clone(),
            mode: self.mode(),
            ttl_ms: self.ttl_ms,
            acquired_at_ms: self.acquired_at_ms,
            expires_at_ms: self.expires_at_ms,
            generation: self.locations.iter().map(|location| location.generation).max().unwrap_or(0),
        }
    }
}

/// The standing leases of an authority.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    entries: BTreeMap<LeaseId, Entry>,
    by_generation: BTreeMap<u64, LeaseId>,
    /// By who holds what. A holder has a location once.
    by_place: BTreeMap<(Holder, String), LeaseId>,
}

impl Grants {
    pub(super) fn get(&self, id: LeaseId) -> Option<&Entry> {
        self.entries.get(&id)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// The lease by which a holder has a location.
    pub(super) fn of_place(&self, holder: &Holder, resource: &str) -> Option<LeaseId> {
        self.by_place.get(&(holder.clone(), resource.into())).copied()
    }

    pub(super) fn of_generation(&self, generation: u64) -> Option<LeaseId> {
        self.by_generation.get(&generation).copied()
    }

    /// All that a holder has, by name.
    pub(super) fn of_holder<'a>(&'a self, holder: &'a Holder) -> impl Iterator<Item = (&'a str, Mode)> {
        let from = (holder.clone(), String::new());
        let of = self.by_place.range(from..).take_while(move |((whose, _), _)| whose == holder);
        of.filter_map(|((_, resource), id)| {
            let location = self.entries.get(id)?.locations.iter().find(|location| location.resource == *resource)?;
            Some((resource.as_str(), location.mode))
        })
    }

    /// Puts a lease, in place of one of the same id.
    pub(super) fn put(&mut self, entry: Entry) {
        self.remove(entry.id);
        for location in &entry.locations {
            self.by_generation.insert(location.generation, entry.id);
            self.by_place.insert((entry.holder.clone(), location.resource.clone()), entry.id);
        }
        self.entries.insert(entry.id, entry);
    }

    pub(super) fn remove(&mut self, id: LeaseId) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        for location in &entry.locations {
            self.by_generation.remove(&location.generation);
            self.by_place.remove(&(entry.holder.clone(), location.resource.clone()));
        }
        Some(entry)
    }
}
