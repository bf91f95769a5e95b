//! A directory full of markers.

use super::{MARKERS, NOBODY, acquired, busy, identity, record, store};
use std::fs;

/// Entries in the directory, half of them of dead writers and half of them unrelated.
const MANY: usize = 100_000;

#[test]
fn a_hundred_thousand_names_are_gone_through() {
    let dir = tempfile::tempdir().unwrap();
    let markers = dir.path().join(MARKERS);
    fs::create_dir(&markers).unwrap();
    let host = identity().unwrap();
    for n in 0..MANY / 2 {
        let nonce = format!("{n:032x}");
        fs::write(markers.join(format!("{nonce}.json")), record(NOBODY, &host, &nonce)).unwrap();
        fs::write(markers.join(format!("{nonce}.other")), "").unwrap();
    }
    let alive = format!("{MANY:032x}");
    fs::write(markers.join(format!("{alive}.json")), record(std::process::id(), &host, &alive)).unwrap();
    let records = store().inspect(dir.path(), None).unwrap().records;
    assert_eq!(records.len(), MANY / 2 + 1);
    assert!(records.is_sorted_by_key(|record| record.name.clone()));
    assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [std::process::id()]);
    assert_eq!(fs::read_dir(&markers).unwrap().count(), MANY / 2 + 1, "the stale ones are gone");
    fs::remove_file(markers.join(format!("{alive}.json"))).unwrap();
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
}
