//! Tests of the authority at length.

mod random_operations;
