//! Ledgers: one for each workspace, a file of lines that can only grow, each bound to the one before by its digest.
//!
//! An event reaches its ledger by way of the store: the commit that makes it durable puts it into an outbox there, and a
//! thread of its own moves it into the file. So no lease waits for a ledger, and whatever fails there stops none; what
//! waits is written when it is over, with a line that says so. Where more events wait than the outbox holds, the oldest
//! are dropped, and a line says which.
//!
//! A ledger is no proof against who can write the file: they can write all of it anew. It shows a change to whoever
//! knows the digest of a later line.

mod files;
mod line;
mod outbox;
mod place;
mod thread;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

pub use files::{Files, Folder, LedgerFile, RealFile};
pub use line::{Digest, Event, KIND_GAP, KIND_LEDGER, KIND_OUTAGE, LINE_BYTES_MAX, Line, NoEvent};
pub use outbox::OUTBOX_EVENTS_MAX;
pub(crate) use outbox::trim;
pub use thread::{Health, Ledger, Notifier};
pub use verify::{Broken, GAPS_LISTED_MAX, Verified, verify, verify_file};
pub use writer::Trouble;
