//! What is too long to list is cut at 256, and says so or keeps the true number.

use leasebook::{Fairness, Mode, Options, Refusal, Table};
use leasebook_tests::agree::difference;
use leasebook_tests::model::{Edges, Model};
use leasebook_tests::op::{Answer, Op, Timed, Wait};

/// A table and the model, asked alike.
struct Both {
    table: Table,
    model: Model,
}

impl Both {
    fn new(fairness: Fairness) -> Self {
        let options = Options { fairness, ..Options::default() };
        Self { table: Table::new(options.clone()).expect("an empty table"), model: Model::new(options) }
    }

    fn ask(&mut self, op: Op) -> Answer {
        let timed = Timed { at_ms: 1_000, op };
        let (expected, found) = (timed.on_model(&mut self.model), timed.on_table(&mut self.table));
        assert_eq!(difference(&expected, &found, &Edges::new()), None, "{:?}", timed.op);
        found
    }

    fn acquire(&mut self, holder: &str, wishes: &[(&str, Mode)]) -> Answer {
        self.ask(Op::Acquire { holder: holder.into(), wishes: owned(wishes), ttl: None })
    }

    fn wait(&mut self, holder: &str, wishes: &[(&str, Mode)]) -> leasebook::Blocked {
        let (waiter_id, keep) = (format!("{holder}-1"), Some(60_000.0));
        let wait = Wait { waiter_id, holder: holder.into(), wishes: owned(wishes), ttl: None, allow_hold: true, keep };
        match self.ask(Op::Wait(wait)) {
            Answer::Grant(Err(Refusal::Conflict(blocked))) => *blocked,
            other => panic!("it has to wait, not {other:?}"),
        }
    }

    fn compare_status(&mut self) {
        self.ask(Op::Status);
        self.ask(Op::Ready);
    }
}

fn owned(wishes: &[(&str, Mode)]) -> Vec<(String, Mode)> {
    wishes.iter().map(|(path, mode)| (path.to_string(), *mode)).collect()
}

/// Names whose order is not that in which they come.
fn name(n: usize) -> String {
    format!("h{:03}", n * 617 % 1_000)
}

const EXCLUSIVE: Mode = Mode::Exclusive;
const SHARED: Mode = Mode::Shared;

#[test]
fn conflicts_are_the_first_256_in_grant_order() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        for (leases, truncated) in [(255, false), (256, false), (257, true), (400, true)] {
            let mut both = Both::new(fairness);
            for n in 0..leases {
                // Scattered, so that the order of the names is not that of the grants.
                let path = format!("/d/{}/{}", n * 7 % 10, n * 617 % 1_000);
                both.acquire(&name(n % 3), &[(&path, if n % 5 == 0 { SHARED } else { EXCLUSIVE })]);
            }
            let Answer::Grant(Err(refusal)) = both.acquire("asker", &[("/d", EXCLUSIVE)]) else { panic!("held") };
            let blocked = refusal.blocked().expect("a conflict");
            assert_eq!((blocked.conflicts.len(), blocked.truncated), (leases.min(256), truncated));
            both.acquire("asker", &[("/d", SHARED)]);
            both.acquire("asker", &[("/d/3", EXCLUSIVE), ("/d/4", SHARED), ("/d", EXCLUSIVE)]);
            both.acquire(&name(1), &[("/d", EXCLUSIVE)]);
            both.wait("asker", &[("/d", EXCLUSIVE), ("/d/3", EXCLUSIVE)]);
            both.compare_status();
        }
    }
}

#[test]
fn blockers_by_lease_come_first_where_there_are_too_many() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        for leases in [255, 256, 257, 300] {
            let mut both = Both::new(fairness);
            for n in 0..leases {
                both.acquire(&name(n), &[(&format!("/d/{}", n * 7 % 1_000), EXCLUSIVE)]);
            }
            assert_eq!(both.wait("asker", &[("/d", EXCLUSIVE)]).blockers.len(), leases.min(256));
            both.compare_status();
        }
    }
}

#[test]
fn of_those_ahead_256_are_named_and_all_are_counted() {
    for (waiters, leases) in [(256, 1), (257, 1), (30, 150), (9, 300)] {
        let mut both = Both::new(Fairness::Fifo);
        for n in 0..leases {
            both.acquire(&format!("lessee-{n}"), &[(&format!("/d/{n}"), EXCLUSIVE)]);
        }
        for n in 0..waiters {
            both.wait(&name(n), &[("/d", if n % 4 == 0 { SHARED } else { EXCLUSIVE })]);
        }
        for _twice in 0..2 {
            let blocked = both.wait("asker", &[("/d", EXCLUSIVE)]);
            let ahead = blocked.ahead.expect("the others are ahead");
            assert_eq!((ahead.holders.len(), ahead.position), (waiters.min(256), waiters + 1));
            both.wait("reader", &[("/d/0", SHARED)]);
            both.wait("elsewhere", &[("/d/0", EXCLUSIVE), ("/d/1", SHARED), ("/e", EXCLUSIVE)]);
            both.acquire("passer-by", &[("/d/7", SHARED)]);
        }
        both.compare_status();
    }
}
