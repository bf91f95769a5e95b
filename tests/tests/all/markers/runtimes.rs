//! The machines driven natively and those in the component keep each other off one destination, on real files.

use leasebook_files::{Acquisition as Native, WriterLeaseStore as NativeStore};
use leasebook_wasmtime::writer::{Acquisition, MarkerState, WriterLeaseStore};
use std::fs;

const MARKERS: &str = ".writers";

#[test]
fn a_writer_on_either_runtime_is_in_the_way_of_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let destination = folder.path().to_str().expect("a path in UTF-8");
    let native = NativeStore::new(MARKERS).expect("a layout");
    let component = WriterLeaseStore::builder(MARKERS).build().expect("a store");

    let Native::Acquired(lease) = native.acquire(destination, None).expect("acquired") else { panic!("busy") };
    let Acquisition::Busy { owners } = component.acquire(destination, None).expect("an answer") else {
        panic!("two writers")
    };
    let owner = owners[0].owner.as_ref().expect("recognized");
    assert_eq!((owner.nonce.as_str(), owner.pid), (lease.record().nonce(), std::process::id()));
    lease.release().expect("released");

    let Acquisition::Acquired(lease) = component.acquire(destination, None).expect("acquired") else { panic!("busy") };
    let Native::Busy { owners } = native.acquire(destination, None).expect("an answer") else { panic!("two writers") };
    let owner = owners[0].owner.as_ref().expect("recognized");
    assert_eq!((owner.nonce(), owner.host()), (lease.owner().nonce.as_str(), lease.owner().host.as_str()));
    lease.release().expect("released");
    assert!(native.inspect(destination, None).expect("an answer").records.is_empty());
}

#[test]
fn either_runtime_recovers_what_a_dead_writer_of_the_other_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let destination = folder.path().to_str().expect("a path in UTF-8");
    let native = NativeStore::new(MARKERS).expect("a layout");
    let component = WriterLeaseStore::builder(MARKERS).build().expect("a store");
    // What each writes, with the process id of nobody in it.
    let left_behind = |path: &str| {
        let text = fs::read_to_string(path).expect("the marker");
        let pid = format!("\"pid\":{},", std::process::id());
        assert!(text.contains(&pid), "{text}");
        text.replace(&pid, "\"pid\":2147483647,")
    };

    let Native::Acquired(lease) = native.acquire(destination, None).expect("acquired") else { panic!("busy") };
    let text = left_behind(lease.path());
    lease.release().expect("released");
    fs::write(lease.path(), text).expect("written");
    let recovered = component.recover(destination, true, None).expect("recovered");
    assert_eq!((recovered.removed.len(), recovered.removed[0].state), (1, MarkerState::Stale));

    let Acquisition::Acquired(lease) = component.acquire(destination, None).expect("acquired") else { panic!("busy") };
    let text = left_behind(lease.path());
    lease.release().expect("released");
    fs::write(lease.path(), text).expect("written");
    let Native::Acquired(lease) = native.acquire(destination, None).expect("recovered first") else { panic!("busy") };
    lease.release().expect("released");
    assert!(component.inspect(destination, None).expect("an answer").is_empty());
}
