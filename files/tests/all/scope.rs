//! Who names the same directory is in each other's way, however it is spelled; who names another is not.

use super::{MARKERS, acquired, busy, everything, store};
use leasebook_files::WriterLeaseStore;
use leasebook_files::marker::{Code, FileCode};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

#[test]
fn an_alias_of_the_root_is_the_root() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("real/archive");
    fs::create_dir_all(&root).unwrap();
    symlink(dir.path().join("real"), dir.path().join("parent")).unwrap();
    symlink("parent/archive", dir.path().join("link")).unwrap();
    let aliases: [PathBuf; 4] = [
        dir.path().join("parent/archive"),
        dir.path().join("link"),
        dir.path().join("real/../real/archive/"),
        root.clone(),
    ];
    for held in &aliases {
        let lease = acquired(store().acquire(held, None).unwrap());
        assert!(lease.path().starts_with(root.canonicalize().unwrap().to_str().unwrap()), "{}", lease.path());
        for other in &aliases {
            assert_eq!(busy(store().acquire(other, None).unwrap()), [std::process::id()], "{held:?} {other:?}");
        }
        lease.release().unwrap();
    }
}

#[test]
fn other_directories_and_other_layouts_do_not_exclude_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("a/b"));
    fs::create_dir_all(&b).unwrap();
    let first = acquired(store().acquire(&a, None).unwrap());
    let second = acquired(store().acquire(&b, None).unwrap());
    let third = acquired(WriterLeaseStore::new("other").unwrap().acquire(&a, None).unwrap());
    for lease in [first, second, third] {
        lease.release().unwrap();
    }
}

#[test]
fn a_destination_must_be_a_directory_that_is_there() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    symlink("nowhere", dir.path().join("dangling")).unwrap();
    symlink("circle", dir.path().join("circle")).unwrap();
    for (name, code) in [
        ("missing", FileCode::NotFound),
        ("dangling", FileCode::NotFound),
        ("file", FileCode::NotADirectory),
        ("file/below", FileCode::NotADirectory),
        ("circle", FileCode::Link),
    ] {
        let failure = store().acquire(dir.path().join(name), None).unwrap_err();
        assert_eq!((failure.code, failure.step), (Code::File(code), "resolve-root"), "{name}: {failure}");
        assert!(failure.path.contains(name), "{failure}");
        assert!(store().inspect(dir.path().join(name), None).is_err());
        assert!(store().recover(dir.path().join(name), true, None).is_err());
    }
}

#[test]
fn a_marker_directory_that_is_a_link_or_a_file_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    let elsewhere = dir.path().join("elsewhere");
    for make in [
        (|root, elsewhere| symlink(elsewhere, root).unwrap()) as fn(PathBuf, PathBuf),
        |root, _| symlink("dangling", root).unwrap(),
        |root, _| fs::write(root, "mine").unwrap(),
    ] {
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        make(root.join(MARKERS), elsewhere.clone());
        for failure in [
            store().acquire(&root, None).unwrap_err(),
            store().inspect(&root, None).unwrap_err(),
            store().recover(&root, true, None).unwrap_err(),
        ] {
            assert_eq!(failure.code, Code::File(FileCode::MarkerDirectoryUnsafe), "{failure}");
            assert!(failure.path.ends_with(MARKERS), "{failure}");
        }
        assert_eq!(everything(&root), [MARKERS]);
        assert_eq!(everything(&elsewhere), [""; 0]);
        fs::remove_dir_all(&root).unwrap();
    }
}
