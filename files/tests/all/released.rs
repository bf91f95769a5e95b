//! A release removes the own marker and no other, and says what came of it.

use super::child::command;
use super::watched::watched;
use super::{MARKERS, acquired, everything, nonce, record, store};
use leasebook_files::marker::{Code, FileCode as Told, NamedRemoval, Released};
use leasebook_files::{Cancel, DropFailure, FileCode, FileError, FileStep, WriterLeaseStore, identity};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier, Mutex};

/// A store, and what it was told of dropped leases.
fn told_store() -> (WriterLeaseStore, Arc<Mutex<Vec<DropFailure>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let hook = move |failure: &DropFailure| heard.lock().unwrap().push(failure.clone());
    (WriterLeaseStore::builder(MARKERS).on_drop_failure(hook).build().unwrap(), told)
}

#[test]
fn a_replaced_marker_is_preserved() {
    let others: [fn(&Path, &str); 5] = [
        |path, nonce| fs::write(path, record(1, &identity().unwrap(), nonce)).unwrap(),
        |path, nonce| fs::write(path, record(std::process::id(), "elsewhere", nonce)).unwrap(),
        |path, _| fs::write(path, "").unwrap(),
        |path, _| {
            fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("dangling", path).unwrap();
        },
        |path, _| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        },
    ];
    for replace in others {
        let dir = tempfile::tempdir().unwrap();
        let (store, told) = told_store();
        let lease = acquired(store.acquire(dir.path(), None).unwrap());
        let path = Path::new(lease.path()).to_owned();
        replace(&path, lease.record().nonce());
        for _ in 0..2 {
            let failure = lease.release().unwrap_err();
            assert_eq!(failure.code, Code::OwnMarkerChanged, "{failure}");
            assert_eq!(failure.path, lease.path());
        }
        drop(lease);
        assert_eq!(told.lock().unwrap().len(), 1);
        assert!(path.symlink_metadata().is_ok(), "kept");
    }
}

#[test]
fn a_missing_marker_means_that_the_lease_was_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (store, told) = told_store();
    let lease = acquired(store.acquire(dir.path(), None).unwrap());
    fs::remove_file(lease.path()).unwrap();
    let other = acquired(store.acquire(dir.path(), None).unwrap());
    for _ in 0..3 {
        assert_eq!(lease.release().unwrap(), Released::Lost);
    }
    drop(lease);
    assert!(told.lock().unwrap().is_empty(), "it was said already");
    fs::remove_file(other.path()).unwrap();
    drop(other);
    let told = told.lock().unwrap();
    assert_eq!((told.len(), &told[0].failure), (1, &None));
    assert!(told[0].to_string().contains("lost"), "{}", told[0]);
}

#[test]
fn it_is_done_once_however_often_and_from_wherever_it_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let removals = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&removals);
    let store = watched(move |step, _| {
        *counted.lock().unwrap() += usize::from(step == "remove");
        None
    });
    let lease = Arc::new(acquired(store.acquire(dir.path(), None).unwrap()));
    let barrier = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let (lease, barrier) = (Arc::clone(&lease), Arc::clone(&barrier));
            std::thread::spawn(move || {
                barrier.wait();
                lease.release().unwrap()
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Released::Released);
    }
    assert_eq!(lease.release().unwrap(), Released::Released);
    assert_eq!(*removals.lock().unwrap(), 1);
}

#[test]
fn a_failed_one_can_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut failing = 2;
    let store = watched(move |step, _| {
        if step != "remove" || failing == 0 {
            return None;
        }
        failing -= 1;
        let source = io::Error::from_raw_os_error(5);
        Some(FileError { code: FileCode::InputOutput, step: FileStep::Remove, path: "x".into(), left: None, source })
    });
    let lease = acquired(store.acquire(dir.path(), None).unwrap());
    for _ in 0..2 {
        let failure = lease.release().unwrap_err();
        assert_eq!(failure.code, Code::File(Told::InputOutput), "{failure}");
        assert_eq!(everything(dir.path()).len(), 2);
    }
    assert_eq!(lease.release().unwrap(), Released::Released);
    assert_eq!(lease.release().unwrap(), Released::Released);
    assert_eq!(everything(dir.path()), [MARKERS]);
}

#[test]
fn what_a_drop_could_not_remove_is_told_and_tried_first_by_the_next_acquire() {
    let dir = tempfile::tempdir().unwrap();
    let failing = Arc::new(Mutex::new(true));
    let fails = Arc::clone(&failing);
    let store = watched(move |step, _| {
        let source = io::Error::from_raw_os_error(5);
        (step == "remove" && *fails.lock().unwrap()).then(|| FileError {
            code: FileCode::InputOutput,
            step: FileStep::Remove,
            path: "x".into(),
            left: None,
            source,
        })
    });
    drop(acquired(store.acquire(dir.path(), None).unwrap()));
    assert_eq!(everything(dir.path()).len(), 2, "left, and written to standard error");
    *failing.lock().unwrap() = false;
    acquired(store.acquire(dir.path(), None).unwrap()).release().unwrap();
    assert_eq!(everything(dir.path()), [MARKERS]);
}

#[test]
fn a_drop_that_fails_outlives_a_closed_standard_error() {
    let dir = tempfile::tempdir().unwrap();
    let (hears, says) = io::pipe().unwrap();
    drop(hears);
    let mut child = command("drops", dir.path());
    let status = child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(says).status().unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(everything(dir.path()), [MARKERS, &format!("{MARKERS}/dropped")]);
}

/// Drops a lease that cannot be released, and leaves a word of having come further.
pub fn drops(root: &Path) {
    let lease = acquired(store().acquire(root, None).unwrap());
    fs::write(lease.path(), "changed").unwrap();
    let path = lease.path().to_owned();
    drop(lease);
    fs::rename(path, root.join(MARKERS).join("dropped")).unwrap();
}

#[test]
fn what_is_told_of_a_drop_steers_no_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("\u{1b}[2J\u{202e}");
    fs::create_dir(&root).unwrap();
    let (store, told) = told_store();
    for changed in [false, true] {
        let lease = acquired(store.acquire(&root, None).unwrap());
        if changed { fs::write(lease.path(), "changed") } else { fs::remove_file(lease.path()) }.unwrap();
        drop(lease);
    }
    let said: Vec<String> = told.lock().unwrap().iter().map(DropFailure::to_string).collect();
    assert_eq!(said.len(), 2);
    for said in said {
        assert!(said.contains("\\u{1b}[2J\\u{202e}") && !said.contains(['\u{1b}', '\u{202e}']), "{said}");
    }
}

#[test]
fn what_a_failed_attempt_could_not_remove_is_named_and_tried_first_there() {
    for next_is_a_recovery in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let cancel = Cancel::new();
        let signal = cancel.clone();
        let mut failing = true;
        let store = watched(move |step, _| {
            if step == "publish" {
                signal.cancel();
            }
            let fails = step == "remove" && failing;
            failing &= !fails;
            let source = io::Error::from_raw_os_error(5);
            let (code, step) = (FileCode::InputOutput, FileStep::Remove);
            fails.then(|| FileError { code, step, path: "x".into(), left: None, source })
        });
        let failure = store.acquire(dir.path(), Some(&cancel)).unwrap_err();
        assert_eq!(failure.code, Code::Cancelled);
        let left = failure.left.unwrap();
        assert!(Path::new(&left).exists(), "{left}");
        if next_is_a_recovery {
            store.recover(dir.path(), true, None).unwrap();
        } else {
            acquired(store.acquire(dir.path(), None).unwrap()).release().unwrap();
        }
        assert_eq!(everything(dir.path()), [MARKERS]);
    }
}

#[test]
fn a_lease_outlives_its_store_and_moves_between_threads() {
    let dir = tempfile::tempdir().unwrap();
    let lease = acquired(store().acquire(dir.path(), None).unwrap());
    std::thread::spawn(move || drop(lease)).join().unwrap();
    assert_eq!(everything(dir.path()), [MARKERS]);
}

/// What a forked process does with the lease of its parent, before it becomes another program.
fn forked(lease: leasebook_files::WriterLease, act: fn(leasebook_files::WriterLease) -> String) -> String {
    let (mut hears, says) = io::pipe().unwrap();
    let lease = Arc::new(Mutex::new(Some(lease)));
    let childs = Arc::clone(&lease);
    let mut command = Command::new("true");
    let mut says_in_child = says.try_clone().unwrap();
    // SAFETY: the closure runs in the forked process. It allocates, and takes a lock that no thread holds while this
    // one forks; the C library of the systems tested keeps its allocator usable there.
    unsafe {
        command.pre_exec(move || {
            let lease = childs.lock().unwrap().take().unwrap();
            says_in_child.write_all(act(lease).as_bytes())
        });
    }
    assert!(command.status().unwrap().success());
    drop((command, says));
    let mut said = String::new();
    hears.read_to_string(&mut said).unwrap();
    // The parent's is still whole.
    let lease = lease.lock().unwrap().take().unwrap();
    assert_eq!(lease.release().unwrap(), Released::Released);
    said
}

#[test]
fn a_forked_process_is_not_the_holder() {
    let dir = tempfile::tempdir().unwrap();
    let lease = acquired(store().acquire(dir.path(), None).unwrap());
    let said = forked(lease, |lease| {
        let said = lease.release().map_or_else(|failure| failure.code.name().to_owned(), |done| format!("{done:?}"));
        let there = Path::new(lease.path()).exists();
        std::mem::forget(lease);
        format!("{said}, marker there: {there}")
    });
    assert_eq!(said, "other-process, marker there: true");
}

#[test]
fn a_guard_dropped_in_a_forked_process_leaves_the_marker() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = told_store();
    let lease = acquired(store.acquire(dir.path(), None).unwrap());
    let said = forked(lease, |lease| {
        let path = lease.path().to_owned();
        drop(lease);
        format!("marker there: {}", Path::new(&path).exists())
    });
    assert_eq!(said, "marker there: true");
}

#[test]
fn an_operator_removes_one_marker_whose_host_and_process_he_repeats() {
    let dir = tempfile::tempdir().unwrap();
    super::put_of(dir.path(), '1', 4242, "gone");
    super::put(dir.path(), '2', 1);
    fs::write(dir.path().join(MARKERS).join(super::name('3')), "torn").unwrap();
    let remove = |digit, expected| store().remove_named(dir.path(), &nonce(digit), expected).unwrap();
    let here = identity().unwrap();
    for wrong in [None, Some(("gone", 1)), Some(("here", 4242)), Some((here.as_str(), 1))] {
        assert!(matches!(remove('1', wrong), NamedRemoval::Different(Some(_))), "{wrong:?}");
    }
    assert!(matches!(remove('3', Some(("gone", 4242))), NamedRemoval::Different(None)));
    assert_eq!(everything(dir.path()).len(), 4);
    assert!(matches!(remove('1', Some(("gone", 4242))), NamedRemoval::Removed(Some(_))));
    assert!(matches!(remove('2', Some((here.as_str(), 1))), NamedRemoval::Removed(Some(_))));
    assert!(matches!(remove('3', None), NamedRemoval::Removed(None)));
    assert_eq!(remove('1', Some(("gone", 4242))), NamedRemoval::Absent);
    assert_eq!(everything(dir.path()), [MARKERS]);
}
