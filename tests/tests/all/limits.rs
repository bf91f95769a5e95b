//! Every limit of a table: below it and at it all is well, above it the limit is named.

use crate::soak;
use leasebook::limits::{LEASES_MAX, NUMBER_MAX, PINS_MAX, TTL_MS_MAX, WAITERS_MAX, WISHES_MAX};
use leasebook::{
    Counters, Fairness, Limit, Limits, Millis, Mode, Options, Period, PinRefusal, Record, Refusal, Release, Table,
    WaitAttempt, Wish,
};

const NOW: Millis = Millis::new(1_000);

fn table(fairness: Fairness, limits: Limits) -> Table {
    Table::new(Options { fairness, limits, ..Options::default() }).expect("an empty table")
}

fn attempt<'a>(waiter_id: &'a str, holder: &'a str, wishes: &'a [Wish<'a>]) -> WaitAttempt<'a> {
    let keep = Some(Period::from(60_000_u64));
    WaitAttempt { waiter_id, holder, wishes, ttl: None, allow_hold: true, keep }
}

fn over(which: Limit, limit: u64) -> Refusal {
    Refusal::LimitExceeded { which, limit }
}

#[test]
fn options_out_of_their_bounds_make_no_table() {
    let good = Limits::default();
    let with = |limits| Options { limits, ..Options::default() };
    let cases = [
        (Options { default_ttl_ms: 0, ..Options::default() }, "default-ttl-ms"),
        (Options { default_ttl_ms: TTL_MS_MAX + 1, ..Options::default() }, "default-ttl-ms"),
        (with(Limits { leases: LEASES_MAX + 1, ..good }), "limits.leases"),
        (with(Limits { waiters: WAITERS_MAX + 1, ..good }), "limits.waiters"),
        (with(Limits { wishes: WISHES_MAX + 1, ..good }), "limits.wishes"),
        (with(Limits { pins: PINS_MAX + 1, ..good }), "limits.pins"),
        (with(Limits { leases_per_holder: LEASES_MAX + 1, ..good }), "limits.leases-per-holder"),
        (with(Limits { waiters_per_holder: WAITERS_MAX + 1, ..good }), "limits.waiters-per-holder"),
        (with(Limits { pins_per_holder: PINS_MAX + 1, ..good }), "limits.pins-per-holder"),
    ];
    for (options, field) in cases {
        let error = Table::new(options).expect_err("no table");
        assert_eq!(error.field, field);
        assert!(error.to_string().starts_with(field), "{error}");
    }
    for default_ttl_ms in [1, TTL_MS_MAX] {
        Table::new(Options { default_ttl_ms, ..Options::default() }).expect("within its bounds");
    }
}

#[test]
fn a_call_names_at_most_1024_paths() {
    for (many, good) in [(1_023, true), (1_024, true), (1_025, false)] {
        let names: Vec<String> = (0..many).map(|n| format!("/d/{n}")).collect();
        let paths: Vec<&str> = names.iter().map(String::as_str).collect();
        let wishes: Vec<Wish<'_>> = paths.iter().copied().map(Wish::exclusive).collect();
        let mut table = table(Fairness::Fifo, Limits::default());
        let granted = table.acquire(NOW, "ada", &wishes, None);
        let waits = table.wait_attempt(NOW, &attempt("w", "bob", &wishes)).expect_err("held, or too many");
        let pinned = table.pin(NOW, "ada", &paths, Mode::Exclusive, None);
        let released = table.release(NOW, "ada", Release::Paths(&paths));
        if good {
            assert_eq!(granted.expect("granted").len(), many);
            let blocked = waits.blocked().expect("a conflict");
            assert_eq!((blocked.conflicts.len(), blocked.truncated), (256, true));
            assert!(pinned.is_ok());
            assert_eq!(released.expect("few paths").released.len(), many);
        } else {
            assert_eq!(granted, Err(over(Limit::Paths, 1_024)));
            assert_eq!(waits, over(Limit::Paths, 1_024));
            assert_eq!(pinned, Err(PinRefusal::LimitExceeded { which: Limit::Paths, limit: 1_024 }));
            assert!(released.is_err());
        }
    }
}

#[test]
fn a_waiter_id_is_at_most_256_bytes() {
    for (bytes, good) in [(0, true), (1, true), (255, true), (256, true), (257, false), (1_000_000, false)] {
        let mut table = table(Fairness::Barge, Limits::default());
        table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted");
        let id = "w".repeat(bytes);
        let refusal = table.wait_attempt(NOW, &attempt(&id, "bob", &[Wish::exclusive("/a")])).expect_err("held");
        if good {
            assert_eq!(refusal.reason(), "conflict");
            assert!(table.cancel_wait(NOW, &id));
        } else {
            assert_eq!(refusal, over(Limit::WaiterId, 256));
            assert_eq!(table.status(NOW).waiters, []);
        }
    }
}

#[test]
fn the_limit_of_leases_counts_new_locations_after_what_has_expired_is_gone() {
    let mut table = table(Fairness::Barge, Limits { leases: 3, ..Limits::default() });
    let ttl = Some(Period::from(10_u64));
    table.acquire(NOW, "ada", &[Wish::exclusive("/a")], ttl).expect("one");
    table.acquire(NOW, "ada", &[Wish::exclusive("/b"), Wish::exclusive("/c")], None).expect("three");
    let full = over(Limit::Leases, 3);
    assert_eq!(table.acquire(NOW, "ada", &[Wish::exclusive("/e")], None), Err(full.clone()));
    assert_eq!(table.wait_attempt(NOW, &attempt("w", "bob", &[Wish::exclusive("/e")])), Err(full.clone()));
    // The limit comes before the conflict, so that nobody waits for what could not be granted.
    assert_eq!(table.acquire(NOW, "bob", &[Wish::exclusive("/a")], None), Err(full.clone()));
    // What is held already is no new location, in whatever spelling.
    let held = [Wish::exclusive("/a/"), Wish::exclusive("/b"), Wish::exclusive("//c"), Wish::exclusive("/a")];
    assert_eq!(table.acquire(NOW, "ada", &held, ttl).expect("only refreshed").len(), 4);

    let later = Millis::new(NOW.get() + 10);
    assert_eq!(table.standing(), 3);
    let twice = [Wish::exclusive("/e"), Wish::exclusive("/e/")];
    let mut refreshed = table.clone();
    assert_eq!(table.acquire(later, "bob", &twice, None).expect("one location, three are over").len(), 2);
    let four = [Wish::exclusive("/1"), Wish::exclusive("/2"), Wish::exclusive("/3"), Wish::exclusive("/4")];
    assert_eq!(refreshed.acquire(later, "bob", &four, None), Err(full));
    assert_eq!(refreshed.acquire(later, "bob", &four[..3], None).expect("three").len(), 3);
}

#[test]
fn the_limit_of_waiters_spares_those_who_wait_already() {
    let mut table = table(Fairness::Fifo, Limits { waiters: 2, ..Limits::default() });
    table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted");
    let wishes = [Wish::exclusive("/a")];
    for (holder, reason) in [("bob", "conflict"), ("cy", "conflict"), ("dee", "limit-exceeded")] {
        let refusal = table.wait_attempt(NOW, &attempt(holder, holder, &wishes)).expect_err("held");
        assert_eq!(refusal.reason(), reason);
    }
    assert_eq!(table.wait_attempt(NOW, &attempt("d", "dee", &wishes)), Err(over(Limit::Waiters, 2)));
    let other = [Wish::exclusive("/a/x")];
    assert_eq!(table.wait_attempt(NOW, &attempt("cy", "cy", &other)).expect_err("held").reason(), "conflict");
    assert_eq!(table.status(NOW).waiters.len(), 2);
    // Whoever can be granted needs no room to wait in.
    table.wait_attempt(NOW, &attempt("d", "dee", &[Wish::exclusive("/free")])).expect("granted");
    table.cancel_wait(NOW, "bob");
    assert_eq!(table.wait_attempt(NOW, &attempt("d", "dee", &wishes)).expect_err("held").reason(), "conflict");
}

#[test]
fn the_limit_of_wishes_counts_those_of_all_waiters() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = table(fairness, Limits { wishes: 4, ..Limits::default() });
        table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted");
        let wishes = ["/a", "/b", "/c", "/d", "/e"].map(Wish::exclusive);
        let mut ask = |holder: &str, wishes: &[Wish<'_>]| {
            table.wait_attempt(NOW, &attempt(holder, holder, wishes)).expect_err("held").reason()
        };
        assert_eq!(ask("bob", &wishes), "limit-exceeded");
        assert_eq!(ask("bob", &wishes[..3]), "conflict");
        assert_eq!(ask("cy", &wishes[..2]), "limit-exceeded");
        assert_eq!(ask("cy", &wishes[..1]), "conflict");
        assert_eq!(ask("bob", &wishes[..4]), "limit-exceeded");
        // The same set in more words needs more room too.
        assert_eq!(ask("cy", &[wishes[0], wishes[0]]), "limit-exceeded");
        assert_eq!(ask("bob", &wishes[..2]), "conflict");
        assert_eq!(ask("cy", &[wishes[0], wishes[0]]), "conflict");
        let standing: usize = table.status(NOW).waiters.iter().map(|waiter| waiter.paths.len()).sum();
        assert_eq!(standing, 4);
    }
}

#[test]
fn the_limit_of_pins_counts_those_that_stand() {
    let mut table = table(Fairness::Barge, Limits { pins: 2, ..Limits::default() });
    table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted");
    let deadline = Millis::new(NOW.get() + 10);
    let first = table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None).expect("held");
    table.pin(NOW, "ada", &["/a"], Mode::Exclusive, Some(deadline)).expect("held");
    let full = Err(PinRefusal::LimitExceeded { which: Limit::Pins, limit: 2 });
    assert_eq!(table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None), full);
    assert!(table.pin(deadline, "ada", &["/a"], Mode::Exclusive, None).is_ok(), "one has run out");
    assert_eq!(table.pin(deadline, "ada", &["/a"], Mode::Exclusive, None), full);
    assert!(table.unpin(deadline, first));
    assert!(table.pin(deadline, "ada", &["/a"], Mode::Exclusive, None).is_ok());
}

#[test]
fn the_limit_of_leases_of_one_holder_leaves_the_others_their_room() {
    let mut table = table(Fairness::Barge, Limits { leases_per_holder: 2, ..Limits::default() });
    let full = over(Limit::LeasesPerHolder, 2);
    assert_eq!(table.acquire(NOW, "ada", &["/a", "/b", "/c"].map(Wish::exclusive), None), Err(full.clone()));
    table.acquire(NOW, "ada", &["/a", "/b", "/a/"].map(Wish::exclusive), None).expect("two locations");
    assert_eq!(table.acquire(NOW, "ada", &[Wish::exclusive("/c")], None), Err(full.clone()));
    assert_eq!(table.wait_attempt(NOW, &attempt("w", "ada", &[Wish::exclusive("/c")])), Err(full.clone()));
    table.acquire(NOW, "ada", &["/a", "/b"].map(Wish::exclusive), None).expect("what it has already");
    table.acquire(NOW, "bob", &["/c", "/d"].map(Wish::exclusive), None).expect("another holder");
    table.release(NOW, "ada", Release::Paths(&["/a"])).expect("released");
    table.acquire(NOW, "ada", &[Wish::exclusive("/e")], None).expect("room again");
    // What only a pin keeps stands as well.
    let pin = table.pin(NOW, "ada", &["/e"], Mode::Exclusive, None).expect("held");
    table.release(NOW, "ada", Release::Paths(&["/e"])).expect("released");
    assert_eq!(table.acquire(NOW, "ada", &[Wish::exclusive("/f")], None), Err(full));
    assert!(table.unpin(NOW, pin));
    table.acquire(NOW, "ada", &[Wish::exclusive("/f")], None).expect("room again");
}

#[test]
fn a_holder_that_floods_the_waiters_is_refused_and_the_others_wait_on() {
    let mut table = table(Fairness::Barge, Limits { waiters_per_holder: 2, ..Limits::default() });
    table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted");
    let wishes = [Wish::exclusive("/a")];
    let mut ask = |id: &str, holder: &str| table.wait_attempt(NOW, &attempt(id, holder, &wishes)).expect_err("held");
    assert_eq!(ask("1", "bob").reason(), "conflict");
    assert_eq!(ask("2", "bob").reason(), "conflict");
    for n in 3..100 {
        assert_eq!(ask(&n.to_string(), "bob"), over(Limit::WaitersPerHolder, 2));
    }
    assert_eq!(ask("2", "bob").reason(), "conflict", "a waiter that stands asks again");
    assert_eq!(ask("3", "cy").reason(), "conflict");
    assert_eq!(table.status(NOW).waiters.len(), 3);
    assert!(table.cancel_wait(NOW, "1"));
    let refusal = table.wait_attempt(NOW, &attempt("4", "bob", &wishes)).expect_err("held");
    assert_eq!(refusal.reason(), "conflict");
}

#[test]
fn the_limit_of_pins_of_one_holder_counts_its_own() {
    let mut table = table(Fairness::Barge, Limits { pins_per_holder: 1, ..Limits::default() });
    table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted");
    table.acquire(NOW, "bob", &[Wish::exclusive("/b")], None).expect("granted");
    let pin = table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None).expect("held");
    let full = Err(PinRefusal::LimitExceeded { which: Limit::PinsPerHolder, limit: 1 });
    assert_eq!(table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None), full);
    assert!(table.pin(NOW, "bob", &["/b"], Mode::Exclusive, None).is_ok(), "another holder");
    assert!(table.unpin(NOW, pin));
    assert!(table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None).is_ok());
}

#[test]
fn numbers_run_out_as_refusals() {
    let counters = Counters {
        now_ms: NOW.get(),
        last_generation: NUMBER_MAX - 1,
        last_place: NUMBER_MAX - 1,
        last_token: NUMBER_MAX - 1,
    };
    let mut table = Table::restore(Options::default(), [Record::Counters(counters)]).expect("good counters");
    let lease = table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("the last one").remove(0);
    assert_eq!(lease.generation, NUMBER_MAX);
    let out = over(Limit::Numbers, NUMBER_MAX);
    assert_eq!(table.acquire(NOW, "ada", &[Wish::exclusive("/b")], None), Err(out.clone()));
    assert!(table.refresh(NOW, "ada", lease.generation, None).is_ok(), "what stands is kept");
    assert!(table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None).is_ok());
    let no_token = PinRefusal::LimitExceeded { which: Limit::Numbers, limit: NUMBER_MAX };
    assert_eq!(table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None), Err(no_token));

    let records = table.records();
    let mut restored = Table::restore(table.options().clone(), records).expect("good records");
    assert_eq!(restored.acquire(NOW, "ada", &[Wish::exclusive("/b")], None), Err(out));

    for beyond in [NUMBER_MAX + 1, u64::MAX] {
        let counters = Counters { last_generation: beyond, ..counters };
        Table::restore(Options::default(), [Record::Counters(counters)]).expect_err("no table can come there");
    }
}

#[test]
fn a_table_holds_a_million_leases_in_soak_and_a_hundredth_in_the_gate() {
    let leases = if soak::asked() { LEASES_MAX } else { LEASES_MAX / 100 };
    let mut table = table(Fairness::Barge, Limits { leases, ..Limits::default() });
    let name = |n: usize| format!("/srv/{}/{}/{n}", n % 32, n / 32 % 32);
    for n in 0..leases {
        table.acquire(NOW, "ada", &[Wish::exclusive(&name(n))], None).expect("room");
    }
    assert_eq!(table.standing(), leases);
    let full = over(Limit::Leases, leases as u64);
    assert_eq!(table.acquire(NOW, "ada", &[Wish::exclusive("/one/more")], None), Err(full));
    assert!(table.acquire(NOW, "ada", &[Wish::exclusive(&name(leases / 2))], None).is_ok());
    let mut restored = Table::restore(table.options().clone(), table.records()).expect("good records");
    assert_eq!(restored.standing(), leases);
    assert_eq!(restored.release_holder(NOW, "ada"), leases);
    assert_eq!(table.release_all(NOW), leases);
    assert_eq!((table.standing(), restored.standing()), (0, 0));
}
