//! Writer leases by marker files, decided by the component and carried out on the file system of this machine.
//!
//! A process that wants to write below a directory publishes a marker there, which others see and, once the process is
//! gone, recover. It is the same protocol, byte for byte, as that of the crate `leasebook-files`: they exclude each other
//! on one destination.
//!
//! ```
//! use leasebook_wasmtime::writer::{Acquisition, WriterLeaseStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let archive = tempfile::tempdir()?;
//! # let archive = archive.path().to_str().ok_or("a path in UTF-8")?;
//! let leases = WriterLeaseStore::builder(".leasebook-writers").build()?;
//! match leases.acquire(archive, None)? {
//!     Acquisition::Acquired(lease) => {
//!         // Anybody else is told who is there, at once.
//!         let Acquisition::Busy { owners } = leases.acquire(archive, None)? else { panic!() };
//!         assert_eq!(owners[0].owner.as_ref().map(|owner| owner.pid), Some(std::process::id()));
//!         lease.release()?;
//!     }
//!     Acquisition::Busy { owners } => eprintln!("{} writers are there already", owners.len()),
//!     Acquisition::Legacy(legacy) => eprintln!("an older program writes: {}", legacy.path),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Limitations
//!
//! Those of the protocol are on the page of `leasebook-files`. Here, all operations of one store run one after the
//! other, in one instance; a program that works on many destinations at once makes a store for each. A trap poisons the
//! store: leases that it acquired before can no longer be released, and their markers stay until this process ends or an
//! operator removes them. A destination whose path is not UTF-8 cannot be named.

mod files;
#[cfg(feature = "tokio")]
mod later;
mod store;

pub use crate::bindings::writer::exports::leasebook::lease::writer_lease::{
    Code, Failed, FileCode, InvalidLayout, Legacy, Marker, MarkerState, NamedRemoval, Owner, Recovery, Released,
    Untidied,
};
pub(crate) use files::Files;
pub use files::Place;
#[cfg(feature = "tokio")]
pub use later::AsyncWriterLeaseStore;
pub use leasebook_files::Cancel;
pub use store::{Acquisition, BuildError, Builder, DropFailure, WriterError, WriterLease, WriterLeaseStore};
