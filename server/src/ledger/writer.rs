//! The writer of ledgers, without its thread: it moves what waits into the files, as far as they let it.
//!
//! Each step leaves files and outbox so that the process may end after it, and the next run goes on: lines are appended,
//! then synced, then forgotten in the outbox. What fails is said, and tried again the next time.

use super::files::{Files, LedgerFile};
use super::line::{Event, KIND_GAP, KIND_LEDGER, KIND_OUTAGE, Line};
use super::outbox::{Outbox, Waiting};
use super::place::{End, find};
use crate::canonical::NotCanonical;
use crate::store::StoreError;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

/// How many ledgers are open at once; of more workspaces, all are closed, and opened again when they are written to.
const OPEN_MAX: usize = 64;

/// Why a ledger could not be written.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The file failed: the disk is full, or broken, or not there.
    #[error("{doing} the ledger: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The file is not as it was written. Nothing is added to it.
    #[error("the ledger is broken: {0}")]
    Broken(String),
    /// The file has another event at the place of one that waits, as after a store was brought back from a copy.
    /// Nothing is added to it: it must be moved away first.
    #[error("the ledger has another event with the number {number}: expected the one that the store has for it")]
    Diverged {
        /// The number of the event.
        number: u64,
    },
    /// The outbox cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A number is too large for a line.
    #[error("write a line: {0}")]
    Line(#[from] NotCanonical),
}

impl Trouble {
    pub(super) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { doing, source }
    }
}

/// What the writer knows of the ledger of one workspace.
struct Room<T> {
    open: Option<Open<T>>,
    /// Since when it cannot be written.
    out_since_ms: Option<u64>,
}

/// An open ledger.
struct Open<T> {
    file: T,
    /// The end of what is synced.
    end: End,
    /// Something behind the end failed while it was written, or synced. It is cut off before anything else is written,
    /// even where whole lines of it are there: after a failed sync, what can be read back may not be on the disk.
    failed: bool,
    /// It was found so by this process, which cannot know whether all of it is on the disk. It is synced before an
    /// event is taken for written that was there already.
    found: bool,
}

/// The writer of all ledgers.
pub(super) struct Writer<O, F: Files> {
    outbox: O,
    files: F,
    rooms: BTreeMap<String, Room<F::File>>,
}

impl<O: Outbox, F: Files> Writer<O, F> {
    pub(super) fn new(outbox: O, files: F) -> Self {
        Self { outbox, files, rooms: BTreeMap::new() }
    }

    /// Writes all that waits. A workspace whose ledger fails holds up no other one; the first failure is returned.
    pub(super) fn drain(&mut self, now: impl Fn() -> u64) -> Result<(), Trouble> {
        let mut failed = None;
        let mut after = None;
        loop {
            let workspace = match self.outbox.workspace_after(after.as_deref()) {
                Ok(Some(workspace)) => workspace,
                Ok(None) => break,
                Err(error) => return Err(failed.unwrap_or(error.into())),
            };
            if let Err(trouble) = self.drain_one(&workspace, &now) {
                tracing::warn!(workspace, error = %trouble, "the ledger cannot be written");
                failed.get_or_insert(trouble);
            }
            let whole = |room: &Room<F::File>| room.open.as_ref().is_some_and(|open| !open.failed);
            if self.rooms.values().filter(|room| whole(room)).count() > OPEN_MAX {
                self.rooms.values_mut().filter(|room| whole(room)).for_each(|room| room.open = None);
            }
            after = Some(workspace);
        }
        failed.map_or(Ok(()), Err)
    }

    /// How many events wait.
    pub(super) fn pending(&mut self) -> Result<u64, StoreError> {
        self.outbox.count()
    }

    fn drain_one(&mut self, workspace: &str, now: &impl Fn() -> u64) -> Result<(), Trouble> {
        loop {
            let waiting = self.outbox.take(workspace)?;
            let Some((last, _)) = waiting.last() else { return Ok(()) };
            let room = self.rooms.entry(workspace.to_string()).or_insert(Room { open: None, out_since_ms: None });
            if let Err(trouble) = room.write(&mut self.files, workspace, &waiting, now()) {
                room.out_since_ms.get_or_insert_with(now);
                return Err(trouble);
            }
            self.outbox.forget(workspace, *last)?;
        }
    }
}

impl<T: LedgerFile> Room<T> {
    /// Writes events that wait, and what there is to say before them.
    fn write<F: Files<File = T>>(
        &mut self,
        files: &mut F,
        workspace: &str,
        waiting: &[Waiting],
        now_ms: u64,
    ) -> Result<(), Trouble> {
        // One that does not stand is closed, with its lock, before its name is opened again.
        drop(self.open.take_if(|open| !matches!(open.file.stands(), Ok(true))));
        let open = match &mut self.open {
            Some(open) => open,
            none => {
                let mut file = files.open(workspace).map_err(Trouble::io("open"))?;
                let end = find(&mut file, workspace, waiting)?;
                none.insert(Open { file, end, failed: false, found: true })
            }
        };
        let (text, end) = Lines::from(open.end).all(workspace, self.out_since_ms, waiting, now_ms)?;
        open.write(text.as_bytes(), end)?;
        self.out_since_ms = None;
        Ok(())
    }
}

impl<T: LedgerFile> Open<T> {
    /// Writes lines and syncs them; `end` is that of the ledger with them.
    fn write(&mut self, text: &[u8], end: End) -> Result<(), Trouble> {
        if self.failed {
            self.file.truncate(self.end.length).map_err(Trouble::io("cut incomplete lines off"))?;
        }
        self.failed = !text.is_empty();
        append(&mut self.file, text)?;
        if self.failed || self.found {
            self.file.sync().map_err(Trouble::io("sync"))?;
        }
        self.found = false;
        self.failed = false;
        self.end = end;
        Ok(())
    }
}

fn append(file: &mut impl LedgerFile, mut bytes: &[u8]) -> Result<(), Trouble> {
    while !bytes.is_empty() {
        match file.append(bytes) {
            Ok(0) => return Err(Trouble::io("append to")(io::ErrorKind::WriteZero.into())),
            Ok(taken) => bytes = &bytes[taken..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Trouble::io("append to")(error)),
        }
    }
    Ok(())
}

/// Lines that follow an end.
struct Lines {
    text: String,
    end: End,
}

impl From<End> for Lines {
    fn from(end: End) -> Self {
        Self { text: String::new(), end }
    }
}

impl Lines {
    /// The beginning of a ledger that is new, an outage that is over now, and the events that are not there yet.
    fn all(
        mut self,
        workspace: &str,
        out_since_ms: Option<u64>,
        waiting: &[Waiting],
        now_ms: u64,
    ) -> Result<(String, End), NotCanonical> {
        if self.end == End::default() {
            self.add(0, KIND_LEDGER, now_ms, json!({ "workspace": workspace }))?;
        }
        if let Some(from_ms) = out_since_ms {
            self.add(self.end.number, KIND_OUTAGE, now_ms, json!({"fromMs": from_ms, "toMs": now_ms}))?;
        }
        for (number, text) in waiting {
            if *number <= self.end.number {
                continue;
            }
            self.gap(number - 1, "dropped", now_ms)?;
            match Event::read(text.as_bytes()) {
                Ok(Event { kind, at_ms, body }) => self.add(*number, &kind, at_ms, body)?,
                Err(refused) => {
                    tracing::error!(workspace, number, %refused, "an event cannot be written to the ledger");
                    self.gap(*number, "unreadable", now_ms)?;
                }
            }
        }
        Ok((self.text, self.end))
    }

    /// Says that events up to a number are missing, where any are.
    fn gap(&mut self, to: u64, reason: &str, now_ms: u64) -> Result<(), NotCanonical> {
        let from = self.end.number + 1;
        if from > to {
            return Ok(());
        }
        self.add(to, KIND_GAP, now_ms, json!({"from": from, "reason": reason, "to": to}))
    }

    fn add(&mut self, number: u64, kind: &str, at_ms: u64, body: Value) -> Result<(), NotCanonical> {
        let line = Line { number, kind: kind.into(), at_ms, body, previous: self.end.digest };
        let (text, digest) = line.to_text()?;
        self.text.push_str(&text);
        self.end = End { length: self.end.length + text.len() as u64, number, digest };
        Ok(())
    }
}
