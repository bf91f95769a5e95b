//! Whatever the clock says, times stay exact and never run back.

use super::table;
use leasebook_wasmtime::{Mode, Wish};

#[test]
fn a_clock_that_runs_back_counts_as_the_latest_it_said() {
    let (mut table, clock) = table();
    table.acquire("a", &[Wish::exclusive("/a")], Some(100_u64.into())).unwrap().unwrap();
    clock.set(1_050);
    assert_eq!(table.leases().unwrap()[0].held_for_ms, 50);
    clock.set(0);
    let lease = &table.leases().unwrap()[0];
    assert_eq!((lease.held_for_ms, lease.expires_in_ms), (50, 50));
    let later = table.acquire("a", &[Wish::exclusive("/b")], None).unwrap().unwrap();
    assert_eq!(later[0].acquired_at_ms, 1_050);
}

#[test]
fn a_clock_at_its_end_leaves_times_exact() {
    let (mut table, clock) = table();
    table.acquire("a", &[Wish::exclusive("/a")], None).unwrap().unwrap();
    clock.set(u64::MAX);
    assert!(table.leases().unwrap().is_empty());
    let latest = (1 << 53) - 1 - 86_400_000;
    let lease = table.acquire("a", &[Wish::exclusive("/a")], Some(86_400_000_u64.into())).unwrap().unwrap().remove(0);
    assert_eq!((lease.acquired_at_ms, lease.expires_at_ms, lease.expires_in_ms), (latest, (1 << 53) - 1, 86_400_000));
    assert!(table.pin("a", &["/a"], Mode::Exclusive, Some(u64::MAX)).unwrap().is_ok());
    clock.set(3);
    assert_eq!(table.leases().unwrap()[0].held_for_ms, 0);
}

#[test]
fn a_lease_is_over_at_the_moment_it_expires() {
    let (mut table, clock) = table();
    table.acquire("a", &[Wish::exclusive("/a")], Some(100_u64.into())).unwrap().unwrap();
    clock.set(1_099);
    assert!(table.acquire("b", &[Wish::exclusive("/a")], None).unwrap().is_err());
    clock.set(1_100);
    assert!(table.acquire("b", &[Wish::exclusive("/a")], None).unwrap().is_ok());
}
