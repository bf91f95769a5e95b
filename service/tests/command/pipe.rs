//! A session over a pipe: each answer is there before the next line is written.

use super::{RUNTIMES, command, table};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Session {
    fn start(arguments: &[&str]) -> Self {
        let mut command = command(&[&["table"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    fn ask(&mut self, operation: Value) -> Value {
        writeln!(self.input, "{operation}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{operation}: {line:?}"))
    }

    fn end(self) -> i32 {
        let Self { mut child, input, output } = self;
        drop((input, output));
        child.wait().unwrap().code().unwrap()
    }
}

#[test]
fn a_session_in_lockstep() {
    for runtime in RUNTIMES {
        let mut book = Session::start(&["--runtime", runtime, "--fairness", "fifo"]);
        let granted = book.ask(json!({"op": "acquire", "at-ms": 1000, "holder": "writer-1", "paths": ["/srv/src"]}));
        assert_eq!(granted["leases"][0]["generation"], 1);
        assert_eq!(granted["leases"][0]["mode"], "exclusive");

        let refused = book.ask(json!({"op": "acquire", "at-ms": 13_000, "holder": "b", "paths": ["/srv/src/app.rs"]}));
        assert_eq!(
            refused["sentence"],
            "/srv/src/app.rs is inside /srv/src, held by writer-1 for 12 s, free in at most 288 s"
        );
        let waits = book.ask(json!({"op": "wait-attempt", "at-ms": 13_000, "waiter-id": "w", "holder": "b",
            "paths": ["/srv/src/app.rs"], "keep-ms": 60_000}));
        assert_eq!((&waits["reason"], &waits["blockers"]), (&json!("conflict"), &json!(["writer-1"])));
        assert_eq!(book.ask(json!({"op": "next-deadline", "at-ms": 13_000})), json!({"deadline-ms": 73_000}));

        let pinned = book.ask(json!({"op": "pin", "at-ms": 13_000, "holder": "writer-1", "paths": ["/srv/src/x"]}));
        let token = pinned["token"].clone();
        let revoked = book.ask(json!({"op": "revoke", "at-ms": 13_000, "generation": 1}));
        assert_eq!(revoked, json!({"revoked": true, "holder": "writer-1", "path": "/srv/src", "pending": true}));
        assert_eq!(book.ask(json!({"op": "unpin", "at-ms": 13_000, "token": token})), json!({"found": true}));
        assert_eq!(book.ask(json!({"op": "unpin", "at-ms": 13_000, "token": token})), json!({"found": false}));
        assert_eq!(book.ask(json!({"op": "ready", "at-ms": 13_000})), json!({"ready": ["w"]}));

        let events = book.ask(json!({"op": "events", "at-ms": 13_000}));
        let named: Vec<&str> =
            events["events"].as_array().unwrap().iter().map(|e| e["event"].as_str().unwrap()).collect();
        for expected in ["granted", "refused", "waiting", "revoked", "ready"] {
            assert!(named.contains(&expected), "{expected}: {events}");
        }
        assert_eq!(
            events["events"][0],
            json!({"at-ms": 1000, "event": "granted", "generation": 1, "holder": "writer-1",
            "path": "/srv/src", "mode": "exclusive", "expires-at-ms": 301_000})
        );
        assert_eq!(book.ask(json!({"op": "events", "at-ms": 13_000})), json!({"events": []}));

        assert_eq!(book.ask(json!({"op": "contains", "path": "/a/b", "directory": "/a"})), json!({"contains": "yes"}));
        assert_eq!(
            book.ask(json!({"op": "contains", "path": "a/b", "directory": "/a"})),
            json!({"contains": "unknown"})
        );
        assert_eq!(book.ask(json!({"op": "end-session", "at-ms": 13_000, "holder": "b"})), json!({"count": 0}));
        assert_eq!(book.end(), 0, "{runtime}");
    }
}

#[test]
fn without_a_moment_the_machines_clock_serves() {
    for runtime in RUNTIMES {
        let mut book = Session::start(&["--runtime", runtime]);
        let wall_ms = || std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
        let before = wall_ms();
        let lease =
            book.ask(json!({"op": "acquire", "holder": "a", "paths": ["/a"], "ttl-ms": 1000}))["leases"][0].clone();
        let at = lease["acquired-at-ms"].as_u64().unwrap();
        assert!(before - 1000 <= at && at <= wall_ms() + 1000, "{at} is not about {before}");
        assert_eq!(lease["expires-at-ms"], at + 1000);
        assert_eq!(book.end(), 0);
    }
}

#[test]
fn time_does_not_run_back_but_a_new_book_begins_where_it_says() {
    let run = table(
        &[],
        &[
            r#"{"op":"acquire","at-ms":5000,"holder":"a","paths":["/a"]}"#,
            r#"{"op":"advance","at-ms":9000,"by-ms":4000}"#,
            r#"{"op":"covering","at-ms":6000,"holder":"a","path":"/a"}"#,
            r#"{"op":"new","at-ms":100,"default-ttl-ms":50}"#,
            r#"{"op":"acquire","at-ms":100,"holder":"a","paths":["/a"]}"#,
            r#"{"op":"leases","at-ms":150}"#,
            r#"{"op":"advance","at-ms":18446744073709551615}"#,
        ],
    );
    let answers = run.answers();
    assert_eq!(answers[1], json!({"at-ms": 9000}));
    assert_eq!(answers[2]["held-for-ms"], 4000);
    assert_eq!(answers[3], json!({"fairness": "barge", "default-ttl-ms": 50, "runtime": "native"}));
    assert_eq!(
        (&answers[4]["leases"][0]["generation"], &answers[4]["leases"][0]["expires-at-ms"]),
        (&json!(1), &json!(150))
    );
    assert_eq!(answers[5], json!({"leases": []}));
    assert_eq!(answers[6], json!({"at-ms": 9_007_199_168_340_991_u64}));
}

#[test]
fn a_book_goes_on_from_the_records_of_its_journal() {
    for runtime in RUNTIMES {
        let arguments = ["--runtime", runtime, "--fairness", "fifo", "--journal"];
        let mut first = Session::start(&arguments);
        let mut stored: Vec<Value> =
            first.ask(json!({"op": "records", "at-ms": 0}))["records"].as_array().unwrap().clone();
        for operation in [
            json!({"op": "acquire", "at-ms": 1000, "holder": "a", "paths": ["/a", "/b/c"], "modes": ["shared", "exclusive"]}),
            json!({"op": "wait-attempt", "at-ms": 1500, "waiter-id": "w", "holder": "b", "paths": ["/b"], "keep-ms": 9000}),
            json!({"op": "pin", "at-ms": 1600, "holder": "a", "paths": ["/b/c/d"], "deadline-ms": 8000}),
            json!({"op": "release", "at-ms": 2000, "holder": "a"}),
        ] {
            let changed = first.ask(operation);
            stored.extend(changed["changed"].as_array().unwrap().iter().cloned());
        }
        let mut second = Session::start(&arguments);
        let restored = second.ask(json!({"op": "restore", "at-ms": 2000, "records": stored}));
        assert_eq!(restored["restored"], true, "{restored}");
        for operation in [
            json!({"op": "status", "at-ms": 2500}),
            json!({"op": "records", "at-ms": 2500}),
            json!({"op": "unpin", "at-ms": 2500, "token": "pin-1"}),
            json!({"op": "ready", "at-ms": 2500}),
            json!({"op": "acquire", "at-ms": 2500, "holder": "c", "paths": ["/e"]}),
        ] {
            assert_eq!(first.ask(operation.clone()), second.ask(operation.clone()), "{runtime}: {operation}");
        }
        let again = second.ask(json!({"op": "acquire", "at-ms": 2500, "holder": "d", "paths": ["/f"]}));
        assert_eq!(again["leases"][0]["generation"], 4, "no generation comes back: {again}");

        // Records that make no table leave the book as it is.
        let lease = json!({"record": "lease", "generation": 9, "holder": "x", "path": "/f/g", "mode": "exclusive",
            "acquired-at-ms": 0, "ttl-ms": 5000, "expires-at-ms": 5000, "release-pending": false});
        let refused = second.ask(json!({"op": "restore", "at-ms": 2500, "records": [lease]}));
        assert_eq!(refused["restored"], false, "{refused}");
        assert!(refused["sentence"].as_str().unwrap().contains("expected"), "{refused}");
        assert_eq!(
            second.ask(json!({"op": "covering", "at-ms": 2500, "holder": "x", "path": "/f"}))["verdict"],
            "other"
        );
        assert_eq!((first.end(), second.end()), (0, 0));
    }
}

#[test]
fn a_restored_book_never_goes_by_an_earlier_clock() {
    let counters = json!({"record": "counters", "now-ms": 9_000_000_000_000_000_u64 - 100_000_000, "last-generation": 7,
        "last-place": 0, "last-token": 0});
    let mut book = Session::start(&[]);
    assert_eq!(book.ask(json!({"op": "restore", "records": [counters]}))["restored"], true);
    let lease = book.ask(json!({"op": "acquire", "holder": "a", "paths": ["/a"]}))["leases"][0].clone();
    assert_eq!(lease["generation"], 8);
    assert!(lease["acquired-at-ms"].as_u64().unwrap() >= 9_000_000_000_000_000 - 100_000_000, "{lease}");
    assert_eq!(book.end(), 0);
}

#[test]
fn bounds_of_the_command_line_are_kept() {
    for runtime in RUNTIMES {
        let run = table(
            &["--runtime", runtime, "--leases-max", "1", "--default-ttl-ms", "7", "--events", "2"],
            &[
                r#"{"op":"acquire","at-ms":1,"holder":"a","paths":["/a"]}"#,
                r#"{"op":"acquire","at-ms":1,"holder":"a","paths":["/b"]}"#,
                r#"{"op":"refresh","at-ms":1,"holder":"a","generation":1}"#,
                r#"{"op":"events","at-ms":1}"#,
            ],
        );
        let answers = run.answers();
        assert_eq!(answers[0]["leases"][0]["ttl-ms"], 7);
        let refused = &answers[1];
        assert_eq!((&refused["which"], &refused["limit"]), (&json!("leases"), &json!(1)), "{refused}");
        assert_eq!(answers[3]["events"][0], json!({"at-ms": 1, "event": "dropped", "count": 1}), "{}", answers[3]);
    }
}

#[test]
fn too_many_paths_are_refused_with_the_limit() {
    for runtime in RUNTIMES {
        let paths: Vec<String> = (0..1025).map(|n| format!("/{n}")).collect();
        let ask = |op: &str| json!({"op": op, "at-ms": 1, "holder": "a", "paths": paths}).to_string();
        let run = table(&["--runtime", runtime], &[&ask("acquire"), &ask("release"), &ask("pin")]);
        for answer in run.answers() {
            assert_eq!(answer["reason"], "limit-exceeded", "{answer}");
            assert_eq!((&answer["which"], &answer["limit"]), (&json!("paths"), &json!(1024)), "{answer}");
            assert!(answer["sentence"].as_str().unwrap().contains("1024"), "{answer}");
        }
        assert_eq!(run.code, 0);
    }
}

#[test]
fn a_reader_that_has_gone_ends_it_quietly() {
    let Session { child, mut input, output } = Session::start(&[]);
    drop(output);
    // The first lines may still fit into the pipe; the command ends at the first that it cannot write.
    let wrote = (0..100_000).try_for_each(|_| input.write_all(b"{\"op\":\"ready\"}\n"));
    assert!(wrote.is_err(), "the command goes on without a reader");
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(0), ""));
}
