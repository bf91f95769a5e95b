//! The lease book as a WebAssembly component under wasmtime: lease tables and writer leases for a host, and for its
//! guests and plugins.
//!
//! A [`LeaseTable`] runs the component that this crate carries; it decides who may write what, and until when. The
//! host gives it a [`Clock`]. A [`SharedLeaseTable`] is for many threads, an `AsyncLeaseTable` (feature `tokio`) for
//! asynchronous callers, and with [`add_to_linker`] a guest that imports `leasebook:lease/table` is given a table that
//! the host chose. A plugin gets a [`Session`]: that table under one holder. Writer leases are in [`writer`].
//!
//! ```
//! use leasebook_wasmtime::{LeaseTable, ManualClock, Mode, Options, Refusal, Release, Verdict, Wish};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // A program would leave out the clock, and get the system's.
//!     let clock = ManualClock::new(1_000);
//!     let mut table = LeaseTable::builder(Options::default()).clock(clock.clone()).build()?;
//!
//!     // Every call answers, or says that the table is lost (`?`); what it answers is a grant or a refusal.
//!     let leases = table.acquire("writer-1", &[Wish::exclusive("/srv/src")], None)?.expect("nobody else is here");
//!     let fencing_token = leases[0].generation;
//!
//!     clock.advance(12_000);
//!     let refused = table.acquire("reviewer-1", &[Wish::exclusive("/srv/src/app.rs")], None)?.unwrap_err();
//!     assert!(matches!(&refused.reason, Refusal::Conflict(blocked) if blocked.conflicts[0].holder == "writer-1"));
//!     assert_eq!(
//!         refused.to_string(),
//!         "/srv/src/app.rs is inside /srv/src, held by writer-1 for 12 s, free in at most 288 s"
//!     );
//!
//!     // A guard in front of the files asks before each write, and keeps the lease in place while the write lasts.
//!     assert_eq!(table.covering("writer-1", "/srv/src/app.rs", Mode::Exclusive)?.verdict, Verdict::Own);
//!     let pin = table.pin("writer-1", &["/srv/src/app.rs"], Mode::Exclusive, None)?.unwrap();
//!     assert!(table.unpin(pin)?);
//!
//!     let released = table.release("writer-1", Release::Generation(fencing_token))?.unwrap();
//!     assert_eq!(released.released, ["/srv/src"]);
//!     assert!(table.acquire("reviewer-1", &[Wish::exclusive("/srv/src/app.rs")], None)?.is_ok());
//!     Ok(())
//! }
//! ```
//!
//! # Limitations
//!
//! - A table is cooperative: it says who may write, and stops nobody who does not ask.
//! - A trap in the component loses the table. It becomes [`CallError::Poisoned`], then and ever after; a host that
//!   keeps the records of a table (`take_records`) makes a new one with [`Builder::restore`].
//! - Nothing bounds how long a call takes unless [`Builder::call_ticks`] does. Listing a million leases takes a second
//!   or two, during which the callers of a shared table wait.
//! - On systems other than Linux, Android, Windows and Apple's, [`SystemClock`] may stand still while the machine
//!   sleeps.
//! - An instance reserves 4 GiB of address space (not of memory) for its table: a program with thousands of tables, or
//!   on a small system, builds its engine with other settings ([`TableComponent::embedded_in`]).
//! - Precompiled code fits one version of wasmtime, one processor family and equal settings, and must be trusted.
#![deny(unsafe_code)]

mod answers;
mod bindings;
#[cfg(feature = "tokio")]
mod blocking;
mod book;
mod clock;
mod component;
mod error;
#[allow(unsafe_code)]
mod exports;
mod guest;
mod options;
mod session;
mod sizes;
mod table;
mod types;
pub mod writer;

pub use answers::{
    Blocked, Deadlock, EndedLease, Event, Fact, GrantedLease, RefreshedLease, Refusal, Refused, RefusedAttempt,
    WaiterEvent,
};
pub use bindings::leasebook::lease::table::{
    Ahead, Conflict, Containment, Counters, Covering, CoveringLease, Fairness, InvalidOptions, Lease, LeaseRecord,
    LeaseStatus, Limit, LimitReached, Limits, Mode, NotHeld, PinRecord, PinRefusal, PinStatus, PinToken, Record,
    RefreshRefusal, Released, RestoreError, Revoked, Status, Verdict, WaiterRecord, WaiterStatus,
};
#[cfg(feature = "tokio")]
pub use blocking::AsyncLeaseTable;
pub use clock::{Clock, ManualClock, SystemClock};
pub use component::TableComponent;
pub use error::{CallError, LoadError};
pub use guest::{LeaseCtx, LeaseCtxBuilder, LeaseView, add_to_linker};
pub use options::{CALL_BYTES_MAX, MEMORY_BYTES_MAX, Options};
pub use session::{Pinned, SESSION_WAITER_ID_BYTES_MAX, Session, SessionView, add_session_to_linker, call_plugin};
pub use table::{Builder, LeaseTable, SharedLeaseTable};
pub use types::{Period, Release, WaitAttempt, Wish};
// The versions of the types of the API that are wasmtime's own.
pub use wasmtime;
