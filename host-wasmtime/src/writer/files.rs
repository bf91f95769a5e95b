//! The marker files that the component imports, carried out on a file system.

use crate::bindings::writer::leasebook::lease::marker_files as wit;
use crate::component::State;
use leasebook_files::{Cancel, Contents, FileCode, FileError, FileStep, InvalidName, Liveness, MarkerFiles};
use std::path::Path;
use wasmtime::Result;
use wasmtime::component::{Resource, ResourceTable};

/// Makes the file functions of one operation, on a destination and a marker directory.
pub(super) type MakeFiles = dyn Fn(&Path, &str) -> std::result::Result<Box<dyn MarkerFiles + Send>, InvalidName> + Send;

/// The file functions of one operation or of one lease, as the component's handle names them.
pub struct Place {
    files: std::result::Result<Box<dyn MarkerFiles + Send>, wit::FileError>,
}

/// The places of one instance.
pub(crate) struct Files {
    make: Box<MakeFiles>,
    places: ResourceTable,
    /// What ends the running operation.
    cancel: Option<Cancel>,
    /// What the running operation has published, or tried to: the place and the nonce.
    published: Vec<(u32, String)>,
}

impl Files {
    pub fn new(make: Box<MakeFiles>) -> Self {
        Self { make, places: ResourceTable::new(), cancel: None, published: Vec::new() }
    }

    /// An operation begins.
    pub fn begin(&mut self, cancel: Option<&Cancel>) {
        self.cancel = cancel.cloned();
        self.published.clear();
    }

    /// The running operation trapped: what it published goes, since nobody will ever release it. Answers the paths of
    /// markers that could not be removed.
    pub fn clean_up(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        for (place, nonce) in std::mem::take(&mut self.published) {
            let place = Resource::<Place>::new_borrow(place);
            let Ok(Place { files: Ok(files) }) = self.places.get_mut(&place) else { continue };
            for name in [format!("{nonce}.json"), format!("{nonce}.tmp")] {
                if let Err(error) = files.remove(&name) {
                    left.push(error.path.display().to_string());
                }
            }
        }
        left
    }
}

impl State {
    fn files(&mut self) -> Result<&mut Files> {
        self.files.as_mut().ok_or_else(|| wasmtime::format_err!("an instance that keeps a table has no marker files"))
    }

    /// Runs one effect. Unless it cleans up, it is not begun once the operation is cancelled.
    fn effect<T>(
        &mut self,
        place: &Resource<Place>,
        clean_up: bool,
        run: impl FnOnce(&mut dyn MarkerFiles) -> std::result::Result<T, FileError>,
    ) -> Result<std::result::Result<T, wit::Failure>> {
        let files = self.files()?;
        if !clean_up && files.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
            return Ok(Err(wit::Failure::Cancelled));
        }
        Ok(match &mut files.places.get_mut(place)?.files {
            Ok(files) => run(&mut **files).map_err(|error| wit::Failure::Failed(told(&error))),
            Err(error) => Err(wit::Failure::Failed(error.clone())),
        })
    }
}

type Answer<T> = Result<std::result::Result<T, wit::Failure>>;

impl wit::Host for State {
    fn own_pid(&mut self) -> Result<u32> {
        Ok(std::process::id())
    }

    fn cancelled(&mut self) -> Result<bool> {
        Ok(self.files()?.cancel.as_ref().is_some_and(Cancel::is_cancelled))
    }
}

impl wit::HostPlace for State {
    fn new(&mut self, destination: String, marker_directory: String) -> Result<Resource<Place>> {
        let files = self.files()?;
        let made = (files.make)(Path::new(&destination), &marker_directory).map_err(|invalid| wit::FileError {
            code: wit::FileCode::Other,
            path: marker_directory,
            detail: invalid.to_string(),
        });
        Ok(files.places.push(Place { files: made })?)
    }

    fn resolve_root(&mut self, place: Resource<Place>) -> Answer<String> {
        self.effect(&place, false, |files| Ok(shown(&files.resolve_root()?.markers)))
    }

    fn identity(&mut self, place: Resource<Place>) -> Answer<wit::Identity> {
        self.effect(&place, false, |files| Ok(wit::Identity { host: files.identity()?, pid: std::process::id() }))
    }

    fn nonce(&mut self, place: Resource<Place>) -> Answer<String> {
        self.effect(&place, false, |files| files.nonce())
    }

    fn is_dead(&mut self, place: Resource<Place>, pid: u32) -> Answer<bool> {
        self.effect(&place, false, |files| Ok(files.probe(pid) == Liveness::Dead))
    }

    fn legacy_exists(&mut self, place: Resource<Place>, name: String) -> Answer<Option<String>> {
        self.effect(&place, false, |files| Ok(files.legacy_exists(&name)?.as_deref().map(shown)))
    }

    fn publish(&mut self, place: Resource<Place>, nonce: String, content: String) -> Answer<()> {
        let at = place.rep();
        let done = self.effect(&place, false, |files| files.publish(&nonce, content.as_bytes()))?;
        if done != Err(wit::Failure::Cancelled) {
            self.files()?.published.push((at, nonce));
        }
        Ok(done)
    }

    fn list_names(&mut self, place: Resource<Place>) -> Answer<Option<Vec<String>>> {
        self.effect(&place, false, |files| files.list())
    }

    fn read(&mut self, place: Resource<Place>, name: String, limit: u32, clean_up: bool) -> Answer<wit::Contents> {
        self.effect(&place, clean_up, |files| {
            Ok(match files.read(&name, limit as usize)? {
                Contents::Absent => wit::Contents::Absent,
                Contents::Whole { bytes, since_ms } => wit::Contents::Whole(wit::Whole { bytes, since_ms }),
                Contents::TooLarge => wit::Contents::TooLarge,
                Contents::NotOrdinary => wit::Contents::NotOrdinary,
            })
        })
    }

    fn age(&mut self, place: Resource<Place>, name: String, beside: String) -> Answer<Option<u64>> {
        self.effect(&place, false, |files| files.age_ms(&name, &beside))
    }

    fn remove(&mut self, place: Resource<Place>, name: String, clean_up: bool) -> Answer<bool> {
        self.effect(&place, clean_up, |files| files.remove(&name))
    }

    fn remove_directory_if_empty(&mut self, place: Resource<Place>) -> Result<()> {
        // That it is not empty, or gone, or kept by its permissions, is all the same.
        let _ = self.effect(&place, true, |files| files.remove_directory_if_empty())?;
        Ok(())
    }

    fn drop(&mut self, place: Resource<Place>) -> Result<()> {
        self.files()?.places.delete(place)?;
        Ok(())
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn told(error: &FileError) -> wit::FileError {
    let code = match error.code {
        FileCode::NotFound => wit::FileCode::NotFound,
        FileCode::NotADirectory => wit::FileCode::NotADirectory,
        FileCode::Link => wit::FileCode::Link,
        FileCode::PermissionDenied => wit::FileCode::PermissionDenied,
        FileCode::ReadOnly => wit::FileCode::ReadOnly,
        FileCode::NoSpace => wit::FileCode::NoSpace,
        FileCode::TooManyOpenFiles => wit::FileCode::TooManyOpenFiles,
        FileCode::NameTooLong => wit::FileCode::NameTooLong,
        FileCode::AlreadyExists => wit::FileCode::AlreadyExists,
        FileCode::InputOutput => wit::FileCode::InputOutput,
        // One word for both: what this operation works in is not where others look.
        FileCode::DirectoryVanished | FileCode::DirectoryReplaced => wit::FileCode::DirectoryVanished,
        FileCode::MarkerDirectoryUnsafe => wit::FileCode::MarkerDirectoryUnsafe,
        FileCode::InvalidName | FileCode::Other => wit::FileCode::Other,
    };
    let mut detail = error.source.to_string();
    // The machine removes what is left of a publication, and names what it cannot.
    if let Some(left) = &error.left
        && error.step != FileStep::Publish
    {
        detail += &format!("; {} could not be removed and is still there", left.display());
    }
    wit::FileError { code, path: shown(&error.path), detail }
}
