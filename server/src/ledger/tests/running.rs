//! The thread, on real files: it writes what it is told of, tries again by itself, and says how it is.

use super::disk::{ENOSPC, Fault};
use super::{Bench, NOW_MS};
use crate::clock::Clock;
use crate::ledger::{Folder, Ledger, verify_file};
use leasebook::Millis;
use std::time::Duration;

/// Long enough for any machine; nothing waits for it unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

struct Still;

impl Clock for Still {
    fn now(&self) -> Millis {
        Millis::new(NOW_MS)
    }
}

#[test]
fn what_waits_from_a_former_run_is_written_and_then_what_comes() {
    let mut bench = Bench::new();
    bench.commit(300);
    let folder = tempfile::tempdir().unwrap();
    let files = Folder::create(&folder.path().join("ledgers")).unwrap();
    let path = files.path_of("w");
    let ledger = Ledger::start(&bench.path, files.clone(), Still).unwrap();
    assert!(ledger.flush(PATIENCE).unwrap().is_ok());
    assert_eq!(verify_file(&path).unwrap().last, 300);
    bench.commit(1);
    ledger.notify();
    assert!(ledger.stop(PATIENCE).unwrap().is_ok());
    assert_eq!(verify_file(&path).unwrap().last, 301);
    let again = Ledger::start(&bench.path, files, Still).unwrap();
    bench.commit(1);
    assert!(again.stop(PATIENCE).unwrap().is_ok());
    let verified = verify_file(&path).unwrap();
    assert_eq!((verified.lines, verified.last, verified.missing), (303, 302, 0));
}

#[test]
fn an_outage_shows_in_its_health_and_ends_by_itself() {
    let mut bench = Bench::new();
    bench.commit(2);
    bench.disk.fail(0..u64::MAX, Fault::Error(ENOSPC));
    let ledger = Ledger::start_with(bench.writer(), Still).unwrap();
    let health = ledger.flush(PATIENCE).unwrap();
    assert!(!health.is_ok());
    assert_eq!((health.since_ms, health.pending, health.outages), (Some(NOW_MS), 2, 1));
    assert!(health.error.unwrap().contains("No space left"));
    // Leases go on: a commit does not know of it. Nobody tells the thread that the disk is well again.
    bench.commit(1);
    ledger.notify();
    bench.disk.restart(None);
    while !ledger.health().is_ok() {
        std::thread::yield_now();
    }
    assert_eq!(ledger.health().since_ms, None);
    drop(ledger);
    assert_eq!(bench.verified().last, 3);
    assert_eq!(bench.pending(), 0);
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_taken_away_stops_the_ledger_and_nothing_else() {
    let mut bench = Bench::new();
    bench.commit(1);
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("ledgers");
    let files = Folder::create(&place).unwrap();
    let path = files.path_of("w");
    let ledger = Ledger::start(&bench.path, files, Still).unwrap();
    assert!(ledger.flush(PATIENCE).unwrap().is_ok());
    let away = folder.path().join("away");
    std::fs::rename(&place, &away).unwrap();
    bench.commit(1);
    let health = ledger.flush(PATIENCE).unwrap();
    assert_eq!((health.is_ok(), health.pending), (false, 1));
    std::fs::rename(&away, &place).unwrap();
    assert!(ledger.flush(PATIENCE).unwrap().is_ok());
    let verified = verify_file(&path).unwrap();
    assert_eq!((verified.last, verified.missing, verified.outages), (2, 0, 1));
}

#[test]
fn a_disk_that_hangs_does_not_hold_up_who_tells_of_events() {
    let bench = Bench::new();
    let disk = bench.disk.clone();
    let hung = disk.0.lock().unwrap();
    let ledger = Ledger::start_with(bench.writer(), Still).unwrap();
    for _ in 0..10_000 {
        ledger.notify();
    }
    assert_eq!(ledger.flush(Duration::ZERO), None);
    assert!(ledger.health().is_ok());
    drop(hung);
    assert!(ledger.flush(PATIENCE).is_some());
}
