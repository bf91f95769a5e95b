//! Operations that only look.

use super::{Held, Model, Want, locate, overlap};
use leasebook::{
    Containment, Covering, CoveringLease, Lease, LeaseStatus, Millis, Mode, PinStatus, Status, Verdict, WaiterStatus,
};

impl Model {
    /// What stands over a path, for one holder.
    pub fn covering(&mut self, now: Millis, holder: &str, path: &str, mode: Mode) -> Covering {
        self.reap(now);
        let want = Want { path: path.to_string(), location: locate(path), mode };
        let blocking: Vec<&Held> = self.leases.iter().filter(|lease| self.blocks(lease, holder, &want)).collect();
        let certain = |lease: &&&Held| overlap(want.location.as_ref(), lease.location.as_ref()) == Containment::Yes;
        let (verdict, lease) = if let Some(lease) = blocking.iter().find(certain) {
            (Verdict::Other, Some(*lease))
        } else if let Some(lease) = self.own(holder, &want).next() {
            (Verdict::Own, Some(lease))
        } else if let Some(lease) = blocking.first() {
            (Verdict::Unknown, Some(*lease))
        } else {
            (Verdict::Free, None)
        };
        let lease = lease.map(|lease| CoveringLease {
            holder: lease.holder.clone(),
            leased: lease.path.clone(),
            held_for_ms: self.now - lease.acquired_at,
        });
        Covering { verdict, lease, evaluable: want.location.is_some() }
    }

    /// The ids of the waiters whose next attempt would be granted, in queue order.
    pub fn ready(&mut self, now: Millis) -> Vec<String> {
        self.reap(now);
        let ready = self.waiters.iter().filter(|waiter| self.blockers(waiter).is_empty());
        ready.map(|waiter| waiter.id.clone()).collect()
    }

    /// The next moment at which time alone changes something, in milliseconds.
    pub fn next_deadline(&mut self, now: Millis) -> Option<u64> {
        self.reap(now);
        let leases = self.leases.iter().filter(|lease| !self.ended(lease)).map(|lease| lease.expires_at);
        let waiters = self.waiters.iter().filter_map(|waiter| waiter.lapses_at);
        let pins = self.pins.iter().filter_map(|pin| pin.deadline);
        leases.chain(waiters).chain(pins).min()
    }

    /// The leases, in grant order.
    pub fn leases(&mut self, now: Millis) -> Vec<Lease> {
        self.reap(now);
        self.leases.iter().map(|lease| self.snapshot(lease)).collect()
    }

    /// Everything of one instant.
    pub fn status(&mut self, now: Millis) -> Status {
        self.reap(now);
        let leases = self.leases.iter().map(|lease| LeaseStatus {
            lease: self.snapshot(lease),
            pins: self.pins_of(lease.generation),
            release_pending: lease.release_pending,
        });
        let waiters = self.waiters.iter().map(|waiter| WaiterStatus {
            id: waiter.id.clone(),
            holder: waiter.holder.clone(),
            paths: waiter.wants.iter().map(|want| want.path.clone()).collect(),
            modes: waiter.wants.iter().map(|want| want.mode).collect(),
            blockers: self.blockers(waiter),
            waiting_for_ms: self.now - waiter.since,
        });
        let pins = self.pins.iter().map(|pin| PinStatus {
            token: pin.token,
            holder: pin.holder.clone(),
            generations: pin.generations.clone(),
            pinned_for_ms: self.now - pin.since,
        });
        Status { leases: leases.collect(), waiters: waiters.collect(), pins: pins.collect() }
    }
}
