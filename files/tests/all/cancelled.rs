//! Cancelled at any step, an operation leaves nothing behind.

use super::watched::watched;
use super::{MARKERS, NOBODY, acquired, everything, put};
use leasebook_files::marker::Code;
use leasebook_files::{Acquisition, Cancel};

#[test]
fn an_acquisition_cleans_up_at_every_step() {
    for at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        put(dir.path(), '1', NOBODY);
        let cancel = Cancel::new();
        let signal = cancel.clone();
        let store = watched(move |_, count| {
            // During this step, which is awaited all the same.
            if count == at {
                signal.cancel();
            }
            None
        });
        match store.acquire(dir.path(), Some(&cancel)) {
            Err(failure) => {
                assert_eq!((failure.code, &failure.left), (Code::Cancelled, &None), "{at}: {failure}");
                let left = everything(dir.path());
                assert!(left.iter().all(|left| left == MARKERS || left.contains("1111")), "{at}: {left:?}");
            }
            Ok(Acquisition::Acquired(lease)) => {
                assert!(!cancel.is_cancelled(), "the signal is read last");
                println!("cancelled at each of {} steps", at - 1);
                assert!(at > 12, "only {at} steps");
                lease.release().unwrap();
                return;
            }
            Ok(other) => panic!("{at}: {other:?}"),
        }
    }
}

#[test]
fn of_an_attempt_that_failed_alone_not_even_the_directory_is_left() {
    for at in 1..=7 {
        let dir = tempfile::tempdir().unwrap();
        let cancel = Cancel::new();
        let signal = cancel.clone();
        let store = watched(move |_, count| {
            if count == at {
                signal.cancel();
            }
            None
        });
        store.acquire(dir.path(), Some(&cancel)).unwrap_err();
        assert_eq!(everything(dir.path()), [""; 0], "{at}");
    }
}

#[test]
fn so_do_inspection_and_recovery() {
    let dir = tempfile::tempdir().unwrap();
    put(dir.path(), '1', NOBODY);
    let cancel = Cancel::new();
    cancel.cancel();
    let store = super::store();
    assert_eq!(store.inspect(dir.path(), Some(&cancel)).unwrap_err().code, Code::Cancelled);
    assert_eq!(store.recover(dir.path(), true, Some(&cancel)).unwrap_err().code, Code::Cancelled);
    assert_eq!(everything(dir.path()).len(), 2);
}

#[test]
fn a_release_takes_no_notice() {
    let dir = tempfile::tempdir().unwrap();
    let cancel = Cancel::new();
    let lease = acquired(super::store().acquire(dir.path(), Some(&cancel)).unwrap());
    cancel.cancel();
    lease.release().unwrap();
    assert_eq!(everything(dir.path()), [MARKERS]);
}
