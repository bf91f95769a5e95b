//! The leases that stand while something is measured, and the paths that are asked for beside them.
//!
//! A tree of five segments with 32 names in each directory, filled from the left: `/srv/d05/d31/d00/file-7`.

use fastrand::Rng;
use leasebook::limits::LEASES_MAX;
use leasebook::{Limits, Millis, Options, Period, Table, Wish};

/// The moment at which everything starts.
pub const NOW: Millis = Millis::new(1_000);
/// Whose leases are asked for and given back; it has some that stand.
pub const ASKER: &str = "writer-1";
/// How many names a directory has.
const SIBLINGS: usize = 32;
/// How many different paths are asked for, where as many leases stand.
const KEYS: usize = 100_000;

/// Whose the standing leases are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// All the asker's.
    Askers,
    /// Those of one directory are one holder's, and there are sixteen of them.
    Sixteen,
}

impl Whose {
    /// The holder of a standing lease.
    pub fn holder(self, lease: usize) -> String {
        match self {
            Self::Askers => ASKER.into(),
            Self::Sixteen => format!("writer-{}", lease / SIBLINGS % 16),
        }
    }
}

/// How many leases stand for a size: the largest leaves room for one more.
pub fn count(size: usize) -> usize {
    size.min(LEASES_MAX - 64)
}

/// The path of a standing lease.
pub fn path(lease: usize) -> String {
    place(lease, "file")
}

/// Where a lease stands in the tree, under a name of its own stem.
fn place(lease: usize, stem: &str) -> String {
    let (directory, name) = (lease / SIBLINGS, lease % SIBLINGS);
    let [top, middle, low] = [directory / SIBLINGS / SIBLINGS, directory / SIBLINGS % SIBLINGS, directory % SIBLINGS];
    let name = char::from(b"0123456789abcdefghijklmnopqrstuv"[name]);
    format!("/srv/d{top:02}/d{middle:02}/d{low:02}/{stem}-{name}")
}

/// The paths that are asked for: each beside a standing lease, all over the tree, in an order that jumps about. None is
/// leased. The order is the same in every run.
pub fn keys(standing: usize) -> Vec<String> {
    let mut rng = Rng::with_seed(0x1ea5eb00c);
    let mut leases: Vec<usize> = (0..standing).collect();
    rng.shuffle(&mut leases);
    leases.truncate(KEYS);
    leases.into_iter().map(|lease| place(lease, "temp")).collect()
}

/// A table in which so many leases stand, for a day.
pub fn table(standing: usize, whose: Whose) -> Table {
    let options = Options { limits: Limits::default(), hash_key: 0x5eed, ..Options::default() };
    let mut table = Table::new(options).expect("the options are in their bounds");
    let day = Some(Period::from(24 * 60 * 60 * 1000_u64));
    for lease in 0..standing {
        let path = path(lease);
        table.acquire(NOW, &whose.holder(lease), &[Wish::exclusive(&path)], day).expect("nobody else is there");
    }
    table
}
