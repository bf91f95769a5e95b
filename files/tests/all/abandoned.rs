//! A writer that was killed is in nobody's way, once its process is gone.

use super::child::Child;
use super::{MARKERS, NOBODY, acquired, busy, everything, name, put, put_of, store};
use leasebook_files::WriterLeaseStore;
use leasebook_files::marker::MarkerState;
use std::fs;

#[test]
fn the_next_writer_recovers_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Child::spawn("hold", dir.path());
    child.expect("acquired");
    child.kill();
    assert_eq!(everything(dir.path()).len(), 2);
    acquired(store().acquire(dir.path(), None).unwrap()).release().unwrap();
    assert_eq!(everything(dir.path()), [MARKERS]);
}

#[test]
fn a_zombie_is_alive() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Child::spawn("hold", dir.path());
    child.expect("acquired");
    child.kill_unreaped();
    assert_eq!(child.hear(), None, "the end of its output is its own");
    assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [child.pid()]);
    child.kill();
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
}

#[test]
fn recovery_says_what_it_would_do_and_does_it_when_told_to() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Child::spawn("hold", dir.path());
    child.expect("acquired");
    let pid = child.pid();
    child.kill();
    put(dir.path(), '1', std::process::id());
    put_of(dir.path(), '2', NOBODY, "elsewhere");
    fs::write(dir.path().join(MARKERS).join(name('3')), "").unwrap();
    fs::write(dir.path().join(MARKERS).join("notes.json"), "unrelated").unwrap();
    let before = everything(dir.path());

    let said = store().recover(dir.path(), false, None).unwrap();
    assert_eq!(everything(dir.path()), before);
    assert_eq!((said.removed.len(), said.kept.len()), (0, 4));
    let stale: Vec<u32> = said.kept.iter().filter(|it| it.state == MarkerState::Stale).map(pid_of).collect();
    assert_eq!(stale, [pid]);

    let done = store().recover(dir.path(), true, None).unwrap();
    assert_eq!(done.removed.iter().map(pid_of).collect::<Vec<_>>(), [pid]);
    let states: Vec<MarkerState> = done.kept.iter().map(|it| it.state).collect();
    assert_eq!(states, [MarkerState::Active, MarkerState::Foreign, MarkerState::Unrecognized]);
    assert_eq!(everything(dir.path()).len(), before.len() - 1);
    assert_eq!(store().recover(dir.path(), true, None).unwrap().removed, []);
}

#[test]
fn where_nobody_ever_wrote_there_is_nothing() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(store().inspect(dir.path(), None).unwrap().records, []);
    assert_eq!(store().recover(dir.path(), false, None).unwrap().kept, []);
    assert_eq!(store().recover(dir.path(), true, None).unwrap().removed, []);
    assert_eq!(everything(dir.path()), [""; 0]);
}

#[test]
fn a_host_may_say_what_it_is_called() {
    let dir = tempfile::tempdir().unwrap();
    let of = |identity| WriterLeaseStore::builder(MARKERS).identity(identity).build().unwrap();
    put_of(dir.path(), '1', NOBODY, "a");
    assert_eq!(of("b").inspect(dir.path(), None).unwrap().records[0].state, MarkerState::Foreign);
    assert_eq!(of("a").inspect(dir.path(), None).unwrap().records[0].state, MarkerState::Stale);
    let lease = acquired(of("a").acquire(dir.path(), None).unwrap());
    assert_eq!(lease.record().host(), "a");
    assert_eq!(store().inspect(dir.path(), None).unwrap().records[0].state, MarkerState::Foreign);
}

fn pid_of(record: &leasebook_files::marker::MarkerRecord) -> u32 {
    record.owner.as_ref().map_or(0, |owner| owner.pid())
}
