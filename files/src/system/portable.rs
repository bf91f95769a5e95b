//! Directories and files by path, as the standard library has them: what is left on systems that are no Unix.
//!
//! Between two calls somebody may put a link in the place of a directory, which the calls by handle rule out elsewhere.

use super::{LISTED_MAX, not_safe, replaced, vanished};
use crate::error::{FileError, FileStep};
use crate::marker_files::Contents;
use crate::name::{DirectoryName, is_marker};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The physical root, once it is known, and the marker directory.
#[derive(Debug)]
pub struct Directories {
    destination: PathBuf,
    name: DirectoryName,
    root: Option<PathBuf>,
    published: bool,
}

impl Directories {
    pub fn new(destination: PathBuf, name: DirectoryName) -> Self {
        Self { destination, name, root: None, published: false }
    }

    pub fn root(&mut self) -> Result<&Path, FileError> {
        if self.root.is_none() {
            let failed = |error| FileError::new(FileStep::ResolveRoot, &self.destination, error);
            let root = self.destination.canonicalize().map_err(failed)?;
            if !fs::metadata(&root).map_err(failed)?.is_dir() {
                return Err(failed(ErrorKind::NotADirectory.into()));
            }
            self.root = Some(root);
        }
        Ok(self.root.as_deref().expect("it was just set"))
    }

    pub fn legacy_exists(&mut self, name: &str) -> Result<bool, FileError> {
        let mut path = self.root()?.to_owned();
        let mut segments = name.split('/').peekable();
        while let Some(segment) = segments.next() {
            path.push(segment);
            let failed = |error: io::Error| FileError::new(FileStep::Legacy, &path, error);
            let metadata = match fs::symlink_metadata(&path) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
                Err(error) => return Err(failed(error)),
            };
            if segments.peek().is_some() && metadata.is_symlink() {
                return Err(failed(io::Error::other("a directory on the way is a link, which is not followed")));
            }
            if segments.peek().is_some() && !metadata.is_dir() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn publish(&mut self, temporary: &str, name: &str, content: &[u8]) -> Result<(), FileError> {
        let directory = self.path()?;
        if !self.is_there(&directory)? {
            match fs::create_dir(&directory) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    return Err(FileError::new(FileStep::OpenDirectory, directory, error));
                }
                _ => {}
            }
            if !self.is_there(&directory)? {
                return Err(vanished(FileStep::OpenDirectory, &directory));
            }
        }
        let (from, to) = (directory.join(temporary), directory.join(name));
        let done = create(&from, content).and_then(|()| {
            self.published = true;
            fs::rename(&from, &to).map_err(|error| (error, !gone(fs::remove_file(&from))))
        });
        match done {
            Ok(()) => Ok(()),
            Err((error, _)) if error.kind() == ErrorKind::NotFound => Err(vanished(FileStep::Publish, &directory)),
            Err((error, left)) => {
                Err(FileError { left: left.then_some(from), ..FileError::new(FileStep::Publish, to, error) })
            }
        }
    }

    pub fn list(&mut self) -> Result<Option<Vec<String>>, FileError> {
        let directory = self.path()?;
        if !self.is_there(&directory)? {
            return if self.published { Err(replaced(FileStep::List, &directory)) } else { Ok(None) };
        }
        let failed = |error: io::Error| FileError::new(FileStep::List, &directory, error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Some(name) = name.to_str().filter(|name| is_marker(name)) else { continue };
            names.push(name.to_owned());
            if names.len() == LISTED_MAX {
                break;
            }
        }
        Ok(Some(names))
    }

    pub fn read(&mut self, name: &str, limit: usize) -> Result<Contents, FileError> {
        let directory = self.path()?;
        if !self.is_there(&directory)? {
            return Ok(Contents::Absent);
        }
        let path = directory.join(name);
        let read = || -> io::Result<Contents> {
            let metadata = fs::symlink_metadata(&path)?;
            if !metadata.is_file() {
                return Ok(Contents::NotOrdinary);
            }
            let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let since_ms = since.and_then(|since| u64::try_from(since.as_millis()).ok());
            let mut bytes = Vec::new();
            File::open(&path)?.take(limit as u64 + 1).read_to_end(&mut bytes)?;
            Ok(if bytes.len() > limit { Contents::TooLarge } else { Contents::Whole { bytes, since_ms } })
        };
        match read() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Contents::Absent),
            Err(error) => Err(FileError::new(FileStep::Read, path, error)),
            Ok(contents) => Ok(contents),
        }
    }

    pub fn age_ms(&mut self, name: &str, fresh: &str) -> Result<Option<u64>, FileError> {
        let directory = self.path()?;
        let (path, fresh) = (directory.join(name), directory.join(fresh));
        let failed = |error: io::Error| FileError::new(FileStep::Age, &path, error);
        let then = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.modified().map_err(failed)?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        create(&fresh, b"\n")
            .map_err(|(error, left)| FileError { left: left.then(|| fresh.clone()), ..failed(error) })?;
        let now = fs::symlink_metadata(&fresh).and_then(|metadata| metadata.modified());
        if let Err(error) = fs::remove_file(&fresh)
            && error.kind() != ErrorKind::NotFound
        {
            return Err(FileError { left: Some(fresh.clone()), ..failed(error) });
        }
        let age = now.map_err(failed)?.duration_since(then).unwrap_or_default();
        Ok(Some(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)))
    }

    pub fn remove(&mut self, name: &str) -> Result<bool, FileError> {
        let directory = self.path()?;
        if !self.is_there(&directory)? {
            return Ok(false);
        }
        let path = directory.join(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(FileError::new(FileStep::Remove, path, error)),
        }
    }

    pub fn remove_if_empty(&mut self) -> Result<bool, FileError> {
        let directory = self.path()?;
        match fs::remove_dir(&directory) {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) => Ok(false),
            Err(error) => Err(FileError::new(FileStep::RemoveDirectory, directory, error)),
        }
    }

    fn is_there(&self, directory: &Path) -> Result<bool, FileError> {
        match fs::symlink_metadata(directory) {
            Ok(metadata) if metadata.is_dir() => Ok(true),
            Ok(_) => Err(not_safe(directory)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(FileError::new(FileStep::OpenDirectory, directory, error)),
        }
    }

    pub fn path(&mut self) -> Result<PathBuf, FileError> {
        let name = self.name.as_str().to_owned();
        Ok(self.root()?.join(name))
    }
}

/// Makes a file that is not there yet, with this content; or none. Where it fails, `true` says that the file could not
/// be removed again.
fn create(path: &Path, content: &[u8]) -> Result<(), (io::Error, bool)> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| (error, false))?;
    let written = file.write_all(content);
    // Closed first: there are systems that remove no file that is open.
    drop(file);
    written.map_err(|error| (error, !gone(fs::remove_file(path))))
}

fn gone(removed: io::Result<()>) -> bool {
    removed.map_or_else(|error| error.kind() == ErrorKind::NotFound, |()| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FileCode;

    const NAME: &str = "0123456789abcdef0123456789abcdef.json";
    const HALF: &str = "0123456789abcdef0123456789abcdef.tmp";

    fn directories(root: &Path) -> Directories {
        Directories::new(root.to_owned(), DirectoryName::new(".writers").unwrap())
    }

    #[test]
    fn a_marker_comes_is_read_and_goes() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = directories(dir.path());
        assert_eq!(files.list().unwrap(), None);
        assert_eq!(files.read(NAME, 10).unwrap(), Contents::Absent);
        assert!(!files.remove(NAME).unwrap());
        files.publish(HALF, NAME, b"12345").unwrap();
        assert_eq!(files.list().unwrap().unwrap(), [NAME]);
        let Contents::Whole { bytes, since_ms } = files.read(NAME, 5).unwrap() else { panic!("not read") };
        assert_eq!(bytes, b"12345");
        assert!(since_ms.is_some());
        assert_eq!(files.read(NAME, 4).unwrap(), Contents::TooLarge);
        assert!(files.age_ms(NAME, HALF).unwrap().is_some());
        assert!(!files.remove_if_empty().unwrap());
        assert!(files.remove(NAME).unwrap());
        assert!(files.remove_if_empty().unwrap());
        assert!(!files.remove_if_empty().unwrap());
        assert_eq!(files.list().unwrap_err().code, FileCode::DirectoryReplaced);
    }

    #[test]
    fn a_failure_removes_what_it_made_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = directories(dir.path());
        let (half, whole) = (dir.path().join(".writers").join(HALF), dir.path().join(".writers").join(NAME));
        fs::create_dir_all(whole.join("full")).unwrap();
        let error = files.publish(HALF, NAME, b"x").unwrap_err();
        assert_eq!((error.step, &error.left), (FileStep::Publish, &None), "{error}");
        assert!(!half.exists(), "its own is gone");

        fs::write(&half, "another's").unwrap();
        for error in [files.publish(HALF, NAME, b"x").unwrap_err(), files.age_ms(NAME, HALF).unwrap_err()] {
            assert_eq!((error.code, &error.left), (FileCode::AlreadyExists, &None), "{error}");
        }
        assert_eq!(fs::read(&half).unwrap(), b"another's");
        assert_eq!(files.list().unwrap().unwrap().len(), 2);
        fs::write(dir.path().join(".writers/notes.json"), "").unwrap();
        assert_eq!(files.list().unwrap().unwrap().len(), 2, "unrelated names are not listed");
    }

    #[test]
    fn what_is_in_the_way_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let mut files = directories(dir.path());
        assert!(!files.legacy_exists("a/b").unwrap());
        fs::write(dir.path().join("a"), "").unwrap();
        assert!(!files.legacy_exists("a/b").unwrap());
        assert!(files.legacy_exists("a").unwrap());
        fs::write(dir.path().join(".writers"), "").unwrap();
        assert_eq!(files.publish(HALF, NAME, b"").unwrap_err().code, FileCode::MarkerDirectoryUnsafe);
        assert_eq!(files.list().unwrap_err().code, FileCode::MarkerDirectoryUnsafe);
        let mut files = directories(&dir.path().join("a"));
        assert_eq!(files.list().unwrap_err().code, FileCode::NotADirectory);
    }
}
