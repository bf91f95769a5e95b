//! The keys of a store: made, listed and revoked by commands, looked up by a service.
//!
//! Commands write to the store of a running service. The service notices by a counter that each of them raises, at the
//! latest a second later.

use super::{Grant, Key, Listed};
use crate::store::{StoreError, database, open_beside, signed, unsigned};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// How old the service's copy of the keys may be: a revoked key is refused this much later at most.
const FRESH: Duration = Duration::from_secs(1);
/// Why a key is not good.
#[derive(Debug, thiserror::Error)]
pub enum Denied {
    /// There is no such key, or its secret is another.
    #[error("no such key")]
    Unknown,
    /// It is over.
    #[error("the key has expired")]
    Expired,
    /// It was revoked.
    #[error("the key was revoked")]
    Revoked,
    /// All its calls are used.
    #[error("the key was good for {calls_max} calls, and all are used")]
    Used {
        /// How many it was good for.
        calls_max: u64,
    },
    /// The keys cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The keys of one store.
#[derive(Debug)]
pub struct KeyRing {
    connection: Mutex<Connection>,
    known: RwLock<Known>,
}

#[derive(Debug)]
struct Known {
    keys: BTreeMap<String, Kept>,
    counter: u64,
    read_at: Instant,
}

#[derive(Clone, Debug)]
struct Kept {
    listed: Listed,
    digest: [u8; 32],
}

impl Kept {
    fn judge(self, key: &Key, now_ms: u64) -> Result<Grant, Denied> {
        if !key.is_of(&self.digest) {
            return Err(Denied::Unknown);
        }
        let Listed { grant, revoked_ms, .. } = self.listed;
        if revoked_ms.is_some() {
            return Err(Denied::Revoked);
        }
        if grant.expires_ms.is_some_and(|end| now_ms >= end) {
            return Err(Denied::Expired);
        }
        Ok(grant)
    }
}

impl KeyRing {
    /// Opens the keys of a store, and makes the store where there is none.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = open_beside(path)?;
        let known = Known { keys: read(&connection)?, counter: counter(&connection)?, read_at: Instant::now() };
        Ok(Self { connection: Mutex::new(connection), known: RwLock::new(known) })
    }

    /// Makes a key. It is to be shown now, and cannot be later.
    pub fn create(&self, grant: &Grant, now_ms: u64) -> Result<Key, StoreError> {
        let failed = |source| StoreError::File { doing: "draw a key from", path: "the system".into(), source };
        let key = Key::draw().map_err(failed)?;
        let doing = "make a key";
        let mut connection = self.connection();
        let writing = connection.transaction().map_err(database(doing))?;
        writing
            .execute(
                "INSERT INTO keys (id, workspace, actor, digest, created_ms, expires_ms, calls_max)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    key.id(),
                    grant.workspace,
                    grant.actor,
                    key.digest(),
                    signed(now_ms),
                    grant.expires_ms.map(signed),
                    grant.calls_max.map(signed)
                ],
            )
            .map_err(database(doing))?;
        raise(&writing).map_err(database(doing))?;
        writing.commit().map_err(database(doing))?;
        Ok(key)
    }

    /// Revokes a key by its id. `false`: there is none, or it was revoked before.
    pub fn revoke(&self, id: &str, now_ms: u64) -> Result<bool, StoreError> {
        let doing = "revoke a key";
        let mut connection = self.connection();
        let writing = connection.transaction().map_err(database(doing))?;
        let changed = writing
            .execute(
                "UPDATE keys SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL",
                params![id, signed(now_ms)],
            )
            .map_err(database(doing))?;
        raise(&writing).map_err(database(doing))?;
        writing.commit().map_err(database(doing))?;
        Ok(changed > 0)
    }

    /// Every key, in the order of its making.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        let keys = read(&self.connection())?;
        let mut listed: Vec<Listed> = keys.into_values().map(|kept| kept.listed).collect();
        listed.sort_by(|a, b| (a.created_ms, &a.id).cmp(&(b.created_ms, &b.id)));
        Ok(listed)
    }

    /// What a key is good for, where that can be told without a look into the store, which may take the time of a disk.
    pub fn known(&self, key: &Key, now_ms: u64) -> Option<Result<Grant, Denied>> {
        let (kept, age) = self.kept(&key.id());
        let kept = kept.filter(|kept| age < FRESH && kept.listed.grant.calls_max.is_none())?;
        Some(kept.judge(key, now_ms))
    }

    /// What a key is good for. It looks into the store where its copy is old, where it does not know the key, and where
    /// calls are counted: it may block.
    pub fn look_up(&self, key: &Key, now_ms: u64) -> Result<Grant, Denied> {
        let id = key.id();
        if self.kept(&id).1 >= FRESH {
            self.refresh()?;
        }
        let kept = match self.kept(&id).0 {
            Some(kept) => kept,
            None => {
                // It may have been made a moment ago.
                self.refresh()?;
                self.kept(&id).0.ok_or(Denied::Unknown)?
            }
        };
        let grant = kept.judge(key, now_ms)?;
        if let Some(calls_max) = grant.calls_max {
            self.count(&id, calls_max)?;
        }
        Ok(grant)
    }

    /// Counts one call of a key, unless all are used.
    fn count(&self, id: &str, calls_max: u64) -> Result<(), Denied> {
        let counted = self
            .connection()
            .execute("UPDATE keys SET calls = calls + 1 WHERE id = ?1 AND calls < ?2", params![id, signed(calls_max)])
            .map_err(database("count a call"))?;
        if counted == 0 { Err(Denied::Used { calls_max }) } else { Ok(()) }
    }

    fn kept(&self, id: &str) -> (Option<Kept>, Duration) {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        (known.keys.get(id).cloned(), known.read_at.elapsed())
    }

    /// Reads the keys again where a command has changed them.
    fn refresh(&self) -> Result<(), StoreError> {
        let found = counter(&self.connection())?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if found == known.counter {
            known.read_at = Instant::now();
            return Ok(());
        }
        drop(known);
        self.read_again()
    }

    fn read_again(&self) -> Result<(), StoreError> {
        let connection = self.connection();
        // The counter first: a key that is made in between raises it once more, and is read the next time.
        let counter = counter(&connection)?;
        let keys = read(&connection)?;
        drop(connection);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Known { keys, counter, read_at: Instant::now() };
        Ok(())
    }

    /// A connection is as good after a panic as before: a transaction that was not committed is rolled back.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(connection: &Connection) -> Result<BTreeMap<String, Kept>, StoreError> {
    let doing = "read the keys";
    let mut select = connection
        .prepare_cached(
            "SELECT id, workspace, actor, expires_ms, calls_max, created_ms, calls, revoked_ms, digest FROM keys",
        )
        .map_err(database(doing))?;
    let kept = |row: &Row<'_>| {
        let optional = |column| row.get::<_, Option<i64>>(column).map(|number| number.map(unsigned));
        let grant =
            Grant { workspace: row.get(1)?, actor: row.get(2)?, expires_ms: optional(3)?, calls_max: optional(4)? };
        let id: String = row.get(0)?;
        let created_ms = unsigned(row.get(5)?);
        let listed = Listed { id, grant, created_ms, calls: unsigned(row.get(6)?), revoked_ms: optional(7)? };
        Ok((listed.id.clone(), Kept { listed, digest: row.get(8)? }))
    };
    select.query_map([], kept).and_then(Iterator::collect).map_err(database(doing))
}

fn counter(connection: &Connection) -> Result<u64, StoreError> {
    let found: Option<i64> = connection
        .query_row("SELECT value FROM meta WHERE name = 'keys'", [], |row| row.get(0))
        .optional()
        .map_err(database("look for new keys"))?;
    Ok(unsigned(found.unwrap_or(0)))
}

fn raise(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .execute("INSERT INTO meta VALUES ('keys', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1", [])
        .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant() -> Grant {
        Grant { workspace: "default".into(), actor: "did:web:a".into(), expires_ms: None, calls_max: None }
    }

    fn ring(folder: &tempfile::TempDir) -> KeyRing {
        KeyRing::open(&folder.path().join("book.sqlite")).unwrap()
    }

    #[test]
    fn a_key_made_by_a_command_is_good_for_a_running_service() {
        let folder = tempfile::tempdir().unwrap();
        let (service, command) = (ring(&folder), ring(&folder));
        let key = command.create(&grant(), 1).unwrap();
        assert_eq!(service.look_up(&key, 2).unwrap(), grant());
        let stranger = Key::draw().unwrap();
        assert!(matches!(service.look_up(&stranger, 2), Err(Denied::Unknown)));
    }

    #[test]
    fn a_revoked_key_is_refused_and_stays_listed() {
        let folder = tempfile::tempdir().unwrap();
        let (service, command) = (ring(&folder), ring(&folder));
        let key = command.create(&grant(), 1).unwrap();
        assert!(command.revoke(&key.id(), 5).unwrap());
        assert!(!command.revoke(&key.id(), 6).unwrap());
        service.refresh().unwrap();
        assert!(matches!(service.look_up(&key, 7), Err(Denied::Revoked)));
        assert_eq!(service.list().unwrap()[0].revoked_ms, Some(5));
    }

    #[test]
    fn a_key_is_over_at_its_end_itself() {
        let folder = tempfile::tempdir().unwrap();
        let ring = ring(&folder);
        let key = ring.create(&Grant { expires_ms: Some(100), ..grant() }, 1).unwrap();
        assert!(ring.look_up(&key, 99).is_ok());
        assert!(matches!(ring.look_up(&key, 100), Err(Denied::Expired)));
    }

    #[test]
    fn calls_are_counted_over_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let key = ring(&folder).create(&Grant { calls_max: Some(3), ..grant() }, 1).unwrap();
        for _ in 0..3 {
            assert!(ring(&folder).look_up(&key, 2).is_ok());
        }
        assert!(matches!(ring(&folder).look_up(&key, 2), Err(Denied::Used { calls_max: 3 })));
    }

    #[test]
    fn the_file_holds_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let key = ring(&folder).create(&grant(), 1).unwrap();
        let secret = key.reveal();
        for entry in folder.path().read_dir().unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            assert!(!bytes.windows(secret.len() - 20).any(|window| window == &secret.as_bytes()[20..]));
        }
    }
}
