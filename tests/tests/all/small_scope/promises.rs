//! What a table promises, worked out from its answers alone.

use leasebook::{Containment, Fairness, Lease, Millis, Mode, Period, Refusal, Release, Status, Table, WaitAttempt};
use leasebook::{WaiterStatus, Wish, contains};
use leasebook_tests::op::{Answer, Op, Timed};
use std::collections::{BTreeMap, BTreeSet};

/// A table and what it says of itself at a moment.
pub struct State {
    table: Table,
    now: Millis,
    pub status: Status,
    ready: Vec<String>,
}

type Edges = BTreeMap<String, BTreeSet<String>>;

impl State {
    pub fn of(table: &Table, now_ms: u64) -> Self {
        let (mut table, now) = (table.clone(), Millis::new(now_ms));
        let (status, ready) = (table.status(now), table.ready(now));
        Self { table, now, status, ready }
    }

    /// The same table at another moment, with nothing done to it.
    pub fn later(&self, now_ms: u64) -> Option<Self> {
        (self.now.get() != now_ms).then(|| Self::of(&self.table, now_ms))
    }

    fn fifo(&self) -> bool {
        self.table.options().fairness == Fairness::Fifo
    }

    fn generations(&self) -> Vec<u64> {
        self.status.leases.iter().map(|standing| standing.lease.generation).collect()
    }

    fn holders(&self) -> BTreeSet<String> {
        let holders = self.status.leases.iter().map(|standing| standing.lease.holder.to_string());
        holders.chain(self.status.waiters.iter().map(|waiter| waiter.holder.to_string())).collect()
    }
}

/// What holds between the states before and after an operation.
pub fn check_step(before: &State, timed: &Timed, answer: &Answer, after: &State) -> Result<(), String> {
    generations_only_grow(before, answer, after)?;
    pinned_leases_stay(before, &timed.op, after)?;
    nothing_waits_for_who_left(&timed.op, after)?;
    deadlocks_are_the_cycles_there_are(before, &timed.op, answer)
}

/// What holds of a state, however it came to be.
pub fn check_state(state: &State) -> Result<(), String> {
    no_two_holders(state)?;
    ready_means_granted(state)?;
    if state.fifo() { no_waiter_starves(state) } else { Ok(()) }
}

fn no_two_holders(after: &State) -> Result<(), String> {
    let leases: Vec<&Lease> = after.status.leases.iter().map(|standing| &standing.lease).collect();
    for (n, one) in leases.iter().enumerate() {
        for other in &leases[..n] {
            if one.holder != other.holder && exclude((&one.path, one.mode), (&other.path, other.mode)) {
                return Err(format!("two holders: {one:?} and {other:?}"));
            }
        }
    }
    Ok(())
}

fn generations_only_grow(before: &State, answer: &Answer, after: &State) -> Result<(), String> {
    let (known, now) = (before.generations(), after.generations());
    let granted = match answer {
        Answer::Grant(Ok(leases)) => leases.iter().map(|lease| lease.generation).collect(),
        _ => Vec::new(),
    };
    if !now.is_sorted_by(|a, b| a < b) {
        return Err(format!("generations out of order: {now:?}"));
    }
    // The counter is read from the records, so that a generation that went long ago counts too.
    let newest = newest_generation(&before.table);
    let reused = now.iter().chain(&granted).find(|generation| !known.contains(generation) && **generation <= newest);
    reused.map_or(Ok(()), |generation| Err(format!("generation {generation} again, {newest} was the newest")))
}

fn newest_generation(table: &Table) -> u64 {
    let counters = table.records().into_iter().find_map(|record| match record {
        leasebook::Record::Counters(counters) => Some(counters.last_generation),
        _ => None,
    });
    counters.expect("records say the counters")
}

fn pinned_leases_stay(before: &State, op: &Op, after: &State) -> Result<(), String> {
    let still: Vec<_> = after.status.pins.iter().map(|pin| pin.token).collect();
    let pins = before.status.pins.iter().filter(|pin| still.contains(&pin.token));
    let pinned: BTreeSet<u64> = pins.flat_map(|pin| pin.generations.iter().copied()).collect();
    let (known, now) = (before.generations(), after.generations());
    let gone = pinned.iter().find(|generation| known.contains(generation) && !now.contains(generation));
    match (gone, op) {
        (None, _) => Ok(()),
        (Some(gone), Op::Revoke { generation, force: true }) if gone == generation => Ok(()),
        (Some(gone), _) => Err(format!("the pinned lease {gone} went")),
    }?;
    let dropped = before.status.pins.iter().find(|pin| !still.contains(&pin.token));
    match (dropped, op) {
        (None, _) => Ok(()),
        (Some(pin), Op::Unpin { token }) if pin.token.0 == *token => Ok(()),
        (Some(pin), Op::EndSession { holder }) if pin.holder == holder.as_str() => Ok(()),
        (Some(pin), _) => Err(format!("the pin {pin:?} went")),
    }
}

fn nothing_waits_for_who_left(op: &Op, after: &State) -> Result<(), String> {
    let (Op::ReleaseHolder { holder } | Op::EndSession { holder }) = op else { return Ok(()) };
    let waits = after.status.waiters.iter().find(|waiter| waiter.holder == holder.as_str());
    let holds = after.status.leases.iter().find(|standing| standing.lease.holder == holder.as_str());
    let all_go = matches!(op, Op::EndSession { .. });
    match (waits, holds.filter(|standing| all_go || standing.pins == 0)) {
        (None, None) => Ok(()),
        left => Err(format!("{holder} is still there: {left:?}")),
    }
}

fn deadlocks_are_the_cycles_there_are(before: &State, op: &Op, answer: &Answer) -> Result<(), String> {
    let (Op::Wait(wait), Answer::Grant(Err(refusal))) = (op, answer) else { return Ok(()) };
    let refused = match refusal {
        Refusal::Deadlock { .. } => true,
        Refusal::Conflict(_) => false,
        _ => return Ok(()),
    };
    let mut edges = Edges::new();
    for waiter in before.status.waiters.iter().filter(|waiter| waiter.id != wait.waiter_id) {
        edges.entry(waiter.holder.to_string()).or_default().extend(waited_for(before, &waiter.holder, &wishes(waiter)));
    }
    let wishes: Vec<_> = wait.wishes.iter().map(|(path, mode)| (path.as_str(), *mode)).collect();
    edges.entry(wait.holder.clone()).or_default().extend(waited_for(before, &wait.holder, &wishes));
    let cycle = leads_to_a_cycle(&edges, &wait.holder);
    if cycle == refused { Ok(()) } else { Err(format!("a cycle: {cycle}, refused: {refused}, edges {edges:?}")) }
}

/// The other holders whose leases are in the way of these wishes.
fn waited_for(state: &State, holder: &str, wishes: &[(&str, Mode)]) -> BTreeSet<String> {
    let leases = state.status.leases.iter().map(|standing| &standing.lease).filter(|lease| lease.holder != holder);
    let in_the_way = |lease: &&Lease| wishes.iter().any(|wish| exclude(*wish, (&lease.path, lease.mode)));
    leases.filter(in_the_way).map(|lease| lease.holder.to_string()).collect()
}

/// Peels off whoever waits for nobody that is left. What stays is on a cycle, or waits for one.
fn leads_to_a_cycle(edges: &Edges, holder: &str) -> bool {
    let mut left = edges.clone();
    loop {
        let done: Vec<String> = left
            .iter()
            .filter(|(_, waited_for)| !waited_for.iter().any(|other| left.contains_key(other)))
            .map(|(holder, _)| holder.clone())
            .collect();
        if done.is_empty() {
            return left.contains_key(holder);
        }
        for holder in done {
            left.remove(&holder);
        }
    }
}

fn ready_means_granted(after: &State) -> Result<(), String> {
    for waiter in &after.status.waiters {
        let ready = after.ready.contains(&waiter.id);
        if ready != waiter.blockers.is_empty() {
            return Err(format!("a wake-up is lost or too much: ready {:?}, {waiter:?}", after.ready));
        }
        let granted = try_again(&mut after.table.clone(), after.now, waiter);
        if granted != ready {
            return Err(format!("ready {ready}, but an attempt is granted: {granted}: {waiter:?}"));
        }
    }
    let queued: Vec<_> = after.status.waiters.iter().map(|waiter| &waiter.id).collect();
    let in_order: Vec<_> = queued.iter().filter(|id| after.ready.contains(id)).map(|id| id.to_string()).collect();
    if in_order == after.ready { Ok(()) } else { Err(format!("ready out of order: {:?}", after.ready)) }
}

fn try_again(table: &mut Table, now: Millis, waiter: &WaiterStatus) -> bool {
    let wishes: Vec<Wish<'_>> = wishes(waiter).into_iter().map(|(path, mode)| Wish { path, mode }).collect();
    let attempt = WaitAttempt {
        waiter_id: &waiter.id,
        holder: waiter.holder.as_str(),
        wishes: &wishes,
        ttl: None,
        allow_hold: true,
        keep: Some(Period::from(50_u64)),
    };
    table.wait_attempt(now, &attempt).is_ok()
}

/// When whoever does not wait gives everything back, and those who are ready try again, every wait ends in a grant.
fn no_waiter_starves(after: &State) -> Result<(), String> {
    let (mut table, now) = (after.table.clone(), after.now);
    loop {
        let status = table.status(now);
        if status.waiters.is_empty() {
            return Ok(());
        }
        for pin in &status.pins {
            table.unpin(now, pin.token);
        }
        for holder in after.holders() {
            if !status.waiters.iter().any(|waiter| waiter.holder == holder.as_str()) {
                table.release(now, &holder, Release::All).expect("not too many paths");
            }
        }
        let ready = table.ready(now);
        let granted = status.waiters.iter().find(|waiter| ready.first() == Some(&waiter.id));
        if !granted.is_some_and(|waiter| try_again(&mut table, now, waiter)) {
            return Err(format!("stuck: {:#?}", table.status(now)));
        }
    }
}

fn wishes(waiter: &WaiterStatus) -> Vec<(&str, Mode)> {
    waiter.paths.iter().map(String::as_str).zip(waiter.modes.iter().copied()).collect()
}

/// Do two claims of different holders exclude each other?
fn exclude(one: (&str, Mode), other: (&str, Mode)) -> bool {
    let apart = contains(one.0, other.0) == Containment::No && contains(other.0, one.0) == Containment::No;
    !apart && (one.1 == Mode::Exclusive || other.1 == Mode::Exclusive)
}
