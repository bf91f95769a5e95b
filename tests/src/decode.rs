//! Bytes to what is tried: what a fuzzer feeds, and what a property test draws.

use crate::step::{STEP_BYTES, Step, Universe};
use leasebook::limits::NOW_MS_MAX;
use leasebook::{Fairness, Limits, Options};

/// How a run starts, and its steps.
#[derive(Clone, Debug)]
pub struct Run {
    /// The table that it runs on.
    pub options: Options,
    /// What is asked for.
    pub universe: Universe,
    /// The clock before the first step.
    pub start_ms: u64,
    /// What happens.
    pub steps: Vec<Step>,
}

/// The longest run that is looked at. A longer one finds nothing that two shorter ones do not.
pub const STEPS_MAX: usize = 200;

/// Reads a run. The first byte says which table, the rest are steps; what is left over at the end is no step.
pub fn run(bytes: &[u8]) -> Run {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let steps = rest.as_chunks::<STEP_BYTES>().0;
    let start_ms = if first / 8 % 16 == 15 { NOW_MS_MAX - 150 } else { 1_000 };
    let universe = if *first < 128 { Universe::Close } else { Universe::Wide };
    Run { options: options(*first), universe, start_ms, steps: steps.iter().take(STEPS_MAX).copied().collect() }
}

/// The table of a run: both settings alike, one in four with limits so low that runs meet them, one in four with such
/// limits for each holder.
pub fn options(byte: u8) -> Options {
    let limits = match byte / 2 % 4 {
        2 => Limits { leases_per_holder: 3, waiters_per_holder: 1, pins_per_holder: 1, ..Limits::default() },
        3 => Limits { leases: 4, waiters: 3, wishes: 5, pins: 2, ..Limits::default() },
        _ => Limits::default(),
    };
    let fairness = if byte.is_multiple_of(2) { Fairness::Fifo } else { Fairness::Barge };
    Options { default_ttl_ms: 100, fairness, limits, ..Options::default() }
}

/// Reads two spellings, parted by the first byte that no UTF-8 text holds. `None`: they are no text.
pub fn spellings(bytes: &[u8]) -> Option<(&str, &str)> {
    let parting = bytes.iter().position(|byte| *byte == 0xff)?;
    let one = str::from_utf8(&bytes[..parting]).ok()?;
    let other = str::from_utf8(&bytes[parting + 1..]).ok()?;
    Some((one, other))
}
