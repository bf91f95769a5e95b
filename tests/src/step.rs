//! One step of a random run: a few bytes that become an operation once it is known what stands.
//!
//! Bytes and not a tree of choices, so that a property test and a fuzzer share one decoder, and so that a shorter or
//! smaller input is a simpler run. What a byte picks from (paths, holders, times) is small on purpose: runs meet.

use crate::op::{Op, Timed, Wait, What};
use leasebook::{Mode, Status};

/// How many bytes make a step.
pub const STEP_BYTES: usize = 10;

/// The bytes of one step.
pub type Step = [u8; STEP_BYTES];

/// Who takes part.
pub const HOLDERS: [&str; 5] = ["ada", "bob", "cy", "dee", "eli"];

/// What is asked for. A directory and what is in it come often; relative, odd and unreadable spellings seldom.
const PATHS: [(u8, &str); 20] = [
    (16, "/d"),
    (52, "/d/x"),
    (48, "/d/y"),
    (40, "/e"),
    (36, "/f"),
    (16, "/d/x/y"),
    (16, "/d/x/z"),
    (4, "/d//x/"),
    (3, "/./d"),
    (3, "/e/."),
    (3, "/dx"),
    (4, "/d/x/z/w"),
    (2, "/"),
    (3, "d/x"),
    (2, "d"),
    (1, "d/y"),
    (1, "."),
    (2, "/d/../e"),
    (2, ""),
    (2, "/d\\x"),
];

/// Times to live; `None` is the default of the table. The unusable ones come seldom.
const TTLS: [(u8, Option<f64>); 13] = [
    (64, Some(200.0)),
    (64, Some(300.0)),
    (32, None),
    (24, Some(60.0)),
    (16, Some(25.0)),
    (16, Some(10.0)),
    (8, Some(1.0)),
    (16, Some(1_000.0)),
    (6, Some(86_400_000.0)),
    (2, Some(86_400_001.0)),
    (3, Some(-0.0)),
    (2, Some(1.5)),
    (3, Some(f64::NAN)),
];

/// How long waiters are kept.
const KEEPS: [(u8, Option<f64>); 9] = [
    (80, Some(300.0)),
    (64, Some(100.0)),
    (48, Some(60.0)),
    (24, Some(25.0)),
    (16, Some(10.0)),
    (8, Some(9_007_199_254_740_991.0)),
    (10, None),
    (3, Some(0.0)),
    (3, Some(f64::INFINITY)),
];

/// By how much the clock moves before a step. A negative one runs back.
const MOVES: [(u8, i64); 10] =
    [(184, 0), (32, 1), (16, 5), (8, 10), (4, 20), (4, 60), (2, 100), (3, -15), (2, -1_000), (1, 400_000_000)];

/// What a first byte means: `(how many of 256, kind)`.
const KINDS: [(u8, Kind); 19] = [
    (70, Kind::Wait),
    (46, Kind::WaitAgain),
    (50, Kind::Acquire),
    (8, Kind::ReleasePaths),
    (9, Kind::ReleaseGeneration),
    (2, Kind::ReleaseAllOwn),
    (2, Kind::ReleaseHolder),
    (1, Kind::ReleaseAll),
    (2, Kind::EndSession),
    (8, Kind::Refresh),
    (4, Kind::Revoke),
    (20, Kind::Pin),
    (12, Kind::Unpin),
    (4, Kind::CancelWait),
    (8, Kind::Covering),
    (3, Kind::Ready),
    (3, Kind::NextDeadline),
    (2, Kind::Leases),
    (2, Kind::Status),
];

#[derive(Clone, Copy)]
enum Kind {
    Wait,
    WaitAgain,
    Acquire,
    ReleasePaths,
    ReleaseGeneration,
    ReleaseAllOwn,
    ReleaseHolder,
    ReleaseAll,
    EndSession,
    Refresh,
    Revoke,
    Pin,
    Unpin,
    CancelWait,
    Covering,
    Ready,
    NextDeadline,
    Leases,
    Status,
}

/// Which paths the steps of a run ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Universe {
    /// The few of a directory, over and over, and odd spellings of them.
    Close,
    /// All of a tree of four levels with three names in each directory.
    Wide,
}

/// The operation that a step stands for at this moment, where this stands.
pub fn resolve(universe: Universe, step: Step, now_ms: u64, stands: &Status) -> Timed {
    let [first, who, when, many, one, _, _, lives, kept, which] = step;
    let at_ms = now_ms.saturating_add_signed(choose(&MOVES, when));
    let holder = if who == u8::MAX { String::new() } else { HOLDERS[usize::from(who) % HOLDERS.len()].to_string() };
    let (ttl, keep) = (choose(&TTLS, lives), choose(&KEEPS, kept));
    let lease = pick(&stands.leases, which).map(|standing| &standing.lease);
    let generation = lease.map_or(u64::from(which), |lease| lease.generation);
    // Mostly whoever has the lease, so that what needs an own lease happens often.
    let its_holder = || match lease {
        Some(lease) if who < 200 => lease.holder.to_string(),
        _ => holder.clone(),
    };
    let op = match choose(&KINDS, first) {
        Kind::WaitAgain if !stands.waiters.is_empty() => {
            let standing = &stands.waiters[usize::from(which) % stands.waiters.len()];
            let mut wishes: Vec<_> = standing.paths.iter().cloned().zip(standing.modes.iter().copied()).collect();
            match many {
                224..=239 => wishes.reverse(),
                240..=247 => wishes.push(wishes[0].clone()),
                248..=251 => wishes[0].0 = format!("{}/.", wishes[0].0),
                252..=255 => wishes[0].1 = mode(one),
                _ => {}
            }
            let (waiter_id, holder) = (standing.id.clone(), standing.holder.to_string());
            Op::Wait(Wait { waiter_id, holder, wishes, ttl, allow_hold: who % 8 != 7, keep })
        }
        Kind::Wait | Kind::WaitAgain => {
            let waiter_id = match which {
                0..=199 => format!("{holder}-1"),
                200..=239 => format!("{holder}-2"),
                240..=253 => "anyone".to_string(),
                254.. => "w".repeat(257),
            };
            Op::Wait(Wait { waiter_id, holder, wishes: wishes(universe, step), ttl, allow_hold: who % 8 != 7, keep })
        }
        Kind::Acquire => Op::Acquire { holder, wishes: wishes(universe, step), ttl },
        Kind::ReleasePaths => {
            let paths = match lease {
                Some(lease) if many < 128 => vec![lease.path.clone()],
                _ => paths(universe, step),
            };
            Op::Release { holder: its_holder(), what: What::Paths(paths) }
        }
        Kind::ReleaseGeneration => Op::Release { holder: its_holder(), what: What::Generation(generation) },
        Kind::ReleaseAllOwn => Op::Release { holder, what: What::All },
        Kind::ReleaseHolder => Op::ReleaseHolder { holder },
        Kind::ReleaseAll => Op::ReleaseAll,
        Kind::EndSession => Op::EndSession { holder },
        Kind::Refresh => Op::Refresh { holder: its_holder(), generation, ttl },
        Kind::Revoke => Op::Revoke { generation, force: lives.is_multiple_of(2) },
        Kind::Pin => {
            let paths = match lease {
                Some(lease) if many < 128 => vec![lease.path.clone()],
                _ => paths(universe, step),
            };
            let deadline_ms = [None, Some(25), None, Some(60), Some(0)][usize::from(lives) % 5];
            let deadline_ms = deadline_ms.map(|after| at_ms.saturating_add(after));
            Op::Pin { holder: its_holder(), paths, mode: mode(one), deadline_ms }
        }
        Kind::Unpin => Op::Unpin { token: pick(&stands.pins, which).map_or(u64::from(which), |pin| pin.token.0) },
        Kind::CancelWait => {
            let waiter = pick(&stands.waiters, which);
            Op::CancelWait { waiter_id: waiter.map_or_else(|| "nobody".to_string(), |waiter| waiter.id.clone()) }
        }
        Kind::Covering => Op::Covering { holder, path: path(universe, one), mode: mode(one) },
        Kind::Ready => Op::Ready,
        Kind::NextDeadline => Op::NextDeadline,
        Kind::Leases => Op::Leases,
        Kind::Status => Op::Status,
    };
    Timed { at_ms, op }
}

/// What a byte stands for, where each choice has so many of the 256 values.
fn choose<T: Copy>(choices: &[(u8, T)], byte: u8) -> T {
    let mut left = byte;
    for &(many, choice) in choices {
        if left < many {
            return choice;
        }
        left -= many;
    }
    choices[choices.len() - 1].1
}

fn wishes(universe: Universe, step: Step) -> Vec<(String, Mode)> {
    chosen(step).into_iter().map(|byte| (path(universe, byte), mode(byte))).collect()
}

fn paths(universe: Universe, step: Step) -> Vec<String> {
    chosen(step).into_iter().map(|byte| path(universe, byte)).collect()
}

/// One path mostly, two often, three or none seldom.
fn chosen(step: Step) -> Vec<u8> {
    let [_, _, _, many, one, two, three, ..] = step;
    match many {
        0..=139 => vec![one],
        140..=239 => vec![one, two],
        240..=253 => vec![one, two, three],
        254.. => vec![],
    }
}

fn path(universe: Universe, byte: u8) -> String {
    match universe {
        Universe::Close => choose(&PATHS, byte).to_string(),
        // Two bits a level; a level without a name is an empty segment, and falls away.
        Universe::Wide => [6, 4, 2, 0].map(|shift| ["/", "/a", "/b", "/c"][usize::from(byte >> shift & 3)]).concat(),
    }
}

/// A quarter of the wishes is shared.
fn mode(byte: u8) -> Mode {
    if byte % 4 == 3 { Mode::Shared } else { Mode::Exclusive }
}

/// One of a list, by a byte of which some values mean none.
fn pick<T>(list: &[T], byte: u8) -> Option<&T> {
    (byte < 240 && !list.is_empty()).then(|| &list[usize::from(byte) % list.len()])
}
