//! Hostile and mistaken requests: each gets a clear refusal that names the field, and nothing is granted.

use crate::desk::{Desk, LEASE, RELEASE};
use serde_json::{Value, json};

#[tokio::test]
async fn every_mistake_names_its_field_and_what_was_expected() {
    let desk = Desk::open().await;
    let a = desk.agent("a");
    let did = &a.did;
    let cases: Vec<(Value, &str, Option<&str>)> = vec![
        (json!({ "resource": "x" }), "invalid_field", Some("actorDid")),
        (json!({ "resource": "x", "actorDid": did, "ttlms": 5 }), "unknown_field", Some("ttlms")),
        (json!({ "actorDid": did }), "invalid_field", Some("resources")),
        (json!({ "resources": [], "actorDid": did }), "invalid_field", Some("resources")),
        (json!({ "resource": "x", "resources": ["y"], "actorDid": did }), "invalid_field", Some("resources")),
        (json!({ "resource": "/x", "actorDid": did }), "invalid_field", Some("resource")),
        (json!({ "resource": "x/../y", "actorDid": did }), "invalid_field", Some("resource")),
        (json!({ "resource": null, "actorDid": did }), "invalid_field", Some("resource")),
        (json!({ "resource": "x", "actorDid": did, "mode": "exclusiv" }), "invalid_field", Some("mode")),
        (json!({ "resource": "x", "actorDid": did, "idempotencyKey": "" }), "invalid_field", Some("idempotencyKey")),
        (json!({ "resource": "x", "actorDid": did, "waitMs": -1 }), "invalid_field", Some("waitMs")),
        (json!({ "resource": "x", "actorDid": did, "waitMs": 60_001 }), "invalid_field", Some("waitMs")),
        (json!({ "resource": "x", "actorDid": "did:web:other" }), "wrong_actor", Some("actorDid")),
    ];
    for (body, code, field) in cases {
        let (status, refused) = a.post(LEASE, &body).await;
        assert!((400..=403).contains(&status), "{body}: {status}");
        assert_eq!((&refused["error"], refused["field"].as_str()), (&json!(code), field), "{body}: {refused}");
        assert!(refused["message"].as_str().is_some_and(|message| message.len() > 10), "{refused}");
    }
    let ttls = [json!(0), json!(-1), json!(0.5), json!(1e300), json!(9_007_199_254_740_992_u64), json!(u64::MAX)];
    for ttl in ttls.into_iter().chain([json!("5"), json!(null), json!(3_600_001), json!([]), json!(true)]) {
        let (status, refused) = a.ask("x", json!({ "ttlMs": ttl })).await;
        assert_eq!((status, &refused["field"]), (400, &json!("ttlMs")), "{ttl}: {refused}");
    }
    for id in ["7", "lease-07", "lease-", "lease-99999999999999999999"] {
        let (status, refused) = a.post(RELEASE, &json!({ "actorDid": did, "leaseId": id })).await;
        assert_eq!((status, &refused["field"]), (400, &json!("leaseId")), "{id}");
    }
    let (status, refused) = a.post(RELEASE, &json!({ "actorDid": did, "leaseId": "lease-7" })).await;
    assert_eq!((status, &refused["error"]), (409, &json!("stale_lease")));
    let (_, leases) = a.get("/api/v1/acp/coordination/leases").await;
    assert_eq!(leases["leases"], json!([]));
    desk.end().await;
}

#[tokio::test]
async fn what_is_no_request_is_refused_as_that() {
    let desk = Desk::open().await;
    let a = desk.agent("a");
    let http = reqwest::Client::new();
    let post = |kind: &'static str, body: Vec<u8>| {
        let request = http.post(format!("{}{LEASE}", desk.base())).bearer_auth(&a.key).header("content-type", kind);
        async move {
            let response = request.body(body).send().await.unwrap();
            let status = response.status().as_u16();
            (status, response.json::<Value>().await.unwrap()["error"].as_str().unwrap().to_owned())
        }
    };
    let json_kind = "application/json";
    assert_eq!(post(json_kind, b"{".to_vec()).await, (400, "malformed_json".into()));
    assert_eq!(post(json_kind, b"\xff".to_vec()).await, (400, "malformed_json".into()));
    assert_eq!(post(json_kind, b"[]".to_vec()).await, (400, "invalid_field".into()));
    assert_eq!(post("text/plain", b"{}".to_vec()).await, (415, "unsupported_media_type".into()));
    assert_eq!(post(json_kind, vec![b' '; 64 * 1024 + 1]).await, (413, "body_too_large".into()));
    for (method, path, status, code) in [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", LEASE, 405, "method_not_allowed"),
        ("POST", "/api/v1/acp/keys/test", 404, "not_found"),
    ] {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let response = http.request(method, format!("{}{path}", desk.base())).send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{path}");
        assert_eq!(response.json::<Value>().await.unwrap()["error"], code);
    }
    desk.end().await;
}

#[tokio::test]
async fn only_a_good_key_is_good() {
    let desk = Desk::with(|config| config.test_keys = true).await;
    let a = desk.agent("a");
    for key in ["", "nonsense", &"lb_".repeat(1000), &a.key[..a.key.len() - 1], &a.key.replace('a', "b")] {
        let (status, refused) = desk.bearer(&a.did, key).ask("x", json!({})).await;
        assert_eq!((status, &refused["error"]), (401, &json!("unauthorized")), "{key}");
    }
    let http = reqwest::Client::new();
    let from_elsewhere =
        http.post(format!("{}/api/v1/acp/keys/test", desk.base())).header("origin", "http://evil.example");
    assert_eq!(from_elsewhere.send().await.unwrap().status().as_u16(), 403);
    let made: Value =
        http.post(format!("{}/api/v1/acp/keys/test", desk.base())).send().await.unwrap().json().await.unwrap();
    let tester = desk.bearer(made["actorDid"].as_str().unwrap(), made["key"].as_str().unwrap());
    for _ in 0..35 {
        assert_eq!(tester.ask("x", json!({})).await.0, 200);
    }
    let (status, used) = tester.ask("x", json!({})).await;
    assert_eq!((status, &used["error"]), (429, &json!("quota_exhausted")));
    desk.end().await;
}
