//! How leases are given back, and taken away.

use super::answer::{Given, Refused};
use super::ask::{Giving, LeaseId};
use super::authority::Authority;
use super::event::Fact;
use super::log::Changed;
use super::trust::Trust;
use crate::{Holder, Millis, Release};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

impl Authority {
    /// What a release names: leases, and of each the resources.
    pub(super) fn named(&self, actor: &Holder, giving: &Giving<'_>) -> Result<BTreeMap<LeaseId, Vec<String>>, Refused> {
        let mut named: BTreeMap<LeaseId, Vec<String>> = BTreeMap::new();
        if let Some(lease_id) = giving.lease_id {
            let stale = || Refused::StaleLease { lease_id };
            let entry = self.grants.get(lease_id).filter(|entry| entry.holder == *actor).ok_or_else(stale)?;
            if giving.resources.iter().any(|name| self.grants.of_place(actor, name) != Some(lease_id)) {
                return Err(stale());
            }
            let all = giving.resources.is_empty();
            let taken = entry.resources().into_iter().filter(|name| all || giving.resources.contains(&name.as_str()));
            named.insert(lease_id, taken.collect());
            return Ok(named);
        }
        for resource in giving.resources {
            let not_held = || Refused::NotHeld { resource: (*resource).into() };
            let id = self.grants.of_place(actor, resource).ok_or_else(not_held)?;
            let resources = named.entry(id).or_default();
            if !resources.iter().any(|named| named == resource) {
                resources.push((*resource).into());
            }
        }
        Ok(named)
    }

    pub(super) fn give(&mut self, now: Millis, id: LeaseId, resources: &[String], given: &mut Given) {
        let Some(mut entry) = self.grants.remove(id) else { return };
        let holder = entry.holder.clone();
        entry.locations.retain(|location| {
            let stays = !resources.contains(&location.resource);
            if !stays {
                let released = self.table.release(now, &holder, Release::Generation(location.generation));
                debug_assert!(released.is_ok_and(|released| released.not_held.is_empty()), "it stands");
            }
            stays
        });
        let ended = entry.locations.is_empty();
        if ended {
            given.ended.push(id);
        } else {
            given.kept.push(id);
            self.grants.put(entry);
        }
        given.resources.extend_from_slice(resources);
        self.log.change(Changed::Grant(id));
        let (of, resources) = (holder.clone(), resources.to_vec());
        self.log.event(self.now_ms, || Fact::Released { lease_id: id, holder: of, resources, ended });
        if ended {
            self.score(&holder, Trust::released, self.now_ms);
        }
    }

    pub(super) fn take_away(
        &mut self,
        now: Millis,
        id: LeaseId,
        fact: impl FnOnce(LeaseId, Holder, Vec<String>) -> Fact,
    ) -> bool {
        self.tick(now);
        let Some(entry) = self.grants.remove(id) else { return false };
        for location in &entry.locations {
            self.table.revoke(now, location.generation, true);
        }
        self.log.change(Changed::Grant(id));
        let resources = entry.resources();
        self.log.event(self.now_ms, || fact(id, entry.holder, resources));
        self.absorb();
        self.settle(now);
        true
    }
}
