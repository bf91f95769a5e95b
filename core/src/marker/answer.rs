//! What the machines answer: plain values.

use super::effect::Effect;
use super::limits::LEFT_MAX;
use super::record::OwnerRecord;
use super::scan::{MARKER, path_of};
use crate::sentence::Quoted;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// What is next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "an effect is to be carried out"]
pub enum Step<T> {
    /// Carry this out, and give its outcome to `next`.
    Effect(Effect),
    /// The operation is over.
    Done(T),
}

/// What came of an attempt to acquire, where nothing failed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Acquisition {
    /// The lease is held until it is released.
    Acquired(Owned),
    /// Others are in the way. Nothing of this attempt is left.
    Busy {
        /// The markers in the way, by the bytes of their file names.
        owners: Vec<MarkerRecord>,
    },
    /// A legacy marker is there; it is kept. Nothing of this attempt is left.
    Legacy {
        /// Its name, as the layout has it.
        legacy: String,
        /// Its path.
        path: String,
    },
}

/// The marker that an acquisition made: what a release is given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owned {
    pub(super) markers: String,
    pub(super) record: OwnerRecord,
}

impl Owned {
    /// What the marker says.
    pub fn record(&self) -> &OwnerRecord {
        &self.record
    }

    /// The path of the marker, as it is shown.
    pub fn path(&self) -> String {
        path_of(&self.markers, self.record.nonce()) + MARKER
    }
}

/// What inspection found.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Inspection {
    /// Every marker, by the bytes of its file name.
    pub records: Vec<MarkerRecord>,
}

/// What recovery did.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Recovery {
    /// The stale markers that were removed, by the bytes of their file names. None without `apply`.
    pub removed: Vec<MarkerRecord>,
    /// The other markers, by the bytes of their file names.
    pub kept: Vec<MarkerRecord>,
    /// The names of `.tmp` files that were removed: of writers that died before their marker was made.
    pub tidied: Vec<String>,
    /// The `.tmp` files that may be such, and stay because something failed. None without `apply`. They are in nobody's
    /// way.
    pub untidied: Vec<Untidied>,
}

/// A `.tmp` file that recovery could not look at, or not remove.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Untidied {
    /// The name of the file.
    pub name: String,
    /// For a person: why it stays. Where comparing its age left another file, this names that too.
    pub detail: String,
}

impl fmt::Display for Untidied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stays: {}", Quoted(&self.name), Quoted(&self.detail))
    }
}

/// One marker, as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MarkerRecord {
    /// The name of its file.
    pub name: String,
    /// Its path, as it is shown.
    pub path: String,
    /// Whose it is.
    pub state: MarkerState,
    /// What it says; absent where it is not recognized.
    pub owner: Option<OwnerRecord>,
    /// When it was last changed, in milliseconds since 1970 by the clock of its file system, where that is known.
    pub since_ms: Option<u64>,
    /// For a person: why it is not recognized, or why it could not be removed.
    pub detail: Option<String>,
}

impl fmt::Display for MarkerRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", Quoted(&self.path), self.state.name())?;
        if let Some(owner) = &self.owner {
            write!(f, ": process {} on {}", owner.pid(), Quoted(owner.host()))?;
        }
        match &self.detail {
            Some(detail) => write!(f, "; {}", Quoted(detail)),
            None => Ok(()),
        }
    }
}

/// Whose a marker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkerState {
    /// Of this host, and its process is alive or not ours to probe.
    Active,
    /// Of this host, and there is no such process.
    Stale,
    /// Of another host, or of another namespace of process ids on this one; also of every host that ends in
    /// `;pidns=?`, which says that its namespace is not known.
    Foreign,
    /// It does not say whose it is, cannot be read, or changed while it was looked at.
    Unrecognized,
}

impl MarkerState {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Stale => "stale",
            Self::Foreign => "foreign",
            Self::Unrecognized => "unrecognized",
        }
    }
}

impl fmt::Display for MarkerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What came of a release that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Released {
    /// The marker is removed.
    Released,
    /// The marker was gone already: at some time since the acquisition, others could write.
    Lost,
}

/// What came of the removal of one named marker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NamedRemoval {
    /// It is removed. It said this, where it said anything.
    Removed(Option<OwnerRecord>),
    /// There is no such marker.
    Absent,
    /// It says something else than what was repeated, and is kept.
    Different(Option<OwnerRecord>),
}

/// A marker of one's own that could not be removed. A store keeps it, and gives it to its next operations: an acquire,
/// or a recover with apply, of that destination removes it first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Left {
    pub(super) markers: String,
    pub(super) record: OwnerRecord,
}

impl Left {
    /// Adds `more` to what a store keeps, which is at most [`LEFT_MAX`]: the newest.
    pub fn keep(list: &mut Vec<Left>, more: impl IntoIterator<Item = Left>) {
        list.extend(more);
        let over = list.len().saturating_sub(LEFT_MAX);
        list.drain(..over);
    }

    /// The path of the marker, as it is shown. It may be that only the `.tmp` of the same name is there.
    pub fn path(&self) -> String {
        path_of(&self.markers, self.record.nonce()) + MARKER
    }

    /// What the marker says.
    pub fn record(&self) -> &OwnerRecord {
        &self.record
    }
}
