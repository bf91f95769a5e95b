//! What goes out: answers of the core, as WIT has them.

use crate::bindings::exports::leasebook::lease::table as wit;
use crate::bindings::exports::leasebook::lease::table::{
    Ahead, Blocked, Conflict, CoveringLease, LeaseStatus, Limit, LimitReached, NotHeld, Obstacle, PinStatus, Verdict,
    WaiterStatus,
};
use alloc::{string::String, vec::Vec};
use leasebook::Holder;

pub fn mode(mode: leasebook::Mode) -> wit::Mode {
    match mode {
        leasebook::Mode::Shared => wit::Mode::Shared,
        leasebook::Mode::Exclusive => wit::Mode::Exclusive,
    }
}

pub fn holder(holder: &Holder) -> String {
    holder.as_str().into()
}

fn holders(holders: &[Holder]) -> Vec<String> {
    holders.iter().map(holder).collect()
}

pub fn lease(lease: leasebook::Lease) -> wit::Lease {
    wit::Lease {
        path: lease.path,
        holder: holder(&lease.holder),
        mode: mode(lease.mode),
        generation: lease.generation,
        acquired_at_ms: lease.acquired_at_ms,
        ttl_ms: lease.ttl_ms,
        expires_at_ms: lease.expires_at_ms,
        held_for_ms: lease.held_for_ms,
        expires_in_ms: lease.expires_in_ms,
    }
}

pub fn leases(leases: Vec<leasebook::Lease>) -> Vec<wit::Lease> {
    leases.into_iter().map(lease).collect()
}

pub fn refusal(refusal: leasebook::Refusal) -> wit::Refusal {
    use leasebook::Refusal;
    match refusal {
        Refusal::InvalidHolder => wit::Refusal::InvalidHolder,
        Refusal::InvalidTtl { ttl_ms } => wit::Refusal::InvalidTtl(ttl_ms),
        Refusal::InvalidKeep { keep_ms } => wit::Refusal::InvalidKeep(keep_ms),
        Refusal::NoPaths => wit::Refusal::NoPaths,
        Refusal::UnevaluablePath { unevaluable } => wit::Refusal::UnevaluablePath(unevaluable),
        Refusal::LimitExceeded { which, limit } => wit::Refusal::LimitExceeded(limit_reached(which, limit)),
        Refusal::WaiterIdTaken => wit::Refusal::WaiterIdTaken,
        Refusal::AlreadyWaiting => wit::Refusal::AlreadyWaiting,
        Refusal::Conflict(found) => blocked(Obstacle::Conflict, *found, &[]),
        Refusal::HoldAndWait(found) => blocked(Obstacle::HoldAndWait, *found, &[]),
        Refusal::Deadlock { blocked: found, cycle } => blocked(Obstacle::Deadlock, *found, &cycle),
        // The core may grow reasons before the interface does; a caller is never told that it was granted then.
        _ => core::unreachable!(),
    }
}

fn limit_reached(which: leasebook::Limit, limit: u64) -> LimitReached {
    use leasebook::Limit as Core;
    let which = match which {
        Core::Paths => Limit::Paths,
        Core::WaiterId => Limit::WaiterId,
        Core::Leases => Limit::Leases,
        Core::Waiters => Limit::Waiters,
        Core::Wishes => Limit::Wishes,
        Core::Pins => Limit::Pins,
        Core::Numbers => Limit::Numbers,
        Core::LeasesPerHolder => Limit::LeasesPerHolder,
        Core::WaitersPerHolder => Limit::WaitersPerHolder,
        Core::PinsPerHolder => Limit::PinsPerHolder,
        _ => core::unreachable!(),
    };
    LimitReached { which, limit }
}

fn blocked(obstacle: Obstacle, found: leasebook::Blocked, cycle: &[Holder]) -> wit::Refusal {
    let ahead = found.ahead.map(|ahead| Ahead { holders: holders(&ahead.holders), position: ahead.position as u32 });
    wit::Refusal::Blocked(Blocked {
        obstacle,
        conflicts: found.conflicts.into_iter().map(conflict).collect(),
        truncated: found.truncated,
        blockers: holders(&found.blockers),
        ahead,
        cycle: holders(cycle),
    })
}

fn conflict(conflict: leasebook::Conflict) -> Conflict {
    Conflict {
        path: conflict.path,
        leased: conflict.leased,
        holder: holder(&conflict.holder),
        mode: mode(conflict.mode),
        held_for_ms: conflict.held_for_ms,
        expires_in_ms: conflict.expires_in_ms,
        ended: conflict.ended,
    }
}

pub fn refresh_refusal(refusal: leasebook::RefreshRefusal) -> wit::RefreshRefusal {
    match refusal {
        leasebook::RefreshRefusal::InvalidTtl { ttl_ms } => wit::RefreshRefusal::InvalidTtl(ttl_ms),
        leasebook::RefreshRefusal::Stale => wit::RefreshRefusal::Stale,
        _ => core::unreachable!(),
    }
}

pub fn pin_refusal(refusal: leasebook::PinRefusal) -> wit::PinRefusal {
    match refusal {
        leasebook::PinRefusal::NoPaths => wit::PinRefusal::NoPaths,
        leasebook::PinRefusal::LimitExceeded { which, limit } => {
            wit::PinRefusal::LimitExceeded(limit_reached(which, limit))
        }
        leasebook::PinRefusal::NotHeld { path } => wit::PinRefusal::NotHeld(path),
        _ => core::unreachable!(),
    }
}

pub fn released(released: leasebook::Released) -> wit::Released {
    let not_held = released.not_held.into_iter().map(|what| match what {
        leasebook::NotHeld::Path(path) => NotHeld::Path(path),
        leasebook::NotHeld::Generation(generation) => NotHeld::Generation(generation),
    });
    wit::Released { not_held: not_held.collect(), released: released.released }
}

pub fn too_many_paths() -> LimitReached {
    LimitReached { which: Limit::Paths, limit: leasebook::limits::PATHS_MAX as u64 }
}

pub fn revoked(revoked: leasebook::Revoked) -> wit::Revoked {
    wit::Revoked { holder: holder(&revoked.holder), path: revoked.path, pending: revoked.pending }
}

pub fn covering(covering: leasebook::Covering) -> wit::Covering {
    let verdict = match covering.verdict {
        leasebook::Verdict::Other => Verdict::Other,
        leasebook::Verdict::Own => Verdict::Own,
        leasebook::Verdict::Unknown => Verdict::Unknown,
        leasebook::Verdict::Free => Verdict::Free,
    };
    let lease = covering.lease.map(|lease| CoveringLease {
        holder: holder(&lease.holder),
        leased: lease.leased,
        held_for_ms: lease.held_for_ms,
    });
    wit::Covering { verdict, lease, evaluable: covering.evaluable }
}

pub fn containment(containment: leasebook::Containment) -> wit::Containment {
    match containment {
        leasebook::Containment::Yes => wit::Containment::Yes,
        leasebook::Containment::No => wit::Containment::No,
        leasebook::Containment::Unknown => wit::Containment::Unknown,
    }
}

pub fn pin_token(token: leasebook::PinToken) -> wit::PinToken {
    wit::PinToken { number: token.0 }
}

pub fn status(status: leasebook::Status) -> wit::Status {
    let leases = status.leases.into_iter().map(|standing| LeaseStatus {
        lease: lease(standing.lease),
        pins: standing.pins as u32,
        release_pending: standing.release_pending,
    });
    let waiters = status.waiters.into_iter().map(|waiter| WaiterStatus {
        id: waiter.id,
        holder: holder(&waiter.holder),
        paths: waiter.paths,
        modes: waiter.modes.into_iter().map(mode).collect(),
        blockers: holders(&waiter.blockers),
        waiting_for_ms: waiter.waiting_for_ms,
    });
    let pins = status.pins.into_iter().map(|pin| PinStatus {
        token: pin_token(pin.token),
        holder: holder(&pin.holder),
        generations: pin.generations,
        pinned_for_ms: pin.pinned_for_ms,
    });
    wit::Status { leases: leases.collect(), waiters: waiters.collect(), pins: pins.collect() }
}
