//! Whatever a caller sends is granted or refused by name; the table answers on.

use super::{table, table_with};
use leasebook_wasmtime::{
    CALL_BYTES_MAX, Containment, Fairness, LeaseTable, Limit, LimitReached, Limits, LoadError, ManualClock, Mode,
    Options, PinRefusal, Refusal, Refused, Release, Verdict, WaitAttempt, Wish,
};

/// A refusal by its reason, in words.
fn reason(answer: Result<Vec<leasebook_wasmtime::Lease>, Refused<Refusal>>) -> String {
    match answer.map_err(|refused| refused.reason) {
        Ok(leases) => format!("granted {}", leases.len()),
        Err(Refusal::LimitExceeded(LimitReached { which, limit })) => format!("limit {} {limit}", which.name()),
        Err(refusal) => refusal.reason().into(),
    }
}

#[test]
fn unusable_arguments_are_refused_by_name() {
    let (mut table, _) = table();
    let path = [Wish::exclusive("/a")];
    let holders = ["", "a\nb", "\u{7f}", &"h".repeat(257), &"h".repeat(1_000_000)];
    for holder in holders {
        assert_eq!(reason(table.acquire(holder, &path, None).unwrap()), "invalid-holder");
    }
    assert_eq!(reason(table.acquire(&"h".repeat(256), &path, None).unwrap()), "granted 1");
    assert_eq!(table.release_all().unwrap(), 1);

    let day = 24.0 * 60.0 * 60.0 * 1000.0;
    for ttl in [0.0, -1.0, 0.5, day + 1.0, u64::MAX as f64, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let Refusal::InvalidTtl(given) = table.acquire("a", &path, Some(ttl.into())).unwrap().unwrap_err().reason
        else {
            panic!()
        };
        assert_eq!(given.to_string(), ttl.to_string());
    }
    assert_eq!(reason(table.acquire("a", &path, Some(u64::MAX.into())).unwrap()), "invalid-ttl");
    assert_eq!(reason(table.acquire("a", &path, Some(day.into())).unwrap()), "granted 1");
    assert_eq!(reason(table.acquire("a", &[], None).unwrap()), "no-paths");
}

#[test]
fn unusable_paths_are_all_named() {
    let (mut table, _) = table();
    let long = "x".repeat(1_000_000);
    let deep = "/d".repeat(256);
    let at_most = ["/d".repeat(255), format!("/{}", "x".repeat(4_095))];
    let bad = ["", "a\0b", "a\\b", "../a", "a/../b", &format!("{}x", at_most[1]), &deep, &long];
    let wishes: Vec<Wish<'_>> = [&bad[..], &["/good"]].concat().into_iter().map(Wish::exclusive).collect();
    let unevaluable = Refusal::UnevaluablePath(bad.map(String::from).to_vec());
    assert_eq!(table.acquire("a", &wishes, None).unwrap().unwrap_err().reason, unevaluable);
    let wishes = at_most.each_ref().map(|path| Wish::exclusive(path));
    assert_eq!(reason(table.acquire("a", &wishes, None).unwrap()), "granted 2");
    let covering = table.covering("b", &long, Mode::Exclusive).unwrap();
    assert_eq!((covering.verdict, covering.evaluable), (Verdict::Unknown, false));
    assert_eq!(table.contains(&long, &long).unwrap(), Containment::Unknown);
    assert_eq!(table.contains(&at_most[1], "/").unwrap(), Containment::Yes);
}

#[test]
fn many_paths_are_refused_at_the_limit_and_the_same_path_twice_is_one_lease() {
    let (mut table, _) = table();
    let paths: Vec<String> = (0..100_000).map(|n| format!("/d/{n}")).collect();
    let wishes: Vec<Wish<'_>> = paths.iter().map(|path| Wish::exclusive(path)).collect();
    let names: Vec<&str> = paths.iter().map(String::as_str).collect();
    assert_eq!(reason(table.acquire("a", &wishes, None).unwrap()), "limit paths 1024");
    assert_eq!(reason(table.acquire("a", &wishes[..1_025], None).unwrap()), "limit paths 1024");
    assert_eq!(reason(table.acquire("a", &wishes[..1_024], None).unwrap()), "granted 1024");
    let paths_max = LimitReached { which: Limit::Paths, limit: 1_024 };
    assert_eq!(table.release("a", Release::Paths(&names)).unwrap(), Err(paths_max));
    assert_eq!(
        table.pin("a", &names, Mode::Exclusive, None).unwrap().unwrap_err().reason,
        PinRefusal::LimitExceeded(paths_max)
    );
    assert_eq!(table.release("a", Release::Paths(&[])).unwrap().unwrap().released, Vec::<String>::new());
    assert_eq!(table.release("a", Release::Paths(&names[..1_024])).unwrap().unwrap().released.len(), 1_024);

    let twice = ["/d", "/d/", "//d/."].map(Wish::exclusive);
    let leases = table.acquire("a", &twice, None).unwrap().unwrap();
    assert_eq!(leases.iter().map(|lease| lease.generation).collect::<Vec<_>>(), [1_025; 3]);
}

#[test]
fn a_hundred_megabytes_are_refused_before_they_are_copied() {
    // An instance this small could not hold them.
    let builder = LeaseTable::builder(Options::default()).component(&super::COMPONENT).instance_bytes_max(24 << 20);
    let mut table = builder.clock(ManualClock::new(0)).build().unwrap();
    let megabyte = "/".repeat(1_000_000);
    let wishes = [Wish::exclusive(&megabyte); 100];
    let names = [megabyte.as_str(); 100];
    let call_bytes = LimitReached { which: Limit::CallBytes, limit: CALL_BYTES_MAX };
    assert_eq!(reason(table.acquire("a", &wishes, None).unwrap()), format!("limit call-bytes {CALL_BYTES_MAX}"));
    assert_eq!(table.release("a", Release::Paths(&names)).unwrap(), Err(call_bytes));
    assert_eq!(
        table.pin("a", &names, Mode::Shared, None).unwrap().unwrap_err().reason,
        PinRefusal::LimitExceeded(call_bytes)
    );
    let said = table.acquire("a", &wishes, None).unwrap().unwrap_err().to_string();
    assert!(said.contains(&CALL_BYTES_MAX.to_string()), "{said}");

    let hundred = megabyte.repeat(100);
    assert_eq!(reason(table.acquire(&hundred, &[Wish::exclusive("/a")], None).unwrap()), "invalid-holder");
    assert!(!table.cancel_wait(&hundred).unwrap());
    assert_eq!(table.release_holder(&hundred).unwrap(), 0);
    assert_eq!(table.end_session(&hundred).unwrap(), 0);
    assert_eq!(table.covering(&hundred, &hundred, Mode::Shared).unwrap().verdict, Verdict::Free);
    assert_eq!(table.contains(&hundred, &hundred).unwrap(), Containment::Unknown);
    assert_eq!(reason(table.acquire("a", &[Wish::exclusive("/a")], None).unwrap()), "granted 1");
}

#[test]
fn a_waiter_id_belongs_to_its_holder_and_takes_new_wishes() {
    let (mut table, _) = table();
    let [a, b] = ["/a", "/b"].map(|path| [Wish::exclusive(path)]);
    table.acquire("holder", &[a[0], b[0]], None).unwrap().unwrap();
    let attempt =
        |waiter_id, holder, wishes| WaitAttempt { waiter_id, holder, wishes, ttl: None, allow_hold: false, keep: None };
    assert_eq!(reason(table.wait_attempt(&attempt("w", "x", &a)).unwrap()), "conflict");
    assert_eq!(reason(table.wait_attempt(&attempt("w", "y", &a)).unwrap()), "waiter-id-taken");
    assert_eq!(reason(table.wait_attempt(&attempt("w", "x", &b)).unwrap()), "conflict");
    assert_eq!(table.status().unwrap().waiters[0].paths, ["/b"]);
    let long = "w".repeat(257);
    assert_eq!(reason(table.wait_attempt(&attempt(&long, "x", &b)).unwrap()), "limit waiter-id 256");
    assert_eq!(reason(table.wait_attempt(&attempt(&long[..256], "z", &b)).unwrap()), "conflict");

    let mut never = attempt("w", "x", &b[..]);
    for keep in [0.0, -1.0, f64::NAN, f64::INFINITY, u64::MAX as f64] {
        never.keep = Some(keep.into());
        assert_eq!(reason(table.wait_attempt(&never).unwrap()), "invalid-keep");
    }
    let (mut fifo, _) = table_with(Options { fairness: Fairness::Fifo, ..Options::default() });
    assert_eq!(fifo.wait_attempt(&attempt("w", "x", &b)).unwrap().unwrap_err().reason, Refusal::InvalidKeep(None));
}

#[test]
fn options_are_refused_out_of_their_bounds_only() {
    let highest = Options::default().limits;
    let good = [
        Options::default(),
        Options { default_ttl_ms: 1, ..Options::default() },
        Options { default_ttl_ms: 86_400_000, ..Options::default() },
        Options { memory_bytes_max: 1 << 30, ..Options::default() },
        Options {
            limits: Limits { leases: 0, waiters: 0, wishes: 0, pins: 0, ..Options::default().limits },
            ..Options::default()
        },
    ];
    let with = |limits| Options { limits, ..Options::default() };
    let bad = [
        ("default-ttl-ms", Options { default_ttl_ms: 0, ..Options::default() }),
        ("default-ttl-ms", Options { default_ttl_ms: 86_400_001, ..Options::default() }),
        ("limits.leases", with(Limits { leases: highest.leases + 1, ..highest })),
        ("limits.waiters", with(Limits { waiters: highest.waiters + 1, ..highest })),
        ("limits.wishes", with(Limits { wishes: highest.wishes + 1, ..highest })),
        ("limits.pins", with(Limits { pins: highest.pins + 1, ..highest })),
        ("limits.leases-per-holder", with(Limits { leases_per_holder: highest.leases + 1, ..highest })),
        ("limits.waiters-per-holder", with(Limits { waiters_per_holder: highest.waiters + 1, ..highest })),
        ("limits.pins-per-holder", with(Limits { pins_per_holder: highest.pins + 1, ..highest })),
        ("memory-bytes-max", Options { memory_bytes_max: 0, ..Options::default() }),
        ("memory-bytes-max", Options { memory_bytes_max: u64::MAX, ..Options::default() }),
    ];
    let build = |options: &Options| LeaseTable::builder(options.clone()).component(&super::COMPONENT).build();
    for options in &good {
        assert!(build(options).is_ok(), "{options:?}");
    }
    for (field, options) in &bad {
        let Err(LoadError::Options(invalid)) = build(options) else { panic!("{options:?}") };
        assert_eq!(invalid.field, *field);
        assert!(!invalid.expected.is_empty());
    }
    let (mut table, _) = table();
    assert_eq!(table.acquire("a", &[Wish::shared("/a")], None).unwrap().unwrap()[0].ttl_ms, 300_000);
}

#[test]
fn a_set_limit_is_kept() {
    let limits = Limits { leases: 1, waiters: 1, wishes: 1, pins: 1, ..Options::default().limits };
    let (mut table, _) = table_with(Options { limits, ..Options::default() });
    let [a, b] = ["/a", "/b"].map(|path| [Wish::exclusive(path)]);
    assert_eq!(reason(table.acquire("a", &a, None).unwrap()), "granted 1");
    assert_eq!(reason(table.acquire("a", &b, None).unwrap()), "limit leases 1");
    assert!(table.pin("a", &["/a"], Mode::Exclusive, None).unwrap().is_ok());
    let pins = LimitReached { which: Limit::Pins, limit: 1 };
    assert_eq!(
        table.pin("a", &["/a"], Mode::Exclusive, None).unwrap().unwrap_err().reason,
        PinRefusal::LimitExceeded(pins)
    );
}

#[test]
fn what_would_use_up_the_memory_is_refused_and_releasing_helps() {
    let (mut table, _) = table_with(Options { memory_bytes_max: 4 << 20, ..Options::default() });
    let name = "n".repeat(4_000);
    let mut granted = 0;
    let limit = loop {
        let path = format!("/{granted}/{name}");
        match table.acquire("a", &[Wish::exclusive(&path)], None).unwrap() {
            Ok(_) => granted += 1,
            Err(refused) => break refused,
        }
    };
    let memory_bytes = LimitReached { which: Limit::MemoryBytes, limit: 4 << 20 };
    assert_eq!(limit.reason, Refusal::LimitExceeded(memory_bytes));
    assert!(limit.to_string().contains("memory"), "{limit}");
    assert!((100..1_100).contains(&granted), "{granted}");
    assert_eq!(table.leases().unwrap().len(), granted);
    assert_eq!(table.release_holder("a").unwrap() as usize, granted);
    assert!(table.acquire("a", &[Wish::exclusive("/again")], None).unwrap().is_ok());
}
