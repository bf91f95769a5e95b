//! The loop that carries out what a machine asks for. It decides nothing.

use crate::cancel::Cancel;
use crate::error::{FileCode, FileError, FileStep};
use crate::marker_files::{Contents, Liveness, MarkerFiles};
use leasebook::marker::{self, Effect, Failure, Identity, Outcome, Step};
use std::path::Path;

/// Drives a machine to its end.
pub fn drive<T>(
    files: &mut dyn MarkerFiles,
    cancel: Option<&Cancel>,
    mut next: impl FnMut(Option<Outcome>) -> Step<Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut outcome = None;
    loop {
        match next(outcome) {
            Step::Effect(effect) => outcome = Some(perform(files, cancel, effect)),
            Step::Done(result) => return result,
        }
    }
}

fn perform(files: &mut dyn MarkerFiles, cancel: Option<&Cancel>, effect: Effect) -> Outcome {
    if !effect.cleans_up() && cancel.is_some_and(Cancel::is_cancelled) {
        return Outcome::Cancelled;
    }
    carry_out(files, effect).unwrap_or_else(|error| Outcome::Failed(told(&error)))
}

fn carry_out(files: &mut dyn MarkerFiles, effect: Effect) -> Result<Outcome, FileError> {
    Ok(match effect {
        Effect::ResolveRoot => {
            let places = files.resolve_root()?;
            Outcome::Root { root: shown(&places.root), markers: shown(&places.markers) }
        }
        Effect::LegacyExists { name } => match files.legacy_exists(&name)? {
            Some(path) => Outcome::Present { path: shown(&path) },
            None => Outcome::Absent,
        },
        Effect::Identity => Outcome::Identity(Identity { host: files.identity()?, pid: std::process::id() }),
        Effect::OwnPid => Outcome::Pid(std::process::id()),
        Effect::Nonce => Outcome::Nonce(files.nonce()?),
        Effect::Publish { nonce, content } => {
            files.publish(&nonce, content.as_bytes())?;
            Outcome::Done
        }
        Effect::List => files.list()?.map_or(Outcome::Absent, Outcome::Names),
        Effect::Read { name, limit, .. } => match files.read(&name, limit)? {
            Contents::Absent => Outcome::Absent,
            Contents::Whole { bytes, since_ms } => Outcome::Content { bytes, since_ms },
            Contents::TooLarge => Outcome::TooLarge,
            Contents::NotOrdinary => Outcome::NotOrdinary,
        },
        Effect::Probe { pid } => match files.probe(pid) {
            Liveness::Dead => Outcome::Dead,
            Liveness::Alive => Outcome::Alive,
        },
        Effect::Age { name, beside } => files.age_ms(&name, &beside)?.map_or(Outcome::Absent, Outcome::Age),
        Effect::Remove { name, .. } => done(files.remove(&name)?),
        Effect::RemoveDirectoryIfEmpty => done(files.remove_directory_if_empty()?),
        Effect::Signal => Outcome::Done,
    })
}

fn done(there_was_one: bool) -> Outcome {
    if there_was_one { Outcome::Done } else { Outcome::Absent }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// An error in the words of the core, which knows of no paths.
fn told(error: &FileError) -> marker::FileError {
    let code = match error.code {
        FileCode::NotFound => marker::FileCode::NotFound,
        FileCode::NotADirectory => marker::FileCode::NotADirectory,
        FileCode::Link => marker::FileCode::Link,
        FileCode::PermissionDenied => marker::FileCode::PermissionDenied,
        FileCode::ReadOnly => marker::FileCode::ReadOnly,
        FileCode::NoSpace => marker::FileCode::NoSpace,
        FileCode::TooManyOpenFiles => marker::FileCode::TooManyOpenFiles,
        FileCode::NameTooLong => marker::FileCode::NameTooLong,
        FileCode::AlreadyExists => marker::FileCode::AlreadyExists,
        FileCode::InputOutput => marker::FileCode::InputOutput,
        // The contract has one word for both: what this operation works in is not where others look.
        FileCode::DirectoryVanished | FileCode::DirectoryReplaced => marker::FileCode::DirectoryVanished,
        FileCode::MarkerDirectoryUnsafe => marker::FileCode::MarkerDirectoryUnsafe,
        FileCode::InvalidName | FileCode::Other => marker::FileCode::Other,
    };
    let mut detail = error.source.to_string();
    // After a failed publication the machine removes what is left, and names what it cannot.
    if let (Some(left), true) = (&error.left, error.step != FileStep::Publish) {
        detail += &format!("; {} could not be removed and is still there", left.display());
    }
    marker::FileError { code, path: shown(&error.path), detail }
}
