//! `WriterLeaseStore`: leases on any destination, all with one layout, and the leases themselves.

use super::files::{Files, MakeFiles};
use super::{Cancel, Failed, InvalidLayout, Legacy, Marker, NamedRemoval, Owner, Recovery, Released};
use crate::bindings::writer::Writer;
use crate::bindings::writer::exports::leasebook::lease::writer_lease as wit;
use crate::book::TICKS_UNBOUNDED;
use crate::component::{State, TableComponent};
use crate::error::{CallError, LoadError};
use leasebook_files::{DirectoryName, InvalidName, MarkerFiles, Shown, SystemFiles};
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wasmtime::component::ResourceAny;
use wasmtime::{Store, StoreLimitsBuilder};

/// How large the memory of an instance may grow, unless told otherwise, in bytes: a listing of a million names, several
/// times over.
const INSTANCE_BYTES_MAX: usize = 1 << 30;

/// Writer leases on any destination: who writes there, by markers in one directory that all writers of it share.
///
/// Writers exclude each other where they name the same physical root and the same marker directory. Clones are the same
/// store.
#[derive(Clone)]
pub struct WriterLeaseStore {
    shared: Arc<Shared>,
}

struct Shared {
    book: Mutex<Book>,
    hook: Option<Box<Hook>>,
}

/// One instance with one store in it, until it traps.
struct Book {
    store: Store<State>,
    exports: Writer,
    leases: ResourceAny,
    trapped: Option<Arc<str>>,
}

/// What is told of a lease that did not end as it should.
type Hook = dyn Fn(&DropFailure) + Send + Sync;

/// How a store is made.
#[must_use]
pub struct Builder {
    directory: String,
    legacy: Vec<String>,
    identity: Option<String>,
    component: Option<TableComponent>,
    files: Option<Box<MakeFiles>>,
    hook: Option<Box<Hook>>,
    instance_bytes_max: usize,
}

/// What came of an attempt to acquire, where nothing failed.
#[derive(Debug)]
pub enum Acquisition {
    /// The lease is held until it is released or dropped.
    Acquired(WriterLease),
    /// Others are in the way. Nothing of this attempt is left. Who tries again does so after a random time: of writers
    /// that try at the same moment, all may find each other in the way.
    Busy {
        /// The markers in the way, by the bytes of their file names.
        owners: Vec<Marker>,
    },
    /// A legacy marker is there; it is kept. Nothing of this attempt is left.
    Legacy(Legacy),
}

/// A lease, held until it is released or dropped.
///
/// It can be shared between threads. In a process that was forked from the acquiring one it is not held: there, a
/// release is refused and the marker stays.
pub struct WriterLease {
    shared: Arc<Shared>,
    lease: ResourceAny,
    path: String,
    owner: Owner,
    ended: Mutex<bool>,
}

/// Why an operation on marker files has no answer.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum WriterError {
    /// It failed. Nothing is granted, and nothing is left but what it names.
    #[error("{}", .0.sentence)]
    Failed(Box<Failed>),
    /// The component trapped, now or earlier. What the call that trapped had published is removed again; leases acquired
    /// before can no longer be released by this store.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Why there is no store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The names of the layout lead elsewhere, or are too many.
    #[error("{}", .0.sentence)]
    Layout(InvalidLayout),
    /// There is no component.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// A lease was dropped, and did not end as it should.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DropFailure {
    /// Its marker is still there; the store tries to remove it at its next acquire, or recover with apply, of that
    /// destination.
    #[error("the writer lease {} was dropped and not released: {error}", Shown(path))]
    NotReleased {
        /// The path of its marker.
        path: String,
        /// Why.
        error: WriterError,
    },
    /// Its marker was gone already: since some moment after the acquisition, others could write.
    #[error("the writer lease {} was lost before it was dropped: its marker was gone", Shown(path))]
    Lost {
        /// The path of its marker.
        path: String,
    },
}

impl WriterLeaseStore {
    /// A store with a marker directory, one plain name below each destination. No I/O is done by it, by
    /// [`Builder::build`], or before an operation.
    pub fn builder(marker_directory: impl Into<String>) -> Builder {
        Builder {
            directory: marker_directory.into(),
            legacy: Vec::new(),
            identity: None,
            component: None,
            files: None,
            hook: None,
            instance_bytes_max: INSTANCE_BYTES_MAX,
        }
    }

    /// Tries once to become the writer of an existing directory. It neither waits nor tries again.
    ///
    /// Markers whose processes are gone are removed first. Cancelled at any moment, it leaves nothing, or names what it
    /// left; the next acquire of this destination, or recover with apply, removes that first.
    pub fn acquire(&self, destination: &str, cancel: Option<&Cancel>) -> Result<Acquisition, WriterError> {
        let mut book = self.shared.lock();
        let acquired = book.call(cancel, |exports, store, leases| {
            exports.leasebook_lease_writer_lease().store().call_acquire(store, leases, destination)
        })?;
        Ok(match acquired {
            wit::Acquisition::Acquired(wit::Granted { lease, path, owner }) => {
                let shared = Arc::clone(&self.shared);
                Acquisition::Acquired(WriterLease { shared, lease, path, owner, ended: Mutex::new(false) })
            }
            wit::Acquisition::Busy(owners) => Acquisition::Busy { owners },
            wit::Acquisition::Legacy(legacy) => Acquisition::Legacy(legacy),
        })
    }

    /// Looks who is there: the markers by the bytes of their file names. It writes nothing.
    pub fn inspect(&self, destination: &str, cancel: Option<&Cancel>) -> Result<Vec<Marker>, WriterError> {
        self.shared.lock().call(cancel, |exports, store, leases| {
            exports.leasebook_lease_writer_lease().store().call_inspect(store, leases, destination)
        })
    }

    /// Finds the markers whose processes are gone, and removes them where `apply` says so. Without it, it writes
    /// nothing. Each is read and its process asked after once more immediately before it is removed.
    pub fn recover(&self, destination: &str, apply: bool, cancel: Option<&Cancel>) -> Result<Recovery, WriterError> {
        self.shared.lock().call(cancel, |exports, store, leases| {
            exports.leasebook_lease_writer_lease().store().call_recover(store, leases, destination, apply)
        })
    }

    /// Removes one marker, of whatever state: for an operator, who knows that its writer is gone where no rule can.
    ///
    /// What the marker says must be repeated, its host and its process id; `None` for one that is not recognized. One
    /// that says something else is kept.
    pub fn remove_named(
        &self,
        destination: &str,
        nonce: &str,
        owner: Option<(&str, u32)>,
    ) -> Result<NamedRemoval, WriterError> {
        self.shared.lock().call(None, |exports, store, leases| {
            let interface = exports.leasebook_lease_writer_lease().store();
            interface.call_remove_named(store, leases, destination, nonce, owner)
        })
    }

    /// The paths of own markers that could not be removed: the newest, at most 64. The next acquire of their destination,
    /// or recover with apply, tries them first.
    pub fn left(&self) -> Result<Vec<String>, WriterError> {
        self.shared.lock().call(None, |exports, store, leases| {
            exports.leasebook_lease_writer_lease().store().call_left(store, leases).map(Ok)
        })
    }
}

impl Shared {
    /// What a thread that panicked has left is whole: an instance between two of its calls.
    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn call<T>(
        &mut self,
        cancel: Option<&Cancel>,
        operation: impl FnOnce(&Writer, &mut Store<State>, ResourceAny) -> wasmtime::Result<Result<T, Failed>>,
    ) -> Result<T, WriterError> {
        if let Some(cause) = &self.trapped {
            return Err(CallError::Poisoned { cause: cause.clone() }.into());
        }
        if let Some(files) = &mut self.store.data_mut().files {
            files.begin(cancel);
        }
        match operation(&self.exports, &mut self.store, self.leases) {
            Ok(answer) => answer.map_err(|failed| WriterError::Failed(Box::new(failed))),
            Err(error) => {
                let mut cause = error.root_cause().to_string();
                let left = self.store.data_mut().files.as_mut().map(Files::clean_up).unwrap_or_default();
                if !left.is_empty() {
                    cause = format!(
                        "{cause}; could not be removed and is in the way of others: {}",
                        left.iter().map(|path| Shown(path).to_string()).collect::<Vec<_>>().join(", ")
                    );
                }
                let cause: Arc<str> = cause.into();
                self.trapped = Some(cause.clone());
                Err(CallError::Poisoned { cause }.into())
            }
        }
    }
}

impl WriterLease {
    /// Releases the lease; it cannot be cancelled. Of calls at the same time one does it, and all answer the same; later
    /// ones answer that again. After a failure a later call tries again.
    ///
    /// A marker that says something else than it did is kept, and an error. One that is gone is [`Released::Lost`].
    pub fn release(&self) -> Result<Released, WriterError> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let released = self.shared.lock().call(None, |exports, store, _| {
            exports.leasebook_lease_writer_lease().lease().call_release(store, self.lease)
        })?;
        *ended = true;
        Ok(released)
    }

    /// What the marker says: host, process id and nonce.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The path of the marker, as it is shown.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Debug for WriterLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterLease").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Drop for WriterLease {
    fn drop(&mut self) {
        let ended = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let path = || self.path.clone();
        let failure = match if ended { Ok(Released::Released) } else { self.release() } {
            Ok(Released::Released) => None,
            Ok(Released::Lost) => Some(DropFailure::Lost { path: path() }),
            Err(error) => Some(DropFailure::NotReleased { path: path(), error }),
        };
        // The component's handle goes, too; of a marker that is still there, its store knows from now on.
        let mut book = self.shared.lock();
        let Book { store, trapped, .. } = &mut *book;
        if trapped.is_none()
            && let Err(error) = self.lease.resource_drop(store)
        {
            *trapped = Some(error.root_cause().to_string().into());
        }
        drop(book);
        if let Some(failure) = failure {
            match &self.shared.hook {
                Some(hook) => hook(&failure),
                // Where standard error is closed there is nobody to tell, and a drop must not panic.
                None => drop(writeln!(io::stderr(), "{failure}")),
            }
        }
    }
}

impl Builder {
    /// Names of legacy markers, relative to the destination: where there is one, nothing is acquired. At most 64.
    pub fn legacy(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.legacy = names.into_iter().map(Into::into).collect();
        self
    }

    /// What this process is called as a host, instead of what the system says: the same for all processes among which
    /// process ids mean the same, and no others.
    pub fn identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// The component to instantiate; one for many stores saves compiling it for each.
    pub fn component(mut self, component: &TableComponent) -> Self {
        self.component = Some(component.clone());
        self
    }

    /// File functions of one's own, for another file system; they get the destination and the marker directory.
    pub fn files(
        mut self,
        make: impl Fn(&Path, &str) -> Result<Box<dyn MarkerFiles + Send>, InvalidName> + Send + 'static,
    ) -> Self {
        self.files = Some(Box::new(make));
        self
    }

    /// Who is told of a lease that was dropped and did not end as it should. Unless set, standard error.
    pub fn on_drop_failure(mut self, hook: impl Fn(&DropFailure) + Send + Sync + 'static) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// How large the memory of the instance may grow, in bytes; 1 GiB unless set, which a million markers take. An
    /// operation that needs more traps, and the store is poisoned.
    pub fn instance_bytes_max(mut self, bytes: usize) -> Self {
        self.instance_bytes_max = bytes;
        self
    }

    /// The store.
    pub fn build(self) -> Result<WriterLeaseStore, BuildError> {
        let component = self.component.map_or_else(TableComponent::embedded, Ok)?;
        let identity = self.identity;
        let make = self.files.unwrap_or_else(|| {
            Box::new(move |destination: &Path, directory: &str| {
                let directory = DirectoryName::new(directory)?;
                Ok(Box::new(SystemFiles::new(destination, directory).with_identity(identity.clone())))
            })
        });
        let bytes_max = self.instance_bytes_max;
        let limits = StoreLimitsBuilder::new().memory_size(bytes_max).trap_on_grow_failure(true).build();
        let state = State { now_ms: 0, limits, files: Some(Files::new(make)) };
        let mut store = Store::new(component.engine(), state);
        store.limiter(|state| &mut state.limits);
        store.set_epoch_deadline(TICKS_UNBOUNDED);
        store.set_hostcall_fuel(bytes_max);
        let instance = component.pre().instantiate(&mut store).map_err(LoadError::component)?;
        let exports = Writer::new(&mut store, &instance).map_err(LoadError::component)?;
        let layout = wit::Layout { marker_directory: self.directory, legacy_markers: self.legacy };
        let opened = exports.leasebook_lease_writer_lease().store().call_open(&mut store, &layout);
        let leases = opened.map_err(LoadError::component)?.map_err(BuildError::Layout)?;
        let book = Mutex::new(Book { store, exports, leases, trapped: None });
        Ok(WriterLeaseStore { shared: Arc::new(Shared { book, hook: self.hook }) })
    }
}
