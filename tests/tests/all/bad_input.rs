//! Whatever comes from outside is refused as a value, for the first reason that applies, and changes nothing.

use leasebook::limits::{NOW_MS_MAX, NUMBER_MAX, TTL_MS_MAX};
use leasebook::{
    Fairness, Holder, InvalidHolder, Limit, Millis, Mode, Options, Period, PinRefusal, PinToken, RefreshRefusal,
    Refusal, Release, Table, TooManyPaths, WaitAttempt, Wish,
};

const NOW: Millis = Millis::new(1_000);

fn table(fairness: Fairness) -> Table {
    Table::new(Options { fairness, ..Options::default() }).expect("an empty table")
}

fn attempt<'a>(waiter_id: &'a str, holder: &'a str, wishes: &'a [Wish<'a>]) -> WaitAttempt<'a> {
    let keep = Some(Period::from(60_000_u64));
    WaitAttempt { waiter_id, holder, wishes, ttl: None, allow_hold: true, keep }
}

/// An attempt that the table refuses leaves everything as it is.
fn refused(table: &mut Table, attempt: &WaitAttempt<'_>) -> Refusal {
    let (status, records) = (table.status(NOW), table.records());
    let refusal = table.wait_attempt(NOW, attempt).expect_err("a refusal");
    assert_eq!(table.status(NOW), status, "{refusal:?} changed something");
    assert_eq!(table.records(), records, "{refusal:?} changed something");
    refusal
}

#[test]
fn a_holder_is_1_to_256_bytes_without_control_characters() {
    let cases = [
        ("", false),
        (" ", true),
        ("a", true),
        (&"h".repeat(256), true),
        (&"h".repeat(257), false),
        (&"\u{e9}".repeat(128), true),  // 256 bytes
        (&"\u{e9}".repeat(129), false), // 129 characters, 258 bytes
        (&"h".repeat(1_000_000), false),
        ("a\0", false),
        ("a\nb", false),
        ("\t", false),
        ("\u{1b}[2J", false),
        ("\u{7f}", false),
        ("\u{85}", false),  // a control character beyond ASCII
        ("\u{200b}", true), // no control character, however little there is to see
        ("did:key:z6Mk", true),
    ];
    for (holder, good) in cases {
        let shown = holder.chars().take(8).collect::<String>();
        assert_eq!(Holder::new(holder).is_ok(), good, "{shown:?}");
        assert_eq!(Holder::new(holder).is_err_and(|InvalidHolder| true), !good, "{shown:?}");
        for fairness in [Fairness::Barge, Fairness::Fifo] {
            let mut table = table(fairness);
            let acquired = table.acquire(NOW, holder, &[Wish::exclusive("/a")], None);
            let waited = table.wait_attempt(NOW, &attempt("w", holder, &[Wish::exclusive("/a")]));
            if good {
                assert!(acquired.is_ok() && waited.is_ok(), "{shown:?}");
            } else {
                assert_eq!(acquired, Err(Refusal::InvalidHolder), "{shown:?}");
                assert_eq!(waited, Err(Refusal::InvalidHolder), "{shown:?}");
                // Whoever cannot hold anything holds nothing.
                assert_eq!(table.release_holder(NOW, holder), 0);
                assert_eq!(table.end_session(NOW, holder), 0);
                assert_eq!(table.refresh(NOW, holder, 1, None), Err(RefreshRefusal::Stale));
                let not_held = Err(PinRefusal::NotHeld { path: "/a".into() });
                assert_eq!(table.pin(NOW, holder, &["/a"], Mode::Shared, None), not_held);
            }
        }
    }
}

/// (ttl as given, milliseconds where it is one)
const TTLS: [(f64, Option<u64>); 21] = [
    (1.0, Some(1)),
    (1_500.0, Some(1_500)),
    (86_399_999.0, Some(86_399_999)),
    (86_400_000.0, Some(86_400_000)),
    (86_400_001.0, None),
    (0.0, None),
    (-0.0, None),
    (-1.0, None),
    (1.5, None),
    (0.999_999, None),
    (f64::MIN_POSITIVE, None),
    (f64::EPSILON, None),
    (9_007_199_254_740_991.0, None),     // 2^53 - 1
    (9_007_199_254_740_992.0, None),     // 2^53
    (9_223_372_036_854_775_808.0, None), // 2^63
    (1e300, None),
    (f64::MAX, None),
    (f64::MIN, None),
    (f64::INFINITY, None),
    (f64::NEG_INFINITY, None),
    (f64::NAN, None),
];

#[test]
fn a_ttl_is_whole_milliseconds_from_1_to_24_hours() {
    for (given, expected) in TTLS {
        let ttl = Some(Period::from(given));
        let mut table = table(Fairness::Barge);
        let granted = table.acquire(NOW, "ada", &[Wish::exclusive("/a")], ttl);
        let waited = table.wait_attempt(NOW, &WaitAttempt { ttl, ..attempt("w", "ada", &[Wish::exclusive("/b")]) });
        let standing = table.acquire(NOW, "ada", &[Wish::exclusive("/c")], None).expect("the default is good");
        let refreshed = table.refresh(NOW, "ada", standing[0].generation, ttl);
        match expected {
            Some(ms) => {
                assert_eq!(granted.expect("granted")[0].ttl_ms, ms);
                assert_eq!(waited.expect("granted")[0].expires_at_ms, NOW.get() + ms);
                assert_eq!(refreshed.expect("refreshed").expires_in_ms, ms as i64);
            }
            None => {
                for refusal in [granted, waited].map(|answer| answer.expect_err("a refusal")) {
                    let Refusal::InvalidTtl { ttl_ms } = refusal else { panic!("{given}: {refusal:?}") };
                    assert_eq!(ttl_ms.to_bits(), given.to_bits(), "the number is said as it was given");
                }
                let refusal = refreshed.expect_err("a refusal");
                let RefreshRefusal::InvalidTtl { ttl_ms } = refusal else { panic!("{given}: {refusal:?}") };
                assert_eq!(ttl_ms.to_bits(), given.to_bits());
            }
        }
    }
}

#[test]
fn a_whole_number_as_ttl_or_keep_is_never_rounded_into_a_good_one() {
    let cases = [
        (0, None),
        (1, Some(1)),
        (TTL_MS_MAX, Some(TTL_MS_MAX)),
        (TTL_MS_MAX + 1, None),
        (NUMBER_MAX, None),
        (NUMBER_MAX + 1, None),
        (NUMBER_MAX + 2, None),
        (1 << 63, None),
        (u64::MAX, None),
    ];
    for (given, ttl) in cases {
        assert_eq!(Period::from(given).ttl_ms(), ttl, "{given}");
        let keep = (1..=NUMBER_MAX).contains(&given).then_some(given);
        assert_eq!(Period::from(given).keep_ms(), keep, "{given}");
    }
}

#[test]
fn a_keep_is_whole_milliseconds_and_fifo_requires_one() {
    let cases = [
        (None, true, false),
        (Some(1.0), true, true),
        (Some(9_007_199_254_740_991.0), true, true), // 2^53 - 1
        (Some(9_007_199_254_740_992.0), false, false),
        (Some(0.0), false, false),
        (Some(-0.0), false, false),
        (Some(-5.0), false, false),
        (Some(0.5), false, false),
        (Some(f64::NAN), false, false),
        (Some(f64::INFINITY), false, false),
    ];
    for (given, good_in_barge, good_in_fifo) in cases {
        for (fairness, good) in [(Fairness::Barge, good_in_barge), (Fairness::Fifo, good_in_fifo)] {
            let mut table = table(fairness);
            table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted");
            let wishes = [Wish::exclusive("/a")];
            let attempt = WaitAttempt { keep: given.map(Period::from), ..attempt("w", "bob", &wishes) };
            if good {
                let refusal = table.wait_attempt(NOW, &attempt).expect_err("it has to wait");
                assert_eq!(refusal.reason(), "conflict", "{given:?} in {fairness:?}");
                assert_eq!(table.status(NOW).waiters.len(), 1);
            } else {
                let refusal = refused(&mut table, &attempt);
                let Refusal::InvalidKeep { keep_ms } = refusal else { panic!("{given:?}: {refusal:?}") };
                assert_eq!(keep_ms.map(f64::to_bits), given.map(f64::to_bits));
            }
        }
    }
}

#[test]
fn unreadable_paths_are_all_named_as_asked() {
    let long = format!("/{}", "a".repeat(1_000_000));
    let paths = ["/good", "", "/a/..", "/b\\c", "/d\0", long.as_str(), "/also/good", "/a/.."];
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = table(fairness);
        let wishes = paths.map(Wish::exclusive);
        let unevaluable = [paths[1], paths[2], paths[3], paths[4], paths[5], paths[7]].map(String::from).to_vec();
        let expected = Refusal::UnevaluablePath { unevaluable };
        assert_eq!(table.acquire(NOW, "ada", &wishes, None), Err(expected.clone()));
        assert_eq!(refused(&mut table, &attempt("w", "ada", &wishes)), expected);

        let released = table.release(NOW, "ada", Release::Paths(&paths)).expect("few paths");
        assert_eq!(released.not_held.len(), paths.len());
        for path in &paths[1..6] {
            let covering = table.covering(NOW, "ada", path, Mode::Exclusive);
            assert!(!covering.evaluable && covering.lease.is_none(), "{covering:?}");
            let not_held = PinRefusal::NotHeld { path: path.to_string() };
            assert_eq!(table.pin(NOW, "ada", &[path], Mode::Shared, None), Err(not_held));
        }
    }
}

#[test]
fn a_hundred_thousand_paths_in_one_call_are_refused_in_every_call() {
    let names: Vec<String> = (0..100_000).map(|n| format!("/d/{n}")).collect();
    let paths: Vec<&str> = names.iter().map(String::as_str).collect();
    let wishes: Vec<Wish<'_>> = paths.iter().copied().map(Wish::exclusive).collect();
    let limit = Refusal::LimitExceeded { which: Limit::Paths, limit: 1_024 };
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = table(fairness);
        assert_eq!(table.acquire(NOW, "ada", &wishes, None), Err(limit.clone()));
        assert_eq!(refused(&mut table, &attempt("w", "ada", &wishes)), limit);
        assert_eq!(table.release(NOW, "ada", Release::Paths(&paths)), Err(TooManyPaths));
        let pin = PinRefusal::LimitExceeded { which: Limit::Paths, limit: 1_024 };
        assert_eq!(table.pin(NOW, "ada", &paths, Mode::Shared, None), Err(pin));
        assert_eq!(table.standing(), 0);
    }
}

#[test]
fn a_location_asked_twice_is_answered_twice_and_is_one_lease() {
    let mut table = table(Fairness::Barge);
    let wishes = [Wish::shared("/a/b"), Wish::exclusive("/a//b/"), Wish::shared("/a/./b"), Wish::exclusive("/c")];
    let leases = table.acquire(NOW, "ada", &wishes, None).expect("granted");
    let generations: Vec<u64> = leases.iter().map(|lease| lease.generation).collect();
    assert_eq!(generations, [1, 1, 1, 2]);
    assert!(leases[..3].iter().all(|lease| lease.path == "/a/b" && lease.mode == Mode::Exclusive), "{leases:?}");
    assert_eq!(table.standing(), 2);

    let pinned = table.pin(NOW, "ada", &["/a/b", "/a/b/c", "/c"], Mode::Exclusive, None).expect("held");
    assert_eq!(table.status(NOW).pins[0].generations, [1, 2]);
    assert!(table.unpin(NOW, pinned));

    let refusal = table.acquire(NOW, "bob", &[wishes[0], wishes[1]], None).expect_err("held by ada");
    assert_eq!(refusal.blocked().expect("a conflict").conflicts.len(), 2);
    let released = table.release(NOW, "ada", Release::Paths(&["/a/b/", "/a//b", "/x"])).expect("few paths");
    assert_eq!(released.released, ["/a/b", "/a/b"]);
    assert_eq!(table.standing(), 1);
}

#[test]
fn a_clock_that_runs_back_counts_as_the_latest_time_seen() {
    let mut table = table(Fairness::Barge);
    let ttl = Some(Period::from(100_u64));
    table.acquire(Millis::new(5_000), "ada", &[Wish::exclusive("/a")], ttl).expect("granted");
    for earlier in [4_999, 1_000, 0] {
        let lease = &table.leases(Millis::new(earlier))[0];
        assert_eq!((lease.held_for_ms, lease.expires_in_ms), (0, 100));
    }
    let lease = &table.acquire(Millis::new(0), "ada", &[Wish::exclusive("/b")], ttl).expect("granted")[0];
    assert_eq!((lease.acquired_at_ms, lease.expires_at_ms), (5_000, 5_100));
    assert_eq!(table.leases(Millis::new(5_099)).len(), 2);
    assert_eq!(table.leases(Millis::new(5_100)).len(), 0);
    assert_eq!(table.leases(Millis::new(5_000)).len(), 0, "what has expired does not come back with the clock");
}

#[test]
fn a_clock_at_the_end_of_time_stands_still_and_everything_else_goes_on() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = table(fairness);
        let end = Millis::new(u64::MAX);
        assert_eq!(end.get(), NOW_MS_MAX);
        let longest = Some(Period::from(TTL_MS_MAX));
        let lease = table.acquire(end, "ada", &[Wish::exclusive("/a")], longest).expect("granted").remove(0);
        assert_eq!(lease.expires_at_ms, NUMBER_MAX);
        assert_eq!(lease.expires_in_ms, TTL_MS_MAX as i64);
        let wishes = [Wish::exclusive("/a")];
        let keep = Some(Period::from(NUMBER_MAX));
        let refusal = table.wait_attempt(end, &WaitAttempt { keep, ..attempt("w", "bob", &wishes) });
        assert_eq!(refusal.expect_err("held").reason(), "conflict");
        table.pin(end, "ada", &["/a"], Mode::Exclusive, Some(end)).expect("held");
        // A pin whose deadline has come keeps nothing; a lease that is not over stays.
        assert_eq!(table.status(end).pins, []);
        assert_eq!(table.leases(Millis::new(u64::MAX)).len(), 1);
        assert_eq!(table.release_holder(end, "ada"), 1);
        assert_eq!(table.ready(end), ["w"]);
        let restored = Table::restore(table.options().clone(), table.records()).expect("good records");
        assert_eq!(restored.records(), table.records());
    }
}

#[test]
fn unknown_tokens_ids_and_generations_are_answers_and_change_nothing() {
    let mut table = table(Fairness::Barge);
    let lease = table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted").remove(0);
    let token = table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None).expect("held");
    for unknown in [PinToken(0), PinToken(token.0 + 1), PinToken(u64::MAX)] {
        assert!(!table.unpin(NOW, unknown));
    }
    assert!(table.unpin(NOW, token));
    assert!(!table.unpin(NOW, token), "a pin ends once");
    for unknown in [0, lease.generation + 1, NUMBER_MAX, u64::MAX] {
        assert_eq!(table.refresh(NOW, "ada", unknown, None), Err(RefreshRefusal::Stale));
        assert_eq!(table.revoke(NOW, unknown, true), None);
        let released = table.release(NOW, "ada", Release::Generation(unknown)).expect("few paths");
        assert_eq!(released.not_held.len(), 1);
    }
    assert!(!table.cancel_wait(NOW, ""));
    assert_eq!(table.leases(NOW), [lease]);
}

#[test]
fn tokens_are_read_only_as_they_are_shown() {
    let good = ["pin-1", "pin-18446744073709551615"];
    for shown in good {
        assert_eq!(shown.parse::<PinToken>().expect("a token").to_string(), shown);
    }
    for bad in ["", "pin-", "1", "pin-1 ", "pin--1", "PIN-1", "pin-18446744073709551616", "pin-0x1", "pin-+1", "pin-01"]
    {
        assert!(bad.parse::<PinToken>().is_err(), "{bad:?}");
    }
}

#[test]
fn a_waiter_id_belongs_to_its_holder_and_takes_new_paths() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = table(fairness);
        table.acquire(NOW, "ada", &[Wish::exclusive("/a"), Wish::exclusive("/b")], None).expect("granted");
        let first = [Wish::exclusive("/a")];
        table.wait_attempt(NOW, &attempt("w", "bob", &first)).expect_err("held");
        assert_eq!(refused(&mut table, &attempt("w", "cy", &[Wish::exclusive("/free")])), Refusal::WaiterIdTaken);
        assert_eq!(refused(&mut table, &attempt("w", "ada", &first)), Refusal::WaiterIdTaken);

        let later = Millis::new(NOW.get() + 10);
        let second = [Wish::exclusive("/b/x"), Wish::shared("/b/y")];
        table.wait_attempt(later, &attempt("w", "bob", &second)).expect_err("held");
        let waiter = table.status(later).waiters.remove(0);
        assert_eq!(waiter.paths, ["/b/x", "/b/y"]);
        assert_eq!(waiter.modes, [Mode::Exclusive, Mode::Shared]);
        assert_eq!(waiter.waiting_for_ms, 10, "a re-used id keeps its start");

        let other = table.wait_attempt(later, &attempt("w2", "bob", &first)).expect_err("held");
        let expected = if fairness == Fairness::Fifo { "already-waiting" } else { "conflict" };
        assert_eq!(other.reason(), expected);
    }
}

#[test]
fn the_first_reason_that_applies_is_the_one_that_is_said() {
    let mut table = table(Fairness::Fifo);
    table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("granted");
    table.acquire(NOW, "bob", &[Wish::exclusive("/b")], None).expect("granted");
    table.wait_attempt(NOW, &attempt("ada-1", "ada", &[Wish::exclusive("/b")])).expect_err("held");
    let (bad_path, good) = ([Wish::exclusive("..")], [Wish::exclusive("/a")]);
    let many = vec![Wish::exclusive("/a"); 1_025];
    let long_id = "i".repeat(257);
    let bad_ttl = Some(Period::from(f64::NAN));
    // Each has every fault that the following ones still have.
    let all = WaitAttempt { waiter_id: &long_id, holder: "", wishes: &[], ttl: bad_ttl, allow_hold: false, keep: None };
    let holder = WaitAttempt { holder: "bob", ..all };
    let ttl = WaitAttempt { ttl: None, ..holder };
    let keep = WaitAttempt { keep: Some(Period::from(10_u64)), ..ttl };
    let paths = WaitAttempt { wishes: &bad_path, ..keep };
    let readable = WaitAttempt { wishes: &many, ..paths };
    let few = WaitAttempt { wishes: &good, ..readable };
    let short = WaitAttempt { waiter_id: "ada-1", ..few };
    let own_id = WaitAttempt { waiter_id: "bob-1", ..short };
    let holding = WaitAttempt { allow_hold: true, ..own_id };
    let cases = [
        (all, "invalid-holder"),
        (holder, "invalid-ttl"),
        (ttl, "invalid-keep"),
        (keep, "no-paths"),
        (paths, "unevaluable-path"),
        (readable, "limit-exceeded"),
        (few, "limit-exceeded"),
        (short, "waiter-id-taken"),
        (own_id, "hold-and-wait"),
        (holding, "deadlock"),
    ];
    for (attempt, expected) in cases {
        assert_eq!(refused(&mut table, &attempt).reason(), expected);
    }
    let second = WaitAttempt { holder: "ada", waiter_id: "ada-2", ..holding };
    assert_eq!(refused(&mut table, &second).reason(), "already-waiting");
}
