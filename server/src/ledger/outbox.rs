//! The events that wait for their ledgers: a table of the store, filled by commits, emptied by the writer of ledgers.

use crate::store::{StoreError, database, open_beside, signed, unsigned};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::path::Path;

/// How many events of one workspace wait at most; of more, the oldest are dropped, and the ledger says so. Enough for a
/// quarter of an hour of a hundred events a second, and some tens of megabytes.
pub const OUTBOX_EVENTS_MAX: u64 = 100_000;
/// How many events are taken at once.
const TAKEN_EVENTS_MAX: u32 = 256;
/// After how many bytes no further event is taken: what is taken stands in memory, and is written as one.
const TAKEN_BYTES_MAX: usize = 1024 * 1024;

/// One waiting event: its number, and its text.
pub(super) type Waiting = (u64, String);

/// Where events wait. It is a trait so that a test can end a process between any two steps.
pub(super) trait Outbox {
    /// The first workspace behind that name, in order, for which events wait.
    fn workspace_after(&mut self, workspace: Option<&str>) -> Result<Option<String>, StoreError>;

    /// The first events that wait for a workspace, in order of their numbers.
    fn take(&mut self, workspace: &str) -> Result<Vec<Waiting>, StoreError>;

    /// Forgets the events of a workspace up to a number.
    fn forget(&mut self, workspace: &str, last: u64) -> Result<(), StoreError>;

    /// How many events wait.
    fn count(&mut self) -> Result<u64, StoreError>;
}

/// The outbox of a store, by a connection of its own.
#[derive(Debug)]
pub(super) struct StoredOutbox {
    connection: Connection,
}

impl StoredOutbox {
    /// Opens the outbox of the store in a file.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open_beside(path)?;
        // What is forgotten here and comes back after a loss of power is found in the ledger. So nothing is to be synced
        // while this holds the lock that every commit of the service needs.
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(database("open the outbox"))?;
        Ok(Self { connection })
    }
}

impl Outbox for StoredOutbox {
    fn workspace_after(&mut self, workspace: Option<&str>) -> Result<Option<String>, StoreError> {
        // One look into the index for each workspace, however many events wait for it.
        let sql = match workspace {
            None => "SELECT workspace FROM outbox ORDER BY workspace LIMIT 1",
            Some(_) => "SELECT workspace FROM outbox WHERE workspace > ?1 ORDER BY workspace LIMIT 1",
        };
        let doing = "look for events that wait for a ledger";
        let mut select = self.connection.prepare_cached(sql).map_err(database(doing))?;
        select.query_row(rusqlite::params_from_iter(workspace), |row| row.get(0)).optional().map_err(database(doing))
    }

    fn take(&mut self, workspace: &str) -> Result<Vec<Waiting>, StoreError> {
        let doing = "read events that wait for a ledger";
        let mut select = self
            .connection
            .prepare_cached("SELECT number, body FROM outbox WHERE workspace = ?1 ORDER BY number LIMIT ?2")
            .map_err(database(doing))?;
        let mut rows = select.query(params![workspace, TAKEN_EVENTS_MAX]).map_err(database(doing))?;
        let mut taken = Vec::new();
        let mut bytes = 0;
        while bytes < TAKEN_BYTES_MAX {
            let Some(row) = rows.next().map_err(database(doing))? else { break };
            let body: String = row.get(1).map_err(database(doing))?;
            bytes += body.len();
            taken.push((unsigned(row.get(0).map_err(database(doing))?), body));
        }
        Ok(taken)
    }

    fn forget(&mut self, workspace: &str, last: u64) -> Result<(), StoreError> {
        forget(&self.connection, workspace, last).map_err(database("forget events that a ledger has"))
    }

    fn count(&mut self) -> Result<u64, StoreError> {
        let count = self.connection.query_row("SELECT COUNT(*) FROM outbox", [], |row| row.get(0));
        count.map(unsigned).map_err(database("count events that wait for a ledger"))
    }
}

/// Drops the oldest events of a workspace beyond [`OUTBOX_EVENTS_MAX`], given the number of its newest. It belongs into
/// the transaction that adds events, so that the bound holds at every moment.
pub(crate) fn trim(connection: &Connection, workspace: &str, newest: u64) -> Result<(), rusqlite::Error> {
    match newest.checked_sub(OUTBOX_EVENTS_MAX) {
        None | Some(0) => Ok(()),
        Some(last) => forget(connection, workspace, last),
    }
}

fn forget(connection: &Connection, workspace: &str, last: u64) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached("DELETE FROM outbox WHERE workspace = ?1 AND number <= ?2")?
        .execute(params![workspace, signed(last)])
        .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Batch, Outgoing, Revision, Sqlite, Store as _};

    fn batch(workspace: &str, numbers: std::ops::RangeInclusive<u64>, body: &str) -> Batch {
        let event = |number| Outgoing { workspace: workspace.into(), number, body: body.into() };
        Batch { changes: vec![], outgoing: numbers.map(event).collect() }
    }

    #[test]
    fn events_wait_in_order_until_they_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.sqlite");
        let mut store = Sqlite::open(&path).unwrap();
        store.commit(Revision(0), &batch("b", 1..=3, "{}")).unwrap();
        store.commit(Revision(1), &batch("a", 1..=1, "{}")).unwrap();
        let mut outbox = StoredOutbox::open(&path).unwrap();
        assert_eq!(outbox.workspace_after(None).unwrap().as_deref(), Some("a"));
        assert_eq!(outbox.workspace_after(Some("a")).unwrap().as_deref(), Some("b"));
        assert_eq!(outbox.workspace_after(Some("b")).unwrap(), None);
        outbox.forget("b", 2).unwrap();
        assert_eq!(outbox.take("b").unwrap(), [(3, "{}".to_string())]);
        assert_eq!(outbox.count().unwrap(), 2);
    }

    #[test]
    fn no_more_is_taken_than_fits_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.sqlite");
        let mut store = Sqlite::open(&path).unwrap();
        store.commit(Revision(0), &batch("a", 1..=300, "{}")).unwrap();
        store.commit(Revision(1), &batch("b", 1..=5, &"x".repeat(TAKEN_BYTES_MAX / 2))).unwrap();
        let mut outbox = StoredOutbox::open(&path).unwrap();
        assert_eq!(outbox.take("a").unwrap().len(), TAKEN_EVENTS_MAX as usize);
        assert_eq!(outbox.take("b").unwrap().len(), 2);
    }

    #[test]
    fn the_oldest_events_beyond_the_bound_are_dropped_by_the_commit_that_adds_to_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.sqlite");
        let mut store = Sqlite::open(&path).unwrap();
        store.commit(Revision(0), &batch("a", 1..=OUTBOX_EVENTS_MAX, "{}")).unwrap();
        store.commit(Revision(1), &batch("b", 1..=1, "{}")).unwrap();
        let mut outbox = StoredOutbox::open(&path).unwrap();
        assert_eq!(outbox.count().unwrap(), OUTBOX_EVENTS_MAX + 1);
        let next = OUTBOX_EVENTS_MAX + 1..=OUTBOX_EVENTS_MAX + 2;
        store.commit(Revision(2), &batch("a", next, "{}")).unwrap();
        assert_eq!(outbox.take("a").unwrap()[0].0, 3);
        assert_eq!(outbox.take("b").unwrap()[0].0, 1);
    }
}
