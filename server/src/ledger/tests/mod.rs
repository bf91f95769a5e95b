//! Ledgers under faults: the store is a real one, the disk of the ledgers is in memory and fails at any step.

mod crash;
mod disk;
mod outage;
mod running;
mod whole;

use super::line::{Event, Line};
use super::outbox::{Outbox as _, StoredOutbox};
use super::verify::{Verified, verify, walk};
use super::writer::{Trouble, Writer};
use crate::store::{Batch, Outgoing, Revision, Sqlite, Store as _};
use disk::{Disk, StepOutbox};
use serde_json::json;
use std::path::PathBuf;

/// The one moment at which everything happens, unless a test says another.
const NOW_MS: u64 = 1_000_000;

/// A store with events for the workspace `w`, and the disk of its ledgers.
struct Bench {
    _folder: tempfile::TempDir,
    path: PathBuf,
    store: Sqlite,
    revision: Revision,
    committed: u64,
    disk: Disk,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("book.sqlite");
        let store = Sqlite::open(&path).unwrap();
        Self { _folder: folder, path, store, revision: Revision(0), committed: 0, disk: Disk::default() }
    }

    /// The driver grants: that many events wait from now on.
    fn commit(&mut self, count: u64) {
        let numbers = self.committed + 1..=self.committed + count;
        let outgoing =
            numbers.map(|number| Outgoing { workspace: "w".into(), number, body: event(number).to_text().unwrap() });
        let batch = Batch { changes: vec![], outgoing: outgoing.collect() };
        self.revision = self.store.commit(self.revision, &batch).unwrap();
        self.committed += count;
    }

    /// The writer of a process.
    fn writer(&self) -> Writer<StepOutbox, Disk> {
        let outbox = StepOutbox { outbox: StoredOutbox::open(&self.path).unwrap(), disk: self.disk.clone() };
        Writer::new(outbox, self.disk.clone())
    }

    /// Events are dropped as if more had come than the outbox holds.
    fn drop_up_to(&self, number: u64) {
        StoredOutbox::open(&self.path).unwrap().forget("w", number).unwrap();
    }

    fn pending(&self) -> u64 {
        StoredOutbox::open(&self.path).unwrap().count().unwrap()
    }

    fn verified(&self) -> Verified {
        verify(&self.disk.bytes("w")[..]).unwrap()
    }

    /// Every line, as its kind and number.
    fn lines(&self) -> Vec<(String, u64)> {
        let mut lines = Vec::new();
        walk(&self.disk.bytes("w")[..], |line| lines.push((line.kind.clone(), line.number))).unwrap();
        lines
    }

    fn line(&self, kind: &str) -> Line {
        let mut found = None;
        walk(&self.disk.bytes("w")[..], |line| found = found.take().or((line.kind == kind).then(|| line.clone())))
            .unwrap();
        found.unwrap()
    }
}

fn event(number: u64) -> Event {
    let body = json!({"leaseId": number, "resources": ["lock:deploy/production"]});
    Event { kind: "coordination.lease".into(), at_ms: 500_000 + number, body }
}

fn drain(writer: &mut Writer<StepOutbox, Disk>) -> Result<(), Trouble> {
    writer.drain(|| NOW_MS)
}
