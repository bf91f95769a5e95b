//! Names as they may come from outside: read once, before any I/O, so that none can leave its directory.

use std::fmt;

/// The longest name of a file in most file systems, in bytes.
pub const NAME_BYTES_MAX: usize = 255;
/// The longest relative name of a legacy marker, in bytes: what systems take as a path at most, with its final NUL.
pub const LEGACY_BYTES_MAX: usize = 4095;
/// How many hexadecimal digits a nonce has: 128 random bits.
pub const NONCE_DIGITS: usize = 32;

/// A name that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidName {
    /// What it was to name: `marker directory`, `legacy marker`, `marker` or `nonce`.
    pub field: &'static str,
    /// The name as it was given, cut where it is long.
    pub name: String,
    /// What was expected.
    pub expected: &'static str,
}

impl InvalidName {
    fn new(field: &'static str, name: &str, expected: &'static str) -> Self {
        /// Enough to know a name by.
        const QUOTED_MAX: usize = 64;
        let mut quoted: String = name.chars().take(QUOTED_MAX).collect();
        if quoted.len() < name.len() {
            quoted.push('…');
        }
        Self { field, name: quoted, expected }
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {}: expected {}, not {:?}", self.field, self.expected, self.name)
    }
}

impl std::error::Error for InvalidName {}

/// The name of a marker directory: one plain name of 1 to [`NAME_BYTES_MAX`] bytes.
///
/// Refused are `.` and `..`, and names with `/`, `\` or NUL: a name for all systems, not for this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryName(String);

impl DirectoryName {
    /// Reads a name.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidName> {
        let name = name.into();
        match plain(&name) {
            Ok(()) => Ok(Self(name)),
            Err(expected) => Err(InvalidName::new("marker directory", &name, expected)),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a legacy marker: plain names joined by `/`, relative to the physical root, at most [`LEGACY_BYTES_MAX`]
/// bytes together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegacyName(String);

impl LegacyName {
    /// Reads a name.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidName> {
        let name = name.into();
        let refused = |expected| InvalidName::new("legacy marker", &name, expected);
        if name.len() > LEGACY_BYTES_MAX {
            return Err(refused("at most 4095 bytes"));
        }
        name.split('/').try_for_each(plain).map_err(refused)?;
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Is it one name of one file, on every system?
fn plain(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        Err("a name that is not empty")
    } else if name == "." || name == ".." {
        Err("a name other than `.` and `..`")
    } else if name.contains('/') {
        Err("one name without `/`")
    } else if name.contains('\\') {
        Err("a name without a backslash")
    } else if name.contains('\0') {
        Err("a name without NUL")
    } else if name.len() > NAME_BYTES_MAX {
        Err("at most 255 bytes a name")
    } else {
        Ok(())
    }
}

/// Checks a nonce: 32 lower-case hexadecimal digits.
pub fn check_nonce(nonce: &str) -> Result<(), InvalidName> {
    if is_nonce(nonce) { Ok(()) } else { Err(InvalidName::new("nonce", nonce, "32 lower-case hexadecimal digits")) }
}

/// Checks the name of a marker or of one that was left half-way: a nonce with `.json` or `.tmp`. Whoever asks for
/// another file asks for one that is none of ours, which is never read and never removed.
pub fn check_marker(name: &str) -> Result<(), InvalidName> {
    if is_marker(name) {
        Ok(())
    } else {
        Err(InvalidName::new("marker", name, "32 lower-case hexadecimal digits with `.json` or `.tmp`"))
    }
}

/// Is it the name of a marker, or of one that was left half-way?
pub fn is_marker(name: &str) -> bool {
    name.strip_suffix(".json").or_else(|| name.strip_suffix(".tmp")).is_some_and(is_nonce)
}

fn is_nonce(nonce: &str) -> bool {
    nonce.len() == NONCE_DIGITS && nonce.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_directory_is_one_plain_name() {
        for good in ["a", ".leasebook", "...", "ä b", &"x".repeat(255)] {
            assert_eq!(DirectoryName::new(good).unwrap().as_str(), good);
        }
        for bad in ["", ".", "..", "a/b", "/", "a/", "a\\b", "a\0", &"x".repeat(256), &"ä".repeat(128)] {
            let refused = DirectoryName::new(bad).unwrap_err();
            assert_eq!(refused.field, "marker directory");
            assert!(refused.to_string().len() < 400, "{refused}");
        }
    }

    #[test]
    fn a_legacy_name_is_relative_and_stays_below() {
        for good in [".writer.lock", "locks/writer.lock", "a/b/c"] {
            assert_eq!(LegacyName::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "/a", "a/", "a//b", "../a", "a/../b", "a/.", "a\\b", "a\0b", &"x".repeat(256)] {
            assert_eq!(LegacyName::new(bad).unwrap_err().field, "legacy marker", "{bad:?}");
        }
        let deep = vec!["x"; 2_048].join("/");
        assert_eq!(deep.len(), 4_095);
        assert!(LegacyName::new(deep.clone()).is_ok());
        assert!(LegacyName::new(deep + "x").is_err());
    }

    #[test]
    fn only_markers_have_the_names_of_markers() {
        let nonce = "0123456789abcdef0123456789abcdef";
        assert!(check_nonce(nonce).is_ok());
        for bad in ["", &nonce[1..], "0123456789ABCDEF0123456789ABCDEF", "../../../../../../../../../../etc"] {
            assert!(check_nonce(bad).is_err(), "{bad}");
        }
        assert!(check_marker(&format!("{nonce}.json")).is_ok());
        assert!(check_marker(&format!("{nonce}.tmp")).is_ok());
        for bad in [nonce, "notes.json", &format!("{nonce}.json.tmp"), &format!("a/{nonce}.json")] {
            assert!(check_marker(bad).is_err(), "{bad}");
        }
    }
}
