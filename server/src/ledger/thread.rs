//! The thread that writes ledgers: asleep until it is told that events wait, or until a failure is to be tried again.

use super::files::Files;
use super::outbox::{Outbox, StoredOutbox};
use super::writer::Writer;
use crate::clock::Clock;
use crate::store::StoreError;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How soon a failure is tried again at first, and how soon at most by events that come: a disk that is full is not
/// asked for each of them.
const RETRY_MIN: Duration = Duration::from_millis(100);
/// How soon a failure is tried again at last; the time doubles until then.
const RETRY_MAX: Duration = Duration::from_secs(10);

/// Whether ledgers are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The first moment of an outage that is not over, in milliseconds of the Unix epoch.
    pub since_ms: Option<u64>,
    /// Why nothing could be written the last time.
    pub error: Option<String>,
    /// How many events wait, as far as that is known; 0 while there is no outage.
    pub pending: u64,
    /// How many outages there were since the start, the present one included.
    pub outages: u64,
}

impl Health {
    /// Nothing is in the way.
    pub fn is_ok(&self) -> bool {
        self.error.is_none()
    }
}

/// What the thread is told.
enum Told {
    /// Events wait.
    Waiting,
    /// Write what waits, without regard to when the last failure was, and say when that is done.
    Write(SyncSender<Health>),
    /// The same, and end.
    End(SyncSender<Health>),
}

/// The writer of all ledgers of a store, on a thread of its own. Dropping it ends the thread after what it is doing.
#[derive(Debug)]
pub struct Ledger {
    notifier: Notifier,
    health: Arc<Mutex<Health>>,
    thread: Option<JoinHandle<()>>,
}

/// Tells the writer that events wait.
#[derive(Clone, Debug)]
pub struct Notifier {
    sender: Sender<Told>,
    /// It has been told, and has not looked yet: once is enough, so that what it is told never piles up.
    told: Arc<AtomicBool>,
}

impl Notifier {
    /// Says that events wait. It never blocks.
    pub fn notify(&self) {
        if !self.told.swap(true, Ordering::AcqRel) {
            drop(self.sender.send(Told::Waiting)); // one that has ended needs no word
        }
    }
}

impl Ledger {
    /// Starts the writer for the store in a file. What waits there from a former run is written at once.
    pub fn start<F: Files + 'static>(store: &Path, files: F, clock: impl Clock + 'static) -> Result<Self, StoreError> {
        let outbox = StoredOutbox::open(store)?;
        let started = Self::start_with(Writer::new(outbox, files), clock);
        started.map_err(|source| StoreError::File { doing: "start a thread for", path: "ledgers".into(), source })
    }

    pub(super) fn start_with<O: Outbox + Send + 'static, F: Files + 'static>(
        writer: Writer<O, F>,
        clock: impl Clock + 'static,
    ) -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        let notifier = Notifier { sender, told: Arc::default() };
        let health = Arc::new(Mutex::new(Health::default()));
        let work = Work { writer, clock, health: Arc::clone(&health), told: Arc::clone(&notifier.told), retry: None };
        let thread = std::thread::Builder::new().name("ledger".into()).spawn(move || work.run(&receiver))?;
        notifier.notify();
        Ok(Self { notifier, health, thread: Some(thread) })
    }

    /// For those who commit events.
    pub fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }

    /// Says that events wait.
    pub fn notify(&self) {
        self.notifier.notify();
    }

    /// Whether ledgers are written. It never waits for a disk.
    pub fn health(&self) -> Health {
        lock(&self.health).clone()
    }

    /// Writes all that waits now, as far as it can be, and says how that went. `None`: the time was over first.
    pub fn flush(&self, time: Duration) -> Option<Health> {
        let (sender, receiver) = sync_channel(1);
        self.notifier.sender.send(Told::Write(sender)).ok()?;
        receiver.recv_timeout(time).ok()
    }

    /// Writes all that waits, as far as it can be, and ends. `None`: the time was over first; the thread ends as soon
    /// as its disk answers, and what waits is written by the next run.
    pub fn stop(mut self, time: Duration) -> Option<Health> {
        let thread = self.thread.take();
        let (sender, receiver) = sync_channel(1);
        self.notifier.sender.send(Told::End(sender)).ok()?;
        let health = receiver.recv_timeout(time).ok()?;
        if let Some(thread) = thread {
            drop(thread.join()); // it has said its last word
        }
        Some(health)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let (sender, _receiver) = sync_channel(1);
            if self.notifier.sender.send(Told::End(sender)).is_ok() {
                drop(thread.join()); // a panic there is in the log already
            }
        }
    }
}

fn lock(health: &Mutex<Health>) -> MutexGuard<'_, Health> {
    health.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When a failure is tried again.
#[derive(Clone, Copy, Debug)]
struct Retry {
    failed_at: Instant,
    delay: Duration,
}

struct Work<O, F: Files, C> {
    writer: Writer<O, F>,
    clock: C,
    health: Arc<Mutex<Health>>,
    told: Arc<AtomicBool>,
    retry: Option<Retry>,
}

impl<O: Outbox, F: Files, C: Clock> Work<O, F, C> {
    fn run(mut self, receiver: &Receiver<Told>) {
        // A failure is tried again at this moment; without one, the thread sleeps until it is told something.
        let mut due: Option<Instant> = None;
        loop {
            let told = match due {
                None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => receiver.recv_timeout(due.saturating_duration_since(Instant::now())),
            };
            match told {
                Ok(Told::Waiting) => {
                    // Before the look, so that what comes during it is told again.
                    self.told.store(false, Ordering::Release);
                    // While nothing can be written, an event makes the next attempt come sooner, and no more.
                    if let Some(retry) = self.retry {
                        let soon = retry.failed_at + RETRY_MIN;
                        due = Some(due.map_or(soon, |due| due.min(soon)));
                        continue;
                    }
                    due = self.attempt();
                }
                Ok(Told::Write(sender)) => {
                    due = self.attempt();
                    drop(sender.try_send(lock(&self.health).clone()));
                }
                Ok(Told::End(sender)) => {
                    self.attempt();
                    drop(sender.try_send(lock(&self.health).clone()));
                    return;
                }
                Err(RecvTimeoutError::Timeout) => due = self.attempt(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Writes what waits, and says when to try again.
    fn attempt(&mut self) -> Option<Instant> {
        let drained = self.writer.drain(|| self.clock.now().get());
        let Err(trouble) = drained else {
            self.retry = None;
            let mut health = lock(&self.health);
            *health = Health { outages: health.outages, ..Health::default() };
            return None;
        };
        let delay = self.retry.map_or(RETRY_MIN, |retry| (retry.delay * 2).min(RETRY_MAX));
        let retry = Retry { failed_at: Instant::now(), delay };
        self.retry = Some(retry);
        let pending = self.writer.pending();
        let mut health = lock(&self.health);
        if health.since_ms.is_none() {
            health.since_ms = Some(self.clock.now().get());
            health.outages += 1;
        }
        health.error = Some(trouble.to_string());
        if let Ok(pending) = pending {
            health.pending = pending;
        }
        Some(retry.failed_at + delay)
    }
}
