//! Bytes are operations; the table, its twins and the reference model must answer them alike.
#![no_main]

use leasebook_tests::{decode, trial};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(fault) = trial::run(&decode::run(bytes)) {
        panic!("{fault}");
    }
});
