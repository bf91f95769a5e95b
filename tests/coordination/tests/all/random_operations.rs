//! Random operations get the answers that the reference model gives, also after a restart at any moment.

use leasebook_coordination_tests::step::Step;
use leasebook_coordination_tests::trial::{self, Met};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};

/// What some run must have met: one that meets nothing tests nothing.
const KINDS: [&str; 24] = [
    "deadlock",
    "found",
    "granted",
    "granted later",
    "granted later to a retry",
    "held",
    "held, far behind",
    "idempotency_mismatch",
    "invalid_field",
    "limit exceeded",
    "limit exceeded later",
    "not_held",
    "parked",
    "queue_full",
    "queued",
    "refreshed",
    "refreshed later",
    "released",
    "released in part",
    "replayed",
    "replayed, ended",
    "stale_lease",
    "superseded",
    "time up",
];

const CASES: u32 = 2_000;
const CASES_OF_SOAK: u32 = 100_000;
const CASES_OF_A_SEED: u32 = 1_000;
/// In the gate a run is the same every time; `LEASEBOOK_SEED` gives another one, and soak draws its own.
const SEED: u64 = 20_261_201;

#[test]
fn random_operations_get_the_answers_of_the_model_on_every_twin() {
    let soak = std::env::var_os("LEASEBOOK_SOAK").is_some_and(|value| value != "0");
    let first = match std::env::var("LEASEBOOK_SEED") {
        Ok(seed) => seed.parse().expect("LEASEBOOK_SEED is a whole number"),
        Err(_) if soak => RandomState::new().hash_one("soak"),
        Err(_) => SEED,
    };
    let mut met = Met::default();
    for round in 0..u64::from(if soak { CASES_OF_SOAK } else { CASES } / CASES_OF_A_SEED) {
        let seed: u64 = first.wrapping_add(round);
        println!("random operations of the authority: LEASEBOOK_SEED={seed}, {CASES_OF_A_SEED} cases");
        run(seed, &mut met);
    }
    println!("met: {met:?}");
    for kind in KINDS {
        assert!(met.contains_key(kind), "no run met this: {kind}");
    }
}

fn run(seed: u64, met: &mut Met) {
    let regressions = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/random_operations.txt");
    let config = Config {
        cases: CASES_OF_A_SEED,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(regressions))),
        source_file: Some(file!()),
        max_shrink_iters: 20_000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    let met = RefCell::new(met);
    let runs = (any::<u8>(), vec(any::<Step>(), 0..80));
    let outcome = runner.run(&runs.prop_map(|(first, steps)| [vec![first], steps.concat()].concat()), |bytes| {
        trial::run(&bytes, &mut met.borrow_mut()).map_err(TestCaseError::fail)
    });
    if let Err(fault) = outcome {
        panic!("LEASEBOOK_SEED={seed}\n{fault}");
    }
}
