//! Making a store is no I/O: nothing happens before an operation.

use super::MARKERS;
use super::child::say;
use super::watched::watched_with;
#[cfg(target_os = "linux")]
use super::{
    child::{Child, command_below},
    needs,
};
use leasebook_files::{DirectoryName, SystemFiles, WriterLeaseStore};
use std::path::Path;

#[test]
fn no_file_function_is_asked_for() {
    let store = watched_with(&[".lock"], |step, _| panic!("{step} before an operation"));
    let copy = store.clone();
    assert_eq!(copy.layout(), store.layout());
}

#[test]
#[cfg(target_os = "linux")]
fn no_call_of_the_system_is_made_but_for_memory() {
    if !needs::works("strace", "strace", &["true"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (root, trace) = (dir.path().join("nowhere"), dir.path().join("trace"));
    let options = ["-f", "-o", trace.to_str().unwrap()];
    let mut child = Child::spawn_by(command_below("strace", &options, "constructs", &root));
    child.expect("begin");
    child.expect("end");
    assert!(child.ended().success());
    let trace = std::fs::read_to_string(&trace).unwrap();
    let said = |line: &&str, word: &str| line.contains("write(2,") && line.contains(word);
    // Each line begins with the id of its thread.
    let thread = trace.lines().find(|line| said(line, "begin")).unwrap().split(' ').next().unwrap();
    let calls: Vec<&str> = trace.lines().filter(|line| line.starts_with(thread)).collect();
    let place = |word| calls.iter().position(|line| said(line, word)).unwrap();
    let of_memory = ["brk(", "mmap(", "munmap(", "mremap(", "madvise(", "mprotect("];
    // The rest of what was said is not the store's.
    let calls = calls[place("begin") + 1..place("end")].iter().filter(|line| !said(line, ""));
    let others: Vec<&&str> = calls.filter(|line| !of_memory.iter().any(|call| line.contains(call))).collect();
    assert!(others.is_empty(), "{others:#?}");
}

/// Makes stores of every kind, and the functions for a destination that there is not.
pub fn constructs(root: &Path) {
    say("begin");
    let store = WriterLeaseStore::builder(MARKERS).legacy([".lock", "a/b"]).identity("me").build();
    let plain = WriterLeaseStore::new(MARKERS);
    let files = SystemFiles::new(root, DirectoryName::new(MARKERS).unwrap()).with_identity(None);
    say("end");
    assert!(store.is_ok() && plain.is_ok());
    drop(files);
}
