//! A system that has no more of something: a typed error that names step and path, nothing acquired, nothing left.

use super::child::{Child, attempt, command, command_below, hear, say};
use super::{MARKERS, acquired, everything, needs, store};
use leasebook_files::WriterLeaseStore;
use leasebook_files::marker::{Code, FileCode};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use rustix::mount::{MountFlags, mount, mount_bind, mount_remount};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

/// A part played where mounts are its own.
fn with_mounts_of_its_own(part: &str, root: &Path) -> Option<Child> {
    let permitted = needs::works("unshare", "unshare", &["-m", "true"]);
    permitted.then(|| Child::spawn_by(command_below("unshare", &["-m"], part, root)))
}

#[test]
fn without_space_or_inodes_nothing_is_acquired_and_nothing_left() {
    for part in ["full", "no-inodes"] {
        let dir = tempfile::tempdir().unwrap();
        let Some(mut child) = with_mounts_of_its_own(part, dir.path()) else { return };
        child.expect("publish no-space");
        child.expect("left: []");
        child.expect("acquired");
        assert!(child.ended().success());
    }
}

/// On a file system of one page, which a file takes.
pub fn full(root: &Path) {
    mount("tmpfs", root, "tmpfs", MountFlags::empty(), c"size=4k").unwrap();
    fs::write(root.join("all"), [0; 4096]).unwrap();
    exhausted_until(root, || fs::remove_file(root.join("all")).unwrap());
}

/// On a file system without an inode for the marker: for the root, and perhaps the marker directory.
pub fn no_inodes(root: &Path) {
    mount("tmpfs", root, "tmpfs", MountFlags::empty(), c"size=1m,nr_inodes=2").unwrap();
    exhausted_until(root, || mount_remount(root, MountFlags::empty(), "size=1m,nr_inodes=9").unwrap());
}

fn exhausted_until(root: &Path, relieve: impl FnOnce()) {
    drop(attempt(root));
    let left: Vec<String> = everything(root).into_iter().filter(|name| name != "all").collect();
    say(format_args!("left: {left:?}"));
    relieve();
    drop(attempt(root));
}

#[test]
fn on_a_read_only_file_system_it_is_said_so() {
    let dir = tempfile::tempdir().unwrap();
    let Some(mut child) = with_mounts_of_its_own("read-only", dir.path()) else { return };
    child.expect("publish read-only");
    child.expect("left: []");
    child.expect("inspected");
    child.expect("release: remove read-only");
    child.expect("released");
    assert!(child.ended().success());
}

/// On a mount that takes no writes: from the start, and while a lease is held.
pub fn read_only(root: &Path) {
    mount_bind(root, root).unwrap();
    let frozen = |yes: bool| {
        let flags = if yes { MountFlags::RDONLY } else { MountFlags::empty() };
        mount_remount(root, MountFlags::BIND | flags, "").unwrap();
    };
    frozen(true);
    drop(attempt(root));
    say(format_args!("left: {:?}", everything(root)));
    store().inspect(root, None).unwrap();
    say("inspected");
    frozen(false);
    let lease = acquired(store().acquire(root, None).unwrap());
    // The handle that a lease keeps is of the mount as well.
    frozen(true);
    let failure = lease.release().unwrap_err();
    say(format_args!("release: {} {}", failure.step, failure.code.name()));
    frozen(false);
    say(format_args!("{:?}", lease.release().unwrap()).to_string().to_lowercase());
}

#[test]
fn a_directory_that_nobody_may_change_is_said_to_be_one() {
    let dir = tempfile::tempdir().unwrap();
    let root = File::open(dir.path()).unwrap();
    let Ok(flags) = ioctl_getflags(&root) else { return needs::lacks("immutable") };
    if ioctl_setflags(&root, flags | IFlags::IMMUTABLE).is_err() {
        return needs::lacks("immutable");
    }
    let result = store().acquire(dir.path(), None);
    ioctl_setflags(&root, flags).unwrap();
    let failure = result.unwrap_err();
    assert_eq!((failure.code, failure.step), (Code::File(FileCode::PermissionDenied), "publish"), "{failure}");
    assert!(failure.path.ends_with(MARKERS), "{failure}");
    assert_eq!(everything(dir.path()), [""; 0]);
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
}

#[test]
fn without_file_handles_nothing_is_acquired_and_nothing_left() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Child::spawn_by(command("few-files", dir.path()));
    let mut failed = 0;
    loop {
        let said = child.hear().unwrap();
        if said == "acquired" {
            break;
        }
        assert!(said.ends_with(" too-many-open-files"), "{said}");
        failed += 1;
        assert_eq!(everything(dir.path()), [""; 0], "{said}");
        child.tell("one more");
    }
    assert!(failed >= 3, "root, directory and marker take a handle each: {failed}");
    // The release had none left to read its marker with, and could be tried again.
    child.expect("too-many-open-files");
    child.expect("released");
    assert!(child.ended().success());
    assert_eq!(everything(dir.path()), [MARKERS]);
}

/// With one more handle after each failure.
pub fn few_files(root: &Path) {
    let first_free = File::open("/dev/null").unwrap().as_raw_fd();
    let all = getrlimit(Resource::Nofile);
    let with = |free: u64| {
        let current = Some(first_free.unsigned_abs().into()).map(|taken: u64| taken + free);
        setrlimit(Resource::Nofile, Rlimit { current, maximum: all.maximum }).unwrap();
    };
    for free in 0.. {
        with(free);
        let Some(lease) = attempt(root) else {
            hear().unwrap();
            continue;
        };
        with(0);
        say(lease.release().unwrap_err().code.name());
        with(free);
        lease.release().unwrap();
        say("released");
        return;
    }
}

#[test]
fn a_name_that_is_too_long_is_said_to_be_one() {
    let dir = tempfile::tempdir().unwrap();
    let failure = store().acquire(dir.path().join("x".repeat(256)), None).unwrap_err();
    assert_eq!((failure.code, failure.step), (Code::File(FileCode::NameTooLong), "resolve-root"), "{failure}");
    assert!(failure.path.starts_with(dir.path().to_str().unwrap()), "{failure}");
    // A name of so many bytes may be one to this system, and not to the next.
    let long = WriterLeaseStore::new(&"x".repeat(255)).unwrap();
    match long.acquire(dir.path(), None) {
        Ok(result) => drop(acquired(result)),
        Err(failure) => {
            assert_eq!((failure.code, failure.step), (Code::File(FileCode::NameTooLong), "publish"), "{failure}");
        }
    }
}
