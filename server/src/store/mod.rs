//! What a service keeps: the records of its authorities, and the events that its ledgers have still to write.
//!
//! The trait is narrow, so that another store can take the place of the embedded one: load everything, commit a batch
//! at a revision. A record is a key and a text; only the journal knows what is in it.

mod sqlite;

pub use sqlite::Sqlite;
pub(crate) use sqlite::{database, open_beside, signed, unsigned};

use std::fmt;

/// How often a store was changed. A commit names the revision it was made for, so that of two writers one is told that
/// it has lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision(pub u64);

/// One record that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The name of the workspace it belongs to.
    pub workspace: String,
    /// Its key within the workspace.
    pub key: String,
    /// What it says; `None` removes it.
    pub value: Option<String>,
}

/// One event that a ledger has still to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The workspace whose ledger it is for.
    pub workspace: String,
    /// Its number within the ledger of the workspace: one more than that of the event before.
    pub number: u64,
    /// The event, as canonical JSON.
    pub body: String,
}

/// What is made durable together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The records that changed; of a key named twice the last one stands.
    pub changes: Vec<Change>,
    /// The events that happened, in order.
    pub outgoing: Vec<Outgoing>,
}

impl Batch {
    /// There is nothing to make durable.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.outgoing.is_empty()
    }
}

/// All that is in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// At which revision.
    pub revision: Revision,
    /// Every record, sorted by workspace and key.
    pub records: Vec<Record>,
    /// The highest number of an event of each workspace that has one.
    pub numbers: Vec<(String, u64)>,
}

/// A record as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The name of its workspace.
    pub workspace: String,
    /// Its key within the workspace.
    pub key: String,
    /// What it says.
    pub value: String,
}

/// Where a service keeps what must survive it.
pub trait Store: Send {
    /// Reads everything.
    fn load(&mut self) -> Result<Loaded, StoreError>;

    /// Makes a batch durable, whole or not at all, and says the new revision. When it returns, the batch survives a
    /// loss of power. An error leaves open whether the batch is in the store: the caller loads again.
    fn commit(&mut self, at: Revision, batch: &Batch) -> Result<Revision, StoreError>;
}

/// A store did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another writer has changed the store since the revision that was named.
    #[error("the store was changed by another writer: it is at revision {found:?}, expected {expected:?}")]
    Lost {
        /// The revision that the caller knew.
        expected: Revision,
        /// The one that the store is at.
        found: Revision,
    },
    /// What the store holds was not written by this version of the service.
    #[error("{what}: expected {expected}")]
    Unreadable {
        /// What was read.
        what: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Another service has the store.
    #[error("another service uses {0}")]
    InUse(String),
    /// The database failed: it is full, locked, or broken.
    #[error("{doing}: {source}")]
    Database {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: rusqlite::Error,
    },
    /// A file of the store could not be reached.
    #[error("{doing} {path}: {source}")]
    File {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
