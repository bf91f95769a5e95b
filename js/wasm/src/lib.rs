//! The lease table and the machines of writer leases as wasm-bindgen exports: the glue between `leasebook` and the
//! TypeScript of `js/src`, and nothing else. It decides nothing, reads no clock and calls nobody.
//!
//! Arguments come as primitives. The texts of calls about one path stay in the memory of the module between calls
//! ([`asked`]), and the caller writes only what is new. Several texts come as one text with their lengths. Answers go out the other way round,
//! as numbers and one text in the memory of the module ([`out`]), which the caller reads in place: a grant that says
//! nothing the caller does not know makes no object and no text. So nothing here knows of a JavaScript value, and
//! neither js-sys nor serde is needed.
//!
//! Invariants: it imports nothing of a host but what wasm-bindgen itself needs to report a broken handle. It traps only
//! where its memory is used up, or where a table is broken. Nothing here runs natively; that it compiles for a host is
//! for the checks of the workspace.
//!
//! # Limitations
//!
//! Memory is bounded as [`memory`] says; an answer is built whole, so that a table near that bound needs several times
//! as much while it lists everything. The order of numbers in an answer is private between this crate and `js/src`.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

#[cfg(feature = "table")]
mod answer;
mod ask;
#[cfg(feature = "table")]
mod asked;
#[cfg(feature = "table")]
mod durable;
mod memory;
mod out;
#[cfg(feature = "writer")]
mod outcome;
#[cfg(feature = "writer")]
mod step;
#[cfg(feature = "table")]
mod table;
#[cfg(feature = "writer")]
mod writer;

#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn trap(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
