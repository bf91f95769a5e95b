//! Who waits for whom: directories and files, cycles and what is none.

use crate::{Desk, refused, request};
use leasebook::coordination::{Refused, Request};

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";
const C: &str = "did:web:agent-c";
const D: &str = "did:web:agent-d";

#[test]
fn a_cycle_of_three_across_directories_is_refused_to_the_last_and_told_whole() {
    let mut desk = Desk::new();
    desk.grant(A, "repo/src");
    desk.grant(B, "repo/docs/api/index.md");
    desk.grant(C, "tools");
    desk.park(A, "repo/docs", 60_000);
    desk.park(B, "tools/build/run", 60_000);
    let Refused::Deadlock(deadlock) = refused(desk.ask(C, "repo/src/app.rs")) else { panic!("no deadlock") };
    let cycle: Vec<_> = deadlock.cycle.iter().map(|waits| (&*waits.actor, waits.waiting_on.as_str())).collect();
    assert_eq!(cycle, [(C, "repo/src/app.rs"), (A, "repo/docs"), (B, "tools/build/run")]);
    assert_eq!((&*deadlock.holder, deadlock.waiting_on.as_str()), (A, "repo/docs"));
    assert_eq!((deadlock.conflicts.len(), &*deadlock.conflicts[0].holder), (1, A));
}

#[test]
fn a_diamond_is_no_cycle() {
    let mut desk = Desk::new();
    desk.grant(D, "d");
    desk.grant(B, "b");
    desk.grant(C, "c");
    desk.park(B, "d/x", 60_000);
    desk.park(C, "d/y", 60_000);
    let both = Request { wait: None, ..request(A, &["b", "c"]) };
    assert_eq!(refused(desk.request(&both)).error(), "lease_held");
}

#[test]
fn edges_vanish_with_the_end_of_a_wait_an_expiry_and_a_release() {
    let start = || {
        let mut desk = Desk::new();
        let (a, b) = (desk.grant(A, "a").lease, desk.grant(B, "b").lease);
        desk.park(A, "b", 100);
        assert_eq!(refused(desk.authority.clone().ask(desk.at(), 99, &request(B, &["a"]))).error(), "deadlock");
        (desk, a, b)
    };
    // The wait ends, and the place is kept for 2 025 ms more.
    let (mut desk, ..) = start();
    desk.pass(100 + 2_024);
    assert_eq!(refused(desk.authority.clone().ask(desk.at(), 99, &request(B, &["a"]))).error(), "deadlock");
    desk.pass(1);
    assert_eq!(refused(desk.ask(B, "a")).error(), "lease_held");
    // What was waited for is given back.
    let (mut desk, _, b) = start();
    desk.release(B, b.lease_id);
    assert_eq!(refused(desk.ask(B, "a")).error(), "lease_held");
    // What the other would wait for expires.
    let (mut desk, ..) = start();
    desk.now += 30_000;
    assert_eq!(desk.grant(B, "a").lease.resources, ["a"]);
}

#[test]
fn the_queue_says_for_whom_everybody_waits_and_on_what() {
    let mut desk = Desk::new();
    desk.grant(A, "repo/src");
    desk.park(B, "repo/src/app.rs", 60_000);
    desk.now += 5;
    assert_eq!(refused(desk.ask(C, "repo")).error(), "lease_held");
    let queue = desk.authority.queue(desk.at());
    let told: Vec<_> = queue
        .iter()
        .map(|waiter| {
            let by = |n: usize| waiter.waits_for[n].by.as_ref().map(|(wish, held)| (wish.as_str(), held.as_str()));
            let edges: Vec<_> = (0..waiter.waits_for.len()).map(|n| (&*waiter.waits_for[n].holder, by(n))).collect();
            (&*waiter.actor, waiter.since_ms, waiter.parked, edges)
        })
        .collect();
    let first = (B, 1_000, 1, vec![(A, Some(("repo/src/app.rs", "repo/src")))]);
    let second = (C, 1_005, 0, vec![(A, Some(("repo", "repo/src"))), (B, None)]);
    assert_eq!(told, [first, second]);
}

#[test]
fn an_actor_that_waits_gets_what_is_free_and_waits_on_or_waits_for_something_else() {
    let mut desk = Desk::new();
    desk.grant(A, "a");
    desk.grant(A, "b");
    let former = desk.park(B, "a", 60_000);
    desk.grant(B, "free");
    assert_eq!(desk.authority.settled(), []);
    let later = desk.park(B, "b", 60_000);
    let settled = desk.authority.settled();
    assert_eq!(settled.len(), 1);
    assert_eq!((settled[0].0, refused(settled[0].1.clone())), (former, Refused::Superseded));
    assert!(desk.authority.cancel(desk.at(), later));
}
