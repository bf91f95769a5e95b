//! Where markers are, below any destination: read once, so that a name that leads elsewhere cannot exist.

use super::limits::{LEGACY_BYTES_MAX, LEGACY_NAMES_MAX, NAME_BYTES_MAX};
use crate::sentence::Quoted;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// The name of the marker directory, and the names of legacy markers. All writers of a destination must share it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    directory: String,
    legacy: Vec<String>,
}

/// A name that is none, or too many of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InvalidLayout {
    /// The marker directory is not one plain name of 1 to [`NAME_BYTES_MAX`] bytes.
    MarkerDirectory {
        /// As it was given.
        name: String,
    },
    /// A legacy marker is not a relative path of plain names of at most [`LEGACY_BYTES_MAX`] bytes.
    Legacy {
        /// As it was given.
        name: String,
    },
    /// There are more than [`LEGACY_NAMES_MAX`] legacy markers.
    TooManyLegacy,
}

impl Layout {
    /// Reads the names. The marker directory is one plain name: not empty, not `.` or `..`, without `/`, `\` and NUL,
    /// at most [`NAME_BYTES_MAX`] bytes. A legacy marker is one such name, or several with `/` between, at most
    /// [`LEGACY_BYTES_MAX`] bytes together, relative to the destination.
    pub fn new(directory: &str, legacy: &[&str]) -> Result<Self, InvalidLayout> {
        if !is_plain(directory) {
            return Err(InvalidLayout::MarkerDirectory { name: directory.into() });
        }
        if legacy.len() > LEGACY_NAMES_MAX {
            return Err(InvalidLayout::TooManyLegacy);
        }
        if let Some(name) = legacy.iter().find(|name| !is_legacy(name)) {
            return Err(InvalidLayout::Legacy { name: String::from(*name) });
        }
        Ok(Self { directory: directory.into(), legacy: legacy.iter().map(|name| String::from(*name)).collect() })
    }

    /// The name of the marker directory.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// The names of legacy markers, relative to the destination.
    pub fn legacy(&self) -> &[String] {
        &self.legacy
    }
}

fn is_legacy(name: &str) -> bool {
    name.len() <= LEGACY_BYTES_MAX && name.split('/').all(is_plain)
}

fn is_plain(name: &str) -> bool {
    let barred = |byte| matches!(byte, b'/' | b'\\' | 0);
    !matches!(name, "" | "." | "..") && name.len() <= NAME_BYTES_MAX && !name.bytes().any(barred)
}

impl fmt::Display for InvalidLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, name) = match self {
            Self::MarkerDirectory { name } => ("the marker directory must be one plain name", name),
            Self::Legacy { name } => {
                write!(f, "a legacy marker must be at most {LEGACY_BYTES_MAX} bytes: ")?;
                ("plain names between slashes, each", name)
            }
            Self::TooManyLegacy => return write!(f, "there may be at most {LEGACY_NAMES_MAX} legacy markers"),
        };
        write!(
            f,
            "{what} of 1 to {NAME_BYTES_MAX} bytes, and not . or .., without backslash and NUL; not {}",
            Quoted(name)
        )
    }
}

impl core::error::Error for InvalidLayout {}
