//! Writer leases by marker files: who may write below a directory, decided between processes that share nothing else.
//!
//! Each writer publishes one marker, an [owner record](OwnerRecord) under a name nobody else has, into a directory that
//! all of them share. Who then finds no marker but its own has the lease. Everything that is decided is decided here,
//! once for every host, by five machines: [`Acquire`], [`Inspect`], [`Recover`], [`Release`] and [`RemoveNamed`]. A
//! machine does no I/O: its `next` yields an [`Effect`] that the host carries out, or the result. See
//! [the contract](Effect).
//!
//! # Limitations
//!
//! This is cooperation, no lock of the kernel: it stops nobody who does not ask. A marker tells a process by its id
//! alone, without the time it started, so that a reused id keeps a dead writer's marker in place until that process
//! ends. Two machines of one host name that share a file system take each other's processes for their own, unless the
//! host gives them identities. Listings must be coherent between all that use a directory, which caches of network file
//! systems may not be. No directory is synced: after a loss of power an empty marker may need an operator.

mod acquire;
mod answer;
mod clean;
mod effect;
mod entry;
mod failure;
mod json;
mod layout;
mod limits;
mod record;
mod recover;
mod release;
mod remove_named;
mod scan;

pub use acquire::Acquire;
pub use answer::{
    Acquisition, Inspection, Left, MarkerRecord, MarkerState, NamedRemoval, Owned, Recovery, Released, Step, Untidied,
};
pub use effect::{Effect, FileCode, FileError, Identity, Outcome};
pub use failure::{Code, Failure};
pub use layout::{InvalidLayout, Layout};
pub use limits::{
    INCOMPLETE_AGE_MS_MIN, LEFT_MAX, LEGACY_BYTES_MAX, LEGACY_NAMES_MAX, NAME_BYTES_MAX, NAMES_MAX, PID_MAX,
    RECORD_BYTES_MAX, REMAKES_MAX,
};
pub use record::{OwnerRecord, Unrecognized};
pub use recover::{Inspect, Recover};
pub use release::Release;
pub use remove_named::RemoveNamed;
