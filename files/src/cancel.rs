//! A flag by which somebody else ends an operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle that ends the operations it is given to, from any thread. Copies are the same handle.
///
/// An operation looks at it before each of its steps. A step that has begun is always awaited, and the clean-up that
/// follows cannot be cancelled. Once cancelled, a handle stays so.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A handle that nobody has used yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the operations.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Was it used?
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
