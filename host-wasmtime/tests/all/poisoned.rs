//! After a trap the table says so for ever; nothing panics, and nothing starts anew.

use super::COMPONENT;
use leasebook_wasmtime::wasmtime::Engine;
use leasebook_wasmtime::{
    CallError, LeaseTable, ManualClock, Mode, Options, PinToken, Release, TableComponent, WaitAttempt, Wish,
};

/// A table whose instance has no memory to spare, and which does not see that coming.
fn cramped() -> LeaseTable {
    let options = Options { memory_bytes_max: 1 << 30, ..Options::default() };
    let clock = ManualClock::new(0);
    LeaseTable::builder(options).component(&COMPONENT).clock(clock).instance_bytes_max(2 << 20).build().unwrap()
}

fn fill(mut acquire: impl FnMut(&[Wish<'_>]) -> Result<(), CallError>) -> CallError {
    let name = "n".repeat(4_000);
    (0..10_000).find_map(|n| acquire(&[Wish::exclusive(&format!("/{n}/{name}"))]).err()).expect("2 MiB hold less")
}

#[test]
fn every_operation_of_a_poisoned_table_says_so() {
    let mut table = cramped();
    let error = fill(|wishes| table.acquire("a", wishes, None).map(|granted| drop(granted.unwrap())));
    let CallError::Poisoned { cause } = &error else { panic!("{error}") };
    assert!(cause.contains("memory"), "{cause}");
    assert_eq!(error.to_string(), format!("the lease table is poisoned: {cause}"));

    let wishes = [Wish::exclusive("/a")];
    let attempt =
        WaitAttempt { waiter_id: "w", holder: "a", wishes: &wishes, ttl: None, allow_hold: false, keep: None };
    let answers = [
        table.acquire("a", &wishes, None).err(),
        table.wait_attempt(&attempt).err(),
        table.cancel_wait("w").err(),
        table.refresh("a", 1, None).err(),
        table.release("a", Release::All).err(),
        table.release_holder("a").err(),
        table.release_all().err(),
        table.end_session("a").err(),
        table.revoke(1, true).err(),
        table.covering("a", "/a", Mode::Shared).err(),
        table.pin("a", &["/a"], Mode::Shared, None).err(),
        table.unpin(PinToken { number: 1 }).err(),
        table.ready().err(),
        table.next_deadline().err(),
        table.leases().err(),
        table.status().err(),
        table.take_events().err(),
        table.take_records().err(),
        table.records().err(),
        table.contains("/a", "/").err(),
    ];
    for (n, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.as_ref(), Some(&error), "operation {n}");
    }
}

#[test]
fn a_poisoned_table_is_poisoned_for_all_that_share_it() {
    let table = cramped().share();
    let other = table.clone();
    let error = fill(|wishes| table.acquire("a", wishes, None).map(|granted| drop(granted.unwrap())));
    let told = std::thread::spawn(move || other.leases()).join().unwrap();
    assert_eq!(told, Err(error));
}

#[test]
fn a_call_that_takes_too_long_is_cut_off() {
    let engine = Engine::new(TableComponent::config().epoch_interruption(true)).unwrap();
    let component = TableComponent::embedded_in(&engine).unwrap();
    let build = |ticks| LeaseTable::builder(Options::default()).component(&component).call_ticks(ticks).build();
    let mut patient = build(1).unwrap();
    for _ in 0..3 {
        assert!(patient.leases().unwrap().is_empty());
        engine.increment_epoch();
    }
    let mut hasty = build(0).unwrap();
    let CallError::Poisoned { cause } = hasty.leases().unwrap_err() else { panic!() };
    assert_eq!(&*cause, "wasm trap: interrupt");
    assert_eq!(hasty.leases(), Err(CallError::Poisoned { cause }));
}
