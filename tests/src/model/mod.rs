//! The lease table as a slow, readable model: what a table must answer, in the types that it answers with.
//!
//! Everything is a list that is scanned, and what can be derived (who is in the way, who is ready, what has ended) is
//! derived when it is asked for. Only leases, waiters, pins, four counters and the latest moment are state. It keeps no
//! records and tells no events, and is not meant to be fast.
//!
//! A waiting holder has an edge to every holder that it waits for. A *lease edge* leads to the holder of a lease in the
//! way of one of its wishes. A *queue edge* (`fifo` only) leads to the holder of an earlier waiter that one of its
//! wishes clashes with and that it has not passed. Only what was passed is stored.

mod asking;
mod giving;
mod location;
mod looking;
mod waits;

pub use location::{Location, locate, overlap, within};
pub use waits::Edges;

use leasebook::{Containment, Fairness, Holder, Lease, Millis, Mode, Options, PinToken};

/// All leases, waiters and pins of one table.
#[derive(Clone, Debug)]
pub struct Model {
    options: Options,
    now: u64,
    leases: Vec<Held>,
    waiters: Vec<Waiting>,
    pins: Vec<Pinned>,
    last_generation: u64,
    last_place: u64,
    last_token: u64,
}

/// A path that somebody wants, and how.
#[derive(Clone, Debug)]
struct Want {
    path: String,
    /// `None` where the path cannot be read.
    location: Option<Location>,
    mode: Mode,
}

/// A lease that stands. They stay in grant order.
#[derive(Clone, Debug)]
struct Held {
    generation: u64,
    holder: Holder,
    /// Its first spelling.
    path: String,
    location: Option<Location>,
    mode: Mode,
    acquired_at: u64,
    ttl: u64,
    expires_at: u64,
    release_pending: bool,
}

/// A waiter. They stay in the order of their places.
#[derive(Clone, Debug)]
struct Waiting {
    id: String,
    holder: Holder,
    wants: Vec<Want>,
    since: u64,
    /// `None` = never.
    lapses_at: Option<u64>,
    place: u64,
    /// The places of earlier waiters that it does not queue behind.
    passed: Vec<u64>,
}

/// A pin.
#[derive(Clone, Debug)]
struct Pinned {
    token: PinToken,
    holder: Holder,
    generations: Vec<u64>,
    since: u64,
    /// `None` = none.
    deadline: Option<u64>,
}

impl Model {
    /// A model of a table that starts with these options. Only default ttl, fairness and limits matter.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            now: 0,
            leases: Vec::new(),
            waiters: Vec::new(),
            pins: Vec::new(),
            last_generation: 0,
            last_place: 0,
            last_token: 0,
        }
    }

    /// The latest moment seen, in milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.now
    }

    /// The newest generation handed out.
    pub fn last_generation(&self) -> u64 {
        self.last_generation
    }

    fn fifo(&self) -> bool {
        self.options.fairness == Fairness::Fifo
    }

    /// Every operation begins here. It only removes, and what it removes depends on the moment alone.
    fn reap(&mut self, now: Millis) {
        self.now = self.now.max(now.get());
        let now = self.now;
        self.pins.retain(|pin| pin.deadline.is_none_or(|deadline| deadline > now));
        self.waiters.retain(|waiter| waiter.lapses_at.is_none_or(|moment| moment > now));
        self.sweep();
    }

    /// Takes away the ended leases that no pin keeps.
    fn sweep(&mut self) {
        let kept = self.leases.iter().filter(|lease| !self.ended(lease) || self.pins_of(lease.generation) > 0);
        self.leases = kept.cloned().collect();
    }

    fn ended(&self, lease: &Held) -> bool {
        lease.release_pending || lease.expires_at <= self.now
    }

    fn pins_of(&self, generation: u64) -> usize {
        self.pins.iter().filter(|pin| pin.generations.contains(&generation)).count()
    }

    /// Is the lease in the way of a wish of this holder?
    fn blocks(&self, lease: &Held, holder: &str, want: &Want) -> bool {
        if lease.holder == holder {
            // Its own lease only once it has ended, and then whatever the modes.
            return self.fifo()
                && self.ended(lease)
                && overlap(want.location.as_ref(), lease.location.as_ref()) != Containment::No;
        }
        clash((want.location.as_ref(), want.mode), (lease.location.as_ref(), lease.mode))
    }

    /// The holder's live leases that contain the path and are at least as strong as asked, in grant order.
    fn own<'a>(&'a self, holder: &'a str, want: &'a Want) -> impl Iterator<Item = &'a Held> {
        self.leases.iter().filter(move |lease| {
            lease.holder == holder
                && !self.ended(lease)
                && (lease.mode == Mode::Exclusive || want.mode == Mode::Shared)
                && within(want.location.as_ref(), lease.location.as_ref()) == Containment::Yes
        })
    }

    fn snapshot(&self, lease: &Held) -> Lease {
        Lease {
            path: lease.path.clone(),
            holder: lease.holder.clone(),
            mode: lease.mode,
            generation: lease.generation,
            acquired_at_ms: lease.acquired_at,
            ttl_ms: lease.ttl,
            expires_at_ms: lease.expires_at,
            held_for_ms: self.now - lease.acquired_at,
            expires_in_ms: lease.expires_at as i64 - self.now as i64,
        }
    }
}

/// Do two claims of different holders exclude each other? What cannot be compared does.
fn clash(one: (Option<&Location>, Mode), other: (Option<&Location>, Mode)) -> bool {
    (one.1 == Mode::Exclusive || other.1 == Mode::Exclusive) && overlap(one.0, other.0) != Containment::No
}
