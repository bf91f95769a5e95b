//! Nothing scans: what an operation looks at depends on its paths and on what it lists, not on what else stands.
//!
//! Counted in visited nodes, so that the machine and its load do not matter.

use leasebook::{Fairness, Limits, Millis, Mode, Options, Period, Refusal, Release, Table, WaitAttempt, Wish};

const NOW: Millis = Millis::new(1_000);
/// What every operation may look at besides the segments of its paths.
const AROUND: u64 = 40;

fn table(fairness: Fairness) -> Table {
    Table::new(Options { fairness, limits: Limits::default(), ..Options::default() }).expect("an empty table")
}

/// How much an operation looks at.
fn visits<T>(table: &mut Table, operation: impl FnOnce(&mut Table) -> T) -> (u64, T) {
    let before = table.visited();
    let answer = operation(table);
    (table.visited() - before, answer)
}

fn attempt<'a>(holder: &'a str, wishes: &'a [Wish<'a>]) -> WaitAttempt<'a> {
    let keep = Some(Period::from(60_000_u64));
    WaitAttempt { waiter_id: holder, holder, wishes, ttl: None, allow_hold: true, keep }
}

/// How much a wait attempt that has to wait looks at.
fn wait(table: &mut Table, holder: &str, wishes: &[Wish<'_>]) -> u64 {
    let (cost, answer) = visits(table, |table| table.wait_attempt(NOW, &attempt(holder, wishes)));
    let reason = answer.expect_err("it has to wait").reason();
    assert_eq!(reason, "conflict");
    cost
}

/// The leaves of directories of 32, five segments deep.
fn leaf(n: usize) -> String {
    format!("/srv/{}/{}/{}/{}", n / 32_768, n / 1_024 % 32, n / 32 % 32, n % 32)
}

#[test]
fn a_leaf_among_a_hundred_thousand_leases_costs_its_own_path() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = table(fairness);
        for n in 0..100_000 {
            let holder = ["ada", "bob", "cy", "dee"][n / 32 % 4];
            table.acquire(NOW, holder, &[Wish::exclusive(&leaf(n))], None).expect("free");
        }
        let most = 5 + AROUND;
        let free = "/srv/1/7/3/new";
        for (path, holder) in [(free, "eli"), (leaf(50_000).as_str(), "eli"), ("/srv/1/2/3/4/below", "eli")] {
            let (cost, covering) = visits(&mut table, |table| table.covering(NOW, holder, path, Mode::Exclusive));
            assert!(cost <= most, "covering {path}: {cost}, {covering:?}");
            let (cost, answer) = visits(&mut table, |table| table.acquire(NOW, holder, &[Wish::exclusive(path)], None));
            assert!(cost <= most, "acquire {path}: {cost}, {answer:?}");
            let (cost, _) = visits(&mut table, |table| table.release(NOW, holder, Release::Paths(&[path])));
            assert!(cost <= most, "release {path}: {cost}");
        }
        let (cost, _) = visits(&mut table, |table| table.pin(NOW, "ada", &[&leaf(0)], Mode::Exclusive, None));
        assert!(cost <= most, "pin: {cost}");
        let (cost, _) = visits(&mut table, |table| table.refresh(NOW, "ada", 1, None));
        assert!(cost <= most, "refresh: {cost}");
        let cost = wait(&mut table, "eli", &[Wish::exclusive(&leaf(77_777))]);
        assert!(cost <= 2 * most, "wait-attempt: {cost}");
        let (cost, ready) = visits(&mut table, |table| {
            table
                .release(NOW, ["ada", "bob", "cy", "dee"][77_777 / 32 % 4], Release::Paths(&[&leaf(77_777)]))
                .expect("one");
            table.ready(NOW)
        });
        assert_eq!(ready, ["eli"]);
        assert!(cost <= 2 * most, "wake-up: {cost}");
    }
}

#[test]
fn a_directory_above_fifty_thousand_own_leases_costs_the_same_as_a_leaf() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = table(fairness);
        for n in 0..50_000 {
            table.acquire(NOW, "ada", &[Wish::exclusive(&leaf(n))], None).expect("free");
        }
        for directory in ["/", "/srv", "/srv/0", "/srv/0/1/2"] {
            let (cost, answer) =
                visits(&mut table, |table| table.acquire(NOW, "ada", &[Wish::exclusive(directory)], None));
            assert!(answer.is_ok() && cost <= AROUND, "acquire {directory}: {cost}");
            let (cost, _) = visits(&mut table, |table| table.release(NOW, "ada", Release::Paths(&[directory])));
            assert!(cost <= AROUND, "release {directory}: {cost}");
        }
    }
}

#[test]
fn a_directory_of_another_is_refused_after_as_many_conflicts_as_are_listed() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = table(fairness);
        for n in 0..50_000 {
            table.acquire(NOW, "ada", &[Wish::exclusive(&leaf(n))], None).expect("free");
        }
        for directory in ["/", "/srv", "/srv/0"] {
            let (cost, answer) =
                visits(&mut table, |table| table.acquire(NOW, "bob", &[Wish::exclusive(directory)], None));
            let Err(Refusal::Conflict(blocked)) = answer else { panic!("{answer:?}") };
            assert!(blocked.truncated && blocked.conflicts.len() == 256);
            assert_eq!(blocked.conflicts[0].leased, leaf(0), "the first granted comes first");
            assert!(cost <= 8 * (256 + AROUND), "acquire {directory}: {cost}");
            let (cost, _) = visits(&mut table, |table| table.covering(NOW, "bob", directory, Mode::Exclusive));
            assert!(cost <= AROUND, "covering {directory}: {cost}");
        }
        let cost = wait(&mut table, "bob", &[Wish::exclusive("/srv")]);
        assert!(cost <= 8 * (256 + AROUND), "wait-attempt: {cost}");
        let (cost, status) = visits(&mut table, |table| table.release(NOW, "ada", Release::Paths(&[&leaf(0)])));
        assert!(cost <= 2 * AROUND, "a release that wakes nobody: {cost}, {status:?}");
    }
}

/// Each holder has one path, and waits for that of the next: 0 for 1, 1 for 2, …
fn chain(fairness: Fairness, length: usize) -> Table {
    let mut table = table(fairness);
    for n in 0..length + 2 {
        table.acquire(NOW, &format!("h{n}"), &[Wish::exclusive(&format!("/c/{n}"))], None).expect("free");
    }
    for n in 1..length {
        wait(&mut table, &format!("h{n}"), &[Wish::exclusive(&format!("/c/{}", n + 1))]);
    }
    table
}

#[test]
fn a_chain_of_five_thousand_waiters_is_made_longer_at_either_end_for_the_price_of_one() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = chain(fairness, 5_000);
        // One who waits for the first of the chain.
        let cost = wait(&mut table, "h0", &[Wish::exclusive("/c/1")]);
        assert!(cost <= 2 * AROUND, "at the tail, {fairness:?}: {cost}");
        // The last of the chain, who did not wait yet, waits for somebody who does not.
        let cost = wait(&mut table, "h5000", &[Wish::exclusive("/c/5001")]);
        assert!(cost <= 2 * AROUND, "at the head, {fairness:?}: {cost}");
        // A cycle through all of them is still found, at a cost that is theirs.
        let wishes = [Wish::exclusive("/c/0")];
        let answer = table.wait_attempt(NOW, &attempt("h5001", &wishes));
        let Err(Refusal::Deadlock { cycle, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!(cycle.len(), 5_003);
    }
}

/// All of them wait for one path of the hub.
fn star(fairness: Fairness, waiters: usize) -> Table {
    let mut table = table(fairness);
    table.acquire(NOW, "hub", &[Wish::exclusive("/hub")], None).expect("free");
    for n in 0..waiters {
        wait(&mut table, &format!("h{n}"), &[Wish::exclusive("/hub")]);
    }
    table
}

#[test]
fn a_star_of_five_thousand_waiters_takes_one_more_for_the_price_of_one() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = star(fairness, 5_000);
        let cost = wait(&mut table, "newcomer", &[Wish::exclusive("/hub")]);
        // In fifo the answer lists the 256 who are ahead.
        let listed = if fairness == Fairness::Fifo { 8 * 256 } else { 0 };
        assert!(cost <= listed + 2 * AROUND, "a newcomer, {fairness:?}: {cost}");
        let (cost, answer) =
            visits(&mut table, |table| table.acquire(NOW, "hub", &[Wish::exclusive("/hub/own")], None));
        assert!(answer.is_ok() && cost <= AROUND, "the hub inside its own directory, {fairness:?}: {cost}");
    }
}

#[test]
fn the_hub_of_five_thousand_waiters_waits_for_the_price_of_one() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = star(fairness, 5_000);
        table.acquire(NOW, "idle", &[Wish::exclusive("/idle")], None).expect("free");
        let cost = wait(&mut table, "hub", &[Wish::exclusive("/idle")]);
        assert!(cost <= 2 * AROUND, "{fairness:?}: {cost}");
    }
}

#[test]
fn the_first_of_a_queue_of_five_thousand_asks_again_for_the_price_of_one() {
    for fairness in [Fairness::Barge, Fairness::Fifo] {
        let mut table = star(fairness, 5_000);
        let cost = wait(&mut table, "h0", &[Wish::exclusive("/hub")]);
        assert!(cost <= 2 * AROUND, "{fairness:?}: {cost}");
        let (cost, refreshed) = visits(&mut table, |table| table.acquire(NOW, "hub", &[Wish::exclusive("/hub")], None));
        assert!(refreshed.is_ok() && cost <= AROUND, "the hub refreshes, {fairness:?}: {cost}");
    }
}

#[test]
fn the_next_of_a_queue_of_five_thousand_is_woken_for_the_price_of_one() {
    let mut table = star(Fairness::Fifo, 5_000);
    for n in 0..3 {
        let holder = if n == 0 { "hub".to_string() } else { format!("h{}", n - 1) };
        let (cost, _) = visits(&mut table, |table| table.release_holder(NOW, &holder));
        assert!(cost <= 2 * AROUND, "release: {cost}");
        let (cost, ready) = visits(&mut table, |table| table.ready(NOW));
        assert_eq!(ready, [format!("h{n}")]);
        assert!(cost <= AROUND, "ready: {cost}");
        let next = format!("h{n}");
        let wishes = [Wish::exclusive("/hub")];
        let (cost, answer) = visits(&mut table, |table| table.wait_attempt(NOW, &attempt(&next, &wishes)));
        assert!(answer.is_ok());
        assert!(cost <= 2 * AROUND, "the granted attempt: {cost}");
    }
    // One in the middle goes: nobody else needs to be looked at but those who watched it.
    let (cost, _) = visits(&mut table, |table| table.cancel_wait(NOW, "h2500"));
    assert!(cost <= 2 * AROUND, "cancel-wait: {cost}");
}
