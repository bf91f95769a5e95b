//! The exports of writer leases: one machine of the core at a time, driven by the caller.

use crate::out::Out;
use crate::{outcome, step};
use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;
use leasebook::marker::{
    Acquire, Acquisition, Failure, Inspect, InvalidLayout, Layout, Left, Outcome, Owned, Recover, Release, Released,
    RemoveNamed, Step,
};
use wasm_bindgen::prelude::wasm_bindgen;

/// Own markers that could not be removed, which the next operation tries first.
type Lefts = Rc<RefCell<Vec<Left>>>;

/// All leases of one layout.
#[wasm_bindgen]
pub struct WriterStore {
    layout: Option<Layout>,
    left: Lefts,
    out: Out,
}

#[wasm_bindgen]
impl WriterStore {
    /// A store. The first number of its answer says whether the names can be used; where they cannot, which cannot and
    /// why. `text`: the marker directory, then the legacy markers.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str, lengths: &[u32]) -> Self {
        let mut out = Out::new();
        let names = crate::ask::texts(text, lengths);
        let (directory, legacy) = names.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
        let layout = Layout::new(directory, legacy);
        match &layout {
            Ok(_) => out.number(1.0),
            Err(invalid) => {
                let field = match invalid {
                    InvalidLayout::MarkerDirectory { .. } => "markerDirectory",
                    InvalidLayout::Legacy { .. } | InvalidLayout::TooManyLegacy => "legacyMarkers",
                };
                out.number(0.0).text(field).text(&invalid.to_string())
            }
        };
        out.end();
        Self { layout: layout.ok(), left: Lefts::default(), out }
    }

    /// Where the place of answers stands.
    pub fn place(&self) -> u32 {
        self.out.place()
    }

    /// The paths of the markers that this store still has to remove.
    pub fn left(&mut self) -> u32 {
        let left = self.left.borrow();
        self.out.begin().list(left.iter(), |out, left| {
            out.text(&left.path());
        });
        self.out.end()
    }

    /// A machine that acquires.
    pub fn acquire(&self) -> Option<WriterMachine> {
        let layout = self.layout.as_ref()?;
        Some(self.machine(Kind::Acquire(Box::new(Acquire::new(layout, self.left.take())))))
    }

    /// A machine that inspects.
    pub fn inspect(&self) -> WriterMachine {
        self.machine(Kind::Inspect(Box::new(Inspect::new())))
    }

    /// A machine that recovers.
    pub fn recover(&self, apply: bool) -> WriterMachine {
        let left = if apply { self.left.take() } else { Vec::new() };
        self.machine(Kind::Recover(Box::new(Recover::new(apply, left))))
    }

    /// A machine that removes one marker. Without a host it is one that is not recognized.
    pub fn remove_named(&self, nonce: &str, host: Option<String>, pid: u32) -> WriterMachine {
        let said = host.as_deref().map(|host| (host, pid));
        self.machine(Kind::RemoveNamed(RemoveNamed::new(nonce, said)))
    }

    fn machine(&self, kind: Kind) -> WriterMachine {
        WriterMachine { kind, left: Rc::clone(&self.left), out: Out::new() }
    }
}

enum Kind {
    Acquire(Box<Acquire>),
    Inspect(Box<Inspect>),
    Recover(Box<Recover>),
    RemoveNamed(RemoveNamed),
    Release(Release),
    /// What it acquired was taken from it, or there was nothing.
    Over(Option<Owned>),
}

/// One machine: it yields effects until it is done.
#[wasm_bindgen]
pub struct WriterMachine {
    kind: Kind,
    left: Lefts,
    out: Out,
}

#[wasm_bindgen]
impl WriterMachine {
    /// Where the place of answers stands.
    pub fn place(&self) -> u32 {
        self.out.place()
    }

    /// What is next, after the outcome of the last effect; kind 0 begins.
    pub fn next(&mut self, kind: u32, text: &str, lengths: &[u32], number: f64, bytes: &[u8]) -> u32 {
        let outcome = outcome::read(kind, text, lengths, number, bytes);
        self.out.begin();
        self.advance(outcome);
        self.out.end()
    }

    /// Makes it the machine that releases what it acquired. `false`: it acquired nothing, or was made so before.
    pub fn release(&mut self) -> bool {
        let Kind::Over(owned) = &mut self.kind else { return false };
        let Some(owned) = owned.take() else { return false };
        self.kind = Kind::Release(Release::new(owned));
        true
    }

    /// The lease will not be released any more: its marker is left to the next operation of the store.
    pub fn leave(&mut self) {
        if let Kind::Release(release) = &self.kind {
            Left::keep(&mut self.left.borrow_mut(), release.left());
        }
    }
}

impl WriterMachine {
    fn advance(&mut self, outcome: Option<Outcome>) {
        let out = &mut self.out;
        match &mut self.kind {
            Kind::Acquire(machine) => {
                let Some(answer) = told(out, machine.next(outcome)) else { return };
                Left::keep(&mut self.left.borrow_mut(), machine.take_left());
                self.kind = Kind::Over(answer.and_then(|answer| acquired(step::done(out), answer)));
            }
            Kind::Inspect(machine) => {
                let Some(answer) = told(out, machine.next(outcome)) else { return };
                if let Some(found) = answer {
                    step::markers(step::done(out), &found.records);
                }
                self.kind = Kind::Over(None);
            }
            Kind::Recover(machine) => {
                let Some(answer) = told(out, machine.next(outcome)) else { return };
                Left::keep(&mut self.left.borrow_mut(), machine.take_left());
                if let Some(recovery) = answer {
                    step::recovery(step::done(out), &recovery);
                }
                self.kind = Kind::Over(None);
            }
            Kind::RemoveNamed(machine) => {
                let Some(answer) = told(out, machine.next(outcome)) else { return };
                if let Some(removal) = answer {
                    step::removal(step::done(out), &removal);
                }
                self.kind = Kind::Over(None);
            }
            // It outlives its runs.
            Kind::Release(machine) => {
                if let Some(Some(released)) = told(out, machine.next(outcome)) {
                    step::done(out).flag(released == Released::Lost);
                }
            }
            // Whoever goes on is told that it is over, as the machines themselves do.
            Kind::Over(_) => {
                let _ = told(out, Inspect::new().next(Some(Outcome::Done)));
            }
        }
    }
}

/// Writes an effect or a failure; `None`, there is more to come; `Some(None)`, it failed.
fn told<T>(out: &mut Out, step: Step<Result<T, Failure>>) -> Option<Option<T>> {
    match step {
        Step::Effect(effect) => {
            step::effect(out, &effect);
            None
        }
        Step::Done(Ok(answer)) => Some(Some(answer)),
        Step::Done(Err(failure)) => {
            step::failed(out, &failure);
            Some(None)
        }
    }
}

fn acquired(out: &mut Out, answer: Acquisition) -> Option<Owned> {
    match answer {
        Acquisition::Acquired(owned) => {
            step::owner(out.number(0.0).text(&owned.path()), owned.record());
            return Some(owned);
        }
        Acquisition::Busy { owners } => step::markers(out.number(1.0), &owners),
        Acquisition::Legacy { legacy, path } => {
            out.number(2.0).text(&legacy).text(&path);
        }
    }
    None
}
