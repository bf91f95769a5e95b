//! How much memory is in use, so that growth is refused before it runs out.
//!
//! A trap for want of memory would lose the table, and anyone may ask for leases. Counting what is allocated costs one
//! addition; the size of the memory itself would not do, because it never shrinks.

pub use allocator::in_use;

#[cfg(target_arch = "wasm32")]
mod allocator {
    use core::alloc::{GlobalAlloc, Layout};
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use dlmalloc::GlobalDlmalloc;

    struct Counted;

    static IN_USE: AtomicUsize = AtomicUsize::new(0);

    #[global_allocator]
    static ALLOCATOR: Counted = Counted;

    /// Bytes that are allocated now.

    pub fn in_use() -> u64 {
        IN_USE.load(Relaxed) as u64
    }

    fn count(by: usize) {
        // There is one thread, so that this is a plain addition; a wrapping one, so that it also subtracts.
        IN_USE.store(IN_USE.load(Relaxed).wrapping_add(by), Relaxed);
    }

    // SAFETY: every call goes to an allocator that keeps the contract, with the arguments unchanged.
    unsafe impl GlobalAlloc for Counted {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            count(layout.size());
            unsafe { GlobalDlmalloc.alloc(layout) }
        }

        unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
            count(layout.size().wrapping_neg());
            unsafe { GlobalDlmalloc.dealloc(pointer, layout) }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            count(layout.size());
            unsafe { GlobalDlmalloc.alloc_zeroed(layout) }
        }

        unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            count(size.wrapping_sub(layout.size()));
            unsafe { GlobalDlmalloc.realloc(pointer, layout, size) }
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod allocator {
    /// A host's allocator is not ours to count.
    pub fn in_use() -> u64 {
        0
    }
}
