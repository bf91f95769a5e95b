//! Writer leases: a pair of acquire and release, and `leasebook run` as a whole, each beside what it is compared with.

mod bare;
mod peers;
mod whole;

use crate::measure::{self, Sides};
use crate::report::{Peer, Row};
use anyhow::{Context, Result, ensure};
use leasebook_files::{Acquisition, WriterLeaseStore};
use leasebook_wasmtime::writer;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The name of the marker directory.
const MARKERS: &str = ".writers";

/// What the run is given beside its own code.
pub struct Given {
    /// The `leasebook` command, built as it is shipped.
    pub command: PathBuf,
    /// The folder in which the packages of the peers are.
    pub peers: PathBuf,
}

/// How much work a run takes on.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Pairs of acquire and release on each side.
    pub pairs: usize,
    /// Whole processes on each side.
    pub processes: usize,
}

impl Effort {
    pub const WHOLE: Self = Self { pairs: 20_000, processes: 300 };
    pub const QUICK: Self = Self { pairs: 100, processes: 3 };
}

/// Measures all rows.
pub fn measure(effort: Effort, given: &Given, add: &mut dyn FnMut(Row)) -> Result<()> {
    let folder = folder()?;
    let archive = folder.path().join("archive");
    fs::create_dir(&archive)?;
    let component = writer::WriterLeaseStore::builder(MARKERS).build()?;
    let native = WriterLeaseStore::new(MARKERS)?;
    let path = archive.to_str().context("the folder of build results has a name in UTF-8")?;
    let through_component = || {
        let acquired = component.acquire(path, None).expect("the archive is there");
        let writer::Acquisition::Acquired(lease) = acquired else { panic!("nobody else is there") };
        lease.release().expect("it is held");
    };
    let natively = || {
        let Acquisition::Acquired(lease) = native.acquire(path, None).expect("the archive is there") else {
            panic!("nobody else is there")
        };
        lease.release().expect("it is held");
    };

    // Leases first, so that the marker directory is there for both, as it is after the first of all.
    through_component();
    let mut bare = bare::Bare::new(&archive)?;
    let calls = "the system calls that it must make, bare";
    let Sides { ours, peer } = in_turns(effort.pairs, through_component, || bare.pair());
    add(Row::nanos("acquire + release through the component".into(), ours, Peer::new(calls, peer), Some(1.5)));
    let Sides { ours, peer } = in_turns(effort.pairs, natively, || bare.pair());
    add(Row::nanos("acquire + release, natively".into(), ours, Peer::new(calls, peer), None));

    for (peer, name) in [
        (peers::proper_lockfile(given, folder.path())?, "proper-lockfile, lockSync + unlock (Node)"),
        (peers::soft_file_lock(given, folder.path())?, "filelock, SoftFileLock (Python)"),
    ] {
        let sides = peers::in_turns(effort.pairs / 5, through_component, peer)?;
        let what = "acquire + release through the component".into();
        add(Row::nanos(what, sides.ours, Peer::new(name, sides.peer), Some(1.0 / 3.0)));
    }
    ensure!(fs::read_dir(archive.join(MARKERS))?.next().is_none(), "a marker was left");
    whole::measure(effort.processes, given, folder.path(), add)
}

/// Both sides in turn, in processor time.
fn in_turns(pairs: usize, ours: impl Fn(), mut peer: impl FnMut()) -> Sides {
    measure::in_turns(pairs / 10, 10, |turn| turn.for_each(|_| ours()), |turn| turn.for_each(|_| peer()))
}

/// A folder on the file system of the build results.
pub fn folder() -> Result<TempDir> {
    let bench = crate::run::target_dir().join("bench");
    fs::create_dir_all(&bench)?;
    let bench = bench.canonicalize()?;
    tempfile::tempdir_in(&bench).with_context(|| format!("make a folder in {}", bench.display()))
}

/// A script of the peers.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}
