//! Writer leases without a component: the machines of the core, driven here.

mod drive;
mod lease;
mod store;

pub use lease::{DropFailure, WriterLease};
pub use store::{Acquisition, Builder, WriterLeaseStore};
