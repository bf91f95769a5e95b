//! Cases that public bug reports of lease services and lock files show again and again, at the level of the table.

use leasebook::{
    Fairness, Millis, Mode, NotHeld, Options, Period, PinRefusal, RefreshRefusal, Refusal, Release, Table, Verdict,
    WaitAttempt, Wish,
};

const NOW: Millis = Millis::new(1_000);

fn table(fairness: Fairness) -> Table {
    Table::new(Options { fairness, ..Options::default() }).expect("an empty table")
}

fn after(ms: u64) -> Millis {
    Millis::new(NOW.get() + ms)
}

fn ms(ms: u64) -> Option<Period> {
    Some(Period::from(ms))
}

fn hold(table: &mut Table, holder: &str, path: &str) -> u64 {
    table.acquire(NOW, holder, &[Wish::exclusive(path)], None).expect("granted")[0].generation
}

/// A holder waits under its own name; the reason it is told, or `None` where it is granted.
fn wait(table: &mut Table, now: Millis, holder: &str, wishes: &[Wish<'_>]) -> Option<&'static str> {
    let attempt = WaitAttempt { waiter_id: holder, holder, wishes, ttl: None, allow_hold: true, keep: ms(60_000) };
    table.wait_attempt(now, &attempt).err().map(|refusal| refusal.reason())
}

mod expiry_mid_write {
    use super::*;

    #[test]
    fn a_pin_holds_the_lease_of_a_stopped_writer_and_nobody_else_gets_in() {
        for fairness in [Fairness::Barge, Fairness::Fifo] {
            let mut table = table(fairness);
            let stopped = table.acquire(NOW, "ada", &[Wish::exclusive("/log")], ms(300)).expect("granted").remove(0);
            let token = table.pin(NOW, "ada", &["/log"], Mode::Exclusive, None).expect("held");

            // ada is stopped for a second; bob asks meanwhile.
            let refusal = table.acquire(after(1_000), "bob", &[Wish::exclusive("/log")], None).expect_err("pinned");
            let conflict = &refusal.blocked().expect("a conflict").conflicts[0];
            assert!(conflict.ended && conflict.expires_in_ms == -700, "{conflict:?}");
            assert_eq!(wait(&mut table, after(1_000), "bob", &[Wish::exclusive("/log")]), Some("conflict"));

            // ada goes on: that write ends, and no other begins.
            let not_held = Err(PinRefusal::NotHeld { path: "/log".into() });
            assert_eq!(table.pin(after(1_000), "ada", &["/log"], Mode::Exclusive, None), not_held);
            assert_eq!(table.refresh(after(1_000), "ada", stopped.generation, None), Err(RefreshRefusal::Stale));
            assert_eq!(table.ready(after(1_000)), Vec::<String>::new());
            assert!(table.unpin(after(1_000), token));
            assert_eq!(table.ready(after(1_000)), ["bob"]);
            assert_eq!(wait(&mut table, after(1_000), "bob", &[Wish::exclusive("/log")]), None);
            let next = table.leases(after(1_000)).remove(0);
            assert!(next.holder == "bob" && next.generation > stopped.generation, "{next:?}");
            assert_eq!(table.covering(after(1_000), "ada", "/log", Mode::Exclusive).verdict, Verdict::Other);
        }
    }

    #[test]
    fn the_pin_of_a_killed_holder_ends_with_its_session_or_at_its_deadline() {
        for fairness in [Fairness::Barge, Fairness::Fifo] {
            let mut table = table(fairness);
            hold(&mut table, "ada", "/a");
            table.acquire(NOW, "bob", &[Wish::exclusive("/b")], ms(300)).expect("granted");
            table.pin(NOW, "ada", &["/a"], Mode::Exclusive, None).expect("held");
            table.pin(NOW, "bob", &["/b"], Mode::Exclusive, Some(after(500))).expect("held");

            assert_eq!(table.release_holder(NOW, "ada"), 1);
            assert_eq!(table.standing(), 2, "a pin outlives a release");
            assert_eq!(table.end_session(NOW, "ada"), 1);
            assert_eq!(table.standing(), 1);
            assert_eq!(table.next_deadline(after(299)), Some(after(300)));
            assert_eq!(table.next_deadline(after(300)), Some(after(500)));
            assert_eq!(table.leases(after(499)).len(), 1);
            assert_eq!(table.leases(after(500)).len(), 0);
        }
    }
}

mod grant_to_the_dead {
    use super::*;

    /// Two wait for ada's path; the first goes in the instant in which ada gives the path back.
    fn queue_of_two() -> Table {
        let mut table = table(Fairness::Fifo);
        hold(&mut table, "ada", "/a");
        assert_eq!(wait(&mut table, NOW, "bob", &[Wish::exclusive("/a")]), Some("conflict"));
        assert_eq!(wait(&mut table, NOW, "cy", &[Wish::exclusive("/a")]), Some("conflict"));
        table
    }

    fn next_is_cy(mut table: Table, now: Millis) {
        assert_eq!(table.ready(now), ["cy"]);
        assert_eq!(table.status(now).waiters.len(), 1);
        assert_eq!(wait(&mut table, now, "cy", &[Wish::exclusive("/a")]), None);
        // Nothing of bob is left in anybody's way, nor as an edge of a cycle.
        assert_eq!(table.ready(now), Vec::<String>::new());
        table.acquire(now, "bob", &[Wish::exclusive("/b")], None).expect("free");
        assert_eq!(wait(&mut table, now, "cy", &[Wish::exclusive("/b")]), Some("conflict"));
        assert_eq!(wait(&mut table, now, "dee", &[Wish::exclusive("/a")]), Some("conflict"));
    }

    #[test]
    fn a_waiter_cancelled_in_the_instant_of_the_release() {
        for cancel_first in [true, false] {
            let mut table = queue_of_two();
            if cancel_first {
                assert!(table.cancel_wait(NOW, "bob"));
                table.release_holder(NOW, "ada");
            } else {
                table.release_holder(NOW, "ada");
                assert_eq!(table.ready(NOW), ["bob"]);
                assert!(table.cancel_wait(NOW, "bob"));
            }
            next_is_cy(table, NOW);
        }
    }

    #[test]
    fn a_waiter_whose_session_ended_in_the_instant_of_the_release() {
        let mut table = queue_of_two();
        table.release_holder(NOW, "ada");
        assert_eq!(table.end_session(NOW, "bob"), 0);
        next_is_cy(table, NOW);
    }

    #[test]
    fn a_waiter_whose_time_is_up_in_the_instant_of_the_release() {
        let mut table = table(Fairness::Fifo);
        hold(&mut table, "ada", "/a");
        let wishes = [Wish::exclusive("/a")];
        let bob =
            WaitAttempt { waiter_id: "bob", holder: "bob", wishes: &wishes, ttl: None, allow_hold: true, keep: ms(50) };
        table.wait_attempt(NOW, &bob).expect_err("held");
        assert_eq!(wait(&mut table, NOW, "cy", &wishes), Some("conflict"));
        assert_eq!(table.status(after(49)).waiters.len(), 2);
        table.release_holder(after(50), "ada");
        next_is_cy(table, after(50));
    }
}

mod late_and_double {
    use super::*;

    #[test]
    fn what_comes_late_for_one_generation_changes_nothing_of_the_next() {
        let mut table = table(Fairness::Barge);
        let old = hold(&mut table, "ada", "/a");
        table.release(NOW, "ada", Release::Generation(old)).expect("one");
        let new = hold(&mut table, "bob", "/a");
        assert!(new > old);
        let before = table.status(after(5));

        assert_eq!(table.refresh(after(5), "ada", old, ms(60_000)), Err(RefreshRefusal::Stale));
        for _twice in 0..2 {
            let released = table.release(after(5), "ada", Release::Generation(old)).expect("one");
            assert_eq!(released.not_held, [NotHeld::Generation(old)]);
            let released = table.release(after(5), "ada", Release::Paths(&["/a"])).expect("one");
            assert_eq!(released.not_held, [NotHeld::Path("/a".into())]);
            assert_eq!(table.revoke(after(5), old, true), None);
        }
        // Nor does the generation of another do, whoever names it.
        assert_eq!(table.refresh(after(5), "ada", new, None), Err(RefreshRefusal::Stale));
        let released = table.release(after(5), "ada", Release::Generation(new)).expect("one");
        assert_eq!(released.released, Vec::<String>::new());
        assert_eq!(table.status(after(5)), before);
    }

    #[test]
    fn a_lease_is_expired_at_its_expiry_itself() {
        let mut table = table(Fairness::Barge);
        let lease = table.acquire(NOW, "ada", &[Wish::exclusive("/a")], ms(300)).expect("granted").remove(0);
        assert_eq!(lease.expires_at_ms, NOW.get() + 300);
        assert_eq!(table.next_deadline(NOW), Some(after(300)));
        let mut in_time = table.clone();
        assert_eq!(in_time.leases(after(299))[0].expires_in_ms, 1);
        assert!(in_time.refresh(after(299), "ada", lease.generation, ms(300)).is_ok());
        assert_eq!(in_time.leases(after(300)).len(), 1);
        assert_eq!(table.refresh(after(300), "ada", lease.generation, ms(300)), Err(RefreshRefusal::Stale));
        assert_eq!(table.next_deadline(after(300)), None);
        assert!(table.acquire(after(300), "bob", &[Wish::exclusive("/a")], None).is_ok());
    }
}

mod upgrade {
    use super::*;

    fn readers(fairness: Fairness, holders: &[&str]) -> Table {
        let mut table = table(fairness);
        for holder in holders {
            table.acquire(NOW, holder, &[Wish::shared("/a")], None).expect("shared");
        }
        table
    }

    #[test]
    fn a_sole_reader_upgrades_at_once_and_keeps_its_generation() {
        for fairness in [Fairness::Barge, Fairness::Fifo] {
            let mut table = readers(fairness, &["ada"]);
            // In fifo a writer that waits for the reader is no reason to wait for it.
            assert_eq!(wait(&mut table, NOW, "bob", &[Wish::exclusive("/a")]), Some("conflict"));
            let lease = table.acquire(NOW, "ada", &[Wish::exclusive("/a")], None).expect("upgraded").remove(0);
            assert_eq!((lease.generation, lease.mode), (1, Mode::Exclusive));
            let lease = table.acquire(NOW, "ada", &[Wish::shared("/a")], None).expect("refreshed").remove(0);
            assert_eq!((lease.generation, lease.mode), (1, Mode::Exclusive), "the mode never gets weaker");
        }
    }

    #[test]
    fn of_two_readers_that_want_to_write_the_second_is_refused_as_deadlock() {
        for fairness in [Fairness::Barge, Fairness::Fifo] {
            let mut table = readers(fairness, &["ada", "bob"]);
            assert_eq!(wait(&mut table, NOW, "ada", &[Wish::exclusive("/a")]), Some("conflict"));
            assert_eq!(wait(&mut table, NOW, "bob", &[Wish::exclusive("/a")]), Some("deadlock"));
            assert_eq!(table.status(NOW).waiters.len(), 1, "the refused one does not wait");
            table.release_holder(NOW, "bob");
            assert_eq!(table.ready(NOW), ["ada"]);
            assert_eq!(wait(&mut table, NOW, "ada", &[Wish::exclusive("/a")]), None);
            assert_eq!(table.leases(NOW)[0].mode, Mode::Exclusive);
        }
    }

    #[test]
    fn a_waiting_writer_is_not_starved_by_new_readers() {
        let mut table = readers(Fairness::Fifo, &["ada"]);
        assert_eq!(wait(&mut table, NOW, "writer", &[Wish::exclusive("/a")]), Some("conflict"));
        let refusal = table.acquire(NOW, "bob", &[Wish::shared("/a/x")], None).expect_err("behind the writer");
        let Refusal::Conflict(blocked) = &refusal else { panic!("{refusal:?}") };
        let ahead = blocked.ahead.as_ref().expect("the writer is ahead");
        assert!(blocked.conflicts.is_empty() && ahead.holders == ["writer"] && ahead.position == 2, "{blocked:?}");
        assert_eq!(wait(&mut table, NOW, "cy", &[Wish::shared("/a")]), Some("conflict"));
        table.release_holder(NOW, "ada");
        assert_eq!(table.ready(NOW), ["writer"]);
        assert_eq!(wait(&mut table, NOW, "writer", &[Wish::exclusive("/a")]), None);
    }
}

mod cycles_of_directories {
    use super::*;

    #[test]
    fn a_cycle_through_a_directory_and_a_file_in_it_is_refused_whole() {
        for fairness in [Fairness::Barge, Fairness::Fifo] {
            let mut table = table(fairness);
            hold(&mut table, "ada", "/a/x");
            hold(&mut table, "bob", "/b");
            hold(&mut table, "cy", "/c");
            assert_eq!(wait(&mut table, NOW, "ada", &[Wish::exclusive("/b/deep/down")]), Some("conflict"));
            assert_eq!(wait(&mut table, NOW, "bob", &[Wish::exclusive("/c"), Wish::exclusive("/e")]), Some("conflict"));
            let wishes = [Wish::exclusive("/free"), Wish::shared("/a")];
            let keep = ms(60_000);
            let cy = WaitAttempt { waiter_id: "cy", holder: "cy", wishes: &wishes, ttl: None, allow_hold: true, keep };
            let Err(Refusal::Deadlock { cycle, blocked }) = table.wait_attempt(NOW, &cy) else { panic!("a cycle") };
            assert_eq!(cycle, ["cy", "ada", "bob", "cy"]);
            assert_eq!(blocked.conflicts[0].leased, "/a/x");
        }
    }

    #[test]
    fn a_diamond_is_no_cycle() {
        for fairness in [Fairness::Barge, Fairness::Fifo] {
            let mut table = table(fairness);
            for (holder, path) in [("ada", "/a"), ("bob", "/b"), ("cy", "/c"), ("dee", "/d")] {
                hold(&mut table, holder, path);
            }
            assert_eq!(wait(&mut table, NOW, "bob", &[Wish::exclusive("/d")]), Some("conflict"));
            assert_eq!(wait(&mut table, NOW, "cy", &[Wish::exclusive("/d")]), Some("conflict"));
            assert_eq!(wait(&mut table, NOW, "ada", &[Wish::exclusive("/b"), Wish::exclusive("/c")]), Some("conflict"));
            assert_eq!(wait(&mut table, NOW, "dee", &[Wish::exclusive("/a")]), Some("deadlock"));
        }
    }

    /// bob waits for ada; something happens; then ada waits for bob.
    fn after_which_there_is_no_cycle(happens: impl Fn(&mut Table) -> Millis) {
        for fairness in [Fairness::Barge, Fairness::Fifo] {
            let mut table = table(fairness);
            let ttl = ms(400_000);
            table.acquire(NOW, "ada", &[Wish::exclusive("/a")], ms(100)).expect("granted");
            table.acquire(NOW, "ada", &[Wish::exclusive("/keeps")], ttl).expect("granted");
            table.acquire(NOW, "bob", &[Wish::exclusive("/b")], ttl).expect("granted");
            assert_eq!(wait(&mut table, NOW, "bob", &[Wish::exclusive("/a/x")]), Some("conflict"));
            assert_eq!(wait(&mut table.clone(), NOW, "ada", &[Wish::exclusive("/b")]), Some("deadlock"));
            let now = happens(&mut table);
            assert_eq!(wait(&mut table, now, "ada", &[Wish::exclusive("/b")]), Some("conflict"));
        }
    }

    #[test]
    fn an_edge_vanishes_by_cancel_release_expiry_and_timeout() {
        after_which_there_is_no_cycle(|table| {
            assert!(table.cancel_wait(NOW, "bob"));
            NOW
        });
        after_which_there_is_no_cycle(|table| {
            table.release(NOW, "ada", Release::Paths(&["/a"])).expect("one");
            NOW
        });
        after_which_there_is_no_cycle(|_| after(100)); // the lease expires
        after_which_there_is_no_cycle(|table| {
            // It is held on, and the waiter lapses.
            table.refresh(after(99), "ada", 1, ms(86_400_000)).expect("live");
            after(60_000)
        });
        after_which_there_is_no_cycle(|table| {
            assert_eq!(table.revoke(NOW, 1, false).map(|revoked| revoked.pending), Some(false));
            NOW
        });
    }

    #[test]
    fn in_barge_a_cycle_closed_by_a_grant_is_refused_at_the_next_attempt_of_anyone_led_to_it() {
        let mut table = table(Fairness::Barge);
        hold(&mut table, "ada", "/a");
        hold(&mut table, "bob", "/b");
        assert_eq!(wait(&mut table, NOW, "bob", &[Wish::exclusive("/a"), Wish::exclusive("/x")]), Some("conflict"));
        table.release_holder(NOW, "ada");
        // ada barges past bob, who is ready, and waits for him; bob now waits for ada again.
        let wishes = [Wish::exclusive("/b")];
        assert_eq!(wait(&mut table, NOW, "ada", &wishes), Some("conflict"));
        table.acquire(NOW, "ada", &[Wish::exclusive("/x/y")], None).expect("nobody holds it");
        hold(&mut table, "cy", "/c");
        assert_eq!(wait(&mut table, NOW, "dee", &[Wish::exclusive("/b")]), Some("deadlock"));
        assert_eq!(wait(&mut table, NOW, "cy", &[Wish::exclusive("/c/x")]), None);
        assert_eq!(wait(&mut table, NOW, "ada", &wishes), Some("deadlock"));
        assert_eq!(wait(&mut table, NOW, "dee", &[Wish::exclusive("/b")]), Some("conflict"));
    }
}

mod time_and_numbers {
    use super::*;

    #[test]
    fn a_clock_an_hour_back_and_forth_grants_nothing_twice_and_ends_nothing_early() {
        let mut table = table(Fairness::Barge);
        let hour = 3_600_000;
        let start = Millis::new(10 * hour);
        table.acquire(start, "ada", &[Wish::exclusive("/a")], ms(600_000)).expect("granted");
        for now in [9 * hour, 10 * hour + 1, 9 * hour + 599_999, 10 * hour + 599_999] {
            let refusal = table.acquire(Millis::new(now), "bob", &[Wish::exclusive("/a")], None);
            assert_eq!(refusal.expect_err("held").reason(), "conflict", "at {now}");
        }
        assert!(table.acquire(Millis::new(11 * hour), "bob", &[Wish::exclusive("/a")], None).is_ok());
        // Back before ada's lease began: bob's stands.
        assert!(table.acquire(Millis::new(9 * hour), "ada", &[Wish::exclusive("/a")], None).is_err());
        assert_eq!(table.leases(Millis::new(0))[0].holder, "bob");
    }

    #[test]
    fn eight_hours_asleep_end_what_was_due_in_one_step() {
        let mut table = table(Fairness::Fifo);
        hold(&mut table, "ada", "/a");
        table.pin(NOW, "ada", &["/a"], Mode::Exclusive, Some(after(60_000))).expect("held");
        assert_eq!(wait(&mut table, NOW, "bob", &[Wish::exclusive("/a")]), Some("conflict"));
        let woken = after(8 * 3_600_000);
        let status = table.status(woken);
        assert!(status.leases.is_empty() && status.waiters.is_empty() && status.pins.is_empty(), "{status:?}");
        assert_eq!(table.next_deadline(woken), None);
    }
}
