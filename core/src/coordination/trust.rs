//! The score of an actor: it tells whether its leases were given back. It never decides anything.

/// A score of 0 to 100, kept in halves, so that it is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Trust(u16);

/// What a lease that is given back adds, in halves: 0.5.
const RELEASED: u16 = 1;
/// What a lease that runs out costs, in halves: 5.
const EXPIRED: u16 = 10;
/// The highest score, in halves: 100.
const MAX: u16 = 200;

impl Trust {
    /// The score of an actor that nothing is known of: 50.
    pub const START: Self = Self(100);

    /// A score from its halves, as they are recorded; `None`: more than there are.
    pub fn from_halves(halves: u16) -> Option<Self> {
        (halves <= MAX).then_some(Self(halves))
    }

    /// The score in halves: 0 to 200.
    pub fn halves(self) -> u16 {
        self.0
    }

    /// The score: 0 to 100.
    pub fn score(self) -> f64 {
        f64::from(self.0) / 2.0
    }

    pub(super) fn released(self) -> Self {
        Self((self.0 + RELEASED).min(MAX))
    }

    pub(super) fn expired(self) -> Self {
        Self(self.0.saturating_sub(EXPIRED))
    }
}

impl Default for Trust {
    fn default() -> Self {
        Self::START
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_stays_between_0_and_100() {
        assert_eq!(Trust::START.score(), 50.0);
        assert_eq!(Trust::START.released().score(), 50.5);
        assert_eq!(Trust::START.expired().score(), 45.0);
        let mut low = Trust::START;
        let mut high = Trust::START;
        for _ in 0..300 {
            (low, high) = (low.expired(), high.released());
        }
        assert_eq!((low.score(), high.score()), (0.0, 100.0));
        assert_eq!(Trust::from_halves(201), None);
        assert_eq!(Trust::from_halves(200), Some(high));
    }
}
