//! Leases are granted, refused and given back.

use crate::desk::{Desk, RELEASE, WAIT};
use serde_json::json;

#[tokio::test]
async fn a_second_agent_is_told_who_has_it_and_when_to_ask_again() {
    let desk = Desk::open().await;
    let (a, b) = (desk.agent("a"), desk.agent("b"));
    let lease = a.lease("lock:deploy/production").await;
    assert_eq!(
        (&lease["leaseId"], &lease["ttlMs"], &lease["mode"]),
        (&json!("lease-1"), &json!(30_000), &json!("exclusive"))
    );
    let (status, refused) = b.ask("lock:deploy/production", json!({})).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(refused["ok"], false);
    assert_eq!(refused["error"], "lease_held");
    assert_eq!((&refused["holder"], &refused["leased"]), (&json!("did:web:a"), &json!("lock:deploy/production")));
    assert!(refused["expiresInMs"].as_i64().unwrap() > 20_000 && refused["heldForMs"].as_u64().unwrap() < 10_000);
    let stampede = json!({ "admitted": ["did:web:b"], "waitMs": 25, "position": 1, "waiters": 0 });
    assert_eq!(refused["stampede"], stampede);
    let (status, released) = a.post(RELEASE, &json!({ "actorDid": a.did, "leaseId": "lease-1" })).await;
    assert_eq!((status, &released["ended"]), (200, &json!(["lease-1"])));
    let second = b.lease("lock:deploy/production").await;
    assert!(second["generation"].as_u64() > lease["generation"].as_u64());
    let (_, trust) = a.get("/api/v1/acp/coordination/trust/did:web:a").await;
    assert_eq!(trust["score"], 50.5);
    desk.end().await;
}

#[tokio::test]
async fn a_ttl_is_honoured_and_an_alarm_takes_the_lease_of_a_crashed_holder() {
    let desk = Desk::open().await;
    let (a, b) = (desk.agent("a"), desk.agent("b"));
    let (_, granted) = a.ask("file", json!({ "ttlMs": 300 })).await;
    assert_eq!(granted["lease"]["ttlMs"], 300);
    let (status, waited) = b.ask("file", json!({ "waitMs": 30_000 })).await;
    assert_eq!((status, &waited["lease"]["holder"]), (200, &json!("did:web:b")));
    assert_eq!(a.get("/api/v1/acp/coordination/trust/did:web:a").await.1["score"], 45.0);
    desk.end().await;
}

#[tokio::test]
async fn a_deadlock_is_refused_with_what_the_holder_waits_for() {
    let desk = Desk::open().await;
    let (a, b) = (desk.agent("a"), desk.agent("b"));
    a.lease("docs").await;
    b.lease("src").await;
    assert_eq!(a.ask("src", json!({})).await.1["error"], "lease_held");
    let (status, deadlock) = b.ask("docs", json!({})).await;
    assert_eq!((status, &deadlock["error"]), (409, &json!("deadlock")));
    assert_eq!((&deadlock["holder"], &deadlock["waitingOn"]), (&json!("did:web:a"), &json!("src")));
    let cycle = json!([
        { "actorDid": "did:web:b", "waitingOn": "docs" },
        { "actorDid": "did:web:a", "waitingOn": "src" },
    ]);
    assert_eq!(deadlock["cycle"], cycle);
    let (_, waiting) = a.get(WAIT).await;
    assert_eq!(waiting["queues"][0]["resource"], "src");
    assert_eq!(
        waiting["queues"][0]["waiters"][0]["waitsFor"][0],
        json!({ "holder": "did:web:b", "resource": "src", "leased": "src" })
    );
    assert_eq!(waiting["deadlocks"][0]["actorDid"], "did:web:b");
    desk.end().await;
}

#[tokio::test]
async fn a_request_that_is_sent_again_gets_the_same_grant() {
    let desk = Desk::open().await;
    let a = desk.agent("a");
    let more = json!({ "idempotencyKey": "try-1" });
    let many = (0..20).map(|_| a.ask("file", more.clone()));
    let answers = futures_util::future::join_all(many).await;
    for (status, answer) in &answers {
        assert_eq!((*status, &answer["lease"]["leaseId"]), (200, &json!("lease-1")), "{answer}");
    }
    assert_eq!(answers.iter().filter(|(_, answer)| answer["replayed"] == false).count(), 1);
    let (status, other) = a.ask("other", more.clone()).await;
    assert_eq!((status, &other["error"]), (409, &json!("idempotency_mismatch")));
    a.release("file").await;
    assert_eq!(a.ask("file", more).await.1["ended"], true);
    desk.end().await;
}
