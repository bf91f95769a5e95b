//! A disk in memory that fails when it is told to, and forgets what was not synced; an outbox that ends the process.

use crate::ledger::files::{Files, LedgerFile};
use crate::ledger::outbox::{Outbox, StoredOutbox, Waiting};
use crate::store::StoreError;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

/// What happens at one of the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this error of the system, and does nothing.
    Error(i32),
    /// A write takes half of what it is given; every step from then on fails with this error of the system.
    Short(i32),
    /// The process ends before it.
    Kill,
    /// The process ends in the middle of it.
    KillInside,
}

#[derive(Debug, Default)]
pub struct State {
    files: BTreeMap<String, Content>,
    /// Steps so far.
    pub steps: u64,
    /// From this step on, up to another one, everything fails.
    faults: Option<(std::ops::Range<u64>, Fault)>,
    killed: bool,
    gone: bool,
    /// Steps in the order they were made.
    pub made: Vec<&'static str>,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    /// How much of it is on the disk.
    synced: Vec<u8>,
}

/// The disk; it outlives processes.
#[derive(Clone, Debug, Default)]
pub struct Disk(pub Arc<Mutex<State>>);

/// The error number of a full disk, and that of a broken one.
pub const ENOSPC: i32 = 28;
pub const EIO: i32 = 5;

impl Disk {
    pub fn fail(&self, steps: std::ops::Range<u64>, fault: Fault) {
        self.0.lock().unwrap().faults = Some((steps, fault));
    }

    pub fn steps(&self) -> u64 {
        self.0.lock().unwrap().steps
    }

    pub fn bytes(&self, workspace: &str) -> Vec<u8> {
        self.0.lock().unwrap().files.get(workspace).map(|file| file.bytes.clone()).unwrap_or_default()
    }

    pub fn set_bytes(&self, workspace: &str, bytes: Vec<u8>) {
        let content = Content { synced: bytes.clone(), bytes };
        self.0.lock().unwrap().files.insert(workspace.into(), content);
    }

    /// The folder vanishes with all that is in it, or is there again, empty.
    pub fn set_gone(&self, gone: bool) {
        let mut state = self.0.lock().unwrap();
        state.gone = gone;
        state.files.clear();
    }

    pub fn is_killed(&self) -> bool {
        self.0.lock().unwrap().killed
    }

    /// A new process begins. `lost`: the machine has lost its power, and of what was appended since the last sync, only
    /// this many bytes are on the disk.
    pub fn restart(&self, lost: Option<usize>) {
        let mut state = self.0.lock().unwrap();
        (state.killed, state.faults) = (false, None);
        let Some(kept) = lost else { return };
        for content in state.files.values_mut() {
            let common = content.bytes.iter().zip(&content.synced).take_while(|(a, b)| a == b).count();
            if common == content.synced.len() {
                content.bytes.truncate(common + kept);
            } else {
                content.bytes.clone_from(&content.synced);
            }
        }
    }

    /// One step; `half` does half of it.
    fn step<T>(
        &self,
        what: &'static str,
        work: impl FnOnce(&mut State) -> io::Result<T>,
        half: impl FnOnce(&mut State) -> Option<T>,
    ) -> io::Result<T> {
        let mut state = self.0.lock().unwrap();
        let dead = || io::Error::other("the process has ended");
        if state.killed {
            return Err(dead());
        }
        let step = state.steps;
        state.steps += 1;
        state.made.push(what);
        let fault = state.faults.clone().filter(|(steps, _)| steps.contains(&step));
        match fault {
            None => work(&mut state),
            Some((_, Fault::Error(number))) => Err(io::Error::from_raw_os_error(number)),
            Some((steps, Fault::Short(number))) => {
                let done = if step == steps.start { half(&mut state) } else { None };
                done.ok_or_else(|| io::Error::from_raw_os_error(number))
            }
            Some((_, fault)) => {
                if fault == Fault::KillInside {
                    half(&mut state);
                }
                state.killed = true;
                Err(dead())
            }
        }
    }
}

impl Files for Disk {
    type File = Open;

    fn open(&mut self, workspace: &str) -> io::Result<Open> {
        let make = |state: &mut State| {
            if state.gone {
                return Err(io::ErrorKind::NotFound.into());
            }
            state.files.entry(workspace.into()).or_default();
            Ok(Open { disk: self.clone(), workspace: workspace.into() })
        };
        self.step("open", make, |_| None)
    }
}

#[derive(Debug)]
pub struct Open {
    disk: Disk,
    workspace: String,
}

impl Open {
    fn with<T>(
        &self,
        what: &'static str,
        work: impl FnOnce(&mut Content) -> T,
        half: impl FnOnce(&mut Content) -> Option<T>,
    ) -> io::Result<T> {
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let name = &self.workspace;
        self.disk.step(
            what,
            |state| state.files.get_mut(name).map(work).ok_or_else(missing),
            |state| state.files.get_mut(name).and_then(half),
        )
    }
}

impl LedgerFile for Open {
    fn stands(&mut self) -> io::Result<bool> {
        let there = |state: &mut State| Ok(state.files.contains_key(&self.workspace));
        self.disk.step("stands", there, |_| None)
    }

    fn length(&mut self) -> io::Result<u64> {
        self.with("length", |content| content.bytes.len() as u64, |_| None)
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let read = |content: &mut Content| {
            let rest = content.bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
            let count = rest.len().min(into.len());
            into[..count].copy_from_slice(&rest[..count]);
            count
        };
        self.with("read", read, |_| None)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let take = |content: &mut Content, count: usize| {
            content.bytes.extend_from_slice(&bytes[..count]);
            count
        };
        self.with("append", |content| take(content, bytes.len()), |content| Some(take(content, bytes.len() / 2)))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.with("sync", |content| content.synced.clone_from(&content.bytes), |_| None)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.with("truncate", |content| content.bytes.truncate(usize::try_from(length).unwrap()), |_| None)
    }
}

/// The outbox of a real store, whose steps are steps of the disk, so that the process can end at them.
pub struct StepOutbox {
    pub outbox: StoredOutbox,
    pub disk: Disk,
}

impl StepOutbox {
    fn step(&self, what: &'static str) -> Result<(), StoreError> {
        let failed = |source| StoreError::File { doing: "reach", path: "the store".into(), source };
        self.disk.step(what, |_| Ok(()), |_| None).map_err(failed)
    }
}

impl Outbox for StepOutbox {
    fn workspace_after(&mut self, workspace: Option<&str>) -> Result<Option<String>, StoreError> {
        self.step("look").and_then(|()| self.outbox.workspace_after(workspace))
    }

    fn take(&mut self, workspace: &str) -> Result<Vec<Waiting>, StoreError> {
        self.step("take").and_then(|()| self.outbox.take(workspace))
    }

    fn forget(&mut self, workspace: &str, last: u64) -> Result<(), StoreError> {
        self.step("forget").and_then(|()| self.outbox.forget(workspace, last))
    }

    fn count(&mut self) -> Result<u64, StoreError> {
        self.outbox.count()
    }
}
