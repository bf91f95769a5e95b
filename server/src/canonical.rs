//! Canonical JSON: one text for each value, as RFC 8785 writes it, so that digests and signatures are of values.
//!
//! Numbers are integers up to 2^53 - 1 in size, which every reader of JSON reads alike. A larger one, or a fraction, is
//! refused and never rounded.

use serde::Serialize;
use serde_json::{Number, Value};
use std::fmt::Write as _;

/// The largest integer that a double holds exactly together with all smaller ones: 2^53 - 1.
pub const INTEGER_MAX: u64 = (1 << 53) - 1;

/// A value without a canonical text, or a text that is not the canonical one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    /// No JSON at all.
    #[error("expected JSON: {0}")]
    Json(String),
    /// A number that is no integer, or too large a one.
    #[error("the number {0}: expected an integer from -(2^53 - 1) to 2^53 - 1")]
    Number(String),
    /// JSON, written in another way.
    #[error("expected canonical JSON (RFC 8785): each name once, names in order, no spaces, the shortest escapes")]
    Spelling,
}

/// The canonical text of a value.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> Result<String, NotCanonical> {
    let value = serde_json::to_value(value).map_err(|error| NotCanonical::Json(error.to_string()))?;
    let mut text = String::new();
    write_value(&mut text, &value)?;
    Ok(text)
}

/// Reads a text that must be canonical, to the byte.
pub fn read(text: &[u8]) -> Result<Value, NotCanonical> {
    let value: Value = serde_json::from_slice(text).map_err(|error| NotCanonical::Json(error.to_string()))?;
    // What was read is written again: a name that stood twice, or a space, is not in it any more.
    let mut again = String::with_capacity(text.len());
    write_value(&mut again, &value)?;
    if again.as_bytes() == text { Ok(value) } else { Err(NotCanonical::Spelling) }
}

fn write_value(text: &mut String, value: &Value) -> Result<(), NotCanonical> {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Number(number) => write_number(text, number)?,
        Value::String(string) => write_string(text, string),
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(text, item)?;
            }
            text.push(']');
        }
        Value::Object(members) => {
            // By UTF-16 code units, as the RFC says; above U+FFFF that is another order than that of UTF-8.
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
            text.push('{');
            for (index, (name, member)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_string(text, name);
                text.push(':');
                write_value(text, member)?;
            }
            text.push('}');
        }
    }
    Ok(())
}

fn write_number(text: &mut String, number: &Number) -> Result<(), NotCanonical> {
    let exact = number.as_i64().is_some_and(|integer| integer.unsigned_abs() <= INTEGER_MAX);
    if !exact {
        return Err(NotCanonical::Number(number.to_string()));
    }
    let _ = write!(text, "{number}"); // a string takes everything
    Ok(())
}

/// The escapes are those of the RFC: the short ones, and `\u00xx` in lower case for other control characters.
fn write_string(text: &mut String, string: &str) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            '\0'..='\u{1f}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(character)); // a string takes everything
            }
            _ => text.push(character),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn names_are_sorted_as_in_the_example_of_the_rfc() {
        // RFC 8785, 3.2.3, with numbers for the texts of its values.
        let value = json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}";
        assert_eq!(to_text(&value).unwrap(), expected);
    }

    #[test]
    fn strings_are_escaped_as_in_the_example_of_the_rfc() {
        // RFC 8785, 3.2.2, without its numbers that are no integers.
        let text = r#"{"string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let expected = "{\"literals\":[null,true,false],\"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        assert_eq!(to_text(&value).unwrap(), expected);
    }

    #[test]
    fn integers_are_exact_and_everything_else_is_refused() {
        for exact in [0, 1, -1, 9_007_199_254_740_991, -9_007_199_254_740_991_i64] {
            assert_eq!(to_text(&exact).unwrap(), exact.to_string());
        }
        for refused in
            [json!(9_007_199_254_740_992_u64), json!(-9_007_199_254_740_992_i64), json!(u64::MAX), json!(0.5)]
        {
            assert_eq!(to_text(&refused), Err(NotCanonical::Number(refused.to_string())));
        }
    }

    #[test]
    fn a_text_is_read_when_it_is_the_canonical_one_and_never_otherwise() {
        assert_eq!(read(b"{\"a\":[1,\"x\"],\"b\":null}").unwrap(), json!({"a": [1, "x"], "b": null}));
        for spelling in ["{\"b\":1,\"a\":1}", "{\"a\":1,\"a\":1}", "{ }", "[1,2]\n", "\"\\u0041\"", "\"\\/\""] {
            assert_eq!(read(spelling.as_bytes()), Err(NotCanonical::Spelling), "{spelling}");
        }
        for number in ["1.0", "1e3", "-0", "9007199254740992"] {
            assert!(matches!(read(number.as_bytes()), Err(NotCanonical::Number(_))), "{number}");
        }
        let deep = "[".repeat(100_000);
        for json in [&b"\"\xff\""[..], b"", b"{", b"01", b"NaN", b"\"\\ud800\"", b"1 2", deep.as_bytes()] {
            assert!(matches!(read(json), Err(NotCanonical::Json(_))));
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-(INTEGER_MAX as i64)..=INTEGER_MAX as i64).prop_map(Value::from),
            proptest::collection::vec(any::<char>(), 0..8).prop_map(|c| Value::from(c.into_iter().collect::<String>())),
        ];
        let name = proptest::collection::vec(any::<char>(), 0..4).prop_map(|c| c.into_iter().collect::<String>());
        leaf.prop_recursive(4, 32, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(name.clone(), inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn another_implementation_writes_the_same(value in values()) {
            let text = to_text(&value).unwrap();
            prop_assert_eq!(&text, &serde_jcs::to_string(&value).unwrap());
            prop_assert_eq!(read(text.as_bytes()).unwrap(), value);
        }
    }
}
