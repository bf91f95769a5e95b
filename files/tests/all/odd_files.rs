//! What is no ordinary file stands in the way and is neither followed, waited for, nor removed.

use super::{MARKERS, NOBODY, acquired, busy, identity, name, needs, nonce, record, store};
use leasebook_files::Cancel;
use leasebook_files::marker::MarkerState;
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Makes something of that type in the place of a marker; `false` where this account may not.
type Make = fn(&Path, &str) -> bool;

#[test]
fn in_the_place_of_a_marker_it_is_unrecognized() {
    let makes: [(&str, Make); 7] = [
        ("a link to a stale record", |path, stale| {
            let target = path.with_file_name("target");
            fs::write(&target, stale).unwrap();
            symlink(target, path).is_ok()
        }),
        ("a dangling link", |path, _| symlink("dangling", path).is_ok()),
        ("a link to itself", |path, _| symlink(path, path).is_ok()),
        ("a fifo", |path, _| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).is_ok()),
        ("a directory", |path, _| fs::create_dir(path).is_ok()),
        ("a socket", |path, _| UnixListener::bind(path).is_ok()),
        ("a device", |path, _| mknodat(CWD, path, FileType::CharacterDevice, Mode::RWXU, makedev(1, 5)).is_ok()),
    ];
    for (what, make) in makes {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(MARKERS)).unwrap();
        let path = dir.path().join(MARKERS).join(name('1'));
        let stale = record(NOBODY, &identity().unwrap(), &nonce('1'));
        if !make(&path, &stale) {
            assert_eq!(what, "a device", "only that takes a right");
            needs::lacks("devices");
            continue;
        }
        let found = store().inspect(dir.path(), None).unwrap().records;
        assert_eq!((found.len(), found[0].state), (1, MarkerState::Unrecognized), "{what}");
        assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [0], "{what}");
        let recovered = store().recover(dir.path(), true, None).unwrap();
        assert_eq!((recovered.removed.len(), recovered.kept.len()), (0, 1), "{what}");
        assert!(path.symlink_metadata().is_ok(), "{what} is kept");
    }
}

#[test]
fn how_many_links_a_record_has_does_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(MARKERS).join(super::put(dir.path(), '1', NOBODY));
    let kept = dir.path().join("kept");
    fs::hard_link(&path, &kept).unwrap();
    assert_eq!(store().inspect(dir.path(), None).unwrap().records[0].state, MarkerState::Stale);
    assert_eq!(store().recover(dir.path(), true, None).unwrap().removed.len(), 1);
    assert!(!path.exists() && kept.exists());
}

#[test]
fn what_strangers_write_is_in_the_way_and_kept() {
    let host = identity().unwrap();
    let good = record(NOBODY, &host, &nonce('1'));
    let field = |from: &str, to: &str| good.replace(from, to).into_bytes();
    let pid = NOBODY.to_string();
    let contents: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\0".repeat(64),
        vec![0xff; 64],
        (good.trim_end().to_owned() + &" ".repeat(4_097 - good.trim_end().len())).into_bytes(),
        vec![b'x'; 1 << 20],
        ["[".repeat(2_000), "]".repeat(2_000)].concat().into_bytes(),
        good.replacen('{', "{\"pid\":1,", 1).into_bytes(),
        good.replacen('{', "{\"more\":1,", 1).into_bytes(),
        field(&pid, "0"),
        field(&pid, "-1"),
        field(&pid, "9223372036854775808"),
        field(&pid, "2147483648"),
        field(&pid, "1.5"),
        field(&nonce('1'), &nonce('2')),
        field("\"version\":1", "\"version\":2"),
        field(&host, &"h".repeat(5_000)),
        (good.clone() + "x").into_bytes(),
    ];
    for content in contents {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(MARKERS)).unwrap();
        let path = dir.path().join(MARKERS).join(name('1'));
        fs::write(&path, &content).unwrap();
        let shown = String::from_utf8_lossy(&content[..content.len().min(80)]).into_owned();
        assert_eq!(busy(store().acquire(dir.path(), None).unwrap()), [0], "{shown}");
        assert_eq!(store().recover(dir.path(), true, None).unwrap().removed, [], "{shown}");
        assert_eq!(fs::read(&path).unwrap(), content);
    }
}

#[test]
fn the_largest_record_is_read_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(MARKERS).join(super::put(dir.path(), '1', NOBODY));
    let good = fs::read_to_string(&path).unwrap();
    fs::write(&path, good.trim_end().to_owned() + &" ".repeat(4_096 - good.trim_end().len())).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 4_096);
    drop(acquired(store().acquire(dir.path(), None).unwrap()));
}

#[test]
fn other_names_are_unrelated() {
    let dir = tempfile::tempdir().unwrap();
    let markers = dir.path().join(MARKERS);
    fs::create_dir(&markers).unwrap();
    let stale = record(NOBODY, &identity().unwrap(), &nonce('a'));
    let upper = name('a').to_uppercase();
    for other in ["notes.json", "README", &nonce('a'), &upper, &format!("{}.json~", nonce('a'))] {
        fs::write(markers.join(other), &stale).unwrap();
    }
    use std::os::unix::ffi::OsStrExt;
    fs::write(markers.join(std::ffi::OsStr::from_bytes(b"\xff\xfe.json")), "").unwrap();
    fs::create_dir(markers.join("directory")).unwrap();
    let before = fs::read_dir(&markers).unwrap().count();
    acquired(store().acquire(dir.path(), Some(&Cancel::new())).unwrap()).release().unwrap();
    assert_eq!(store().recover(dir.path(), true, None).unwrap().kept, []);
    assert_eq!(fs::read_dir(&markers).unwrap().count(), before);
}
