//! A stale marker is read, and its process asked after, once more immediately before it is removed.

use super::watched::watched;
use super::{MARKERS, NOBODY, busy, identity, nonce, put, record};
use leasebook_files::marker::MarkerState;
use leasebook_files::{Contents, FileError, Liveness, MarkerFiles, Places, SystemFiles, WriterLeaseStore};
use std::fs;
use std::path::PathBuf;

#[test]
fn a_marker_that_changed_after_it_was_found_stale_is_kept() {
    for apply_by_acquire in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let name = put(dir.path(), '1', NOBODY);
        let path = dir.path().join(MARKERS).join(&name);
        let mine = record(std::process::id(), &identity().unwrap(), &nonce('1'));
        let (written, content) = (path.clone(), mine.clone());
        let mut probes = 0;
        let store = watched(move |step, _| {
            probes += usize::from(step == "probe");
            if step == "read" && probes == 1 {
                // Between the first look and the second.
                fs::write(&written, &content).unwrap();
            }
            None
        });
        if apply_by_acquire {
            assert_eq!(busy(store.acquire(dir.path(), None).unwrap()), [0]);
        } else {
            let done = store.recover(dir.path(), true, None).unwrap();
            assert_eq!((done.removed.len(), done.kept[0].state), (0, MarkerState::Unrecognized));
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), mine);
    }
}

/// File functions for which a process is dead at the first look alone.
struct Returns(SystemFiles, usize);

impl MarkerFiles for Returns {
    fn resolve_root(&mut self) -> Result<Places, FileError> {
        self.0.resolve_root()
    }

    fn legacy_exists(&mut self, name: &str) -> Result<Option<PathBuf>, FileError> {
        self.0.legacy_exists(name)
    }

    fn identity(&mut self) -> Result<String, FileError> {
        self.0.identity()
    }

    fn nonce(&mut self) -> Result<String, FileError> {
        self.0.nonce()
    }

    fn publish(&mut self, nonce: &str, content: &[u8]) -> Result<(), FileError> {
        self.0.publish(nonce, content)
    }

    fn list(&mut self) -> Result<Option<Vec<String>>, FileError> {
        self.0.list()
    }

    fn read(&mut self, name: &str, limit: usize) -> Result<Contents, FileError> {
        self.0.read(name, limit)
    }

    fn probe(&mut self, _: u32) -> Liveness {
        self.1 += 1;
        if self.1 == 1 { Liveness::Dead } else { Liveness::Alive }
    }

    fn age_ms(&mut self, name: &str, beside: &str) -> Result<Option<u64>, FileError> {
        self.0.age_ms(name, beside)
    }

    fn remove(&mut self, name: &str) -> Result<bool, FileError> {
        self.0.remove(name)
    }

    fn remove_directory_if_empty(&mut self) -> Result<bool, FileError> {
        self.0.remove_directory_if_empty()
    }
}

#[test]
fn a_process_that_is_there_at_the_second_look_is_active() {
    let dir = tempfile::tempdir().unwrap();
    let name = put(dir.path(), '1', NOBODY);
    let store = WriterLeaseStore::builder(MARKERS)
        .files(|destination, directory| Box::new(Returns(SystemFiles::new(destination, directory), 0)))
        .build()
        .unwrap();
    assert_eq!(store.recover(dir.path(), true, None).unwrap().removed, []);
    assert_eq!(busy(store.acquire(dir.path(), None).unwrap()), [NOBODY]);
    assert!(dir.path().join(MARKERS).join(name).exists());
}

#[test]
fn what_vanishes_between_list_and_read_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(MARKERS).join(put(dir.path(), '1', std::process::id()));
    let store = watched(move |step, _| {
        if step == "read" {
            let _ = fs::remove_file(&path);
        }
        None
    });
    assert_eq!(store.inspect(dir.path(), None).unwrap().records, []);
    drop(super::acquired(store.acquire(dir.path(), None).unwrap()));
}
