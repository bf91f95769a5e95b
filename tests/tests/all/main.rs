//! All tests of the table in one binary: one behaviour a module.

mod bad_input;
mod corpus;
mod field_cases;
mod hostile_records;
mod limits;
mod listed;
mod markers;
mod model_vectors;
mod no_scan;
mod paths;
mod random_operations;
mod small_scope;
mod soak;
mod threads;
