//! The contract between the machines and their hosts: what a host is asked to do, and what it may answer.
//!
//! A host is a loop without decisions. It asks a machine what is next, carries it out, and hands the outcome back:
//!
//! ```
//! use leasebook::marker::{Effect, Failure, Inspect, Inspection, Outcome, Step};
//!
//! fn inspect(mut perform: impl FnMut(&Effect) -> Outcome) -> Result<Inspection, Failure> {
//!     let mut machine = Inspect::new();
//!     let mut outcome = None;
//!     loop {
//!         match machine.next(outcome) {
//!             Step::Effect(effect) => outcome = Some(perform(&effect)),
//!             Step::Done(result) => return result,
//!         }
//!     }
//! }
//! # assert!(inspect(|_| Outcome::Cancelled).is_err());
//! ```
//!
//! What a host owes:
//! - The destination and the name of the marker directory are the same for a whole operation, and for the lease that it
//!   yields. Where the system has directory handles, [`Effect::ResolveRoot`] opens one of the physical root, and every
//!   later name is below it; one of the marker directory is kept from the [`Effect::Publish`] that made the marker to
//!   the end of the release.
//! - Names of files are single plain names inside the marker directory, except those of legacy markers. No link is
//!   followed below the physical root, and no file is opened in a way that could block.
//! - **An effect that has started is awaited to its outcome**, whatever was cancelled meanwhile. A host looks at the
//!   signal before it starts an effect, and answers [`Outcome::Cancelled`] then; never to one that
//!   [cleans up](Effect::cleans_up).
//! - A machine is driven until it is done. One that is dropped before may leave its marker; a host that loses one, as
//!   in a trap, removes `<nonce>.json` and `<nonce>.tmp` of the last [`Effect::Publish`] itself.

use alloc::string::String;
use alloc::vec::Vec;

/// Work that the host must do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Resolve the destination to its physical root: every link followed; it must exist and be a directory.
    /// Answer: [`Outcome::Root`].
    ResolveRoot,
    /// Is there anything by this name? It is relative to the root, one or more plain names between slashes; its last
    /// name is not followed, and any file type counts. Answer: [`Outcome::Present`] or [`Outcome::Absent`].
    LegacyExists {
        /// The name, as the layout has it.
        name: String,
    },
    /// Who this process is. Answer: [`Outcome::Identity`].
    Identity,
    /// The process id that [`Effect::Identity`] would tell now, and nothing more: to see a fork. Never cancelled.
    /// Answer: [`Outcome::Pid`].
    OwnPid,
    /// 128 fresh bits of the system's randomness, as 32 lower-case hex digits. Answer: [`Outcome::Nonce`].
    Nonce,
    /// Make a marker, complete or not at all: in the marker directory (made where it is missing; one that is open
    /// already serves as long as it is there), write `content` to a new `<nonce>.tmp`, rename that to `<nonce>.json`.
    /// Where this fails, remove the `.tmp` again. A directory that vanished in between is
    /// [`FileCode::DirectoryVanished`]: the machine decides about trying again. One that was moved away may serve, too:
    /// [`Effect::List`] tells it then. Answer: [`Outcome::Done`].
    Publish {
        /// The name of both files without its ending.
        nonce: String,
        /// All of the file.
        content: String,
    },
    /// The names in the marker directory, in any order. Those that are not 32 lower-case hex digits with `.json` or
    /// `.tmp` may be left out: nothing of ours is called so. Of the others, every one is told, up to
    /// [`NAMES_MAX`](super::NAMES_MAX) + 1. After a publication, a destination that no longer leads to the directory of
    /// the marker is [`FileCode::DirectoryVanished`]. Answer: [`Outcome::Names`], or [`Outcome::Absent`] where there is no marker
    /// directory.
    List,
    /// Read an ordinary file whole, up to `limit` bytes; one byte more, at the start or while it grows, is
    /// [`Outcome::TooLarge`]. Not followed, not blocking. Answer: [`Outcome::Content`], [`Outcome::NotOrdinary`],
    /// [`Outcome::TooLarge`] or [`Outcome::Absent`] (no such file, or no marker directory any more).
    Read {
        /// The file.
        name: String,
        /// In bytes.
        limit: usize,
        /// May not be cancelled.
        clean_up: bool,
    },
    /// Is there a process of this id? Only the system's exact "no such process" is [`Outcome::Dead`]; whatever else it
    /// says, also permission denied, is [`Outcome::Alive`].
    Probe {
        /// From 1 to 2^31 - 1.
        pid: u32,
    },
    /// How much older a file is than one just written beside it: make the file `beside` (it must be new), compare the
    /// times of change of both, remove it. Where this fails and that file stays, `detail` of the failure names it.
    /// Answer: [`Outcome::Age`], or [`Outcome::Absent`] where the first is gone.
    Age {
        /// The file.
        name: String,
        /// The name for the new file.
        beside: String,
    },
    /// Remove this name, whatever it is, but no directory; a link is not followed. It opens no file.
    /// Answer: [`Outcome::Done`] or [`Outcome::Absent`].
    Remove {
        /// The file.
        name: String,
        /// May not be cancelled.
        clean_up: bool,
    },
    /// Remove the marker directory if nothing is in it. Never cancelled; whatever the answer is, it changes nothing.
    RemoveDirectoryIfEmpty,
    /// Look at the signal that cancels this operation. Answer: [`Outcome::Done`] or [`Outcome::Cancelled`].
    Signal,
}

impl Effect {
    /// The name that every runtime uses for it: the step that a failure names.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ResolveRoot => "resolve-root",
            Self::LegacyExists { .. } => "legacy-exists",
            Self::Identity => "identity",
            Self::OwnPid => "own-pid",
            Self::Nonce => "nonce",
            Self::Publish { .. } => "publish",
            Self::List => "list",
            Self::Read { .. } => "read",
            Self::Probe { .. } => "probe",
            Self::Age { .. } => "age",
            Self::Remove { .. } => "remove",
            Self::RemoveDirectoryIfEmpty => "remove-directory",
            Self::Signal => "signal",
        }
    }

    /// Does it clean up? Then the host carries it out even when it was cancelled.
    pub fn cleans_up(&self) -> bool {
        match self {
            Self::Read { clean_up, .. } | Self::Remove { clean_up, .. } => *clean_up,
            Self::OwnPid | Self::RemoveDirectoryIfEmpty => true,
            _ => false,
        }
    }
}

/// What came of an effect.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The destination is a directory.
    Root {
        /// Its physical path, as it is shown; what is not UTF-8 in it is replaced.
        root: String,
        /// The path of the marker directory below it, whether it exists or not.
        markers: String,
    },
    /// There is something by that name.
    Present {
        /// Its path, as it is shown.
        path: String,
    },
    /// Nothing by that name.
    Absent,
    /// Who this process is.
    Identity(Identity),
    /// The process id.
    Pid(u32),
    /// 32 lower-case hex digits.
    Nonce(String),
    /// The names in the marker directory.
    Names(Vec<String>),
    /// The whole of an ordinary file.
    Content {
        /// Its bytes.
        bytes: Vec<u8>,
        /// When it was last changed, in milliseconds since 1970 by the clock of its file system, where that is known.
        since_ms: Option<u64>,
    },
    /// It is no ordinary file: a link, directory, fifo, socket or device.
    NotOrdinary,
    /// It is an ordinary file, and larger than the limit.
    TooLarge,
    /// There is such a process, or it cannot be ruled out.
    Alive,
    /// There is no such process.
    Dead,
    /// The age of a file, in milliseconds; 0 where it is newer.
    Age(u64),
    /// It is done.
    Done,
    /// It was not started: the operation is cancelled.
    Cancelled,
    /// It could not be done.
    Failed(FileError),
}

/// Who a process is, as its markers say.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The host name; outside the initial pid namespace followed by `;pidns=<id>@<boot id>`, or by `;pidns=?` where
    /// that cannot be read. Processes of equal hosts can probe each other, except of those that end in `;pidns=?`.
    pub host: String,
    /// The process id, from 1 to 2^31 - 1.
    pub pid: u32,
}

/// Why an effect could not be done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileError {
    /// Which kind of failure.
    pub code: FileCode,
    /// The path it happened at, as it is shown; empty where none has to do with it.
    pub path: String,
    /// What the system said, for a person.
    pub detail: String,
}

/// The kinds of failure that a host tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileCode {
    /// There is no such file or directory (`ENOENT`).
    NotFound,
    /// A directory is expected where none is (`ENOTDIR`).
    NotADirectory,
    /// The system does not allow it (`EACCES`, `EPERM`).
    PermissionDenied,
    /// The file system is read-only (`EROFS`).
    ReadOnly,
    /// No space, no quota or no inodes are left (`ENOSPC`, `EDQUOT`).
    NoSpace,
    /// This process or the system has too many files open (`EMFILE`, `ENFILE`).
    TooManyOpenFiles,
    /// A name or path is too long (`ENAMETOOLONG`).
    NameTooLong,
    /// Too many links, or one where none is followed (`ELOOP`).
    Link,
    /// There is a file already where a new one was to be made (`EEXIST`).
    AlreadyExists,
    /// The device failed (`EIO`).
    InputOutput,
    /// The marker directory was there, and went before the work was done.
    DirectoryVanished,
    /// The marker directory is a link, or no directory: it is not touched.
    MarkerDirectoryUnsafe,
    /// Anything else; `detail` tells.
    Other,
}

impl FileCode {
    /// Every code.
    pub const ALL: [Self; 13] = [
        Self::NotFound,
        Self::NotADirectory,
        Self::PermissionDenied,
        Self::ReadOnly,
        Self::NoSpace,
        Self::TooManyOpenFiles,
        Self::NameTooLong,
        Self::Link,
        Self::AlreadyExists,
        Self::InputOutput,
        Self::DirectoryVanished,
        Self::MarkerDirectoryUnsafe,
        Self::Other,
    ];

    /// The name that every runtime uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::NotADirectory => "not-a-directory",
            Self::PermissionDenied => "permission-denied",
            Self::ReadOnly => "read-only",
            Self::NoSpace => "no-space",
            Self::TooManyOpenFiles => "too-many-open-files",
            Self::NameTooLong => "name-too-long",
            Self::Link => "link",
            Self::AlreadyExists => "already-exists",
            Self::InputOutput => "input-output",
            Self::DirectoryVanished => "directory-vanished",
            Self::MarkerDirectoryUnsafe => "marker-directory-unsafe",
            Self::Other => "other",
        }
    }

    /// What happened, for a person.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::NotFound => "there is no such file or directory",
            Self::NotADirectory => "there is a file where a directory is expected",
            Self::PermissionDenied => "the system does not allow it",
            Self::ReadOnly => "the file system is read-only",
            Self::NoSpace => "no space is left",
            Self::TooManyOpenFiles => "too many files are open",
            Self::NameTooLong => "a name is too long",
            Self::Link => "there is a link where none is followed, or links lead in a circle",
            Self::AlreadyExists => "there is a file already",
            Self::InputOutput => "the device failed",
            Self::DirectoryVanished => "the marker directory vanished",
            Self::MarkerDirectoryUnsafe => "the marker directory is a link, or no directory",
            Self::Other => "the system refused",
        }
    }
}
