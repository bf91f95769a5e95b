//! Events and records, both ways.

use crate::bindings::exports::leasebook::lease::table as wit;
use crate::bindings::exports::leasebook::lease::table::{Counters, Happening, LeaseRecord, PinRecord, WaiterRecord};
use crate::{answer, ask};
use alloc::string::{String, ToString};
use leasebook::{Holder, PinToken, Record};

pub fn event(event: leasebook::Event) -> wit::Event {
    use leasebook::Fact;
    let at_ms = event.at_ms;
    let ended = |what, number, holder: Holder, about, pending| wit::Event {
        pending,
        ..plain(at_ms, what, answer::holder(&holder), about, number)
    };
    let waiter = |what, about, holder: Holder| plain(at_ms, what, answer::holder(&holder), about, 0);
    match event.what {
        Fact::Granted { generation, holder, path, mode, expires_at_ms } => wit::Event {
            mode: Some(answer::mode(mode)),
            expires_at_ms: Some(expires_at_ms),
            ..plain(at_ms, Happening::Granted, answer::holder(&holder), path, generation)
        },
        Fact::Refreshed { generation, holder, expires_at_ms } => wit::Event {
            expires_at_ms: Some(expires_at_ms),
            ..plain(at_ms, Happening::Refreshed, answer::holder(&holder), String::new(), generation)
        },
        Fact::Released { generation, holder, path, pending } => {
            ended(Happening::Released, generation, holder, path, pending)
        }
        Fact::Expired { generation, holder, path, pending } => {
            ended(Happening::Expired, generation, holder, path, pending)
        }
        Fact::Revoked { generation, holder, path, pending } => {
            ended(Happening::Revoked, generation, holder, path, pending)
        }
        Fact::Waiting { waiter_id, holder } => waiter(Happening::Waiting, waiter_id, holder),
        Fact::Ready { waiter_id, holder } => waiter(Happening::Ready, waiter_id, holder),
        Fact::Lapsed { waiter_id, holder } => waiter(Happening::Lapsed, waiter_id, holder),
        Fact::Cancelled { waiter_id, holder } => waiter(Happening::Cancelled, waiter_id, holder),
        Fact::Refused { holder, reason } => plain(at_ms, Happening::Refused, holder, reason.into(), 0),
        Fact::Dropped { count } => plain(at_ms, Happening::Dropped, String::new(), String::new(), count),
        _ => core::unreachable!(),
    }
}

fn plain(at_ms: u64, what: Happening, holder: String, about: String, number: u64) -> wit::Event {
    wit::Event { at_ms, what, holder, about, number, mode: None, expires_at_ms: None, pending: false }
}

pub fn record(record: Record) -> wit::Record {
    match record {
        Record::Lease(lease) => wit::Record::Lease(LeaseRecord {
            generation: lease.generation,
            holder: answer::holder(&lease.holder),
            path: lease.path,
            mode: answer::mode(lease.mode),
            acquired_at_ms: lease.acquired_at_ms,
            ttl_ms: lease.ttl_ms,
            expires_at_ms: lease.expires_at_ms,
            release_pending: lease.release_pending,
        }),
        Record::LeaseGone(generation) => wit::Record::LeaseGone(generation),
        Record::Waiter(waiter) => wit::Record::Waiter(WaiterRecord {
            id: waiter.id,
            holder: answer::holder(&waiter.holder),
            paths: waiter.paths,
            modes: waiter.modes.into_iter().map(answer::mode).collect(),
            since_ms: waiter.since_ms,
            lapses_at_ms: waiter.lapses_at_ms,
            place: waiter.place,
            passed: waiter.passed,
        }),
        Record::WaiterGone(id) => wit::Record::WaiterGone(id),
        Record::Pin(pin) => wit::Record::Pin(PinRecord {
            token: answer::pin_token(pin.token),
            holder: answer::holder(&pin.holder),
            generations: pin.generations,
            since_ms: pin.since_ms,
            deadline_ms: pin.deadline_ms,
        }),
        Record::PinGone(token) => wit::Record::PinGone(answer::pin_token(token)),
        Record::Counters(counters) => wit::Record::Counters(Counters {
            now_ms: counters.now_ms,
            last_generation: counters.last_generation,
            last_place: counters.last_place,
            last_token: counters.last_token,
        }),
    }
}

/// A record as it came from outside. The core judges what it says; here only its holder can be unusable.
pub fn core_record(record: wit::Record) -> Result<Record, wit::RestoreError> {
    Ok(match record {
        wit::Record::Lease(lease) => Record::Lease(leasebook::LeaseRecord {
            holder: core_holder(&lease.holder, || lease.generation.to_string())?,
            generation: lease.generation,
            path: lease.path,
            mode: ask::mode(lease.mode),
            acquired_at_ms: lease.acquired_at_ms,
            ttl_ms: lease.ttl_ms,
            expires_at_ms: lease.expires_at_ms,
            release_pending: lease.release_pending,
        }),
        wit::Record::LeaseGone(generation) => Record::LeaseGone(generation),
        wit::Record::Waiter(waiter) => Record::Waiter(leasebook::WaiterRecord {
            holder: core_holder(&waiter.holder, || waiter.id.clone())?,
            id: waiter.id,
            paths: waiter.paths,
            modes: waiter.modes.into_iter().map(ask::mode).collect(),
            since_ms: waiter.since_ms,
            lapses_at_ms: waiter.lapses_at_ms,
            place: waiter.place,
            passed: waiter.passed,
        }),
        wit::Record::WaiterGone(id) => Record::WaiterGone(id),
        wit::Record::Pin(pin) => Record::Pin(leasebook::PinRecord {
            holder: core_holder(&pin.holder, || PinToken(pin.token.number).to_string())?,
            token: PinToken(pin.token.number),
            generations: pin.generations,
            since_ms: pin.since_ms,
            deadline_ms: pin.deadline_ms,
        }),
        wit::Record::PinGone(token) => Record::PinGone(PinToken(token.number)),
        wit::Record::Counters(counters) => Record::Counters(leasebook::Counters {
            now_ms: counters.now_ms,
            last_generation: counters.last_generation,
            last_place: counters.last_place,
            last_token: counters.last_token,
        }),
    })
}

fn core_holder(given: &str, key: impl FnOnce() -> String) -> Result<Holder, wit::RestoreError> {
    Holder::new(given).map_err(|_| wit::RestoreError {
        record: key(),
        expected: "a holder of 1 to 256 bytes without control characters".into(),
    })
}
