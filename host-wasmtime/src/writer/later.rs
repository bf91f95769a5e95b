//! Writer leases for asynchronous programs, on the blocking threads of tokio.

use super::{Acquisition, Cancel, Marker, Recovery, WriterError, WriterLeaseStore};
use crate::error::CallError;

/// A [`WriterLeaseStore`] for asynchronous callers: each operation runs on a thread that may block.
///
/// Dropping the future cancels the operation. The step that has begun is finished, what was published is removed, and a
/// lease that was acquired all the same is released at once.
///
/// ```
/// # use leasebook_wasmtime::writer::*;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let archive = tempfile::tempdir()?;
/// # let archive = archive.path().to_str().ok_or("a path in UTF-8")?;
/// let leases = AsyncWriterLeaseStore::from(WriterLeaseStore::builder(".leasebook-writers").build()?);
/// if let Acquisition::Acquired(lease) = leases.acquire(archive).await? {
///     leases.call(move |_, _| lease.release()).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct AsyncWriterLeaseStore {
    store: WriterLeaseStore,
}

/// Cancels when it is dropped.
struct Abandoned(Cancel);

impl Drop for Abandoned {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl AsyncWriterLeaseStore {
    /// Tries once to become the writer of an existing directory.
    pub async fn acquire(&self, destination: impl Into<String>) -> Result<Acquisition, WriterError> {
        let destination = destination.into();
        self.call(move |store, cancel| store.acquire(&destination, Some(cancel))).await
    }

    /// Looks who is there. It writes nothing.
    pub async fn inspect(&self, destination: impl Into<String>) -> Result<Vec<Marker>, WriterError> {
        let destination = destination.into();
        self.call(move |store, cancel| store.inspect(&destination, Some(cancel))).await
    }

    /// Finds the markers whose processes are gone, and removes them where `apply` says so.
    pub async fn recover(&self, destination: impl Into<String>, apply: bool) -> Result<Recovery, WriterError> {
        let destination = destination.into();
        self.call(move |store, cancel| store.recover(&destination, apply, Some(cancel))).await
    }

    /// Runs operations on a blocking thread of the running tokio runtime. The [`Cancel`] is used when the future is
    /// dropped before they are done; what they answer is dropped then, too.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, and where the closure panics.
    pub async fn call<T: Send + 'static>(
        &self,
        operations: impl FnOnce(&WriterLeaseStore, &Cancel) -> Result<T, WriterError> + Send + 'static,
    ) -> Result<T, WriterError> {
        let (store, cancel) = (self.store.clone(), Cancel::new());
        let _abandoned = Abandoned(cancel.clone());
        match tokio::task::spawn_blocking(move || operations(&store, &cancel)).await {
            Ok(answer) => answer,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(CallError::Stopped.into()),
            },
        }
    }

    /// The store, for callers that may block.
    pub fn blocking(&self) -> &WriterLeaseStore {
        &self.store
    }
}

impl From<WriterLeaseStore> for AsyncWriterLeaseStore {
    fn from(store: WriterLeaseStore) -> Self {
        Self { store }
    }
}
