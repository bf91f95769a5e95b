//! How requests reach the driver.

use super::{Errand, Health, Reply, Unavailable, Work, lock};
use leasebook::coordination::{Answer, Authority, Idempotency, Request};
use leasebook::{Millis, Mode, Period};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

/// A request for leases, as it travels.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// In which workspace.
    pub workspace: Arc<str>,
    /// Who asks.
    pub actor: String,
    /// What for.
    pub resources: Vec<String>,
    /// How.
    pub mode: Mode,
    /// For how long.
    pub ttl: Option<Period>,
    /// How long the caller waits for a grant.
    pub wait: Option<Period>,
    /// The key under which the answer is remembered, and the digest of the body.
    pub idempotency: Option<(String, [u8; 32])>,
}

impl Ask {
    pub(super) fn with<T>(&self, use_it: impl FnOnce(&Request<'_>) -> T) -> T {
        let resources: Vec<&str> = self.resources.iter().map(String::as_str).collect();
        let idempotency = self.idempotency.as_ref().map(|(key, body)| Idempotency { key, body: *body });
        use_it(&Request {
            actor: &self.actor,
            resources: &resources,
            mode: self.mode,
            ttl: self.ttl,
            wait: self.wait,
            idempotency,
        })
    }
}

/// Sends commands to the driver. Every clone sends to the same one.
#[derive(Clone, Debug)]
pub struct Handle {
    sender: SyncSender<Work>,
    tickets: Arc<AtomicU64>,
    health: Arc<Mutex<Health>>,
}

impl Handle {
    pub(super) fn new(sender: SyncSender<Work>, health: Arc<Mutex<Health>>) -> Self {
        Self { sender, tickets: Arc::default(), health }
    }

    /// Asks for leases, and waits as long as the request says. When the future is dropped, the request is cancelled:
    /// it is not granted any more.
    pub async fn ask(&self, ask: Ask) -> Result<Answer, Unavailable> {
        let (reply, answer) = oneshot::channel();
        let ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        let workspace = Arc::clone(&ask.workspace);
        self.send(Work::Ask { ask: Box::new(ask), ticket, reply })?;
        let mut guard = Waiting { handle: self, workspace: Some(workspace), ticket };
        let answer = received(answer).await;
        guard.workspace = None;
        answer
    }

    /// Does something with an authority, and says what came of it once that is durable.
    pub async fn with<T: Send + 'static>(
        &self,
        workspace: &Arc<str>,
        work: impl FnOnce(&mut Authority, Millis) -> T + Send + 'static,
    ) -> Result<T, Unavailable> {
        let (reply, answer): (Reply<T>, _) = oneshot::channel();
        let work: Errand = Box::new(move |reached| {
            // Who does not wait any more needs no answer.
            let found = match reached {
                Ok((authority, now)) => work(authority, now),
                Err(unavailable) => {
                    let _ = reply.send(Err(unavailable));
                    return None;
                }
            };
            Some(Box::new(move |durable| drop(reply.send(durable.map(|()| found)))))
        });
        self.send(Work::With { workspace: Arc::clone(workspace), work })?;
        received(answer).await
    }

    /// Answers every parked request, and parks none any more.
    pub fn drain(&self) {
        // Where the queue is full the connections' own time for shutdown ends them.
        let _ = self.send(Work::Drain);
    }

    /// How the driver does.
    pub fn health(&self) -> Health {
        lock(&self.health).clone()
    }

    fn send(&self, work: Work) -> Result<(), Unavailable> {
        self.sender.try_send(work).map_err(|error| match error {
            TrySendError::Full(_) => Unavailable::overloaded(),
            TrySendError::Disconnected(_) => Unavailable::ending(),
        })
    }
}

async fn received<T>(answer: oneshot::Receiver<Result<T, Unavailable>>) -> Result<T, Unavailable> {
    answer.await.unwrap_or_else(|_| Err(Unavailable::ending()))
}

/// A request that was sent and not answered yet.
struct Waiting<'a> {
    handle: &'a Handle,
    workspace: Option<Arc<str>>,
    ticket: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(workspace) = self.workspace.take() {
            // Where the queue is full, the driver finds the reply closed before it grants.
            let _ = self.handle.send(Work::Cancel { workspace, ticket: self.ticket });
        }
    }
}
