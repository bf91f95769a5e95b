//! What happens in a small table: its holders, its paths, the operations, and when two of its states are alike.

use leasebook::{Fairness, Millis, Mode, Record, Table};
use leasebook_tests::op::{Op, Timed, Wait, What};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The clock at the beginning.
pub const START_MS: u64 = 1_000;
/// Every lease lives so long,
pub const TTL_MS: u64 = 10;
/// and the clock moves so far: a lease is expired after one move.
pub const MOVE_MS: u64 = 10;
/// A waiter outlives one move, and not a second.
const KEEP_MS: f64 = 15.0;

/// The operations of a small table.
pub struct Scope {
    pub name: &'static str,
    pub fairness: Fairness,
    choices: Vec<Choice>,
}

/// What comes next.
pub enum Turn {
    Op(Timed),
    /// The clock moves.
    Move,
    /// The choice means nothing here: there is no such lease or pin.
    Nothing,
}

/// A choice, before it is known what stands.
#[derive(Clone)]
enum Choice {
    Op(Op),
    Move,
    /// Of the first or the last pin.
    Unpin(bool),
    /// Of the first or the last lease.
    Revoke(bool, bool),
    /// Of the first lease of a holder.
    Refresh(&'static str),
    ReleaseGeneration(&'static str),
}

impl Scope {
    /// Two holders, and three paths of which each is inside the one before.
    pub fn nested(fairness: Fairness) -> Self {
        let paths = ["/d", "/d/x", "/d/x/y"];
        let mut choices = common();
        for holder in ["a", "b"] {
            for path in paths {
                choices.push(Choice::Op(acquire(holder, &[(path, Mode::Exclusive)])));
                choices.push(Choice::Op(acquire(holder, &[(path, Mode::Shared)])));
                choices.push(Choice::Op(wait(holder, &[(path, Mode::Exclusive)], true)));
                choices.push(Choice::Op(release(holder, What::Paths(vec![path.into()]))));
            }
            choices.push(Choice::Op(wait(holder, &[("/d/x", Mode::Shared)], true)));
            choices.push(Choice::Op(wait(holder, &[("/d/x", Mode::Exclusive)], false)));
            choices.push(Choice::Op(pin(holder, "/d/x/y", Mode::Shared)));
            choices.extend(of_a_holder(holder));
        }
        let name = if fairness == Fairness::Fifo { "nested, fifo" } else { "nested, barge" };
        Self { name, fairness, choices }
    }

    /// Three holders in a queue for a directory and two files in it.
    pub fn queue() -> Self {
        let mut choices = common();
        for holder in ["a", "b", "c"] {
            let both = [("/d/x", Mode::Exclusive), ("/d/y", Mode::Exclusive)];
            for path in ["/d", "/d/x", "/d/y"] {
                choices.push(Choice::Op(wait(holder, &[(path, Mode::Exclusive)], true)));
            }
            choices.push(Choice::Op(wait(holder, &both, true)));
            choices.push(Choice::Op(wait(holder, &[("/d", Mode::Shared)], true)));
            choices.push(Choice::Op(acquire(holder, &[("/d/x", Mode::Exclusive)])));
            choices.push(Choice::Op(acquire(holder, &[("/d/y", Mode::Shared)])));
            choices.push(Choice::Op(pin(holder, "/d/x", Mode::Exclusive)));
            choices.extend(of_a_holder(holder));
        }
        Self { name: "queue, fifo", fairness: Fairness::Fifo, choices }
    }

    /// How many choices there are.
    pub fn turns(&self) -> u8 {
        u8::try_from(self.choices.len()).expect("a small scope")
    }

    /// What a choice means where this stands.
    pub fn turn(&self, turn: u8, table: &Table, now_ms: u64) -> Turn {
        let look = || table.clone().status(Millis::new(now_ms));
        let op = match &self.choices[usize::from(turn)] {
            Choice::Op(op) => Some(op.clone()),
            Choice::Move => return Turn::Move,
            Choice::Unpin(first) => end(&look().pins, *first).map(|pin| Op::Unpin { token: pin.token.0 }),
            Choice::Revoke(first, force) => end(&look().leases, *first)
                .map(|standing| Op::Revoke { generation: standing.lease.generation, force: *force }),
            Choice::Refresh(holder) => generation_of(&look(), holder).map(|generation| Op::Refresh {
                holder: holder.to_string(),
                generation,
                ttl: None,
            }),
            Choice::ReleaseGeneration(holder) => {
                generation_of(&look(), holder).map(|generation| release(holder, What::Generation(generation)))
            }
        };
        op.map_or(Turn::Nothing, |op| Turn::Op(Timed { at_ms: now_ms, op }))
    }
}

fn common() -> Vec<Choice> {
    vec![
        Choice::Move,
        Choice::Unpin(true),
        Choice::Unpin(false),
        Choice::Revoke(true, false),
        Choice::Revoke(false, true),
    ]
}

fn of_a_holder(holder: &'static str) -> Vec<Choice> {
    vec![
        Choice::Op(release(holder, What::All)),
        Choice::Op(Op::ReleaseHolder { holder: holder.into() }),
        Choice::Op(Op::EndSession { holder: holder.into() }),
        Choice::Op(Op::CancelWait { waiter_id: holder.into() }),
        Choice::Refresh(holder),
        Choice::ReleaseGeneration(holder),
    ]
}

fn acquire(holder: &str, wishes: &[(&str, Mode)]) -> Op {
    Op::Acquire { holder: holder.into(), wishes: owned(wishes), ttl: None }
}

fn wait(holder: &str, wishes: &[(&str, Mode)], allow_hold: bool) -> Op {
    let (waiter_id, holder) = (holder.to_string(), holder.to_string());
    Op::Wait(Wait { waiter_id, holder, wishes: owned(wishes), ttl: None, allow_hold, keep: Some(KEEP_MS) })
}

fn release(holder: &str, what: What) -> Op {
    Op::Release { holder: holder.into(), what }
}

fn pin(holder: &str, path: &str, mode: Mode) -> Op {
    Op::Pin { holder: holder.into(), paths: vec![path.into()], mode, deadline_ms: None }
}

fn owned(wishes: &[(&str, Mode)]) -> Vec<(String, Mode)> {
    wishes.iter().map(|(path, mode)| (path.to_string(), *mode)).collect()
}

fn end<T>(list: &[T], first: bool) -> Option<&T> {
    if first { list.first() } else { list.last() }
}

fn generation_of(status: &leasebook::Status, holder: &str) -> Option<u64> {
    let own = status.leases.iter().find(|standing| standing.lease.holder == holder);
    own.map(|standing| standing.lease.generation)
}

/// Two states of one key are alike: they differ in numbers and moments, and not in what can happen from them on.
pub fn key(records: &[Record], now_ms: u64) -> u64 {
    let mut ranks = Ranks::default();
    let mut hasher = DefaultHasher::new();
    // Generations, places and tokens come in order, so that the first meeting ranks them.
    for record in records {
        match record {
            Record::Lease(lease) => {
                let left = lease.expires_at_ms.saturating_sub(now_ms);
                let rank = ranks.of(lease.generation);
                (0, rank, &*lease.holder, &lease.path, lease.mode, left, lease.release_pending).hash(&mut hasher);
            }
            Record::Waiter(waiter) => {
                let left = waiter.lapses_at_ms.map(|at| at.saturating_sub(now_ms));
                let rank = ranks.of_place(waiter.place);
                let passed: Vec<_> = waiter.passed.iter().filter_map(|place| ranks.places.get(place)).collect();
                (1, rank, &*waiter.id, &*waiter.holder, &waiter.paths, &waiter.modes, left, passed).hash(&mut hasher);
            }
            Record::Pin(pin) => {
                let kept: Vec<_> = pin.generations.iter().filter_map(|one| ranks.generations.get(one)).collect();
                (2, &*pin.holder, kept).hash(&mut hasher);
            }
            Record::Counters(_) | Record::LeaseGone(_) | Record::WaiterGone(_) | Record::PinGone(_) => {}
        }
    }
    hasher.finish()
}

#[derive(Default)]
struct Ranks {
    generations: BTreeMap<u64, usize>,
    places: BTreeMap<u64, usize>,
}

impl Ranks {
    fn of(&mut self, generation: u64) -> usize {
        let next = self.generations.len();
        *self.generations.entry(generation).or_insert(next)
    }

    fn of_place(&mut self, place: u64) -> usize {
        let next = self.places.len();
        *self.places.entry(place).or_insert(next)
    }
}
