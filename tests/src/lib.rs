//! What the tests of a lease table share: a slow reference model, operations as data, and trials that run both.
//!
//! It is not shipped. The model is written to be believed, so everything in it is a list that is scanned.

#![forbid(unsafe_code)]

pub mod agree;
pub mod decode;
pub mod facts;
pub mod line;
pub mod markers;
pub mod model;
pub mod op;
pub mod paths;
pub mod step;
pub mod trial;

/// The examples of the project's page, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
