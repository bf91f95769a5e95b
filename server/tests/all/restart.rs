//! What survives the end of a service.

use crate::desk::{Desk, RELEASE};
use serde_json::json;

#[tokio::test]
async fn a_restart_forgets_no_lease_and_reuses_no_number() {
    let desk = Desk::open().await;
    let (a, b) = (desk.agent("a"), desk.agent("b"));
    let first = a.lease("one").await;
    let kept = a.ask("two", json!({ "idempotencyKey": "k", "ttlMs": 3_600_000 })).await.1;
    a.release("one").await;
    let desk = desk.again().await;
    let (a, b) = (desk.bearer(&a.did, &a.key), desk.bearer(&b.did, &b.key));
    let (status, refused) = b.ask("two", json!({})).await;
    assert_eq!((status, &refused["holder"]), (409, &json!("did:web:a")));
    let again = a.ask("two", json!({ "idempotencyKey": "k", "ttlMs": 3_600_000 })).await.1;
    assert_eq!((&again["lease"], &again["replayed"]), (&kept["lease"], &json!(true)));
    let next = b.lease("one").await;
    assert!(next["generation"].as_u64() > first["generation"].as_u64());
    assert_eq!(next["leaseId"], "lease-3");
    assert_eq!(b.get("/api/v1/acp/coordination/trust/did:web:a").await.1["score"], 50.5);
    let (status, _) = a.post(RELEASE, &json!({ "actorDid": a.did, "leaseId": "lease-2" })).await;
    assert_eq!(status, 200);
    desk.end().await;
}
