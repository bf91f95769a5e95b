//! Records that no table wrote are refused, or make a table that keeps its promises; they never break one.

use leasebook::limits::{NOW_MS_MAX, NUMBER_MAX};
use leasebook::{
    Counters, Fairness, Holder, LeaseRecord, Millis, Mode, Options, PinRecord, PinToken, Record, Table, WaiterRecord,
    contains,
};
use leasebook_tests::decode::{self, Run};
use leasebook_tests::step::resolve;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::Cell;

const CASES: u32 = 2_000;

#[test]
fn changed_records_are_refused_or_make_a_sound_table() {
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[3; 32]));
    let (restored, refused) = (Cell::new(0), Cell::new(0));
    let input = (vec(any::<u8>(), 1..400), vec(any::<[u8; 3]>(), 1..4), vec(any::<u8>(), 1..100));
    let outcome = runner.run(&input, |(before, changes, after)| {
        let run = decode::run(&before);
        let (mut table, now_ms) = played(&run);
        let mut records = table.records();
        for change in changes {
            alter(&mut records, change);
        }
        match Table::restore(run.options.clone(), records.clone()) {
            Ok(table) => {
                restored.set(restored.get() + 1);
                sound(table, now_ms, &decode::run(&after))
                    .map_err(|fault| TestCaseError::fail(format!("{fault}\nrestored from {records:#?}")))?;
            }
            Err(fault) => {
                refused.set(refused.get() + 1);
                assert!(!fault.record.is_empty() && !fault.expected.is_empty());
            }
        }
        table.status(Millis::new(now_ms));
        Ok(())
    });
    outcome.unwrap_or_else(|fault| panic!("{fault}"));
    // Neither answer is rare, or the changes would say little.
    assert!(restored.get() > CASES / 10 && refused.get() > CASES / 10, "{restored:?} restored, {refused:?} refused");
}

fn played(run: &Run) -> (Table, u64) {
    let mut table = Table::new(run.options.clone()).expect("an empty table");
    let mut now_ms = run.start_ms;
    for step in &run.steps {
        let timed = resolve(run.universe, *step, now_ms, &table.status(Millis::new(now_ms)));
        now_ms = now_ms.max(timed.at_ms);
        timed.on_table(&mut table);
    }
    (table, now_ms)
}

/// One change of the records, by three bytes: which record, what of it, and to what.
fn alter(records: &mut Vec<Record>, [which, what, to]: [u8; 3]) {
    let number = [0, 1, 2, 3, 1_000, NOW_MS_MAX, NUMBER_MAX, u64::MAX][usize::from(to) % 8];
    let path = ["/d", "/d/x", "/d//x", "/", "d", "", "..", "/e"][usize::from(to) % 8].to_string();
    let place = usize::from(which) % records.len().max(1);
    let Some(mut record) = records.get(place).cloned() else { return };
    match (&mut record, what % 16) {
        (_, 0) => drop(records.remove(place)),
        (_, 1) => records.push(record.clone()),
        (_, 2) => records.reverse(),
        (Record::Lease(lease), 3) => lease.generation = number,
        (Record::Lease(lease), 4) => lease.path = path,
        (Record::Lease(lease), 5) => lease.holder = Holder::new("eve").expect("a holder"),
        (Record::Lease(lease), 6) => lease.mode = if to.is_multiple_of(2) { Mode::Shared } else { Mode::Exclusive },
        (Record::Lease(lease), 7) => lease.acquired_at_ms = number,
        (Record::Lease(lease), 8) => lease.ttl_ms = number,
        (Record::Lease(lease), 9) => lease.expires_at_ms = number,
        (Record::Lease(lease), _) => lease.release_pending ^= true,
        (Record::Waiter(waiter), 3) => waiter.place = number,
        (Record::Waiter(waiter), 4) => waiter.paths[0] = path,
        (Record::Waiter(waiter), 5) => waiter.holder = Holder::new("eve").expect("a holder"),
        (Record::Waiter(waiter), 6) => waiter.id = ["", "ada-1", "eve"][usize::from(to) % 3].into(),
        (Record::Waiter(waiter), 7) => waiter.lapses_at_ms = (to % 9 > 0).then_some(number),
        (Record::Waiter(waiter), 8) => waiter.passed = vec![number],
        (Record::Waiter(waiter), 9) => waiter.passed = (0..number.min(20)).collect(),
        (Record::Waiter(waiter), 10) => waiter.paths = vec![path; usize::from(to)],
        (Record::Waiter(waiter), 11) => drop(waiter.modes.pop()),
        (Record::Waiter(waiter), _) => waiter.since_ms = number,
        (Record::Pin(pin), 3) => pin.token = PinToken(number),
        (Record::Pin(pin), 4) => pin.generations = vec![number],
        (Record::Pin(pin), 5) => pin.generations = (0..number.min(2_000)).collect(),
        (Record::Pin(pin), 6) => pin.generations.clear(),
        (Record::Pin(pin), 7) => pin.holder = Holder::new("eve").expect("a holder"),
        (Record::Pin(pin), 8) => pin.deadline_ms = Some(number),
        (Record::Pin(pin), _) => pin.since_ms = number,
        (Record::Counters(counters), 3) => counters.now_ms = number,
        (Record::Counters(counters), 4) => counters.last_generation = number,
        (Record::Counters(counters), 5) => counters.last_place = number,
        (Record::Counters(counters), _) => counters.last_token = number,
        (Record::LeaseGone(_) | Record::WaiterGone(_) | Record::PinGone(_), _) => unreachable!("a table has none"),
    }
    if what % 16 > 2 {
        records[place] = record;
    }
}

/// Nobody shares what is exclusive, whoever is ready is granted, and it comes back from its own records.
fn sound(mut table: Table, now_ms: u64, run: &Run) -> Result<(), String> {
    let mut now_ms = now_ms.min(NOW_MS_MAX);
    for step in &run.steps {
        let status = table.status(Millis::new(now_ms));
        for (n, one) in status.leases.iter().enumerate() {
            for other in &status.leases[..n] {
                let (one, other) = (&one.lease, &other.lease);
                let apart = [contains(&one.path, &other.path), contains(&other.path, &one.path)]
                    == [leasebook::Containment::No; 2];
                if one.holder != other.holder
                    && !apart
                    && (one.mode == Mode::Exclusive || other.mode == Mode::Exclusive)
                {
                    return Err(format!("two holders: {one:?}, {other:?}"));
                }
            }
        }
        let ready = table.ready(Millis::new(now_ms));
        let free = status.waiters.iter().filter(|waiter| waiter.blockers.is_empty()).map(|waiter| waiter.id.clone());
        if free.collect::<Vec<_>>() != ready {
            return Err(format!("ready {ready:?}, but {:?}", status.waiters));
        }
        let again = Table::restore(table.options().clone(), table.records()).map_err(|fault| fault.to_string())?;
        if again.records() != table.records() {
            return Err(format!("{:#?} came back as {:#?}", table.records(), again.records()));
        }
        let timed = resolve(run.universe, *step, now_ms, &status);
        now_ms = now_ms.max(timed.at_ms);
        timed.on_table(&mut table);
    }
    Ok(())
}

#[test]
fn each_fault_of_a_record_is_named() {
    let holder = |id| Holder::new(id).expect("a holder");
    let counters = Counters { now_ms: 1_000, last_generation: 5, last_place: 5, last_token: 5 };
    let lease = LeaseRecord {
        generation: 3,
        holder: holder("ada"),
        path: "/a".into(),
        mode: Mode::Exclusive,
        acquired_at_ms: 900,
        ttl_ms: 500,
        expires_at_ms: 1_400,
        release_pending: false,
    };
    let waiter = WaiterRecord {
        id: "w".into(),
        holder: holder("bob"),
        paths: vec!["/a".into()],
        modes: vec![Mode::Exclusive],
        since_ms: 950,
        lapses_at_ms: Some(2_000),
        place: 4,
        passed: vec![1, 2],
    };
    let pin =
        PinRecord { token: PinToken(2), holder: holder("ada"), generations: vec![3], since_ms: 950, deadline_ms: None };
    let with = |record: Record| -> Vec<Record> {
        let good = [
            Record::Counters(counters),
            Record::Lease(lease.clone()),
            Record::Waiter(waiter.clone()),
            Record::Pin(pin.clone()),
        ];
        good.into_iter().chain([record]).collect()
    };
    let options = || Options { fairness: Fairness::Fifo, ..Options::default() };
    Table::restore(options(), with(Record::LeaseGone(9))).expect("good records");

    let (l, w, p) = (|| lease.clone(), || waiter.clone(), || pin.clone());
    let cases = [
        ("counters", Record::Counters(Counters { now_ms: NOW_MS_MAX + 1, ..counters })),
        ("counters", Record::Counters(Counters { last_generation: NUMBER_MAX + 1, ..counters })),
        ("counters", Record::Counters(Counters { last_place: u64::MAX, ..counters })),
        ("counters", Record::Counters(Counters { last_token: u64::MAX, ..counters })),
        ("3", Record::Counters(Counters { last_generation: 2, ..counters })),
        ("w", Record::Counters(Counters { last_place: 3, ..counters })),
        ("pin-2", Record::Counters(Counters { last_token: 1, ..counters })),
        ("6", Record::Lease(LeaseRecord { generation: 6, path: "/b".into(), ..l() })),
        ("0", Record::Lease(LeaseRecord { generation: 0, path: "/b".into(), ..l() })),
        ("3", Record::Lease(LeaseRecord { path: "/a/..".into(), ..l() })),
        ("3", Record::Lease(LeaseRecord { ttl_ms: 0, ..l() })),
        ("3", Record::Lease(LeaseRecord { ttl_ms: 86_400_001, ..l() })),
        ("3", Record::Lease(LeaseRecord { expires_at_ms: u64::MAX, ..l() })),
        ("3", Record::Lease(LeaseRecord { acquired_at_ms: 1_001, ..l() })),
        ("4", Record::Lease(LeaseRecord { generation: 4, holder: holder("eve"), ..l() })),
        ("4", Record::Lease(LeaseRecord { generation: 4, ..l() })),
        ("w", Record::Waiter(WaiterRecord { paths: vec![], modes: vec![], ..w() })),
        ("w", Record::Waiter(WaiterRecord { modes: vec![], ..w() })),
        ("w", Record::Waiter(WaiterRecord { paths: vec!["".into()], ..w() })),
        ("w", Record::Waiter(WaiterRecord { lapses_at_ms: None, ..w() })),
        ("w", Record::Waiter(WaiterRecord { since_ms: 1_001, ..w() })),
        ("w", Record::Waiter(WaiterRecord { passed: vec![2, 1], ..w() })),
        ("w", Record::Waiter(WaiterRecord { passed: vec![4], ..w() })),
        ("w", Record::Waiter(WaiterRecord { place: 0, passed: vec![], ..w() })),
        ("w2", Record::Waiter(WaiterRecord { id: "w2".into(), place: 5, ..w() })),
        ("pin-2", Record::Pin(PinRecord { generations: vec![], ..p() })),
        ("pin-2", Record::Pin(PinRecord { generations: vec![3, 3], ..p() })),
        ("pin-2", Record::Pin(PinRecord { generations: vec![6], ..p() })),
        ("pin-2", Record::Pin(PinRecord { holder: holder("bob"), ..p() })),
        ("pin-2", Record::Pin(PinRecord { since_ms: 1_001, ..p() })),
    ];
    for (expected, record) in cases {
        let shown = format!("{record:?}");
        let fault = Table::restore(options(), with(record)).expect_err(&shown);
        assert_eq!(fault.record, expected, "{shown}: {fault}");
    }
}
