//! What comes in: arguments from WIT, as the core takes them.

use crate::bindings::exports::leasebook::lease::table as wit;
use crate::bindings::leasebook::lease::types::{Blocked, Limit, LimitReached, Obstacle};
use crate::memory;
use alloc::{boxed::Box, string::String, vec::Vec};
use leasebook::{Ahead, Conflict, Holder, Mode, Options, Period, PinRefusal, RefreshRefusal, Refusal, Wish};

pub fn mode(mode: wit::Mode) -> Mode {
    match mode {
        wit::Mode::Shared => Mode::Shared,
        wit::Mode::Exclusive => Mode::Exclusive,
    }
}

pub fn period(ms: Option<f64>) -> Option<Period> {
    ms.map(Period::from)
}

/// Lends wishes to an operation. One wish is by far the most frequent, and needs no memory.
pub fn with_wishes<T>(wishes: &[wit::Wish], operation: impl FnOnce(&[Wish<'_>]) -> T) -> T {
    fn borrow(wish: &wit::Wish) -> Wish<'_> {
        Wish { path: &wish.path, mode: mode(wish.mode) }
    }
    match wishes {
        [wish] => operation(&[borrow(wish)]),
        wishes => operation(&wishes.iter().map(borrow).collect::<Vec<_>>()),
    }
}

/// Lends paths to an operation.
pub fn with_paths<T>(paths: &[String], operation: impl FnOnce(&[&str]) -> T) -> T {
    match paths {
        [path] => operation(&[path]),
        paths => operation(&paths.iter().map(String::as_str).collect::<Vec<_>>()),
    }
}

/// The options of the core, and the bound on memory.
pub fn options(given: wit::Options) -> Result<(Options, u64), wit::InvalidOptions> {
    let mut options = Options::default();
    if let Some(ttl_ms) = given.default_ttl_ms {
        options.default_ttl_ms = ttl_ms;
    }
    if let Some(wit::Fairness::Fifo) = given.fairness {
        options.fairness = leasebook::Fairness::Fifo;
    }
    if let Some(limits) = given.limits {
        options.limits.leases = limits.leases as usize;
        options.limits.waiters = limits.waiters as usize;
        options.limits.wishes = limits.wishes as usize;
        options.limits.pins = limits.pins as usize;
    }
    options.hash_key = given.hash_key.unwrap_or(0);
    options.events = given.events.unwrap_or(0) as usize;
    options.journal = given.journal.unwrap_or(false);
    let memory_bytes_max = given.memory_bytes_max.unwrap_or(memory::BYTES_MAX_DEFAULT);
    if !(1..=memory::BYTES_MAX_MOST).contains(&memory_bytes_max) {
        return Err(wit::InvalidOptions { field: "memory-bytes-max".into(), expected: "1 to 1 073 741 824".into() });
    }
    Ok((options, memory_bytes_max))
}

/// A refusal that a table may have given; `None` for one that it cannot have.
pub fn refusal(given: wit::Refusal) -> Option<Refusal> {
    Some(match given {
        wit::Refusal::InvalidHolder => Refusal::InvalidHolder,
        wit::Refusal::InvalidTtl(ttl_ms) => Refusal::InvalidTtl { ttl_ms },
        wit::Refusal::InvalidKeep(keep_ms) => Refusal::InvalidKeep { keep_ms },
        wit::Refusal::NoPaths => Refusal::NoPaths,
        wit::Refusal::UnevaluablePath(unevaluable) => Refusal::UnevaluablePath { unevaluable },
        wit::Refusal::LimitExceeded(LimitReached { which, limit }) => {
            Refusal::LimitExceeded { which: core_limit(which)?, limit }
        }
        wit::Refusal::WaiterIdTaken => Refusal::WaiterIdTaken,
        wit::Refusal::AlreadyWaiting => Refusal::AlreadyWaiting,
        wit::Refusal::Blocked(given) => {
            let (obstacle, cycle) = (given.obstacle, holders(&given.cycle)?);
            let blocked = blocked(given)?;
            match obstacle {
                Obstacle::Conflict => Refusal::Conflict(blocked),
                Obstacle::HoldAndWait => Refusal::HoldAndWait(blocked),
                Obstacle::Deadlock => Refusal::Deadlock { blocked, cycle },
            }
        }
    })
}

pub fn refresh_refusal(given: wit::RefreshRefusal) -> RefreshRefusal {
    match given {
        wit::RefreshRefusal::InvalidTtl(ttl_ms) => RefreshRefusal::InvalidTtl { ttl_ms },
        wit::RefreshRefusal::Stale => RefreshRefusal::Stale,
    }
}

pub fn pin_refusal(given: wit::PinRefusal) -> Option<PinRefusal> {
    Some(match given {
        wit::PinRefusal::NoPaths => PinRefusal::NoPaths,
        wit::PinRefusal::LimitExceeded(LimitReached { which, limit }) => {
            PinRefusal::LimitExceeded { which: core_limit(which)?, limit }
        }
        wit::PinRefusal::NotHeld(path) => PinRefusal::NotHeld { path },
    })
}

/// `None` for the bounds that the core knows nothing of.
fn core_limit(limit: Limit) -> Option<leasebook::Limit> {
    Some(match limit {
        Limit::Paths => leasebook::Limit::Paths,
        Limit::WaiterId => leasebook::Limit::WaiterId,
        Limit::Leases => leasebook::Limit::Leases,
        Limit::Waiters => leasebook::Limit::Waiters,
        Limit::Wishes => leasebook::Limit::Wishes,
        Limit::Pins => leasebook::Limit::Pins,
        Limit::Numbers => leasebook::Limit::Numbers,
        Limit::CallBytes | Limit::MemoryBytes => return None,
    })
}

fn blocked(given: Blocked) -> Option<Box<leasebook::Blocked>> {
    let mut conflicts = Vec::with_capacity(given.conflicts.len());
    for conflict in given.conflicts {
        conflicts.push(Conflict {
            path: conflict.path,
            leased: conflict.leased,
            holder: Holder::new(&conflict.holder).ok()?,
            mode: mode(conflict.mode),
            held_for_ms: conflict.held_for_ms,
            expires_in_ms: conflict.expires_in_ms,
            ended: conflict.ended,
        });
    }
    let ahead = match given.ahead {
        Some(ahead) => Some(Ahead { holders: holders(&ahead.holders)?, position: ahead.position as usize }),
        None => None,
    };
    let blockers = holders(&given.blockers)?;
    Some(Box::new(leasebook::Blocked { conflicts, truncated: given.truncated, blockers, ahead }))
}

fn holders(given: &[String]) -> Option<Vec<Holder>> {
    given.iter().map(|holder| Holder::new(holder).ok()).collect()
}
