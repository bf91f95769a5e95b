//! A lease that is held, and how it ends.

use super::drive::drive;
use crate::marker_files::MarkerFiles;
use crate::shown::Shown;
use leasebook::marker::{Failure, Left, Owned, OwnerRecord, Release, Released};
use std::fmt;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A lease, held until it is released or dropped.
///
/// It can be shared between threads. In a process that was forked from the acquiring one it is not held: there, a
/// release is refused and the marker stays.
pub struct WriterLease {
    owned: Owned,
    path: String,
    context: Arc<Context>,
    ending: Mutex<Ending>,
}

/// What it takes to end a lease.
struct Ending {
    machine: Release,
    /// With the handles that find the marker wherever its directory has moved.
    files: Box<dyn MarkerFiles + Send>,
    ended: bool,
}

/// What is told of a lease that did not end as it should.
type Hook = dyn Fn(&DropFailure) + Send + Sync;

/// What a store and its leases share.
#[derive(Default)]
pub(super) struct Context {
    pub hook: Option<Box<Hook>>,
    /// Own markers that could not be removed: the next acquire, or recover with apply, of their destination tries them
    /// first.
    left: Mutex<Vec<Left>>,
}

/// A lease was dropped, and did not end as it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropFailure {
    /// The path of its marker.
    pub path: String,
    /// Why the marker could not be removed; `None` where it was gone already: since some moment after the acquisition,
    /// others could write.
    pub failure: Option<Failure>,
}

impl fmt::Display for DropFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = Shown(&self.path);
        match &self.failure {
            Some(failure) => write!(f, "the writer lease {path} was dropped and not released: {failure}"),
            None => write!(f, "the writer lease {path} was lost before it was dropped: its marker was gone"),
        }
    }
}

impl std::error::Error for DropFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.failure.as_ref().map(|failure| failure as _)
    }
}

impl WriterLease {
    pub(super) fn new(owned: Owned, files: Box<dyn MarkerFiles + Send>, context: Arc<Context>) -> Self {
        let ending = Mutex::new(Ending { machine: Release::new(owned.clone()), files, ended: false });
        Self { path: owned.path(), owned, context, ending }
    }

    /// Releases the lease. Of calls at the same time one does it, and all answer the same; later ones answer that
    /// again. After a failure a later call tries again.
    ///
    /// A marker that says something else than it did is kept, and an error. One that is gone is [`Released::Lost`].
    pub fn release(&self) -> Result<Released, Failure> {
        let Ending { machine, files, ended } = &mut *locked(&self.ending);
        let released = drive(&mut **files, None, |outcome| machine.next(outcome))?;
        *ended = true;
        Ok(released)
    }

    /// What the marker says: host, process id and nonce.
    pub fn record(&self) -> &OwnerRecord {
        self.owned.record()
    }

    /// The path of the marker, as it is shown.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Debug for WriterLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterLease").field("path", &self.path()).finish_non_exhaustive()
    }
}

impl Drop for WriterLease {
    fn drop(&mut self) {
        if locked(&self.ending).ended {
            return;
        }
        let failure = match self.release() {
            Ok(Released::Released) => return,
            Ok(Released::Lost) => None,
            Err(failure) => Some(failure),
        };
        let left = locked(&self.ending).machine.left();
        self.context.leave(left);
        let failure = DropFailure { path: self.path().to_owned(), failure };
        match &self.context.hook {
            Some(hook) => hook(&failure),
            // A standard error that takes nothing is no reason to panic in a drop.
            None => _ = writeln!(io::stderr(), "{failure}"),
        }
    }
}

impl Context {
    /// The markers to try first. They are the operation's until it gives them back.
    pub fn take_left(&self) -> Vec<Left> {
        mem::take(&mut *locked(&self.left))
    }

    /// Keeps markers for later operations.
    pub fn leave(&self, left: impl IntoIterator<Item = Left>) {
        Left::keep(&mut locked(&self.left), left);
    }
}

/// What a thread that panicked has left is whole: a machine between two of its steps.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
