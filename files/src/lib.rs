//! Writer leases on real file systems: one writer of a directory at a time, by markers that others can see and recover.
//!
//! A process that wants to write below a directory makes a small file there, its marker, in a directory that all
//! writers share. Who finds no other's is the writer. A marker says who it is of, so that whoever is refused knows whom
//! to ask, and one whose process is gone is removed by the next that comes.
//!
//! ```
//! # #[cfg(feature = "native")]
//! use leasebook_files::{Acquisition, WriterLeaseStore};
//!
//! # #[cfg(feature = "native")]
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let archive = tempfile::tempdir()?;
//!
//!     // All who write there use the same name for the markers. Nothing is touched before an operation.
//!     let leases = WriterLeaseStore::new(".leasebook-writers")?;
//!     match leases.acquire(archive.path(), None)? {
//!         Acquisition::Acquired(lease) => {
//!             std::fs::write(archive.path().join("page-1"), "mine alone")?;
//!
//!             // Anybody else is told who is there, at once.
//!             let Acquisition::Busy { owners } = leases.acquire(archive.path(), None)? else { panic!() };
//!             assert_eq!(owners[0].owner.as_ref().map(|owner| owner.pid()), Some(std::process::id()));
//!
//!             // Dropped, it is released too; but only a call says whether the lease was held to the end.
//!             lease.release()?;
//!         }
//!         Acquisition::Busy { owners } => eprintln!("{} writers are there already", owners.len()),
//!         Acquisition::Legacy { path, .. } => eprintln!("an older program writes: {path}"),
//!     }
//!     Ok(())
//! }
//! # #[cfg(not(feature = "native"))]
//! # fn main() {}
//! ```
//!
//! Everything is decided by the machines of the crate `leasebook` ([`marker`]), the same for every runtime. Here is
//! what carries out their effects: [`MarkerFiles`] as an interface on plain types, and [`SystemFiles`] for the file
//! systems of this machine. Without the feature `native` that is all there is, and the crate depends on no core.
//!
//! # Limitations
//!
//! - It is cooperation: no lock of the kernel, and nothing stops a writer that does not ask. Who removes a marker of
//!   another lets a second writer in.
//! - A marker names its process by id alone. An id that was used again keeps a dead writer's marker in place until that
//!   process ends too, or an operator removes it ([`WriterLeaseStore::remove_named`]).
//! - Between the last look at a stale marker and its removal there is a moment in which it could be replaced. Nobody
//!   who keeps to the protocol does so: a nonce is used once.
//! - Two machines of one host name on one network disk take each other's processes for their own: give them identities
//!   ([`Builder::identity`]). Caches of such a disk that hold back new names let two writers in.
//! - No directory is synced. After a loss of power an empty marker may be left, which only an operator removes.
//! - Accounts that share a destination share the marker directory. It is made with what the account's mask allows, so
//!   that an operator may have to make it beforehand, for a group. A marker that another account may not read is in the
//!   way, and says not whose it is.
//! - On Linux all of it holds. On other Unixes there are no namespaces of process ids to tell apart, and the root takes
//!   the right to be read, not only to be entered. On other systems directories are found by path at every step, so
//!   that one that is replaced by a link between two steps is followed; a moved destination is not released where it
//!   went; and no process can be asked after, so that every marker of this host counts as active and only an operator
//!   removes one.
#![forbid(unsafe_code)]

mod cancel;
mod error;
mod identity;
mod marker_files;
mod name;
#[cfg(feature = "native")]
mod native;
mod process;
mod shown;
mod system;

pub use cancel::Cancel;
pub use error::{FileCode, FileError, FileStep};
pub use identity::identity;
#[cfg(feature = "native")]
pub use leasebook::marker;
pub use marker_files::{Contents, Liveness, MarkerFiles, Places};
pub use name::{DirectoryName, InvalidName, LEGACY_BYTES_MAX, LegacyName, NAME_BYTES_MAX, NONCE_DIGITS};
#[cfg(feature = "native")]
pub use native::{Acquisition, Builder, DropFailure, WriterLease, WriterLeaseStore};
pub use process::probe;
pub use shown::{Shown, steers_or_hides};
pub use system::{LISTED_MAX, MARKER_BYTES_MAX, SystemFiles};
