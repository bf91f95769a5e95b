//! Wait attempts, with their search for cycles, where ten thousand already wait.
//!
//! In a chain each waits for what the next one has; in a star all wait for one. Every attempt measured is one that has
//! to wait, and is cancelled again outside of the measurement. Beside it an acquire in the same table that nothing is
//! in the way of.

use crate::measure::{Single, singles};
use crate::report::{Peer, Row, thousands};
use crate::run::Effort;
use crate::standing::NOW;
use leasebook::limits::WAITERS_MAX;
use leasebook::{Fairness, Options, Period, Refusal, Release, Table, WaitAttempt, Wish};
use std::hint::black_box;

/// A graph, with one attempt that makes it larger.
struct Case {
    what: &'static str,
    graph: fn(usize, Fairness) -> Table,
    holder: fn(usize) -> String,
    wish: fn(usize) -> String,
    at_most: Option<f64>,
}

const CASES: [Case; 5] = [
    Case {
        what: "a chain gets one more at its tail",
        graph: |waiters, fairness| chain(&[waiters], fairness),
        holder: |_| "newcomer".into(),
        wish: |_| own(0),
        at_most: Some(100.0),
    },
    Case {
        what: "a chain gets one more at its head",
        graph: |waiters, fairness| chain(&[waiters], fairness),
        holder: |waiters| link(waiters),
        wish: |_| "/c/free".into(),
        at_most: Some(100.0),
    },
    Case {
        what: "a star gets one more ray",
        graph: star,
        holder: |_| "newcomer".into(),
        wish: |_| "/c/hub".into(),
        at_most: Some(100.0),
    },
    Case {
        what: "the hub of a star waits",
        graph: star,
        holder: |_| "hub".into(),
        wish: |_| "/c/free".into(),
        at_most: Some(100.0),
    },
    Case {
        what: "two long chains are joined",
        graph: |waiters, fairness| chain(&[waiters / 2, waiters / 2], fairness),
        holder: |waiters| link(waiters / 2),
        wish: |waiters| own(waiters / 2 + 1),
        at_most: None,
    },
];

/// Measures the rows of this part.
pub fn measure(effort: Effort, add: &mut dyn FnMut(Row)) {
    // One more is to come.
    let waiters = effort.waiters.min(WAITERS_MAX) - 2;
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        for case in &CASES {
            add(attempt(effort, waiters, fairness, case));
        }
    }
}

fn attempt(effort: Effort, waiters: usize, fairness: Fairness, case: &Case) -> Row {
    let mut table = (case.graph)(waiters, fairness);
    take(&mut table, "bystander", "/c/free");
    let (holder, path) = ((case.holder)(waiters), (case.wish)(waiters));
    let sides = singles(
        &mut table,
        effort.singles,
        Single {
            run: &mut |table, _| wait(table, &holder, &path),
            restore: &mut |table, _| assert!(table.cancel_wait(NOW, &holder), "it waits"),
        },
        Single {
            run: &mut |table, _| take(table, "outsider", "/srv/d00/d00/d00/file-0"),
            restore: &mut |table, _| {
                table.release(NOW, "outsider", Release::All).expect("one path");
            },
        },
    );
    let fairness = if fairness == Fairness::Fifo { "fifo" } else { "barge" };
    let (what, count) = (case.what, thousands(effort.waiters));
    let what = format!("wait attempt among {count} waiters, {fairness}: {what}");
    Row::nanos(what, sides.ours, Peer::new("acquire with nothing in the way", sides.peer), case.at_most)
}

/// Chains of so many waiters each: every link waits for what the next one has.
fn chain(lengths: &[usize], fairness: Fairness) -> Table {
    let mut table = empty(fairness);
    let mut first = 0;
    for length in lengths {
        let last = first + length;
        for at in first..=last {
            take(&mut table, &link(at), &own(at));
        }
        for at in first..last {
            wait(&mut table, &link(at), &own(at + 1));
        }
        first = last + 1;
    }
    table
}

/// One holder for whom all others wait.
fn star(waiters: usize, fairness: Fairness) -> Table {
    let mut table = empty(fairness);
    take(&mut table, "hub", "/c/hub");
    for at in 0..waiters {
        wait(&mut table, &link(at), "/c/hub");
    }
    table
}

fn link(at: usize) -> String {
    format!("link-{at}")
}

fn own(at: usize) -> String {
    format!("/c/{at}")
}

fn empty(fairness: Fairness) -> Table {
    Table::new(Options { fairness, ..Options::default() }).expect("the options are in their bounds")
}

fn take(table: &mut Table, holder: &str, path: &str) {
    black_box(table.acquire(NOW, holder, &[Wish::exclusive(path)], None).expect("nothing is in the way"));
}

fn wait(table: &mut Table, holder: &str, path: &str) {
    let wishes = [Wish::exclusive(path)];
    let keep = Some(Period::from(60_000_u64));
    let attempt = WaitAttempt { waiter_id: holder, holder, wishes: &wishes, ttl: None, allow_hold: true, keep };
    let answer = black_box(table.wait_attempt(NOW, &attempt));
    assert!(matches!(answer, Err(Refusal::Conflict(_))), "it has to wait");
}
