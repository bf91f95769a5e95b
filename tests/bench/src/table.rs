//! Acquire and release in a native table, beside the plainest thing that keeps strings: a `HashMap`.

use crate::measure::{Single, in_turns, singles};
use crate::report::{Peer, Row};
use crate::run::Effort;
use crate::standing::{self, ASKER, NOW, Whose};
use leasebook::{Release, Table, Wish};
use std::collections::HashMap;
use std::hint::black_box;
use std::ops::Range;

/// How an acquire is undone.
#[derive(Clone, Copy)]
enum By {
    Path,
    Generation,
}

/// Measures the rows of this part.
pub fn measure(effort: Effort, add: &mut dyn FnMut(Row)) {
    for &size in effort.standing {
        pairs(effort, size, add);
    }
    if let Some(&size) = effort.standing.last() {
        directories(effort, size, add);
    }
}

fn pairs(effort: Effort, size: usize, add: &mut dyn FnMut(Row)) {
    let standing = standing::count(size);
    let keys = standing::keys(standing);
    let mut table = standing::table(standing, Whose::Sixteen);
    let mut map: HashMap<String, u64> = (0..standing).map(|lease| (standing::path(lease), lease as u64)).collect();
    let sweeps = effort.pairs.div_ceil(keys.len());
    // A small map lies in the nearest caches as a whole, and nothing is as fast.
    let at_most = if size < 100_000 { 8.0 } else { 4.0 };
    for (by, name, at_most) in [(By::Path, "path", Some(at_most)), (By::Generation, "generation", None)] {
        let ours = |turn: Range<usize>| keys[turn].iter().for_each(|key| pair(&mut table, key, by));
        let peer = |turn: Range<usize>| {
            for key in &keys[turn] {
                map.insert(key.clone(), 1);
                black_box(map.remove(key.as_str()));
            }
        };
        let sides = in_turns(keys.len(), sweeps, ours, peer);
        let what = format!("acquire + release by {name}, {} standing leases", crate::report::thousands(size));
        let peer = Peer::new("HashMap<String, u64> insert + remove", sides.peer);
        add(Row::nanos(what, sides.ours, peer, at_most));
    }
}

fn pair(table: &mut Table, key: &str, by: By) {
    let leases = table.acquire(NOW, ASKER, &[Wish::exclusive(key)], None).expect("nobody else is there");
    let released = match by {
        By::Path => table.release(NOW, ASKER, Release::Paths(&[key])),
        By::Generation => table.release(NOW, ASKER, Release::Generation(leases[0].generation)),
    };
    let _ = black_box(released);
}

/// A directory above all the leases, which are the asker's own, beside a leaf.
fn directories(effort: Effort, size: usize, add: &mut dyn FnMut(Row)) {
    let standing = standing::count(size);
    let keys = standing::keys(standing);
    let mut table = standing::table(standing, Whose::Askers);
    let acquire = |table: &mut Table, path: &str| {
        black_box(table.acquire(NOW, ASKER, &[Wish::exclusive(path)], None).expect("all is the asker's own"));
    };
    let release = |table: &mut Table, path: &str| {
        black_box(table.release(NOW, ASKER, Release::Paths(&[path])).expect("one path"));
    };
    let directory = "/srv";
    let sides = singles(
        &mut table,
        effort.singles,
        Single { run: &mut |table, _| acquire(table, directory), restore: &mut |table, _| release(table, directory) },
        Single {
            run: &mut |table, time| acquire(table, &keys[time % keys.len()]),
            restore: &mut |table, time| release(table, &keys[time % keys.len()]),
        },
    );
    let what = format!("acquire of a directory above {} own leases", crate::report::thousands(size));
    add(Row::nanos(what, sides.ours, Peer::new("acquire of a leaf", sides.peer), Some(10.0)));
}
