//! One line of JSON as named fields, each read once and with a type.
//!
//! Hostile input: nothing here recurses into what the line nests, and every refusal names the field and what was
//! expected of it.

use serde::de::{DeserializeOwned, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// More fields than any operation has.
const FIELDS_MAX: usize = 32;
/// How much of a name from outside is repeated, in characters.
const NAME_SHOWN_MAX: usize = 64;
/// How alike two names must be for one to be suggested, on the scale of Jaro and Winkler.
const ALIKE: f64 = 0.8;

/// Why a line is no operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The field at fault; `None` where it is the line as a whole.
    pub field: Option<String>,
    /// What is wrong with it, and what was expected.
    pub reason: String,
}

impl BadLine {
    /// The whole line is at fault.
    pub fn whole(reason: impl Into<String>) -> Self {
        Self { field: None, reason: reason.into() }
    }

    /// One field is at fault.
    pub fn field(name: &str, reason: impl Into<String>) -> Self {
        Self { field: Some(shown(name)), reason: reason.into() }
    }
}

/// The fields of one line that were not read yet.
pub struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Reads a line: a JSON object in UTF-8 that names no field twice.
    pub fn read(line: &'a [u8]) -> Result<Self, BadLine> {
        let text = std::str::from_utf8(line)
            .map_err(|error| BadLine::whole(format!("not UTF-8 at byte {}", error.valid_up_to() + 1)))?;
        let mut json = serde_json::Deserializer::from_str(text);
        let fields = json.deserialize_map(Collect).and_then(|fields| json.end().map(|()| fields));
        let fields = fields.map_err(|error| BadLine::whole(format!("not a JSON object: {}", said(&error))))?;
        for (n, (name, _)) in fields.iter().enumerate() {
            if fields[..n].iter().any(|(earlier, _)| earlier == name) {
                return Err(BadLine::field(name, "the field is there twice"));
            }
        }
        Ok(Self(fields))
    }

    /// Refuses every field that is not one of the known ones.
    pub fn only(&self, operation: &str, known: &[&str]) -> Result<(), BadLine> {
        let Some((name, _)) = self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) else { return Ok(()) };
        let hint = match alike(name, known) {
            Some(other) => format!("did you mean {other}?"),
            None => format!("its fields are {}", known.join(", ")),
        };
        Err(BadLine::field(name, format!("{operation} has no such field; {hint}")))
    }

    /// Takes a field that may be absent; `null` counts as absent.
    pub fn optional<T: DeserializeOwned>(&mut self, name: &str, expected: &str) -> Result<Option<T>, BadLine> {
        match self.take(name) {
            None => Ok(None),
            Some(value) if value.get() == "null" => Ok(None),
            Some(value) => read(name, value, expected).map(Some),
        }
    }

    /// Takes a field that must be there.
    pub fn required<T: DeserializeOwned>(&mut self, name: &str, expected: &str) -> Result<T, BadLine> {
        let missing = || BadLine::field(name, format!("missing; expected {expected}"));
        self.take(name).ok_or_else(missing).and_then(|value| read(name, value, expected))
    }

    /// Takes a number of any size that may be absent; one that no double holds counts as the largest.
    pub fn number(&mut self, name: &str) -> Result<Option<f64>, BadLine> {
        let Some(value) = self.take(name).map(RawValue::get).filter(|value| *value != "null") else { return Ok(None) };
        let number = value.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let wrong = || BadLine::field(name, "expected a number of milliseconds");
        let parsed = value.parse::<f64>().ok().filter(|_| number).ok_or_else(wrong)?;
        Ok(Some(parsed.clamp(f64::MIN, f64::MAX)))
    }

    fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let at = self.0.iter().position(|(given, _)| given == name)?;
        Some(self.0.swap_remove(at).1)
    }
}

/// The known name that is most like a given one, where one is.
pub fn alike<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if name.chars().count() > NAME_SHOWN_MAX {
        return None;
    }
    let likeness = |other: &&str| strsim::jaro_winkler(name, other);
    let best = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) >= ALIKE).then_some(best)
}

/// A name from outside, at a length that can be repeated.
pub fn shown(name: &str) -> String {
    match name.char_indices().nth(NAME_SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_string(),
    }
}

fn read<T: DeserializeOwned>(name: &str, value: &RawValue, expected: &str) -> Result<T, BadLine> {
    serde_json::from_str(value.get()).map_err(|error| {
        let found = if error.is_syntax() { said(&error) } else { kind(value.get()).to_string() };
        BadLine::field(name, format!("expected {expected}; found {found}"))
    })
}

/// What a JSON value is, by its first character.
fn kind(value: &str) -> &'static str {
    match value.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "another list",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "another number",
    }
}

/// An error of the JSON reader without the number of the line, which it counts within this one line.
pub(super) fn said(error: &serde_json::Error) -> String {
    let said = error.to_string();
    match (said.rsplit_once(" at line "), error.column()) {
        (Some((said, _)), 1..) => format!("{said} at column {}", error.column()),
        (Some((said, _)), 0) => said.to_string(),
        (None, _) => said,
    }
}

struct Collect;

impl<'de> Visitor<'de> for Collect {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one JSON object a line")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(entry) = map.next_entry()? {
            if fields.len() == FIELDS_MAX {
                return Err(A::Error::custom(format_args!("more than {FIELDS_MAX} fields")));
            }
            fields.push(entry);
        }
        Ok(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(line: &str) -> String {
        Fields::read(line.as_bytes()).map(|_| ()).unwrap_err().reason
    }

    #[test]
    fn only_one_object_is_a_line() {
        assert!(Fields::read(br#" {"op":"x","paths":[[[]]]} "#).is_ok());
        assert!(reason("").contains("not a JSON object: EOF"), "{}", reason(""));
        assert!(reason("[1]").contains("expected one JSON object a line"), "{}", reason("[1]"));
        assert!(reason("{} {}").contains("trailing characters at column 4"), "{}", reason("{} {}"));
        assert!(reason(&"[".repeat(1 << 20)).contains("not a JSON object"));
        assert!(reason(&format!("{{{}}}", r#""a":1,"#.repeat(40))).contains("more than 32 fields"));
        assert_eq!(Fields::read(b"{\"op\":\"\xff\"}").map(|_| ()).unwrap_err().reason, "not UTF-8 at byte 8");
    }

    #[test]
    fn nesting_is_walked_without_recursion() {
        let deep = format!(r#"{{"op":{}{}}}"#, "[".repeat(1 << 20), "]".repeat(1 << 20));
        let mut fields = Fields::read(deep.as_bytes()).unwrap();
        assert_eq!(
            fields.required::<String>("op", "a name").unwrap_err().reason,
            "expected a name; found another list"
        );
    }

    #[test]
    fn a_number_may_be_unusable_but_not_another_type() {
        let number =
            |value: &str| Fields::read(format!(r#"{{"n":{value}}}"#).as_bytes()).and_then(|mut f| f.number("n"));
        assert_eq!(number("null"), Ok(None));
        assert_eq!(number("-0"), Ok(Some(-0.0)));
        assert_eq!(number("1e300"), Ok(Some(1e300)));
        assert_eq!(number("1e999"), Ok(Some(f64::MAX)));
        assert_eq!(number("-1e999"), Ok(Some(f64::MIN)));
        for wrong in [r#""5""#, "true", "[1]", "{}"] {
            assert_eq!(number(wrong), Err(BadLine::field("n", "expected a number of milliseconds")), "{wrong}");
        }
        assert!(number("NaN").unwrap_err().field.is_none());
    }

    #[test]
    fn a_typo_is_named_and_answered_with_the_field_meant() {
        let fields = Fields::read(br#"{"op":"x","ttlms":1}"#).unwrap();
        let bad = fields.only("acquire", &["op", "holder", "ttl-ms"]).unwrap_err();
        assert_eq!(bad, BadLine::field("ttlms", "acquire has no such field; did you mean ttl-ms?"));
        assert_eq!(shown(&"x".repeat(100)).chars().count(), NAME_SHOWN_MAX + 1);
    }
}
