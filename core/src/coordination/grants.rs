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
    /// Its fencing token.
    ///
    /// The highest generation that this lease, or any whose locations it took over, has ever had. Whoever is granted
    /// one of its locations later is given a generation that is new then, and so a higher token. And the token of one
    /// holder never falls while it has a location: a guard that saw it write under the former token does not turn it
    /// away, neither when a part is given back nor when a location moves to another lease.
    pub(super) fence: u64,
}

impl Entry {
    pub(super) fn mode(&self) -> Mode {
        self.locations.iter().map(|location| location.mode).max().unwrap_or_default()
    }

    pub(super) fn resources(&self) -> Vec<String> {
        self.locations.iter().map(|location| location.resource.clone()).collect()
    }

    /// What is told of it.
    pub(super) fn lease(&self) -> Lease {
        Lease {
            lease_id: self.id,
            resources: self.resources(),
            holder: self.holder.clone(),
            mode: self.mode(),
            ttl_ms: self.ttl_ms,
            acquired_at_ms: self.acquired_at_ms,
            expires_at_ms: self.expires_at_ms,
            generation: self.fence,
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

    /// The first by name of what a holder has that is in the way of another's wish: the wish itself, or a directory of
    /// it, or something below it.
    pub(super) fn in_the_way(&self, holder: &Holder, wish: &str, mode: Mode) -> Option<&str> {
        let excludes = |key: &(Holder, String)| {
            let entry = self.by_place.get(key).and_then(|id| self.entries.get(id))?;
            let location = entry.locations.iter().find(|location| location.resource == key.1)?;
            (mode.max(location.mode) == Mode::Exclusive).then_some(location.resource.as_str())
        };
        let ends = wish.match_indices('/').map(|(at, _)| at).chain([wish.len()]);
        let mut key = (holder.clone(), String::new());
        for end in ends {
            key.1.clear();
            key.1.push_str(&wish[..end]);
            if let Some(found) = excludes(&key) {
                return Some(found);
            }
        }
        // What is below a directory follows it by name.
        key.1.push('/');
        let below = self.by_place.range(&key..).map(|(below, _)| below);
        below.take_while(|below| below.0 == *holder && below.1.starts_with(&key.1)).find_map(excludes)
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
