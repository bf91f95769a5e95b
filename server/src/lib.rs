//! The coordination service of Leasebook.
//!
//! One authority for each workspace decides; it is pure, and stands in the crate `leasebook`. This crate gives it the
//! time, makes durable what it changes before anybody is answered, and speaks REST and MCP with those who ask.

pub mod canonical;
pub mod client;
pub mod clock;
pub mod config;
pub mod driver;
pub mod feed;
pub mod http;
mod journal;
pub mod keys;
pub mod ledger;
pub mod mcp;
pub mod metrics;
pub mod receipts;
mod service;
pub mod store;

pub use service::{Running, ServiceError};
pub use store::StoreError;
