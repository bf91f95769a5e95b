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

pub use inspect::Arguments as InspectArguments;
pub use recover::Arguments as RecoverArguments;
pub use run::Arguments as RunArguments;

pub use inspect::run as inspect;
pub use recover::run as recover;
pub use run::run;

use crate::exit::Exit;
use leasebook_files::WriterLeaseStore;
use leasebook_files::marker::{Code, Failure, FileCode};
use std::path::PathBuf;

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
    /// A store for it, or how a run ends whose names are none.
    fn store(&self, legacy: &[String]) -> Result<WriterLeaseStore, Exit> {
        let builder = WriterLeaseStore::builder(&self.marker_dir).legacy(legacy.iter().map(String::as_str));
        // What comes of a lease is said by who releases it.
        builder.on_drop_failure(|_| {}).build().map_err(|invalid| {
            eprintln!("error: {invalid}");
            Exit::Usage
        })
    }
}

/// Says what failed, and how a run ends by it.
fn failed(failure: &Failure) -> Exit {
    eprintln!("error: {failure}");
    match failure.code {
        Code::File(FileCode::PermissionDenied) => Exit::NotPermitted,
        Code::File(FileCode::NotFound | FileCode::NotADirectory | FileCode::Link) if failure.step == "resolve-root" => {
            Exit::NoInput
        }
        Code::OwnMarkerGone | Code::OwnMarkerChanged => Exit::Marker,
        Code::InvalidNonce => Exit::Usage,
        Code::File(_) if failure.step == "publish" => Exit::CannotCreate,
        _ => Exit::Io,
    }
}
