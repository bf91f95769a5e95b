//! What verification finds: nothing in a whole ledger, and whatever was changed in any other.

use super::{Bench, drain};
use crate::ledger::line::{Digest, LINE_BYTES_MAX, Line};
use crate::ledger::verify::{Broken, verify};
use proptest::prelude::*;
use serde_json::json;

fn ledger(count: u64) -> Vec<u8> {
    let mut bench = Bench::new();
    bench.commit(count);
    drain(&mut bench.writer()).unwrap();
    bench.disk.bytes("w")
}

/// The line that is refused, and what is said of it.
fn broken(bytes: &[u8]) -> (u64, String) {
    match verify(bytes) {
        Err(Broken::Line { line, found }) => (line, found),
        other => panic!("expected a broken line: {other:?}"),
    }
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[test]
fn a_whole_ledger_says_what_it_holds() {
    let bytes = ledger(4);
    let verified = verify(&bytes[..]).unwrap();
    assert_eq!((verified.workspace.as_str(), verified.lines), ("w", 5));
    assert_eq!((verified.first, verified.last, verified.missing, verified.outages), (Some(1), 4, 0, 0));
    let last = String::from_utf8(lines(&bytes).pop().unwrap()).unwrap();
    assert!(last.contains(&format!(r#""digest":"{}""#, verified.digest)));
}

#[test]
fn a_line_that_was_removed_moved_repeated_or_added_is_found() {
    let bytes = ledger(4);
    let whole = lines(&bytes);
    let mut removed = whole.clone();
    removed.remove(2);
    let (line, found) = broken(&removed.concat());
    assert_eq!(line, 3);
    assert!(found.starts_with("previous is ") && found.contains("the digest of the line before"), "{found}");
    let mut swapped = whole.clone();
    swapped.swap(2, 3);
    assert_eq!(broken(&swapped.concat()).0, 3);
    let mut twice = whole.clone();
    twice.insert(2, twice[1].clone());
    assert_eq!(broken(&twice.concat()).0, 3);
    let mut beginning = whole.clone();
    beginning.push(whole[0].clone());
    assert_eq!(broken(&beginning.concat()).0, 6);
    assert_eq!(broken(&whole[1..].concat()).0, 1);
    // The same line of another ledger: of another time, so that it begins otherwise.
    let mut other = Bench::new();
    other.commit(4);
    other.writer().drain(|| super::NOW_MS + 1).unwrap();
    let mut mixed = whole.clone();
    mixed[3] = lines(&other.disk.bytes("w"))[3].clone();
    assert_eq!(broken(&mixed.concat()).0, 4);
}

#[test]
fn a_chain_that_leaves_out_an_event_is_found_even_where_its_digests_are_right() {
    let chain = |numbers: &[(u64, &str, serde_json::Value)]| {
        let (mut text, mut previous) = (String::new(), Digest::default());
        for (number, kind, body) in numbers {
            let line = Line { number: *number, kind: (*kind).into(), at_ms: 1, body: body.clone(), previous };
            let (more, digest) = line.to_text().unwrap();
            text.push_str(&more);
            previous = digest;
        }
        text
    };
    let first = (0, "ledger", json!({"workspace": "w"}));
    let gap = |from: u64, to: u64| json!({"from": from, "reason": "dropped", "to": to});
    for (second, expected) in [
        ((2, "k", json!({})), "number is 2: expected 1"),
        ((3, "gap", gap(2, 3)), "from is 2: expected 1"),
        ((4, "gap", gap(1, 3)), "number is 4: expected 3"),
        ((0, "gap", gap(1, 0)), "to is 0: expected at least 1"),
        ((0, "gap", json!({})), "body: expected a number as from"),
        ((1, "outage", json!({})), "number is 1: expected 0"),
        ((0, "ledger", json!({"workspace": "w"})), "kind is ledger: expected no second beginning"),
    ] {
        assert_eq!(broken(chain(&[first.clone(), second]).as_bytes()), (2, expected.to_string()));
    }
    let good = chain(&[first, (3, "gap", gap(1, 3)), (4, "k", json!({})), (4, "outage", json!({}))]);
    assert_eq!(verify(good.as_bytes()).unwrap().gaps, [(1, 3)]);
}

#[test]
fn hostile_input_is_refused_by_line_in_bounded_memory() {
    let bytes = ledger(1);
    for more in [&b"\xff\xfe\n"[..], b"\n", b"{}\n", b"[1]\n", b"null\n", b"{\"a\":1,\"a\":1}\n", b"\0\0\0\0\n"] {
        assert_eq!(broken(&[&bytes[..], more].concat()).0, 3);
    }
    assert!(matches!(verify(&b""[..]), Err(Broken::Empty)));
    assert_eq!(
        broken(&[&bytes[..], b"{\"atMs\""].concat()).1,
        "it has no end, as after a crash, or while it is being written"
    );
    // A line without an end is given up at the bound; the rest is never read.
    let endless = std::io::Read::chain(&bytes[..], std::io::repeat(b'x'));
    match verify(std::io::BufReader::new(endless)) {
        Err(Broken::Line { line: 3, found }) => assert_eq!(found, format!("expected at most {LINE_BYTES_MAX} bytes")),
        other => panic!("{other:?}"),
    }
    let mut longest = Line { number: 1, kind: "k".into(), at_ms: 1, body: json!({}), previous: Digest::default() };
    let rest = longest.to_text().unwrap().0.len() + r#""a":"""#.len();
    longest.body = json!({"a": "x".repeat(LINE_BYTES_MAX - rest)});
    let text = longest.to_text().unwrap().0;
    assert_eq!(text.len(), LINE_BYTES_MAX);
    assert!(broken(text.as_bytes()).1.starts_with("expected the first line of a ledger"));
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("w.jsonl");
    let refused = crate::ledger::verify_file(&path).unwrap_err().to_string();
    assert!(refused.starts_with(&format!("open {}: ", path.display())), "{refused}");
    std::fs::write(&path, ledger(2)).unwrap();
    assert_eq!(crate::ledger::verify_file(&path).unwrap().last, 2);
}

#[test]
fn no_byte_can_change() {
    let bytes = ledger(3);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(verify(&changed[..]).is_err(), "byte {at}");
    }
}

proptest! {
    #[test]
    fn whatever_is_read_nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = verify(&bytes[..]);
        let _ = verify(&[ledger(1), bytes].concat()[..]);
    }
}
