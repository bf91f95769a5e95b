//! What can fail beside the table's own answers. A refusal is no error: it is an answer.

use crate::bindings::leasebook::lease::table::{InvalidOptions, RestoreError};
use std::sync::Arc;

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The bytes are no lease component, were precompiled by another build or for another machine, or cannot be
    /// instantiated here.
    #[error("the lease component cannot be loaded")]
    Component(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// An option is out of its bounds.
    #[error("option {}: expected {}", .0.field, .0.expected)]
    Options(InvalidOptions),
    /// The records make no table.
    #[error("record {:?}: expected {}", .0.record, .0.expected)]
    Restore(RestoreError),
}

impl LoadError {
    pub(crate) fn component(error: wasmtime::Error) -> Self {
        Self::Component(error.into())
    }
}

/// Why a call was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// A call trapped inside the component: this one or an earlier one. What it did is not known, so that the table
    /// answers nothing any more. A host makes a new one, from its records where it keeps them.
    #[error("the lease table is poisoned: {cause}")]
    Poisoned {
        /// What the first failure said.
        cause: Arc<str>,
    },
    /// The runtime that was to run the call shut down first.
    #[error("the runtime shut down before the call ran")]
    Stopped,
}
