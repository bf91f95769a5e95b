//! Times and numbers at their bounds and beyond.

use crate::{Desk, granted, refused, request};
use leasebook::coordination::{
    ADMITTED_MAX, Answer, Options, PARKED_PER_ACTOR_MAX, Refused, Request, TTL_MS_MAX, WAIT_MS_MAX,
};
use leasebook::limits::{NOW_MS_MAX, NUMBER_MAX};
use leasebook::{Limits, Millis, Period};

const A: &str = "did:web:agent-a";
const B: &str = "did:web:agent-b";

/// What no field of milliseconds may be.
const ODD: [f64; 12] = [
    -1.0,
    0.5,
    1.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    9_007_199_254_740_992.0,
    9.3e18,
    1e300,
    -1e300,
    5e-324,
    3_600_001.0,
];

#[test]
fn a_ttl_is_whole_milliseconds_from_1_to_an_hour() {
    let mut desk = Desk::new();
    for odd in ODD.into_iter().chain([0.0, -0.0]) {
        let ask = Request { ttl: Some(odd.into()), ..request(A, &["file"]) };
        let Refused::Invalid(invalid) = refused(desk.request(&ask)) else { panic!("{odd}") };
        assert_eq!(invalid.field, "ttlMs", "{odd}");
    }
    for ttl_ms in [1, TTL_MS_MAX] {
        let ask = Request { ttl: Some(ttl_ms.into()), ..request(A, &["file"]) };
        assert_eq!(granted(desk.request(&ask)).lease.ttl_ms, ttl_ms);
    }
}

#[test]
fn a_wait_is_whole_milliseconds_from_0_to_a_minute() {
    let mut desk = Desk::new();
    desk.grant(B, "file");
    for odd in ODD.into_iter().chain([WAIT_MS_MAX as f64 + 1.0]) {
        let ask = Request { wait: Some(odd.into()), ..request(A, &["file"]) };
        let Refused::Invalid(invalid) = refused(desk.request(&ask)) else { panic!("{odd}") };
        assert_eq!(invalid.field, "waitMs", "{odd}");
    }
    for none in [0.0, -0.0] {
        let ask = Request { wait: Some(Period::from(none)), ..request(A, &["file"]) };
        assert_eq!(refused(desk.request(&ask)).error(), "lease_held");
    }
    assert!(desk.park(A, "file", WAIT_MS_MAX) > 0);
}

#[test]
fn a_clock_that_runs_back_changes_nothing() {
    let mut desk = Desk::new();
    let lease = desk.grant(A, "file").lease;
    let an_hour_back = Millis::new(0);
    desk.authority.tick(an_hour_back);
    assert_eq!(refused(desk.authority.ask(an_hour_back, 7, &request(B, &["file"]))).error(), "lease_held");
    assert_eq!(desk.authority.lease(an_hour_back, lease.lease_id), Some(lease.clone()));
    desk.now = lease.expires_at_ms;
    assert_eq!(desk.authority.leases(desk.at()), []);
}

#[test]
fn at_the_end_of_time_leases_are_granted_and_every_number_is_exact() {
    let mut desk = Desk::new();
    desk.now = u64::MAX;
    let ask = Request { ttl: Some(TTL_MS_MAX.into()), ..request(A, &["file"]) };
    let lease = granted(desk.request(&ask)).lease;
    assert_eq!((lease.acquired_at_ms, lease.expires_at_ms), (NOW_MS_MAX, NOW_MS_MAX + TTL_MS_MAX));
    desk.park(B, "file", WAIT_MS_MAX);
    let next = desk.authority.next_deadline(desk.at()).unwrap();
    assert!((NOW_MS_MAX..=NUMBER_MAX).contains(&next));
}

#[test]
fn the_hint_grows_to_800_ms_and_stays_there_for_64_and_128_waiters() {
    let mut desk = Desk::new();
    desk.grant(A, "file");
    let names: Vec<String> = (0..140).map(|n| format!("did:web:w{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        let Refused::Held(held) = refused(desk.ask(name, "file")) else { panic!("not held") };
        let expected = [25, 50, 100, 200, 400].get(n).copied().unwrap_or(800);
        let stampede = held.stampede;
        assert_eq!((stampede.wait_ms, stampede.position, stampede.waiters), (expected, n + 1, n));
        let admitted: Vec<_> = stampede.admitted.iter().map(|actor| actor.as_str()).collect();
        assert_eq!(admitted, names[..(n + 1).min(ADMITTED_MAX)]);
    }
}

#[test]
fn a_full_queue_refuses_only_who_would_join_it() {
    let mut desk = Desk::with(Options { waiters_per_resource: 2, ..Options::default() });
    desk.grant(A, "file");
    assert_eq!(refused(desk.ask("did:web:w1", "file")).error(), "lease_held");
    assert_eq!(refused(desk.ask("did:web:w2", "file")).error(), "lease_held");
    let full = refused(desk.ask("did:web:w3", "file"));
    assert_eq!(full, Refused::QueueFull { resource: "file".into(), limit: 2 });
    assert_eq!(full.to_string(), "2 wait for file already, and no more may");
    // Who waits there already stays, also where it asks for more.
    assert_eq!(refused(desk.ask("did:web:w2", "file")).error(), "lease_held");
    assert_eq!(refused(desk.request(&request("did:web:w2", &["file", "other"]))).error(), "lease_held");
    assert_eq!(desk.grant("did:web:w3", "free").lease.resources, ["free"]);
}

#[test]
fn parked_requests_of_one_actor_have_a_bound_and_a_number_each() {
    let mut desk = Desk::new();
    desk.grant(A, "file");
    for _ in 0..PARKED_PER_ACTOR_MAX {
        desk.park(B, "file", 60_000);
    }
    let wait = Request { wait: Some(60_000_u64.into()), ..request(B, &["file"]) };
    assert_eq!(refused(desk.request(&wait)).error(), "queue_full");
    let other = Request { actor: "did:web:other", ..wait };
    let Refused::Invalid(invalid) = refused(desk.authority.ask(desk.at(), desk.ticket - 1, &other)) else {
        panic!("two requests of one number")
    };
    assert_eq!(invalid.field, "ticket");
    desk.pass(60_000);
    assert_eq!(desk.authority.settled().len(), PARKED_PER_ACTOR_MAX);
}

#[test]
fn a_bound_of_the_table_is_told_with_its_name_and_value() {
    let limits = Limits { leases: 1, ..Limits::default() };
    let mut desk = Desk::with(Options { limits, ..Options::default() });
    desk.grant(A, "file");
    assert_eq!(refused(desk.ask(A, "other")).to_string(), "the limit of 1 is reached for leases");
    // At the bound a lease can still be refreshed, and somebody may wait for its place.
    assert!(desk.grant(A, "file").refreshed);
    let limits = Limits { waiters: 0, ..Limits::default() };
    let mut desk = Desk::with(Options { limits, ..Options::default() });
    desk.grant(A, "file");
    assert_eq!(refused(desk.ask(B, "file")).to_string(), "the limit of 0 is reached for waiters");
    assert!(matches!(desk.ask(B, "other"), Answer::Granted(_)));
}
