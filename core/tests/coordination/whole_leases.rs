//! One lease a request: its id, its parts, its fencing token, and what becomes of it at a restart.

use crate::{Desk, granted, request};
use leasebook::coordination::{Authority, Given, Giving, LeaseId, Options, Record, Refused, Request};
use leasebook::{Holder, Millis};

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";

fn giving<'a>(resources: &'a [&'a str], lease_id: Option<LeaseId>) -> Giving<'a> {
    Giving { actor: A, resources, lease_id }
}

#[test]
fn who_asks_for_a_part_of_a_lease_refreshes_the_whole_of_it() {
    let mut desk = Desk::new();
    let whole = granted(desk.request(&request(A, &["a", "b"]))).lease;
    desk.now += 10_000;
    let again = desk.grant(A, "b");
    assert!(again.refreshed);
    assert_eq!(again.lease.resources, ["a", "b"]);
    assert_eq!(again.lease.expires_at_ms, whole.expires_at_ms + 10_000);
    desk.now = whole.expires_at_ms;
    assert_eq!(desk.authority.leases(desk.at()), [again.lease]);
}

#[test]
fn what_is_asked_for_with_more_moves_to_a_new_lease_and_an_empty_one_is_over() {
    let mut desk = Desk::new();
    let first = granted(desk.request(&request(A, &["a", "b"]))).lease;
    let second = granted(desk.request(&request(A, &["b", "c"]))).lease;
    assert_ne!(first.lease_id, second.lease_id);
    assert_eq!(desk.authority.lease(desk.at(), first.lease_id).unwrap().resources, ["a"]);
    let third = granted(desk.request(&request(A, &["a", "d"]))).lease;
    assert_eq!(desk.authority.lease(desk.at(), first.lease_id), None);
    let stale = Refused::StaleLease { lease_id: first.lease_id };
    assert_eq!(desk.authority.release(desk.at(), &giving(&[], Some(first.lease_id))), Err(stale));
    assert_eq!(desk.authority.trust(A).score(), 50.0, "moved leases count for nothing");
    assert_eq!(third.resources, ["a", "d"]);
}

#[test]
fn a_release_is_of_all_that_is_named_or_of_nothing() {
    let mut desk = Desk::new();
    let lease = granted(desk.request(&request(A, &["a", "b", "c"]))).lease;
    let id = Some(lease.lease_id);
    let other = granted(desk.request(&request(A, &["d"]))).lease;
    let not_held = Err(Refused::NotHeld { resource: "x".into() });
    assert_eq!(desk.authority.release(desk.at(), &giving(&["a", "x"], None)), not_held);
    let stale = Err(Refused::StaleLease { lease_id: lease.lease_id });
    assert_eq!(desk.authority.release(desk.at(), &giving(&["a", "d"], id)), stale);
    // What lies inside a leased directory names no lease.
    let inside = Err(Refused::NotHeld { resource: "a/x".into() });
    assert_eq!(desk.authority.release(desk.at(), &giving(&["a/x"], None)), inside);
    assert_eq!(desk.authority.leases(desk.at()), [lease.clone(), other.clone()]);

    let given = desk.authority.release(desk.at(), &giving(&["b"], id)).unwrap();
    assert_eq!(given, Given { ended: vec![], kept: vec![lease.lease_id], resources: vec!["b".into()] });
    assert_eq!(desk.authority.trust(A).score(), 50.0);
    let given = desk.authority.release(desk.at(), &giving(&["d", "a", "c"], None)).unwrap();
    assert_eq!(given.ended, [lease.lease_id, other.lease_id]);
    assert_eq!(desk.authority.trust(A).score(), 51.0);
    let Err(Refused::Invalid(invalid)) = desk.authority.release(desk.at(), &giving(&[], None)) else {
        panic!("a release of nothing")
    };
    assert_eq!(invalid.field, "resources");
}

#[test]
fn the_fencing_token_of_a_lease_never_falls_while_its_holder_has_a_resource() {
    let mut desk = Desk::new();
    let other = desk.grant(A, "d").lease;
    // Of three resources the last has the highest generation.
    let lease = granted(desk.request(&request(A, &["a", "b", "c"]))).lease;
    desk.authority.release(desk.at(), &giving(&["c"], None)).unwrap();
    let kept = desk.authority.lease(desk.at(), lease.lease_id).unwrap();
    assert_eq!((kept.resources, kept.generation), (vec!["a".to_string(), "b".to_string()], lease.generation));
    // A guard of `a` has seen this token; the resource moves to a lease that has nothing new.
    desk.authority.release(desk.at(), &giving(&["b"], None)).unwrap();
    let moved = granted(desk.request(&request(A, &["a", "d"]))).lease;
    assert!(other.generation < lease.generation);
    assert_eq!(moved.generation, lease.generation);
    desk.authority.release(desk.at(), &giving(&["d"], None)).unwrap();
    let mut records = desk.authority.take_records();
    let mut restored = Authority::restore(desk.at(), Options::default(), records.clone()).unwrap();
    assert_eq!(restored.leases(desk.at()), desk.authority.leases(desk.at()));
    desk.release(A, moved.lease_id);
    assert!(desk.grant(B, "a").lease.generation > moved.generation);
    // A record that lowers a token is none that an authority writes.
    for record in &mut records {
        if let Record::Grant(grant) = record {
            grant.fence = 0;
        }
    }
    let error = Authority::restore(desk.at(), Options::default(), records).unwrap_err();
    assert_eq!(error.expected, "a fence as high as any of its generations");
}

#[test]
fn a_restart_forgets_no_lease_no_score_and_no_key_but_all_who_wait() {
    let mut desk = Desk::new();
    let lease = granted(desk.request(&Request { ttl: Some(60_000_u64.into()), ..request(A, &["a", "b"]) })).lease;
    desk.grant(B, "c");
    desk.park(B, "a", 60_000);
    desk.now += 40_000;
    desk.pass(0);
    let records = desk.authority.take_records();
    let mut restored = Authority::restore(desk.at(), Options::default(), records.clone()).unwrap();
    assert_eq!(restored.leases(desk.at()), [lease]);
    assert_eq!(restored.queue(desk.at()), []);
    assert_eq!((restored.trust(A).score(), restored.trust(B).score()), (50.0, 45.0));
    let next = granted(restored.ask(desk.at(), 1, &request(B, &["c"]))).lease;
    assert_eq!((next.lease_id, next.generation), (LeaseId(3), 4));
    // What ran out while nobody was there is over, and counts.
    let later = Millis::new(desk.now + 20_000);
    let mut restored = Authority::restore(later, Options { events: 10, ..Options::default() }, records).unwrap();
    assert_eq!(restored.leases(later), []);
    assert_eq!(restored.trust(A).score(), 45.0);
    assert_eq!(restored.take_events()[0].at_ms, 61_000);
}

#[test]
fn records_that_an_authority_does_not_write_are_refused_by_name() {
    let mut desk = Desk::new();
    desk.grant(A, "a");
    let good = desk.authority.take_records();
    let refused = |change: &dyn Fn(&mut Record)| {
        let mut records = good.clone();
        records.iter_mut().for_each(change);
        Authority::restore(desk.at(), Options::default(), records).unwrap_err().expected
    };
    let location = |change: fn(&mut leasebook::LeaseRecord)| {
        refused(&move |record| {
            if let Record::Location(lease) = record {
                change(lease);
            }
        })
    };
    assert_eq!(location(|lease| lease.path = "a//b".into()), "names of resources, none of them given back");
    assert_eq!(location(|lease| lease.path = "/a".into()), "names of resources, none of them given back");
    assert_eq!(location(|lease| lease.ttl_ms = 0), "a ttl of 1 to 86 400 000 ms");
    let grant = |change: fn(&mut leasebook::coordination::GrantRecord)| {
        refused(&move |record| {
            if let Record::Grant(grant) = record {
                change(grant);
            }
        })
    };
    assert_eq!(grant(|grant| grant.lease_id = 2), "an id that was given out");
    assert_eq!(grant(|grant| grant.lease_id = 0), "an id that was given out");
    assert_eq!(grant(|grant| grant.generations = vec![]), "one location at least");
    assert_eq!(grant(|grant| grant.generations = vec![1, 1]), "locations that are no other lease's");
    assert_eq!(grant(|grant| grant.generations = vec![9]), "locations that are leased");
    assert_eq!(grant(|grant| grant.acquired_at_ms = 9_999_999), "a grant in the past");
    assert_eq!(grant(|grant| grant.fence = 9), "a fence that was given out");
    let orphan = good.iter().filter(|record| !matches!(record, Record::Grant(_))).cloned();
    let error = Authority::restore(desk.at(), Options::default(), orphan).unwrap_err();
    assert_eq!(error.expected, "a location of a lease");
}

#[test]
fn an_operator_takes_a_lease_away_which_counts_for_nothing() {
    let mut desk = Desk::new();
    let lease = granted(desk.request(&request(A, &["a", "b"]))).lease;
    assert!(desk.authority.revoke(desk.at(), lease.lease_id));
    assert!(!desk.authority.revoke(desk.at(), lease.lease_id));
    assert_eq!(desk.authority.leases(desk.at()), []);
    assert_eq!(desk.authority.trust(A).score(), 50.0);
    assert_eq!(desk.authority.trusts().collect::<Vec<(&Holder, _)>>(), []);
    desk.grant(B, "a");
}
