//! Requests that wait.

use crate::desk::Desk;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn who_waits_is_granted_in_order() {
    let desk = Desk::open().await;
    let holder = desk.agent("holder");
    holder.lease("file").await;
    let mut waiting = Vec::new();
    for n in 0..5 {
        let agent = desk.agent(&format!("w{n}"));
        let asking = agent.clone();
        waiting.push((agent, tokio::spawn(async move { asking.ask("file", json!({ "waitMs": 60_000 })).await })));
        until_waiting(&holder, n + 1).await;
    }
    holder.release("file").await;
    let mut last = 0;
    for (agent, asked) in waiting {
        let (status, granted) = asked.await.unwrap();
        assert_eq!(status, 200, "{granted}");
        let generation = granted["lease"]["generation"].as_u64().unwrap();
        assert!(generation > last);
        last = generation;
        agent.release("file").await;
    }
    desk.end().await;
}

#[tokio::test]
async fn who_hangs_up_is_never_granted_and_the_next_one_is() {
    let desk = Desk::open().await;
    let (holder, gone, next) = (desk.agent("holder"), desk.agent("gone"), desk.agent("next"));
    holder.lease("file").await;
    let asking = gone.clone();
    let hung_up = tokio::spawn(async move { asking.ask("file", json!({ "waitMs": 60_000 })).await });
    until_waiting(&holder, 1).await;
    let asking = next.clone();
    let waits = tokio::spawn(async move { asking.ask("file", json!({ "waitMs": 60_000 })).await });
    until_waiting(&holder, 2).await;
    hung_up.abort();
    until_waiting(&holder, 1).await;
    holder.release("file").await;
    let (status, granted) = waits.await.unwrap();
    assert_eq!((status, &granted["lease"]["holder"]), (200, &json!("did:web:next")));
    desk.end().await;
}

#[tokio::test]
async fn a_wait_ends_with_a_refusal_that_keeps_the_place() {
    let desk = Desk::open().await;
    let (holder, waiter) = (desk.agent("holder"), desk.agent("waiter"));
    holder.lease("file").await;
    let (status, refused) = waiter.ask("file", json!({ "waitMs": 50 })).await;
    assert_eq!((status, &refused["error"], &refused["stampede"]["position"]), (409, &json!("lease_held"), &json!(1)));
    let late = desk.agent("late");
    assert_eq!(late.ask("file", json!({})).await.1["stampede"]["position"], 2);
    desk.end().await;
}

#[tokio::test]
async fn at_shutdown_who_waits_is_answered_at_once() {
    let desk = Desk::open().await;
    let (holder, waiter) = (desk.agent("holder"), desk.agent("waiter"));
    holder.lease("file").await;
    let waits = tokio::spawn(async move { waiter.ask("file", json!({ "waitMs": 60_000 })).await });
    until_waiting(&holder, 1).await;
    desk.end().await;
    let (status, refused) = waits.await.unwrap();
    assert_eq!((status, &refused["error"]), (503, &json!("unavailable")));
}

/// Looks until so many wait.
async fn until_waiting(agent: &crate::desk::Agent, expected: usize) {
    loop {
        let (_, waiting) = agent.get(crate::desk::WAIT).await;
        let found =
            waiting["queues"].as_array().unwrap().iter().map(|queue| queue["waiters"].as_array().unwrap().len());
        if found.sum::<usize>() == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
