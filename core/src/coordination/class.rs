//! Which resources may be read concurrently.

use super::ask::is_resource;
use crate::Mode;
use alloc::string::String;

/// What conflicts on a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    /// Everything. The default.
    #[default]
    Exclusive,
    /// Reads do not exclude each other; a write excludes everything.
    ConcurrentRead,
}

impl Class {
    /// The name that every interface uses for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exclusive => "exclusive",
            Self::ConcurrentRead => "concurrent-read",
        }
    }

    /// How a resource of this class is granted to one who asks for a mode.
    pub(super) fn granted(self, asked: Mode) -> Mode {
        match self {
            Self::Exclusive => Mode::Exclusive,
            Self::ConcurrentRead => asked,
        }
    }
}

/// Names of resources: a name, and everything below it. `*` stands for any one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Reads a pattern; `None`: it is not what the name of a resource could be.
    pub fn new(pattern: &str) -> Option<Self> {
        is_resource(pattern).then(|| Self(pattern.into()))
    }

    /// The pattern as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn covers(&self, resource: &str) -> bool {
        let mut segments = resource.split('/');
        self.0.split('/').all(|wanted| segments.next().is_some_and(|segment| wanted == "*" || wanted == segment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_covers_whole_segments_and_what_is_below() {
        let covers = |pattern: &str, resource: &str| Pattern::new(pattern).is_some_and(|found| found.covers(resource));
        for (pattern, resource) in [("docs", "docs"), ("docs", "docs/a/b"), ("*", "x"), ("a/*/c", "a/b/c/d")] {
            assert!(covers(pattern, resource), "{pattern} {resource}");
        }
        for (pattern, resource) in [("docs", "docsx"), ("docs/a", "docs"), ("a/*", "a"), ("a/*/c", "a/c")] {
            assert!(!covers(pattern, resource), "{pattern} {resource}");
        }
        assert_eq!(Pattern::new("/a"), None);
        assert_eq!(Pattern::new(""), None);
    }
}
