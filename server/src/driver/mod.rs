//! The driver: one thread that owns every authority, gives each command its moment, and makes durable what it changed
//! before anybody is answered.
//!
//! Commands that are waiting when a turn begins are applied in one turn and committed together, so that a loaded
//! service syncs its log once for many answers. Where a commit fails, everybody in the turn is told that nothing was
//! granted, and the authorities are made anew from the store before the next command.

mod engine;
mod handle;
#[cfg(test)]
mod tests;

pub use handle::{Ask, Handle};

use crate::clock::Clock;
use crate::feed::Feeds;
use crate::store::Store;
use engine::Engine;
use leasebook::Millis;
use leasebook::coordination::{Answer, Authority, Options};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// The most commands that wait for the driver; a request beyond them is answered 503.
pub const QUEUE_MAX: usize = 16_384;
/// The most commands of one turn, so that the first of them is not kept from its answer for long.
pub const TURN_MAX: usize = 1_024;
/// How long the driver sleeps at most: where a machine slept, its timers are late by as much.
const SLEEP_MAX: Duration = Duration::from_secs(60);

/// The authority cannot answer: nothing was granted, and nothing was released.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

impl Unavailable {
    fn overloaded() -> Self {
        Self("too many requests wait; nothing was done".into())
    }

    fn ending() -> Self {
        Self("the service is shutting down; nothing was granted".into())
    }
}

/// What one command is answered.
type Reply<T> = oneshot::Sender<Result<T, Unavailable>>;

/// What is called once it is known whether a turn is durable.
type Done = Box<dyn FnOnce(Result<(), Unavailable>) + Send>;

/// What is done with an authority, where there is one.
type Errand = Box<dyn FnOnce(Result<(&mut Authority, Millis), Unavailable>) -> Option<Done> + Send>;

/// A command, on its way to the driver.
enum Work {
    /// A request for leases, which may be parked.
    Ask { ask: Box<Ask>, ticket: u64, reply: Reply<Answer> },
    /// Whoever made a request does not wait for it any more.
    Cancel { workspace: Arc<str>, ticket: u64 },
    /// Anything else: a release, a look. What it returns is called after the commit.
    With { workspace: Arc<str>, work: Errand },
    /// No request is parked from now on, and those that are get their answer.
    Drain,
}

/// How the driver does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Why the last commit or load failed; `None` where it did not.
    pub failing: Option<String>,
    /// Turns that changed something and were committed.
    pub commits: u64,
    /// Commits that failed.
    pub failures: u64,
}

/// What the driver is made of.
pub struct Parts<S, C> {
    /// What survives.
    pub store: S,
    /// Where its time comes from.
    pub clock: C,
    /// How every authority starts.
    pub options: Options,
    /// Who observes.
    pub feeds: Arc<Feeds>,
    /// Called after a commit that has events for ledgers.
    pub on_outgoing: Box<dyn Fn() + Send>,
}

/// Starts the driver. It ends when every handle is gone.
pub fn start<S: Store + 'static, C: Clock + 'static>(parts: Parts<S, C>) -> std::io::Result<(Handle, JoinHandle<()>)> {
    let (sender, receiver) = sync_channel(QUEUE_MAX);
    let health = Arc::new(Mutex::new(Health::default()));
    let handle = Handle::new(sender, Arc::clone(&health));
    let mut engine = Engine::new(parts, health);
    let thread = std::thread::Builder::new().name("driver".into()).spawn(move || run(&mut engine, &receiver))?;
    Ok((handle, thread))
}

fn run<S: Store, C: Clock>(engine: &mut Engine<S, C>, receiver: &Receiver<Work>) {
    loop {
        let first = match engine.sleep() {
            None => match receiver.recv() {
                Ok(work) => Some(work),
                Err(_) => return,
            },
            Some(sleep) => match receiver.recv_timeout(sleep.min(SLEEP_MAX)) {
                Ok(work) => Some(work),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            },
        };
        engine.turn(first.into_iter().chain(receiver.try_iter()).take(TURN_MAX));
    }
}

/// A panic elsewhere leaves what the mutex guards as it was.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
