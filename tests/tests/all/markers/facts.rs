//! What the core and the file functions each say for themselves is the same.

use leasebook::marker::{
    LEGACY_BYTES_MAX, Layout, NAME_BYTES_MAX, NAMES_MAX, OwnerRecord, RECORD_BYTES_MAX, RemoveNamed, Step,
};
use leasebook_files::{DirectoryName, FileCode, LegacyName, MarkerFiles, NONCE_DIGITS, SystemFiles};

#[test]
fn the_bounds_are_the_same() {
    // One more, by which an operation sees that there are too many.
    assert_eq!(NAMES_MAX + 1, leasebook_files::LISTED_MAX);
    assert_eq!(NAME_BYTES_MAX, leasebook_files::NAME_BYTES_MAX);
    assert_eq!(LEGACY_BYTES_MAX, leasebook_files::LEGACY_BYTES_MAX);
    const { assert!(RECORD_BYTES_MAX <= leasebook_files::MARKER_BYTES_MAX) };
}

#[test]
fn the_same_names_are_names() {
    let (longest, long) = ("x".repeat(NAME_BYTES_MAX), "x".repeat(NAME_BYTES_MAX + 1));
    let deep = |bytes: usize| "x/".repeat(bytes)[..bytes].to_owned();
    let spellings = [
        "",
        ".",
        "..",
        "...",
        " ",
        "a",
        "ä b",
        ".a",
        "a.",
        "-",
        "/",
        "//",
        "/a",
        "a/",
        "a//b",
        "a/b",
        "a/./b",
        "a/../b",
        "../a",
        "./a",
        "a/..",
        "a\\b",
        "\\",
        "a\0",
        "a/b\0",
        "C:",
        "\u{1b}[2J",
        "\n",
        &longest,
        &long,
        &format!("{longest}/{longest}"),
        &format!("a/{long}"),
        &"ä".repeat(127),
        &"ä".repeat(128),
        &deep(LEGACY_BYTES_MAX),
        &deep(LEGACY_BYTES_MAX + 2),
    ];
    let mut names = [0, 0];
    for spelling in spellings {
        let directory = Layout::new(spelling, &[]).is_ok();
        assert_eq!(directory, DirectoryName::new(spelling).is_ok(), "{spelling:?}");
        let legacy = Layout::new("a", &[spelling]).is_ok();
        assert_eq!(legacy, LegacyName::new(spelling).is_ok(), "{spelling:?}");
        names[0] += usize::from(directory);
        names[1] += usize::from(legacy);
    }
    assert_eq!(names, [12, 15], "among them are some of either kind");
}

#[test]
fn the_same_nonces_are_nonces() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut files = SystemFiles::new(dir.path(), DirectoryName::new(".writers").expect("a name"));
    let good = "0123456789abcdef".repeat(2);
    assert_eq!(good.len(), NONCE_DIGITS);
    let spellings = [
        "",
        "..",
        &good,
        &good[1..],
        &format!("{good}0"),
        &good.to_uppercase(),
        &good.replace('f', "g"),
        &good.replace('0', "/"),
        &good.replace('0', "."),
        &good.replace('0', " "),
        &good.replace("01", "ä"),
        &good.replace('0', "\0"),
        &format!("{good}.json"),
        &"f".repeat(32),
        &"0".repeat(32),
    ];
    let mut nonces = 0;
    for spelling in spellings {
        let known = OwnerRecord::new(1, "h", spelling).is_ok();
        let named = matches!(RemoveNamed::new(spelling, None).next(None), Step::Effect(_));
        assert_eq!(known, named, "{spelling:?}");
        for ending in [".json", ".tmp"] {
            let removed = files.remove(&format!("{spelling}{ending}"));
            assert_eq!(known, removed.is_ok(), "{spelling:?}");
            assert!(removed.is_ok() || removed.is_err_and(|error| error.code == FileCode::InvalidName));
        }
        assert_eq!(known, files.publish(spelling, b"").is_ok(), "{spelling:?}");
        nonces += usize::from(known);
    }
    assert_eq!(nonces, 3);
}
