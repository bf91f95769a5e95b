//! Signals that are for the command: before it runs they end the attempt, and while it runs they are passed on.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use other::Signals;
#[cfg(unix)]
pub use unix::Signals;
