//! One run on an authority, on the reference model and on twins of the authority, compared after every operation.
//!
//! The twins: a *quiet* one under another hash key, which keeps no records and nobody looks at in between; and a
//! *restored* one, made anew of the records before every operation.

use crate::model::Model;
use crate::observer::Observer;
use crate::op::{Ask, Op, Said};
use crate::step::{STEP_BYTES, Stands, Step, options, resolve};
use leasebook::coordination::{
    Answer, Authority, Class, Deadlock, InvalidField, Lease, LeaseId, Options, Record, Refused,
};
use leasebook::{Millis, Mode};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What answers were met, by the names of their kinds.
pub type Met = BTreeMap<&'static str, u64>;

/// Runs what the bytes say, and counts the answers that were met. An error says the operations, and what was wrong at
/// the last.
pub fn run(bytes: &[u8], met: &mut Met) -> Result<(), String> {
    let (first, steps) = bytes.split_first().unwrap_or((&0, &[]));
    let mut trial = Trial::new(options(*first));
    for step in steps.as_chunks::<STEP_BYTES>().0 {
        let answers = trial.step(*step).map_err(|fault| trial.report(&fault))?;
        count(&answers, met);
    }
    Ok(())
}

struct Trial {
    options: Options,
    now_ms: u64,
    ticket: u64,
    model: Model,
    authority: Authority,
    quiet: Authority,
    journal: Vec<Record>,
    observer: Observer,
    /// The highest fence that a guard of each resource has seen, and whose.
    guards: BTreeMap<String, (u64, String)>,
    history: Vec<(u64, Op)>,
    asked: Vec<Ask>,
}

/// What one operation said: its answer, and those of the parked requests that it ended.
type Answers = (Said, Vec<(u64, Answer)>);

impl Trial {
    fn new(options: Options) -> Self {
        // The clock begins at the start, so that one that runs back runs back on everybody.
        let begin = Millis::new(1_000);
        let start = |options| {
            let mut authority = Authority::new(options).expect("options within their bounds");
            authority.tick(begin);
            authority
        };
        let mut model = Model::new(options.clone());
        model.tick(begin);
        Self {
            now_ms: begin.get(),
            ticket: 1_000,
            model,
            authority: start(options.clone()),
            quiet: start(Options { hash_key: 2, journal: false, events: 0, ..options.clone() }),
            journal: Vec::new(),
            observer: Observer::default(),
            guards: BTreeMap::new(),
            history: Vec::new(),
            asked: Vec::new(),
            options,
        }
    }

    fn step(&mut self, step: Step) -> Result<Answers, String> {
        let (leases, parked) = (self.model.leases(), self.model.parked());
        self.ticket += 1;
        let (at_ms, op) = {
            let (now_ms, ticket, asked) = (self.now_ms, self.ticket, &self.asked);
            resolve(step, Stands { now_ms, ticket, leases: &leases, parked: &parked, asked })
        };
        if let Op::Ask(ask) = &op {
            self.asked.push(ask.clone());
        }
        self.history.push((at_ms, op.clone()));
        let was_waiting = self.model.is_anybody_waiting();
        let at = Millis::new(at_ms);
        let mut restored = self.restored(false)?;
        self.now_ms = self.now_ms.max(at_ms);
        let expected = (op.on_model(&mut self.model, at), self.model.settled());
        let found = (op.on_authority(&mut self.authority, at), self.authority.settled());
        let quiet = (op.on_authority(&mut self.quiet, at), self.quiet.settled());
        same("the quiet twin", &found, &quiet)?;
        self.judge_deadlocks(&op, &found)?;
        same("the model", &plain(expected), &plain(found.clone()))?;
        if !was_waiting {
            let again = (op.on_authority(&mut restored, at), restored.settled());
            same("the restored twin", &found, &again)?;
        }
        self.look()?;
        self.hear()?;
        Ok(found)
    }

    /// What everybody can see must be the same.
    fn look(&mut self) -> Result<(), String> {
        let now = Millis::new(self.now_ms);
        let leases = self.model.leases();
        same("leases", &leases, &self.authority.leases(now))?;
        for lease in &leases {
            same("one lease", &Some(lease.clone()), &self.authority.lease(now, lease.lease_id))?;
            self.guard(lease)?;
        }
        let queue = self.authority.queue(now);
        same("queue", &self.model.queue(), &queue)?;
        if let Some(lost) = queue.iter().find(|waiter| waiter.parked > 0 && waiter.waits_for.is_empty()) {
            return Err(format!("nobody is in the way of one who is parked: {lost:?}"));
        }
        let deadline = self.authority.next_deadline(now);
        same("next deadline", &self.model.next_deadline(), &deadline)?;
        if deadline.is_some_and(|deadline| deadline <= self.now_ms) {
            return Err(format!("a deadline that is over: {deadline:?}"));
        }
        for (actor, trust) in self.authority.trusts() {
            same("trust", &self.model.halves(actor), &trust.halves())?;
        }
        same("the rest", &Vec::new(), &self.authority.settled())
    }

    /// Whoever has a resource later is let through by its guard, and a holder is never turned away by what it has.
    fn guard(&mut self, lease: &Lease) -> Result<(), String> {
        // Only writes show a fence, and whoever writes has the resource alone.
        for name in lease.resources.iter().filter(|name| self.options.class(name) == Class::Exclusive) {
            let holder = lease.holder.to_string();
            let former = self.guards.insert(name.clone(), (lease.generation, holder.clone()));
            let Some((seen, by)) = former else { continue };
            if seen > lease.generation || (by != holder && seen == lease.generation) {
                return Err(format!("{name}: a guard saw {seen} of {by}, and now {lease:?}"));
            }
        }
        Ok(())
    }

    /// An observer of events alone knows the same.
    fn hear(&mut self) -> Result<(), String> {
        for event in self.authority.take_events() {
            self.observer.hear(&event, self.now_ms)?;
        }
        let now = Millis::new(self.now_ms);
        let told = |lease: &Lease| (lease.lease_id, (lease.holder.clone(), lease.resources.iter().cloned().collect()));
        let leases: BTreeMap<LeaseId, _> = self.authority.leases(now).iter().map(told).collect();
        same("leases as observed", &leases, &self.observer.leases)?;
        let waiting = self.authority.queue(now).into_iter().map(|waiter| waiter.actor).collect();
        same("waiters as observed", &waiting, &self.observer.waiting)?;
        let trust = self.authority.trusts().map(|(actor, trust)| (actor.clone(), trust)).collect();
        same("trust as observed", &trust, &self.observer.trust)?;
        self.journal.extend(self.authority.take_records());
        let mut restored = self.restored(true)?;
        same("restored leases", &self.authority.leases(now), &restored.leases(now))?;
        same("restored trust", &trust, &restored.trusts().map(|(actor, trust)| (actor.clone(), trust)).collect())
    }

    /// An authority made of all records, or of the latest of each key, in an order that says nothing.
    fn restored(&self, latest: bool) -> Result<Authority, String> {
        let records = if latest { self.latest() } else { self.journal.clone() };
        // A host starts at a time no earlier than any it has used.
        let now = Millis::new(self.now_ms);
        let mut restored = Authority::restore(now, self.options.clone(), records).map_err(|e| e.to_string())?;
        let _ = (restored.take_events(), restored.take_records());
        Ok(restored)
    }

    fn latest(&self) -> Vec<Record> {
        let mut latest: BTreeMap<String, Record> = BTreeMap::new();
        for record in &self.journal {
            let (key, gone) = match record {
                Record::Location(lease) => (format!("location {}", lease.generation), false),
                Record::LocationGone(generation) => (format!("location {generation}"), true),
                Record::Grant(grant) => (format!("grant {}", grant.lease_id), false),
                Record::GrantGone(id) => (format!("grant {id}"), true),
                Record::Trust { actor, .. } => (format!("trust {actor}"), false),
                Record::Remembered(kept) => (format!("remembered {} {}", kept.actor, kept.key), false),
                Record::RememberedGone { actor, key } => (format!("remembered {actor} {key}"), true),
                Record::Counters(_) => ("counters".into(), false),
                Record::LastLease(_) => ("last".into(), false),
            };
            if gone {
                latest.remove(&key);
            } else {
                latest.insert(key, record.clone());
            }
        }
        latest.into_values().rev().collect()
    }

    /// Each waits for something that it asked for and that the next has a part of, and the last for the first.
    fn judge_deadlocks(&mut self, op: &Op, (said, settled): &Answers) -> Result<(), String> {
        let (Op::Ask(ask), Said::Asked(Answer::Refused(Refused::Deadlock(deadlock)))) = (op, said) else {
            let deadlock = |(_, answer): &(u64, Answer)| matches!(answer, Answer::Refused(Refused::Deadlock(_)));
            return if settled.iter().any(deadlock) { Err("a deadlock of a parked request".into()) } else { Ok(()) };
        };
        let wrong = |what: &str| Err(format!("{what}: {deadlock:?}"));
        let Deadlock { holder, waiting_on, cycle, .. } = &**deadlock;
        if cycle.len() < 2 || cycle[0].actor != *ask.actor || !ask.resources.contains(&cycle[0].waiting_on) {
            return wrong("a cycle without the asker");
        }
        if (holder, waiting_on) != (&cycle[1].actor, &cycle[1].waiting_on) {
            return wrong("a holder that is not the next");
        }
        for (n, waits) in cycle.iter().enumerate() {
            let next = &cycle[(n + 1) % cycle.len()].actor;
            let wishes = match n {
                0 => asked(ask, &self.options),
                _ => self.model.wishes(&waits.actor).to_vec(),
            };
            let place = self.model.between(&wishes, next).map(|(wish, _)| wish);
            if place.as_ref() != Some(&waits.waiting_on) {
                return wrong("a wait for nothing");
            }
        }
        let seen = self.authority.deadlocks(Millis::new(self.now_ms));
        let last = seen.last().map(|seen| (seen.at_ms, &seen.deadlock));
        if last == Some((self.now_ms, deadlock)) { Ok(()) } else { wrong("a deadlock that is not told") }
    }

    fn report(&self, fault: &str) -> String {
        let mut report = String::new();
        for (at_ms, op) in &self.history {
            let _ = writeln!(report, "{at_ms} {op:?}");
        }
        report + fault
    }
}

/// Counts the kinds of what was answered at once, and of what parked requests were.
fn count((said, settled): &Answers, met: &mut Met) {
    let kinds = |answer: &Answer| match answer {
        Answer::Granted(grant) if grant.ended => ("replayed, ended", "granted later, ended"),
        Answer::Granted(grant) if grant.replayed => ("replayed", "granted later to a retry"),
        Answer::Granted(grant) if grant.refreshed => ("refreshed", "refreshed later"),
        Answer::Granted(_) => ("granted", "granted later"),
        Answer::Parked => ("parked", "parked later"),
        Answer::Refused(Refused::Held(held)) if held.stampede.waiters > 1 => {
            ("held, far behind", "time up, far behind")
        }
        Answer::Refused(Refused::Held(held)) if held.conflicts.is_empty() => ("queued", "time up, queued"),
        Answer::Refused(Refused::Held(_)) => ("held", "time up"),
        Answer::Refused(Refused::Superseded) => ("refused as superseded", "superseded"),
        Answer::Refused(Refused::LimitExceeded { .. }) => ("limit exceeded", "limit exceeded later"),
        Answer::Refused(refused) => (refused.error(), "ended otherwise"),
    };
    let said = match said {
        Said::Asked(answer) => Some(kinds(answer).0),
        Said::Released(Ok(given)) if given.kept.is_empty() => Some("released"),
        Said::Released(Ok(_)) => Some("released in part"),
        Said::Released(Err(refused)) => Some(refused.error()),
        Said::Found(true) => Some("found"),
        Said::Found(false) | Said::Ticked => None,
    };
    for kind in said.into_iter().chain(settled.iter().map(|(_, answer)| kinds(answer).1)) {
        *met.entry(kind).or_default() += 1;
    }
}

/// What a request means, each resource once.
fn asked(ask: &Ask, options: &Options) -> Vec<(String, Mode)> {
    let mut wishes: Vec<(String, Mode)> = Vec::new();
    for name in &ask.resources {
        let shared = ask.mode == Mode::Shared && options.class(name) == Class::ConcurrentRead;
        let wish = (name.clone(), if shared { Mode::Shared } else { Mode::Exclusive });
        if !wishes.contains(&wish) {
            wishes.push(wish);
        }
    }
    wishes
}

/// Without what the model does not say: the words of an unusable field, and which cycle is told.
fn plain((said, settled): Answers) -> Answers {
    let plain = |refused: Refused| match refused {
        Refused::Invalid(InvalidField { field, .. }) => {
            Refused::Invalid(InvalidField { field, expected: "", found: None })
        }
        Refused::Deadlock(deadlock) => Refused::Deadlock(Box::new(Deadlock {
            holder: deadlock.cycle.first().map_or(deadlock.holder, |first| first.actor.clone()),
            waiting_on: String::new(),
            cycle: Vec::new(),
            conflicts: deadlock.conflicts,
        })),
        other => other,
    };
    let said = match said {
        Said::Asked(Answer::Refused(refused)) => Said::Asked(Answer::Refused(plain(refused))),
        Said::Released(Err(refused)) => Said::Released(Err(plain(refused))),
        other => other,
    };
    (said, settled)
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected:?}\nfound {found:?}")) }
}
