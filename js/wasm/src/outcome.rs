//! Outcomes of effects, read from a number that says which, texts and bytes.

use crate::ask::{count, texts};
use leasebook::marker::{FileCode, FileError, Identity, Outcome};

/// What came of an effect; an outcome that there is not is one that fits no effect. `number` is the one that most
/// outcomes have none of: a pid, an age, a time of change (below 0 = unknown), the place of a code.
pub fn read(kind: u32, text: &str, lengths: &[u32], number: f64, bytes: &[u8]) -> Option<Outcome> {
    // A list of names is as long as it is; the others have few texts.
    let mut all = texts(text, lengths).into_iter();
    let mut next = || all.next().unwrap_or_default().into();
    Some(match kind {
        0 => return None,
        1 => Outcome::Root { root: next(), markers: next() },
        2 => Outcome::Present { path: next() },
        3 => Outcome::Absent,
        4 => Outcome::Identity(Identity { host: next(), pid: pid(number) }),
        5 => Outcome::Pid(pid(number)),
        6 => Outcome::Nonce(next()),
        7 => Outcome::Names(all.map(Into::into).collect()),
        8 => Outcome::Content { bytes: bytes.into(), since_ms: (number >= 0.0).then_some(number as u64) },
        9 => Outcome::NotOrdinary,
        10 => Outcome::TooLarge,
        11 => Outcome::Alive,
        12 => Outcome::Dead,
        13 => Outcome::Age(number as u64),
        14 => Outcome::Done,
        15 => Outcome::Cancelled,
        _ => Outcome::Failed(FileError {
            code: FileCode::ALL.get(number as usize).copied().unwrap_or(FileCode::Other),
            path: next(),
            detail: next(),
        }),
    })
}

/// A process id; what is none becomes 0, which the machines refuse.
fn pid(number: f64) -> u32 {
    u32::try_from(count(number)).unwrap_or(0)
}
