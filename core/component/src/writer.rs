//! The exports of `writer-lease`: each drives one machine of the core against the imported `marker-files`.

use crate::bindings::exports::leasebook::lease::writer_lease as wit;
use crate::bindings::leasebook::lease::marker_files::{self as files, Contents, FileCode as Given, Place};
use crate::book::Component;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};
use leasebook::marker::{
    Acquire, Acquisition, Code, Effect, Failure, FileCode, FileError, Identity, InvalidLayout, Layout, Left,
    MarkerRecord, MarkerState, NamedRemoval, Outcome, OwnerRecord, Recover, Recovery, Release, Released, RemoveNamed,
    Step, Untidied,
};

/// All leases of one layout.
pub struct Store {
    layout: Layout,
    left: Rc<RefCell<Vec<Left>>>,
}

/// One lease, and the handles with which its marker was made.
pub struct Lease {
    place: Place,
    release: RefCell<Release>,
    /// It was tried to release it, and that is all that dropping it does.
    tried: Cell<bool>,
    left: Rc<RefCell<Vec<Left>>>,
}

impl wit::Guest for Component {
    type Store = Store;
    type Lease = Lease;
}

impl Store {
    fn at(&self, destination: &str) -> Place {
        Place::new(destination, self.layout.directory())
    }

    fn recovered(&self, destination: &str, apply: bool) -> Result<Recovery, Failure> {
        let left = if apply { self.left.take() } else { Vec::new() };
        let mut machine = Recover::new(apply, left);
        let recovered = drive(&self.at(destination), &mut |outcome| machine.next(outcome));
        Left::keep(&mut self.left.borrow_mut(), machine.take_left());
        recovered
    }
}

impl wit::GuestStore for Store {
    fn open(layout: wit::Layout) -> Result<wit::Store, wit::InvalidLayout> {
        let legacy: Vec<&str> = layout.legacy_markers.iter().map(String::as_str).collect();
        let layout = Layout::new(&layout.marker_directory, &legacy).map_err(|invalid| wit::InvalidLayout {
            field: match invalid {
                InvalidLayout::MarkerDirectory { .. } => "marker-directory",
                InvalidLayout::Legacy { .. } | InvalidLayout::TooManyLegacy => "legacy-markers",
            }
            .into(),
            sentence: invalid.to_string(),
        })?;
        Ok(wit::Store::new(Self { layout, left: Rc::default() }))
    }

    fn acquire(&self, destination: String) -> Result<wit::Acquisition, wit::Failed> {
        let place = self.at(&destination);
        let mut machine = Acquire::new(&self.layout, self.left.take());
        let acquired = drive(&place, &mut |outcome| machine.next(outcome));
        Left::keep(&mut self.left.borrow_mut(), machine.take_left());
        Ok(match acquired.map_err(failed)? {
            Acquisition::Acquired(owned) => {
                let (path, owner) = (owned.path(), owner(owned.record().clone()));
                let release = RefCell::new(Release::new(owned));
                let lease = Lease { place, release, tried: Cell::new(false), left: self.left.clone() };
                wit::Acquisition::Acquired(wit::Granted { lease: wit::Lease::new(lease), path, owner })
            }
            Acquisition::Busy { owners } => wit::Acquisition::Busy(markers(owners)),
            Acquisition::Legacy { legacy, path } => wit::Acquisition::Legacy(wit::Legacy { name: legacy, path }),
        })
    }

    fn inspect(&self, destination: String) -> Result<Vec<wit::Marker>, wit::Failed> {
        // What is not removed is kept: a recovery that applies nothing is an inspection.
        self.recovered(&destination, false).map(|recovered| markers(recovered.kept)).map_err(failed)
    }

    fn recover(&self, destination: String, apply: bool) -> Result<wit::Recovery, wit::Failed> {
        let recovered = self.recovered(&destination, apply).map_err(failed)?;
        Ok(wit::Recovery {
            removed: markers(recovered.removed),
            kept: markers(recovered.kept),
            tidied: recovered.tidied,
            untidied: recovered.untidied.into_iter().map(untidied).collect(),
        })
    }

    fn remove_named(
        &self,
        destination: String,
        nonce: String,
        said: Option<(String, u32)>,
    ) -> Result<wit::NamedRemoval, wit::Failed> {
        let said = said.as_ref().map(|(host, pid)| (host.as_str(), *pid));
        let mut machine = RemoveNamed::new(&nonce, said);
        let removal = drive(&self.at(&destination), &mut |outcome| machine.next(outcome));
        Ok(match removal.map_err(failed)? {
            NamedRemoval::Removed(said) => wit::NamedRemoval::Removed(said.map(owner)),
            NamedRemoval::Absent => wit::NamedRemoval::Absent,
            NamedRemoval::Different(said) => wit::NamedRemoval::Different(said.map(owner)),
        })
    }

    fn left(&self) -> Vec<String> {
        self.left.borrow().iter().map(Left::path).collect()
    }
}

impl wit::GuestLease for Lease {
    fn release(&self) -> Result<wit::Released, wit::Failed> {
        self.run().map_err(failed)
    }
}

impl Lease {
    fn run(&self) -> Result<wit::Released, Failure> {
        self.tried.set(true);
        let mut machine = self.release.borrow_mut();
        let released = drive(&self.place, &mut |outcome| machine.next(outcome))?;
        Ok(match released {
            Released::Released => wit::Released::Released,
            Released::Lost => wit::Released::Lost,
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if !self.tried.get() {
            // Nobody is told how it went.
            let _ = self.run();
        }
        // What could not be removed is tried again by the store.
        Left::keep(&mut self.left.borrow_mut(), self.release.borrow().left());
    }
}

/// Carries out what a machine asks for, until it is done.
fn drive<T>(place: &Place, next: &mut dyn FnMut(Option<Outcome>) -> Step<T>) -> T {
    let mut outcome = None;
    loop {
        match next(outcome.take()) {
            Step::Effect(effect) => outcome = Some(perform(place, &effect)),
            Step::Done(done) => return done,
        }
    }
}

fn perform(place: &Place, effect: &Effect) -> Outcome {
    attempt(place, effect).unwrap_or_else(|failure| match failure {
        files::Failure::Cancelled => Outcome::Cancelled,
        files::Failure::Failed(error) => {
            Outcome::Failed(FileError { code: file_code(error.code), path: error.path, detail: error.detail })
        }
    })
}

fn attempt(place: &Place, effect: &Effect) -> Result<Outcome, files::Failure> {
    Ok(match effect {
        // No machine looks at the root itself, and a text that crosses costs.
        Effect::ResolveRoot => Outcome::Root { root: String::new(), markers: place.resolve_root()? },
        Effect::LegacyExists { name } => match place.legacy_exists(name)? {
            Some(path) => Outcome::Present { path },
            None => Outcome::Absent,
        },
        Effect::Identity => {
            let files::Identity { host, pid } = place.identity()?;
            Outcome::Identity(Identity { host, pid })
        }
        Effect::OwnPid => Outcome::Pid(files::own_pid()),
        Effect::Nonce => Outcome::Nonce(place.nonce()?),
        Effect::Publish { nonce, content } => {
            place.publish(nonce, content)?;
            Outcome::Done
        }
        Effect::List => match place.list_names()? {
            Some(names) => Outcome::Names(names),
            None => Outcome::Absent,
        },
        Effect::Read { name, limit, clean_up } => match place.read(name, *limit as u32, *clean_up)? {
            Contents::Whole(files::Whole { bytes, since_ms }) => Outcome::Content { bytes, since_ms },
            Contents::NotOrdinary => Outcome::NotOrdinary,
            Contents::TooLarge => Outcome::TooLarge,
            Contents::Absent => Outcome::Absent,
        },
        Effect::Probe { pid } => {
            if place.is_dead(*pid)? {
                Outcome::Dead
            } else {
                Outcome::Alive
            }
        }
        Effect::Age { name, beside } => match place.age(name, beside)? {
            Some(age_ms) => Outcome::Age(age_ms),
            None => Outcome::Absent,
        },
        Effect::Remove { name, clean_up } => {
            if place.remove(name, *clean_up)? {
                Outcome::Done
            } else {
                Outcome::Absent
            }
        }
        Effect::RemoveDirectoryIfEmpty => {
            place.remove_directory_if_empty();
            Outcome::Done
        }
        Effect::Signal => {
            if files::cancelled() {
                Outcome::Cancelled
            } else {
                Outcome::Done
            }
        }
    })
}

fn markers(found: Vec<MarkerRecord>) -> Vec<wit::Marker> {
    let marker = |found: MarkerRecord| wit::Marker {
        name: found.name,
        path: found.path,
        state: match found.state {
            MarkerState::Active => wit::MarkerState::Active,
            MarkerState::Stale => wit::MarkerState::Stale,
            MarkerState::Foreign => wit::MarkerState::Foreign,
            MarkerState::Unrecognized => wit::MarkerState::Unrecognized,
        },
        owner: found.owner.map(owner),
        since_ms: found.since_ms,
        detail: found.detail,
    };
    found.into_iter().map(marker).collect()
}

fn untidied(left: Untidied) -> wit::Untidied {
    wit::Untidied { name: left.name, detail: left.detail }
}

fn owner(record: OwnerRecord) -> wit::Owner {
    wit::Owner { pid: record.pid(), host: record.host().into(), nonce: record.nonce().into() }
}

fn failed(failure: Failure) -> wit::Failed {
    let sentence = failure.to_string();
    let Failure { code, step, path, cause, left } = failure;
    let code = match code {
        Code::File(code) => wit::Code::File(given(code)),
        Code::Cancelled => wit::Code::Cancelled,
        Code::OwnMarkerGone => wit::Code::OwnMarkerGone,
        Code::OwnMarkerChanged => wit::Code::OwnMarkerChanged,
        Code::TooManyNames => wit::Code::TooManyNames,
        Code::InvalidIdentity => wit::Code::InvalidIdentity,
        Code::InvalidNonce => wit::Code::InvalidNonce,
        Code::OtherProcess => wit::Code::OtherProcess,
        Code::UnexpectedOutcome => wit::Code::UnexpectedOutcome,
    };
    wit::Failed { code, step: step.into(), path, cause, left, sentence }
}

/// The two enumerations of codes, both ways.
macro_rules! codes {
    ($($code:ident)*) => {
        fn file_code(given: Given) -> FileCode {
            match given {
                $(Given::$code => FileCode::$code,)*
            }
        }

        fn given(code: FileCode) -> Given {
            match code {
                $(FileCode::$code => Given::$code,)*
            }
        }
    };
}

codes! {
    NotFound NotADirectory PermissionDenied ReadOnly NoSpace TooManyOpenFiles NameTooLong Link AlreadyExists
    InputOutput DirectoryVanished MarkerDirectoryUnsafe Other
}
