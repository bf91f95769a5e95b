//! The same exports with constants for answers: what a call costs without a table behind it.
//!
//! It is measured beside the table and never shipped. `acquire` answers one lease and `release` one path, as long as
//! those of the benchmark; the rest answers nothing.

use crate::bindings::exports::leasebook::lease::{table as wit, writer_lease as writer};
use alloc::{string::String, vec, vec::Vec};

/// The component.
pub struct Component;

/// A table that is none.
pub struct Constant;

const PATH: &str = "/srv/d00/d00/d00/file-0";
const HOLDER: &str = "writer-1";

fn lease() -> wit::Lease {
    wit::Lease {
        path: PATH.into(),
        holder: HOLDER.into(),
        mode: wit::Mode::Exclusive,
        generation: 1,
        acquired_at_ms: 1_000,
        ttl_ms: 300_000,
        expires_at_ms: 301_000,
        held_for_ms: 0,
        expires_in_ms: 300_000,
    }
}

impl wit::Guest for Component {
    type Table = Constant;

    fn contains(_: String, _: String) -> wit::Containment {
        wit::Containment::Unknown
    }
}

impl wit::GuestTable for Constant {
    fn new(_: wit::Options) -> Result<wit::Table, wit::InvalidOptions> {
        Ok(wit::Table::new(Self))
    }

    fn restore(_: wit::Options, _: Vec<wit::Record>) -> Result<wit::Table, wit::RestoreError> {
        Ok(wit::Table::new(Self))
    }

    fn acquire(&self, _: String, _: Vec<wit::Wish>, _: Option<f64>) -> Result<Vec<wit::Lease>, wit::Refused> {
        Ok(vec![lease()])
    }

    fn wait_attempt(&self, _: wit::WaitAttempt) -> Result<Vec<wit::Lease>, wit::Refused> {
        Ok(vec![lease()])
    }

    fn cancel_wait(&self, _: String) -> bool {
        false
    }

    fn refresh(&self, _: String, _: u64, _: Option<f64>) -> Result<wit::Lease, wit::RefreshRefused> {
        Ok(lease())
    }

    fn release(&self, _: String, _: wit::Release) -> Result<wit::Released, wit::LimitReached> {
        Ok(wit::Released { released: vec![PATH.into()], not_held: Vec::new() })
    }

    fn release_holder(&self, _: String) -> u32 {
        0
    }

    fn release_all(&self) -> u32 {
        0
    }

    fn end_session(&self, _: String) -> u32 {
        0
    }

    fn revoke(&self, _: u64, _: bool) -> Option<wit::Revoked> {
        None
    }

    fn covering(&self, _: String, _: String, _: wit::Mode) -> wit::Covering {
        let verdict = crate::bindings::exports::leasebook::lease::table::Verdict::Free;
        wit::Covering { verdict, lease: None, evaluable: true }
    }

    fn pin(&self, _: String, _: Vec<String>, _: wit::Mode, _: Option<u64>) -> Result<wit::PinToken, wit::PinRefused> {
        Ok(wit::PinToken { number: 1 })
    }

    fn unpin(&self, _: wit::PinToken) -> bool {
        false
    }

    fn ready(&self) -> Vec<String> {
        Vec::new()
    }

    fn next_deadline(&self) -> Option<u64> {
        None
    }

    fn leases(&self) -> Vec<wit::Lease> {
        Vec::new()
    }

    fn status(&self) -> wit::Status {
        wit::Status { leases: Vec::new(), waiters: Vec::new(), pins: Vec::new() }
    }

    fn take_events(&self) -> Vec<wit::Event> {
        Vec::new()
    }

    fn records(&self, _: wit::Extent) -> Vec<wit::Record> {
        Vec::new()
    }
}

/// A store that is none: writer leases are measured against the system calls that they make, not against constants.
pub struct NoStore;

impl writer::Guest for Component {
    type Store = NoStore;
    type Lease = NoStore;
}

impl writer::GuestStore for NoStore {
    fn open(_: writer::Layout) -> Result<writer::Store, writer::InvalidLayout> {
        Ok(writer::Store::new(Self))
    }

    fn acquire(&self, _: String) -> Result<writer::Acquisition, writer::Failed> {
        Ok(writer::Acquisition::Busy(Vec::new()))
    }

    fn inspect(&self, _: String) -> Result<Vec<writer::Marker>, writer::Failed> {
        Ok(Vec::new())
    }

    fn recover(&self, _: String, _: bool) -> Result<writer::Recovery, writer::Failed> {
        Ok(writer::Recovery { removed: Vec::new(), kept: Vec::new(), tidied: Vec::new(), untidied: Vec::new() })
    }

    fn remove_named(
        &self,
        _: String,
        _: String,
        _: Option<(String, u32)>,
    ) -> Result<writer::NamedRemoval, writer::Failed> {
        Ok(writer::NamedRemoval::Absent)
    }

    fn left(&self) -> Vec<String> {
        Vec::new()
    }
}

impl writer::GuestLease for NoStore {
    fn release(&self) -> Result<writer::Released, writer::Failed> {
        Ok(writer::Released::Released)
    }
}
