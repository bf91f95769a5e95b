//! What the machines of a writer lease ask of a file system, on plain types.

use crate::error::FileError;
use std::path::PathBuf;

/// The effects of one operation, or of one lease, on one destination and one marker directory.
///
/// A host makes one for each operation. An acquired lease keeps the one that acquired it, so that its release finds the
/// marker wherever the destination has moved meanwhile. Each call is one step, which either is done as a whole or
/// leaves nothing; where that cannot be held, the error names what was left.
pub trait MarkerFiles {
    /// Finds the physical root of the destination, an existing directory, and keeps it. Asked again, it answers the
    /// same.
    fn resolve_root(&mut self) -> Result<Places, FileError>;

    /// Where something of this name is below the root, of whatever type; `None` where there is nothing. A link is
    /// something; none is followed, and one in the place of a directory on the way is an error.
    fn legacy_exists(&mut self, name: &str) -> Result<Option<PathBuf>, FileError>;

    /// What this process is called as a host: the same for all processes among which process ids mean the same.
    fn identity(&mut self) -> Result<String, FileError>;

    /// A fresh nonce: 128 random bits as 32 lower-case hexadecimal digits.
    fn nonce(&mut self) -> Result<String, FileError>;

    /// Makes `<nonce>.json` with this content in the marker directory, which is made where it is missing: complete, or
    /// not at all. One that is open already serves as long as it is there; where it was moved away meanwhile, the next
    /// listing fails. A failure leaves nothing, or names what it left.
    fn publish(&mut self, nonce: &str, content: &[u8]) -> Result<(), FileError>;

    /// The names of markers, and of what was left half-way, in the marker directory, in no order; `None` where there is
    /// no such directory. Other names are none of ours and may be left out. More than
    /// [`LISTED_MAX`](crate::LISTED_MAX) are not listed.
    fn list(&mut self) -> Result<Option<Vec<String>>, FileError>;

    /// Reads a marker, or what was left of one, of at most `limit` bytes. It never blocks and follows no link.
    fn read(&mut self, name: &str, limit: usize) -> Result<Contents, FileError>;

    /// Asks whether there is a process of this id.
    fn probe(&mut self, pid: u32) -> Liveness;

    /// How much older a file is than one that is written just now under the name `beside`, in milliseconds, so that it
    /// does not matter whose clock the file system keeps; `None` where it is gone. A failure leaves no such file, or
    /// names it.
    fn age_ms(&mut self, name: &str, beside: &str) -> Result<Option<u64>, FileError>;

    /// Removes a marker, or what was left of one; `false` where it was gone already.
    fn remove(&mut self, name: &str) -> Result<bool, FileError>;

    /// Removes the marker directory if it is empty; `false` where it is not, or is gone already.
    fn remove_directory_if_empty(&mut self) -> Result<bool, FileError>;
}

/// Where an operation happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The physical path of the destination.
    pub root: PathBuf,
    /// The path of the marker directory below it, whether it exists or not.
    pub markers: PathBuf,
}

/// What was found under the name of a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Nothing: it went away.
    Absent,
    /// An ordinary file. How many links it has does not matter.
    Whole {
        /// All its bytes.
        bytes: Vec<u8>,
        /// When it was last changed, in milliseconds since 1970 by the clock of its file system, where that is known.
        since_ms: Option<u64>,
    },
    /// An ordinary file that is larger than the limit, or grew beyond it while it was read.
    TooLarge,
    /// A link, a directory, a pipe, a socket or a device.
    NotOrdinary,
}

/// What the system says of a process id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// Exactly "no such process".
    Dead,
    /// Anything else: it lives, it waits to be reaped, it may not be asked.
    Alive,
}
