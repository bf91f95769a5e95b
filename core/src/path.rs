//! What is claimed: a path, read once, compared by whole segments.
//!
//! Containment is lexical. Bytes are compared as they are: no case folding, no Unicode normalisation, no file system.
//! Whoever fronts a table makes paths absolute against one root first, and refuses what leaves that root.

use crate::limits::{PATH_BYTES_MAX, PATH_SEGMENTS_MAX};
use crate::words;

/// A path that can be reasoned about, borrowed from its spelling.
///
/// Not readable, hence no `Path`: the empty string, a NUL, a backslash, any `..` segment, over the limits.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    spelling: &'a str,
    absolute: bool,
    plain: bool,
}

/// The segments of a path, one after the other.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    rest: &'a str,
}

/// Does a directory contain a path?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Containment {
    /// It does; a directory contains itself.
    Yes,
    /// It does not.
    No,
    /// That cannot be told: one of them is unevaluable, or one is absolute and the other relative.
    Unknown,
}

impl<'a> Path<'a> {
    /// Reads a spelling; `None` where it is unevaluable.
    pub fn parse(spelling: &'a str) -> Option<Self> {
        if spelling.is_empty() || spelling.len() > PATH_BYTES_MAX {
            return None;
        }
        let absolute = spelling.starts_with('/');
        let bytes = spelling.as_bytes();
        if is_names(bytes) {
            return Some(Self { spelling, absolute, plain: true });
        }
        let (mut segments, mut left_out) = (0, 0);
        let first = usize::from(absolute);
        let mut start = first;
        let mut end_segment = |at: usize| {
            match &bytes[start..at] {
                b"" | b"." => left_out += 1,
                b".." => return false,
                _ => segments += 1,
            }
            start = at + 1;
            true
        };
        for (at, &byte) in bytes.iter().enumerate() {
            // Most bytes lie above all but one of those that matter.
            if byte > b'/' && byte != b'\\' {
                continue;
            }
            match byte {
                0 | b'\\' => return None,
                b'/' if at >= first && !end_segment(at) => return None,
                _ => {}
            }
        }
        if !end_segment(bytes.len()) {
            return None;
        }
        // A root has one part that is left out and cannot be spelled without it.
        let plain = left_out == 0 || (segments == 0 && spelling.len() == 1);
        (segments <= PATH_SEGMENTS_MAX).then_some(Self { spelling, absolute, plain })
    }

    /// A spelling that was read before.
    pub(crate) fn known(spelling: &'a str) -> Self {
        Self { spelling, absolute: spelling.starts_with('/'), plain: false }
    }

    /// Is it spelled as plainly as it can be, so that the segments alone give it back?
    pub(crate) fn is_plain(self) -> bool {
        self.plain
    }

    /// The segments in the last `left` bytes of the spelling.
    pub(crate) fn last_segments(self, left: usize) -> Segments<'a> {
        Segments { rest: &self.spelling[self.spelling.len() - left..] }
    }

    /// Does it start with a `/`?
    pub fn is_absolute(self) -> bool {
        self.absolute
    }

    /// As it was written.
    pub fn spelling(self) -> &'a str {
        self.spelling
    }

    /// Its segments, without empty and `.` ones.
    pub fn segments(self) -> Segments<'a> {
        Segments { rest: self.spelling }
    }

    /// Does the directory contain this path?
    pub fn is_in(self, directory: Path<'_>) -> Containment {
        if self.absolute != directory.absolute {
            return Containment::Unknown;
        }
        let mut own = self.segments();
        if directory.segments().all(|segment| own.next() == Some(segment)) { Containment::Yes } else { Containment::No }
    }
}

/// Is it nothing but names between single slashes, as most are, and too short for too many of them? Anything else must
/// be looked at more closely.
fn is_names(bytes: &[u8]) -> bool {
    let names = bytes.strip_prefix(b"/").unwrap_or(bytes);
    // The top bit of each byte that starts a name.
    let mut starts = 0x80;
    (1..2 * PATH_SEGMENTS_MAX).contains(&names.len())
        && names.last() != Some(&b'/')
        && words::all(names, |word| {
            let slashes = words::equal(word, b'/');
            starts |= slashes << 8;
            let close = words::equal(word, 0) | words::equal(word, b'\\');
            let starts_close = starts & (slashes | words::equal(word, b'.'));
            starts = slashes >> 56;
            close | starts_close == 0
        })
}

impl Segments<'_> {
    /// How many bytes of the spelling are yet to be read.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }
}

impl<'a> Iterator for Segments<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        while !self.rest.is_empty() {
            // Segments are short; a plain loop beats a search that prepares for long ones.
            let end = self.rest.as_bytes().iter().position(|&byte| byte == b'/').unwrap_or(self.rest.len());
            let segment = &self.rest[..end];
            self.rest = self.rest.get(end + 1..).unwrap_or("");
            if !matches!(segment.as_bytes(), b"" | b".") {
                return Some(segment);
            }
        }
        None
    }
}

/// Does the directory contain the path? The same test that a table uses, for a policy engine beside it.
///
/// ```
/// use leasebook::{contains, Containment};
/// assert_eq!(contains("/srv/src/app.rs", "/srv//src/"), Containment::Yes);
/// assert_eq!(contains("/srv/srcx", "/srv/src"), Containment::No);
/// assert_eq!(contains("src/app.rs", "/srv/src"), Containment::Unknown);
/// ```
pub fn contains(path: &str, directory: &str) -> Containment {
    match (Path::parse(path), Path::parse(directory)) {
        (Some(path), Some(directory)) => path.is_in(directory),
        _ => Containment::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{string::String, vec::Vec};

    /// Absolute, its segments, spelled plainly; `None` = unevaluable.
    type Told<'a> = Option<(bool, &'a [&'a str], bool)>;

    #[test]
    fn spellings() {
        let long = "x".repeat(PATH_BYTES_MAX);
        let deep = "a/".repeat(PATH_SEGMENTS_MAX);
        let cases: &[(&str, Told<'_>)] = &[
            ("/a", Some((true, &["a"], true))),
            ("/a/", Some((true, &["a"], false))),
            ("/a/.", Some((true, &["a"], false))),
            ("//a", Some((true, &["a"], false))),
            ("/./a//b", Some((true, &["a", "b"], false))),
            ("a/b", Some((false, &["a", "b"], true))),
            ("./a", Some((false, &["a"], false))),
            ("a_b", Some((false, &["a_b"], true))),
            ("...", Some((false, &["..."], true))),
            (".a/..b", Some((false, &[".a", "..b"], true))),
            ("/", Some((true, &[], true))),
            ("//", Some((true, &[], false))),
            (".", Some((false, &[], true))),
            ("./", Some((false, &[], false))),
            ("é/e\u{301}", Some((false, &["é", "e\u{301}"], true))),
            ("a\nb", Some((false, &["a\nb"], true))),
            ("", None),
            ("..", None),
            ("/a/../b", None),
            ("/a/..", None),
            ("a\\b", None),
            ("a\0b", None),
            ("\0", None),
        ];
        for (spelling, expected) in cases {
            let path = Path::parse(spelling);
            let told = path.map(|path| (path.is_absolute(), path.segments().collect::<Vec<_>>(), path.is_plain()));
            let expected = expected.map(|(absolute, segments, plain)| (absolute, segments.to_vec(), plain));
            assert_eq!(told, expected, "{spelling:?}");
        }
        assert!(Path::parse(&long).is_some());
        assert!(Path::parse(&(long + "x")).is_none());
        assert!(Path::parse(&deep).is_some());
        assert!(Path::parse(&(deep + "b")).is_none());
    }

    #[test]
    fn containment() {
        use Containment::{No, Unknown, Yes};
        let cases = [
            ("/a", "/a", Yes),
            ("/a/", "/a/.", Yes),
            ("/a/b", "/a", Yes),
            ("/a", "/a/b", No),
            ("/ab", "/a", No),
            ("/A", "/a", No),
            ("a/b", "a", Yes),
            ("a", ".", Yes),
            ("/a", "/", Yes),
            ("/a", "a", Unknown),
            ("a", "/", Unknown),
            ("é", "e\u{301}", No),
            ("/a/../b", "/a", Unknown),
            ("/a", "", Unknown),
        ];
        for (path, directory, expected) in cases {
            assert_eq!(contains(path, directory), expected, "{path:?} in {directory:?}");
        }
    }

    #[test]
    fn segments_give_a_plain_spelling_back() {
        for spelling in ["/a/bc/d", "a", "a/b", "/x"] {
            let path = Path::parse(spelling).unwrap();
            let joined = path.segments().collect::<Vec<_>>().join("/");
            let joined = if path.is_absolute() { String::from("/") + &joined } else { joined };
            assert!(path.is_plain());
            assert_eq!(joined, spelling);
        }
    }
}
