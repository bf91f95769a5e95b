//! Writer leases by marker files, on an in-memory file system: one behaviour a module.

mod busy;
mod cancelled;
mod crashes;
mod facts;
mod faults;
mod interleavings;
mod left_over;
mod legacy;
mod misused;
mod named;
mod recovery;
mod release;
mod runtimes;
mod sizes;
mod strangers;
mod vanishing;

use leasebook::marker::{
    Acquire, Acquisition, Effect, Failure, Inspect, Layout, MarkerRecord, Outcome, Owned, Recover, Recovery,
};
use leasebook_tests::markers::{DIRECTORY, MarkerFiles, Process, run};

/// The process that a test is about.
const PID: u32 = 7;
/// One that is alive beside it.
const OTHER: u32 = 8;
/// One that is not.
const DEAD: u32 = 66;

/// One that inspects and recovers.
const LOOKING: u32 = 100;

fn layout(legacy: &[&str]) -> Layout {
    Layout::new(DIRECTORY, legacy).expect("a layout")
}

/// Nothing comes between.
fn undisturbed(_: usize, _: &Effect, _: &mut Process, _: &mut MarkerFiles) -> Option<Outcome> {
    None
}

fn acquire(files: &mut MarkerFiles, process: &mut Process) -> Result<Acquisition, Failure> {
    run(&mut Acquire::new(&layout(&[]), Vec::new()), process, files, undisturbed)
}

fn acquired(files: &mut MarkerFiles, process: &mut Process) -> Owned {
    match acquire(files, process) {
        Ok(Acquisition::Acquired(owned)) => owned,
        other => panic!("{other:?}"),
    }
}

fn inspect(files: &mut MarkerFiles) -> Vec<MarkerRecord> {
    let mut process = Process::start(files, LOOKING);
    run(&mut Inspect::new(), &mut process, files, undisturbed).expect("inspection does not fail").records
}

fn recover(files: &mut MarkerFiles, apply: bool) -> Recovery {
    let mut process = Process::start(files, LOOKING);
    run(&mut Recover::new(apply, Vec::new()), &mut process, files, undisturbed).expect("recovery does not fail")
}

/// Names and states, as a list to compare.
fn states(records: &[MarkerRecord]) -> Vec<(&str, &str)> {
    records.iter().map(|record| (&*record.name, record.state.name())).collect()
}
