//! Bytes are two spellings; the laws of paths must hold for them.
#![no_main]

use leasebook_tests::{decode, paths};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Some((one, other)) = decode::spellings(bytes) {
        if let Err(fault) = paths::check(one, other) {
            panic!("{fault}");
        }
    }
});
