//! File functions that tell a test of each step before it happens, and that the test may let fail.

use super::MARKERS;
use leasebook_files::{Contents, FileError, Liveness, MarkerFiles, Places, SystemFiles, WriterLeaseStore};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What a test does at a step: its name, and its number from 1, counted over all operations of a store. `Some` is what
/// happens instead.
type Hook = dyn FnMut(&'static str, usize) -> Option<FileError> + Send;

/// The real functions, watched.
struct Watched {
    inner: SystemFiles,
    hook: Arc<Mutex<(usize, Box<Hook>)>>,
}

/// A store whose steps are watched.
pub fn watched(hook: impl FnMut(&'static str, usize) -> Option<FileError> + Send + 'static) -> WriterLeaseStore {
    watched_with(&[], hook)
}

/// A store with legacy names whose steps are watched.
pub fn watched_with(
    legacy: &[&str],
    hook: impl FnMut(&'static str, usize) -> Option<FileError> + Send + 'static,
) -> WriterLeaseStore {
    let hook: Arc<Mutex<(usize, Box<Hook>)>> = Arc::new(Mutex::new((0, Box::new(hook))));
    WriterLeaseStore::builder(MARKERS)
        .legacy(legacy.iter().copied())
        .files(move |destination, directory| {
            Box::new(Watched { inner: SystemFiles::new(destination, directory), hook: Arc::clone(&hook) })
        })
        .build()
        .unwrap()
}

impl Watched {
    fn step(&mut self, name: &'static str) -> Result<&mut SystemFiles, FileError> {
        let mut hook = self.hook.lock().unwrap();
        hook.0 += 1;
        let count = hook.0;
        match (hook.1)(name, count) {
            Some(error) => Err(error),
            None => Ok(&mut self.inner),
        }
    }
}

impl MarkerFiles for Watched {
    fn resolve_root(&mut self) -> Result<Places, FileError> {
        self.step("resolve-root")?.resolve_root()
    }

    fn legacy_exists(&mut self, name: &str) -> Result<Option<PathBuf>, FileError> {
        self.step("legacy-exists")?.legacy_exists(name)
    }

    fn identity(&mut self) -> Result<String, FileError> {
        self.step("identity")?.identity()
    }

    fn nonce(&mut self) -> Result<String, FileError> {
        self.step("nonce")?.nonce()
    }

    fn publish(&mut self, nonce: &str, content: &[u8]) -> Result<(), FileError> {
        self.step("publish")?.publish(nonce, content)
    }

    fn list(&mut self) -> Result<Option<Vec<String>>, FileError> {
        self.step("list")?.list()
    }

    fn read(&mut self, name: &str, limit: usize) -> Result<Contents, FileError> {
        self.step("read")?.read(name, limit)
    }

    fn probe(&mut self, pid: u32) -> Liveness {
        match self.step("probe") {
            Ok(inner) => inner.probe(pid),
            Err(_) => Liveness::Alive,
        }
    }

    fn age_ms(&mut self, name: &str, beside: &str) -> Result<Option<u64>, FileError> {
        self.step("age")?.age_ms(name, beside)
    }

    fn remove(&mut self, name: &str) -> Result<bool, FileError> {
        self.step("remove")?.remove(name)
    }

    fn remove_directory_if_empty(&mut self) -> Result<bool, FileError> {
        self.step("remove-directory")?.remove_directory_if_empty()
    }
}
