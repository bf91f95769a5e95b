//! One table of spellings: what is one location, what lies inside what, and what cannot be read.

use leasebook::Containment::{self, No, Unknown, Yes};
use leasebook::{Millis, Mode, Options, Path, Table, Verdict, Wish, contains};
use leasebook_tests::paths;

/// (path, directory, is it inside?)
const SPELLINGS: &[(&str, &str, Containment)] = &[
    ("/a", "/a", Yes),
    ("/a/", "/a", Yes),
    ("/a/.", "/a", Yes),
    ("//a", "/a", Yes),
    ("/./a", "/a", Yes),
    ("/a", "/a//", Yes),
    ("a//b", "a/b", Yes),
    ("./a/./b/", "a/b", Yes),
    ("/a/b", "/a", Yes),
    ("/a", "/a/b", No),
    ("/", "/", Yes),
    ("/a", "/", Yes),
    ("///", "/", Yes),
    (".", ".", Yes),
    ("a", ".", Yes),
    ("./.", ".", Yes),
    ("/ab", "/a", No),
    ("/a", "/ab", No),
    ("a/b", "a_b", No),
    ("/A", "/a", No),
    ("/a ", "/a", No),
    ("/\u{e9}", "/e\u{301}", No), // composed and decomposed: bytes are compared as they are
    ("/...", "/..", Unknown),
    ("/a/...", "/a", Yes),
    ("/a/..b", "/a", Yes),
    ("a", "/a", Unknown),
    ("/a", "a", Unknown),
    (".", "/", Unknown),
    ("/a/b/..", "/a", Unknown),
    ("..", "..", Unknown),
    ("/a", "/a/..", Unknown),
    ("", "", Unknown),
    ("", "/", Unknown),
    ("/a\\b", "/a", Unknown),
    ("/a\\b", "/a\\b", Unknown),
    ("/a\0", "/a", Unknown),
    ("/a\n", "/a\n", Yes),
    ("/a\n", "/a", No),
];

#[test]
fn spellings_are_compared_by_whole_segments() {
    for &(path, directory, expected) in SPELLINGS {
        assert_eq!(contains(path, directory), expected, "{path:?} in {directory:?}");
        paths::check(path, directory).unwrap_or_else(|fault| panic!("{fault}"));
    }
}

#[test]
fn a_table_compares_paths_as_the_public_test_does() {
    for &(path, directory, expected) in SPELLINGS {
        let mut table = Table::new(Options::default()).expect("an empty table");
        let readable = Path::parse(directory).is_some();
        let granted = table.acquire(Millis::new(0), "ada", &[Wish::exclusive(directory)], None);
        assert_eq!(granted.is_ok(), readable, "{directory:?}");
        if !readable {
            continue;
        }
        let own = table.covering(Millis::new(0), "ada", path, Mode::Exclusive).verdict;
        assert_eq!(own == Verdict::Own, expected == Yes, "{path:?} in {directory:?}: {own:?}");
        let others = table.covering(Millis::new(0), "bob", path, Mode::Exclusive).verdict;
        let overlap = expected == Yes || contains(directory, path) == Yes;
        let verdict = match (overlap, expected) {
            (true, _) => Verdict::Other,
            (false, Unknown) => Verdict::Unknown,
            (false, _) => Verdict::Free,
        };
        assert_eq!(others, verdict, "{path:?} beside {directory:?}");
        let acquired = table.acquire(Millis::new(0), "bob", &[Wish::exclusive(path)], None);
        assert_eq!(acquired.is_ok(), verdict == Verdict::Free, "{path:?} beside {directory:?}");
    }
}

#[test]
fn a_path_is_readable_up_to_its_limits_and_not_beyond() {
    let bytes = |many: usize| format!("/{}", "n".repeat(many - 1));
    let segments = |many: usize| "/s".repeat(many);
    let cases = [
        (bytes(256), true), // a name longer than a file system takes is still a name
        (bytes(4_095), true),
        (bytes(4_096), true),
        (bytes(4_097), false),
        (bytes(1_000_000), false),
        (format!("/{}", "\u{e9}".repeat(2_047)), true),  // 4 095 bytes
        (format!("/{}", "\u{e9}".repeat(2_048)), false), // 4 097 bytes in 2 049 characters
        (segments(254), true),
        (segments(255), true),
        (segments(256), false),
        (segments(10_000), false),
        (format!("{}/./", segments(255)), true),
        ("/".repeat(4_096), true),
        ("/".repeat(4_097), false),
        ("..".repeat(500_000), false),
    ];
    for (path, readable) in cases {
        let shown: String = path.chars().take(20).collect();
        assert_eq!(Path::parse(&path).is_some(), readable, "{shown}, {} bytes", path.len());
        paths::check(&path, "/s").unwrap_or_else(|fault| panic!("{fault}"));
    }
}
