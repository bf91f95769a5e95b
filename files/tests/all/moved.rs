//! The destination moves while a lease is held: what counts is the marker, wherever it has gone.

use super::watched::watched;
use super::{MARKERS, acquired, busy, everything, store};
use leasebook_files::marker::{Code, FileCode, Released};
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn a_renamed_destination_is_released_where_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    fs::create_dir(&old).unwrap();
    let lease = acquired(store().acquire(&old, None).unwrap());
    fs::rename(&old, &new).unwrap();
    assert_eq!(busy(store().acquire(&new, None).unwrap()), [std::process::id()], "it moved with its marker");
    assert_eq!(lease.release().unwrap(), Released::Released);
    assert_eq!(everything(&new), [MARKERS]);
}

#[test]
fn in_the_place_of_a_renamed_one_another_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (dir.path().join("old"), dir.path().join("new"));
    for by_link in [false, true] {
        fs::create_dir(&old).unwrap();
        let lease = acquired(store().acquire(&old, None).unwrap());
        fs::rename(&old, &new).unwrap();
        if by_link {
            fs::create_dir(dir.path().join("target")).unwrap();
            symlink("target", &old).unwrap();
        } else {
            fs::create_dir(&old).unwrap();
        }
        let second = acquired(store().acquire(&old, None).unwrap());
        assert_eq!(lease.release().unwrap(), Released::Released);
        assert_eq!(everything(&new), [MARKERS]);
        assert_eq!(busy(store().acquire(&old, None).unwrap()), [std::process::id()], "the second stands");
        assert_eq!(second.release().unwrap(), Released::Released);
        fs::remove_dir_all(&new).unwrap();
        if by_link { fs::remove_file(&old) } else { fs::remove_dir_all(&old) }.unwrap();
    }
}

#[test]
fn deleted_and_made_anew_it_is_lost_and_the_new_one_stands() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    for _ in 0..50 {
        fs::create_dir(&root).unwrap();
        let lease = acquired(store().acquire(&root, None).unwrap());
        fs::remove_dir_all(&root).unwrap();
        fs::create_dir(&root).unwrap();
        // Perhaps with the same number of the same file system.
        let second = acquired(store().acquire(&root, None).unwrap());
        assert_eq!(lease.release().unwrap(), Released::Lost);
        assert_eq!(lease.release().unwrap(), Released::Lost);
        assert_eq!(everything(&root).len(), 2);
        assert_eq!(second.release().unwrap(), Released::Released);
        fs::remove_dir_all(&root).unwrap();
    }
}

#[test]
fn moved_between_publication_and_listing_it_is_not_acquired() {
    for only_the_marker_directory in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        fs::create_dir(&old).unwrap();
        let (from, to) = (old.clone(), new.clone());
        let mut published = false;
        let store = watched(move |step, _| {
            if step == "list" && published {
                published = false;
                if only_the_marker_directory {
                    fs::rename(from.join(MARKERS), &to).unwrap();
                    fs::create_dir(from.join(MARKERS)).unwrap();
                } else {
                    fs::rename(&from, &to).unwrap();
                    fs::create_dir(&from).unwrap();
                }
            }
            published |= step == "publish";
            None
        });
        let failure = store.acquire(&old, None).unwrap_err();
        assert_eq!((failure.code, failure.step), (Code::File(FileCode::DirectoryVanished), "list"), "{failure}");
        assert_eq!(failure.left, None);
        let left: Vec<String> = [everything(&old), everything(&new)].concat();
        assert!(left.iter().all(|name| name == MARKERS), "{left:?}");
    }
}

#[test]
fn an_empty_marker_directory_that_others_remove_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let markers = dir.path().join(MARKERS);
    fs::create_dir(&markers).unwrap();
    let mut published = false;
    let gone = markers.clone();
    let store = watched(move |step, _| {
        if step == "publish" && !published {
            published = true;
            fs::remove_dir(&gone).unwrap();
        }
        None
    });
    drop(acquired(store.acquire(dir.path(), None).unwrap()));
    assert_eq!(everything(dir.path()), [MARKERS]);
}
