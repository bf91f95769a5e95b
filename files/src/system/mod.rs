//! The file functions of this system.

// Also in tests elsewhere, so that it is known to work.
#[cfg(unix)]
mod listing;
#[cfg(any(not(unix), test))]
#[cfg_attr(unix, allow(dead_code))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use portable as here;
#[cfg(unix)]
use unix as here;

use crate::error::{FileCode, FileError, FileStep};
use crate::identity::identity;
use crate::marker_files::{Contents, Liveness, MarkerFiles, Places};
use crate::name::{DirectoryName, InvalidName, LegacyName, NONCE_DIGITS, check_marker, check_nonce};
use crate::process;
use std::path::{Path, PathBuf};

/// How many names of markers are listed at most: as many as an operation goes through, and one more, which tells it that
/// there are too many. They take 75 MB. The names of unrelated files are passed over, and take nothing.
pub const LISTED_MAX: usize = 1_000_001;

/// The largest marker that is read or published, in bytes, whatever limit a caller names: sixteen times that of the
/// protocol, and nothing that a careless or hostile caller could exhaust memory by.
pub const MARKER_BYTES_MAX: usize = 65_536;

/// [`MarkerFiles`] on the file system of this machine, for one operation or one lease.
///
/// Two handles are opened when they are first needed and kept: one of the physical root, one of the marker directory.
/// What is published, listed, read and removed goes through the second, by names that are those of markers alone, so
/// that nothing outside is reached and a release finds its marker wherever the destination has moved. A listing after
/// the publication fails where the destination no longer leads to these two: whoever comes later would look elsewhere.
#[derive(Debug)]
pub struct SystemFiles {
    directories: here::Directories,
    identity: Option<String>,
}

impl SystemFiles {
    /// For a destination and a marker directory in it. No I/O is done.
    pub fn new(destination: impl Into<PathBuf>, marker_directory: DirectoryName) -> Self {
        Self { directories: here::Directories::new(destination.into(), marker_directory), identity: None }
    }

    /// With an identity that the host chose, instead of [`identity`].
    #[must_use]
    pub fn with_identity(mut self, identity: Option<String>) -> Self {
        self.identity = identity;
        self
    }
}

impl MarkerFiles for SystemFiles {
    fn resolve_root(&mut self) -> Result<Places, FileError> {
        let markers = self.directories.path()?.to_path_buf();
        Ok(Places { root: self.directories.root()?.to_owned(), markers })
    }

    fn legacy_exists(&mut self, name: &str) -> Result<Option<PathBuf>, FileError> {
        let name = LegacyName::new(name).map_err(|refused| invalid(FileStep::Legacy, &refused))?;
        let exists = self.directories.legacy_exists(name.as_str())?;
        Ok(if exists { Some(self.directories.root()?.join(name.as_str())) } else { None })
    }

    fn identity(&mut self) -> Result<String, FileError> {
        match &self.identity {
            Some(identity) => Ok(identity.clone()),
            None => identity(),
        }
    }

    fn nonce(&mut self) -> Result<String, FileError> {
        nonce()
    }

    fn publish(&mut self, nonce: &str, content: &[u8]) -> Result<(), FileError> {
        check_nonce(nonce).map_err(|refused| invalid(FileStep::Publish, &refused))?;
        if content.len() > MARKER_BYTES_MAX {
            let said = format!("a marker of {} bytes, expected at most {MARKER_BYTES_MAX}", content.len());
            return Err(FileError::with_code(FileCode::Other, FileStep::Publish, Path::new(nonce), said));
        }
        self.directories.publish(&format!("{nonce}.tmp"), &format!("{nonce}.json"), content)
    }

    fn list(&mut self) -> Result<Option<Vec<String>>, FileError> {
        self.directories.list()
    }

    fn read(&mut self, name: &str, limit: usize) -> Result<Contents, FileError> {
        check_marker(name).map_err(|refused| invalid(FileStep::Read, &refused))?;
        self.directories.read(name, limit.min(MARKER_BYTES_MAX))
    }

    fn probe(&mut self, pid: u32) -> Liveness {
        process::probe(pid)
    }

    fn age_ms(&mut self, name: &str, beside: &str) -> Result<Option<u64>, FileError> {
        for name in [name, beside] {
            check_marker(name).map_err(|refused| invalid(FileStep::Age, &refused))?;
        }
        self.directories.age_ms(name, beside)
    }

    fn remove(&mut self, name: &str) -> Result<bool, FileError> {
        check_marker(name).map_err(|refused| invalid(FileStep::Remove, &refused))?;
        self.directories.remove(name)
    }

    fn remove_directory_if_empty(&mut self) -> Result<bool, FileError> {
        self.directories.remove_if_empty()
    }
}

/// 128 bits of the system's randomness.
fn nonce() -> Result<String, FileError> {
    let mut bits = [0; NONCE_DIGITS / 2];
    getrandom::fill(&mut bits).map_err(|error| FileError::new(FileStep::Nonce, "", error))?;
    let digit = |half: u8| char::from_digit(u32::from(half), 16).expect("four bits are a digit");
    Ok(bits.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
}

fn invalid(step: FileStep, refused: &InvalidName) -> FileError {
    FileError::with_code(FileCode::InvalidName, step, Path::new(&refused.name), refused.to_string())
}

/// The error of a marker directory that is not what this operation began with.
fn replaced(step: FileStep, path: &Path) -> FileError {
    let said = "the destination leads elsewhere than when this operation began";
    FileError::with_code(FileCode::DirectoryReplaced, step, path, said)
}

fn vanished(step: FileStep, path: &Path) -> FileError {
    FileError::with_code(FileCode::DirectoryVanished, step, path, "the marker directory went away between two steps")
}

fn not_safe(path: &Path) -> FileError {
    let said = "the marker directory must be a directory, and is a link or another file";
    FileError::with_code(FileCode::MarkerDirectoryUnsafe, FileStep::OpenDirectory, path, said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(root: &Path) -> SystemFiles {
        SystemFiles::new(root, DirectoryName::new(".writers").unwrap())
    }

    #[test]
    fn whatever_a_caller_asks_for_only_markers_are_touched() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = files(dir.path());
        let nonce = "0123456789abcdef0123456789abcdef";
        files.publish(nonce, b"x").unwrap();
        for bad in ["", "..", "../x", "/etc/passwd", "notes.json", "0123456789abcdef0123456789abcdef"] {
            assert_eq!(files.read(bad, 10).unwrap_err().code, FileCode::InvalidName, "{bad}");
            assert_eq!(files.remove(bad).unwrap_err().code, FileCode::InvalidName, "{bad}");
            assert_eq!(files.age_ms(bad, &format!("{nonce}.tmp")).unwrap_err().code, FileCode::InvalidName, "{bad}");
            assert_eq!(files.age_ms(&format!("{nonce}.json"), bad).unwrap_err().code, FileCode::InvalidName, "{bad}");
        }
        for bad in ["", "..", "../x", &nonce[1..]] {
            assert_eq!(files.publish(bad, b"x").unwrap_err().code, FileCode::InvalidName, "{bad}");
        }
        for bad in ["", "..", "../x", "/etc/passwd", "a//b"] {
            assert_eq!(files.legacy_exists(bad).unwrap_err().code, FileCode::InvalidName, "{bad}");
        }
        assert_eq!(files.list().unwrap().unwrap(), [format!("{nonce}.json")]);
    }

    #[test]
    fn a_marker_has_a_bound_below_at_and_above_it() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = files(dir.path());
        let full = vec![b'x'; MARKER_BYTES_MAX];
        let nonce = |digit: &str| digit.repeat(NONCE_DIGITS);
        files.publish(&nonce("1"), &full).unwrap();
        assert!(files.publish(&nonce("2"), &[&full[..], b"x"].concat()).is_err());
        let name = format!("{}.json", nonce("1"));
        assert!(matches!(files.read(&name, usize::MAX).unwrap(), Contents::Whole { bytes, .. } if bytes == full));
        assert_eq!(files.read(&name, MARKER_BYTES_MAX - 1).unwrap(), Contents::TooLarge);
        let path = dir.path().join(".writers").join(&name);
        std::fs::write(path, [&full[..], b"x"].concat()).unwrap();
        assert_eq!(files.read(&name, usize::MAX).unwrap(), Contents::TooLarge);
    }

    #[test]
    fn unrelated_names_are_not_listed() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = files(dir.path());
        let nonce = "0123456789abcdef0123456789abcdef";
        files.publish(nonce, b"x").unwrap();
        let upper = nonce.to_uppercase();
        let half = format!("{nonce}.tmp");
        for name in [&half, "notes.json", nonce, &format!("{upper}.json"), &format!("{nonce}.json~")] {
            std::fs::write(dir.path().join(".writers").join(name), "").unwrap();
        }
        let mut names = files.list().unwrap().unwrap();
        names.sort();
        assert_eq!(names, [format!("{nonce}.json"), half]);
    }

    #[test]
    fn a_publication_that_fails_removes_its_own_half_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = files(dir.path());
        let (nonce, markers) = ("0123456789abcdef0123456789abcdef", dir.path().join(".writers"));
        let half = markers.join(format!("{nonce}.tmp"));
        // A directory takes the place of no file.
        std::fs::create_dir_all(markers.join(format!("{nonce}.json")).join("full")).unwrap();
        let error = files.publish(nonce, b"x").unwrap_err();
        assert_eq!((error.step, &error.left), (FileStep::Publish, &None), "{error}");
        assert!(!half.exists(), "its own is gone");

        std::fs::write(&half, "another's").unwrap();
        let error = files.publish(nonce, b"x").unwrap_err();
        assert_eq!((error.code, &error.left), (FileCode::AlreadyExists, &None), "{error}");
        let error = files.age_ms(&format!("{nonce}.json"), &format!("{nonce}.tmp")).unwrap_err();
        assert_eq!((error.code, &error.left), (FileCode::AlreadyExists, &None), "{error}");
        assert_eq!(std::fs::read(&half).unwrap(), b"another's");
    }

    #[test]
    fn nonces_are_fresh() {
        let (a, b) = (nonce().unwrap(), nonce().unwrap());
        assert!(a != b && check_nonce(&a).is_ok() && check_nonce(&b).is_ok(), "{a} {b}");
    }
}
