//! The tools of MCP, over both transports, as any client speaks them.

use crate::desk::{Agent, Desk};
use leasebook_server::client::Client;
use leasebook_server::mcp;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

const VERSION: &str = "2025-06-18";

/// A session over streamable HTTP.
struct Session {
    http: reqwest::Client,
    url: String,
    key: String,
    id: Option<String>,
}

impl Session {
    async fn open(desk: &Desk, agent: &Agent) -> Self {
        let mut session = Self {
            http: reqwest::Client::new(),
            url: format!("{}/mcp", desk.base()),
            key: agent.key.clone(),
            id: None,
        };
        let response = session.send(&initialize()).await;
        assert_eq!(response.status().as_u16(), 200);
        session.id = Some(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        let answer = last_message(&response.text().await.unwrap());
        assert!(answer["result"]["instructions"].as_str().unwrap().contains("coordination.lease.acquire"));
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.send(&ready).await.status().as_u16(), 202);
        session
    }

    async fn send(&self, message: &Value) -> reqwest::Response {
        let mut request = self
            .http
            .post(&self.url)
            .bearer_auth(&self.key)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .json(message);
        if let Some(id) = &self.id {
            request = request.header("mcp-session-id", id);
        }
        request.send().await.unwrap()
    }

    async fn ask(&self, message: &Value) -> Value {
        last_message(&self.send(message).await.text().await.unwrap())
    }
}

/// The last message of a body that is JSON, or a stream of events.
fn last_message(text: &str) -> Value {
    let lines = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let last = lines.rev().find(|line| !line.is_empty()).unwrap_or(text);
    serde_json::from_str(last).unwrap_or_else(|_| panic!("no message: {text}"))
}

fn initialize() -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let parameters = json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": parameters })
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let parameters = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": parameters })
}

#[tokio::test]
async fn a_model_leases_is_refused_and_releases_by_lease_id() {
    let desk = Desk::open().await;
    let (a, b) = (desk.agent("a"), desk.agent("b"));
    let (first, second) = (Session::open(&desk, &a).await, Session::open(&desk, &b).await);
    let tools = first.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).await;
    let names: Vec<&str> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["coordination.lease.acquire", "coordination.lease.release", "coordination.wait"]);
    let fields = |agent: &Agent| json!({ "resource": "repo/src", "actorDid": agent.did, "ttlMs": 60_000 });
    let granted = first.ask(&call(2, "coordination.lease.acquire", &fields(&a))).await["result"].clone();
    assert_eq!((&granted["isError"], &granted["structuredContent"]["lease"]["ttlMs"]), (&json!(false), &json!(60_000)));
    assert!(granted["structuredContent"]["receipt"].is_string());
    let refused = second.ask(&call(3, "coordination.lease.acquire", &fields(&b))).await["result"].clone();
    assert_eq!((&refused["isError"], &refused["structuredContent"]["error"]), (&json!(true), &json!("lease_held")));
    let said = refused["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("lease_held: repo/src is held by did:web:a for"), "{said}");
    let waiting = second.ask(&call(4, "coordination.wait", &json!({}))).await["result"].clone();
    assert_eq!(waiting["content"][0]["text"], "waiting for repo/src: did:web:b");
    let lease_id = &granted["structuredContent"]["lease"]["leaseId"];
    let release = json!({ "actorDid": a.did, "leaseId": lease_id });
    let released = first.ask(&call(5, "coordination.lease.release", &release)).await["result"].clone();
    assert_eq!(released["content"][0]["text"], "released: repo/src");
    let stale = first.ask(&call(6, "coordination.lease.release", &release)).await["result"].clone();
    assert_eq!((&stale["isError"], &stale["structuredContent"]["error"]), (&json!(true), &json!("stale_lease")));
    desk.end().await;
}

#[tokio::test]
async fn a_mistake_names_its_field_and_an_unknown_tool_is_none() {
    let desk = Desk::open().await;
    let a = desk.agent("a");
    let session = Session::open(&desk, &a).await;
    for (arguments, error, field) in [
        (json!({ "resource": "x", "actorDid": a.did, "ttlms": 5 }), "unknown_field", "ttlms"),
        (json!({ "resource": "x", "actorDid": a.did, "ttlMs": "5" }), "invalid_field", "ttlMs"),
        (json!({ "resource": "/x", "actorDid": a.did }), "invalid_field", "resource"),
        (json!({ "resource": "x", "actorDid": "did:web:b" }), "wrong_actor", "actorDid"),
        (json!({}), "invalid_field", "actorDid"),
    ] {
        let result = session.ask(&call(1, "coordination.lease.acquire", &arguments)).await["result"].clone();
        assert_eq!(result["isError"], true, "{arguments}");
        let fields = &result["structuredContent"];
        assert_eq!((&fields["error"], &fields["field"]), (&json!(error), &json!(field)), "{arguments}: {fields}");
    }
    let extra = session.ask(&call(2, "coordination.wait", &json!({ "all": true }))).await["result"].clone();
    assert_eq!(extra["structuredContent"]["field"], "all");
    let unknown = session.ask(&call(3, "coordination.nothing", &json!({}))).await;
    assert!(unknown["error"]["code"].is_i64(), "{unknown}");
    assert_eq!(a.get("/api/v1/acp/coordination/leases").await.1["leases"], json!([]));
    desk.end().await;
}

#[tokio::test]
async fn a_cancelled_call_is_never_granted() {
    let desk = Desk::open().await;
    let (holder, waiter) = (desk.agent("holder"), desk.agent("waiter"));
    holder.lease("file").await;
    let session = Session::open(&desk, &waiter).await;
    let fields = json!({ "resource": "file", "actorDid": waiter.did, "waitMs": 60_000 });
    let asks = call(7, "coordination.lease.acquire", &fields);
    let waits = session.send(&asks);
    let cancel = async {
        while holder.get(crate::desk::WAIT).await.1["queues"] == json!([]) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let parameters = json!({ "requestId": 7, "reason": "changed my mind" });
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters });
        assert_eq!(session.send(&cancelled).await.status().as_u16(), 202);
        while holder.get(crate::desk::WAIT).await.1["queues"] != json!([]) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        holder.release("file").await;
    };
    let (_, ()) = tokio::join!(waits, cancel);
    assert_eq!(holder.get("/api/v1/acp/coordination/leases").await.1["leases"], json!([]));
    desk.end().await;
}

#[tokio::test]
async fn only_this_site_and_a_good_key_are_let_in() {
    let desk = Desk::open().await;
    let a = desk.agent("a");
    let http = reqwest::Client::new();
    let ask = |key: &str, host: &'static str, origin: &'static str| {
        let request = http.post(format!("{}/mcp", desk.base())).bearer_auth(key).header("host", host);
        let request = if origin.is_empty() { request } else { request.header("origin", origin) };
        let request = request.header("accept", "application/json, text/event-stream").json(&initialize());
        async move { request.send().await.unwrap().status().as_u16() }
    };
    assert_eq!(ask(&a.key, "localhost", "").await, 200);
    assert_eq!(ask(&a.key, "localhost", "http://localhost:9").await, 200);
    assert_eq!(ask(&a.key, "evil.example", "").await, 403);
    assert_eq!(ask(&a.key, "localhost", "http://evil.example").await, 403);
    assert_eq!(ask("lb_none", "localhost", "").await, 401);
    desk.end().await;
}

/// The tools over streams, as a client over standard streams has them.
struct Streams {
    lines: tokio::io::Lines<BufReader<DuplexStream>>,
    input: DuplexStream,
}

impl Streams {
    async fn open(client: Client) -> Self {
        let (input, theirs) = tokio::io::duplex(1 << 16);
        let (output, ours) = tokio::io::duplex(1 << 16);
        tokio::spawn(mcp::over(client, theirs, output));
        let mut streams = Self { lines: BufReader::new(ours).lines(), input };
        assert_eq!(streams.ask(&initialize()).await["result"]["serverInfo"]["name"], "leasebook");
        streams.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        streams
    }

    async fn say(&mut self, message: &Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.say(message).await;
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }
}

#[tokio::test]
async fn over_streams_the_same_tools_ask_a_service() {
    let desk = Desk::open().await;
    let (a, b) = (desk.agent("a"), desk.agent("b"));
    let mut streams = Streams::open(Client::new(&desk.base(), &a.key).unwrap()).await;
    let fields = json!({ "resource": "file", "actorDid": a.did });
    let granted = streams.ask(&call(1, "coordination.lease.acquire", &fields)).await["result"].clone();
    assert_eq!(granted["structuredContent"]["lease"]["holder"], json!(a.did));
    assert_eq!(b.ask("file", json!({})).await.1["holder"], json!(a.did));
    let waiting = streams.ask(&call(2, "coordination.wait", &json!({}))).await["result"].clone();
    assert_eq!(waiting["structuredContent"]["queues"][0]["resource"], "file");
    let typo = json!({ "resource": "file", "actorDid": a.did, "leaseid": "lease-1" });
    let refused = streams.ask(&call(3, "coordination.lease.release", &typo)).await["result"].clone();
    assert_eq!(refused["structuredContent"]["field"], "leaseid");
    desk.end().await;
    let gone = streams.ask(&call(4, "coordination.lease.acquire", &fields)).await["result"].clone();
    assert_eq!((&gone["isError"], &gone["structuredContent"]["error"]), (&json!(true), &json!("unavailable")));
}
