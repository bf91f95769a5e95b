//! One lease book for agents, CLIs and plugins: who may write what, until when, and why not.
//!
//! A [`Table`] is a plain value. It has no clock, no I/O, no thread, no global and no randomness: every operation is
//! given the moment it happens at, and the same operations give the same answers everywhere.
//!
//! ```
//! use leasebook::{Millis, Options, Refusal, Table, Wish};
//!
//! let mut table = Table::new(Options::default()).unwrap();
//! let now = Millis::new(1_000);
//! table.acquire(now, "writer-1", &[Wish::exclusive("/srv/src")], None).unwrap();
//!
//! let later = Millis::new(13_000);
//! let refusal = table.acquire(later, "reviewer-1", &[Wish::exclusive("/srv/src/app.rs")], None).unwrap_err();
//! assert_eq!(
//!     refusal.to_string(),
//!     "/srv/src/app.rs is inside /srv/src, held by writer-1 for 12 s, free in at most 288 s"
//! );
//! ```
//!
//! # Limitations
//!
//! A table is cooperative: it says who may write, and stops nobody who does not ask. Containment is lexical: it knows
//! no links, no case folding and no Unicode normalisation. A resource that must be safe from a writer whose lease ran
//! out while it was stopped checks the generation with each write, and rejects a lower one than it has seen.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

pub mod coordination;
mod event;
mod holder;
mod lease;
pub mod limits;
pub mod marker;
mod path;
mod record;
mod sentence;
#[cfg(feature = "std")]
mod shared;
mod table;
mod time;
mod words;

pub use event::{Event, Fact};
pub use holder::{Holder, InvalidHolder};
pub use lease::{
    Ahead, Blocked, Conflict, Covering, CoveringLease, InvalidPinToken, Lease, LeaseStatus, Mode, NotHeld, PinRefusal,
    PinStatus, PinToken, RefreshRefusal, Refusal, Release, Released, Revoked, Status, TooManyPaths, Verdict,
    WaitAttempt, WaiterStatus, Wish,
};
pub use limits::{Limit, Limits};
pub use path::{Containment, Path, contains};
pub use record::{Counters, LeaseRecord, PinRecord, Record, RestoreError, WaiterRecord};
#[cfg(feature = "std")]
pub use shared::SharedTable;
pub use table::{Fairness, InvalidOptions, Options, Table};
pub use time::{Clock, Millis, Period};

/// The examples of the crate's page, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
