//! A table as a WebAssembly component under wasmtime.
//!
//! The component is precompiled when this program is built, so that starting it compiles nothing. Its clock is one that
//! the book sets before each operation: the moment of an operation is the same value on every runtime.

mod convert;

use super::operation::Given;
use super::{Answer, Ask, NoTable, Runtime, token};
use anyhow::Context;
use convert::{each, over};
use leasebook::{Fairness, Millis, Options, PinToken, Record, TooManyPaths};
use leasebook_wasmtime::{self as wasm, LeaseTable, LoadError, ManualClock, TableComponent};
use std::cell::OnceCell;

/// Machine code of the component, made for the machine that this program was built on.
static PRECOMPILED: &[u8] = include_bytes!(env!("LEASEBOOK_PRECOMPILED_FOUND"));

/// A table and the clock it reads.
struct Component {
    table: LeaseTable,
    clock: ManualClock,
}

/// A table, empty or from records.
pub(super) fn make(options: &Options, records: Option<Vec<Record>>) -> Result<Box<dyn Runtime>, NoTable> {
    let clock = ManualClock::new(0);
    let component = loaded().map_err(|error| NoTable::Runtime(error.into()))?;
    let builder = LeaseTable::builder(settings(options)).component(&component).clock(clock.clone());
    let table = match records {
        None => builder.build(),
        Some(records) => builder.restore(&records.into_iter().map(convert::stored).collect::<Vec<_>>()),
    };
    match table {
        Ok(table) => Ok(Box::new(Component { table, clock })),
        Err(LoadError::Options(wrong)) => Err(NoTable::Options { field: wrong.field, expected: wrong.expected }),
        Err(LoadError::Restore(wrong)) => Err(NoTable::Records { record: wrong.record, expected: wrong.expected }),
        Err(other) => Err(NoTable::Runtime(other.into())),
    }
}

/// The component, loaded once: a book makes a table for each `new`.
fn loaded() -> Result<TableComponent, LoadError> {
    thread_local! {
        static LOADED: OnceCell<TableComponent> = const { OnceCell::new() };
    }
    if let Some(component) = LOADED.with(|loaded| loaded.get().cloned()) {
        return Ok(component);
    }
    // SAFETY: the bytes were made by `leasebook-precompile` and embedded when this program was built.
    #[allow(unsafe_code)]
    let component = unsafe { TableComponent::from_precompiled(PRECOMPILED) };
    // On another processor than the one it was made for it does not load; compiling takes some tens of milliseconds.
    let component = component.or_else(|_| TableComponent::embedded())?;
    Ok(LOADED.with(|loaded| loaded.get_or_init(|| component).clone()))
}

fn settings(options: &Options) -> wasm::Options {
    let bound = |bound: usize| u32::try_from(bound).unwrap_or(u32::MAX);
    wasm::Options {
        default_ttl_ms: options.default_ttl_ms,
        fairness: match options.fairness {
            Fairness::Barge => wasm::Fairness::Barge,
            Fairness::Fifo => wasm::Fairness::Fifo,
        },
        limits: wasm::Limits {
            leases: bound(options.limits.leases),
            waiters: bound(options.limits.waiters),
            wishes: bound(options.limits.wishes),
            pins: bound(options.limits.pins),
            leases_per_holder: bound(options.limits.leases_per_holder),
            waiters_per_holder: bound(options.limits.waiters_per_holder),
            pins_per_holder: bound(options.limits.pins_per_holder),
        },
        hash_key: options.hash_key,
        events: bound(options.events),
        journal: options.journal,
        ..wasm::Options::default()
    }
}

impl Runtime for Component {
    fn ask(&mut self, at: Millis, ask: &Ask) -> anyhow::Result<Answer> {
        self.clock.set(at.get());
        let table = &mut self.table;
        let period = |period: &Option<leasebook::Period>| period.map(|period| wasm::Period::from(period.given()));
        let count = |count: u32| Answer::Count(count as usize);
        Ok(match ask {
            Ask::Acquire { holder, wishes, ttl } => {
                convert::attempt(table.acquire(holder, &convert::wishes(wishes), period(ttl))?)?
            }
            Ask::WaitAttempt { waiter_id, holder, wishes, ttl, allow_hold, keep } => {
                let wishes = &convert::wishes(wishes)[..];
                let (ttl, allow_hold, keep) = (period(ttl), *allow_hold, period(keep));
                let attempt = wasm::WaitAttempt { waiter_id, holder, wishes, ttl, allow_hold, keep };
                convert::attempt(table.wait_attempt(&attempt)?)?
            }
            Ask::CancelWait { waiter_id } => Answer::Found(table.cancel_wait(waiter_id)?),
            Ask::Refresh { holder, generation, ttl } => {
                convert::refreshed(table.refresh(holder, *generation, period(ttl))?)?
            }
            Ask::Release { holder, what } => {
                let released = match what {
                    Given::All => table.release(holder, wasm::Release::All)?,
                    Given::Paths(paths) => table.release(holder, wasm::Release::Paths(&borrowed(paths)))?,
                    Given::Generation(generation) => table.release(holder, wasm::Release::Generation(*generation))?,
                };
                match released {
                    Ok(released) => Answer::Released(Ok(convert::released(released))),
                    Err(reached) if reached.which == wasm::Limit::Paths => Answer::Released(Err(TooManyPaths)),
                    Err(reached) => {
                        let sentence =
                            format!("the limit of {} is reached for {}", reached.limit, reached.which.name());
                        over("released", &reached, sentence)
                    }
                }
            }
            Ask::ReleaseHolder { holder } => count(table.release_holder(holder)?),
            Ask::ReleaseAll => count(table.release_all()?),
            Ask::EndSession { holder } => count(table.end_session(holder)?),
            Ask::Revoke { generation, force } => {
                Answer::Revoked(table.revoke(*generation, *force)?.map(convert::revoked).transpose()?)
            }
            Ask::Pin { holder, paths, mode, deadline_ms } => {
                convert::pinned(table.pin(holder, &borrowed(paths), convert::mode_asked(*mode), *deadline_ms)?)
            }
            Ask::Unpin { token: shown } => match token(shown) {
                Some(PinToken(number)) => Answer::Found(table.unpin(wasm::PinToken { number })?),
                None => Answer::Found(false),
            },
            Ask::Covering { holder, path, mode } => {
                Answer::Covering(convert::covering(table.covering(holder, path, convert::mode_asked(*mode))?)?)
            }
            Ask::Contains { path, directory } => {
                Answer::Contains(convert::containment(table.contains(path, directory)?))
            }
            Ask::Ready => Answer::Ready(table.ready()?),
            Ask::NextDeadline => Answer::NextDeadline(table.next_deadline()?.map(Millis::new)),
            Ask::Leases => Answer::Leases(each(table.leases()?, convert::lease)?),
            Ask::Status => Answer::Status(convert::status(table.status()?)?),
            Ask::Events => Answer::Events(each(table.take_events()?, convert::event)?),
            Ask::Records => Answer::Records(each(table.records()?, convert::record)?),
        })
    }

    fn changed(&mut self) -> anyhow::Result<Vec<Record>> {
        each(self.table.take_records()?, convert::record).context("the records of the component")
    }
}

fn borrowed(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}
