//! How time is taken: two sides in turn, so that whatever else the machine does falls on both.
//!
//! Long stretches are measured in processor time of this thread, which leaves out the time in which others run. Single
//! operations are too short for that clock; of those the median counts, which a few interrupted ones do not move.

use std::ops::Range;
use std::time::{Duration, Instant};

/// What an operation costs, in nanoseconds, here and beside.
#[derive(Clone, Copy, Debug)]
pub struct Sides {
    /// Ours.
    pub ours: f64,
    /// What it is compared with.
    pub peer: f64,
}

/// How many operations one side does before it is the other's turn.
const TURN: usize = 500;

/// Has both sides do all of `0..count`, turn by turn, once to warm up and then `sweeps` times. Answers the medians over
/// the sweeps, per operation.
pub fn in_turns(
    count: usize,
    sweeps: usize,
    mut ours: impl FnMut(Range<usize>),
    mut peer: impl FnMut(Range<usize>),
) -> Sides {
    let mut sums = (Vec::new(), Vec::new());
    for sweep in 0..=sweeps {
        let (mut our_time, mut peer_time) = (Duration::ZERO, Duration::ZERO);
        for start in (0..count).step_by(TURN) {
            let turn = start..(start + TURN).min(count);
            our_time += busy(|| ours(turn.clone()));
            peer_time += busy(|| peer(turn.clone()));
        }
        if sweep > 0 {
            sums.0.push(our_time);
            sums.1.push(peer_time);
        }
    }
    let each = |sums: &mut Vec<Duration>| median(sums).as_secs_f64() * 1e9 / count as f64;
    Sides { ours: each(&mut sums.0), peer: each(&mut sums.1) }
}

/// The processor time that something takes this thread.
#[cfg(unix)]
fn busy(work: impl FnOnce()) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let reading = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
    };
    let start = reading();
    work();
    reading().saturating_sub(start)
}

#[cfg(not(unix))]
fn busy(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Something done once at a time, and what puts the state back afterwards.
pub struct Single<'a, S> {
    /// What is timed; it is told which time it is.
    pub run: &'a mut dyn FnMut(&mut S, usize),
    /// What is not.
    pub restore: &'a mut dyn FnMut(&mut S, usize),
}

impl<S> Single<'_, S> {
    fn time(&mut self, state: &mut S, time: usize) -> Duration {
        let taken = once(|| (self.run)(state, time));
        (self.restore)(state, time);
        taken
    }
}

/// Times two operations on the same state in turn, `times` each. Answers the medians.
pub fn singles<S>(state: &mut S, times: usize, mut ours: Single<'_, S>, mut peer: Single<'_, S>) -> Sides {
    let overhead = median(&mut (0..1_000).map(|_| once(|| ())).collect::<Vec<_>>());
    let mut all = (Vec::with_capacity(times), Vec::with_capacity(times));
    for time in 0..times {
        all.0.push(ours.time(state, time).saturating_sub(overhead));
        all.1.push(peer.time(state, time).saturating_sub(overhead));
    }
    let nanos = |taken: &mut Vec<Duration>| median(taken).as_secs_f64() * 1e9;
    Sides { ours: nanos(&mut all.0), peer: nanos(&mut all.1) }
}

fn once(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(all: &mut [Duration]) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}
