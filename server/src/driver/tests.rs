//! The driver without its thread: turns one after the other, a clock that a test sets, and a store that fails when told.

use super::engine::Engine;
use super::handle::Ask;
use super::{Health, Parts, Unavailable, Work};
use crate::clock::Clock;
use crate::feed::Feeds;
use crate::store::{Batch, Loaded, Record, Revision, Store, StoreError};
use leasebook::coordination::{Answer, Giving, Grant, Options, Refused};
use leasebook::{Millis, Mode};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot::Receiver;
use tokio::sync::oneshot::error::TryRecvError;

/// What a commit does instead of what it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// Nothing, and says so.
    Refused,
    /// All of it, and says that it failed: as when the machine that keeps the store answers too late.
    Unheard,
}

/// What is durable, shared by a store and the test that looks at it.
#[derive(Debug, Default)]
struct Disk {
    revision: u64,
    records: BTreeMap<(String, String), String>,
    numbers: BTreeMap<String, u64>,
    commits: u64,
    /// What the commit of a number does.
    faults: BTreeMap<u64, Fault>,
    /// It cannot be read.
    gone: bool,
}

#[derive(Clone, Default)]
struct MemoryStore(Arc<Mutex<Disk>>);

impl MemoryStore {
    fn disk(&self) -> std::sync::MutexGuard<'_, Disk> {
        self.0.lock().unwrap()
    }
}

fn failed() -> StoreError {
    let source = std::io::Error::other("told to fail");
    StoreError::File { doing: "write", path: "the store".into(), source }
}

impl Store for MemoryStore {
    fn load(&mut self) -> Result<Loaded, StoreError> {
        let disk = self.disk();
        if disk.gone {
            return Err(failed());
        }
        let record = |((workspace, key), value): (&(String, String), &String)| Record {
            workspace: workspace.clone(),
            key: key.clone(),
            value: value.clone(),
        };
        let numbers = disk.numbers.iter().map(|(workspace, number)| (workspace.clone(), *number)).collect();
        Ok(Loaded { revision: Revision(disk.revision), records: disk.records.iter().map(record).collect(), numbers })
    }

    fn commit(&mut self, at: Revision, batch: &Batch) -> Result<Revision, StoreError> {
        let mut disk = self.disk();
        disk.commits += 1;
        let fault = disk.faults.get(&disk.commits).copied();
        if fault == Some(Fault::Refused) {
            return Err(failed());
        }
        let found = Revision(disk.revision);
        if found != at {
            return Err(StoreError::Lost { expected: at, found });
        }
        for change in &batch.changes {
            let key = (change.workspace.clone(), change.key.clone());
            match &change.value {
                Some(value) => drop(disk.records.insert(key, value.clone())),
                None => drop(disk.records.remove(&key)),
            }
        }
        for event in &batch.outgoing {
            disk.numbers.insert(event.workspace.clone(), event.number);
        }
        disk.revision += 1;
        if fault == Some(Fault::Unheard) { Err(failed()) } else { Ok(Revision(disk.revision)) }
    }
}

#[derive(Clone, Default)]
struct SetClock(Arc<AtomicU64>);

impl Clock for SetClock {
    fn now(&self) -> Millis {
        Millis::new(self.0.load(Ordering::Relaxed))
    }
}

type Waiting<T> = Receiver<Result<T, Unavailable>>;

struct Desk {
    engine: Engine<MemoryStore, SetClock>,
    store: MemoryStore,
    clock: SetClock,
    health: Arc<Mutex<Health>>,
    tickets: u64,
}

const ROOM: &str = "room";

impl Desk {
    fn new() -> Self {
        Self::on(MemoryStore::default(), SetClock(Arc::new(AtomicU64::new(1_000))))
    }

    /// A driver on what another one left.
    fn on(store: MemoryStore, clock: SetClock) -> Self {
        let health = Arc::new(Mutex::new(Health::default()));
        let options = Options { events: 1_000, journal: true, ..Options::default() };
        let parts = Parts {
            store: store.clone(),
            clock: clock.clone(),
            options,
            feeds: Arc::new(Feeds::default()),
            on_outgoing: Box::new(|| {}),
        };
        Self { engine: Engine::new(parts, Arc::clone(&health)), store, clock, health, tickets: 0 }
    }

    fn pass(&self, ms: u64) {
        self.clock.0.fetch_add(ms, Ordering::Relaxed);
    }

    fn work(&mut self, actor: &str, resource: &str, wait_ms: u64, key: Option<&str>) -> (Work, Waiting<Answer>) {
        let (reply, waiting) = tokio::sync::oneshot::channel();
        self.tickets += 1;
        let ask = Ask {
            workspace: ROOM.into(),
            actor: format!("did:web:{actor}"),
            resources: vec![resource.into()],
            mode: Mode::Exclusive,
            ttl: None,
            wait: (wait_ms > 0).then(|| wait_ms.into()),
            idempotency: key.map(|key| (key.into(), [7; 32])),
        };
        (Work::Ask { ask: Box::new(ask), ticket: self.tickets, reply }, waiting)
    }

    /// Asks in a turn of its own.
    fn ask(&mut self, actor: &str, resource: &str) -> Result<Answer, Unavailable> {
        let (work, mut waiting) = self.work(actor, resource, 0, None);
        self.engine.turn([work].into_iter());
        waiting.try_recv().unwrap()
    }

    fn park(&mut self, actor: &str, resource: &str) -> Waiting<Answer> {
        let (work, mut waiting) = self.work(actor, resource, 60_000, None);
        self.engine.turn([work].into_iter());
        assert_eq!(waiting.try_recv(), Err(TryRecvError::Empty), "{actor} is not parked");
        waiting
    }

    /// Releases in a turn of its own.
    fn release(&mut self, actor: &str, resource: &str) -> Result<Result<(), Refused>, Unavailable> {
        let (reply, mut waiting) = tokio::sync::oneshot::channel();
        let (actor, resource) = (format!("did:web:{actor}"), resource.to_owned());
        let work: super::Errand = Box::new(move |reached| match reached {
            Ok((authority, now)) => {
                let giving = Giving { actor: &actor, resources: &[&resource], lease_id: None };
                let given = authority.release(now, &giving).map(|_| ());
                Some(Box::new(move |durable: Result<(), Unavailable>| drop(reply.send(durable.map(|()| given)))))
            }
            Err(unavailable) => {
                let _ = reply.send(Err(unavailable));
                None
            }
        });
        self.engine.turn([Work::With { workspace: ROOM.into(), work }].into_iter());
        waiting.try_recv().unwrap()
    }

    fn leases(&self) -> usize {
        self.store.disk().records.keys().filter(|(_, key)| key.starts_with("grant/")).count()
    }
}

fn granted(answer: Result<Answer, Unavailable>) -> Grant {
    match answer {
        Ok(Answer::Granted(grant)) => grant,
        other => panic!("expected a grant, found {other:?}"),
    }
}

#[test]
fn what_was_answered_is_in_the_store_and_survives_another_driver() {
    let mut desk = Desk::new();
    let first = granted(desk.ask("a", "file"));
    assert_eq!(desk.leases(), 1);
    let mut next = Desk::on(desk.store.clone(), desk.clock.clone());
    assert!(matches!(next.ask("b", "file"), Ok(Answer::Refused(Refused::Held(_)))));
    let again = granted(next.ask("a", "file"));
    assert_eq!((again.lease.lease_id, again.refreshed), (first.lease.lease_id, true));
}

#[test]
fn a_turn_is_committed_once_for_all_that_is_in_it() {
    let mut desk = Desk::new();
    let (first, mut a) = desk.work("a", "one", 0, None);
    let (second, mut b) = desk.work("b", "two", 0, None);
    let (third, mut c) = desk.work("c", "one", 0, None);
    desk.engine.turn([first, second, third].into_iter());
    assert_eq!(desk.store.disk().commits, 1);
    granted(a.try_recv().unwrap());
    granted(b.try_recv().unwrap());
    assert!(matches!(c.try_recv().unwrap(), Ok(Answer::Refused(_))));
}

#[test]
fn a_failed_commit_grants_nothing_and_the_next_command_finds_what_the_store_holds() {
    for fault in [Fault::Refused, Fault::Unheard] {
        let mut desk = Desk::new();
        granted(desk.ask("a", "one"));
        let mut parked = desk.park("b", "one");
        let commits = desk.store.disk().commits;
        desk.store.disk().faults.insert(commits + 1, fault);
        let refused = desk.ask("c", "two").unwrap_err();
        assert!(refused.to_string().contains("nothing was granted"), "{refused}");
        assert!(parked.try_recv().unwrap().is_err(), "who waits is told, too");
        assert!(desk.health.lock().unwrap().failing.is_some());
        // The lost answer of a commit that is there leaves a lease nobody knows of, until its ttl is over.
        let standing = if fault == Fault::Unheard { 2 } else { 1 };
        assert_eq!(desk.leases(), standing, "{fault:?}");
        let next = desk.ask("d", "two");
        assert_eq!(matches!(next, Ok(Answer::Granted(_))), fault == Fault::Refused, "{fault:?}: {next:?}");
        assert!(matches!(desk.ask("d", "one"), Ok(Answer::Refused(_))), "what was granted before still is");
        assert_eq!(desk.health.lock().unwrap().failing, None, "it recovers by itself");
    }
}

#[test]
fn at_whichever_commit_it_fails_no_resource_has_two_holders_and_no_number_is_given_twice() {
    for fault in [Fault::Refused, Fault::Unheard] {
        for at in 1..=12 {
            let mut desk = Desk::new();
            desk.store.disk().faults.insert(at, fault);
            let mut holder: Option<&str> = None;
            let mut highest = 0;
            for round in 0..8 {
                let actor = ["a", "b"][round % 2];
                if let Ok(Answer::Granted(grant)) = desk.ask(actor, "file") {
                    assert!(
                        holder.is_none_or(|holder| holder == actor),
                        "{fault:?} at {at}: {actor} beside {holder:?}"
                    );
                    assert!(grant.refreshed || grant.lease.generation > highest, "{fault:?} at {at}");
                    highest = highest.max(grant.lease.generation);
                    holder = Some(actor);
                }
                match desk.release(actor, "file") {
                    Ok(Ok(())) => holder = None,
                    Ok(Err(refused)) => assert_ne!(holder, Some(actor), "{fault:?} at {at}: {refused}"),
                    // Whether it is released is not known, as the answer says.
                    Err(_) => holder = None,
                }
            }
        }
    }
}

#[test]
fn a_store_that_cannot_be_read_answers_nobody_and_recovers() {
    let mut desk = Desk::new();
    granted(desk.ask("a", "file"));
    let mut next = Desk::on(desk.store.clone(), desk.clock.clone());
    next.store.disk().gone = true;
    assert!(next.ask("b", "file").unwrap_err().to_string().contains("cannot be read"));
    assert!(next.release("a", "file").is_err());
    next.store.disk().gone = false;
    assert!(matches!(next.ask("b", "file"), Ok(Answer::Refused(_))));
    assert_eq!(next.release("a", "file"), Ok(Ok(())));
}

#[test]
fn another_writer_of_the_store_is_noticed_before_anything_is_granted() {
    let mut desk = Desk::new();
    granted(desk.ask("a", "one"));
    let mut other = Desk::on(desk.store.clone(), desk.clock.clone());
    granted(other.ask("b", "two"));
    assert!(desk.ask("c", "two").is_err(), "its commit has lost");
    assert!(matches!(desk.ask("c", "two"), Ok(Answer::Refused(_))), "it has read what the other wrote");
}

#[test]
fn nobody_who_is_gone_is_granted_and_the_next_one_is_in_the_same_turn() {
    let mut desk = Desk::new();
    granted(desk.ask("a", "file"));
    let gone = desk.park("gone", "file");
    let mut next = desk.park("next", "file");
    drop(gone);
    assert_eq!(desk.release("a", "file"), Ok(Ok(())));
    let grant = granted(next.try_recv().unwrap());
    assert_eq!(&*grant.lease.holder, "did:web:next");
    assert_eq!(desk.leases(), 1);
    // A command of one who is gone is not carried out at all.
    let (work, waiting) = desk.work("late", "other", 0, None);
    drop(waiting);
    desk.engine.turn([work].into_iter());
    assert_eq!(desk.leases(), 1);
}

#[test]
fn a_grant_stays_where_one_of_several_who_wait_for_it_is_there() {
    let mut desk = Desk::new();
    granted(desk.ask("a", "file"));
    let gone = desk.park("b", "file");
    let mut here = desk.park("b", "file");
    drop(gone);
    assert_eq!(desk.release("a", "file"), Ok(Ok(())));
    assert_eq!(&*granted(here.try_recv().unwrap()).lease.holder, "did:web:b");
    assert!(matches!(desk.ask("c", "file"), Ok(Answer::Refused(Refused::Held(held))) if !held.conflicts.is_empty()));
}

#[test]
fn the_alarm_is_set_for_the_first_end_and_takes_the_lease() {
    let mut desk = Desk::new();
    assert_eq!(desk.engine.sleep(), None);
    granted(desk.ask("a", "file"));
    let mut waits = desk.park("b", "file");
    assert_eq!(desk.engine.sleep().unwrap().as_millis(), 30_000);
    desk.pass(30_000);
    assert_eq!(desk.engine.sleep().unwrap().as_millis(), 0);
    desk.engine.turn(std::iter::empty());
    assert_eq!(&*granted(waits.try_recv().unwrap()).lease.holder, "did:web:b");
}

#[test]
fn after_draining_nobody_is_parked() {
    let mut desk = Desk::new();
    granted(desk.ask("a", "file"));
    let mut waits = desk.park("b", "file");
    desk.engine.turn([Work::Drain].into_iter());
    assert!(waits.try_recv().unwrap().is_err());
    let (work, mut late) = desk.work("c", "file", 60_000, None);
    desk.engine.turn([work].into_iter());
    assert!(matches!(late.try_recv().unwrap(), Ok(Answer::Refused(_))));
}
