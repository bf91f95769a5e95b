//! The coordination service of Leasebook.
//!
//! One authority for each workspace decides; it is pure, and stands in the crate `leasebook`. This crate gives it the
//! time, makes durable what it changes before anybody is answered, and speaks REST and MCP with those who ask.

pub mod clock;
pub mod http;
pub mod keys;
pub mod store;
