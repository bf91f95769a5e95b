//! The user cache: what is built once per machine, whole or not at all.
//!
//! An entry is a folder named by everything its contents depend on. It is built in a fresh `<key>.partial-…` beside its
//! place and appears there by one rename. A lock file, held for the whole build and given back by the system when its
//! process ends, makes concurrent runs wait for one another; so another `<key>.partial-…` met under the lock belongs to
//! a dead run and is swept. Tools that such a run has started may outlive it and write into theirs for a while, never
//! into ours. Entries are never changed or removed here; the whole folder may be deleted at any time.

use std::env;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::progress::Step;

/// A folder of entries.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

/// The moments of a publication at which a run may die; tests make it die at each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The lock is held.
    Locked,
    /// The leavings of a dead run are gone.
    Swept,
    /// The temporary folder exists and is empty.
    Begun,
    /// Its contents are complete.
    Built,
    /// Its contents are on the disk.
    Synced,
    /// It stands in its place.
    Published,
}

impl Cache {
    /// The user's cache: `$XDG_CACHE_HOME/leasebook`, else `~/.cache/leasebook`.
    pub fn of_user() -> Result<Self> {
        Self::from_environment(|name| env::var_os(name).map(PathBuf::from))
    }

    fn from_environment(variable: impl Fn(&str) -> Option<PathBuf>) -> Result<Self> {
        // A relative path in XDG_CACHE_HOME is to be ignored, says the specification of that variable.
        let absolute = |name| variable(name).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .or_else(|| absolute("LOCALAPPDATA"));
        match base {
            Some(base) => Ok(Cache { root: base.join("leasebook") }),
            None => bail!("no cache folder: set HOME or XDG_CACHE_HOME to an absolute path"),
        }
    }

    /// A cache in a given folder.
    #[cfg(test)]
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Cache { root: root.into() }
    }

    /// Where the entry is or would be.
    pub fn place(&self, key: &str) -> PathBuf {
        self.root.join(key)
    }

    /// The entry's folder, if it was built.
    pub fn get(&self, key: &str) -> Option<PathBuf> {
        Some(self.place(key)).filter(|place| place.is_dir())
    }

    /// The entry's folder; built by `build`, which gets an empty folder, unless it is there.
    pub fn get_or_build(&self, key: &str, build: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        self.publish(key, build, |_| Ok(()))
    }

    fn publish(
        &self,
        key: &str,
        build: impl FnOnce(&Path) -> Result<()>,
        mut reached: impl FnMut(Moment) -> Result<()>,
    ) -> Result<PathBuf> {
        if let Some(place) = self.get(key) {
            return Ok(place);
        }
        fs::create_dir_all(&self.root).with_context(|| format!("create the cache folder {}", self.root.display()))?;
        let _lock = lock(&self.root.join(format!("{key}.lock")))?;
        reached(Moment::Locked)?;
        if let Some(place) = self.get(key) {
            return Ok(place);
        }
        let place = self.place(key);
        let prefix = format!("{key}.partial-");
        self.sweep(&prefix);
        reached(Moment::Swept)?;
        let partial = tempfile::Builder::new().prefix(&prefix).tempdir_in(&self.root);
        let partial = partial.with_context(|| format!("create a folder in {}", self.root.display()))?.keep();
        let published = (|| {
            reached(Moment::Begun)?;
            build(&partial)?;
            reached(Moment::Built)?;
            sync_all(&partial).with_context(|| format!("write {} to the disk", partial.display()))?;
            reached(Moment::Synced)?;
            fs::rename(&partial, &place)
                .with_context(|| format!("rename {} to {}", partial.display(), place.display()))?;
            reached(Moment::Published)
        })();
        if published.is_err() {
            // The error that led here is the one to tell; what stays is swept by the next run.
            self.sweep(&prefix);
        }
        published.map(|()| place)
    }

    /// Removes what dead runs left of an entry. What cannot be removed now, since a tool that outlived its run still
    /// writes there, is in nobody's way and is met again by the next run that builds.
    fn sweep(&self, prefix: &str) {
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Takes the lock at `path`, waiting for another run that holds it; given back when the answer is dropped.
pub fn lock(path: &Path) -> Result<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .with_context(|| format!("open the lock file {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error).with_context(|| format!("lock {}", path.display())),
    }
    let step = Step::begin("wait for another run of xtask");
    let locked = file.lock().with_context(|| format!("lock {}", path.display()));
    step.end(if locked.is_ok() { "ok    " } else { "failed" });
    locked.map(|()| file)
}

/// Writes a folder's files to the disk, so that a rename never outlives what it names. Where a read-only handle cannot
/// ask for that (Windows), it is left to the system.
fn sync_all(folder: &Path) -> std::io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            sync_all(&entry.path())?;
        } else if kind.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const MOMENTS: [Moment; 6] =
        [Moment::Locked, Moment::Swept, Moment::Begun, Moment::Built, Moment::Synced, Moment::Published];

    fn leavings(cache: &Cache) -> Vec<PathBuf> {
        let entries = fs::read_dir(&cache.root).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.to_string_lossy().contains(".partial-")).collect()
    }

    fn fill(folder: &Path) -> Result<()> {
        fs::create_dir(folder.join("lib"))?;
        fs::write(folder.join("lib/one"), "1")?;
        fs::write(folder.join("two"), "2")?;
        Ok(())
    }

    fn assert_whole(place: &Path) {
        assert_eq!(fs::read_to_string(place.join("lib/one")).unwrap(), "1");
        assert_eq!(fs::read_to_string(place.join("two")).unwrap(), "2");
    }

    #[test]
    fn an_entry_is_built_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        assert_eq!(cache.get("a-1"), None);
        let place = cache.get_or_build("a-1", fill).unwrap();
        assert_whole(&place);
        assert_eq!(cache.get("a-1"), Some(place.clone()));
        assert_eq!(cache.get_or_build("a-1", |_| bail!("built twice")).unwrap(), place);
    }

    /// A panic stands for the death of the process: it unwinds past every line that would clean up, and gives the lock
    /// back as the system does.
    #[test]
    fn a_run_that_dies_at_any_moment_leaves_nothing_half_built_and_the_next_recovers() {
        for dies_at in MOMENTS {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(folder.path());
            let died = catch_unwind(AssertUnwindSafe(|| {
                cache.publish(
                    "a-1",
                    fill,
                    |moment| if moment == dies_at { panic!("dies at {moment:?}") } else { Ok(()) },
                )
            }));
            assert!(died.is_err(), "{dies_at:?} was not reached");
            assert_eq!(cache.get("a-1").is_some(), dies_at == Moment::Published, "{dies_at:?}");
            assert_whole(&cache.get_or_build("a-1", fill).unwrap());
            assert_eq!(leavings(&cache), Vec::<PathBuf>::new(), "{dies_at:?}");
        }
    }

    #[test]
    fn a_run_that_dies_inside_the_build_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let died = catch_unwind(AssertUnwindSafe(|| {
            cache.get_or_build("a-1", |partial| {
                fs::write(partial.join("half"), "h")?;
                panic!("dies half way")
            })
        }));
        assert!(died.is_err());
        assert!(leavings(&cache)[0].join("half").exists(), "death cleans nothing");
        let place = cache.get_or_build("a-1", fill).unwrap();
        assert_eq!(leavings(&cache), Vec::<PathBuf>::new());
        assert_whole(&place);
        assert!(!place.join("half").exists());
    }

    #[test]
    fn a_build_that_fails_cleans_up_and_tells_its_own_error() {
        for fails_at in MOMENTS {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(folder.path());
            let error = cache
                .publish("a-1", fill, |moment| if moment == fails_at { bail!("fails at {moment:?}") } else { Ok(()) })
                .unwrap_err();
            assert_eq!(error.to_string(), format!("fails at {fails_at:?}"));
            assert_eq!(leavings(&cache), Vec::<PathBuf>::new(), "{fails_at:?}");
            assert_whole(&cache.get_or_build("a-1", fill).unwrap());
        }
    }

    #[test]
    fn concurrent_runs_build_one_entry_once() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let builds = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let place = cache.get_or_build("a-1", |partial| {
                        builds.fetch_add(1, Ordering::SeqCst);
                        fill(partial)
                    });
                    assert_whole(&place.unwrap());
                });
            }
        });
        assert_eq!(builds.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn the_cache_folder_follows_the_environment() {
        let with = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(String, PathBuf)> =
                pairs.iter().map(|(name, value)| ((*name).to_owned(), PathBuf::from(value))).collect();
            Cache::from_environment(|name| pairs.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone()))
                .map(|cache| cache.root)
                .ok()
        };
        assert_eq!(with(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), Some(PathBuf::from("/c/leasebook")));
        assert_eq!(with(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]), Some(PathBuf::from("/h/.cache/leasebook")));
        assert_eq!(with(&[("HOME", "/h")]), Some(PathBuf::from("/h/.cache/leasebook")));
        assert_eq!(with(&[("HOME", "")]), None);
    }
}
