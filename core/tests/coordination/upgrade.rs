//! Readers and writers of resources that may be read concurrently.

use crate::{Desk, granted, refused, request};
use leasebook::Mode;
use leasebook::coordination::{Answer, Class, Options, Pattern, Request};

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";
const C: &str = "did:web:agent-c";

fn desk() -> Desk {
    let classes = vec![(Pattern::new("docs").unwrap(), Class::ConcurrentRead)];
    Desk::with(Options { classes, ..Options::default() })
}

fn read<'a>(actor: &'a str, resources: &'a [&'a str]) -> Request<'a> {
    Request { mode: Mode::Shared, ..request(actor, resources) }
}

#[test]
fn two_readers_share_and_a_writer_excludes() {
    let mut desk = desk();
    for actor in [A, B] {
        let grant = granted(desk.request(&read(actor, &["docs/a"])));
        assert_eq!((grant.lease.mode, grant.asked_mode), (Mode::Shared, Mode::Shared));
    }
    assert_eq!(refused(desk.ask(C, "docs/a")).error(), "lease_held");
    let grant = desk.grant(C, "docs/b");
    assert_eq!(refused(desk.request(&read("did:web:agent-d", &["docs/b"]))).error(), "lease_held");
    assert_eq!(grant.lease.mode, Mode::Exclusive);
}

#[test]
fn shared_on_another_resource_is_granted_exclusive_and_the_answer_says_so() {
    let mut desk = desk();
    let grant = granted(desk.request(&read(A, &["src/a"])));
    assert_eq!((grant.lease.mode, grant.asked_mode), (Mode::Exclusive, Mode::Shared));
    assert_eq!(refused(desk.request(&read(B, &["src/a"]))).error(), "lease_held");
}

#[test]
fn a_sole_reader_upgrades_at_once_and_keeps_its_lease() {
    let mut desk = desk();
    let shared = granted(desk.request(&read(A, &["docs/a"]))).lease;
    let grant = desk.grant(A, "docs/a");
    assert_eq!((grant.lease.lease_id, grant.lease.mode, grant.refreshed), (shared.lease_id, Mode::Exclusive, true));
    // What is exclusive does not get weaker.
    assert_eq!(granted(desk.request(&read(A, &["docs/a"]))).lease.mode, Mode::Exclusive);
}

#[test]
fn of_two_readers_that_both_want_to_write_the_second_is_a_deadlock() {
    let mut desk = desk();
    granted(desk.request(&read(A, &["docs/a"])));
    let second = granted(desk.request(&read(B, &["docs/a"]))).lease;
    let waits = desk.park(A, "docs/a", 60_000);
    let deadlock = refused(desk.ask(B, "docs/a"));
    assert_eq!(deadlock.error(), "deadlock");
    assert!(deadlock.to_string().starts_with(
        "deadlock: did:web:agent-b waits for docs/a held by did:web:agent-a, did:web:agent-a waits for docs/a held by \
         did:web:agent-b"
    ));
    desk.release(B, second.lease_id);
    assert!(matches!(&desk.authority.settled()[..], [(ticket, Answer::Granted(_))] if *ticket == waits));
}

#[test]
fn a_writer_that_waits_is_not_starved_by_new_readers() {
    let mut desk = desk();
    let first = granted(desk.request(&read(A, &["docs/a"]))).lease;
    let writer = desk.park(B, "docs/a", 60_000);
    let reader = refused(desk.request(&read(C, &["docs/a"])));
    assert_eq!(reader.error(), "queued");
    assert_eq!(
        reader.to_string(),
        "no lease is in the way, but one who waited longer comes first: did:web:agent-b; ask again in 50 ms"
    );
    desk.release(A, first.lease_id);
    assert!(matches!(&desk.authority.settled()[..], [(ticket, Answer::Granted(_))] if *ticket == writer));
}

#[test]
fn who_waits_to_write_is_granted_what_it_asked_for_whatever_became_of_the_rest_of_its_lease() {
    let mut desk = desk();
    granted(desk.request(&read(A, &["docs/a", "docs/b"])));
    let hour = Some(3_600_000_u64.into());
    let other = granted(desk.request(&Request { ttl: hour, ..read(B, &["docs/a"]) })).lease;
    desk.park(A, "docs/a", 60_000);
    desk.pass(30_000);
    desk.release(B, other.lease_id);
    let settled = desk.authority.settled();
    assert_eq!(granted(settled[0].1.clone()).lease.resources, ["docs/a"]);
}
