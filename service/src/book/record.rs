//! Records and events as JSON.

use super::fields::BadLine;
use super::operation::ModeName;
use leasebook::{Counters, Event, Fact, Holder, LeaseRecord, PinRecord, Record, WaiterRecord};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A record as it is written, tagged by `record`.
#[derive(Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case", rename_all_fields = "kebab-case", deny_unknown_fields)]
enum Written {
    Lease {
        generation: u64,
        holder: String,
        path: String,
        mode: ModeName,
        acquired_at_ms: u64,
        ttl_ms: u64,
        expires_at_ms: u64,
        release_pending: bool,
    },
    LeaseGone {
        generation: u64,
    },
    Waiter {
        id: String,
        holder: String,
        paths: Vec<String>,
        modes: Vec<ModeName>,
        since_ms: u64,
        lapses_at_ms: Option<u64>,
        place: u64,
        passed: Vec<u64>,
    },
    WaiterGone {
        id: String,
    },
    Pin {
        token: String,
        holder: String,
        generations: Vec<u64>,
        since_ms: u64,
        deadline_ms: Option<u64>,
    },
    PinGone {
        token: String,
    },
    Counters {
        now_ms: u64,
        last_generation: u64,
        last_place: u64,
        last_token: u64,
    },
}

/// Reads a list of records; the first bad one is named by its place.
pub fn read(list: Vec<Box<RawValue>>) -> Result<Vec<Record>, BadLine> {
    list.iter()
        .enumerate()
        .map(|(n, written)| read_one(written).map_err(|reason| BadLine::field(&format!("records[{n}]"), reason)))
        .collect()
}

fn read_one(written: &RawValue) -> Result<Record, String> {
    let holder = |id: String| Holder::new(&id).map_err(|wrong| format!("holder: {wrong}"));
    let token = |shown: String| super::token(&shown).ok_or("token: expected the token of a pin, as in \"pin-7\"");
    Ok(match serde_json::from_str(written.get()).map_err(|error| super::fields::said(&error))? {
        Written::Lease {
            generation,
            holder: id,
            path,
            mode,
            acquired_at_ms,
            ttl_ms,
            expires_at_ms,
            release_pending,
        } => {
            let (holder, mode) = (holder(id)?, mode.mode());
            Record::Lease(LeaseRecord {
                generation,
                holder,
                path,
                mode,
                acquired_at_ms,
                ttl_ms,
                expires_at_ms,
                release_pending,
            })
        }
        Written::LeaseGone { generation } => Record::LeaseGone(generation),
        Written::Waiter { id, holder: who, paths, modes, since_ms, lapses_at_ms, place, passed } => {
            let modes = modes.into_iter().map(ModeName::mode).collect();
            let holder = holder(who)?;
            Record::Waiter(WaiterRecord { id, holder, paths, modes, since_ms, lapses_at_ms, place, passed })
        }
        Written::WaiterGone { id } => Record::WaiterGone(id),
        Written::Pin { token: shown, holder: id, generations, since_ms, deadline_ms } => {
            let (token, holder) = (token(shown)?, holder(id)?);
            Record::Pin(PinRecord { token, holder, generations, since_ms, deadline_ms })
        }
        Written::PinGone { token: shown } => Record::PinGone(token(shown)?),
        Written::Counters { now_ms, last_generation, last_place, last_token } => {
            Record::Counters(Counters { now_ms, last_generation, last_place, last_token })
        }
    })
}

/// Records, ready to be written.
pub fn written(records: &[Record]) -> Vec<impl Serialize> {
    records.iter().map(written_one).collect()
}

fn written_one(record: &Record) -> Written {
    match record.clone() {
        Record::Lease(lease) => Written::Lease {
            generation: lease.generation,
            holder: lease.holder.to_string(),
            path: lease.path,
            mode: lease.mode.into(),
            acquired_at_ms: lease.acquired_at_ms,
            ttl_ms: lease.ttl_ms,
            expires_at_ms: lease.expires_at_ms,
            release_pending: lease.release_pending,
        },
        Record::LeaseGone(generation) => Written::LeaseGone { generation },
        Record::Waiter(waiter) => Written::Waiter {
            id: waiter.id,
            holder: waiter.holder.to_string(),
            paths: waiter.paths,
            modes: waiter.modes.into_iter().map(ModeName::from).collect(),
            since_ms: waiter.since_ms,
            lapses_at_ms: waiter.lapses_at_ms,
            place: waiter.place,
            passed: waiter.passed,
        },
        Record::WaiterGone(id) => Written::WaiterGone { id },
        Record::Pin(pin) => Written::Pin {
            token: pin.token.to_string(),
            holder: pin.holder.to_string(),
            generations: pin.generations,
            since_ms: pin.since_ms,
            deadline_ms: pin.deadline_ms,
        },
        Record::PinGone(token) => Written::PinGone { token: token.to_string() },
        Record::Counters(Counters { now_ms, last_generation, last_place, last_token }) => {
            Written::Counters { now_ms, last_generation, last_place, last_token }
        }
    }
}

/// An event as it is written, tagged by `event`.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Seen<'a> {
    at_ms: u64,
    #[serde(flatten)]
    what: What<'a>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
enum What<'a> {
    Granted { generation: u64, holder: &'a str, path: &'a str, mode: &'static str, expires_at_ms: u64 },
    Refreshed { generation: u64, holder: &'a str, expires_at_ms: u64 },
    Released { generation: u64, holder: &'a str, path: &'a str, pending: bool },
    Expired { generation: u64, holder: &'a str, path: &'a str, pending: bool },
    Revoked { generation: u64, holder: &'a str, path: &'a str, pending: bool },
    Waiting { waiter_id: &'a str, holder: &'a str },
    Ready { waiter_id: &'a str, holder: &'a str },
    Lapsed { waiter_id: &'a str, holder: &'a str },
    Cancelled { waiter_id: &'a str, holder: &'a str },
    Refused { holder: &'a str, reason: &'a str },
    Dropped { count: u64 },
    Other,
}

/// Events, ready to be written.
pub fn seen(events: &[Event]) -> Vec<impl Serialize> {
    events.iter().map(|event| Seen { at_ms: event.at_ms, what: what(&event.what) }).collect()
}

fn what(fact: &Fact) -> What<'_> {
    match fact {
        Fact::Granted { generation, holder, path, mode, expires_at_ms } => {
            What::Granted { generation: *generation, holder, path, mode: mode.name(), expires_at_ms: *expires_at_ms }
        }
        Fact::Refreshed { generation, holder, expires_at_ms } => {
            What::Refreshed { generation: *generation, holder, expires_at_ms: *expires_at_ms }
        }
        Fact::Released { generation, holder, path, pending } => {
            What::Released { generation: *generation, holder, path, pending: *pending }
        }
        Fact::Expired { generation, holder, path, pending } => {
            What::Expired { generation: *generation, holder, path, pending: *pending }
        }
        Fact::Revoked { generation, holder, path, pending } => {
            What::Revoked { generation: *generation, holder, path, pending: *pending }
        }
        Fact::Waiting { waiter_id, holder } => What::Waiting { waiter_id, holder },
        Fact::Ready { waiter_id, holder } => What::Ready { waiter_id, holder },
        Fact::Lapsed { waiter_id, holder } => What::Lapsed { waiter_id, holder },
        Fact::Cancelled { waiter_id, holder } => What::Cancelled { waiter_id, holder },
        Fact::Refused { holder, reason } => What::Refused { holder, reason },
        Fact::Dropped { count } => What::Dropped { count: *count },
        _ => What::Other,
    }
}
