//! A process: a host that carries out effects in small steps, and can die after each.

use super::files::{MarkerFiles, Node};
use super::{HOST, MARKERS, nonce};
use leasebook::marker::{
    Acquire, Effect, Failure, FileCode, FileError, Identity, Inspect, Outcome, Recover, Release, RemoveNamed, Step,
};

/// A machine of any kind.
pub trait Machine {
    /// What it answers.
    type Answer;
    /// What is next.
    fn next(&mut self, outcome: Option<Outcome>) -> Step<Result<Self::Answer, Failure>>;
}

macro_rules! machine {
    ($($machine:ty => $answer:ident),*) => {$(
        impl Machine for $machine {
            type Answer = leasebook::marker::$answer;
            fn next(&mut self, outcome: Option<Outcome>) -> Step<Result<Self::Answer, Failure>> {
                <$machine>::next(self, outcome)
            }
        }
    )*};
}
machine!(
    Acquire => Acquisition, Inspect => Inspection, Recover => Recovery, Release => Released, RemoveNamed => NamedRemoval
);

/// A host, and what it keeps between effects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// What it calls its host.
    pub host: String,
    /// It was told to stop: effects that do not clean up are not started.
    pub cancelled: bool,
    /// It works with paths alone, as hosts without directory handles do.
    pub by_path: bool,
    /// The directory it published into.
    handle: Option<usize>,
    /// How far a publication has come.
    publishing: u8,
    nonces: u32,
}

impl Process {
    /// A process that is alive.
    pub fn start(files: &mut MarkerFiles, pid: u32) -> Self {
        files.alive.insert(pid);
        let host = HOST.into();
        Self { pid, host, cancelled: false, by_path: false, handle: None, publishing: 0, nonces: 0 }
    }

    /// It does nothing any more, and whatever it did before makes no difference.
    pub(super) fn forget(&mut self) {
        (self.cancelled, self.handle, self.publishing, self.nonces) = (false, None, 0, 0);
    }

    /// The nonce that it drew last.
    pub(super) fn last_nonce(&self) -> Option<String> {
        (self.nonces > 0).then(|| nonce(self.pid << 8 | self.nonces))
    }

    /// The directory that effects are about.
    fn opened(&self, files: &MarkerFiles) -> Option<usize> {
        if self.by_path { files.directory } else { self.handle.or(files.directory) }
    }

    /// One small step of an effect; its outcome with the last.
    pub fn perform(&mut self, files: &mut MarkerFiles, effect: &Effect) -> Option<Outcome> {
        if self.cancelled && self.publishing == 0 && !effect.cleans_up() {
            return Some(Outcome::Cancelled);
        }
        let directory = self.opened(files);
        Some(match effect {
            Effect::ResolveRoot => Outcome::Root { root: "/srv".into(), markers: MARKERS.into() },
            Effect::LegacyExists { name } if files.legacy.contains(name) => {
                Outcome::Present { path: format!("/srv/{name}") }
            }
            Effect::LegacyExists { .. } => Outcome::Absent,
            Effect::Identity => Outcome::Identity(Identity { host: self.host.clone(), pid: self.pid }),
            Effect::OwnPid => Outcome::Pid(self.pid),
            Effect::Nonce => {
                self.nonces += 1;
                Outcome::Nonce(nonce(self.pid << 8 | self.nonces))
            }
            Effect::Publish { nonce, content } => return self.publish(files, nonce, content),
            Effect::List => match directory {
                Some(directory) => Outcome::Names(files.directories[directory].keys().cloned().collect()),
                None => Outcome::Absent,
            },
            Effect::Read { name, limit, .. } => {
                match directory.and_then(|directory| files.directories[directory].get(name)) {
                    None => Outcome::Absent,
                    Some(Node::File { bytes, .. }) if bytes.len() > *limit => Outcome::TooLarge,
                    Some(Node::File { bytes, changed_ms }) => {
                        Outcome::Content { bytes: bytes.clone(), since_ms: Some(*changed_ms) }
                    }
                    Some(Node::Special | Node::Directory) => Outcome::NotOrdinary,
                    Some(Node::Closed) => failed(FileCode::PermissionDenied),
                }
            }
            Effect::Probe { pid } => {
                assert!((1..=leasebook::marker::PID_MAX).contains(pid), "{pid} is never probed");
                if files.alive.contains(pid) { Outcome::Alive } else { Outcome::Dead }
            }
            Effect::Age { name, .. } => match directory.and_then(|directory| files.directories[directory].get(name)) {
                None => Outcome::Absent,
                Some(Node::File { changed_ms, .. }) => Outcome::Age(files.now_ms.saturating_sub(*changed_ms)),
                Some(_) => Outcome::Age(0),
            },
            Effect::Remove { name, .. } => match directory.map(|directory| &mut files.directories[directory]) {
                Some(_) if files.stuck.contains(name) => failed(FileCode::PermissionDenied),
                Some(nodes) if nodes.get(name) == Some(&Node::Directory) => failed(FileCode::Other),
                nodes => nodes.and_then(|nodes| nodes.remove(name)).map_or(Outcome::Absent, |_| Outcome::Done),
            },
            Effect::RemoveDirectoryIfEmpty => {
                if files.directory.is_some_and(|directory| files.directories[directory].is_empty()) {
                    files.directory = None;
                }
                Outcome::Done
            }
            Effect::Signal => Outcome::Done,
        })
    }

    /// Opens or makes the directory, makes a `.tmp`, writes it, gives it its name: each is a step of its own.
    fn publish(&mut self, files: &mut MarkerFiles, nonce: &str, content: &str) -> Option<Outcome> {
        let (part, whole) = (format!("{nonce}.tmp"), format!("{nonce}.json"));
        if self.publishing == 0 {
            self.handle = Some(files.make());
            self.publishing = 1;
            return None;
        }
        let Some(directory) = self.opened(files).filter(|directory| files.is_linked(*directory)) else {
            self.publishing = 0;
            return Some(failed(FileCode::DirectoryVanished));
        };
        let changed_ms = files.now_ms;
        let nodes = &mut files.directories[directory];
        match self.publishing {
            1 => {
                nodes.insert(part, Node::File { bytes: Vec::new(), changed_ms });
            }
            2 => {
                nodes.insert(part, Node::File { bytes: content.as_bytes().to_vec(), changed_ms });
            }
            _ => {
                self.publishing = 0;
                let Some(node) = nodes.remove(&part) else { return Some(failed(FileCode::NotFound)) };
                nodes.insert(whole, node);
                return Some(Outcome::Done);
            }
        }
        self.publishing += 1;
        None
    }
}

/// A failure with nothing but its code.
fn failed(code: FileCode) -> Outcome {
    Outcome::Failed(FileError { code, path: String::new(), detail: String::new() })
}

/// Drives a machine to its end. `meddle` sees each effect before it is carried out, and may give another outcome.
pub fn run<M: Machine>(
    machine: &mut M,
    process: &mut Process,
    files: &mut MarkerFiles,
    mut meddle: impl FnMut(usize, &Effect, &mut Process, &mut MarkerFiles) -> Option<Outcome>,
) -> Result<M::Answer, Failure> {
    let mut outcome = None;
    for effects in 0.. {
        match machine.next(outcome.take()) {
            Step::Done(answer) => return answer,
            Step::Effect(effect) => {
                let meddled = meddle(effects, &effect, process, files);
                outcome = Some(meddled.unwrap_or_else(|| {
                    loop {
                        if let Some(outcome) = process.perform(files, &effect) {
                            return outcome;
                        }
                    }
                }));
            }
        }
    }
    unreachable!("a machine comes to its end")
}
