//! A table that threads share.

use crate::lease::{
    Covering, Lease, Mode, PinRefusal, PinToken, RefreshRefusal, Refusal, Release, Released, Revoked, Status,
    TooManyPaths, WaitAttempt, Wish,
};
use crate::table::Table;
use crate::time::{Clock, Millis, Period};
use crate::{Event, Record};
use alloc::{string::String, sync::Arc, vec::Vec};
use core::fmt;
use std::sync::Mutex;

/// A [`Table`] behind a lock, with its clock. Clones share it.
///
/// The clock is read before the lock is taken, and nobody's code runs while it is held, but for [`SharedTable::with`].
/// The methods are those of [`Table`], at the present moment.
///
/// # Panics
///
/// A method panics where an earlier call panicked while it held the lock: what such a table says cannot be relied on.
#[derive(Clone)]
pub struct SharedTable {
    table: Arc<Mutex<Table>>,
    clock: Arc<dyn Clock + Send + Sync>,
}

impl SharedTable {
    /// Shares a table.
    pub fn new(table: Table, clock: impl Clock + Send + Sync + 'static) -> Self {
        Self { table: Arc::new(Mutex::new(table)), clock: Arc::new(clock) }
    }

    /// Runs several operations as one, at the present moment. Nothing else happens to the table meanwhile.
    pub fn with<T>(&self, operation: impl FnOnce(&mut Table, Millis) -> T) -> T {
        let now = self.clock.now();
        operation(&mut self.table.lock().expect("no operation of a table panics"), now)
    }

    /// [`Table::acquire`]
    pub fn acquire(&self, holder: &str, wishes: &[Wish<'_>], ttl: Option<Period>) -> Result<Vec<Lease>, Refusal> {
        self.with(|table, now| table.acquire(now, holder, wishes, ttl))
    }

    /// [`Table::wait_attempt`]
    pub fn wait_attempt(&self, attempt: &WaitAttempt<'_>) -> Result<Vec<Lease>, Refusal> {
        self.with(|table, now| table.wait_attempt(now, attempt))
    }

    /// [`Table::cancel_wait`]
    pub fn cancel_wait(&self, waiter_id: &str) -> bool {
        self.with(|table, now| table.cancel_wait(now, waiter_id))
    }

    /// [`Table::refresh`]
    pub fn refresh(&self, holder: &str, generation: u64, ttl: Option<Period>) -> Result<Lease, RefreshRefusal> {
        self.with(|table, now| table.refresh(now, holder, generation, ttl))
    }

    /// [`Table::release`]
    pub fn release(&self, holder: &str, what: Release<'_>) -> Result<Released, TooManyPaths> {
        self.with(|table, now| table.release(now, holder, what))
    }

    /// [`Table::release_holder`]
    pub fn release_holder(&self, holder: &str) -> usize {
        self.with(|table, now| table.release_holder(now, holder))
    }

    /// [`Table::release_all`]
    pub fn release_all(&self) -> usize {
        self.with(Table::release_all)
    }

    /// [`Table::end_session`]
    pub fn end_session(&self, holder: &str) -> usize {
        self.with(|table, now| table.end_session(now, holder))
    }

    /// [`Table::revoke`]
    pub fn revoke(&self, generation: u64, force: bool) -> Option<Revoked> {
        self.with(|table, now| table.revoke(now, generation, force))
    }

    /// [`Table::covering`]
    pub fn covering(&self, holder: &str, path: &str, mode: Mode) -> Covering {
        self.with(|table, now| table.covering(now, holder, path, mode))
    }

    /// [`Table::pin`]
    pub fn pin(
        &self,
        holder: &str,
        paths: &[&str],
        mode: Mode,
        deadline: Option<Millis>,
    ) -> Result<PinToken, PinRefusal> {
        self.with(|table, now| table.pin(now, holder, paths, mode, deadline))
    }

    /// [`Table::unpin`]
    pub fn unpin(&self, token: PinToken) -> bool {
        self.with(|table, now| table.unpin(now, token))
    }

    /// [`Table::ready`]
    pub fn ready(&self) -> Vec<String> {
        self.with(Table::ready)
    }

    /// [`Table::next_deadline`]
    pub fn next_deadline(&self) -> Option<Millis> {
        self.with(Table::next_deadline)
    }

    /// [`Table::leases`]
    pub fn leases(&self) -> Vec<Lease> {
        self.with(Table::leases)
    }

    /// [`Table::status`]
    pub fn status(&self) -> Status {
        self.with(Table::status)
    }

    /// [`Table::take_events`]
    #[must_use]
    pub fn take_events(&self) -> Vec<Event> {
        self.with(|table, _| table.take_events())
    }

    /// [`Table::take_records`]
    #[must_use]
    pub fn take_records(&self) -> Vec<Record> {
        self.with(|table, _| table.take_records())
    }

    /// [`Table::records`]
    pub fn records(&self) -> Vec<Record> {
        self.with(|table, _| table.records())
    }
}

impl fmt::Debug for SharedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedTable").finish_non_exhaustive()
    }
}
