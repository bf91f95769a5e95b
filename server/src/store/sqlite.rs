//! The embedded store: one SQLite file, in WAL mode with full synchronisation, for one service at a time.

use super::{Batch, Loaded, Outgoing, Record, Revision, Store, StoreError};
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The layout of the tables below; a file of another one is refused.
const LAYOUT: i64 = 1;
/// How long a commit waits for another process that writes to the file (a key being made), before it fails. A commit
/// holds up every request, so that this is short.
const BUSY: Duration = Duration::from_millis(250);
/// How long anything else waits: what a person has started may take its time.
const BUSY_PATIENT: Duration = Duration::from_secs(5);

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS records (workspace TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (workspace, key)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS outbox (workspace TEXT NOT NULL, number INTEGER NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (workspace, number)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS numbers (workspace TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS keys (id TEXT PRIMARY KEY, workspace TEXT NOT NULL, actor TEXT NOT NULL,
        digest BLOB NOT NULL, created_ms INTEGER NOT NULL, expires_ms INTEGER, calls_max INTEGER,
        calls INTEGER NOT NULL DEFAULT 0, revoked_ms INTEGER) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS signing (id TEXT PRIMARY KEY, seed BLOB NOT NULL, created_ms INTEGER NOT NULL,
        retired_ms INTEGER) WITHOUT ROWID;
";

/// A store in one SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    connection: Connection,
    /// Held as long as the store is open. The kernel lets go of it when the process ends, however it ends.
    _lock: File,
}

impl Sqlite {
    /// Opens the file for a service, and makes it where there is none. A second service is refused.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let lock = lock(path)?;
        let connection = connect(path, BUSY)?;
        Ok(Self { connection, _lock: lock })
    }

    fn revision(connection: &Connection) -> Result<Revision, StoreError> {
        let found: Option<i64> = connection
            .query_row("SELECT value FROM meta WHERE name = 'revision'", [], |row| row.get(0))
            .optional()
            .map_err(database("read the revision"))?;
        Ok(Revision(unsigned(found.unwrap_or(0))))
    }
}

impl Store for Sqlite {
    fn load(&mut self) -> Result<Loaded, StoreError> {
        let doing = "read the records";
        let reading = self.connection.transaction().map_err(database(doing))?;
        let revision = Self::revision(&reading)?;
        let records = {
            let mut select = reading
                .prepare_cached("SELECT workspace, key, value FROM records ORDER BY workspace, key")
                .map_err(database(doing))?;
            let read =
                |row: &rusqlite::Row<'_>| Ok(Record { workspace: row.get(0)?, key: row.get(1)?, value: row.get(2)? });
            select.query_map([], read).and_then(Iterator::collect).map_err(database(doing))?
        };
        let numbers = {
            let mut select = reading
                .prepare_cached("SELECT workspace, number FROM numbers ORDER BY workspace")
                .map_err(database(doing))?;
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, unsigned(row.get(1)?)));
            select.query_map([], read).and_then(Iterator::collect).map_err(database(doing))?
        };
        Ok(Loaded { revision, records, numbers })
    }

    fn commit(&mut self, at: Revision, batch: &Batch) -> Result<Revision, StoreError> {
        let doing = "commit";
        let writing =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(database(doing))?;
        let found = Self::revision(&writing)?;
        if found != at {
            return Err(StoreError::Lost { expected: at, found });
        }
        let next = Revision(at.0 + 1);
        {
            let prepare = |sql| writing.prepare_cached(sql).map_err(database(doing));
            let mut put = prepare(
                "INSERT INTO records VALUES (?1, ?2, ?3) ON CONFLICT (workspace, key) DO UPDATE SET value = ?3",
            )?;
            let mut remove = prepare("DELETE FROM records WHERE workspace = ?1 AND key = ?2")?;
            for change in &batch.changes {
                match &change.value {
                    Some(value) => put.execute(params![change.workspace, change.key, value]),
                    None => remove.execute(params![change.workspace, change.key]),
                }
                .map_err(database(doing))?;
            }
            let mut send = prepare("INSERT INTO outbox VALUES (?1, ?2, ?3)")?;
            let mut number = prepare(
                "INSERT INTO numbers VALUES (?1, ?2) ON CONFLICT (workspace) DO UPDATE SET number = MAX(number, ?2)",
            )?;
            for Outgoing { workspace, number: n, body } in &batch.outgoing {
                send.execute(params![workspace, signed(*n), body]).map_err(database(doing))?;
            }
            // The last number of each run of events of one workspace; a later run of it raises it further. What no ledger
            // has taken for long has an end, too.
            let mut events = batch.outgoing.iter().peekable();
            while let Some(event) = events.next() {
                if events.peek().is_none_or(|next| next.workspace != event.workspace) {
                    number.execute(params![event.workspace, signed(event.number)]).map_err(database(doing))?;
                    crate::ledger::trim(&writing, &event.workspace, event.number).map_err(database(doing))?;
                }
            }
            prepare("INSERT INTO meta VALUES ('revision', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1")?
                .execute([signed(next.0)])
                .map_err(database(doing))?;
        }
        writing.commit().map_err(database(doing))?;
        Ok(next)
    }
}

/// Opens a file beside a service that may use it: for keys, for signing keys, for the events of ledgers.
pub(crate) fn open_beside(path: &Path) -> Result<Connection, StoreError> {
    connect(path, BUSY_PATIENT)
}

fn connect(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    let doing = "open the database";
    keep_private(path)?;
    let connection = Connection::open(path).map_err(database(doing))?;
    connection.busy_timeout(busy).map_err(database(doing))?;
    // WAL: readers do not hold up commits. FULL: a commit returns when the log is synced to the disk.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).map_err(database(doing))?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(database(doing))?;
    let layout: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(database(doing))?;
    match layout {
        LAYOUT => {}
        0 => {
            connection.execute_batch(TABLES).map_err(database("make the tables"))?;
            connection.pragma_update(None, "user_version", LAYOUT).map_err(database("make the tables"))?;
        }
        other => {
            let what = format!("the tables of {} have layout {other}", path.display());
            return Err(StoreError::Unreadable { what, expected: "layout 1, of this version of the service" });
        }
    }
    Ok(connection)
}

/// The file holds the seeds of the keys that sign receipts: its account alone may read it. SQLite gives the files that it
/// makes beside it the same rights.
#[cfg(unix)]
fn keep_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let failed = |doing| move |source| StoreError::File { doing, path: path.display().to_string(), source };
    let mut options = File::options();
    let file = options.create(true).truncate(false).write(true).mode(0o600).open(path).map_err(failed("open"))?;
    let mut rights = file.metadata().map_err(failed("look at"))?.permissions();
    if rights.mode() & 0o077 != 0 {
        rights.set_mode(rights.mode() & !0o077);
        file.set_permissions(rights).map_err(failed("take the rights of others from"))?;
    }
    Ok(())
}

/// Elsewhere it is the folder that says who may read it.
#[cfg(not(unix))]
fn keep_private(_: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Locks a file beside the database. SQLite's own locks are held by anybody who reads or writes; this one only by a
/// service.
fn lock(path: &Path) -> Result<File, StoreError> {
    let beside = lock_path(path);
    let failed = |source| StoreError::File { doing: "open", path: beside.display().to_string(), source };
    let file = File::options().create(true).truncate(false).write(true).open(&beside).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(StoreError::InUse(path.display().to_string())),
        Err(std::fs::TryLockError::Error(source)) => {
            Err(StoreError::File { doing: "lock", path: beside.display().to_string(), source })
        }
    }
}

fn lock_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".lock");
    path.with_file_name(name)
}

pub(crate) fn database(doing: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |source| StoreError::Database { doing, source }
}

/// Numbers of the service are at most 2^53 - 1, so that both directions are exact.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::Change;
    use super::*;

    fn put(key: &str, value: Option<&str>) -> Change {
        Change { workspace: "w".into(), key: key.into(), value: value.map(Into::into) }
    }

    fn event(workspace: &str, number: u64) -> Outgoing {
        Outgoing { workspace: workspace.into(), number, body: "{}".into() }
    }

    #[test]
    fn what_was_committed_is_there_after_opening_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.sqlite");
        let mut store = Sqlite::open(&path).unwrap();
        assert_eq!(store.load().unwrap(), Loaded::default());
        let changes = vec![put("a", Some("1")), put("b", Some("2")), put("a", Some("3"))];
        let batch = Batch { changes, outgoing: vec![event("w", 1), event("v", 1), event("w", 2)] };
        let first = store.commit(Revision(0), &batch).unwrap();
        let batch = Batch { changes: vec![put("b", None)], outgoing: vec![] };
        let second = store.commit(first, &batch).unwrap();
        drop(store);
        let loaded = Sqlite::open(&path).unwrap().load().unwrap();
        assert_eq!(loaded.revision, second);
        let record = Record { workspace: "w".into(), key: "a".into(), value: "3".into() };
        assert_eq!(loaded.records, [record]);
        assert_eq!(loaded.numbers, [("v".to_string(), 1), ("w".to_string(), 2)]);
    }

    #[test]
    fn a_commit_at_another_revision_has_lost_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Sqlite::open(&folder.path().join("book.sqlite")).unwrap();
        let batch = Batch { changes: vec![put("a", Some("1"))], outgoing: vec![] };
        store.commit(Revision(0), &batch).unwrap();
        let lost = store.commit(Revision(0), &Batch { changes: vec![put("a", Some("2"))], outgoing: vec![] });
        assert!(matches!(lost, Err(StoreError::Lost { expected: Revision(0), found: Revision(1) })), "{lost:?}");
        assert_eq!(store.load().unwrap().records[0].value, "1");
    }

    #[test]
    fn a_second_service_is_refused_until_the_first_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.sqlite");
        let first = Sqlite::open(&path).unwrap();
        assert!(matches!(Sqlite::open(&path), Err(StoreError::InUse(_))));
        drop(first);
        assert!(Sqlite::open(&path).is_ok());
    }

    #[test]
    fn a_failed_commit_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Sqlite::open(&folder.path().join("book.sqlite")).unwrap();
        store.commit(Revision(0), &Batch { changes: vec![], outgoing: vec![event("w", 1)] }).unwrap();
        let twice = Batch { changes: vec![put("a", Some("1"))], outgoing: vec![event("w", 1)] };
        assert!(matches!(store.commit(Revision(1), &twice), Err(StoreError::Database { .. })));
        let loaded = store.load().unwrap();
        assert_eq!((loaded.revision, loaded.records.len()), (Revision(1), 0));
    }

    #[test]
    fn a_file_of_another_layout_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.sqlite");
        drop(Sqlite::open(&path).unwrap());
        Connection::open(&path).unwrap().pragma_update(None, "user_version", 7).unwrap();
        assert!(matches!(Sqlite::open(&path), Err(StoreError::Unreadable { .. })));
    }
}
