//! Random operations get the answers that the reference model gives.

use crate::soak;
use leasebook_tests::decode;
use leasebook_tests::step::Step;
use leasebook_tests::trial;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::{Config, FileFailurePersistence, RngAlgorithm, TestRng, TestRunner};

const CASES: u32 = 2_000;
const CASES_OF_SOAK: u32 = 100_000;
const CASES_OF_A_SEED: u32 = 1_000;
/// In the gate a run is the same every time; `LEASEBOOK_SEED` gives another one, and soak draws its own.
const SEED: u64 = 20_261_130;

#[test]
fn random_operations_get_the_answers_of_the_model() {
    let cases = if soak::asked() { CASES_OF_SOAK } else { CASES };
    let first = soak::seed(SEED);
    for round in 0..u64::from(cases / CASES_OF_A_SEED) {
        let seed = first.wrapping_add(round);
        println!("random operations: LEASEBOOK_SEED={seed}, {CASES_OF_A_SEED} cases");
        run(seed);
    }
}

fn run(seed: u64) {
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
    let runs = (any::<u8>(), vec(any::<Step>(), 0..120));
    let outcome = runner.run(&runs.prop_map(|(first, steps)| [vec![first], steps.concat()].concat()), |bytes| {
        trial::run(&decode::run(&bytes)).map_err(proptest::test_runner::TestCaseError::fail)
    });
    if let Err(fault) = outcome {
        panic!("LEASEBOOK_SEED={seed}\n{fault}");
    }
}
