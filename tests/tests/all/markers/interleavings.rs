//! However the steps of writers mix, whoever dies or is cancelled in between: never two inside, no half marker, and
//! nobody who is alone in the end is refused.
//!
//! Each run is made with a broken writer, too, which does not look again after it has published: that the same run finds
//! two inside then says that it is deep enough to have found them.

use crate::soak;
use leasebook_tests::markers::{Actor, Explored, HOST, MarkerFiles, Process, explore, marker, record};

/// More steps than any of these runs has.
const WHOLE: usize = usize::MAX;
/// How deep a run goes where the whole of it has millions of states: in the gate, and in soak. Two that are inside take
/// at least 14 steps, and 16 where the signal of each is a step.
const DEPTH: usize = 22;
const DEPTH_OF_SOAK: usize = 28;

/// What may happen to a writer between any two steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unharmed,
    Mortal,
    MortalAndCancellable,
}

/// Who meets in a directory.
#[derive(Clone, Copy)]
struct Scene {
    name: &'static str,
    writers: u32,
    fate: Fate,
    /// They work with paths alone.
    by_path: bool,
    /// A writer that died has left its marker.
    after_a_death: bool,
    /// Somebody recovers beside them.
    recovery: bool,
}

impl Scene {
    const fn new(name: &'static str, writers: u32, fate: Fate) -> Self {
        Self { name, writers, fate, by_path: false, after_a_death: false, recovery: false }
    }

    fn explore(self, hasty: bool, depth_max: usize) -> Explored {
        let mut files = MarkerFiles::new();
        if self.after_a_death {
            files.put_file(&marker(0x66), record(0x66, 66, HOST));
        }
        let mut actors = Vec::new();
        for pid in 1..=self.writers {
            let mut process = Process::start(&mut files, pid);
            process.by_path = self.by_path;
            let (mortal, cancellable) = (self.fate != Fate::Unharmed, self.fate == Fate::MortalAndCancellable);
            let writer = Actor::writer(process, mortal, cancellable);
            actors.push(if hasty { writer.hasty() } else { writer });
        }
        if self.recovery {
            actors.push(Actor::recoverer(Process::start(&mut files, 50)));
        }
        explore(files, actors, depth_max)
    }
}

fn check(scene: Scene, in_the_gate: usize, in_soak: usize) {
    let depth_max = if soak::asked() { in_soak } else { in_the_gate };
    let broken = scene.explore(true, depth_max);
    let (found_at, _) = broken.two_inside.unwrap_or_else(|| panic!("{}: not deep enough", scene.name));
    let explored = scene.explore(false, depth_max);
    if let Some((depth, state)) = explored.two_inside {
        panic!("{}: two are inside after {depth} steps: {state}", scene.name);
    }
    let Explored { states, ends, granted, refused, .. } = explored;
    println!(
        "{}: {states} states, {ends} ends, {granted} granted, {refused} refused; broken, two inside after {found_at} \
         steps",
        scene.name
    );
    assert!(granted > 10 && refused > 10 && (ends > 1 || depth_max != WHOLE), "{}", scene.name);
}

#[test]
fn two_writers_are_never_both_inside() {
    for by_path in [false, true] {
        for fate in [Fate::Unharmed, Fate::Mortal, Fate::MortalAndCancellable] {
            check(Scene { by_path, ..Scene::new("two writers", 2, fate) }, WHOLE, WHOLE);
        }
    }
}

#[test]
fn two_writers_that_find_a_dead_one_are_never_both_inside() {
    for by_path in [false, true] {
        for recovery in [false, true] {
            let scene = Scene::new("two writers after a death", 2, Fate::Mortal);
            check(Scene { by_path, recovery, after_a_death: true, ..scene }, WHOLE, WHOLE);
        }
    }
}

#[test]
fn three_writers_are_never_two_inside() {
    check(Scene::new("three writers", 3, Fate::Unharmed), WHOLE, WHOLE);
}

#[test]
fn three_writers_of_which_any_may_die_are_never_two_inside() {
    check(Scene::new("three mortal writers", 3, Fate::Mortal), WHOLE, WHOLE);
}

#[test]
fn three_writers_of_which_any_may_die_after_a_death_are_never_two_inside() {
    let scene = Scene::new("three mortal writers after a death", 3, Fate::Mortal);
    check(Scene { after_a_death: true, ..scene }, WHOLE, WHOLE);
}

#[test]
fn three_writers_to_whom_anything_may_happen_are_never_two_inside() {
    let scene = Scene::new("three mortal and cancellable writers", 3, Fate::MortalAndCancellable);
    check(Scene { by_path: true, ..scene }, DEPTH, DEPTH_OF_SOAK);
}

#[test]
fn of_four_writers_never_two_are_inside() {
    check(Scene::new("four writers", 4, Fate::Unharmed), DEPTH, DEPTH_OF_SOAK);
}
