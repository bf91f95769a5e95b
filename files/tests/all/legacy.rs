//! A legacy marker is refused, whatever it is, and never removed.

use super::watched::watched_with;
use super::{MARKERS, acquired, everything, store};
use leasebook_files::marker::{Code, FileCode};
use leasebook_files::{Acquisition, WriterLeaseStore};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const LEGACY: &str = ".writer.lock";

fn legacy_store(names: &[&str]) -> WriterLeaseStore {
    WriterLeaseStore::builder(MARKERS).legacy(names.iter().copied()).build().unwrap()
}

fn refused(result: Acquisition) -> (String, PathBuf) {
    match result {
        Acquisition::Legacy { legacy, path } => (legacy, path.into()),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_file_of_any_type_is_one() {
    let makes: [fn(&Path); 5] = [
        |path| fs::write(path, "4242").unwrap(),
        |path| fs::create_dir(path).unwrap(),
        |path| symlink("/", path).unwrap(),
        |path| symlink("dangling", path).unwrap(),
        |path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
    ];
    for make in makes {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap().join(LEGACY);
        make(&path);
        let store = legacy_store(&["other", LEGACY]);
        assert_eq!(refused(store.acquire(dir.path(), None).unwrap()), (LEGACY.to_owned(), path.clone()));
        assert_eq!(everything(dir.path()), [LEGACY], "kept, and nothing is left");
        assert_eq!(store.recover(dir.path(), true, None).unwrap().removed, []);
        assert!(path.symlink_metadata().is_ok());
    }
}

#[test]
fn it_may_be_in_a_directory_below_and_no_link_leads_there() {
    let dir = tempfile::tempdir().unwrap();
    let store = legacy_store(&["locks/deep/writer"]);
    drop(acquired(store.acquire(dir.path(), None).unwrap()));
    fs::create_dir_all(dir.path().join("locks")).unwrap();
    drop(acquired(store.acquire(dir.path(), None).unwrap()));
    fs::write(dir.path().join("locks/deep"), "").unwrap();
    drop(acquired(store.acquire(dir.path(), None).unwrap()));
    fs::remove_file(dir.path().join("locks/deep")).unwrap();

    symlink(".", dir.path().join("locks/deep")).unwrap();
    let failure = store.acquire(dir.path(), None).unwrap_err();
    assert_eq!((failure.code, failure.step), (Code::File(FileCode::Link), "legacy-exists"), "{failure}");
    fs::remove_file(dir.path().join("locks/deep")).unwrap();

    fs::create_dir(dir.path().join("locks/deep")).unwrap();
    fs::write(dir.path().join("locks/deep/writer"), "").unwrap();
    assert_eq!(refused(store.acquire(dir.path(), None).unwrap()).0, "locks/deep/writer");
}

#[test]
fn one_that_comes_after_the_first_look_is_seen_at_the_second() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(LEGACY);
    let store = watched_with(&[LEGACY], move |step, _| {
        if step == "publish" {
            fs::write(&path, "").unwrap();
        }
        None
    });
    refused(store.acquire(dir.path(), None).unwrap());
    assert_eq!(everything(dir.path()), [LEGACY], "the own marker and its directory are gone");
}

#[test]
fn it_is_nothing_to_a_store_that_was_not_told_of_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(LEGACY), "").unwrap();
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
}
