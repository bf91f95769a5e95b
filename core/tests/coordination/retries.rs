//! A lost answer: the request comes again, once or twenty times at once.

use crate::{Desk, granted, refused, request};
use leasebook::Mode;
use leasebook::coordination::{Answer, Fact, IDEMPOTENCY_KEY_BYTES_MAX, Idempotency, REMEMBERED_MAX, Refused, Request};

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";

fn keyed<'a>(actor: &'a str, resources: &'a [&'a str], key: &'a str, body: u8) -> Request<'a> {
    Request { idempotency: Some(Idempotency { key, body: [body; 32] }), ..request(actor, resources) }
}

#[test]
fn twenty_requests_under_one_key_are_one_lease_of_one_generation() {
    let mut desk = Desk::new();
    let first = granted(desk.request(&keyed(A, &["file"], "k", 1)));
    for _ in 0..19 {
        let again = granted(desk.request(&keyed(A, &["file"], "k", 1)));
        assert!(again.replayed && !again.ended);
        assert_eq!(again.lease, first.lease);
    }
    let events = desk.authority.take_events();
    assert_eq!(events.iter().filter(|event| matches!(event.what, Fact::Granted(_))).count(), 1);
    assert_eq!(events.len(), 1, "one line in a ledger: {events:?}");
}

#[test]
fn twenty_parked_requests_under_one_key_get_one_grant() {
    let mut desk = Desk::new();
    let held = desk.grant(A, "file");
    let wait = Request { wait: Some(60_000_u64.into()), ..keyed(B, &["file"], "k", 1) };
    for _ in 0..20 {
        assert_eq!(desk.request(&wait), Answer::Parked);
    }
    desk.release(A, held.lease.lease_id);
    let grants: Vec<_> = desk.authority.settled().into_iter().map(|(_, answer)| granted(answer)).collect();
    assert_eq!(grants.len(), 20);
    assert!(grants.iter().all(|grant| grant.lease == grants[0].lease));
    assert_eq!(grants.iter().filter(|grant| !grant.replayed).count(), 1);
    assert_eq!(granted(desk.request(&wait)).lease, grants[0].lease);
}

#[test]
fn another_body_under_the_same_key_is_refused_also_while_the_first_one_waits() {
    let mut desk = Desk::new();
    granted(desk.request(&keyed(A, &["file"], "k", 1)));
    assert_eq!(refused(desk.request(&keyed(A, &["file"], "k", 2))), Refused::IdempotencyMismatch);
    assert_eq!(refused(desk.request(&keyed(A, &["other"], "k", 2))), Refused::IdempotencyMismatch);
    // The key is the actor's own.
    let parked = Request { wait: Some(60_000_u64.into()), ..keyed(B, &["file"], "k", 3) };
    assert_eq!(desk.request(&parked), Answer::Parked);
    assert_eq!(refused(desk.request(&keyed(B, &["file"], "k", 4))), Refused::IdempotencyMismatch);
}

#[test]
fn a_refusal_is_not_remembered() {
    let mut desk = Desk::new();
    let held = desk.grant(A, "file");
    assert_eq!(refused(desk.request(&keyed(B, &["file"], "k", 1))).error(), "lease_held");
    desk.release(A, held.lease.lease_id);
    assert!(!granted(desk.request(&keyed(B, &["file"], "k", 1))).replayed);
}

#[test]
fn a_remembered_lease_that_is_over_is_said_to_be_and_is_not_made_anew() {
    let mut desk = Desk::new();
    let first = granted(desk.request(&keyed(A, &["file"], "k", 1)));
    desk.release(A, first.lease.lease_id);
    let again = granted(desk.request(&keyed(A, &["file"], "k", 1)));
    assert!(again.replayed && again.ended);
    assert_eq!(again.lease, first.lease);
    assert_eq!(desk.authority.leases(desk.at()), []);
    // It is remembered for 10 minutes, and not at their end.
    desk.pass(599_999);
    assert!(granted(desk.request(&keyed(A, &["file"], "k", 1))).replayed);
    desk.pass(1);
    assert!(!granted(desk.request(&keyed(A, &["file"], "k", 1))).replayed);
}

#[test]
fn without_a_key_a_holder_is_told_what_it_holds_and_never_waits_for_itself() {
    let mut desk = Desk::new();
    let first = desk.grant(A, "file");
    desk.park(B, "file", 60_000);
    desk.now += 10_000;
    let again = desk.grant(A, "file");
    assert!(again.refreshed && !again.replayed);
    let (former, lease) = (first.lease, again.lease);
    assert_eq!((lease.lease_id, lease.generation), (former.lease_id, former.generation));
    assert_eq!((lease.acquired_at_ms, lease.expires_at_ms), (former.acquired_at_ms, former.expires_at_ms + 10_000));
}

#[test]
fn a_key_is_1_to_256_bytes_without_control_characters() {
    let mut desk = Desk::new();
    let longest = "k".repeat(IDEMPOTENCY_KEY_BYTES_MAX);
    let longer = longest.clone() + "k";
    for key in ["", &longer, "a\nb", "\0", "\u{9b}"] {
        let Refused::Invalid(invalid) = refused(desk.request(&keyed(A, &["file"], key, 1))) else { panic!("{key:?}") };
        assert_eq!(invalid.field, "idempotencyKey", "{key:?}");
    }
    assert_eq!(granted(desk.request(&keyed(A, &["file"], &longest, 1))).lease.mode, Mode::Exclusive);
}

#[test]
fn of_more_grants_than_are_remembered_the_oldest_are_forgotten() {
    let mut desk = Desk::new();
    let key = |n: usize| format!("k{n}");
    for n in 0..=REMEMBERED_MAX {
        granted(desk.request(&keyed(A, &["file"], &key(n), 1)));
    }
    assert!(granted(desk.request(&keyed(A, &["file"], &key(1), 1))).replayed);
    assert!(granted(desk.request(&keyed(A, &["file"], &key(REMEMBERED_MAX), 1))).replayed);
    assert!(!granted(desk.request(&keyed(A, &["file"], &key(0), 1))).replayed);
}
