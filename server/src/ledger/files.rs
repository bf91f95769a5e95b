//! The files of ledgers, as the writer sees them: a narrow trait, and real files behind it.
//!
//! The trait is there so that tests can have a disk that fails.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Where ledgers are.
pub trait Files: Send {
    /// One open ledger.
    type File: LedgerFile;

    /// Opens the file of a workspace, and makes an empty one where there is none. It makes no folder: one that has
    /// vanished may be a disk that is not there, and what is written in its place would vanish when it returns.
    fn open(&mut self, workspace: &str) -> io::Result<Self::File>;
}

/// One ledger, open for its only writer.
pub trait LedgerFile: Send {
    /// Whether the name of the ledger still leads to this file. A file that was removed, or moved away, can be written
    /// to without anybody ever reading it.
    fn stands(&mut self) -> io::Result<bool>;

    /// How long it is, in bytes.
    fn length(&mut self) -> io::Result<u64>;

    /// Reads as many bytes as fit from there on; 0 = the end.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes at the end, and says how many of the bytes it took.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns when what was appended survives a loss of power.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts off what is behind a length.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// Ledgers in a folder: `<workspace>.jsonl` each.
#[derive(Clone, Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder where there is none, readable by the service's account alone.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        Ok(Self { path: path.to_path_buf() })
    }

    /// Where the ledger of a workspace is.
    pub fn path_of(&self, workspace: &str) -> PathBuf {
        self.path.join(file_name(workspace))
    }
}

impl Files for Folder {
    type File = RealFile;

    fn open(&mut self, workspace: &str) -> io::Result<RealFile> {
        let path = self.path_of(workspace);
        let mut options = File::options();
        options.create(true).read(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(io::Error::other(format!("another service writes to {}", path.display())));
            }
            Err(std::fs::TryLockError::Error(source)) => return Err(source),
        }
        sync_folder(&self.path)?;
        Ok(RealFile { file, path })
    }
}

/// A name of a workspace as a name of a file: other bytes than letters, digits, `-` and `_` as `%` and two hex digits,
/// so that two workspaces never share a file, and none leads out of the folder. Capital letters are among those, since
/// some file systems take them for small ones.
fn file_name(workspace: &str) -> String {
    use std::fmt::Write as _;
    let mut name = String::new();
    for byte in workspace.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => {
                let _ = write!(name, "%{byte:02x}"); // a string takes everything
            }
        }
    }
    name + ".jsonl"
}

/// A new file is there after a loss of power only when its folder was synced, too.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Elsewhere folders cannot be opened; their file systems keep names by themselves.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// A ledger in a file of its own, locked as long as it is open.
#[derive(Debug)]
pub struct RealFile {
    file: File,
    path: PathBuf,
}

impl LedgerFile for RealFile {
    #[cfg(unix)]
    fn stands(&mut self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt as _;
        let here = self.file.metadata()?;
        match std::fs::metadata(&self.path) {
            Ok(there) => Ok((here.dev(), here.ino()) == (there.dev(), there.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    #[cfg(not(unix))]
    fn stands(&mut self) -> io::Result<bool> {
        self.path.try_exists()
    }

    fn length(&mut self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        use std::io::{Read as _, Seek as _};
        // The place of a file open for appending is that of reading alone.
        self.file.seek(io::SeekFrom::Start(offset))?;
        self.file.read(into)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_workspaces_share_a_file_and_none_leads_elsewhere() {
        for (workspace, name) in [
            ("default", "default.jsonl"),
            ("a-b_9", "a-b_9.jsonl"),
            ("A", "%41.jsonl"),
            ("../a", "%2e%2e%2fa.jsonl"),
            ("", ".jsonl"),
            ("%41", "%2541.jsonl"),
            ("\u{e4}", "%c3%a4.jsonl"),
        ] {
            assert_eq!(file_name(workspace), name);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_ledger_is_readable_by_its_account_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mut files = Folder::create(&folder.path().join("ledger")).unwrap();
        files.open("w").unwrap();
        let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(files.path_of("w")), 0o600);
        assert_eq!(mode(folder.path().join("ledger")), 0o700);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_moved_or_removed_does_not_stand() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Folder::create(folder.path()).unwrap();
        let mut file = files.open("w").unwrap();
        assert!(file.stands().unwrap());
        std::fs::rename(files.path_of("w"), folder.path().join("away")).unwrap();
        assert!(!file.stands().unwrap());
        files.open("w").unwrap();
        assert!(!file.stands().unwrap());
    }

    #[test]
    fn a_second_writer_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = Folder::create(folder.path()).unwrap();
        let first = files.open("w").unwrap();
        assert!(files.open("w").unwrap_err().to_string().starts_with("another service writes to "));
        drop(first);
        assert!(files.open("w").is_ok());
    }
}
