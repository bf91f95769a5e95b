//! One ready sentence for each refusal.

use super::answer::{Deadlock, Held, Refused};
use super::ask::InvalidField;
use crate::sentence::Quoted;
use core::fmt::{self, Display, Formatter};

/// How many of a list are said.
const NAMED_MAX: usize = 8;

impl Display for InvalidField {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.field, self.expected)?;
        match &self.found {
            Some(found) => write!(f, "; found \"{}\"", Quoted(found)),
            None => Ok(()),
        }
    }
}

impl core::error::Error for InvalidField {}

impl Display for Refused {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(invalid) => invalid.fmt(f),
            Self::Held(held) => held.fmt(f),
            Self::Deadlock(deadlock) => deadlock.fmt(f),
            Self::IdempotencyMismatch => f.write_str("this idempotency key was used with another body"),
            Self::Superseded => f.write_str(
                "a later request of the same actor asked for something else; an actor waits for one thing at a time",
            ),
            Self::QueueFull { resource, limit } => {
                write!(f, "{limit} wait for {} already, and no more may", Quoted(resource))
            }
            Self::LimitExceeded { which, limit } => write!(f, "the limit of {limit} is reached for {}", which.name()),
            Self::StaleLease { lease_id } => {
                write!(f, "{lease_id} is over, or is not yours, or does not have what was named")
            }
            Self::NotHeld { resource } => write!(f, "you do not hold {}; nothing was released", Quoted(resource)),
        }
    }
}

impl core::error::Error for Refused {}

impl Display for Held {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ahead = self.stampede.waiters;
        match self.conflicts.first() {
            Some(first) => {
                first.fmt(f)?;
                match self.conflicts.len() - 1 {
                    0 => {}
                    more if self.truncated => write!(f, " (and more than {more} more)")?,
                    more => write!(f, " (and {more} more)")?,
                }
                if ahead > 0 {
                    write!(f, "; {ahead} {} before you", if ahead == 1 { "waits" } else { "wait" })?;
                }
            }
            None if ahead > 0 => {
                let (noun, comes) = if ahead == 1 { ("one", "comes") } else { ("others", "come") };
                write!(f, "no lease is in the way, but {noun} who waited longer {comes} first: ")?;
                for (n, holder) in self.holders.iter().take(NAMED_MAX).enumerate() {
                    write!(f, "{}{}", if n > 0 { ", " } else { "" }, Quoted(holder))?;
                }
                if ahead > NAMED_MAX {
                    write!(f, " (and {} more)", ahead - NAMED_MAX)?;
                }
            }
            None => f.write_str("the wait was over as the way became free")?,
        }
        write!(f, "; ask again in {} ms", self.stampede.wait_ms)
    }
}

impl Display for Deadlock {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("deadlock: ")?;
        for (n, waits) in self.cycle.iter().take(NAMED_MAX).enumerate() {
            let comma = if n > 0 { ", " } else { "" };
            let next = &self.cycle[(n + 1) % self.cycle.len()].actor;
            let (actor, place) = (Quoted(&waits.actor), Quoted(&waits.waiting_on));
            write!(f, "{comma}{actor} waits for {place} held by {}", Quoted(next))?;
        }
        if self.cycle.len() > NAMED_MAX {
            write!(f, " (and {} more)", self.cycle.len() - NAMED_MAX)?;
        }
        f.write_str("; release what you hold, then ask for the whole set at once")
    }
}
