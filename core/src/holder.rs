//! Who claims: an opaque id.

use crate::limits::HOLDER_BYTES_MAX;
use alloc::sync::Arc;
use core::{borrow::Borrow, fmt, ops::Deref};

/// An id of 1 to [`HOLDER_BYTES_MAX`] bytes without control characters. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder(Arc<str>);

/// The id is empty, too long, or holds a control character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidHolder;

impl Holder {
    /// Reads an id as it came from outside.
    pub fn new(id: &str) -> Result<Self, InvalidHolder> {
        if Self::is_valid(id) { Ok(Self(id.into())) } else { Err(InvalidHolder) }
    }

    /// An id that was read before.
    pub(crate) fn known(id: &str) -> Self {
        debug_assert!(Self::is_valid(id), "only what was read is known");
        Self(id.into())
    }

    /// May this id be a holder?
    pub fn is_valid(id: &str) -> bool {
        (1..=HOLDER_BYTES_MAX).contains(&id.len()) && !id.chars().any(char::is_control)
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Holder {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

/// Equal, ordered and hashed as its text, so that a map of holders can be asked for one.
impl Borrow<str> for Holder {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Holder {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Holder {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl fmt::Display for InvalidHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a holder is 1 to {HOLDER_BYTES_MAX} bytes without control characters")
    }
}

impl core::error::Error for InvalidHolder {}
