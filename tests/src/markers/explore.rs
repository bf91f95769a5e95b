//! Every interleaving of a few processes on one marker directory, with what may happen to them.

use super::DIRECTORY;
use super::files::MarkerFiles;
use super::process::{Process, run};
use leasebook::marker::{Acquire, Acquisition, Effect, Layout, Outcome, Recover, Release, Step};
use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// What a process is there for.
#[derive(Clone, Debug, Hash)]
pub enum Role {
    /// It acquires, and what it gets, it releases.
    Acquiring(Box<Acquire>),
    /// It has the lease, and writes.
    Inside(Release),
    /// It releases.
    Releasing(Release),
    /// It recovers.
    Recovering(Box<Recover>),
    /// It has come to its end.
    Over,
    /// It was killed.
    Dead,
}

/// A process with its machine.
#[derive(Clone, Debug, Hash)]
pub struct Actor {
    /// The host.
    pub process: Process,
    /// The machine.
    pub role: Role,
    /// The effect that is being carried out.
    effect: Option<Effect>,
    /// It may be killed between any two steps.
    mortal: bool,
    /// It may be cancelled between any two steps.
    cancellable: bool,
    /// It does not look at the directory again after it has published: broken, for the tests of these tests.
    hasty: bool,
}

/// What an exploration went through.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// Different states.
    pub states: usize,
    /// States in which everybody has come to an end.
    pub ends: usize,
    /// Times that somebody got the lease.
    pub granted: usize,
    /// Times that somebody was refused.
    pub refused: usize,
    /// The first state in which two were inside, with its number of steps. The exploration ends there.
    pub two_inside: Option<(usize, String)>,
}

impl Actor {
    /// A writer.
    pub fn writer(process: Process, mortal: bool, cancellable: bool) -> Self {
        Self::new(process, Role::Acquiring(Box::new(Acquire::new(&layout(), Vec::new()))), mortal, cancellable)
    }

    /// The same writer, broken: it takes its own marker for the only one. Two of them get inside.
    #[must_use]
    pub fn hasty(mut self) -> Self {
        self.hasty = true;
        self
    }

    /// One that recovers with apply.
    pub fn recoverer(process: Process) -> Self {
        Self::new(process, Role::Recovering(Box::new(Recover::new(true, Vec::new()))), false, false)
    }

    fn new(process: Process, role: Role, mortal: bool, cancellable: bool) -> Self {
        let mut actor = Self { process, role, effect: None, mortal, cancellable, hasty: false };
        actor.go_on(None, &mut Explored::default());
        actor
    }

    fn is_over(&self) -> bool {
        matches!(self.role, Role::Over | Role::Dead)
    }

    /// One small step.
    fn step(&mut self, files: &mut MarkerFiles, explored: &mut Explored) {
        if let Role::Inside(release) = &self.role {
            self.role = Role::Releasing(release.clone());
            return self.go_on(None, explored);
        }
        let effect = self.effect.clone().expect("an actor that is not over has an effect");
        let Some(mut outcome) = self.process.perform(files, &effect) else { return };
        if let (true, Some(own), Outcome::Names(names)) = (self.hasty, self.process.last_nonce(), &mut outcome) {
            names.retain(|name| name.starts_with(&own));
        }
        self.go_on(Some(outcome), explored);
    }

    fn go_on(&mut self, outcome: Option<Outcome>, explored: &mut Explored) {
        self.effect = None;
        match &mut self.role {
            Role::Acquiring(acquire) => match acquire.next(outcome) {
                Step::Effect(effect) => self.effect = Some(effect),
                Step::Done(Ok(Acquisition::Acquired(owned))) => {
                    explored.granted += 1;
                    self.role = Role::Inside(Release::new(owned));
                }
                Step::Done(answer) => {
                    let cancelled = answer.as_ref().is_err_and(|failure| failure.code.name() == "cancelled");
                    assert!(
                        matches!(answer, Ok(Acquisition::Busy { .. })) || cancelled && self.process.cancelled,
                        "{answer:?}"
                    );
                    explored.refused += 1;
                    self.role = Role::Over;
                }
            },
            Role::Releasing(release) => match release.next(outcome) {
                Step::Effect(effect) => self.effect = Some(effect),
                Step::Done(answer) => {
                    assert_eq!(answer, Ok(leasebook::marker::Released::Released));
                    self.role = Role::Over;
                }
            },
            Role::Recovering(recover) => match recover.next(outcome) {
                Step::Effect(effect) => self.effect = Some(effect),
                Step::Done(answer) => {
                    answer.expect("recovery does not fail");
                    self.role = Role::Over;
                }
            },
            Role::Inside(_) | Role::Over | Role::Dead => unreachable!("it has no machine that runs"),
        }
        if self.is_over() {
            self.process.forget();
        }
        // What it has asked about itself, its host answers without looking at anything that others change; and one that
        // is cancelled before that ends like one that is cancelled before what follows. Nothing follows the signal.
        let own = match &self.effect {
            Some(Effect::ResolveRoot | Effect::Identity | Effect::Nonce | Effect::OwnPid) => true,
            Some(Effect::Signal) => !self.cancellable,
            _ => false,
        };
        if own && let Some(effect) = self.effect.clone() {
            let outcome = self.process.perform(&mut MarkerFiles::new(), &effect);
            self.go_on(outcome, explored);
        }
    }
}

/// Goes through every state that these actors can reach in so many steps, and holds each to what must be true of all;
/// the first in which two are inside is answered.
pub fn explore(files: MarkerFiles, actors: Vec<Actor>, depth_max: usize) -> Explored {
    let mut explored = Explored::default();
    let mut states = States::default();
    states.reach(files, actors, 0);
    while let Some((files, actors, depth)) = states.open.pop_front() {
        explored.states += 1;
        // Until a release has removed its marker, nobody else may write.
        let inside = actors.iter().filter(|actor| matches!(actor.role, Role::Inside(_) | Role::Releasing(_)));
        if inside.count() > 1 {
            explored.two_inside = Some((depth, format!("{actors:#?}\n{files:#?}")));
            break;
        }
        files.check_whole();
        if actors.iter().all(Actor::is_over) {
            explored.ends += 1;
            check_end(files);
            continue;
        }
        if depth == depth_max {
            continue;
        }
        for place in 0..actors.len() {
            if actors[place].is_over() {
                continue;
            }
            let (mut next_files, mut next) = (files.clone(), actors.clone());
            next[place].step(&mut next_files, &mut explored);
            states.reach(next_files, next, depth + 1);
            if actors[place].mortal {
                let (mut next_files, mut next) = (files.clone(), actors.clone());
                next_files.alive.remove(&next[place].process.pid);
                next[place].role = Role::Dead;
                next[place].effect = None;
                next[place].process.forget();
                states.reach(next_files, next, depth + 1);
            }
            if actors[place].cancellable && !actors[place].process.cancelled {
                let mut next = actors.clone();
                next[place].process.cancelled = true;
                states.reach(files.clone(), next, depth + 1);
            }
        }
    }
    explored
}

/// The states that were reached, and those of them that are still to be gone on from, with the fewest steps first.
#[derive(Default)]
struct States {
    seen: HashSet<u64>,
    open: VecDeque<(MarkerFiles, Vec<Actor>, usize)>,
}

impl States {
    fn reach(&mut self, files: MarkerFiles, actors: Vec<Actor>, depth: usize) {
        // Two states of one hash would be taken for one; with 64 bits and some millions of states, there are none.
        let key = BuildHasherDefault::<DefaultHasher>::default().hash_one((&files, &actors));
        if self.seen.insert(key) {
            self.open.push_back((files, actors, depth));
        }
    }
}

/// What is true when everybody has come to an end: a writer that comes then is let in, at once or after a recovery.
fn check_end(files: MarkerFiles) {
    let mut late = files.clone();
    let mut process = Process::start(&mut late, 99);
    let mut acquire = Acquire::new(&layout(), Vec::new());
    let answer = run(&mut acquire, &mut process, &mut late, |_, _, _, _| None);
    assert!(matches!(answer, Ok(Acquisition::Acquired(_))), "{answer:?} in {files:#?}");

    let mut cleared = files;
    cleared.now_ms += 2 * leasebook::marker::INCOMPLETE_AGE_MS_MIN;
    let mut process = Process::start(&mut cleared, 99);
    run(&mut Recover::new(true, Vec::new()), &mut process, &mut cleared, |_, _, _, _| None).expect("it recovers");
    assert_eq!(cleared.names(), Vec::<String>::new(), "recovery clears what is left");
}

fn layout() -> Layout {
    Layout::new(DIRECTORY, &[]).expect("a layout")
}
