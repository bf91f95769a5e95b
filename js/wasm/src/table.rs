//! The exports of a table: each is one operation of the core, at the moment that the caller names.
//!
//! An operation answers how many numbers its answer has; [`Out`] says where they are.

use crate::ask::{count, mode, moment, period, texts, wishes};
use crate::asked::Asked;
use crate::out::Out;
use crate::{answer, durable, memory};
use alloc::vec::Vec;
use leasebook::Containment;
use leasebook::{
    Fairness, Lease, Limits, Mode, Options, PinToken, Refusal, Release, Table, WaitAttempt, Wish,
    contains as core_contains,
};
use wasm_bindgen::prelude::wasm_bindgen;

/// One table.
#[wasm_bindgen]
pub struct Book {
    table: Option<Table>,
    asked: Asked,
    out: Out,
    memory_bytes_max: u64,
}

/// The bound on memory where the options name none: 512 MiB, twice what a table of a million leases with paths of 60
/// bytes takes.
const MEMORY_BYTES_MAX: u64 = 512 << 20;
/// The highest bound on memory: four times as much is all that a 32-bit memory can have.
const MEMORY_BYTES_MOST: u64 = 1 << 30;

/// The options of the core and the bound on memory, from numbers in this order. One below 0 is not set.
fn options(numbers: &[f64]) -> (Options, u64) {
    let mut options = Options::default();
    let mut memory_bytes_max = MEMORY_BYTES_MAX;
    let mut numbers = numbers.iter().copied();
    let mut key = || numbers.next().unwrap_or(0.0) as u32;
    options.hash_key = u64::from(key()) << 32 | u64::from(key());
    let Limits { leases, waiters, wishes, pins, leases_per_holder, waiters_per_holder, pins_per_holder } =
        &mut options.limits;
    let sizes = [leases, waiters, wishes, pins, leases_per_holder, waiters_per_holder, pins_per_holder];
    for size in sizes.into_iter().chain([&mut options.events]) {
        if let Some(number) = numbers.next().filter(|number| *number >= 0.0) {
            *size = number as usize;
        }
    }
    for long in [&mut options.default_ttl_ms, &mut memory_bytes_max] {
        if let Some(number) = numbers.next().filter(|number| *number >= 0.0) {
            *long = count(number);
        }
    }
    options.fairness = if numbers.next() == Some(1.0) { Fairness::Fifo } else { Fairness::Barge };
    options.journal = numbers.next() == Some(1.0);
    (options, memory_bytes_max)
}

/// An empty table, or which option is at fault.
fn table(numbers: &[f64], out: &mut Out, make: impl FnOnce(Options, u64, &mut Out) -> Option<Table>) -> Option<Table> {
    let (options, memory_bytes_max) = options(numbers);
    let fault = match Table::new(options.clone()) {
        Err(error) => Some((error.field, error.expected)),
        Ok(_) if !(1..=MEMORY_BYTES_MOST).contains(&memory_bytes_max) => {
            Some((answer::MEMORY_OPTION, "1 to 1 073 741 824"))
        }
        Ok(_) => None,
    };
    match fault {
        Some((field, expected)) => {
            out.number(0.0).text(field).text(expected);
            None
        }
        None => make(options, memory_bytes_max, out),
    }
}

#[wasm_bindgen]
impl Book {
    /// A table that is empty. The first number of its answer is 1 where there is one; 0, which option is at fault, and
    /// what was expected of it, where there is none.
    #[wasm_bindgen(constructor)]
    pub fn new(numbers: &[f64]) -> Self {
        Self::made(numbers, |options, _, out| {
            out.number(1.0);
            Table::new(options).ok()
        })
    }

    /// A table of records. Its answer is that of `new`; 2, which record is at fault, and what was expected of it, where
    /// they make no table.
    pub fn restore(numbers: &[f64], records: &[f64], text: &str) -> Self {
        let mut records = durable::Records::new(records, text);
        Self::made(numbers, |options, memory_bytes_max, out| {
            let mut used_up = false;
            let bounded = core::iter::from_fn(|| {
                used_up = memory::in_use() > memory_bytes_max.saturating_mul(2);
                if used_up { None } else { records.next() }
            });
            let restored = Table::restore(options, bounded);
            let fault = if used_up { Some("less than fills the memory") } else { records.fault };
            match (fault, restored) {
                (Some(expected), _) => {
                    out.number(2.0).text("").text(expected);
                    None
                }
                (None, Err(error)) => {
                    out.number(2.0).text(&error.record).text(error.expected);
                    None
                }
                (None, Ok(table)) => {
                    out.number(1.0);
                    Some(table)
                }
            }
        })
    }

    /// Where the place of answers stands.
    pub fn place(&self) -> u32 {
        self.out.place()
    }

    /// Makes room for the holder, or the path, of calls about one path.
    pub fn room(&mut self, path: bool, bytes: u32) -> u32 {
        self.asked.room(path, bytes as usize)
    }

    /// One path: what is asked most. The holder and the path are where [`Book::room`] says, and so long in bytes.
    pub fn acquire(&mut self, now: f64, holder: u32, path: u32, ttl_ms: Option<f64>) -> u32 {
        self.with_asked(holder, path, |book, holder, path| {
            book.ask(now, holder, &[Wish { path, mode: Mode::Exclusive }], ttl_ms)
        })
    }

    /// Any number of paths.
    pub fn acquire_all(&mut self, now: f64, holder: &str, text: &str, layout: &[u32], ttl_ms: Option<f64>) -> u32 {
        self.ask(now, holder, &wishes(text, layout), ttl_ms)
    }

    /// An attempt, or a place among those who wait.
    #[allow(clippy::too_many_arguments)] // primitives cross without an object
    pub fn wait_attempt(
        &mut self,
        now: f64,
        waiter_id: &str,
        holder: &str,
        text: &str,
        layout: &[u32],
        ttl_ms: Option<f64>,
        allow_hold: bool,
        keep_ms: Option<f64>,
    ) -> u32 {
        let wishes = &wishes(text, layout)[..];
        let (ttl, keep) = (period(ttl_ms), period(keep_ms));
        let attempt = WaitAttempt { waiter_id, holder, wishes, ttl, allow_hold, keep };
        self.attempted(holder, wishes, |table| table.wait_attempt(moment(now), &attempt))
    }

    /// Takes a waiter out.
    pub fn cancel_wait(&mut self, now: f64, waiter_id: &str) -> bool {
        self.table().cancel_wait(moment(now), waiter_id)
    }

    /// A new ttl.
    pub fn refresh(&mut self, now: f64, holder: &str, generation: f64, ttl_ms: Option<f64>) -> u32 {
        let answer = self.table().refresh(moment(now), holder, count(generation), period(ttl_ms));
        answer::refreshed(self.out.begin(), answer.as_ref(), holder);
        self.out.end()
    }

    /// All leases of a holder.
    pub fn release_own(&mut self, now: f64, holder: &str) -> u32 {
        self.release(now, holder, Release::All, None)
    }

    /// One path, as with [`Book::acquire`].
    pub fn release_path(&mut self, now: f64, holder: u32, path: u32) -> u32 {
        self.with_asked(holder, path, |book, holder, path| {
            book.release(now, holder, Release::Paths(&[path]), Some(path))
        })
    }

    /// Any number of paths.
    pub fn release_paths(&mut self, now: f64, holder: &str, text: &str, lengths: &[u32]) -> u32 {
        self.release(now, holder, Release::Paths(&texts(text, lengths)), None)
    }

    /// One lease.
    pub fn release_generation(&mut self, now: f64, holder: &str, generation: f64) -> u32 {
        self.release(now, holder, Release::Generation(count(generation)), None)
    }

    /// All that a holder has.
    pub fn release_holder(&mut self, now: f64, holder: &str) -> u32 {
        self.table().release_holder(moment(now), holder) as u32
    }

    /// All that anybody has.
    pub fn release_all(&mut self, now: f64) -> u32 {
        self.table().release_all(moment(now)) as u32
    }

    /// All that a holder has, pins too.
    pub fn end_session(&mut self, now: f64, holder: &str) -> u32 {
        self.table().end_session(moment(now), holder) as u32
    }

    /// By an operator.
    pub fn revoke(&mut self, now: f64, generation: f64, force: bool) -> u32 {
        let answer = self.table().revoke(moment(now), count(generation), force);
        answer::revoked(self.out.begin(), answer.as_ref());
        self.out.end()
    }

    /// What stands over a path, as with [`Book::acquire`].
    pub fn covering(&mut self, now: f64, holder: u32, path: u32, shared: bool) -> u32 {
        self.with_asked(holder, path, |book, holder, path| {
            let answer = book.table().covering(moment(now), holder, path, mode(shared));
            answer::covering(book.out.begin(), &answer, holder, path);
            book.out.end()
        })
    }

    /// Keeps leases in place.
    pub fn pin(
        &mut self,
        now: f64,
        holder: &str,
        text: &str,
        lengths: &[u32],
        shared: bool,
        deadline_ms: Option<f64>,
    ) -> u32 {
        if self.used_up() {
            return self.out.end();
        }
        let paths = texts(text, lengths);
        let answer = self.table().pin(moment(now), holder, &paths, mode(shared), deadline_ms.map(moment));
        answer::pinned(self.out.begin(), &answer);
        self.out.end()
    }

    /// Takes a pin away.
    pub fn unpin(&mut self, now: f64, token: f64) -> bool {
        self.table().unpin(moment(now), PinToken(count(token)))
    }

    /// The ids of the waiters whose attempt would be granted.
    pub fn ready(&mut self, now: f64) -> u32 {
        let ready = self.table().ready(moment(now));
        answer::texts(self.out.begin(), &ready);
        self.out.end()
    }

    /// When time alone changes something next; -1 = never.
    pub fn next_deadline(&mut self, now: f64) -> f64 {
        self.table().next_deadline(moment(now)).map_or(-1.0, |moment| moment.get() as f64)
    }

    /// All leases.
    pub fn leases(&mut self, now: f64) -> u32 {
        let leases = self.table().leases(moment(now));
        answer::leases(self.out.begin(), &leases);
        self.out.end()
    }

    /// Everything.
    pub fn status(&mut self, now: f64) -> u32 {
        let status = self.table().status(moment(now));
        answer::status(self.out.begin(), &status);
        self.out.end()
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> u32 {
        let events = self.table().take_events();
        self.out.begin().list(events.iter(), durable::event);
        self.out.end()
    }

    /// Records: those that changed since the last such call, or all.
    pub fn records(&mut self, changes: bool) -> u32 {
        let table = self.table();
        let records = if changes { table.take_records() } else { table.records() };
        self.out.begin().list(records.iter(), durable::record);
        self.out.end()
    }

    /// The number of standing leases, as the last operation left it.
    pub fn standing(&mut self) -> u32 {
        self.table().standing() as u32
    }

    fn made(numbers: &[f64], make: impl FnOnce(Options, u64, &mut Out) -> Option<Table>) -> Self {
        let mut out = Out::new();
        let table = table(numbers, &mut out, make);
        out.end();
        Self { table, asked: Asked::default(), out, memory_bytes_max: options(numbers).1 }
    }

    fn with_asked(&mut self, holder: u32, path: u32, ask: impl FnOnce(&mut Self, &str, &str) -> u32) -> u32 {
        let asked = core::mem::take(&mut self.asked);
        let (holder, path) = asked.texts(holder, path);
        let answer = ask(self, holder, path);
        self.asked = asked;
        answer
    }

    fn table(&mut self) -> &mut Table {
        self.table.as_mut().expect("whoever made it looked whether there is a table")
    }

    fn ask(&mut self, now: f64, holder: &str, wishes: &[Wish<'_>], ttl_ms: Option<f64>) -> u32 {
        self.attempted(holder, wishes, |table| table.acquire(moment(now), holder, wishes, period(ttl_ms)))
    }

    fn attempted(
        &mut self,
        holder: &str,
        wishes: &[Wish<'_>],
        attempt: impl FnOnce(&mut Table) -> Result<Vec<Lease>, Refusal>,
    ) -> u32 {
        if !self.used_up() {
            let answer = attempt(self.table());
            answer::attempt(self.out.begin(), answer.as_deref(), holder, wishes);
        }
        self.out.end()
    }

    fn release(&mut self, now: f64, holder: &str, what: Release<'_>, asked: Option<&str>) -> u32 {
        let answer = self.table().release(moment(now), holder, what);
        answer::released(self.out.begin(), &answer, asked);
        self.out.end()
    }

    /// Is the memory used up? Then the answer says so.
    fn used_up(&mut self) -> bool {
        let used_up = memory::in_use() > self.memory_bytes_max;
        if used_up {
            answer::used_up(self.out.begin(), self.memory_bytes_max);
        }
        used_up
    }
}

/// Does the directory contain the path? 0 = no, 1 = yes, 2 = that cannot be told.
#[wasm_bindgen]
pub fn contains(path: &str, directory: &str) -> u32 {
    match core_contains(path, directory) {
        Containment::No => 0,
        Containment::Yes => 1,
        Containment::Unknown => 2,
    }
}
