//! Writer leases on the command line: `leasebook run`, `inspect` and `recover`.
//!
//! Nothing is decided here. The store decides by the machines of the core; these commands say what it answered.

mod command;
mod inspect;
#[cfg(unix)]
mod mask;
mod recover;
mod run;
mod said;
mod signals;
mod wait;
mod words;

pub use inspect::Arguments as InspectArguments;
pub use recover::Arguments as RecoverArguments;
pub use run::Arguments as RunArguments;

pub use inspect::run as inspect;
pub use recover::run as recover;
pub use run::run;

use crate::exit::Exit;
use crate::stderr;
use leasebook_files::WriterLeaseStore;
use leasebook_files::marker::{Code, Failure, FileCode};
use std::path::{Path, PathBuf};

/// The marker directory where none is named: the same in the examples of every runtime, so that who follows them is in
/// each other's way.
const MARKER_DIRECTORY: &str = ".leasebook-writers";

/// Which directory is meant, and where its markers are.
#[derive(clap::Args, Debug)]
struct Place {
    /// The directory that is written to; it must exist
    #[arg(value_name = "DEST")]
    destination: PathBuf,
    /// The name of the marker directory in it; all who write there must use the same
    #[arg(long, value_name = "NAME", default_value = MARKER_DIRECTORY)]
    marker_dir: String,
}

impl Place {
    /// What a store for it answers; or how a run ends that failed, which is said.
    fn ask<T>(&self, question: impl FnOnce(&WriterLeaseStore, &Path) -> Result<T, Failure>) -> Result<T, Exit> {
        question(&self.store(&[])?, &self.destination).map_err(|failure| failed(&failure))
    }

    /// A store for it, or how a run ends whose names are none.
    fn store(&self, legacy: &[String]) -> Result<WriterLeaseStore, Exit> {
        let builder = WriterLeaseStore::builder(&self.marker_dir).legacy(legacy.iter().map(String::as_str));
        // What comes of a lease is said by who releases it.
        builder.on_drop_failure(|_| {}).build().map_err(|invalid| {
            stderr::say(format_args!("error: {invalid}"));
            Exit::Usage
        })
    }
}

/// What is said beside a failure, for whom the marker directory is another account's.
const OF_ANOTHER_ACCOUNT: &str =
    "  where several accounts write, make the marker directory beforehand, for a group of theirs: mkdir -m 2775";

/// Says what failed before a command ran, and how a run ends by it.
fn failed(failure: &Failure) -> Exit {
    stderr::say(format_args!("error: {failure}"));
    let exit = exit_of(failure);
    if exit == Exit::NotPermitted && failure.step != RESOLVE_ROOT {
        stderr::say(OF_ANOTHER_ACCOUNT);
    }
    exit
}

/// The step that finds the destination.
const RESOLVE_ROOT: &str = "resolve-root";

fn exit_of(failure: &Failure) -> Exit {
    use FileCode::{Link, MarkerDirectoryUnsafe, NameTooLong, NotADirectory, NotFound, PermissionDenied};
    match failure.code {
        Code::File(PermissionDenied) => Exit::NotPermitted,
        Code::File(NotFound | NotADirectory | NameTooLong | Link) if failure.step == RESOLVE_ROOT => Exit::NoInput,
        Code::File(MarkerDirectoryUnsafe) => Exit::NoInput,
        Code::InvalidNonce => Exit::Usage,
        Code::File(_) if failure.step == "publish" => Exit::CannotCreate,
        _ => Exit::Io,
    }
}
