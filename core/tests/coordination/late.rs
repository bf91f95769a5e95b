//! Late and double: what arrives when somebody else holds already changes nothing.

use crate::{Desk, refused};
use leasebook::coordination::{Fact, Giving, Refused};

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";

#[test]
fn a_late_release_is_refused_and_changes_nothing_of_the_later_lease() {
    let mut desk = Desk::new();
    let former = desk.grant(A, "file").lease;
    desk.now += 30_000;
    let later = desk.grant(B, "file").lease;
    assert!(later.generation > former.generation);
    let stale = Giving { actor: A, resources: &["file"], lease_id: Some(former.lease_id) };
    let not_held = Giving { lease_id: None, ..stale };
    let other = Giving { lease_id: Some(later.lease_id), ..stale };
    assert_eq!(desk.authority.release(desk.at(), &stale), Err(Refused::StaleLease { lease_id: former.lease_id }));
    assert_eq!(desk.authority.release(desk.at(), &not_held), Err(Refused::NotHeld { resource: "file".into() }));
    assert_eq!(desk.authority.release(desk.at(), &other), Err(Refused::StaleLease { lease_id: later.lease_id }));
    assert_eq!(desk.authority.leases(desk.at()), [later]);
    assert_eq!(desk.authority.trust(A).score(), 45.0);
    let events = desk.authority.take_events().into_iter();
    let codes: Vec<_> = events
        .filter_map(|event| match event.what {
            Fact::Refused { actor, error, .. } => Some((actor.to_string(), error)),
            _ => None,
        })
        .collect();
    let a = || A.to_string();
    assert_eq!(codes, [(a(), "stale_lease"), (a(), "not_held"), (a(), "stale_lease")]);
}

#[test]
fn a_late_request_for_more_time_waits_like_any_other() {
    let mut desk = Desk::new();
    desk.grant(A, "file");
    desk.now += 30_000;
    let later = desk.grant(B, "file").lease;
    assert_eq!(refused(desk.ask(A, "file")).error(), "lease_held");
    assert_eq!(desk.authority.lease(desk.at(), later.lease_id), Some(later));
}

#[test]
fn a_lease_is_over_at_its_end_itself_and_not_a_millisecond_before() {
    let mut desk = Desk::new();
    let lease = desk.grant(A, "file").lease;
    desk.now = lease.expires_at_ms - 1;
    assert_eq!(refused(desk.ask(B, "file")).error(), "lease_held");
    let giving = Giving { actor: A, resources: &[], lease_id: Some(lease.lease_id) };
    assert!(desk.authority.clone().release(desk.at(), &giving).is_ok());
    desk.now = lease.expires_at_ms;
    let stale = Refused::StaleLease { lease_id: lease.lease_id };
    assert_eq!(desk.authority.release(desk.at(), &giving), Err(stale));
    assert!(desk.grant(B, "file").lease.generation > lease.generation);
}

#[test]
fn a_second_release_of_one_lease_is_refused_and_counts_once() {
    let mut desk = Desk::new();
    let lease = desk.grant(A, "file").lease;
    desk.release(A, lease.lease_id);
    let giving = Giving { actor: A, resources: &[], lease_id: Some(lease.lease_id) };
    let stale = Refused::StaleLease { lease_id: lease.lease_id };
    assert_eq!(desk.authority.release(desk.at(), &giving), Err(stale));
    assert_eq!(desk.authority.trust(A).score(), 50.5);
}
