//! An observer that knows events alone, and from them what stands, who waits, and how all have behaved.

use leasebook::Holder;
use leasebook::coordination::{Event, Fact, Lease, LeaseId, Trust};
use std::collections::{BTreeMap, BTreeSet};

/// What the events have told so far.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    /// Of each lease its holder and resources.
    pub leases: BTreeMap<LeaseId, (Holder, BTreeSet<String>)>,
    /// Who waits.
    pub waiting: BTreeSet<Holder>,
    /// The scores that have changed.
    pub trust: BTreeMap<Holder, Trust>,
    latest_ms: u64,
}

impl Observer {
    /// Hears of one event. An error says what cannot be.
    pub fn hear(&mut self, event: &Event, now_ms: u64) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{what}: {event:?}"));
        if event.at_ms > now_ms || event.at_ms < self.latest_ms {
            return wrong("an event out of its time");
        }
        self.latest_ms = event.at_ms;
        match &event.what {
            Fact::Granted(lease) if self.leases.contains_key(&lease.lease_id) => return wrong("granted twice"),
            Fact::Refreshed(lease) if !self.leases.contains_key(&lease.lease_id) => return wrong("never granted"),
            Fact::Granted(lease) | Fact::Refreshed(lease) => self.grant(lease),
            Fact::Released { lease_id, holder, resources, ended } => {
                let Some((of, left)) = self.leases.get_mut(lease_id) else { return wrong("never granted") };
                if of != holder || !resources.iter().all(|name| left.remove(name)) || left.is_empty() != *ended {
                    return wrong("not what stands");
                }
                if *ended {
                    self.leases.remove(lease_id);
                }
            }
            Fact::Expired { lease_id, holder, resources }
            | Fact::Revoked { lease_id, holder, resources }
            | Fact::Withdrawn { lease_id, holder, resources } => {
                let stood = self.leases.remove(lease_id);
                if stood != Some((holder.clone(), resources.iter().cloned().collect())) {
                    return wrong("not what stood");
                }
            }
            Fact::Waiting { actor, position, .. } => {
                self.waiting.insert(actor.clone());
                if *position == 0 {
                    return wrong("no place");
                }
            }
            Fact::WaitEnded { actor, .. } if !self.waiting.remove(actor) => return wrong("nobody waited"),
            Fact::Trust { actor, trust } => drop(self.trust.insert(actor.clone(), *trust)),
            _ => {}
        }
        Ok(())
    }

    /// A lease has what it was granted; what its holder had of that in others moved.
    fn grant(&mut self, lease: &Lease) {
        for (_, resources) in self.leases.values_mut().filter(|(holder, _)| *holder == lease.holder) {
            resources.retain(|name| !lease.resources.contains(name));
        }
        let resources = lease.resources.iter().cloned().collect();
        self.leases.insert(lease.lease_id, (lease.holder.clone(), resources));
        self.leases.retain(|_, (_, resources)| !resources.is_empty());
    }
}
