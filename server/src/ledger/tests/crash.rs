//! The process ends, or the machine loses its power, between any two steps and inside any: each event is in the ledger
//! once, and the ledger is the same, to the byte, as if nothing had happened.

use super::disk::Fault;
use super::{Bench, drain};
use proptest::prelude::*;

/// The ledger that an undisturbed run writes of that many events.
fn undisturbed(count: u64) -> Vec<u8> {
    let mut bench = Bench::new();
    bench.commit(count);
    drain(&mut bench.writer()).unwrap();
    bench.disk.bytes("w")
}

fn check_whole(bench: &Bench, expected: &[u8]) {
    let bytes = bench.disk.bytes("w");
    assert_eq!(String::from_utf8_lossy(&bytes), String::from_utf8_lossy(expected));
    let verified = bench.verified();
    assert_eq!((verified.first, verified.last, verified.missing), (Some(1), bench.committed, 0));
    assert_eq!(bench.pending(), 0);
}

#[test]
fn a_kill_at_any_step_loses_no_event_and_writes_none_twice() {
    let expected = undisturbed(5);
    let steps = {
        let mut bench = Bench::new();
        bench.commit(2);
        drain(&mut bench.writer()).unwrap();
        let before = bench.disk.steps();
        bench.commit(3);
        drain(&mut bench.writer()).unwrap();
        bench.disk.steps() - before
    };
    assert!(steps > 8, "{steps}");
    for fault in [Fault::Kill, Fault::KillInside] {
        for step in 0..steps {
            for lost in [None, Some(0), Some(1), Some(100), Some(usize::MAX / 2)] {
                let mut bench = Bench::new();
                bench.commit(2);
                drain(&mut bench.writer()).unwrap();
                let begin = bench.disk.steps();
                bench.commit(3);
                bench.disk.fail(begin + step..u64::MAX, fault);
                assert!(drain(&mut bench.writer()).is_err());
                assert!(bench.disk.is_killed());
                bench.disk.restart(lost);
                drain(&mut bench.writer()).unwrap();
                check_whole(&bench, &expected);
            }
        }
    }
}

#[test]
fn a_kill_at_any_step_of_the_first_run_leaves_no_half_beginning() {
    let expected = undisturbed(1);
    for fault in [Fault::Kill, Fault::KillInside] {
        for step in 0..7 {
            let mut bench = Bench::new();
            bench.commit(1);
            bench.disk.fail(step..u64::MAX, fault);
            assert!(drain(&mut bench.writer()).is_err());
            bench.disk.restart(None);
            drain(&mut bench.writer()).unwrap();
            check_whole(&bench, &expected);
        }
    }
}

#[test]
fn an_event_is_forgotten_only_after_it_was_synced() {
    let mut bench = Bench::new();
    bench.commit(1);
    drain(&mut bench.writer()).unwrap();
    let made = bench.disk.0.lock().unwrap().made.clone();
    let at = |what| made.iter().position(|step| *step == what).unwrap();
    assert!(at("append") < at("sync") && at("sync") < at("forget"), "{made:?}");
}

#[derive(Clone, Debug)]
enum Act {
    Commit(u64),
    Drain,
    Crash { steps: u64, inside: bool, lost: Option<usize> },
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let crash = (0..16u64, any::<bool>(), proptest::option::of(0..2_000usize));
    let act = prop_oneof![
        (1..6u64).prop_map(Act::Commit),
        Just(Act::Drain),
        crash.prop_map(|(steps, inside, lost)| Act::Crash { steps, inside, lost }),
    ];
    proptest::collection::vec(act, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_part_of_a_run_is_cut_off_the_ledger_is_the_same(acts in acts()) {
        let mut bench = Bench::new();
        let mut writer = bench.writer();
        for act in acts {
            match act {
                Act::Commit(count) => bench.commit(count),
                Act::Drain => drain(&mut writer).unwrap(),
                Act::Crash { steps, inside, lost } => {
                    let at = bench.disk.steps() + steps;
                    bench.disk.fail(at..u64::MAX, if inside { Fault::KillInside } else { Fault::Kill });
                    let ended = drain(&mut writer);
                    prop_assert_eq!(ended.is_err(), bench.disk.is_killed());
                    drop(writer);
                    bench.disk.restart(lost);
                    writer = bench.writer();
                }
            }
        }
        bench.commit(1);
        drain(&mut writer).unwrap();
        check_whole(&bench, &undisturbed(bench.committed));
    }
}
