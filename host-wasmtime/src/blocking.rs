//! Calls from asynchronous programs, on the blocking threads of tokio.

use crate::error::CallError;
use crate::table::SharedLeaseTable;

/// A [`SharedLeaseTable`] for asynchronous callers: each call runs on a thread that may block, so that no task waits
/// for the table's lock on a thread of the runtime. Clones share the table.
///
/// ```
/// # use leasebook_wasmtime::*;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let table = AsyncLeaseTable::from(LeaseTable::new(Options::default())?.share());
/// let path = String::from("/srv/src");
/// let leases = table.call(move |table| table.acquire("writer-1", &[Wish::exclusive(&path)], None)).await?;
/// assert_eq!(leases.unwrap()[0].generation, 1);
/// # Ok(())
/// # }
/// ```
///
/// For another runtime, or where a microsecond is nothing: a [`SharedLeaseTable`] is `Send + Sync`, and its calls may
/// be made from anywhere.
#[derive(Clone)]
pub struct AsyncLeaseTable {
    table: SharedLeaseTable,
}

impl AsyncLeaseTable {
    /// Runs one or more operations on a blocking thread of the running tokio runtime.
    ///
    /// Once started they run to their end, whether or not the future is still awaited: what an abandoned call was
    /// granted stands until it is released or its ttl is over. Fails as the operations do, or with
    /// [`CallError::Stopped`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, and where the closure panics.
    pub async fn call<T: Send + 'static>(
        &self,
        operations: impl FnOnce(&SharedLeaseTable) -> Result<T, CallError> + Send + 'static,
    ) -> Result<T, CallError> {
        let table = self.table.clone();
        match tokio::task::spawn_blocking(move || operations(&table)).await {
            Ok(answer) => answer,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(CallError::Stopped),
            },
        }
    }

    /// The table, for callers that may block.
    pub fn shared(&self) -> &SharedLeaseTable {
        &self.table
    }
}

impl From<SharedLeaseTable> for AsyncLeaseTable {
    fn from(table: SharedLeaseTable) -> Self {
        Self { table }
    }
}
