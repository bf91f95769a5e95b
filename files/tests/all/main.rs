//! Writer leases on real files and between real processes, one behaviour a module.
#![cfg(unix)]

mod child;
mod needs;
mod watched;

mod abandoned;
mod cancelled;
mod constructed;
mod contention;
mod crowd;
mod dies;
mod exhausted;
mod half_made;
mod killed_anywhere;
mod legacy;
mod many;
mod moved;
mod names;
mod namespace;
mod odd_files;
mod permission;
mod rechecked;
mod released;
mod scope;

use leasebook_files::{Acquisition, WriterLease, WriterLeaseStore, identity};
use std::fs;
use std::path::Path;

/// The marker directory of all tests.
const MARKERS: &str = ".writers";

/// A process id that no process has: above what Linux gives out.
const NOBODY: u32 = (1 << 31) - 2;

/// Is the long form asked for?
fn soak() -> bool {
    std::env::var_os("LEASEBOOK_SOAK").is_some_and(|value| value != "0")
}

fn store() -> WriterLeaseStore {
    WriterLeaseStore::new(MARKERS).unwrap()
}

fn acquired(result: Acquisition) -> WriterLease {
    match result {
        Acquisition::Acquired(lease) => lease,
        other => panic!("not acquired: {other:?}"),
    }
}

/// The process ids of the owners in the way; 0 where a marker is not recognized.
fn busy(result: Acquisition) -> Vec<u32> {
    match result {
        Acquisition::Busy { owners } => owners.iter().map(|it| it.owner.as_ref().map_or(0, |o| o.pid())).collect(),
        other => panic!("not busy: {other:?}"),
    }
}

/// The name of a marker made of one digit.
fn name(digit: char) -> String {
    format!("{}.json", nonce(digit))
}

fn nonce(digit: char) -> String {
    digit.to_string().repeat(32)
}

/// An owner record as any program may write it.
fn record(pid: u32, host: &str, nonce: &str) -> String {
    format!("{}\n", serde_json::json!({"version": 1, "pid": pid, "host": host, "nonce": nonce}))
}

/// Puts a marker of this host there, and answers its name.
fn put(root: &Path, digit: char, pid: u32) -> String {
    put_of(root, digit, pid, &identity().unwrap())
}

fn put_of(root: &Path, digit: char, pid: u32, host: &str) -> String {
    fs::create_dir_all(root.join(MARKERS)).unwrap();
    fs::write(root.join(MARKERS).join(name(digit)), record(pid, host, &nonce(digit))).unwrap();
    name(digit)
}

/// Everything below a directory, sorted; the marker directory with its contents.
fn everything(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name == MARKERS && root.join(&name).symlink_metadata().unwrap().is_dir() {
            let inside = fs::read_dir(root.join(&name)).unwrap();
            found.extend(inside.map(|entry| format!("{MARKERS}/{}", entry.unwrap().file_name().display())));
        }
        found.push(name);
    }
    found.sort();
    found
}
