//! `WriterLeaseStore`: leases on any destination, all with one layout.

use super::drive::drive;
use super::lease::{Context, DropFailure, WriterLease};
use crate::cancel::Cancel;
use crate::marker_files::MarkerFiles;
use crate::name::DirectoryName;
use crate::system::SystemFiles;
use leasebook::marker::{
    self, Acquire, Failure, Inspect, Inspection, InvalidLayout, Layout, MarkerRecord, NamedRemoval, Recover, Recovery,
    RemoveNamed,
};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// What came of an attempt to acquire, where nothing failed.
#[derive(Debug)]
pub enum Acquisition {
    /// The lease is held until it is released or dropped.
    Acquired(WriterLease),
    /// Others are in the way. Nothing of this attempt is left. Who tries again does so after a random time: of writers
    /// that try at the same moment, all may find each other in the way.
    Busy {
        /// The markers in the way, by the bytes of their file names.
        owners: Vec<MarkerRecord>,
    },
    /// A legacy marker is there; it is kept. Nothing of this attempt is left.
    Legacy {
        /// Its name, as the store was given it.
        legacy: String,
        /// Its path.
        path: String,
    },
}

/// Makes the file functions for one operation on a destination.
type MakeFiles = dyn Fn(&Path, DirectoryName) -> Box<dyn MarkerFiles + Send> + Send + Sync;

/// Writer leases on any destination: who writes there, by markers in one directory that all writers of it share.
///
/// Writers exclude each other where they name the same physical root and the same marker directory. Copies of a store
/// are the same store. See the page of this crate for a whole program.
#[derive(Clone)]
pub struct WriterLeaseStore {
    layout: Layout,
    identity: Option<String>,
    files: Option<Arc<MakeFiles>>,
    context: Arc<Context>,
}

/// How a store is made.
pub struct Builder {
    directory: String,
    legacy: Vec<String>,
    identity: Option<String>,
    files: Option<Arc<MakeFiles>>,
    context: Context,
}

impl WriterLeaseStore {
    /// A store with a marker directory, one plain name below each destination, and nothing else.
    pub fn new(marker_directory: &str) -> Result<Self, InvalidLayout> {
        Self::builder(marker_directory).build()
    }

    /// A store to be told more. No I/O is done by it, by [`Builder::build`], or before an operation.
    pub fn builder(marker_directory: &str) -> Builder {
        Builder {
            directory: marker_directory.to_owned(),
            legacy: Vec::new(),
            identity: None,
            files: None,
            context: Context::default(),
        }
    }

    /// Tries once to become the writer of an existing directory. It neither waits nor tries again.
    ///
    /// Markers whose processes are gone are removed first. Cancelled at any moment, it leaves nothing, or names what it
    /// left ([`Failure::left`]); of this store, the next acquire of that destination, or recover with `apply`, removes
    /// that first.
    pub fn acquire(&self, destination: impl AsRef<Path>, cancel: Option<&Cancel>) -> Result<Acquisition, Failure> {
        let mut files = self.files(destination.as_ref());
        let mut machine = Acquire::new(&self.layout, self.context.take_left());
        let result = drive(&mut *files, cancel, |outcome| machine.next(outcome));
        self.context.leave(machine.take_left());
        Ok(match result? {
            marker::Acquisition::Acquired(owned) => {
                Acquisition::Acquired(WriterLease::new(owned, files, Arc::clone(&self.context)))
            }
            marker::Acquisition::Busy { owners } => Acquisition::Busy { owners },
            marker::Acquisition::Legacy { legacy, path } => Acquisition::Legacy { legacy, path },
        })
    }

    /// Looks who is there. It writes nothing.
    pub fn inspect(&self, destination: impl AsRef<Path>, cancel: Option<&Cancel>) -> Result<Inspection, Failure> {
        let mut machine = Inspect::new();
        drive(&mut *self.files(destination.as_ref()), cancel, |outcome| machine.next(outcome))
    }

    /// Finds the markers whose processes are gone, and removes them where `apply` says so. Without it, it writes
    /// nothing. Each is read and its process asked after once more immediately before it is removed.
    pub fn recover(
        &self,
        destination: impl AsRef<Path>,
        apply: bool,
        cancel: Option<&Cancel>,
    ) -> Result<Recovery, Failure> {
        let left = if apply { self.context.take_left() } else { Vec::new() };
        let mut machine = Recover::new(apply, left);
        let result = drive(&mut *self.files(destination.as_ref()), cancel, |outcome| machine.next(outcome));
        self.context.leave(machine.take_left());
        result
    }

    /// Removes one marker, of whatever state: for an operator, who knows that its writer is gone where no rule can.
    ///
    /// What the marker says must be repeated, its host and its process id; `None` for one that is not recognized. One
    /// that says something else is kept.
    pub fn remove_named(
        &self,
        destination: impl AsRef<Path>,
        nonce: &str,
        expected: Option<(&str, u32)>,
    ) -> Result<NamedRemoval, Failure> {
        let mut machine = RemoveNamed::new(nonce, expected);
        drive(&mut *self.files(destination.as_ref()), None, |outcome| machine.next(outcome))
    }

    /// The names that this store goes by.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn files(&self, destination: &Path) -> Box<dyn MarkerFiles + Send> {
        let directory = DirectoryName::new(self.layout.directory()).expect("a layout has a plain name");
        match &self.files {
            Some(make) => make(destination, directory),
            None => Box::new(SystemFiles::new(destination, directory).with_identity(self.identity.clone())),
        }
    }
}

impl fmt::Debug for WriterLeaseStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriterLeaseStore").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl Builder {
    /// With legacy markers: names relative to the physical root, at which another program says that it writes. They are
    /// refused, and never removed.
    #[must_use]
    pub fn legacy<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.legacy.extend(names.into_iter().map(str::to_owned));
        self
    }

    /// With an identity of the host's own choice, instead of [`identity`](crate::identity()): the same for all
    /// processes among which process ids mean the same, and for no others.
    #[must_use]
    pub fn identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// With a function that hears of each lease that was dropped and could not be released, or had been lost. It is
    /// called in the drop, and must not panic. Without one, a line is written to standard error.
    #[must_use]
    pub fn on_drop_failure(mut self, hook: impl Fn(&DropFailure) + Send + Sync + 'static) -> Self {
        self.context.hook = Some(Box::new(hook));
        self
    }

    /// With file functions of the host's own instead of [`SystemFiles`]; [`Builder::identity`] has no part in them.
    #[must_use]
    pub fn files(
        mut self,
        make: impl Fn(&Path, DirectoryName) -> Box<dyn MarkerFiles + Send> + Send + Sync + 'static,
    ) -> Self {
        self.files = Some(Arc::new(make));
        self
    }

    /// The store, unless a name is none.
    pub fn build(self) -> Result<WriterLeaseStore, InvalidLayout> {
        let legacy: Vec<&str> = self.legacy.iter().map(String::as_str).collect();
        let layout = Layout::new(&self.directory, &legacy)?;
        Ok(WriterLeaseStore { layout, identity: self.identity, files: self.files, context: Arc::new(self.context) })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("directory", &self.directory).finish_non_exhaustive()
    }
}
