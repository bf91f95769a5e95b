//! Threads that share a table make one history.

use leasebook::{Fairness, Millis, Options, Refusal, Release, SharedTable, Table, Wish};
use leasebook_tests::agree::difference;
use leasebook_tests::model::{Edges, Model};
use leasebook_tests::op::{Answer, Op, Timed};
use leasebook_tests::step::{STEP_BYTES, Step, Universe, resolve};
use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

const THREADS: usize = 16;
const STEPS: usize = 400;
const ROUNDS: usize = 400;

fn shared(fairness: Fairness) -> (SharedTable, Arc<AtomicU64>) {
    let clock = Arc::new(AtomicU64::new(1_000));
    let table = Table::new(Options { fairness, default_ttl_ms: 100, ..Options::default() }).expect("an empty table");
    let source = Arc::clone(&clock);
    (SharedTable::new(table, move || Millis::new(source.load(Ordering::SeqCst))), clock)
}

/// Runs one function on every thread at once, and answers what each returned.
fn on_all_threads<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(THREADS);
    thread::scope(|scope| {
        let start = |number| {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(number)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}

#[test]
fn the_history_of_all_threads_is_one_that_the_model_can_replay() {
    for fairness in [Fairness::Fifo, Fairness::Barge] {
        let (shared, clock) = shared(fairness);
        let sequence = AtomicU64::new(0);
        let histories = on_all_threads(|number| {
            let mut bytes = [7; 32];
            bytes[0] = number as u8;
            let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
            let mut history = Vec::new();
            for n in 0..STEPS {
                let mut step: Step = [0; STEP_BYTES];
                random.fill_bytes(&mut step);
                if n % 8 == number % 8 {
                    clock.fetch_add(3, Ordering::SeqCst);
                }
                history.push(shared.with(|table, now| {
                    let timed = resolve(Universe::Close, step, now.get(), &table.status(now));
                    let answer = timed.on_table(table);
                    (sequence.fetch_add(1, Ordering::SeqCst), timed, answer)
                }));
            }
            history
        });

        let mut history: Vec<(u64, Timed, Answer)> = histories.into_iter().flatten().collect();
        history.sort_by_key(|&(at, ..)| at);
        assert_eq!(history.len(), THREADS * STEPS);
        let mut model = Model::new(shared.with(|table, _| table.options().clone()));
        for (at, timed, found) in history {
            let expected = timed.on_model(&mut model);
            let edges = match &timed.op {
                Op::Wait(wait) => wait.with(|attempt| model.lease_edges_with(attempt)),
                _ => Edges::new(),
            };
            assert_eq!(difference(&expected, &found, &edges), None, "operation {at}: {timed:?}");
        }
    }
}

/// What a thread saw of one grant: stamps around the call, and the generation.
struct Grant {
    invoked: u64,
    answered: u64,
    generation: u64,
}

#[test]
fn a_grant_that_came_later_has_the_higher_generation_and_no_path_has_two_holders() {
    let (shared, clock) = shared(Fairness::Barge);
    let stamp = AtomicU64::new(0);
    let paths = ["/d/x", "/d/y", "/d"];
    // Who is inside: the directory shuts everybody out of its files, and the other way round.
    let inside: [AtomicU64; 2] = Default::default();
    let grants = on_all_threads(|number| {
        let holder = format!("holder-{number}");
        let mut grants = Vec::new();
        for round in 0..ROUNDS {
            clock.fetch_add(1, Ordering::SeqCst);
            let which = (number + round) % paths.len();
            let files = if which == 2 { 0..2 } else { which..which + 1 };
            let invoked = stamp.fetch_add(1, Ordering::SeqCst);
            // A ttl far longer than the test, so that only a release ends a lease.
            match shared.acquire(&holder, &[Wish::exclusive(paths[which])], Some(86_400_000_u64.into())) {
                Ok(leases) => {
                    let answered = stamp.fetch_add(1, Ordering::SeqCst);
                    for file in &inside[files.clone()] {
                        assert_eq!(file.swap(number as u64 + 1, Ordering::SeqCst), 0, "two holders");
                    }
                    thread::yield_now();
                    for file in &inside[files] {
                        assert_eq!(file.swap(0, Ordering::SeqCst), number as u64 + 1, "two holders");
                    }
                    grants.push(Grant { invoked, answered, generation: leases[0].generation });
                    let released = shared.release(&holder, Release::All).expect("not too many paths");
                    assert_eq!(released.released, [paths[which]]);
                }
                Err(Refusal::Conflict(blocked)) => {
                    assert!(blocked.conflicts.iter().all(|conflict| conflict.holder != holder.as_str()));
                    thread::yield_now();
                }
                Err(refusal) => panic!("{refusal}"),
            }
        }
        grants
    });

    let mut grants: Vec<Grant> = grants.into_iter().flatten().collect();
    assert!(grants.len() > ROUNDS, "{} grants", grants.len());
    grants.sort_by_key(|grant| grant.generation);
    assert!(grants.windows(2).all(|pair| pair[0].generation < pair[1].generation), "a generation twice");
    let mut latest_invocation = 0;
    for grant in &grants {
        // Every grant of a lower generation was asked for before this one was answered.
        assert!(latest_invocation < grant.answered, "generation {} came before its time", grant.generation);
        latest_invocation = latest_invocation.max(grant.invoked);
    }
}
