//! The authority of a coordination service: one decider over one table, for actors that ask over a network.
//!
//! It is as pure as the table: a plain value that is given the time with every operation. It adds what a service needs
//! beyond leases on paths: one id for all that a request was granted, a queue with hints when to ask again, requests
//! that wait, grants that are remembered under an idempotency key, and a score of each actor.

mod answer;
mod ask;
mod authority;
mod class;
mod decide;
mod event;
mod give;
mod grants;
mod log;
mod options;
mod record;
mod remembered;
mod restore;
mod sentence;
mod settle;
mod stampede;
mod trust;
mod waiting;

pub use answer::{Answer, Deadlock, Given, Grant, Held, Lease, Refused, Seen, Stampede, Waiter, Waits, WaitsFor};
pub use ask::{
    Giving, IDEMPOTENCY_KEY_BYTES_MAX, Idempotency, InvalidField, InvalidLeaseId, LeaseId, Request, check_actor,
};
pub use authority::Authority;
pub use class::{Class, Pattern};
pub use event::{Event, Fact, WaitEnd};
pub use options::{Options, TTL_MS_DEFAULT, TTL_MS_MAX, WAIT_MS_MAX, WAITERS_PER_RESOURCE_MAX};
pub use record::{GrantRecord, Record, Remembered};
pub use remembered::{REMEMBERED_MAX, REMEMBERED_MS};
pub use stampede::{ADMITTED_MAX, HINT_MS_MAX, STEP_MS};
pub use trust::Trust;
pub use waiting::{KEEP_MS, PARKED_PER_ACTOR_MAX};
