//! Events and records as numbers and texts; records also the other way.

use crate::answer::{counts, modes, texts};
use crate::ask::{self, Texts};
use crate::out::Out;
use alloc::{string::String, vec::Vec};
use leasebook::{Counters, Event, Fact, Holder, LeaseRecord, Mode, PinRecord, PinToken, Record, WaiterRecord};

pub fn event(out: &mut Out, event: &Event) {
    out.count(event.at_ms);
    match &event.what {
        Fact::Granted { generation, holder, path, mode, expires_at_ms } => {
            out.number(0.0).text(holder).count(*generation).text(path);
            out.flag(*mode == Mode::Shared).count(*expires_at_ms)
        }
        Fact::Refreshed { generation, holder, expires_at_ms } => {
            out.number(1.0).text(holder).count(*generation).count(*expires_at_ms)
        }
        Fact::Released { generation, holder, path, pending } => {
            out.number(2.0).text(holder).count(*generation).text(path).flag(*pending)
        }
        Fact::Expired { generation, holder, path, pending } => {
            out.number(3.0).text(holder).count(*generation).text(path).flag(*pending)
        }
        Fact::Revoked { generation, holder, path, pending } => {
            out.number(4.0).text(holder).count(*generation).text(path).flag(*pending)
        }
        Fact::Waiting { waiter_id, holder } => out.number(5.0).text(holder).text(waiter_id),
        Fact::Ready { waiter_id, holder } => out.number(6.0).text(holder).text(waiter_id),
        Fact::Lapsed { waiter_id, holder } => out.number(7.0).text(holder).text(waiter_id),
        Fact::Cancelled { waiter_id, holder } => out.number(8.0).text(holder).text(waiter_id),
        Fact::Refused { holder, reason } => out.number(9.0).text(holder).text(reason),
        Fact::Dropped { count } => out.number(10.0).count(*count),
        // The core may grow facts before this does; none is told as another.
        _ => core::unreachable!(),
    };
}

pub fn record(out: &mut Out, record: &Record) {
    let maybe = |number: Option<u64>| number.map(|number| number as f64);
    match record {
        Record::Lease(lease) => {
            out.number(0.0).count(lease.generation).text(&lease.holder).text(&lease.path);
            out.flag(lease.mode == Mode::Shared).count(lease.acquired_at_ms).count(lease.ttl_ms);
            out.count(lease.expires_at_ms).flag(lease.release_pending);
        }
        Record::LeaseGone(generation) => {
            out.number(1.0).count(*generation);
        }
        Record::Waiter(waiter) => {
            out.number(2.0).text(&waiter.id).text(&waiter.holder);
            texts(out, &waiter.paths);
            modes(out, &waiter.modes);
            out.count(waiter.since_ms).maybe(maybe(waiter.lapses_at_ms)).count(waiter.place);
            counts(out, &waiter.passed);
        }
        Record::WaiterGone(id) => {
            out.number(3.0).text(id);
        }
        Record::Pin(pin) => {
            out.number(4.0).count(pin.token.0).text(&pin.holder);
            counts(out, &pin.generations);
            out.count(pin.since_ms).maybe(maybe(pin.deadline_ms));
        }
        Record::PinGone(token) => {
            out.number(5.0).count(token.0);
        }
        Record::Counters(all) => {
            out.number(6.0).count(all.now_ms).count(all.last_generation).count(all.last_place).count(all.last_token);
        }
    }
}

/// Reads records in the order that [`record`] writes them.
pub struct Records<'a> {
    numbers: &'a [f64],
    texts: Texts<'a>,
    /// Of the record that made no sense, if one did: what was expected.
    pub fault: Option<&'static str>,
}

impl<'a> Records<'a> {
    pub fn new(numbers: &'a [f64], text: &'a str) -> Self {
        Self { numbers, texts: Texts::new(text), fault: None }
    }

    fn number(&mut self) -> Option<f64> {
        let (&first, rest) = self.numbers.split_first()?;
        self.numbers = rest;
        Some(first)
    }

    fn count(&mut self) -> Option<u64> {
        self.number().map(ask::count)
    }

    fn maybe(&mut self) -> Option<Option<u64>> {
        self.number().map(|number| (number >= 0.0).then(|| ask::count(number)))
    }

    fn flag(&mut self) -> Option<bool> {
        self.number().map(|number| number == 1.0)
    }

    fn text(&mut self) -> Option<String> {
        let units = self.number()?;
        Some(self.texts.next(units as u32).into())
    }

    fn holder(&mut self) -> Option<Holder> {
        let holder = Holder::new(&self.text()?);
        if holder.is_err() {
            self.fault = Some("a holder of 1 to 256 bytes without control characters");
        }
        holder.ok()
    }

    fn mode(&mut self) -> Option<Mode> {
        self.flag().map(ask::mode)
    }

    fn list<T>(&mut self, one: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()? as usize;
        // Each takes a number at least, so that a length that lies takes no memory.
        if length > self.numbers.len() {
            return None;
        }
        (0..length).map(|_| one(self)).collect()
    }

    fn read(&mut self) -> Option<Record> {
        Some(match self.number()? as u32 {
            0 => Record::Lease(LeaseRecord {
                generation: self.count()?,
                holder: self.holder()?,
                path: self.text()?,
                mode: self.mode()?,
                acquired_at_ms: self.count()?,
                ttl_ms: self.count()?,
                expires_at_ms: self.count()?,
                release_pending: self.flag()?,
            }),
            1 => Record::LeaseGone(self.count()?),
            2 => Record::Waiter(WaiterRecord {
                id: self.text()?,
                holder: self.holder()?,
                paths: self.list(Self::text)?,
                modes: self.list(Self::mode)?,
                since_ms: self.count()?,
                lapses_at_ms: self.maybe()?,
                place: self.count()?,
                passed: self.list(Self::count)?,
            }),
            3 => Record::WaiterGone(self.text()?),
            4 => Record::Pin(PinRecord {
                token: PinToken(self.count()?),
                holder: self.holder()?,
                generations: self.list(Self::count)?,
                since_ms: self.count()?,
                deadline_ms: self.maybe()?,
            }),
            5 => Record::PinGone(PinToken(self.count()?)),
            6 => Record::Counters(Counters {
                now_ms: self.count()?,
                last_generation: self.count()?,
                last_place: self.count()?,
                last_token: self.count()?,
            }),
            _ => return None,
        })
    }
}

impl Iterator for Records<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.numbers.is_empty() || self.fault.is_some() {
            return None;
        }
        let record = self.read();
        if record.is_none() && self.fault.is_none() {
            self.fault = Some("a whole record");
        }
        record
    }
}
