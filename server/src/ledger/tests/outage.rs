//! The disk of ledgers fails for a while: nothing is lost, the ledger is whole, and says when nothing could be written.

use super::disk::{EIO, ENOSPC, Fault};
use super::{Bench, NOW_MS, drain};
use crate::ledger::Trouble;
use crate::ledger::line::Line;
use serde_json::json;

const LATER_MS: u64 = NOW_MS + 5_000;

fn kinds(bench: &Bench) -> Vec<(String, u64)> {
    bench.lines()
}

fn named(lines: &[(&str, u64)]) -> Vec<(String, u64)> {
    lines.iter().map(|(kind, number)| ((*kind).to_string(), *number)).collect()
}

const LEASE: &str = "coordination.lease";

#[test]
fn every_step_can_fail_in_every_way_and_the_ledger_goes_on_where_it_was() {
    for fault in [Fault::Error(ENOSPC), Fault::Error(EIO), Fault::Short(ENOSPC), Fault::Short(EIO)] {
        // The steps of a writer that has the file open already: look, take, stands, append, sync, forget.
        for step in 0..6 {
            let mut bench = Bench::new();
            let mut writer = bench.writer();
            bench.commit(2);
            drain(&mut writer).unwrap();
            bench.commit(1);
            let begin = bench.disk.steps();
            bench.disk.fail(begin + step..u64::MAX, fault);
            for _ in 0..3 {
                assert!(drain(&mut writer).is_err(), "{fault:?} at {step}");
            }
            bench.commit(1);
            bench.disk.restart(None);
            writer.drain(|| LATER_MS).unwrap();
            let events: Vec<u64> =
                kinds(&bench).into_iter().filter(|(kind, _)| kind == LEASE).map(|(_, number)| number).collect();
            assert_eq!(events, [1, 2, 3, 4], "{fault:?} at {step}");
            assert_eq!(bench.verified().missing, 0);
            // What fails in the store alone is no outage of the ledger.
            let outages = u64::from((2..5).contains(&step));
            assert_eq!(bench.verified().outages, outages, "{fault:?} at {step}");
            assert_eq!(bench.pending(), 0);
        }
    }
}

#[test]
fn an_outage_is_marked_before_the_events_that_had_to_wait() {
    let mut bench = Bench::new();
    let mut writer = bench.writer();
    bench.commit(1);
    drain(&mut writer).unwrap();
    bench.commit(1);
    bench.disk.fail(bench.disk.steps() + 3..u64::MAX, Fault::Error(ENOSPC));
    let failed = drain(&mut writer).unwrap_err();
    assert!(matches!(&failed, Trouble::Io { doing: "append to", source } if source.raw_os_error() == Some(ENOSPC)));
    bench.disk.restart(None);
    writer.drain(|| LATER_MS).unwrap();
    assert_eq!(kinds(&bench), named(&[("ledger", 0), (LEASE, 1), ("outage", 1), (LEASE, 2)]));
    let Line { at_ms, body, .. } = bench.line("outage");
    assert_eq!((at_ms, body), (LATER_MS, json!({"fromMs": NOW_MS, "toMs": LATER_MS})));
    // It is told once.
    bench.commit(1);
    drain(&mut writer).unwrap();
    assert_eq!(bench.verified().outages, 1);
}

#[test]
fn half_a_line_is_cut_off_before_writing_goes_on() {
    let mut bench = Bench::new();
    let mut writer = bench.writer();
    bench.commit(1);
    drain(&mut writer).unwrap();
    let whole = bench.disk.bytes("w");
    bench.commit(1);
    bench.disk.fail(bench.disk.steps() + 3..u64::MAX, Fault::Short(ENOSPC));
    assert!(drain(&mut writer).is_err());
    assert!(bench.disk.bytes("w").len() > whole.len());
    bench.disk.restart(None);
    drain(&mut writer).unwrap();
    assert!(bench.disk.bytes("w").starts_with(&whole));
    assert_eq!(bench.verified().last, 2);
}

#[test]
fn what_was_written_but_failed_to_sync_is_written_anew() {
    let mut bench = Bench::new();
    let mut writer = bench.writer();
    bench.commit(1);
    bench.disk.fail(5..u64::MAX, Fault::Error(EIO));
    assert!(matches!(drain(&mut writer).unwrap_err(), Trouble::Io { doing: "sync", .. }));
    bench.disk.restart(None);
    drain(&mut writer).unwrap();
    // The power is lost: what was synced is whole.
    drop(writer);
    bench.disk.restart(Some(0));
    assert_eq!(kinds(&bench), named(&[("ledger", 0), ("outage", 0), (LEASE, 1)]));
    let made = bench.disk.0.lock().unwrap().made.clone();
    assert_eq!(made.iter().filter(|step| **step == "truncate").count(), 1, "{made:?}");
}

#[test]
fn events_that_were_dropped_are_a_gap_and_never_a_silent_one() {
    let mut bench = Bench::new();
    let mut writer = bench.writer();
    bench.commit(2);
    drain(&mut writer).unwrap();
    bench.commit(5);
    bench.drop_up_to(5);
    drain(&mut writer).unwrap();
    assert_eq!(kinds(&bench), named(&[("ledger", 0), (LEASE, 1), (LEASE, 2), ("gap", 5), (LEASE, 6), (LEASE, 7)]));
    assert_eq!(bench.line("gap").body, json!({"from": 3, "reason": "dropped", "to": 5}));
    let verified = bench.verified();
    assert_eq!((verified.gaps, verified.missing), (vec![(3, 5)], 3));
}

#[test]
fn a_folder_that_vanished_is_an_outage_and_a_new_ledger_says_what_it_lacks() {
    let mut bench = Bench::new();
    let mut writer = bench.writer();
    bench.commit(2);
    drain(&mut writer).unwrap();
    bench.disk.set_gone(true);
    bench.commit(1);
    assert!(matches!(drain(&mut writer).unwrap_err(), Trouble::Io { doing: "open", .. }));
    assert_eq!(bench.pending(), 1);
    bench.disk.set_gone(false);
    drain(&mut writer).unwrap();
    assert_eq!(kinds(&bench), named(&[("ledger", 0), ("outage", 0), ("gap", 2), (LEASE, 3)]));
}

#[test]
fn one_workspace_that_fails_holds_up_no_other() {
    use crate::store::{Batch, Outgoing, Store as _};
    let mut bench = Bench::new();
    bench.disk.set_bytes("w", b"no ledger\n".to_vec());
    bench.commit(1);
    let body = super::event(1).to_text().unwrap();
    let outgoing = vec![Outgoing { workspace: "x".into(), number: 1, body }];
    bench.store.commit(bench.revision, &Batch { changes: vec![], outgoing }).unwrap();
    assert!(matches!(drain(&mut bench.writer()).unwrap_err(), Trouble::Broken(_)));
    assert_eq!(bench.disk.bytes("w"), b"no ledger\n");
    assert_eq!(crate::ledger::verify(&bench.disk.bytes("x")[..]).unwrap().last, 1);
    assert_eq!(bench.pending(), 1);
}

#[test]
fn an_event_that_cannot_be_read_is_a_gap_and_holds_up_no_other() {
    use crate::store::{Batch, Outgoing, Store as _};
    let mut bench = Bench::new();
    let outgoing = vec![Outgoing { workspace: "w".into(), number: 1, body: "no event".into() }];
    bench.revision = bench.store.commit(bench.revision, &Batch { changes: vec![], outgoing }).unwrap();
    bench.committed = 1;
    bench.commit(1);
    // The run ends before the outbox forgets them; the next one takes the gap for what it is.
    bench.disk.fail(6..u64::MAX, Fault::Kill);
    assert!(drain(&mut bench.writer()).is_err());
    bench.disk.restart(None);
    drain(&mut bench.writer()).unwrap();
    assert_eq!(kinds(&bench), named(&[("ledger", 0), ("gap", 1), (LEASE, 2)]));
    assert_eq!(bench.line("gap").body, json!({"from": 1, "reason": "unreadable", "to": 1}));
    assert_eq!(bench.pending(), 0);
}

#[test]
fn a_ledger_of_another_history_is_not_added_to() {
    let mut other = Bench::new();
    other.commit(3);
    drain(&mut other.writer()).unwrap();
    let mut bench = Bench::new();
    let mut bytes = other.disk.bytes("w");
    // An older copy of the store has given the number 2 to another event.
    bench.disk.set_bytes("w", bytes.clone());
    bench.commit(1);
    bench.drop_up_to(1);
    let body = super::event(9).to_text().unwrap();
    let outgoing = vec![crate::store::Outgoing { workspace: "w".into(), number: 2, body }];
    let batch = crate::store::Batch { changes: vec![], outgoing };
    crate::store::Store::commit(&mut bench.store, bench.revision, &batch).unwrap();
    assert!(matches!(drain(&mut bench.writer()).unwrap_err(), Trouble::Diverged { number: 2 }));
    assert_eq!(bench.disk.bytes("w"), bytes);
    // A whole line at the end that is not right is no crash, and is not cut off.
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    bench.disk.set_bytes("w", bytes.clone());
    assert!(matches!(drain(&mut bench.writer()).unwrap_err(), Trouble::Broken(_)));
    assert_eq!(bench.disk.bytes("w"), bytes);
}

#[test]
fn the_ledger_of_another_workspace_is_not_added_to() {
    let mut bench = Bench::new();
    bench.commit(1);
    drain(&mut bench.writer()).unwrap();
    let bytes = bench.disk.bytes("w");
    let renamed = String::from_utf8(bytes.clone()).unwrap();
    assert!(renamed.contains(r#"{"workspace":"w"}"#));
    let outgoing =
        vec![crate::store::Outgoing { workspace: "x".into(), number: 2, body: super::event(2).to_text().unwrap() }];
    let batch = crate::store::Batch { changes: vec![], outgoing };
    crate::store::Store::commit(&mut bench.store, bench.revision, &batch).unwrap();
    bench.disk.set_bytes("x", bytes.clone());
    let refused = drain(&mut bench.writer()).unwrap_err().to_string();
    assert!(refused.ends_with(r#"it is the ledger of Some("w"): expected that of "x""#), "{refused}");
    assert_eq!(bench.disk.bytes("x"), bytes);
}
