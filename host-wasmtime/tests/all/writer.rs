//! Writer leases through the component, on real files.

use super::COMPONENT;
use leasebook_files::{Contents, DirectoryName, FileError, FileStep, Liveness, MarkerFiles, Places, SystemFiles};
use leasebook_wasmtime::CallError;
use leasebook_wasmtime::writer::{
    Acquisition, BuildError, Builder, Cancel, Code, DropFailure, Failed, FileCode, MarkerState, NamedRemoval, Released,
    WriterError, WriterLease, WriterLeaseStore,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

const MARKERS: &str = ".writers";

/// A process id that no system gives: the highest that a marker may name.
const NOBODY: u32 = (1 << 31) - 1;

struct Archive {
    folder: TempDir,
}

impl Archive {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &str {
        self.folder.path().to_str().unwrap()
    }

    fn markers(&self) -> PathBuf {
        self.folder.path().join(MARKERS)
    }

    /// The names in the marker directory.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.markers()) else { return Vec::new() };
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A marker of somebody else.
    fn marker(&self, nonce: &str, host: &str, pid: u32) {
        fs::create_dir_all(self.markers()).unwrap();
        let line = format!("{{\"version\":1,\"pid\":{pid},\"host\":\"{host}\",\"nonce\":\"{nonce}\"}}\n");
        fs::write(self.markers().join(format!("{nonce}.json")), line).unwrap();
    }
}

fn builder() -> Builder {
    WriterLeaseStore::builder(MARKERS).identity("here").component(&COMPONENT)
}

fn store() -> WriterLeaseStore {
    builder().build().unwrap()
}

fn acquired(acquisition: Result<Acquisition, WriterError>) -> WriterLease {
    match acquisition.unwrap() {
        Acquisition::Acquired(lease) => lease,
        other => panic!("{other:?}"),
    }
}

fn failed(error: WriterError) -> Failed {
    match error {
        WriterError::Failed(failed) => *failed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_writer_at_a_time_and_the_other_is_told_who() {
    let (archive, leases) = (Archive::new(), store());
    let lease = acquired(leases.acquire(archive.path(), None));
    assert_eq!((lease.owner().host.as_str(), lease.owner().pid), ("here", std::process::id()));
    assert_eq!(archive.names(), [format!("{}.json", lease.owner().nonce)]);

    let Acquisition::Busy { owners } = store().acquire(archive.path(), None).unwrap() else { panic!("two writers") };
    assert_eq!((owners.len(), owners[0].state), (1, MarkerState::Active));
    assert_eq!(owners[0].owner.as_ref(), Some(lease.owner()));
    assert_eq!(owners[0].path, lease.path());
    assert!(owners[0].since_ms.is_some());

    assert_eq!(lease.release().unwrap(), Released::Released);
    assert_eq!(lease.release().unwrap(), Released::Released, "the same again");
    assert_eq!(archive.names(), [""; 0]);
    drop(acquired(leases.acquire(archive.path(), None)));
    assert_eq!(archive.names(), [""; 0], "dropped is released");
}

#[test]
fn stale_markers_go_and_foreign_and_unrecognized_ones_stay() {
    let archive = Archive::new();
    let leases = store();
    archive.marker(&"a".repeat(32), "here", NOBODY);
    archive.marker(&"b".repeat(32), "elsewhere", NOBODY);
    fs::write(archive.markers().join(format!("{}.json", "c".repeat(32))), "").unwrap();
    fs::write(archive.markers().join("notes.txt"), "not ours").unwrap();

    let states = |found: Vec<leasebook_wasmtime::writer::Marker>| -> Vec<MarkerState> {
        found.into_iter().map(|marker| marker.state).collect()
    };
    let all = [MarkerState::Stale, MarkerState::Foreign, MarkerState::Unrecognized];
    assert_eq!(states(leases.inspect(archive.path(), None).unwrap()), all);
    let looked = leases.recover(archive.path(), false, None).unwrap();
    assert_eq!((looked.removed.len(), states(looked.kept)), (0, all.to_vec()));
    assert_eq!(archive.names().len(), 4, "without apply nothing is written");

    let recovered = leases.recover(archive.path(), true, None).unwrap();
    assert_eq!((states(recovered.removed), states(recovered.kept)), (all[..1].to_vec(), all[1..].to_vec()));
    let Acquisition::Busy { owners } = leases.acquire(archive.path(), None).unwrap() else { panic!("in the way") };
    assert_eq!(states(owners), all[1..]);

    let nonce = "b".repeat(32);
    let different = leases.remove_named(archive.path(), &nonce, Some(("elsewhere", 7))).unwrap();
    assert!(matches!(different, NamedRemoval::Different(Some(owner)) if owner.pid == NOBODY));
    let removed = leases.remove_named(archive.path(), &nonce, Some(("elsewhere", NOBODY))).unwrap();
    assert!(matches!(removed, NamedRemoval::Removed(Some(_))));
    assert!(matches!(leases.remove_named(archive.path(), &nonce, None).unwrap(), NamedRemoval::Absent));
    assert!(matches!(leases.remove_named(archive.path(), &"c".repeat(32), None).unwrap(), NamedRemoval::Removed(None)));
    acquired(leases.acquire(archive.path(), None));
    assert_eq!(archive.names(), ["notes.txt"]);
}

#[test]
fn a_legacy_marker_is_refused_and_kept() {
    let archive = Archive::new();
    fs::write(archive.folder.path().join("old.lock"), "").unwrap();
    let leases = builder().legacy(["older.lock", "old.lock"]).build().unwrap();
    let Acquisition::Legacy(legacy) = leases.acquire(archive.path(), None).unwrap() else { panic!("refused") };
    assert_eq!(legacy.name, "old.lock");
    assert_eq!(Path::new(&legacy.path), fs::canonicalize(archive.folder.path()).unwrap().join("old.lock"));
    assert!(archive.folder.path().join("old.lock").exists());
    assert_eq!(archive.names(), [""; 0]);
}

#[test]
fn a_layout_that_leads_elsewhere_makes_no_store() {
    for name in ["", ".", "..", "a/b", "a\\b", "a\0b", &"x".repeat(256)] {
        let Err(BuildError::Layout(invalid)) = WriterLeaseStore::builder(name).component(&COMPONENT).build() else {
            panic!("{name:?} is a layout")
        };
        assert_eq!(invalid.field, "marker-directory");
    }
    let Err(BuildError::Layout(invalid)) = builder().legacy(["../lock"]).build() else { panic!("../lock is a layout") };
    assert_eq!(invalid.field, "legacy-markers");
    assert!(invalid.sentence.contains("../lock"), "{}", invalid.sentence);
}

#[test]
fn a_failure_names_its_step_and_path() {
    let archive = Archive::new();
    let nowhere = archive.folder.path().join("nowhere");
    let failure = failed(store().acquire(nowhere.to_str().unwrap(), None).unwrap_err());
    assert_eq!((failure.code, failure.step.as_str()), (Code::File(FileCode::NotFound), "resolve-root"));
    assert!(failure.path.ends_with("nowhere") && failure.sentence.contains("nowhere"), "{failure:?}");

    fs::write(archive.markers(), "a file").unwrap();
    let failure = failed(store().acquire(archive.path(), None).unwrap_err());
    assert_eq!(failure.code, Code::File(FileCode::MarkerDirectoryUnsafe));
}

#[test]
fn what_was_lost_or_replaced_is_said_and_kept() {
    let archive = Archive::new();
    let leases = store();
    let lease = acquired(leases.acquire(archive.path(), None));
    fs::remove_file(lease.path()).unwrap();
    assert_eq!(lease.release().unwrap(), Released::Lost);
    assert_eq!(lease.release().unwrap(), Released::Lost, "the same on every call");

    let told = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&told);
    let leases =
        builder().on_drop_failure(move |failure| hook.lock().unwrap().push(failure.to_string())).build().unwrap();
    let lease = acquired(leases.acquire(archive.path(), None));
    let path = lease.path().to_owned();
    fs::write(&path, "somebody else's").unwrap();
    assert_eq!(failed(lease.release().unwrap_err()).code, Code::OwnMarkerChanged);
    drop(lease);
    let told = told.lock().unwrap();
    assert!(told.len() == 1 && told[0].contains(&path), "{told:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody else's");
}

/// The system's file functions, with something that happens before each effect.
struct Watched {
    files: SystemFiles,
    before: Arc<dyn Fn(&str) + Send + Sync>,
    names: usize,
}

impl MarkerFiles for Watched {
    fn resolve_root(&mut self) -> Result<Places, FileError> {
        (self.before)("resolve-root");
        self.files.resolve_root()
    }
    fn legacy_exists(&mut self, name: &str) -> Result<Option<PathBuf>, FileError> {
        (self.before)("legacy-exists");
        self.files.legacy_exists(name)
    }
    fn identity(&mut self) -> Result<String, FileError> {
        (self.before)("identity");
        Ok("here".to_owned())
    }
    fn nonce(&mut self) -> Result<String, FileError> {
        (self.before)("nonce");
        self.files.nonce()
    }
    fn publish(&mut self, nonce: &str, content: &[u8]) -> Result<(), FileError> {
        (self.before)("publish");
        self.files.publish(nonce, content)
    }
    fn list(&mut self) -> Result<Option<Vec<String>>, FileError> {
        (self.before)("list");
        let listed = self.files.list()?;
        Ok(listed.map(|mut names| {
            names.extend((0..self.names).map(|n| format!("{n:0>200}")));
            names
        }))
    }
    fn read(&mut self, name: &str, limit: usize) -> Result<Contents, FileError> {
        (self.before)("read");
        self.files.read(name, limit)
    }
    fn probe(&mut self, pid: u32) -> Liveness {
        (self.before)("probe");
        self.files.probe(pid)
    }
    fn age_ms(&mut self, name: &str, beside: &str) -> Result<Option<u64>, FileError> {
        self.files.age_ms(name, beside)
    }
    fn remove(&mut self, name: &str) -> Result<bool, FileError> {
        (self.before)("remove");
        self.files.remove(name)
    }
    fn remove_directory_if_empty(&mut self) -> Result<bool, FileError> {
        (self.before)("remove-directory");
        self.files.remove_directory_if_empty()
    }
}

fn watched(names: usize, before: impl Fn(&str) + Send + Sync + 'static) -> Builder {
    let before: Arc<dyn Fn(&str) + Send + Sync> = Arc::new(before);
    builder().files(move |destination, directory| {
        let files = SystemFiles::new(destination, DirectoryName::new(directory)?);
        Ok(Box::new(Watched { files, before: Arc::clone(&before), names }))
    })
}

#[test]
fn cancelled_before_any_step_an_attempt_leaves_nothing() {
    let mut steps = 0;
    loop {
        let archive = Archive::new();
        let (cancel, count) = (Cancel::new(), AtomicUsize::new(0));
        let signal = cancel.clone();
        let leases = watched(0, move |_| {
            if count.fetch_add(1, Ordering::SeqCst) == steps {
                signal.cancel();
            }
        });
        match leases.legacy(["old.lock"]).build().unwrap().acquire(archive.path(), Some(&cancel)) {
            // The signal came with the last effect or never.
            Ok(acquisition) => {
                assert!(!cancel.is_cancelled(), "cancelled and acquired: {acquisition:?}");
                break;
            }
            Err(error) => assert_eq!(failed(error).code, Code::Cancelled, "at step {steps}"),
        }
        assert_eq!(archive.names(), [""; 0], "at step {steps}");
        assert!(!archive.markers().exists(), "at step {steps}");
        steps += 1;
    }
    assert!(steps >= 8, "only {steps} steps");
}

#[test]
fn what_a_trapped_call_published_is_removed_and_the_store_says_that_it_is_poisoned() {
    let archive = Archive::new();
    // A listing that the memory of the instance cannot hold, after the marker is there.
    let leases = watched(100_000, |_| {}).instance_bytes_max(4 << 20).build().unwrap();
    for _ in 0..2 {
        let error = leases.acquire(archive.path(), None).unwrap_err();
        assert!(matches!(error, WriterError::Call(CallError::Poisoned { .. })), "{error:?}");
        assert_eq!(archive.names(), [""; 0]);
    }
    acquired(store().acquire(archive.path(), None));
}

/// File functions that remove nothing while a flag is set.
fn keeping(keep: &Arc<AtomicBool>) -> Builder {
    let keep = Arc::clone(keep);
    builder().files(move |destination, directory| {
        let files = SystemFiles::new(destination, DirectoryName::new(directory)?);
        let watched = Watched { files, before: Arc::new(|_| {}), names: 0 };
        Ok(Box::new(Keeping { watched, keep: Arc::clone(&keep) }))
    })
}

struct Keeping {
    watched: Watched,
    keep: Arc<AtomicBool>,
}

impl MarkerFiles for Keeping {
    fn resolve_root(&mut self) -> Result<Places, FileError> {
        self.watched.resolve_root()
    }
    fn legacy_exists(&mut self, name: &str) -> Result<Option<PathBuf>, FileError> {
        self.watched.legacy_exists(name)
    }
    fn identity(&mut self) -> Result<String, FileError> {
        self.watched.identity()
    }
    fn nonce(&mut self) -> Result<String, FileError> {
        self.watched.nonce()
    }
    fn publish(&mut self, nonce: &str, content: &[u8]) -> Result<(), FileError> {
        self.watched.publish(nonce, content)
    }
    fn list(&mut self) -> Result<Option<Vec<String>>, FileError> {
        self.watched.list()
    }
    fn read(&mut self, name: &str, limit: usize) -> Result<Contents, FileError> {
        self.watched.read(name, limit)
    }
    fn probe(&mut self, pid: u32) -> Liveness {
        self.watched.probe(pid)
    }
    fn age_ms(&mut self, name: &str, beside: &str) -> Result<Option<u64>, FileError> {
        self.watched.age_ms(name, beside)
    }
    fn remove(&mut self, name: &str) -> Result<bool, FileError> {
        if self.keep.load(Ordering::SeqCst) {
            let source = std::io::Error::from(std::io::ErrorKind::ReadOnlyFilesystem);
            let (code, step) = (leasebook_files::FileCode::ReadOnly, FileStep::Remove);
            return Err(FileError { code, step, path: name.into(), left: None, source });
        }
        self.watched.remove(name)
    }
    fn remove_directory_if_empty(&mut self) -> Result<bool, FileError> {
        self.watched.remove_directory_if_empty()
    }
}

#[test]
fn a_release_that_failed_is_tried_again_and_by_the_store_after_a_drop() {
    let (archive, keep) = (Archive::new(), Arc::new(AtomicBool::new(false)));
    let told = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&told);
    let leases = keeping(&keep).on_drop_failure(move |failure| hook.lock().unwrap().push(failure.clone()));
    let leases = leases.build().unwrap();

    let lease = acquired(leases.acquire(archive.path(), None));
    keep.store(true, Ordering::SeqCst);
    let failure = failed(lease.release().unwrap_err());
    assert_eq!((failure.code, failure.step.as_str()), (Code::File(FileCode::ReadOnly), "remove"));
    keep.store(false, Ordering::SeqCst);
    assert_eq!(lease.release().unwrap(), Released::Released);
    drop(lease);
    assert!(told.lock().unwrap().is_empty(), "it was released");

    let lease = acquired(leases.acquire(archive.path(), None));
    let path = lease.path().to_owned();
    keep.store(true, Ordering::SeqCst);
    drop(lease);
    let failures = std::mem::take(&mut *told.lock().unwrap());
    assert!(matches!(&failures[..], [DropFailure::NotReleased { path: of, .. }] if *of == path), "{failures:?}");
    assert_eq!(leases.left().unwrap(), [path.as_str()]);
    let failure = failed(leases.acquire(archive.path(), None).unwrap_err());
    assert_eq!(failure.left.as_deref(), Some(path.as_str()), "it is in the way until it can be removed");
    keep.store(false, Ordering::SeqCst);
    acquired(leases.acquire(archive.path(), None)).release().unwrap();
    assert_eq!(leases.left().unwrap(), [""; 0]);
    assert_eq!(archive.names(), [""; 0]);
}

#[test]
fn what_was_lost_is_said_of_a_lease_that_was_only_dropped() {
    let archive = Archive::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let hook = Arc::clone(&told);
    let leases = builder().on_drop_failure(move |failure| hook.lock().unwrap().push(failure.clone())).build().unwrap();
    let lease = acquired(leases.acquire(archive.path(), None));
    fs::remove_file(lease.path()).unwrap();
    drop(lease);
    assert!(matches!(&told.lock().unwrap()[..], [DropFailure::Lost { .. }]));
}

#[test]
fn threads_that_share_a_lease_are_all_told_the_same() {
    let archive = Archive::new();
    let lease = acquired(store().acquire(archive.path(), None));
    let answers: Vec<Released> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| lease.release().unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers, [Released::Released; 8]);
}

#[cfg(feature = "tokio")]
mod later {
    use super::*;
    use leasebook_wasmtime::writer::AsyncWriterLeaseStore;
    use std::sync::mpsc;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn a_task_acquires_and_releases() {
        let archive = Archive::new();
        let leases = AsyncWriterLeaseStore::from(store());
        runtime().block_on(async {
            let lease = acquired(leases.acquire(archive.path()).await);
            assert!(matches!(leases.acquire(archive.path()).await.unwrap(), Acquisition::Busy { .. }));
            assert_eq!(leases.call(move |_, _| lease.release()).await.unwrap(), Released::Released);
            assert!(leases.inspect(archive.path()).await.unwrap().is_empty());
        });
    }

    #[test]
    fn a_future_that_is_dropped_leaves_nothing_at_whatever_step_it_was() {
        for stop_at in ["resolve-root", "publish", "list", "read"] {
            let archive = Archive::new();
            let (reached, was_reached) = mpsc::channel();
            let (go_on, may_go_on) = mpsc::channel::<()>();
            let (reached, may_go_on) = (Mutex::new(reached), Mutex::new(may_go_on));
            let leases = watched(0, move |step| {
                if step == stop_at && reached.lock().unwrap().send(()).is_ok() {
                    // Until the future is dropped.
                    let _ = may_go_on.lock().unwrap().recv();
                }
            });
            let leases = AsyncWriterLeaseStore::from(leases.build().unwrap());
            let runtime = runtime();
            runtime.block_on(async {
                let mut attempt = Box::pin(leases.acquire(archive.path()));
                std::future::poll_fn(|context| {
                    assert!(attempt.as_mut().poll(context).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
                was_reached.recv().unwrap();
                drop(attempt);
                drop(was_reached);
                drop(go_on);
            });
            // The store's next operation waits for the one that is ending.
            assert_eq!(leases.blocking().inspect(archive.path(), None).unwrap(), [], "dropped at {stop_at}");
            drop(runtime);
            assert_eq!(archive.names(), [""; 0], "dropped at {stop_at}");
        }
    }
}
