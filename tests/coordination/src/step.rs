//! One step of a random run: a few bytes that become an operation once it is known what stands.
//!
//! What a byte picks from is small on purpose: runs meet. A shorter or smaller input is a simpler run.

use crate::op::{Ask, Op};
use leasebook::coordination::{Class, Lease, Options, Pattern};
use leasebook::{Limits, Mode};

/// How many bytes make a step.
pub const STEP_BYTES: usize = 8;

/// The bytes of one step.
pub type Step = [u8; STEP_BYTES];

/// Who takes part.
pub const ACTORS: [&str; 5] = ["did:web:ada", "did:web:bob", "did:web:cy", "did:web:dee", "did:web:eli"];

/// What is asked for. `r` may be read concurrently. The unusable ones come seldom.
const RESOURCES: [(u8, &str); 11] = [
    (48, "d/x"),
    (40, "d/y"),
    (24, "d"),
    (32, "e"),
    (32, "r"),
    (32, "r/x"),
    (16, "d/x/z"),
    (16, "dx"),
    (8, "r-x"),
    (4, "d//x"),
    (4, "/d"),
];

/// Times to live; `None` is the default.
const TTLS: [(u8, Option<f64>); 8] = [
    (96, None),
    (48, Some(1_000.0)),
    (48, Some(100.0)),
    (32, Some(60_000.0)),
    (24, Some(3_600_000.0)),
    (3, Some(3_600_001.0)),
    (3, Some(f64::NAN)),
    (2, Some(-0.0)),
];

/// How long requests wait.
const WAITS: [(u8, Option<f64>); 8] = [
    (96, None),
    (64, Some(60_000.0)),
    (32, Some(500.0)),
    (32, Some(25.0)),
    (16, Some(2_000.0)),
    (8, Some(0.0)),
    (4, Some(60_001.0)),
    (4, Some(f64::INFINITY)),
];

/// By how much the clock moves before a step. A negative one runs back.
const MOVES: [(u8, i64); 12] = [
    (160, 0),
    (24, 1),
    (16, 25),
    (12, 100),
    (8, 500),
    (8, 2_000),
    (8, 2_025),
    (4, 2_800),
    (8, 30_000),
    (4, 600_000),
    (3, -50),
    (1, 28_800_000),
];

/// How an authority starts in the run that begins with this byte: mostly with room, sometimes with little.
pub fn options(first: u8) -> Options {
    let limits = match first % 8 {
        5 => Limits { leases: 4, ..Limits::default() },
        6 => Limits { waiters: 2, wishes: 4, ..Limits::default() },
        7 => Limits { leases_per_holder: 2, ..Limits::default() },
        _ => Limits::default(),
    };
    Options {
        classes: ["r", "d/*/z"].map(|name| (Pattern::new(name).expect("a name"), Class::ConcurrentRead)).to_vec(),
        limits,
        waiters_per_resource: if first / 8 % 4 == 3 { 2 } else { 1_024 },
        events: 10_000,
        journal: true,
        hash_key: 1,
        ..Options::default()
    }
}

/// What a run has come to.
#[derive(Clone, Copy, Debug)]
pub struct Stands<'a> {
    /// The time.
    pub now_ms: u64,
    /// A number that was never used.
    pub ticket: u64,
    /// The standing leases.
    pub leases: &'a [Lease],
    /// The numbers of the parked requests.
    pub parked: &'a [u64],
    /// All that was asked so far.
    pub asked: &'a [Ask],
}

/// The operation that a step stands for, and its moment.
pub fn resolve(step: Step, stands: Stands<'_>) -> (u64, Op) {
    let Stands { now_ms, ticket, leases, parked, asked } = stands;
    let [kind, who, when, many, one, two, how, which] = step;
    let at_ms = now_ms.saturating_add_signed(choose(&MOVES, when));
    let actor = ACTORS[usize::from(who) % ACTORS.len()].to_string();
    let lease = pick(leases, which);
    let names = || match many {
        0..=159 => vec![choose(&RESOURCES, one).to_string()],
        160..=239 => vec![choose(&RESOURCES, one).to_string(), choose(&RESOURCES, two).to_string()],
        240..=254 => vec!["d/x".into(), choose(&RESOURCES, one).to_string(), choose(&RESOURCES, two).to_string()],
        255 => vec![],
    };
    let op = match kind {
        // A request is sent again, mostly one of the latest.
        0..=63 if !asked.is_empty() => {
            let back = usize::from(one) % asked.len().min(if two < 200 { 4 } else { 64 });
            Op::Ask(Ask { ticket, ..asked[asked.len() - 1 - back].clone() })
        }
        0..=159 => {
            let resources = names();
            let mode = if two % 3 == 0 { Mode::Shared } else { Mode::Exclusive };
            let key = match which {
                0..=159 => None,
                160..=253 => {
                    // The same request has the same body, as a host makes it.
                    let mut body = [how; 32];
                    let text = format!("{resources:?} {mode:?} {how}");
                    for (n, byte) in text.bytes().enumerate() {
                        body[n % 32] = body[n % 32].wrapping_mul(31).wrapping_add(byte);
                    }
                    Some((["k", "l"][usize::from(which) % 2].to_string(), body))
                }
                254 => Some((String::new(), [0; 32])),
                255 => Some(("x".repeat(257), [0; 32])),
            };
            // Seldom a number that is parked already.
            let ticket = if one == 255 { pick(parked, which).copied().unwrap_or(ticket) } else { ticket };
            let (ttl, wait) = (choose(&TTLS, how.rotate_left(3)), choose(&WAITS, how));
            Op::Ask(Ask { ticket, actor, resources, mode, ttl, wait, key })
        }
        160..=207 => {
            // Mostly whoever has the lease, and a part of it or all.
            let actor = lease.filter(|_| who < 224).map_or(actor, |lease| lease.holder.to_string());
            let of = lease.map_or_else(names, |lease| lease.resources.clone());
            let resources = match many {
                0..=99 => of,
                100..=179 => of.into_iter().take(1).collect(),
                180..=219 => vec![],
                _ => names(),
            };
            let lease_id = lease.filter(|_| two < 128).map(|lease| lease.lease_id);
            Op::Release { actor, resources, lease_id }
        }
        208..=223 => Op::Cancel(pick(parked, which).copied().unwrap_or(u64::from(which))),
        224..=229 => Op::Withdraw(lease.map_or(leasebook::coordination::LeaseId(9), |lease| lease.lease_id)),
        230..=235 => Op::Revoke(lease.map_or(leasebook::coordination::LeaseId(9), |lease| lease.lease_id)),
        236.. => Op::Tick,
    };
    (at_ms, op)
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
    choices[0].1
}

fn pick<T>(list: &[T], byte: u8) -> Option<&T> {
    (byte < 248 && !list.is_empty()).then(|| &list[usize::from(byte) % list.len()])
}
