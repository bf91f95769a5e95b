//! Directories by handle, files by name below them: the calls `*at` of Unix.
//!
//! No call here follows a link, waits for another process, or is given a name with more than one segment.

use super::{LISTED_MAX, listing, not_safe, replaced, vanished};
use crate::error::{FileError, FileStep};
use crate::marker_files::Contents;
use crate::name::{DirectoryName, is_marker};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everybody who may enter the directory may read a marker, so that accounts see each other.
const MARKER_MODE: Mode = Mode::RUSR.union(Mode::WUSR).union(Mode::RGRP).union(Mode::ROTH);
/// The rest is left to the account's mask.
const DIRECTORY_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);

/// A directory to look into: that takes no right to read it, where the system knows such handles.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PLACE: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const PLACE: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// The physical root and the marker directory, once they are open.
#[derive(Debug)]
pub struct Directories {
    destination: PathBuf,
    name: DirectoryName,
    root: Option<Root>,
    markers: Option<Markers>,
}

#[derive(Debug)]
struct Root {
    path: PathBuf,
    /// The path of the marker directory in it: made once, since every step may have to tell it.
    directory: Arc<Path>,
    handle: OwnedFd,
    file: FileId,
}

#[derive(Debug)]
struct Markers {
    handle: OwnedFd,
    file: FileId,
    /// Something was published through this handle, so that no other may take its place.
    published: bool,
    /// It has been read, and has to be read from its beginning again.
    listed: bool,
}

/// A file as its system counts it. The number is not used again while a handle is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId(i128, i128);

impl FileId {
    fn of(stat: &Stat) -> Self {
        // The types of both differ between systems.
        Self(stat.st_dev.into(), stat.st_ino.into())
    }
}

impl Directories {
    pub fn new(destination: PathBuf, name: DirectoryName) -> Self {
        Self { destination, name, root: None, markers: None }
    }

    /// The physical path of the root.
    pub fn root(&mut self) -> Result<&Path, FileError> {
        if self.root.is_none() {
            let failed = |path: &Path, error: std::io::Error| FileError::new(FileStep::ResolveRoot, path, error);
            // Opened first, so that what it is called is the path of what is open.
            let handle = retry_on_intr(|| fs::open(&self.destination, PLACE, Mode::empty()))
                .map_err(|error| failed(&self.destination, error.into()))?;
            let (path, handle) = match physical(&handle) {
                Some(path) => (path, handle),
                None => {
                    let path = self.destination.canonicalize().map_err(|error| failed(&self.destination, error))?;
                    let handle = retry_on_intr(|| fs::open(&path, PLACE | OFlags::NOFOLLOW, Mode::empty()))
                        .map_err(|error| failed(&path, error.into()))?;
                    (path, handle)
                }
            };
            let stat = fs::fstat(&handle).map_err(|error| failed(&path, error.into()))?;
            let directory = path.join(self.name.as_str()).into();
            self.root = Some(Root { path, directory, handle, file: FileId::of(&stat) });
        }
        Ok(self.opened().0)
    }

    pub fn legacy_exists(&mut self, name: &str) -> Result<bool, FileError> {
        self.root()?;
        let (path, root) = self.opened();
        let failed = |error: Errno| FileError::new(FileStep::Legacy, path.join(name), error);
        let mut place: Option<OwnedFd> = None;
        let mut segments = name.split('/').peekable();
        while let Some(segment) = segments.next() {
            let at = place.as_ref().map_or(root, AsFd::as_fd);
            let stat = match fs::statat(at, segment, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => return Ok(false),
                Err(error) => return Err(failed(error)),
            };
            if segments.peek().is_none() {
                break;
            }
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {}
                // Where it leads, a marker may be or not be; it is not for us to look.
                FileType::Symlink => return Err(failed(Errno::LOOP)),
                _ => return Ok(false),
            }
            place = match retry_on_intr(|| fs::openat(at, segment, PLACE | OFlags::NOFOLLOW, Mode::empty())) {
                Ok(opened) => Some(opened),
                Err(Errno::NOENT) => return Ok(false),
                Err(error) => return Err(failed(error)),
            };
        }
        Ok(true)
    }

    pub fn publish(&mut self, temporary: &str, name: &str, content: &[u8]) -> Result<(), FileError> {
        let directory = self.path()?;
        let path = || directory.join(name);
        let mut kept = self.markers.is_some();
        loop {
            let Some(markers) = self.markers(true)? else { return Err(vanished(FileStep::Publish, &directory)) };
            match create(markers.handle.as_fd(), temporary, content) {
                Ok(()) => break,
                // The one that was open may have been removed since; then the one that is there now counts. What was
                // moved away instead is found by the listing that follows.
                Err((Errno::NOENT | Errno::STALE, _)) if kept => {
                    self.markers = None;
                    kept = false;
                }
                Err((Errno::NOENT, _)) => {
                    self.markers = None;
                    return Err(vanished(FileStep::Publish, &directory));
                }
                Err((error, left)) => {
                    let left = left.then(|| directory.join(temporary));
                    return Err(FileError { left, ..FileError::new(FileStep::Publish, path(), error) });
                }
            }
        }
        let Some(markers) = &mut self.markers else { return Err(vanished(FileStep::Publish, &directory)) };
        // Set before it is known, since a failed publication may have happened.
        markers.published = true;
        let at = markers.handle.as_fd();
        match fs::renameat(at, temporary, at, name) {
            Ok(()) => Ok(()),
            // Somebody removed all there was.
            Err(Errno::NOENT) => Err(vanished(FileStep::Publish, &directory)),
            Err(error) => {
                let left = !gone(fs::unlinkat(at, temporary, AtFlags::empty()));
                let left = left.then(|| directory.join(temporary));
                Err(FileError { left, ..FileError::new(FileStep::Publish, path(), error) })
            }
        }
    }

    pub fn list(&mut self) -> Result<Option<Vec<String>>, FileError> {
        let directory = self.path()?;
        if self.markers.as_ref().is_some_and(|markers| !markers.published) && self.check_place(&directory).is_err() {
            // Nothing of ours is in the one that was open; what is there now counts.
            self.markers = None;
        }
        let failed = |error: Errno| FileError::new(FileStep::List, &*directory, error);
        let Some(markers) = self.markers(false)? else { return Ok(None) };
        let mut names = Vec::new();
        let again = std::mem::replace(&mut markers.listed, true);
        listing::each_name(&markers.handle, again, |name| {
            if let Some(name) = std::str::from_utf8(name).ok().filter(|name| is_marker(name)) {
                names.push(name.to_owned());
            }
            names.len() < LISTED_MAX
        })
        .map_err(failed)?;
        if markers.published {
            self.check_place(&directory)?;
        }
        Ok(Some(names))
    }

    pub fn read(&mut self, name: &str, limit: usize) -> Result<Contents, FileError> {
        let directory = self.path()?;
        let Some(markers) = self.markers(false)? else { return Ok(Contents::Absent) };
        let at = markers.handle.as_fd();
        let failed = |error: Errno| FileError::new(FileStep::Read, directory.join(name), error);
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match retry_on_intr(|| fs::openat(at, name, flags, Mode::empty())) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(Contents::Absent),
            // A link, by the names that systems have for it; a socket; a device without a driver.
            Err(Errno::LOOP | Errno::MLINK | Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP) => {
                return Ok(Contents::NotOrdinary);
            }
            Err(error) => return Err(failed(error)),
        };
        let stat = fs::fstat(&file).map_err(failed)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(Contents::NotOrdinary);
        }
        if u64::try_from(stat.st_size).is_ok_and(|size| size > limit as u64) {
            return Ok(Contents::TooLarge);
        }
        let expected = usize::try_from(stat.st_size).unwrap_or(limit);
        match read_to(&file, expected, limit).map_err(failed)? {
            Some(bytes) => Ok(Contents::Whole { bytes, since_ms: u64::try_from(changed_ns(&stat) / 1_000_000).ok() }),
            None => Ok(Contents::TooLarge),
        }
    }

    pub fn age_ms(&mut self, name: &str, fresh: &str) -> Result<Option<u64>, FileError> {
        let directory = self.path()?;
        let Some(markers) = self.markers(false)? else { return Ok(None) };
        let at = markers.handle.as_fd();
        let failed = |error: Errno| FileError::new(FileStep::Age, directory.join(name), error);
        let then = match fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let left = |left: bool| left.then(|| directory.join(fresh));
        // One byte, so that the time is the server's, where there is one.
        create(at, fresh, b"\n").map_err(|(error, there)| FileError { left: left(there), ..failed(error) })?;
        let now = fs::statat(at, fresh, AtFlags::SYMLINK_NOFOLLOW);
        if let Err(error) = fs::unlinkat(at, fresh, AtFlags::empty())
            && error != Errno::NOENT
        {
            return Err(FileError { left: left(true), ..failed(error) });
        }
        let age_ms = (changed_ns(&now.map_err(failed)?) - changed_ns(&then)) / 1_000_000;
        Ok(Some(u64::try_from(age_ms).unwrap_or(0)))
    }

    pub fn remove(&mut self, name: &str) -> Result<bool, FileError> {
        let directory = self.path()?;
        let Some(markers) = self.markers(false)? else { return Ok(false) };
        match fs::unlinkat(markers.handle.as_fd(), name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(FileError::new(FileStep::Remove, directory.join(name), error)),
        }
    }

    pub fn remove_if_empty(&mut self) -> Result<bool, FileError> {
        let directory = self.path()?;
        let (_, root) = self.opened();
        match fs::unlinkat(root, self.name.as_str(), AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(error) => Err(FileError::new(FileStep::RemoveDirectory, &*directory, error)),
        }
    }

    /// The marker directory, opened where it is not yet; `None` where it is missing and is not to be made.
    fn markers(&mut self, make: bool) -> Result<Option<&mut Markers>, FileError> {
        if self.markers.is_none() {
            let directory = self.path()?;
            let (_, root) = self.opened();
            let failed = |error: Errno| FileError::new(FileStep::OpenDirectory, &*directory, error);
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let open = || retry_on_intr(|| fs::openat(root, self.name.as_str(), flags, Mode::empty()));
            let mut opened = open();
            if matches!(opened, Err(Errno::NOENT)) {
                if !make {
                    return Ok(None);
                }
                match fs::mkdirat(root, self.name.as_str(), DIRECTORY_MODE) {
                    Ok(()) | Err(Errno::EXIST) => opened = open(),
                    Err(error) => return Err(failed(error)),
                }
            }
            let file = match opened {
                Ok(file) => file,
                // It was there a moment ago.
                Err(Errno::NOENT) => return Err(vanished(FileStep::OpenDirectory, &directory)),
                Err(Errno::NOTDIR | Errno::LOOP | Errno::MLINK) => return Err(not_safe(&directory)),
                Err(error) => return Err(failed(error)),
            };
            let stat = fs::fstat(&file).map_err(failed)?;
            self.markers = Some(Markers { handle: file, file: FileId::of(&stat), published: false, listed: false });
        }
        Ok(self.markers.as_mut())
    }

    /// Does the destination still lead to the two directories that are open?
    fn check_place(&self, directory: &Path) -> Result<(), FileError> {
        let (Some(root), Some(markers)) = (&self.root, &self.markers) else { return Ok(()) };
        let failed = |path: &Path, error: Errno| FileError::new(FileStep::List, path, error);
        match fs::stat(&root.path) {
            Ok(stat) if FileId::of(&stat) == root.file => {}
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => return Err(replaced(FileStep::List, &root.path)),
            Err(error) => return Err(failed(&root.path, error)),
        }
        match fs::statat(&root.handle, self.name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileId::of(&stat) == markers.file => Ok(()),
            Ok(_) | Err(Errno::NOENT) => Err(replaced(FileStep::List, directory)),
            Err(error) => Err(failed(directory, error)),
        }
    }

    /// Where the marker directory is, to be told.
    pub fn path(&mut self) -> Result<Arc<Path>, FileError> {
        self.root()?;
        Ok(Arc::clone(&self.root.as_ref().expect("it was just opened").directory))
    }

    /// The root, which is open.
    fn opened(&self) -> (&Path, BorrowedFd<'_>) {
        let root = self.root.as_ref().expect("it was opened by the caller");
        (&root.path, root.handle.as_fd())
    }
}

/// The path of what is open, where the system tells it: one call, instead of one for each of its segments.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn physical(directory: &OwnedFd) -> Option<PathBuf> {
    use rustix::fd::AsRawFd;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).ok()?;
    // What lies outside the root of this process has no path here.
    path.is_absolute().then_some(path)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn physical(_: &OwnedFd) -> Option<PathBuf> {
    None
}

/// Makes a file that is not there yet, with this content; or none. Where it fails, `true` says that the file could not
/// be removed again.
fn create(at: BorrowedFd<'_>, name: &str, content: &[u8]) -> Result<(), (Errno, bool)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = retry_on_intr(|| fs::openat(at, name, flags, MARKER_MODE)).map_err(|error| (error, false))?;
    write_all(&file, content).map_err(|error| (error, !gone(fs::unlinkat(at, name, AtFlags::empty()))))
}

fn write_all(file: &OwnedFd, mut content: &[u8]) -> Result<(), Errno> {
    while !content.is_empty() {
        match retry_on_intr(|| rustix::io::write(file, content))? {
            0 => return Err(Errno::NOSPC),
            written => content = &content[written..],
        }
    }
    Ok(())
}

/// Reads to the end, or to one byte more than there may be. So many bytes are expected.
fn read_to(file: &OwnedFd, expected: usize, limit: usize) -> Result<Option<Vec<u8>>, Errno> {
    // With room for one more, so that the end is seen.
    let mut bytes = vec![0; expected.min(limit) + 1];
    let mut length = 0;
    while length <= limit {
        if length == bytes.len() {
            bytes.resize(limit + 1, 0);
        }
        match retry_on_intr(|| rustix::io::read(file, &mut bytes[length..]))? {
            0 => {
                bytes.truncate(length);
                return Ok(Some(bytes));
            }
            more => length += more,
        }
    }
    Ok(None)
}

/// When a file was last changed, in nanoseconds since 1970.
fn changed_ns(stat: &Stat) -> i128 {
    i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec)
}

fn gone(removed: Result<(), Errno>) -> bool {
    matches!(removed, Ok(()) | Err(Errno::NOENT))
}

#[cfg(test)]
mod tests {
    use super::read_to;
    use crate::error::FileCode;
    use rustix::io::Errno;
    use std::io::{Seek, Write};

    #[test]
    fn a_record_that_grows_while_it_is_read_is_read_no_further_than_the_limit() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"12345").unwrap();
        // What was looked at had fewer bytes, or as many, or more.
        for (limit, expected) in [(3, None), (4, None), (5, Some(b"12345".to_vec())), (9, Some(b"12345".to_vec()))] {
            let handle = file.try_clone().unwrap().into();
            for looked_at in [0, 4, 5, 6] {
                file.rewind().unwrap();
                assert_eq!(read_to(&handle, looked_at, limit).unwrap(), expected, "{limit}");
                let read = file.stream_position().unwrap();
                assert_eq!(read, 5.min(limit as u64 + 1), "one byte more says that there is more");
            }
        }
    }

    #[test]
    fn every_kind_of_failure_has_its_code() {
        for (errno, code) in [
            (Errno::NOENT, FileCode::NotFound),
            (Errno::NOTDIR, FileCode::NotADirectory),
            (Errno::LOOP, FileCode::Link),
            (Errno::ACCESS, FileCode::PermissionDenied),
            (Errno::PERM, FileCode::PermissionDenied),
            (Errno::ROFS, FileCode::ReadOnly),
            (Errno::NOSPC, FileCode::NoSpace),
            (Errno::DQUOT, FileCode::NoSpace),
            (Errno::MFILE, FileCode::TooManyOpenFiles),
            (Errno::NFILE, FileCode::TooManyOpenFiles),
            (Errno::NAMETOOLONG, FileCode::NameTooLong),
            (Errno::EXIST, FileCode::AlreadyExists),
            (Errno::IO, FileCode::InputOutput),
            (Errno::STALE, FileCode::Other),
        ] {
            assert_eq!(FileCode::of(&errno.into()), code, "{errno}");
        }
    }
}
