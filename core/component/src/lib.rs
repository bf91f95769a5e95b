//! The lease table as a WebAssembly component: the glue between `leasebook` and the interfaces of `wit/`, and nothing
//! else. It decides nothing; it lifts arguments, reads the clock once for each operation, and lowers answers.
//!
//! Invariants: it imports only the clock and the effects of marker files. It traps only where its memory is used up, or where the table itself is
//! broken. Nothing here runs natively; that it compiles for a host is for the checks of the workspace.
//!
//! # Limitations
//!
//! Memory is bounded as [`memory`] says: what would need more than `memory-bytes-max` is refused beforehand, but an
//! answer is built whole, so that a table near that bound needs several times as much while it lists everything.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

#[cfg(not(feature = "baseline"))]
mod answer;
#[cfg(not(feature = "baseline"))]
mod ask;
#[cfg(feature = "baseline")]
mod baseline;
#[cfg(not(feature = "baseline"))]
mod book;
#[cfg(not(feature = "baseline"))]
mod durable;
#[cfg(any(target_arch = "wasm32", not(feature = "baseline")))]
mod memory;
#[cfg(not(feature = "baseline"))]
mod writer;

/// Generated from `wit/`.
#[allow(missing_docs, unused_qualifications, clippy::all)]
mod bindings {
    #[cfg(feature = "baseline")]
    use crate::baseline::Component;
    #[cfg(not(feature = "baseline"))]
    use crate::book::Component;

    wit_bindgen::generate!({ path: "../../wit", world: "leasebook" });
    export!(Component);
}

#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn trap(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
