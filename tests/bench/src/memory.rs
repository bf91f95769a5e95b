//! Bytes for each standing lease, by an allocator that counts.
//!
//! It counts only while this part runs: two atomic additions for each allocation would fall on one side more than on
//! the other where time is measured. (Libraries that count allocations do so always.)

use crate::report::{Row, thousands};
use crate::run::Effort;
use crate::standing::{self, ASKER, NOW, Whose};
use leasebook::{Release, Wish};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Measures the rows of this part.
pub fn measure(effort: Effort, add: &mut dyn FnMut(Row)) {
    for &size in effort.standing {
        let standing = standing::count(size);
        let mut table = None;
        let filled = allocated(|| table = Some(standing::table(standing, Whose::Sixteen)));
        let mut add = |what: &str, bytes: isize, at_most: Option<f64>| {
            let what = format!("bytes for each of {} standing leases{what}", thousands(size));
            add(Row::bytes(what, bytes as f64 / standing as f64, at_most));
        };
        let at_most = (size >= 100_000).then_some(250.0);
        add("", filled, at_most);
        let Some(mut table) = table else { return };
        let keys = standing::keys(standing);
        let churned = allocated(|| {
            for key in keys.iter().cycle().take(standing) {
                table.acquire(NOW, ASKER, &[Wish::exclusive(key)], None).expect("nobody else is there");
                table.release(NOW, ASKER, Release::Paths(&[key])).expect("one path");
            }
        });
        add(", after as many more came and went", filled + churned, at_most);
    }
}

/// How many more bytes are allocated after something than before.
fn allocated(work: impl FnOnce()) -> isize {
    let before = BYTES.load(Relaxed);
    COUNTING.store(true, Relaxed);
    work();
    COUNTING.store(false, Relaxed);
    BYTES.load(Relaxed).wrapping_sub(before) as isize
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static COUNTING: AtomicBool = AtomicBool::new(false);
/// Wraps below zero where something is freed that was allocated uncounted; differences are right.
static BYTES: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: usize) {
    if COUNTING.load(Relaxed) {
        BYTES.fetch_add(bytes, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator with the arguments unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(layout.size().wrapping_neg());
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.wrapping_sub(layout.size()));
        unsafe { System.realloc(pointer, layout, size) }
    }
}
