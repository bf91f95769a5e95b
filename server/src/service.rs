//! A whole service: started from its configuration, ended in order.

use crate::clock::{Clock, SystemClock};
use crate::config::{Config, InvalidConfig};
use crate::driver::{self, Parts};
use crate::feed::Feeds;
use crate::http::{self, Service, WATCHERS_MAX};
use crate::journal;
use crate::keys::KeyRing;
use crate::store::{Sqlite, Store as _, StoreError};
use leasebook::coordination::Record;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// A service cannot start, or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] InvalidConfig),
    /// The store cannot be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
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
        let listen = |source| ServiceError::Listen { address: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let parts = Parts {
            store,
            clock: Arc::clone(&clock),
            options,
            feeds: Arc::clone(&feeds),
            on_outgoing: Box::new(|| {}),
        };
        let (handle, driver) =
            driver::start(parts).map_err(|source| ServiceError::System { doing: "start a thread", source })?;
        let (ending, watching) = watch::channel(false);
        let service = Service {
            handle: handle.clone(),
            keys: Arc::clone(&keys),
            clock: Arc::clone(&clock),
            feeds,
            metrics: Arc::default(),
            polls: Arc::new(Semaphore::new(config.polls_max.min(Semaphore::MAX_PERMITS))),
            polls_max: config.polls_max,
            watchers: Arc::new(Semaphore::new(WATCHERS_MAX)),
            test_keys: config.test_keys,
            rate: Arc::default(),
            ending: watching.clone(),
        };
        let router = http::router(service);
        let connections_max = config.connections_max;
        let mut until = watching;
        let serving = tokio::spawn(async move {
            let ending = async move {
                // An error says that whoever could end it is gone.
                let _ = until.wait_for(|ending| *ending).await;
                handle.drain();
            };
            http::serve(listener, router, connections_max, ending).await
        });
        Ok(Self { address, keys, clock, ending, serving, driver: Some(driver) })
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
        Ok(())
    }
}
