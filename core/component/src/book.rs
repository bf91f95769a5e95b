//! The exports: each operation of the interface `table` is one of the core's, at the moment that the clock says.

use crate::ask::Own;
use crate::bindings::exports::leasebook::lease::table as wit;
use crate::bindings::exports::leasebook::lease::table::{Limit, LimitReached};
use crate::bindings::leasebook::lease::clock;
use crate::{answer, ask, durable, memory};
use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::cell::RefCell;
use core::fmt::Display;
use leasebook::{Millis, PinToken, Release, Table, WaitAttempt};

/// The component.
pub struct Component;

/// One table of it.
pub struct Book {
    table: RefCell<Table>,
    own: Own,
}

impl Book {
    /// Runs an operation at the present moment. Nothing re-enters the component, so that the borrow always succeeds.
    fn now<T>(&self, operation: impl FnOnce(&mut Table, Millis) -> T) -> T {
        let now = Millis::new(clock::now());
        operation(&mut self.table.borrow_mut(), now)
    }

    /// The bound on memory, where it is reached.
    fn used_up(&self) -> Option<LimitReached> {
        let limit = self.own.memory_bytes_max;
        (memory::in_use() > limit).then_some(LimitReached { which: Limit::MemoryBytes, limit })
    }

    fn memory_refused(&self, limit: &LimitReached) -> Option<String> {
        self.sentence(&format_args!("the limit of {} is reached for memory-bytes", limit.limit))
    }

    fn refused(&self, refusal: leasebook::Refusal) -> wit::Refused {
        wit::Refused { sentence: self.sentence(&refusal), reason: answer::refusal(refusal) }
    }

    /// A refusal as a sentence, where that is wanted.
    fn sentence(&self, refusal: &dyn Display) -> Option<String> {
        self.own.sentences.then(|| refusal.to_string())
    }
}

impl wit::Guest for Component {
    type Table = Book;

    fn contains(path: String, directory: String) -> wit::Containment {
        answer::containment(leasebook::contains(&path, &directory))
    }
}

impl wit::GuestTable for Book {
    fn new(options: wit::Options) -> Result<wit::Table, wit::InvalidOptions> {
        let (options, own) = ask::options(options)?;
        let table = Table::new(options)
            .map_err(|error| wit::InvalidOptions { field: error.field.into(), expected: error.expected.into() })?;
        Ok(wit::Table::new(Self { table: RefCell::new(table), own }))
    }

    fn restore(options: wit::Options, records: Vec<wit::Record>) -> Result<wit::Table, wit::RestoreError> {
        let (options, own) = ask::options(options).map_err(|error| wit::RestoreError {
            record: String::new(),
            expected: format!("{}: {}", error.field, error.expected),
        })?;
        let mut fault = None;
        let converted = records.into_iter().map_while(|record| {
            let converted = if memory::in_use() > own.memory_bytes_max * 2 {
                Err(wit::RestoreError {
                    record: String::new(),
                    expected: format!("at most {} bytes of memory", own.memory_bytes_max),
                })
            } else {
                durable::core_record(record)
            };
            converted.map_err(|error| fault = Some(error)).ok()
        });
        let restored = Table::restore(options, converted);
        if let Some(fault) = fault {
            return Err(fault);
        }
        let table =
            restored.map_err(|error| wit::RestoreError { record: error.record, expected: error.expected.into() })?;
        Ok(wit::Table::new(Self { table: RefCell::new(table), own }))
    }

    fn acquire(
        &self,
        holder: String,
        wishes: Vec<wit::Wish>,
        ttl_ms: Option<f64>,
    ) -> Result<Vec<wit::Lease>, wit::Refused> {
        if let Some(limit) = self.used_up() {
            return Err(wit::Refused {
                sentence: self.memory_refused(&limit),
                reason: wit::Refusal::LimitExceeded(limit),
            });
        }
        let granted = ask::with_wishes(&wishes, |wishes| {
            self.now(|table, now| table.acquire(now, &holder, wishes, ask::period(ttl_ms)))
        });
        granted.map(answer::leases).map_err(|refusal| self.refused(refusal))
    }

    fn wait_attempt(&self, attempt: wit::WaitAttempt) -> Result<Vec<wit::Lease>, wit::Refused> {
        if let Some(limit) = self.used_up() {
            return Err(wit::Refused {
                sentence: self.memory_refused(&limit),
                reason: wit::Refusal::LimitExceeded(limit),
            });
        }
        let granted = ask::with_wishes(&attempt.wishes, |wishes| {
            let attempt = WaitAttempt {
                waiter_id: &attempt.waiter_id,
                holder: &attempt.holder,
                wishes,
                ttl: ask::period(attempt.ttl_ms),
                allow_hold: attempt.allow_hold,
                keep: ask::period(attempt.keep_ms),
            };
            self.now(|table, now| table.wait_attempt(now, &attempt))
        });
        granted.map(answer::leases).map_err(|refusal| self.refused(refusal))
    }

    fn cancel_wait(&self, waiter_id: String) -> bool {
        self.now(|table, now| table.cancel_wait(now, &waiter_id))
    }

    fn refresh(&self, holder: String, generation: u64, ttl_ms: Option<f64>) -> Result<wit::Lease, wit::RefreshRefused> {
        self.now(|table, now| table.refresh(now, &holder, generation, ask::period(ttl_ms))).map(answer::lease).map_err(
            |refusal| wit::RefreshRefused {
                sentence: self.sentence(&refusal),
                reason: answer::refresh_refusal(refusal),
            },
        )
    }

    fn release(&self, holder: String, what: wit::Release) -> Result<wit::Released, LimitReached> {
        let released = match what {
            wit::Release::All => self.now(|table, now| table.release(now, &holder, Release::All)),
            wit::Release::Paths(paths) => ask::with_paths(&paths, |paths| {
                self.now(|table, now| table.release(now, &holder, Release::Paths(paths)))
            }),
            wit::Release::Generation(generation) => {
                self.now(|table, now| table.release(now, &holder, Release::Generation(generation)))
            }
        };
        released.map(answer::released).map_err(|_| answer::too_many_paths())
    }

    fn release_holder(&self, holder: String) -> u32 {
        self.now(|table, now| table.release_holder(now, &holder)) as u32
    }

    fn release_all(&self) -> u32 {
        self.now(|table, now| table.release_all(now)) as u32
    }

    fn end_session(&self, holder: String) -> u32 {
        self.now(|table, now| table.end_session(now, &holder)) as u32
    }

    fn revoke(&self, generation: u64, force: bool) -> Option<wit::Revoked> {
        self.now(|table, now| table.revoke(now, generation, force)).map(answer::revoked)
    }

    fn covering(&self, holder: String, path: String, mode: wit::Mode) -> wit::Covering {
        answer::covering(self.now(|table, now| table.covering(now, &holder, &path, ask::mode(mode))))
    }

    fn pin(
        &self,
        holder: String,
        paths: Vec<String>,
        mode: wit::Mode,
        deadline_ms: Option<u64>,
    ) -> Result<wit::PinToken, wit::PinRefused> {
        if let Some(limit) = self.used_up() {
            let sentence = self.memory_refused(&limit);
            return Err(wit::PinRefused { sentence, reason: wit::PinRefusal::LimitExceeded(limit) });
        }
        let deadline = deadline_ms.map(Millis::new);
        ask::with_paths(&paths, |paths| {
            self.now(|table, now| table.pin(now, &holder, paths, ask::mode(mode), deadline))
        })
        .map(answer::pin_token)
        .map_err(|refusal| wit::PinRefused { sentence: self.sentence(&refusal), reason: answer::pin_refusal(refusal) })
    }

    fn unpin(&self, token: wit::PinToken) -> bool {
        self.now(|table, now| table.unpin(now, PinToken(token.number)))
    }

    fn ready(&self) -> Vec<String> {
        self.now(|table, now| table.ready(now))
    }

    fn next_deadline(&self) -> Option<u64> {
        self.now(|table, now| table.next_deadline(now)).map(Millis::get)
    }

    fn leases(&self) -> Vec<wit::Lease> {
        answer::leases(self.now(|table, now| table.leases(now)))
    }

    fn status(&self) -> wit::Status {
        answer::status(self.now(|table, now| table.status(now)))
    }

    fn take_events(&self) -> Vec<wit::Event> {
        self.table.borrow_mut().take_events().into_iter().map(durable::event).collect()
    }

    fn records(&self, which: wit::Extent) -> Vec<wit::Record> {
        let mut table = self.table.borrow_mut();
        let records = match which {
            wit::Extent::Everything => table.records(),
            wit::Extent::Changes => table.take_records(),
        };
        records.into_iter().map(durable::record).collect()
    }
}
