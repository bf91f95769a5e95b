//! A table restored from its records answers like the one they came from; events tell what happened.

use super::{COMPONENT, table_with};
use leasebook_wasmtime::{
    Event, Fact, Fairness, GrantedLease, LeaseRecord, LeaseTable, LoadError, ManualClock, Mode, Options, Record,
    Release, WaitAttempt, Wish,
};

fn restore(options: &Options, records: &[Record], at_ms: u64) -> Result<LeaseTable, LoadError> {
    let clock = ManualClock::new(at_ms);
    LeaseTable::builder(options.clone()).component(&COMPONENT).clock(clock).restore(records)
}

#[test]
fn at_every_step_a_restored_table_answers_the_same() {
    let options = Options { fairness: Fairness::Fifo, journal: true, ..Options::default() };
    let (mut table, clock) = table_with(options.clone());
    let mut journal = Vec::new();
    let mut generation = 0;
    let attempt = |holder, wishes| WaitAttempt {
        waiter_id: holder,
        holder,
        wishes,
        ttl: None,
        allow_hold: true,
        keep: Some(500_u64.into()),
    };
    let [a, both] = [&[Wish::exclusive("/a")][..], &[Wish::shared("/a/x"), Wish::exclusive("/b")]];
    let steps: [&dyn Fn(&mut LeaseTable); 8] = [
        &|table| drop(table.acquire("a", a, Some(400_u64.into())).unwrap()),
        &|table| drop(table.wait_attempt(&attempt("b", both)).unwrap()),
        &|table| drop(table.wait_attempt(&attempt("c", a)).unwrap()),
        &|table| drop(table.pin("a", &["/a/y"], Mode::Exclusive, Some(10_000)).unwrap()),
        &|table| drop(table.release("a", Release::All).unwrap()),
        &|table| drop(table.status().unwrap()),
        &|table| assert_eq!(table.end_session("a").unwrap(), 1),
        &|table| drop(table.wait_attempt(&attempt("b", both)).unwrap()),
    ];
    for (n, step) in steps.into_iter().enumerate() {
        clock.advance(50);
        step(&mut table);
        journal.extend(table.take_records().unwrap());
        let now = 1_000 + 50 * (n as u64 + 1);
        for records in [&journal, &table.records().unwrap()] {
            let mut restored = restore(&options, records, now).unwrap();
            assert_eq!(restored.status().unwrap(), table.status().unwrap(), "after step {n}");
            assert_eq!(restored.ready().unwrap(), table.ready().unwrap(), "after step {n}");
            assert_eq!(restored.next_deadline().unwrap(), table.next_deadline().unwrap(), "after step {n}");
            let fresh = restored.acquire("z", &[Wish::exclusive("/z")], None).unwrap().unwrap();
            assert!(fresh[0].generation > generation, "after step {n}");
        }
        let standing = table.leases().unwrap();
        generation = standing.iter().map(|lease| lease.generation).fold(generation, u64::max);
    }
    assert_eq!(generation, 3);
    assert_eq!(table.take_records().unwrap(), []);
}

#[test]
fn records_that_make_no_table_are_refused_by_their_key() {
    let options = Options::default();
    let lease = |holder: &str, path: &str| {
        Record::Lease(LeaseRecord {
            generation: 7,
            holder: holder.into(),
            path: path.into(),
            mode: Mode::Exclusive,
            acquired_at_ms: 0,
            ttl_ms: 10,
            expires_at_ms: 10,
            release_pending: false,
        })
    };
    for record in [lease("", "/a"), lease("a", ""), lease("a", "../a"), lease(&"h".repeat(1_000), "/a")] {
        let Err(LoadError::Restore(error)) = restore(&options, std::slice::from_ref(&record), 0) else {
            panic!("{record:?}")
        };
        assert!(error.record.contains('7') && !error.expected.is_empty(), "{error:?}");
    }
    let small = Options { memory_bytes_max: 100_000, ..Options::default() };
    let Err(LoadError::Restore(error)) = restore(&small, &[lease("a", &"x".repeat(200_000))], 0) else { panic!() };
    assert!(error.record.is_empty() && error.expected.contains("100000"), "{error:?}");
    assert!(restore(&options, &[], 0).unwrap().leases().unwrap().is_empty());
}

#[test]
fn events_tell_what_happened_once() {
    let (mut table, clock) = table_with(Options { events: 10, ..Options::default() });
    table.acquire("a", &[Wish::exclusive("/a")], Some(100_u64.into())).unwrap().unwrap();
    clock.advance(500);
    assert!(table.leases().unwrap().is_empty());
    let events = table.take_events().unwrap();
    let granted = GrantedLease {
        generation: 1,
        holder: "a".into(),
        path: "/a".into(),
        mode: Mode::Exclusive,
        expires_at_ms: 1_100,
    };
    assert_eq!(events[0], Event { at_ms: 1_000, what: Fact::Granted(granted) });
    let Event { at_ms: 1_100, what: Fact::Expired(expired) } = &events[1] else { panic!("{events:?}") };
    assert_eq!((expired.generation, expired.path.as_str(), expired.pending), (1, "/a", false));
    assert_eq!(table.take_events().unwrap(), []);
}
