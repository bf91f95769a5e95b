//! REST: what is asked over HTTP, and how it is answered.

mod body;
mod connections;
mod problem;

pub use connections::serve;
pub use problem::{CODES, Code, Problem};
