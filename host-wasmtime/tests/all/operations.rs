//! Each operation answers through the component.

use super::{table, table_with};
use leasebook_wasmtime::{
    Ahead, Containment, Fairness, Mode, NotHeld, Options, PinRefusal, PinToken, RefreshRefusal, Refusal, Release,
    Verdict, WaitAttempt, Wish,
};
use std::time::Duration;

const DIRECTORY: &[Wish<'_>] = &[Wish { path: "/srv/src", mode: Mode::Exclusive }];
const FILE: &[Wish<'_>] = &[Wish { path: "/srv/src/app.rs", mode: Mode::Exclusive }];

#[test]
fn a_lease_is_granted_refreshed_and_released() {
    let (mut table, clock) = table();
    let lease = table.acquire("a", DIRECTORY, None).unwrap().unwrap().remove(0);
    assert_eq!((lease.path.as_str(), lease.holder.as_str(), lease.mode), ("/srv/src", "a", Mode::Exclusive));
    assert_eq!(
        (lease.generation, lease.acquired_at_ms, lease.ttl_ms, lease.expires_at_ms),
        (1, 1_000, 300_000, 301_000)
    );
    clock.advance(500);
    let refreshed = table.refresh("a", 1, Some(Duration::from_secs(10).into())).unwrap().unwrap();
    assert_eq!((refreshed.held_for_ms, refreshed.expires_in_ms, refreshed.expires_at_ms), (500, 10_000, 11_500));
    assert_eq!(table.refresh("b", 1, None).unwrap().unwrap_err().reason, RefreshRefusal::Stale);
    assert_eq!(table.next_deadline().unwrap(), Some(11_500));

    let released = table.release("a", Release::Paths(&["/srv/src/", "/elsewhere"])).unwrap().unwrap();
    assert_eq!(released.released, ["/srv/src"]);
    assert_eq!(released.not_held, [NotHeld::Path("/elsewhere".into())]);
    assert_eq!(table.release("a", Release::Generation(1)).unwrap().unwrap().not_held, [NotHeld::Generation(1)]);
    assert_eq!(table.next_deadline().unwrap(), None);
}

#[test]
fn a_conflict_names_who_is_in_the_way() {
    let (mut table, clock) = table();
    table.acquire("a", DIRECTORY, None).unwrap().unwrap();
    clock.advance(12_000);
    let Refusal::Conflict(blocked) = table.acquire("b", FILE, None).unwrap().unwrap_err().reason else { panic!() };
    let conflict = &blocked.conflicts[0];
    assert_eq!((conflict.path.as_str(), conflict.leased.as_str()), ("/srv/src/app.rs", "/srv/src"));
    assert_eq!((conflict.holder.as_str(), conflict.held_for_ms, conflict.expires_in_ms), ("a", 12_000, 288_000));
    assert!(!conflict.ended && !blocked.truncated && blocked.ahead.is_none());

    assert_eq!(table.covering("a", "/srv/src/x", Mode::Exclusive).unwrap().verdict, Verdict::Own);
    let covering = table.covering("b", "/srv/src/x", Mode::Shared).unwrap();
    assert_eq!((covering.verdict, covering.lease.unwrap().leased.as_str()), (Verdict::Other, "/srv/src"));
    assert_eq!(table.covering("b", "src", Mode::Shared).unwrap().verdict, Verdict::Unknown);
    assert_eq!(table.covering("b", "/srv/doc", Mode::Shared).unwrap().verdict, Verdict::Free);
}

#[test]
fn waiters_queue_and_a_deadlock_is_refused_with_its_cycle() {
    let (mut table, _) = table_with(Options { fairness: Fairness::Fifo, ..Options::default() });
    let attempt = |waiter_id, holder, wishes| WaitAttempt {
        waiter_id,
        holder,
        wishes,
        ttl: None,
        allow_hold: true,
        keep: Some(60_000_u64.into()),
    };
    let (x, y) = ([Wish::exclusive("/x")], [Wish::exclusive("/y")]);
    table.acquire("a", &x, None).unwrap().unwrap();
    table.acquire("b", &y, None).unwrap().unwrap();
    let Refusal::Conflict(blocked) = table.wait_attempt(&attempt("a1", "a", &y)).unwrap().unwrap_err().reason else {
        panic!()
    };
    assert_eq!(blocked.blockers, ["b"]);
    let Refusal::Conflict(queued) = table.wait_attempt(&attempt("c1", "c", &y)).unwrap().unwrap_err().reason else {
        panic!()
    };
    assert_eq!(queued.ahead, Some(Ahead { holders: vec!["a".into()], position: 2 }));

    let Refusal::Deadlock(deadlock) = table.wait_attempt(&attempt("b1", "b", &x)).unwrap().unwrap_err().reason else {
        panic!()
    };
    assert_eq!(deadlock.cycle, ["b", "a", "b"]);
    let mut careful = attempt("b1", "b", &x[..]);
    careful.allow_hold = false;
    assert_eq!(table.wait_attempt(&careful).unwrap().unwrap_err().reason.reason(), "hold-and-wait");

    assert_eq!(table.ready().unwrap(), Vec::<String>::new());
    assert_eq!(table.release("b", Release::All).unwrap().unwrap().released, ["/y"]);
    assert_eq!(table.ready().unwrap(), ["a1"]);
    assert_eq!(table.wait_attempt(&attempt("a1", "a", &y)).unwrap().unwrap()[0].generation, 3);
    assert!(table.cancel_wait("c1").unwrap());
    assert!(!table.cancel_wait("c1").unwrap());
}

#[test]
fn a_pin_keeps_an_ended_lease_in_place() {
    let (mut table, clock) = table();
    table.acquire("a", DIRECTORY, Some(10_u64.into())).unwrap().unwrap();
    let pin = table.pin("a", &["/srv/src/app.rs"], Mode::Exclusive, None).unwrap().unwrap();
    assert_eq!((pin.to_string(), "pin-1".parse()), ("pin-1".into(), Ok(pin)));
    clock.advance(20);
    let status = table.status().unwrap();
    assert_eq!((status.leases[0].pins, status.leases[0].lease.expires_in_ms), (1, -10));
    assert_eq!((status.pins[0].token, status.pins[0].generations.as_slice()), (pin, [1].as_slice()));
    assert!(
        matches!(table.acquire("b", FILE, None).unwrap(), Err(r) if r.reason.blocked().unwrap().conflicts[0].ended)
    );
    assert!(table.unpin(pin).unwrap());
    assert!(!table.unpin(pin).unwrap());
    assert!(!table.unpin(PinToken { number: u64::MAX }).unwrap());
    assert!(table.acquire("b", FILE, None).unwrap().is_ok());
    assert_eq!(
        table.pin("a", &["/srv"], Mode::Exclusive, None).unwrap().unwrap_err().reason,
        PinRefusal::NotHeld("/srv".into())
    );
    assert_eq!(table.pin("a", &[], Mode::Exclusive, None).unwrap().unwrap_err().reason, PinRefusal::NoPaths);
}

#[test]
fn an_operator_revokes_and_ends_sessions() {
    let (mut table, _) = table();
    let wishes = [Wish::exclusive("/a"), Wish::shared("/b")];
    table.acquire("a", &wishes, None).unwrap().unwrap();
    table.pin("a", &["/a"], Mode::Exclusive, None).unwrap().unwrap();
    assert!(table.revoke(1, false).unwrap().unwrap().pending);
    let gone = table.revoke(1, true).unwrap().unwrap();
    assert_eq!((gone.holder.as_str(), gone.path.as_str(), gone.pending), ("a", "/a", false));
    assert_eq!(table.revoke(1, true).unwrap(), None);
    assert_eq!(table.leases().unwrap().len(), 1);
    assert_eq!(table.end_session("a").unwrap(), 1);
    table.acquire("a", &wishes, None).unwrap().unwrap();
    assert_eq!(table.release_holder("b").unwrap(), 0);
    assert_eq!(table.release_holder("a").unwrap(), 2);
    assert_eq!(table.release_all().unwrap(), 0);
}

#[test]
fn containment_is_lexical_and_three_valued() {
    let (mut table, _) = table();
    let cases = [
        ("/srv/src", "/srv//src/", Containment::Yes),
        ("/srv/srcx", "/srv/src", Containment::No),
        ("src", "/srv", Containment::Unknown),
        ("", "/srv", Containment::Unknown),
    ];
    for (path, directory, expected) in cases {
        assert_eq!(table.contains(path, directory).unwrap(), expected, "{path} in {directory}");
    }
}

#[test]
fn each_refusal_has_a_sentence_unless_the_options_say_otherwise() {
    let (mut table, clock) = table();
    table.acquire("writer-1", DIRECTORY, None).unwrap().unwrap();
    clock.advance(12_000);
    let refused = table.acquire("reviewer-1", FILE, None).unwrap().unwrap_err();
    let sentence = "/srv/src/app.rs is inside /srv/src, held by writer-1 for 12 s, free in at most 288 s";
    assert_eq!((refused.sentence.as_deref(), refused.to_string().as_str()), (Some(sentence), sentence));
    assert!(table.refresh("writer-1", 9, None).unwrap().unwrap_err().sentence.unwrap().contains("generation"));
    assert!(table.pin("reviewer-1", &["/srv"], Mode::Shared, None).unwrap().unwrap_err().to_string().contains("/srv"));

    let (mut table, _) = table_with(Options { sentences: false, ..Options::default() });
    let refused = table.acquire("", FILE, None).unwrap().unwrap_err();
    assert_eq!((refused.sentence.as_deref(), refused.to_string().as_str()), (None, "invalid-holder"));
    assert_eq!(table.refresh("a", 1, None).unwrap().unwrap_err().sentence, None);
    assert_eq!(table.pin("a", &[], Mode::Shared, None).unwrap().unwrap_err().sentence, None);
}
