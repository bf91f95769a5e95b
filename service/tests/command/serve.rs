//! `leasebook serve` and `leasebook key`.

use super::{command, run};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A service of a test's own, on a port that the system chose.
pub struct Served {
    child: Child,
    said: Vec<String>,
    folder: PathBuf,
    /// Goes away with the service, unless the data is to outlive it.
    _folder: Option<tempfile::TempDir>,
}

impl Served {
    pub fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut served = Self::start_in(folder.path(), arguments);
        served._folder = Some(folder);
        served
    }

    /// A service on data that outlives it.
    pub fn start_in(folder: &Path, arguments: &[&str]) -> Self {
        let mut child = served(folder, arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut said = Vec::new();
        for line in out.lines() {
            said.push(line.unwrap());
            if said.last().is_some_and(|line| line.starts_with("data")) {
                break;
            }
        }
        Self { child, said, folder: folder.into(), _folder: None }
    }

    /// Ends it as nobody should.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn data(&self) -> String {
        self.folder.join("book.sqlite").display().to_string()
    }

    pub fn address(&self) -> &str {
        self.said[0].split_once("http://").unwrap().1
    }

    /// Ends it as a service manager does.
    pub fn end(&mut self) -> i32 {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended is waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn served(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    command.arg(folder.join("book.sqlite")).arg("--ledger").arg(folder.join("ledger"));
    command.args(arguments);
    command
}

#[test]
fn a_service_says_where_it_is_and_ends_when_told() {
    let mut served = Served::start(&["--dev"]);
    let said = served.said.join("\n");
    let key = served.said.iter().find_map(|line| line.strip_prefix("key")).unwrap().trim();
    assert!(key.starts_with("lb_") && said.contains(&format!("/#key={key}")), "{said}");
    assert!(said.starts_with("listening   http://127.0.0.1:") && said.contains("for trying out"), "{said}");
    assert_eq!(served.end(), 0);
}

#[test]
fn a_second_service_on_the_same_data_is_told_so() {
    let mut first = Served::start(&[]);
    let second = served(&first.folder, &[]).output().unwrap();
    assert_eq!(second.status.code(), Some(75));
    assert!(String::from_utf8(second.stderr).unwrap().contains("another service uses"));
    assert_eq!(first.end(), 0);
}

#[test]
fn keys_are_made_listed_and_revoked_while_the_service_runs() {
    let mut served = Served::start(&[]);
    let data = served.data();
    let key = |arguments: &[&str]| run(&[&["key", "--data", &data, "--json"], arguments].concat(), "");
    let made: Value = serde_json::from_str(&key(&["create", "--actor", "did:web:a", "--days", "7"]).out).unwrap();
    let id = made["id"].as_str().unwrap();
    assert!(made["key"].as_str().unwrap().starts_with(&format!("lb_{id}_")));
    let listed = || serde_json::from_str::<Value>(&key(&["list"]).out).unwrap()["keys"][0].clone();
    assert_eq!((&listed()["actorDid"], &listed()["revokedAtMs"]), (&Value::from("did:web:a"), &Value::Null));
    assert_eq!(key(&["revoke", id]).code, 0);
    assert!(listed()["revokedAtMs"].is_u64());
    assert_eq!(key(&["revoke", id]).code, 66);
    let shown = run(&["key", "--data", &data, "list"], "").out;
    assert!(shown.starts_with("ID ") && shown.contains("revoked") && !shown.contains("lb_"), "{shown}");
    assert_eq!(served.end(), 0);
}

#[test]
fn mistakes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("bad.toml"), "lisen = 1").unwrap();
    for (arguments, code, words) in [
        (&["serve", "--config", &path("bad.toml")][..], 64, "lisen"),
        (&["serve", "--config", &path("none.toml")], 64, "none.toml"),
        (&["serve", "--listen", "nowhere"], 64, "--listen"),
        (&["serve", "--log", "=,="], 64, "--log"),
        (&["key", "--data", &path("none"), "list"], 66, "none"),
        (&["key", "--data", &path("none"), "create", "--actor", "me"], 64, "did:web:example.org"),
        (&["key", "--data", &path("none"), "create", "--actor", "did:web:a", "--workspace", "../x"], 64, "--workspace"),
        (&["key", "--data", &path("none"), "create", "--actor", "did:web:a", "--days", "0"], 64, "--days"),
    ] {
        let ended = run(arguments, "");
        assert_eq!(ended.code, code, "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(words), "{arguments:?}: {}", ended.err);
    }
    assert!(!folder.path().join("none").exists());
}

#[test]
fn the_printed_configuration_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let printed = run(&["serve", "--listen", "127.0.0.1:9", "--print-config"], "");
    assert_eq!(printed.code, 0);
    let file = folder.path().join("leasebook.toml");
    std::fs::write(&file, &printed.out).unwrap();
    let again = run(&["serve", "--config", &file.display().to_string(), "--print-config"], "");
    assert_eq!((again.code, again.out), (0, printed.out));
}

/// An answer of a service, over a connection of its own; `None`: the service is gone.
pub fn try_ask(address: &str, key: &str, path: &str, body: Option<&Value>) -> Option<Value> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    let body = body.map(Value::to_string).unwrap_or_default();
    let method = if body.is_empty() { "GET" } else { "POST" };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}

fn ask(address: &str, key: &str, path: &str, body: Option<&Value>) -> String {
    try_ask(address, key, path, body).unwrap().to_string()
}

#[test]
fn a_receipt_and_a_ledger_verify_offline_and_a_changed_one_does_not() {
    let mut served = Served::start(&["--dev"]);
    let address = served.address().to_owned();
    let key = served.said.iter().find_map(|line| line.strip_prefix("key")).unwrap().trim().to_owned();
    let body = serde_json::json!({ "resource": "file", "actorDid": "did:web:dev.invalid" });
    let answer = ask(&address, &key, "/api/v1/acp/coordination/lease", Some(&body));
    let path = |name: &str| served.folder.join(name).display().to_string();
    std::fs::write(path("answer"), &answer).unwrap();
    std::fs::write(path("jwks"), ask(&address, &key, "/.well-known/jwks.json", None)).unwrap();
    let verify = |file: &str| run(&["verify", &path(file), "--jwks", &path("jwks")], "");
    let verified = verify("answer");
    assert!(verified.code == 0 && verified.out.contains("did:web:dev.invalid"), "{}{}", verified.out, verified.err);
    std::fs::write(path("other"), answer.replace("\"ttlMs\":30000", "\"ttlMs\":30001")).unwrap();
    assert_eq!(verify("other").code, 65);
    assert_eq!(verify("none").code, 66);
    let ledger = path("ledger/default.jsonl");
    assert_eq!(served.end(), 0);
    let whole = run(&["ledger", "verify", &ledger, "--json"], "");
    let told: Value = serde_json::from_str(&whole.out).unwrap();
    assert_eq!((whole.code, &told["whole"], &told["lines"]), (0, &Value::from(true), &Value::from(2)));
    let text = std::fs::read_to_string(&ledger).unwrap();
    std::fs::write(&ledger, text.replace("dev.invalid", "dev.example")).unwrap();
    assert_eq!(run(&["ledger", "verify", &ledger], "").code, 65);
}
