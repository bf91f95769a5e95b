//! What the random tests of the authority share: a slow reference model, operations as data, and trials that run both.
//!
//! It is not shipped. A crate of its own, so that testing the authority builds no runtime of components.

#![forbid(unsafe_code)]

pub mod model;
pub mod observer;
pub mod op;
pub mod step;
pub mod trial;
