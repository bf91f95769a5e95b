//! `leasebook lease`, `release`, `wait`, `status` and `mcp`, of a service that runs.

use super::serve::Served;
use super::{Run, command, run};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::Stdio;

/// A service, and two agents with a key each.
struct Desk {
    served: Served,
    keys: [String; 2],
}

impl Desk {
    fn open() -> Self {
        let served = Served::start(&[]);
        let data = served.data();
        let key = |actor: &str| run(&["key", "--data", &data, "create", "--actor", actor], "").out.trim().to_owned();
        let keys = [key("did:web:a"), key("did:web:b")];
        Self { served, keys }
    }

    fn run(&self, agent: usize, arguments: &[&str]) -> Run {
        let output = command(arguments)
            .env("LEASEBOOK_SERVER", format!("http://{}", self.served.address()))
            .env("LEASEBOOK_KEY", &self.keys[agent])
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

#[test]
fn one_leases_another_is_told_who_has_it_and_waits_until_it_is_released() {
    let desk = Desk::open();
    let granted = desk.run(0, &["lease", "lock:deploy/production", "--ttl", "600"]);
    assert_eq!(
        (granted.code, granted.out.as_str()),
        (0, "granted lease-1: lock:deploy/production, for 10 min, generation 1\n")
    );
    let refused = desk.run(1, &["lease", "lock:deploy/production"]);
    assert_eq!((refused.code, refused.out.as_str()), (75, ""));
    assert!(refused.err.starts_with("lease_held: lock:deploy/production is held by did:web:a for"), "{}", refused.err);
    let status = desk.run(0, &["status"]).out;
    assert!(status.contains("did:web:a") && status.contains("WAITED FOR") && status.contains("did:web:b"), "{status}");
    assert!(desk.run(0, &["wait"]).out.contains("did:web:b"));
    let waits = std::thread::scope(|scope| {
        let waits = scope.spawn(|| desk.run(1, &["lease", "lock:deploy/production", "--wait", "60", "--json"]));
        // It waits at the latest when the other one says so.
        while !desk.run(0, &["status", "--json"]).out.contains(r#""parked":true"#) {}
        assert_eq!(desk.run(0, &["release", "lock:deploy/production"]).out, "released lock:deploy/production\n");
        waits.join().unwrap()
    });
    let lease: Value = serde_json::from_str(&waits.out).unwrap();
    assert_eq!((waits.code, &lease["lease"]["holder"]), (0, &json!("did:web:b")));
    assert_eq!(desk.run(0, &["release", "lock:deploy/production"]).code, 76);
    assert_eq!(desk.run(1, &["release", "--lease", "lease-2"]).code, 0);
    assert_eq!(desk.run(1, &["wait"]).out, "nobody waits\n");
}

#[test]
fn what_cannot_be_asked_has_a_code_of_its_own() {
    let desk = Desk::open();
    assert_eq!(desk.run(0, &["lease", "/absolute"]).code, 64);
    assert_eq!(desk.run(0, &["lease", "x", "--server", "nowhere"]).code, 64);
    assert_eq!(desk.run(0, &["lease", "x", "--server", "http://127.0.0.1:9"]).code, 69);
    let stranger = Desk { keys: ["lb_none".into(), String::new()], ..desk };
    assert_eq!(stranger.run(0, &["status"]).code, 77);
    let keyless = command(&["status"]).env_remove("LEASEBOOK_KEY").output().unwrap();
    assert_eq!(keyless.status.code(), Some(64));
}

#[test]
fn an_mcp_client_leases_over_standard_streams() {
    let desk = Desk::open();
    let mut child = command(&["mcp", "--server", &format!("http://{}", desk.served.address())])
        .env("LEASEBOOK_KEY", &desk.keys[0])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut say = |message: Value| writeln!(input, "{message}").unwrap();
    let client = json!({ "name": "test", "version": "1" });
    let parameters = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    say(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters }));
    lines.next().unwrap().unwrap();
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let arguments = json!({ "resource": "repo/src", "actorDid": "did:web:a" });
    let call = json!({ "name": "coordination.lease.acquire", "arguments": arguments });
    say(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }));
    let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["lease"]["holder"], "did:web:a");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
