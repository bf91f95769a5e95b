//! However the steps of writers mix, whoever dies or is cancelled in between: never two inside, no half marker, and
//! nobody who is alone in the end is refused.

use crate::soak;
use leasebook_tests::markers::{Actor, Explored, HOST, MarkerFiles, Process, explore, marker, record};

/// More steps than any of these runs has.
const WHOLE: usize = usize::MAX;
/// How deep a run goes where the whole of it has millions of states: in the gate, and in soak.
const DEPTH: usize = 14;
const DEPTH_OF_SOAK: usize = 24;

/// What may happen to a writer between any two steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unharmed,
    Mortal,
    MortalAndCancellable,
}

fn writers(files: &mut MarkerFiles, count: u32, by_path: bool, fate: Fate) -> Vec<Actor> {
    let writer = |pid| {
        let mut process = Process::start(files, pid);
        process.by_path = by_path;
        Actor::writer(process, fate != Fate::Unharmed, fate == Fate::MortalAndCancellable)
    };
    (1..=count).map(writer).collect()
}

fn check(name: &str, files: MarkerFiles, actors: Vec<Actor>, depth_max: usize) {
    let explored = explore(files, actors, depth_max);
    println!("{name}: {explored:?}");
    let Explored { ends, granted, refused, .. } = explored;
    assert!(granted > 10 && refused > 10 && (ends > 1 || depth_max != WHOLE), "{explored:?}");
}

/// A directory in which a writer that died has left its marker.
fn after_a_death() -> MarkerFiles {
    let mut files = MarkerFiles::new();
    files.put_file(&marker(0x66), record(0x66, 66, HOST));
    files
}

#[test]
fn two_writers_are_never_both_inside() {
    for by_path in [false, true] {
        for fate in [Fate::Unharmed, Fate::Mortal, Fate::MortalAndCancellable] {
            let mut files = MarkerFiles::new();
            let actors = writers(&mut files, 2, by_path, fate);
            check("two writers", files, actors, WHOLE);
        }
    }
}

#[test]
fn two_writers_that_find_a_dead_one_are_never_both_inside() {
    for by_path in [false, true] {
        let mut files = after_a_death();
        let mut actors = writers(&mut files, 2, by_path, Fate::Mortal);
        check("two writers after a death", files.clone(), actors.clone(), WHOLE);
        actors.push(Actor::recoverer(Process::start(&mut files, 50)));
        check("two writers and a recovery after a death", files, actors, WHOLE);
    }
}

#[test]
fn three_writers_are_never_two_inside() {
    let mut files = MarkerFiles::new();
    let actors = writers(&mut files, 3, false, Fate::Unharmed);
    check("three writers", files, actors, WHOLE);
}

#[test]
fn three_writers_of_which_any_may_die_are_never_two_inside() {
    let mut files = MarkerFiles::new();
    let actors = writers(&mut files, 3, false, Fate::Mortal);
    check("three mortal writers", files, actors, WHOLE);
}

#[test]
fn three_writers_of_which_any_may_die_after_a_death_are_never_two_inside() {
    let mut files = after_a_death();
    let actors = writers(&mut files, 3, false, Fate::Mortal);
    check("three mortal writers after a death", files, actors, if soak::asked() { WHOLE } else { DEPTH });
}

#[test]
fn three_writers_to_whom_anything_may_happen_are_never_two_inside() {
    let mut files = MarkerFiles::new();
    let actors = writers(&mut files, 3, true, Fate::MortalAndCancellable);
    check("three mortal and cancellable writers", files, actors, bounded());
}

#[test]
fn of_four_writers_never_two_are_inside() {
    let mut files = MarkerFiles::new();
    let actors = writers(&mut files, 4, false, Fate::Unharmed);
    check("four writers", files, actors, bounded());
}

fn bounded() -> usize {
    if soak::asked() { DEPTH_OF_SOAK } else { DEPTH }
}
