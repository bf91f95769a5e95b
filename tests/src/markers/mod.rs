//! Marker files without a file system: what a host owes the machines, in memory, in small steps that tests order.

mod explore;
mod files;
mod process;

pub use explore::{Actor, Explored, Role, explore};
pub use files::{MarkerFiles, Node};
pub use process::{Machine, Process, run};

/// The name of the marker directory in tests.
pub const DIRECTORY: &str = ".writers";
/// The path of it, as machines are told.
pub const MARKERS: &str = "/srv/.writers";
/// The host of every process, unless a test says otherwise.
pub const HOST: &str = "build-7";

/// A nonce that a number stands for.
pub fn nonce(number: u32) -> String {
    format!("{number:032x}")
}

/// The name of a marker.
pub fn marker(number: u32) -> String {
    nonce(number) + ".json"
}

/// What a marker says.
pub fn record(number: u32, pid: u32, host: &str) -> Vec<u8> {
    format!("{{\"version\":1,\"pid\":{pid},\"host\":\"{host}\",\"nonce\":\"{}\"}}\n", nonce(number)).into_bytes()
}
