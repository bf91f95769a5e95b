//! The names in a directory that is open.
//!
//! The system's own entries are read in place where it has such a call: the directory of a writer's marker holds one
//! name, and what a general reader sets up for it costs more than the call.

use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// Tells each name, as bytes, until it is answered `false`. `again`: the handle has been read before.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn each_name(directory: &OwnedFd, again: bool, mut tell: impl FnMut(&[u8]) -> bool) -> Result<(), Errno> {
    use rustix::fs::{RawDir, SeekFrom, seek};
    use std::mem::MaybeUninit;

    /// Some hundred names a call; it lies on the stack.
    const BUFFER_BYTES: usize = 8_192;

    if again {
        seek(directory, SeekFrom::Start(0))?;
    }
    let mut buffer = [const { MaybeUninit::uninit() }; BUFFER_BYTES];
    let mut entries = RawDir::new(directory, &mut buffer);
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) if !tell(entry.file_name().to_bytes()) => break,
            Ok(_) => {}
            Err(Errno::INTR) => {}
            // It was removed, and has no names any more.
            Err(Errno::NOENT) => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn each_name(directory: &OwnedFd, _: bool, mut tell: impl FnMut(&[u8]) -> bool) -> Result<(), Errno> {
    // A handle of its own, which begins at the beginning.
    for entry in rustix::fs::Dir::read_from(directory)? {
        if !tell(entry?.file_name().to_bytes()) {
            break;
        }
    }
    Ok(())
}
