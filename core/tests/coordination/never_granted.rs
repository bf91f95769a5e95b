//! Nothing is granted to those who have gone: the next one gets it, at once.

use crate::{Desk, granted, refused};
use leasebook::Millis;
use leasebook::coordination::{Answer, Fact, Refused, WaitEnd};

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";
const C: &str = "did:web:agent-c";

/// The holder of what each ticket was granted; the code of its refusal.
fn told(desk: &mut Desk) -> Vec<(u64, String)> {
    let told = desk.authority.settled().into_iter().map(|(ticket, answer)| match answer {
        Answer::Granted(grant) => (ticket, grant.lease.holder.to_string()),
        Answer::Refused(refused) => (ticket, refused.error().to_string()),
        Answer::Parked => panic!("parked twice"),
    });
    told.collect()
}

#[test]
fn who_is_cancelled_at_the_moment_of_a_release_is_passed_over() {
    let mut desk = Desk::new();
    let held = desk.grant(A, "file");
    let (gone, next) = (desk.park(B, "file", 60_000), desk.park(C, "file", 60_000));
    assert!(desk.authority.cancel(desk.at(), gone));
    desk.release(A, held.lease.lease_id);
    assert_eq!(told(&mut desk), [(next, C.to_string())]);
    assert!(!desk.authority.cancel(desk.at(), gone));
}

#[test]
fn who_is_cancelled_at_the_moment_of_an_expiry_is_passed_over_however_late_that_is_seen() {
    for late in [0, 5_000] {
        let mut desk = Desk::new();
        desk.grant(A, "file");
        let (gone, next) = (desk.park(B, "file", 60_000), desk.park(C, "file", 60_000));
        desk.now += 30_000 + late;
        assert!(desk.authority.cancel(desk.at(), gone));
        assert_eq!(told(&mut desk), [(next, C.to_string())]);
    }
}

#[test]
fn a_cancellation_of_another_request_grants_nothing_to_one_whose_time_is_up() {
    let mut desk = Desk::new();
    desk.grant(A, "file");
    desk.grant(A, "other");
    let (short, other) = (desk.park(B, "file", 100), desk.park(C, "other", 60_000));
    desk.now += 31_000;
    assert!(desk.authority.cancel(desk.at(), other));
    assert_eq!(told(&mut desk), [(short, "lease_held".to_string())]);
}

#[test]
fn who_waits_until_the_moment_of_an_expiry_is_refused_and_the_next_one_is_granted() {
    let mut desk = Desk::new();
    desk.grant(A, "file");
    let (first, second) = (desk.park(B, "file", 30_000), desk.park(C, "file", 60_000));
    desk.pass(30_000);
    // The first is a waiter still, and asks again at once; it was first, and so it comes before the other.
    assert_eq!(told(&mut desk), [(first, "queued".to_string())]);
    assert_eq!(granted(desk.ask(B, "file")).lease.holder.as_str(), B);
    let lease = desk.authority.leases(desk.at())[0].lease_id;
    desk.release(B, lease);
    assert_eq!(told(&mut desk), [(second, C.to_string())]);
}

#[test]
fn who_does_not_ask_again_loses_its_place_after_its_hint_and_2_seconds() {
    let mut desk = Desk::new();
    let held = desk.grant(A, "file");
    assert_eq!(refused(desk.ask(B, "file")).error(), "lease_held");
    let next = desk.park(C, "file", 60_000);
    desk.release(A, held.lease.lease_id);
    assert_eq!(told(&mut desk), []);
    desk.pass(2_024);
    assert_eq!(told(&mut desk), []);
    desk.pass(1);
    assert_eq!(told(&mut desk), [(next, C.to_string())]);
    let mut lapsed = desk.authority.take_events().into_iter();
    let lapsed = lapsed.find(|event| matches!(event.what, Fact::WaitEnded { how: WaitEnd::Lapsed, .. }));
    assert_eq!(lapsed.unwrap().at_ms, 1_000 + 2_025);
}

#[test]
fn what_a_late_host_missed_is_told_in_the_order_and_at_the_times_in_which_it_happened() {
    let mut desk = Desk::new();
    desk.grant(A, "file");
    assert_eq!(refused(desk.ask(B, "file")).error(), "lease_held");
    desk.authority.take_events();
    desk.pass(3_600_000);
    let told: Vec<_> = desk.authority.take_events().into_iter().map(|event| (event.at_ms, event.what)).collect();
    assert!(matches!(told[0], (3_025, Fact::WaitEnded { how: WaitEnd::Lapsed, .. })), "{told:?}");
    assert!(matches!(told[1], (31_000, Fact::Expired { .. })), "{told:?}");
    assert!(matches!(told[2], (31_000, Fact::Trust { .. })), "{told:?}");
    assert_eq!(told.len(), 3);
}

#[test]
fn no_edge_of_a_cancelled_request_stays_in_the_graph() {
    let mut desk = Desk::new();
    desk.grant(A, "docs");
    desk.grant(B, "src");
    let waits = desk.park(A, "src", 60_000);
    assert_eq!(refused(desk.ask(B, "docs")).error(), "deadlock");
    desk.authority.cancel(desk.at(), waits);
    assert_eq!(refused(desk.ask(B, "docs")).error(), "lease_held");
}

#[test]
fn a_host_that_was_suspended_for_hours_tells_the_truth_and_grants_nothing_to_those_who_have_gone() {
    let mut desk = Desk::new();
    desk.grant(A, "file");
    let (short, long) = (desk.park(B, "file", 10_000), desk.park(C, "file", 60_000));
    desk.pass(8 * 3_600_000);
    let settled = desk.authority.settled();
    let of =
        |ticket: u64| settled.iter().find(|(other, _)| *other == ticket).map(|(_, answer)| answer.clone()).unwrap();
    // After 10 s the lease stood; after 60 s it was over, but nobody was there to grant anything.
    let Refused::Held(held) = refused(of(short)) else { panic!("not held") };
    assert_eq!((held.conflicts[0].held_for_ms, held.conflicts[0].expires_in_ms), (10_000, 20_000));
    let Refused::Held(held) = refused(of(long)) else { panic!("not held") };
    assert_eq!(held.conflicts, []);
    assert_eq!(desk.authority.queue(desk.at()), []);
    assert_eq!(desk.authority.leases(desk.at()), []);
}

#[test]
fn looking_for_the_alarm_after_an_expiry_loses_no_grant() {
    let mut desk = Desk::new();
    desk.grant(A, "file");
    let waits = desk.park(B, "file", 60_000);
    // The clock has moved on between the last operation and this look.
    let late = Millis::new(desk.now + 30_001);
    assert_eq!(desk.authority.next_deadline(late), Some(desk.now + 30_000));
    desk.now += 30_001;
    desk.pass(0);
    assert_eq!(told(&mut desk), [(waits, B.to_string())]);
}

#[test]
fn an_answer_that_was_not_taken_yet_is_due_at_once() {
    let mut desk = Desk::new();
    let held = desk.grant(A, "file");
    desk.park(B, "file", 60_000);
    desk.release(A, held.lease.lease_id);
    assert_eq!(desk.authority.next_deadline(desk.at()), Some(desk.now));
    assert_eq!(told(&mut desk).len(), 1);
    assert_eq!(desk.authority.next_deadline(desk.at()), Some(desk.now + 30_000));
}

#[test]
fn a_withdrawn_grant_goes_to_the_next_one_and_counts_for_nothing() {
    let mut desk = Desk::new();
    let held = desk.grant(A, "file");
    let next = desk.park(B, "file", 60_000);
    assert!(desk.authority.withdraw(desk.at(), held.lease.lease_id));
    assert_eq!(told(&mut desk), [(next, B.to_string())]);
    assert!(!desk.authority.withdraw(desk.at(), held.lease.lease_id));
    assert_eq!(desk.authority.trust(A).score(), 50.0);
}
