//! What strangers leave in the directory stands in the way, untouched, whatever it is; unrelated files do not.

use super::{DEAD, OTHER, PID, acquire, acquired, inspect, layout, recover, states};
use leasebook::marker::{Acquire, Acquisition, MarkerState, PID_MAX, RECORD_BYTES_MAX};
use leasebook_tests::markers::{HOST, MarkerFiles, Node, Process, marker, nonce, record, run};

fn fields(pid: &str, host: &str) -> Vec<u8> {
    format!("{{\"version\":1,\"pid\":{pid},\"host\":\"{host}\",\"nonce\":\"{}\"}}\n", nonce(1)).into_bytes()
}

/// A marker that this host must never touch: it is told with this state, in the way, and kept by everything.
fn check(name: &str, node: Node, state: MarkerState) {
    let mut files = MarkerFiles::new();
    files.put(&marker(1), node);
    let before = files.clone();

    let found = inspect(&mut files);
    assert_eq!(states(&found), [(&*marker(1), state.name())], "{name}");
    assert_eq!(found[0].owner.is_some(), state != MarkerState::Unrecognized, "{name}");
    assert_eq!(found[0].detail.is_some(), state == MarkerState::Unrecognized, "{name}");
    let recovery = recover(&mut files, true);
    assert_eq!((recovery.kept, recovery.removed.len()), (found.clone(), 0), "{name}");
    let mut process = Process::start(&mut files, PID);
    assert_eq!(acquire(&mut files, &mut process), Ok(Acquisition::Busy { owners: found }), "{name}");
    assert_eq!(files.directories, before.directories, "{name}");
}

fn file(bytes: impl Into<Vec<u8>>) -> Node {
    Node::File { bytes: bytes.into(), changed_ms: 5_000_000 }
}

#[test]
fn what_says_nothing_is_unrecognized_and_in_the_way() {
    let whole = fields("8", HOST);
    let spaced = |bytes: usize| [&whole[..], &vec![b' '; bytes - whole.len()]].concat();
    let twice = String::from_utf8(whole.clone()).expect("text").replace("\"pid\":8", "\"pid\":8,\"pid\":8");
    for (name, bytes) in [
        ("empty", Vec::new()),
        ("one byte too many", spaced(RECORD_BYTES_MAX + 1)),
        ("NUL", vec![0; 100]),
        ("NUL after a record", [&whole[..], b"\0"].concat()),
        ("no UTF-8", b"\xff\xfe\x00".to_vec()),
        ("no UTF-8 in the host", fields("8", "x").into_iter().map(|b| if b == b'x' { 0xff } else { b }).collect()),
        ("deep nesting", b"[".repeat(RECORD_BYTES_MAX)),
        ("deep nesting in a field", fields(&"[".repeat(3_000), HOST)),
        ("a field twice", twice.into_bytes()),
        ("pid 0", fields("0", HOST)),
        ("pid -1", fields("-1", HOST)),
        ("pid 2^31", fields("2147483648", HOST)),
        ("pid 2^63", fields("9223372036854775808", HOST)),
        ("pid 2^64 + 8", fields("18446744073709551624", HOST)),
        ("a huge host", fields("8", &"h".repeat(RECORD_BYTES_MAX))),
        ("another's nonce", record(2, 8, HOST)),
    ] {
        check(name, file(bytes), MarkerState::Unrecognized);
    }
    check("a link, fifo or device", Node::Special, MarkerState::Unrecognized);
    check("a directory", Node::Directory, MarkerState::Unrecognized);
    check("one that cannot be opened", Node::Closed, MarkerState::Unrecognized);
}

#[test]
fn a_record_of_the_largest_size_is_read() {
    let whole = fields("66", HOST);
    let mut files = MarkerFiles::new();
    files.put_file(&marker(1), [&whole[..], &vec![b' '; RECORD_BYTES_MAX - whole.len()]].concat());
    assert_eq!(states(&recover(&mut files, true).removed), [(&*marker(1), "stale")]);
    let mut files = MarkerFiles::new();
    files.alive.insert(PID_MAX);
    files.put_file(&marker(1), fields(&PID_MAX.to_string(), HOST));
    assert_eq!(states(&inspect(&mut files)), [(&*marker(1), "active")]);
}

#[test]
fn another_host_is_foreign_even_with_a_dead_pid() {
    for host in ["build-8", "BUILD-7", "build-7 ", "build-7;pidns=4026532177@0123abcd", "build-7;pidns=?"] {
        check(host, file(fields("66", host)), MarkerState::Foreign);
    }
    let long = "h".repeat(3_900);
    check("a long host", file(fields("66", &long)), MarkerState::Foreign);
}

#[test]
fn a_namespace_that_cannot_be_read_is_foreign_to_itself() {
    for (host, state) in [("h;pidns=?", "foreign"), ("h;pidns=4026532177@0123abcd", "stale")] {
        let mut files = MarkerFiles::new();
        files.put_file(&marker(1), fields("66", host));
        let mut process = Process::start(&mut files, PID);
        process.host = host.into();
        let found = run(&mut leasebook::marker::Inspect::new(), &mut process, &mut files, super::undisturbed);
        assert_eq!(states(&found.expect("it is told").records), [(&*marker(1), state)]);
        // It still acquires where it is alone: the own marker is known by its nonce.
        let mut files = MarkerFiles::new();
        acquired(&mut files, &mut process);
    }
}

#[test]
fn unrelated_files_are_never_touched_and_never_in_the_way() {
    let mut files = MarkerFiles::new();
    let upper = marker(0xabc).to_uppercase();
    let unrelated = [
        "README",
        ".json",
        "x.json",
        "0.json",
        &upper,
        &nonce(1),
        &format!("{}.json.bak", nonce(1)),
        &format!("{}0.json", nonce(1)),
        &format!("x{}.json", &nonce(1)[1..]),
        &format!("{}.JSON", nonce(1)),
        "ä.json",
        &format!("{}.tmp.json", nonce(1)),
    ];
    for name in unrelated {
        files.put_file(name, fields("66", HOST));
    }
    let before = files.names();
    let mut process = Process::start(&mut files, PID);
    assert_eq!(inspect(&mut files), []);
    let mut reads = Vec::new();
    let answer = run(&mut Acquire::new(&layout(&[]), Vec::new()), &mut process, &mut files, |_, effect, _, _| {
        if let leasebook::marker::Effect::Read { name, .. } = effect {
            reads.push(name.clone());
        }
        None
    });
    let Ok(Acquisition::Acquired(owned)) = answer else { panic!("{answer:?}") };
    assert_eq!(reads, [format!("{}.json", owned.record().nonce())]);
    files.now_ms += 10 * leasebook::marker::INCOMPLETE_AGE_MS_MIN;
    recover(&mut files, true);
    assert_eq!(files.names().len(), before.len() + 1);
}

#[test]
fn other_spellings_of_a_record_are_read_alike() {
    let written = format!(
        "\t{{\r\n \"nonce\" : \"{}\" , \"host\":\"\\u0062uild-7\",\n\"\\u0070id\": 66, \"version\" :1 }} \n\n",
        nonce(1)
    );
    let mut files = MarkerFiles::new();
    files.put_file(&marker(1), written);
    let recovery = recover(&mut files, true);
    assert_eq!(states(&recovery.removed), [(&*marker(1), "stale")]);
    assert_eq!(recovery.removed[0].owner.as_ref().map(|owner| owner.pid()), Some(DEAD));
    assert!(!files.alive.contains(&OTHER));
}
