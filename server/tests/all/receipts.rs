//! Receipts and the ledger, as those who check them see them.

use crate::desk::Desk;
use leasebook_server::{ledger, receipts};
use serde_json::{Value, json};

#[tokio::test]
async fn every_answer_has_a_receipt_that_others_can_verify() {
    let desk = Desk::open().await;
    let (a, b) = (desk.agent("a"), desk.agent("b"));
    let jwks = a.get("/.well-known/jwks.json").await.1.to_string();
    let granted = a.ask("file", json!({ "ttlMs": 1_000 })).await.1;
    let refused = b.ask("file", json!({})).await.1;
    let released = a.release("file").await.1;
    for (answer, actor) in [(granted, "did:web:a"), (refused, "did:web:b"), (released, "did:web:a")] {
        let receipt = answer["receipt"].as_str().unwrap();
        let payload = serde_json::to_value(receipts::verify_text(receipt, &jwks).unwrap().payload).unwrap();
        let mut without = answer.clone();
        without.as_object_mut().unwrap().remove("receipt");
        assert_eq!((&payload["outcome"], &payload["actor"]), (&without, &json!(actor)));
        let changed = receipt.replacen('e', "f", 1);
        assert!(receipts::verify_text(&changed, &jwks).is_err());
    }
    let asked = json!({ "ttlMs": 1_000, "actorDid": "did:web:a", "resource": "file" });
    let again = a.ask("file", json!({ "ttlMs": 1_000 })).await.1;
    let verified = receipts::verify_text(again["receipt"].as_str().unwrap(), &jwks).unwrap();
    let payload = serde_json::to_value(verified.payload).unwrap();
    assert_eq!(payload["request"], receipts::request_digest(&asked).unwrap());
    desk.end().await;
}

#[tokio::test]
async fn the_ledger_tells_what_was_decided_and_verifies() {
    let desk = Desk::open().await;
    let (a, b) = (desk.agent("a"), desk.agent("b"));
    a.lease("file").await;
    assert_eq!(b.ask("file", json!({})).await.0, 409);
    a.release("file").await;
    let file = desk.ledger("default");
    let desk = desk.again().await;
    desk.bearer(&b.did, &b.key).lease("file").await;
    desk.end_but_keep(|_| {
        let verified = ledger::verify_file(&file).unwrap();
        assert_eq!((verified.lines, verified.gaps.len()), (5, 0), "one line begins the file");
        let text = std::fs::read_to_string(&file).unwrap();
        let kinds: Vec<String> = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(
            kinds[1..],
            ["coordination.lease", "coordination.refusal", "coordination.release", "coordination.lease"]
        );
        let changed = text.replacen("did:web:a", "did:web:x", 1);
        std::fs::write(&file, changed).unwrap();
        assert!(ledger::verify_file(&file).is_err());
    })
    .await;
}

#[tokio::test]
async fn a_service_without_receipts_has_none() {
    let desk = Desk::with(|config| config.receipts = false).await;
    let a = desk.agent("a");
    assert_eq!(a.ask("file", json!({})).await.1.get("receipt"), None);
    assert_eq!(a.get("/.well-known/jwks.json").await.0, 404);
    desk.end().await;
}
