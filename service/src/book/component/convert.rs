//! Between the component's types and the core's, which the answers are written from. Nothing is decided here.

use super::super::Answer;
use super::super::answer::Refused;
use super::super::operation::Wishes;
use anyhow::{Context, bail};
use leasebook::{
    Ahead, Blocked, Conflict, Containment, Counters, Covering, CoveringLease, Event, Fact, Holder, Lease, LeaseRecord,
    LeaseStatus, Limit, Mode, NotHeld, PinRecord, PinRefusal, PinStatus, PinToken, Record, RefreshRefusal, Refusal,
    Released, Revoked, Status, Verdict, WaiterRecord, WaiterStatus,
};
use leasebook_wasmtime as wasm;

/// Converts a list, up to the first that cannot be.
pub fn each<From, To>(all: Vec<From>, convert: impl FnMut(From) -> anyhow::Result<To>) -> anyhow::Result<Vec<To>> {
    all.into_iter().map(convert).collect()
}

pub fn wishes(wishes: &Wishes) -> Vec<wasm::Wish<'_>> {
    wishes.borrowed().into_iter().map(|wish| wasm::Wish { path: wish.path, mode: mode_asked(wish.mode) }).collect()
}

pub fn mode_asked(mode: Mode) -> wasm::Mode {
    match mode {
        Mode::Shared => wasm::Mode::Shared,
        Mode::Exclusive => wasm::Mode::Exclusive,
    }
}

fn mode(mode: wasm::Mode) -> Mode {
    match mode {
        wasm::Mode::Shared => Mode::Shared,
        wasm::Mode::Exclusive => Mode::Exclusive,
    }
}

fn holder(id: String) -> anyhow::Result<Holder> {
    Holder::new(&id).with_context(|| format!("the component names the holder {id:?}"))
}

/// A bound that was reached, of the operation whose outcome has this name.
pub fn over(outcome: &'static str, reached: &wasm::LimitReached, sentence: String) -> Answer {
    Answer::Over { outcome, sentence, which: reached.which.name(), limit: reached.limit }
}

/// The bounds of a table; `None` for those of the component itself, which a table knows nothing of.
fn limit(which: wasm::Limit) -> Option<Limit> {
    Some(match which {
        wasm::Limit::Paths => Limit::Paths,
        wasm::Limit::WaiterId => Limit::WaiterId,
        wasm::Limit::Leases => Limit::Leases,
        wasm::Limit::Waiters => Limit::Waiters,
        wasm::Limit::Wishes => Limit::Wishes,
        wasm::Limit::Pins => Limit::Pins,
        wasm::Limit::Numbers => Limit::Numbers,
        wasm::Limit::LeasesPerHolder => Limit::LeasesPerHolder,
        wasm::Limit::WaitersPerHolder => Limit::WaitersPerHolder,
        wasm::Limit::PinsPerHolder => Limit::PinsPerHolder,
        wasm::Limit::CallBytes | wasm::Limit::MemoryBytes => return None,
    })
}

pub fn attempt(answer: Result<Vec<wasm::Lease>, wasm::Refused<wasm::Refusal>>) -> anyhow::Result<Answer> {
    let refused = match answer {
        Ok(leases) => return Ok(Answer::Attempt(Ok(each(leases, lease)?))),
        Err(refused) => refused,
    };
    let sentence = refused.to_string();
    let reason = match refused.reason {
        wasm::Refusal::InvalidHolder => Refusal::InvalidHolder,
        wasm::Refusal::InvalidTtl(ttl_ms) => Refusal::InvalidTtl { ttl_ms },
        wasm::Refusal::InvalidKeep(keep_ms) => Refusal::InvalidKeep { keep_ms },
        wasm::Refusal::NoPaths => Refusal::NoPaths,
        wasm::Refusal::UnevaluablePath(unevaluable) => Refusal::UnevaluablePath { unevaluable },
        wasm::Refusal::LimitExceeded(reached) => match limit(reached.which) {
            Some(which) => Refusal::LimitExceeded { which, limit: reached.limit },
            None => return Ok(over("granted", &reached, sentence)),
        },
        wasm::Refusal::WaiterIdTaken => Refusal::WaiterIdTaken,
        wasm::Refusal::AlreadyWaiting => Refusal::AlreadyWaiting,
        wasm::Refusal::Conflict(in_the_way) => Refusal::Conflict(Box::new(blocked(in_the_way)?)),
        wasm::Refusal::HoldAndWait(in_the_way) => Refusal::HoldAndWait(Box::new(blocked(in_the_way)?)),
        wasm::Refusal::Deadlock(wasm::Deadlock { blocked: in_the_way, cycle }) => {
            Refusal::Deadlock { blocked: Box::new(blocked(in_the_way)?), cycle: each(cycle, holder)? }
        }
        other => bail!("the component refuses in a way that this program does not know: {other:?}"),
    };
    Ok(Answer::Attempt(Err(Refused { reason, sentence })))
}

pub fn refreshed(answer: Result<wasm::Lease, wasm::Refused<wasm::RefreshRefusal>>) -> anyhow::Result<Answer> {
    let refused = match answer {
        Ok(refreshed) => return Ok(Answer::Refreshed(Ok(lease(refreshed)?))),
        Err(refused) => refused,
    };
    let sentence = refused.to_string();
    let reason = match refused.reason {
        wasm::RefreshRefusal::InvalidTtl(ttl_ms) => RefreshRefusal::InvalidTtl { ttl_ms },
        wasm::RefreshRefusal::Stale => RefreshRefusal::Stale,
    };
    Ok(Answer::Refreshed(Err(Refused { reason, sentence })))
}

pub fn pinned(answer: Result<wasm::PinToken, wasm::Refused<wasm::PinRefusal>>) -> Answer {
    let refused = match answer {
        Ok(token) => return Answer::Pinned(Ok(PinToken(token.number))),
        Err(refused) => refused,
    };
    let sentence = refused.to_string();
    let reason = match refused.reason {
        wasm::PinRefusal::NoPaths => PinRefusal::NoPaths,
        wasm::PinRefusal::NotHeld(path) => PinRefusal::NotHeld { path },
        wasm::PinRefusal::LimitExceeded(reached) => match limit(reached.which) {
            Some(which) => PinRefusal::LimitExceeded { which, limit: reached.limit },
            None => return over("pinned", &reached, sentence),
        },
    };
    Answer::Pinned(Err(Refused { reason, sentence }))
}

pub fn released(released: wasm::Released) -> Released {
    let not_held = released.not_held.into_iter().map(|not_held| match not_held {
        wasm::NotHeld::Path(path) => NotHeld::Path(path),
        wasm::NotHeld::Generation(generation) => NotHeld::Generation(generation),
    });
    Released { released: released.released, not_held: not_held.collect() }
}

pub fn revoked(revoked: wasm::Revoked) -> anyhow::Result<Revoked> {
    Ok(Revoked { holder: holder(revoked.holder)?, path: revoked.path, pending: revoked.pending })
}

pub fn containment(containment: wasm::Containment) -> Containment {
    match containment {
        wasm::Containment::Yes => Containment::Yes,
        wasm::Containment::No => Containment::No,
        wasm::Containment::Unknown => Containment::Unknown,
    }
}

pub fn covering(covering: wasm::Covering) -> anyhow::Result<Covering> {
    let verdict = match covering.verdict {
        wasm::Verdict::Other => Verdict::Other,
        wasm::Verdict::Own => Verdict::Own,
        wasm::Verdict::Unknown => Verdict::Unknown,
        wasm::Verdict::Free => Verdict::Free,
    };
    let lease = covering.lease.map(|lease| {
        let held_for_ms = lease.held_for_ms;
        holder(lease.holder).map(|holder| CoveringLease { holder, leased: lease.leased, held_for_ms })
    });
    Ok(Covering { verdict, lease: lease.transpose()?, evaluable: covering.evaluable })
}

pub fn lease(lease: wasm::Lease) -> anyhow::Result<Lease> {
    Ok(Lease {
        path: lease.path,
        holder: holder(lease.holder)?,
        mode: mode(lease.mode),
        generation: lease.generation,
        acquired_at_ms: lease.acquired_at_ms,
        ttl_ms: lease.ttl_ms,
        expires_at_ms: lease.expires_at_ms,
        held_for_ms: lease.held_for_ms,
        expires_in_ms: lease.expires_in_ms,
    })
}

fn blocked(blocked: wasm::Blocked) -> anyhow::Result<Blocked> {
    let ahead = blocked.ahead.map(|ahead| {
        let position = ahead.position as usize;
        each(ahead.holders, holder).map(|holders| Ahead { holders, position })
    });
    Ok(Blocked {
        conflicts: each(blocked.conflicts, conflict)?,
        truncated: blocked.truncated,
        blockers: each(blocked.blockers, holder)?,
        ahead: ahead.transpose()?,
    })
}

fn conflict(conflict: wasm::Conflict) -> anyhow::Result<Conflict> {
    Ok(Conflict {
        path: conflict.path,
        leased: conflict.leased,
        holder: holder(conflict.holder)?,
        mode: mode(conflict.mode),
        held_for_ms: conflict.held_for_ms,
        expires_in_ms: conflict.expires_in_ms,
        ended: conflict.ended,
    })
}

pub fn status(status: wasm::Status) -> anyhow::Result<Status> {
    let lease_status = |status: wasm::LeaseStatus| {
        let (pins, release_pending) = (status.pins as usize, status.release_pending);
        lease(status.lease).map(|lease| LeaseStatus { lease, pins, release_pending })
    };
    let waiter = |waiter: wasm::WaiterStatus| {
        Ok(WaiterStatus {
            id: waiter.id,
            holder: holder(waiter.holder)?,
            paths: waiter.paths,
            modes: waiter.modes.into_iter().map(mode).collect(),
            blockers: each(waiter.blockers, holder)?,
            waiting_for_ms: waiter.waiting_for_ms,
        })
    };
    let pin = |pin: wasm::PinStatus| {
        Ok(PinStatus {
            token: PinToken(pin.token.number),
            holder: holder(pin.holder)?,
            generations: pin.generations,
            pinned_for_ms: pin.pinned_for_ms,
        })
    };
    Ok(Status {
        leases: each(status.leases, lease_status)?,
        waiters: each(status.waiters, waiter)?,
        pins: each(status.pins, pin)?,
    })
}

pub fn event(event: wasm::Event) -> anyhow::Result<Event> {
    let what = match event.what {
        wasm::Fact::Granted(wasm::GrantedLease { generation, holder: id, path, mode: how, expires_at_ms }) => {
            Fact::Granted { generation, holder: holder(id)?, path, mode: mode(how), expires_at_ms }
        }
        wasm::Fact::Refreshed(wasm::RefreshedLease { generation, holder: id, expires_at_ms }) => {
            Fact::Refreshed { generation, holder: holder(id)?, expires_at_ms }
        }
        wasm::Fact::Released(wasm::EndedLease { generation, holder: id, path, pending }) => {
            Fact::Released { generation, holder: holder(id)?, path, pending }
        }
        wasm::Fact::Expired(wasm::EndedLease { generation, holder: id, path, pending }) => {
            Fact::Expired { generation, holder: holder(id)?, path, pending }
        }
        wasm::Fact::Revoked(wasm::EndedLease { generation, holder: id, path, pending }) => {
            Fact::Revoked { generation, holder: holder(id)?, path, pending }
        }
        wasm::Fact::Waiting(of) => Fact::Waiting { waiter_id: of.waiter_id, holder: holder(of.holder)? },
        wasm::Fact::Ready(of) => Fact::Ready { waiter_id: of.waiter_id, holder: holder(of.holder)? },
        wasm::Fact::Lapsed(of) => Fact::Lapsed { waiter_id: of.waiter_id, holder: holder(of.holder)? },
        wasm::Fact::Cancelled(of) => Fact::Cancelled { waiter_id: of.waiter_id, holder: holder(of.holder)? },
        wasm::Fact::Refused(refused) => Fact::Refused { holder: refused.holder, reason: reason(&refused.reason)? },
        wasm::Fact::Dropped(count) => Fact::Dropped { count },
        other => bail!("the component tells of something that this program does not know: {other:?}"),
    };
    Ok(Event { at_ms: event.at_ms, what })
}

/// The core's own word for a reason of refusal.
fn reason(named: &str) -> anyhow::Result<&'static str> {
    const REASONS: [&str; 13] = [
        "invalid-holder",
        "invalid-ttl",
        "invalid-keep",
        "no-paths",
        "unevaluable-path",
        "limit-exceeded",
        "waiter-id-taken",
        "already-waiting",
        "conflict",
        "hold-and-wait",
        "deadlock",
        "stale",
        "not-held",
    ];
    REASONS
        .into_iter()
        .find(|reason| *reason == named)
        .with_context(|| format!("the component names a reason {named:?}"))
}

pub fn record(record: wasm::Record) -> anyhow::Result<Record> {
    Ok(match record {
        wasm::Record::Lease(lease) => Record::Lease(LeaseRecord {
            generation: lease.generation,
            holder: holder(lease.holder)?,
            path: lease.path,
            mode: mode(lease.mode),
            acquired_at_ms: lease.acquired_at_ms,
            ttl_ms: lease.ttl_ms,
            expires_at_ms: lease.expires_at_ms,
            release_pending: lease.release_pending,
        }),
        wasm::Record::LeaseGone(generation) => Record::LeaseGone(generation),
        wasm::Record::Waiter(waiter) => Record::Waiter(WaiterRecord {
            id: waiter.id,
            holder: holder(waiter.holder)?,
            paths: waiter.paths,
            modes: waiter.modes.into_iter().map(mode).collect(),
            since_ms: waiter.since_ms,
            lapses_at_ms: waiter.lapses_at_ms,
            place: waiter.place,
            passed: waiter.passed,
        }),
        wasm::Record::WaiterGone(id) => Record::WaiterGone(id),
        wasm::Record::Pin(pin) => Record::Pin(PinRecord {
            token: PinToken(pin.token.number),
            holder: holder(pin.holder)?,
            generations: pin.generations,
            since_ms: pin.since_ms,
            deadline_ms: pin.deadline_ms,
        }),
        wasm::Record::PinGone(token) => Record::PinGone(PinToken(token.number)),
        wasm::Record::Counters(wasm::Counters { now_ms, last_generation, last_place, last_token }) => {
            Record::Counters(Counters { now_ms, last_generation, last_place, last_token })
        }
    })
}

/// A record on its way into the component.
pub fn stored(record: Record) -> wasm::Record {
    match record {
        Record::Lease(lease) => wasm::Record::Lease(wasm::LeaseRecord {
            generation: lease.generation,
            holder: lease.holder.to_string(),
            path: lease.path,
            mode: mode_asked(lease.mode),
            acquired_at_ms: lease.acquired_at_ms,
            ttl_ms: lease.ttl_ms,
            expires_at_ms: lease.expires_at_ms,
            release_pending: lease.release_pending,
        }),
        Record::LeaseGone(generation) => wasm::Record::LeaseGone(generation),
        Record::Waiter(waiter) => wasm::Record::Waiter(wasm::WaiterRecord {
            id: waiter.id,
            holder: waiter.holder.to_string(),
            paths: waiter.paths,
            modes: waiter.modes.into_iter().map(mode_asked).collect(),
            since_ms: waiter.since_ms,
            lapses_at_ms: waiter.lapses_at_ms,
            place: waiter.place,
            passed: waiter.passed,
        }),
        Record::WaiterGone(id) => wasm::Record::WaiterGone(id),
        Record::Pin(pin) => wasm::Record::Pin(wasm::PinRecord {
            token: wasm::PinToken { number: pin.token.0 },
            holder: pin.holder.to_string(),
            generations: pin.generations,
            since_ms: pin.since_ms,
            deadline_ms: pin.deadline_ms,
        }),
        Record::PinGone(token) => wasm::Record::PinGone(wasm::PinToken { number: token.0 }),
        Record::Counters(Counters { now_ms, last_generation, last_place, last_token }) => {
            wasm::Record::Counters(wasm::Counters { now_ms, last_generation, last_place, last_token })
        }
    }
}
