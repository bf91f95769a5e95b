//! Every sequence of operations of a small table, up to a depth, keeps what a table promises.
//!
//! States are met breadth first, and one that was met before in other numbers (generations, places, tokens, moments) is
//! not followed again. Every operation of every state is run on the table, on one restored from its records under
//! another hash key, and on the reference model.

mod promises;
mod scope;

use crate::soak;
use leasebook::{Fairness, Options, Table};
use leasebook_tests::agree::{departure, difference};
use leasebook_tests::line;
use leasebook_tests::model::{Edges, Model};
use leasebook_tests::op::{Op, Timed};
use promises::State;
use scope::{Scope, Turn};
use std::collections::HashSet;

const DEPTH: usize = 5;
const DEPTH_OF_SOAK: usize = 7;

#[test]
fn two_holders_on_three_nested_paths_in_barge() {
    explore(&Scope::nested(Fairness::Barge));
}

#[test]
fn two_holders_on_three_nested_paths_in_fifo() {
    explore(&Scope::nested(Fairness::Fifo));
}

#[test]
fn three_holders_on_a_directory_and_two_files_in_fifo() {
    explore(&Scope::queue());
}

fn explore(scope: &Scope) {
    let depth = if soak::asked() { DEPTH_OF_SOAK } else { DEPTH };
    let mut met = HashSet::new();
    let mut frontier = vec![Vec::new()];
    for level in 1..=depth {
        let mut next = Vec::new();
        for way in &frontier {
            for turn in steps_from(scope, way, &mut met) {
                next.push([&way[..], &[turn]].concat());
            }
        }
        println!("{}: depth {level}, {} new states", scope.name, next.len());
        frontier = next;
    }
}

/// Runs every operation of the scope after a way, and answers those that lead to states not met before.
fn steps_from(scope: &Scope, way: &[u8], met: &mut HashSet<u64>) -> Vec<u8> {
    let options =
        Options { default_ttl_ms: scope::TTL_MS, fairness: scope.fairness, hash_key: 1, ..Options::default() };
    let mut walk = Walk {
        table: Table::new(options.clone()).expect("an empty table"),
        model: Model::new(options.clone()),
        now_ms: scope::START_MS,
        history: Vec::new(),
    };
    for &turn in way {
        if let Turn::Op(timed) = scope.turn(turn, &walk.table, walk.now_ms) {
            timed.on_table(&mut walk.table);
            timed.on_model(&mut walk.model);
            walk.history.push(timed);
        } else {
            walk.now_ms += scope::MOVE_MS;
        }
    }
    let restored = Table::restore(Options { hash_key: 2, ..options }, walk.table.records());
    let restored = restored.unwrap_or_else(|fault| walk.fail(&format!("not restored: {fault}")));
    let before = State::of(&walk.table, walk.now_ms);

    let mut found = Vec::new();
    for turn in 0..scope.turns() {
        let mut child = walk.clone();
        let after = match scope.turn(turn, &walk.table, walk.now_ms) {
            Turn::Move => {
                child.now_ms += scope::MOVE_MS;
                child.step(&Timed { at_ms: child.now_ms, op: Op::Status }, &before, restored.clone())
            }
            Turn::Op(timed) => child.step(&timed, &before, restored.clone()),
            Turn::Nothing => continue,
        };
        if met.insert(scope::key(&child.table.records(), child.now_ms)) {
            promises::check_state(&after).unwrap_or_else(|fault| child.fail(&fault));
            found.push(turn);
        }
    }
    found
}

/// A table and its model at the end of a way.
#[derive(Clone)]
struct Walk {
    table: Table,
    model: Model,
    now_ms: u64,
    history: Vec<Timed>,
}

impl Walk {
    /// One more operation, and everything that must hold then.
    fn step(&mut self, timed: &Timed, before: &State, mut restored: Table) -> State {
        self.history.push(timed.clone());
        let later = before.later(timed.at_ms);
        let before = later.as_ref().unwrap_or(before);
        let expected = timed.on_model(&mut self.model);
        let found = timed.on_table(&mut self.table);
        let edges = match &timed.op {
            Op::Wait(wait) => wait.with(|attempt| self.model.lease_edges_with(attempt)),
            _ => Edges::new(),
        };
        if let Some(fault) = difference(&expected, &found, &edges) {
            self.fail(&fault);
        }
        if let Some(fault) = departure(&found, &timed.on_table(&mut restored)) {
            self.fail(&format!("a restored table: {fault}"));
        }
        if self.table.records() != restored.records() {
            let (expected, found) = (self.table.records(), restored.records());
            self.fail(&format!("a restored table: expected {expected:#?}\nfound {found:#?}"));
        }
        let after = State::of(&self.table, self.now_ms);
        if after.status != self.model.status(leasebook::Millis::new(self.now_ms)) {
            self.fail(&format!("status: found {:#?}", after.status));
        }
        promises::check_step(before, timed, &found, &after).unwrap_or_else(|fault| self.fail(&fault));
        after
    }

    fn fail(&self, fault: &str) -> ! {
        let lines: Vec<String> = self.history.iter().map(|timed| line::write(timed).to_string()).collect();
        panic!("{}\n{}\n{fault}", line::opening(self.table.options(), scope::START_MS), lines.join("\n"));
    }
}
