//! How long the tests of this binary are: short as the gate runs them, or long with `LEASEBOOK_SOAK=1`.

use std::hash::{BuildHasher, RandomState};

/// Is the long form asked for?
pub fn asked() -> bool {
    std::env::var_os("LEASEBOOK_SOAK").is_some_and(|value| value != "0")
}

/// Where randomness starts: from `LEASEBOOK_SEED`, else anew in soak, else at the given number.
pub fn seed(in_the_gate: u64) -> u64 {
    match std::env::var("LEASEBOOK_SEED") {
        Ok(seed) => seed.parse().expect("LEASEBOOK_SEED is a whole number"),
        Err(_) if asked() => RandomState::new().hash_one("soak"),
        Err(_) => in_the_gate,
    }
}
