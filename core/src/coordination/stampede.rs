//! How long a refused asker should stay away: longer, the more wait before it.

use super::answer::Stampede;
use crate::{Ahead, Holder};
use alloc::vec::Vec;

/// How many waiters are told that they may ask again.
pub const ADMITTED_MAX: usize = 8;
/// How long the first waiter stays away, in milliseconds.
pub const STEP_MS: u64 = 25;
/// How long any waiter stays away at most, in milliseconds.
pub const HINT_MS_MAX: u64 = 800;

/// The hint for one who has this many waiters before it.
pub(super) fn hint_ms(waiters: usize) -> u64 {
    // From the fifth doubling on it is the most; a shift by 64 would be none at all.
    let doublings = u32::try_from(waiters).unwrap_or(u32::MAX);
    STEP_MS.checked_shl(doublings.min(32)).unwrap_or(HINT_MS_MAX).min(HINT_MS_MAX)
}

/// The place of an asker who is a waiter itself.
pub(super) fn place(asker: &Holder, ahead: Option<&Ahead>) -> Stampede {
    let waiters = ahead.map_or(0, |ahead| ahead.position.saturating_sub(1));
    let before = ahead.map_or(&[][..], |ahead| &ahead.holders[..]);
    let admitted: Vec<Holder> = before.iter().chain([asker]).take(ADMITTED_MAX).cloned().collect();
    Stampede { admitted, wait_ms: hint_ms(waiters), position: waiters + 1, waiters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_doubles_and_ends() {
        let hints: Vec<u64> = (0..8).map(hint_ms).collect();
        assert_eq!(hints, [25, 50, 100, 200, 400, 800, 800, 800]);
        for many in [31, 32, 63, 64, 65, 128, 1_000_000, usize::MAX] {
            assert_eq!(hint_ms(many), HINT_MS_MAX, "{many}");
        }
    }

    #[test]
    fn eight_are_admitted_and_the_ninth_is_not() {
        let names: Vec<Holder> = (0..9).map(|n| Holder::known(&alloc::format!("did:x:{n}"))).collect();
        let ahead = |n: usize| Ahead { holders: names[..n].to_vec(), position: n + 1 };
        let eighth = place(&names[7], Some(&ahead(7)));
        assert_eq!((eighth.admitted, eighth.position, eighth.waiters), (names[..8].to_vec(), 8, 7));
        let ninth = place(&names[8], Some(&ahead(8)));
        assert_eq!((ninth.admitted, ninth.position), (names[..8].to_vec(), 9));
        assert_eq!(place(&names[0], None).admitted, names[..1]);
    }
}
