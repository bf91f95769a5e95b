//! What can fail in a file system, told so that a person knows where to look and a program what to do.

use crate::shown::Shown;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What kind of failure it was. The list is closed: what is in none of its parts is [`FileCode::Other`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileCode {
    /// Something on the way there does not exist (`ENOENT`).
    NotFound,
    /// Something that must be a directory is none (`ENOTDIR`).
    NotADirectory,
    /// Something that must be a directory is a link, or links lead in circles (`ELOOP`).
    Link,
    /// The account may not (`EACCES`, `EPERM`; on Linux also of an immutable directory).
    PermissionDenied,
    /// The file system is mounted read-only (`EROFS`).
    ReadOnly,
    /// No space, no inodes or no quota is left (`ENOSPC`, `EDQUOT`).
    NoSpace,
    /// The process or the system has too many files open (`EMFILE`, `ENFILE`).
    TooManyOpenFiles,
    /// A name or a path is longer than the file system takes (`ENAMETOOLONG`).
    NameTooLong,
    /// There is something already where a new file was to be made (`EEXIST`).
    AlreadyExists,
    /// The device failed (`EIO`).
    InputOutput,
    /// The marker directory went away between two steps.
    DirectoryVanished,
    /// Under the name of the marker directory there is now something else than what this operation began with.
    DirectoryReplaced,
    /// The marker directory is a link or no directory.
    MarkerDirectoryUnsafe,
    /// A name is none that this protocol uses.
    InvalidName,
    /// Anything else.
    Other,
}

impl FileCode {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::NotADirectory => "not-a-directory",
            Self::Link => "link",
            Self::PermissionDenied => "permission-denied",
            Self::ReadOnly => "read-only",
            Self::NoSpace => "no-space",
            Self::TooManyOpenFiles => "too-many-open-files",
            Self::NameTooLong => "name-too-long",
            Self::AlreadyExists => "already-exists",
            Self::InputOutput => "input-output",
            Self::DirectoryVanished => "directory-vanished",
            Self::DirectoryReplaced => "directory-replaced",
            Self::MarkerDirectoryUnsafe => "marker-directory-unsafe",
            Self::InvalidName => "invalid-name",
            Self::Other => "other",
        }
    }

    /// The kind of an error of the system.
    pub fn of(error: &io::Error) -> Self {
        Self::of_number(error).unwrap_or_else(|| Self::of_kind(error))
    }

    #[cfg(unix)]
    fn of_number(error: &io::Error) -> Option<Self> {
        use rustix::io::Errno;
        Some(match Errno::from_io_error(error)? {
            Errno::NOENT => Self::NotFound,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::LOOP => Self::Link,
            Errno::ACCESS | Errno::PERM => Self::PermissionDenied,
            Errno::ROFS => Self::ReadOnly,
            Errno::NOSPC | Errno::DQUOT => Self::NoSpace,
            Errno::MFILE | Errno::NFILE => Self::TooManyOpenFiles,
            Errno::NAMETOOLONG => Self::NameTooLong,
            Errno::EXIST => Self::AlreadyExists,
            Errno::IO => Self::InputOutput,
            _ => Self::Other,
        })
    }

    #[cfg(not(unix))]
    fn of_number(_: &io::Error) -> Option<Self> {
        None
    }

    /// As far as the standard library tells.
    fn of_kind(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            io::ErrorKind::NotADirectory => Self::NotADirectory,
            io::ErrorKind::AlreadyExists => Self::AlreadyExists,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace,
            io::ErrorKind::InvalidFilename => Self::NameTooLong,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for FileCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileStep {
    /// Finding the physical root of the destination.
    ResolveRoot,
    /// Looking for a legacy marker.
    Legacy,
    /// Finding out what this process is called.
    Identity,
    /// Drawing a nonce.
    Nonce,
    /// Opening or making the marker directory.
    OpenDirectory,
    /// Writing a marker and giving it its name.
    Publish,
    /// Listing the marker directory.
    List,
    /// Reading a marker.
    Read,
    /// Comparing the age of what was left half-way.
    Age,
    /// Removing a marker.
    Remove,
    /// Removing the empty marker directory.
    RemoveDirectory,
}

impl FileStep {
    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ResolveRoot => "resolve-root",
            Self::Legacy => "legacy-exists",
            Self::Identity => "identity",
            Self::Nonce => "nonce",
            Self::OpenDirectory => "open-directory",
            Self::Publish => "publish",
            Self::List => "list",
            Self::Read => "read",
            Self::Age => "age",
            Self::Remove => "remove",
            Self::RemoveDirectory => "remove-directory",
        }
    }
}

impl fmt::Display for FileStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A step that failed, and where.
#[derive(Debug)]
pub struct FileError {
    /// What kind of failure.
    pub code: FileCode,
    /// What was being done.
    pub step: FileStep,
    /// To what.
    pub path: PathBuf,
    /// What could not be cleaned up after it, where there is something.
    pub left: Option<PathBuf>,
    /// What the system said.
    pub source: io::Error,
}

impl FileError {
    pub(crate) fn new(step: FileStep, path: impl Into<PathBuf>, error: impl Into<io::Error>) -> Self {
        let source = error.into();
        Self { code: FileCode::of(&source), step, path: path.into(), left: None, source }
    }

    pub(crate) fn with_code(code: FileCode, step: FileStep, path: &Path, said: impl Into<String>) -> Self {
        Self { code, step, path: path.to_owned(), left: None, source: io::Error::other(said.into()) }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.step, Shown(self.path.display()), Shown(&self.source))?;
        match &self.left {
            Some(left) => write!(f, "; {} could not be removed and is still there", Shown(left.display())),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_steers_no_terminal() {
        let source = io::Error::other("said\u{1b}[1m");
        let left = Some(PathBuf::from("/b\r"));
        let error = FileError { left, ..FileError::new(FileStep::Publish, "/a\u{1b}[2J", source) };
        assert_eq!(
            error.to_string(),
            "publish: /a\\u{1b}[2J: said\\u{1b}[1m; /b\\r could not be removed and is still there"
        );
    }
}
