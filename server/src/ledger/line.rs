//! One line of a ledger: how it is made, and how it is read without trust.
//!
//! A line is a canonical JSON object with the members `atMs`, `body`, `digest`, `kind`, `number` and `previous`. The
//! digest is the SHA-256 of the canonical object without it; `previous` is the digest of the line before.

use crate::canonical::{self, NotCanonical};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

/// The longest line, its end included, in bytes. A request has at most 64 KiB, and an event tells of one request; what
/// an answer adds to it (who is in the way) is listed up to a bound.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// The kind of the first line, whose body names the workspace.
pub const KIND_LEDGER: &str = "ledger";
/// The kind of a line that stands for missing events, whose body says `from` and `to`, both included.
pub const KIND_GAP: &str = "gap";
/// The kind of a line that says when nothing could be written: `fromMs`, `toMs`.
pub const KIND_OUTAGE: &str = "outage";

/// A SHA-256 digest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(pub [u8; 32]);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// An event for a ledger, before it has its place there.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happened, such as `coordination.lease`. The kinds of lines that a ledger makes by itself are refused.
    pub kind: String,
    /// When, in milliseconds of the Unix epoch, at most 2^53 - 1.
    pub at_ms: u64,
    /// What is told of it: an object.
    pub body: Value,
}

/// Why something is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoEvent {
    /// It has no canonical text.
    #[error(transparent)]
    NotCanonical(#[from] NotCanonical),
    /// A part of it is missing, of another type, or not allowed.
    #[error("{field}: expected {expected}")]
    Field {
        /// Which part.
        field: &'static str,
        /// What was expected of it.
        expected: &'static str,
    },
    /// It does not fit a line.
    #[error("the event has {bytes} bytes: expected at most {LINE_BYTES_MAX} with all that a line adds")]
    Long {
        /// How long it is.
        bytes: usize,
    },
}

/// What a line adds to its event at most: the names of members, two digests and a number.
const LINE_ADDS_MAX: usize = 512;

impl Event {
    /// The event as the store keeps it for the ledger: canonical JSON, `{"atMs":…,"body":{…},"kind":"…"}`.
    pub fn to_text(&self) -> Result<String, NoEvent> {
        let text = canonical::to_text(&json!({"atMs": self.at_ms, "body": self.body, "kind": self.kind}))?;
        Self::read(text.as_bytes())?;
        Ok(text)
    }

    /// Reads what [`Event::to_text`] has written.
    pub fn read(text: &[u8]) -> Result<Self, NoEvent> {
        if text.len() > LINE_BYTES_MAX - LINE_ADDS_MAX {
            return Err(NoEvent::Long { bytes: text.len() });
        }
        let refused = |field, expected| NoEvent::Field { field, expected };
        let Value::Object(mut members) = canonical::read(text)? else {
            return Err(refused("event", "an object"));
        };
        let at_ms = members.remove("atMs").and_then(|value| value.as_u64());
        let at_ms = at_ms.ok_or(refused("atMs", "milliseconds of the Unix epoch"))?;
        let body = members.remove("body").filter(Value::is_object).ok_or(refused("body", "an object"))?;
        let kind = match members.remove("kind") {
            Some(Value::String(kind)) if !kind.is_empty() => kind,
            _ => return Err(refused("kind", "a text that is not empty")),
        };
        if [KIND_LEDGER, KIND_GAP, KIND_OUTAGE].contains(&kind.as_str()) {
            return Err(refused("kind", "none of ledger, gap and outage, which the ledger writes by itself"));
        }
        if !members.is_empty() {
            return Err(refused("event", "the members atMs, body and kind alone"));
        }
        Ok(Self { kind, at_ms, body })
    }
}

/// A line of a ledger, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The number of its event; of a gap the last missing one, of an outage that of the line before, first 0.
    pub number: u64,
    /// What it tells of.
    pub kind: String,
    /// When that happened, in milliseconds of the Unix epoch.
    pub at_ms: u64,
    /// What is told.
    pub body: Value,
    /// The digest of the line before; zeros in the first one.
    pub previous: Digest,
}

impl Line {
    /// The text of the line, its end included, and its digest.
    pub fn to_text(&self) -> Result<(String, Digest), NotCanonical> {
        let mut members = Map::new();
        members.insert("atMs".into(), self.at_ms.into());
        members.insert("body".into(), self.body.clone());
        members.insert("kind".into(), self.kind.clone().into());
        members.insert("number".into(), self.number.into());
        members.insert("previous".into(), self.previous.to_string().into());
        let digest = Digest(Sha256::digest(canonical::to_text(&members)?).into());
        members.insert("digest".into(), digest.to_string().into());
        let mut text = canonical::to_text(&members)?;
        text.push('\n');
        Ok((text, digest))
    }

    /// Reads a line without its end. What is returned has exactly this text, and the digest that stands in it.
    pub fn read(text: &[u8]) -> Result<(Self, Digest), String> {
        let value = canonical::read(text).map_err(|error| error.to_string())?;
        let member = |name: &'static str, expected: &'static str| {
            value.get(name).ok_or_else(|| format!("{name} is missing: expected {expected}"))
        };
        let whole = |name: &'static str| {
            let expected = "an integer from 0 to 2^53 - 1";
            let found = member(name, expected)?;
            found.as_u64().ok_or_else(|| format!("{name} is {}: expected {expected}", short(found)))
        };
        let text_of = |name: &'static str| {
            let found = member(name, "a text")?;
            found.as_str().map(String::from).ok_or_else(|| format!("{name} is {}: expected a text", short(found)))
        };
        let line = Self {
            number: whole("number")?,
            kind: text_of("kind")?,
            at_ms: whole("atMs")?,
            body: member("body", "an object")?.clone(),
            previous: hex(&text_of("previous")?).ok_or("previous: expected 64 hex digits in lower case")?,
        };
        if !line.body.is_object() {
            return Err(format!("body is {}: expected an object", short(&line.body)));
        }
        let (again, digest) = line.to_text().map_err(|error| error.to_string())?;
        let stated = text_of("digest")?;
        if stated != digest.to_string() {
            return Err(format!("digest is {}: expected {digest}, which is that of the line", short(&stated.into())));
        }
        // The digest is right, so that only a member which no line has can make a difference.
        if again.strip_suffix('\n').map(str::as_bytes) != Some(text) {
            return Err("expected the members atMs, body, digest, kind, number and previous alone".into());
        }
        Ok((line, digest))
    }
}

/// The longest part of a foreign text that a message quotes, in characters.
const QUOTED_MAX: usize = 80;

/// A value as a message quotes it: JSON, cut.
fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(QUOTED_MAX) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn hex(text: &str) -> Option<Digest> {
    let mut digest = Digest::default();
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 64 || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    for (byte, pair) in digest.0.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        let body = json!({"holder": "did:example:a"});
        Line { number: 1, kind: "coordination.lease".into(), at_ms: 7, body, previous: Digest([1; 32]) }
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let (text, digest) = line().to_text().unwrap();
        assert_eq!(Line::read(text.trim_end().as_bytes()).unwrap(), (line(), digest));
    }

    #[test]
    fn the_digest_is_that_of_the_line_without_it() {
        let (text, digest) = line().to_text().unwrap();
        let previous = "01".repeat(32);
        let without = format!(
            r#"{{"atMs":7,"body":{{"holder":"did:example:a"}},"kind":"coordination.lease","number":1,"previous":"{previous}"}}"#
        );
        assert_eq!(digest, Digest(Sha256::digest(&without).into()));
        assert_eq!(text, without.replace(r#","kind""#, &format!(r#","digest":"{digest}","kind""#)) + "\n");
    }

    #[test]
    fn no_byte_of_a_line_can_change() {
        let (text, _) = line().to_text().unwrap();
        let text = text.trim_end().as_bytes();
        for at in 0..text.len() {
            for change in [1, 2, 0x20, 0x80] {
                let mut changed = text.to_vec();
                changed[at] ^= change;
                assert!(Line::read(&changed).is_err(), "{}", String::from_utf8_lossy(&changed));
            }
        }
    }

    #[test]
    fn a_further_member_is_refused() {
        let (text, _) = line().to_text().unwrap();
        let more = text.trim_end().replace(r#","kind""#, r#","extra":1,"kind""#);
        assert_eq!(
            Line::read(more.as_bytes()).unwrap_err(),
            "expected the members atMs, body, digest, kind, number and previous alone"
        );
    }

    #[test]
    fn an_event_is_read_as_it_was_written_and_never_otherwise() {
        let event = Event { kind: "coordination.lease".into(), at_ms: 5, body: json!({"a": 1}) };
        let text = event.to_text().unwrap();
        assert_eq!(text, r#"{"atMs":5,"body":{"a":1},"kind":"coordination.lease"}"#);
        assert_eq!(Event::read(text.as_bytes()).unwrap(), event);
        for (text, field) in [
            ("1", "event"),
            (r#"{"body":{},"kind":"k"}"#, "atMs"),
            (r#"{"atMs":-1,"body":{},"kind":"k"}"#, "atMs"),
            (r#"{"atMs":1,"body":[],"kind":"k"}"#, "body"),
            (r#"{"atMs":1,"body":{},"kind":""}"#, "kind"),
            (r#"{"atMs":1,"body":{},"kind":"gap"}"#, "kind"),
            (r#"{"atMs":1,"body":{},"kind":"k","more":1}"#, "event"),
        ] {
            let refused = Event::read(text.as_bytes()).unwrap_err();
            assert!(matches!(refused, NoEvent::Field { field: found, .. } if found == field), "{text}: {refused:?}");
        }
        let spaced = Event::read(br#"{"atMs":1, "body":{},"kind":"k"}"#);
        assert_eq!(spaced, Err(NoEvent::NotCanonical(NotCanonical::Spelling)));
    }

    #[test]
    fn an_event_fits_its_line_or_is_refused() {
        let event = |length: usize| Event { kind: "k".into(), at_ms: 1, body: json!({"a": "x".repeat(length)}) };
        let rest = event(0).to_text().unwrap().len();
        let largest = event(LINE_BYTES_MAX - LINE_ADDS_MAX - rest);
        let text = largest.to_text().unwrap();
        let Event { kind, at_ms, body } = Event::read(text.as_bytes()).unwrap();
        let line = Line { number: canonical::INTEGER_MAX, kind, at_ms, body, previous: Digest([255; 32]) };
        assert!(line.to_text().unwrap().0.len() <= LINE_BYTES_MAX);
        let bytes = text.len() + 1;
        assert_eq!(event(LINE_BYTES_MAX - LINE_ADDS_MAX - rest + 1).to_text(), Err(NoEvent::Long { bytes }));
    }
}
