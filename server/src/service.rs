//! A whole service: started from its configuration, ended in order.

use crate::clock::{Clock, SystemClock};
use crate::config::{Config, InvalidConfig};
use crate::driver::{self, Parts};
use crate::feed::Feeds;
use crate::http::{self, Service, Sites, WATCHERS_MAX};
use crate::journal;
use crate::keys::KeyRing;
use crate::ledger::{Folder, Ledger};
use crate::receipts::{SigningError, SigningKeys};
use crate::store::{Sqlite, Store as _, StoreError};
use leasebook::coordination::Record;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

/// How long the ledger may take at the end for what it has still to write.
const LEDGER: Duration = Duration::from_secs(5);

/// A service cannot start, or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    /// The store cannot be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The keys that sign receipts cannot be made or read.
    #[error(transparent)]
    Signing(#[from] SigningError),
    /// The folder of the ledgers cannot be made.
    #[error("make the folder of the ledgers {path}: {source}")]
    LedgerFolder {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The address cannot be listened on.
    #[error("listen on {address}: {source}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The system refused something else.
    #[error("{doing}: {source}")]
    System {
        /// What was being done.
        doing: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

/// A service that listens.
pub struct Running {
    address: SocketAddr,
    keys: Arc<KeyRing>,
    clock: Arc<dyn Clock>,
    ending: watch::Sender<bool>,
    serving: tokio::task::JoinHandle<io::Result<()>>,
    driver: Option<JoinHandle<()>>,
    ledger: Arc<Ledger>,
}

impl Running {
    /// Starts a service. It answers as soon as this returns.
    pub async fn start(config: &Config) -> Result<Self, ServiceError> {
        let options = config.options()?;
        let mut store = Sqlite::open(&config.data)?;
        let loaded = store.load()?;
        let mut latest_ms = 0;
        for record in &loaded.records {
            if let Record::Counters(counters) = journal::record(record)? {
                latest_ms = latest_ms.max(counters.now_ms);
            }
        }
        drop(loaded);
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::start(latest_ms));
        let keys = Arc::new(KeyRing::open(&config.data)?);
        let feeds = Arc::new(Feeds::default());
        let signing = match config.receipts {
            true => Some(Arc::new(SigningKeys::open(&config.data, clock.now().get())?)),
            false => None,
        };
        let folder = Folder::create(&config.ledger)
            .map_err(|source| ServiceError::LedgerFolder { path: config.ledger.clone(), source })?;
        let ledger = Arc::new(Ledger::start(&config.data, folder, Arc::clone(&clock))?);
        let notifier = ledger.notifier();
        let listen = |source| ServiceError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let parts = Parts {
            store,
            clock: Arc::clone(&clock),
            options,
            feeds: Arc::clone(&feeds),
            on_outgoing: Box::new(move || notifier.notify()),
        };
        let (handle, driver) =
            driver::start(parts).map_err(|source| ServiceError::System { doing: "start a thread", source })?;
        let (ending, watching) = watch::channel(false);
        let service = Service {
            handle: handle.clone(),
            keys: Arc::clone(&keys),
            clock: Arc::clone(&clock),
            feeds,
            signing,
            ledger: Arc::clone(&ledger),
            sites: Arc::new(Sites::new(&config.allowed_hosts, address)),
            metrics: Arc::default(),
            polls: Arc::new(Semaphore::new(config.polls_max.min(Semaphore::MAX_PERMITS))),
            polls_max: config.polls_max,
            watchers: Arc::new(Semaphore::new(WATCHERS_MAX)),
            test_keys: config.test_keys,
            rate: Arc::default(),
            ending: watching.clone(),
        };
        let sessions = CancellationToken::new();
        let router = http::router(service, sessions.clone());
        let connections_max = config.connections_max;
        let mut until = watching;
        let serving = tokio::spawn(async move {
            let ending = async move {
                // An error says that whoever could end it is gone.
                let _ = until.wait_for(|ending| *ending).await;
                handle.drain();
                sessions.cancel();
            };
            http::serve(listener, router, connections_max, ending).await
        });
        Ok(Self { address, keys, clock, ending, serving, driver: Some(driver), ledger })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its keys.
    pub fn keys(&self) -> &KeyRing {
        &self.keys
    }

    /// What time it is for the service, in milliseconds of the Unix epoch.
    pub fn now_ms(&self) -> u64 {
        self.clock.now().get()
    }

    /// Ends it: no new connection is accepted, who waits for a grant is answered, and what is being answered gets 10
    /// seconds.
    pub async fn end(mut self) -> Result<(), ServiceError> {
        self.ending.send_replace(true);
        let system = |source| ServiceError::System { doing: "serve connections", source };
        self.serving.await.map_err(|error| system(io::Error::other(error)))?.map_err(system)?;
        if let Some(driver) = self.driver.take() {
            // It ends with the last handle, and those went with the connections.
            let joined = tokio::task::spawn_blocking(move || driver.join()).await;
            if !matches!(joined, Ok(Ok(()))) {
                return Err(ServiceError::System { doing: "end the driver", source: io::Error::other("it panicked") });
            }
        }
        // What it does not get to write waits in the store for the next start.
        let ledger = self.ledger;
        let flushed = tokio::task::spawn_blocking(move || ledger.flush(LEDGER)).await;
        if !matches!(flushed, Ok(Some(health)) if health.is_ok()) {
            tracing::warn!("the ledger is not whole; what is missing is written after the next start");
        }
        Ok(())
    }
}
