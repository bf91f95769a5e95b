//! The keys that sign: kept in the store, made at the first start, followed by others when they are rotated.

use super::jwk::{Jwks, thumbprint};
use super::{Outcome, jws};
use crate::canonical::{self, NotCanonical};
use crate::store::{StoreError, database, open_beside, signed};
use ed25519_dalek::SigningKey;
use rusqlite::{Connection, TransactionBehavior, params};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// Why the keys cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The system gave no randomness.
    #[error("draw a key: {0}")]
    Draw(std::io::Error),
}

/// The keys of one store. A key that was followed by another signs nothing more, and verifies on.
#[derive(Debug)]
pub struct SigningKeys {
    connection: Mutex<Connection>,
    known: RwLock<Arc<Known>>,
}

#[derive(Debug)]
struct Known {
    id: String,
    key: SigningKey,
    jwks: Jwks,
}

impl SigningKeys {
    /// Opens the keys of a store, and makes the first one where there is none.
    pub fn open(path: &Path, now_ms: u64) -> Result<Self, SigningError> {
        let mut connection = open_beside(path)?;
        let known = match read(&connection)? {
            Some(known) => known,
            None => add(&mut connection, now_ms, false)?,
        };
        Ok(Self { connection: Mutex::new(connection), known: RwLock::new(Arc::new(known)) })
    }

    /// Signs a receipt with the present key.
    pub fn sign(&self, outcome: &Outcome) -> Result<String, NotCanonical> {
        let known = self.known();
        jws(&known.key, &known.id, &canonical::to_text(outcome)?)
    }

    /// The id of the key that signs.
    pub fn id(&self) -> String {
        self.known().id.clone()
    }

    /// The public parts of all keys, those that sign no more included.
    pub fn jwks(&self) -> Jwks {
        self.known().jwks.clone()
    }

    /// Makes a new key, which signs from now on, and says its id.
    pub fn rotate(&self, now_ms: u64) -> Result<String, SigningError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let known = add(&mut connection, now_ms, true)?;
        let id = known.id.clone();
        self.set(known);
        Ok(id)
    }

    /// Looks whether another process has made a new key. A service does so from time to time, and before it shows its
    /// keys.
    pub fn refresh(&self) -> Result<(), SigningError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read(&connection)? {
            self.set(known);
        }
        Ok(())
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, known: Known) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
    }
}

/// Adds a key. `follow`: it takes the place of the present one; otherwise it is only made where there is none.
fn add(connection: &mut Connection, now_ms: u64, follow: bool) -> Result<Known, SigningError> {
    let doing = "make a signing key";
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| SigningError::Draw(error.into()))?;
    let key = SigningKey::from_bytes(&seed);
    let id = thumbprint(&key.verifying_key());
    // At once, so that of two processes that start together one finds the key of the other.
    let writing = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(database(doing))?;
    if !follow && let Some(known) = read(&writing)? {
        return Ok(known);
    }
    writing
        .execute("UPDATE signing SET retired_ms = ?1 WHERE retired_ms IS NULL", [signed(now_ms)])
        .and_then(|_| {
            writing.execute("INSERT INTO signing VALUES (?1, ?2, ?3, NULL)", params![id, seed, signed(now_ms)])
        })
        .map_err(database(doing))?;
    let known = read(&writing)?;
    writing.commit().map_err(database(doing))?;
    known.ok_or_else(|| unreadable("no signing key that is not retired").into())
}

/// The keys as they stand. `None`: there is none that signs.
fn read(connection: &Connection) -> Result<Option<Known>, StoreError> {
    let doing = "read the signing keys";
    let mut select =
        connection.prepare_cached("SELECT id, seed, retired_ms IS NULL FROM signing").map_err(database(doing))?;
    let mut rows = select.query([]).map_err(database(doing))?;
    let (mut jwks, mut present) = (Jwks::default(), None);
    while let Some(row) = rows.next().map_err(database(doing))? {
        let id: String = row.get(0).map_err(database(doing))?;
        let seed: [u8; 32] = row.get(1).map_err(database(doing))?;
        let key = SigningKey::from_bytes(&seed);
        if thumbprint(&key.verifying_key()) != id {
            return Err(unreadable("a signing key whose id is another one's"));
        }
        jwks.insert(key.verifying_key());
        if row.get(2).map_err(database(doing))? && present.replace((id, key)).is_some() {
            return Err(unreadable("two signing keys that are not retired"));
        }
    }
    Ok(present.map(|(id, key)| Known { id, key, jwks }))
}

fn unreadable(what: &str) -> StoreError {
    StoreError::Unreadable { what: what.into(), expected: "one key that signs, each with its thumbprint as id" }
}
