//! A bad line is answered with its number, the field and the reason; the book goes on.

use super::{RUNTIMES, run, table};
use serde_json::{Value, json};

const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A line, the field at fault, and words of the reason.
const BAD: [(&str, Option<&str>, &str); 47] = [
    ("acquire", None, "not a JSON object"),
    ("{", None, "not a JSON object"),
    (r#"{"op":"ready"} {"op":"ready"}"#, None, "trailing characters"),
    (r#"["ready"]"#, None, "expected one JSON object a line"),
    (r#""ready""#, None, "expected one JSON object a line"),
    ("null", None, "expected one JSON object a line"),
    ("{}", Some("op"), "missing; expected the name of an operation"),
    (r#"{"op":7}"#, Some("op"), "found another number"),
    (r#"{"op":null}"#, Some("op"), "found null"),
    (r#"{"op":"aquire"}"#, Some("op"), "did you mean acquire?"),
    (r#"{"op":"x"}"#, Some("op"), "there are new, restore, advance, acquire"),
    (r#"{"op":"ready","op":"ready"}"#, Some("op"), "there twice"),
    (r#"{"op":"acquire","holder":"a","holder":"b","paths":["/a"]}"#, Some("holder"), "there twice"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"ttlms":5}"#, Some("ttlms"), "did you mean ttl-ms?"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"mode":"shared"}"#, Some("mode"), "did you mean modes?"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"x":1}"#, Some("x"), "its fields are holder, paths, modes, ttl-ms"),
    (r#"{"op":"acquire","paths":["/a"]}"#, Some("holder"), "missing; expected a string"),
    (r#"{"op":"acquire","holder":"a"}"#, Some("paths"), "missing; expected a list of strings"),
    (r#"{"op":"acquire","holder":7,"paths":["/a"]}"#, Some("holder"), "found another number"),
    (r#"{"op":"acquire","holder":null,"paths":["/a"]}"#, Some("holder"), "found null"),
    (r#"{"op":"acquire","holder":"\ud800","paths":["/a"]}"#, Some("holder"), "expected a string"),
    (r#"{"op":"acquire","holder":"a","paths":"/a"}"#, Some("paths"), "found a string"),
    (r#"{"op":"acquire","holder":"a","paths":["/a",7]}"#, Some("paths"), "expected a list of strings"),
    (r#"{"op":"acquire","holder":"a","paths":{"0":"/a"}}"#, Some("paths"), "found an object"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"modes":["both"]}"#, Some("modes"), "\"exclusive\" and \"shared\""),
    (
        r#"{"op":"acquire","holder":"a","paths":["/a"],"modes":[]}"#,
        Some("modes"),
        "one mode for each of 1 paths; found 0",
    ),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"ttl-ms":"5"}"#, Some("ttl-ms"), "expected a number"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"ttl-ms":true}"#, Some("ttl-ms"), "expected a number"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"ttl-ms":NaN}"#, None, "not a JSON object"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"at-ms":-1}"#, Some("at-ms"), "0 or more"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"at-ms":1.5}"#, Some("at-ms"), "whole number"),
    (r#"{"op":"acquire","holder":"a","paths":["/a"],"at-ms":"now"}"#, Some("at-ms"), "found a string"),
    (r#"{"op":"wait-attempt","holder":"a","paths":["/a"]}"#, Some("waiter-id"), "missing"),
    (
        r#"{"op":"wait-attempt","waiter-id":"w","holder":"a","paths":["/a"],"allow-hold":1}"#,
        Some("allow-hold"),
        "true or false",
    ),
    (r#"{"op":"refresh","holder":"a"}"#, Some("generation"), "missing; expected a generation"),
    (r#"{"op":"refresh","holder":"a","generation":-1}"#, Some("generation"), "found another number"),
    (r#"{"op":"refresh","holder":"a","generation":18446744073709551616}"#, Some("generation"), "found another number"),
    (r#"{"op":"release","holder":"a","paths":["/a"],"generation":1}"#, Some("generation"), "found both"),
    (r#"{"op":"unpin","token":7}"#, Some("token"), "expected a string"),
    (r#"{"op":"covering","holder":"a","path":"/a","mode":"write"}"#, Some("mode"), "\"exclusive\" or \"shared\""),
    (r#"{"op":"advance","by-ms":5}"#, Some("at-ms"), "missing"),
    (r#"{"op":"new","fairness":"fair"}"#, Some("fairness"), "\"barge\" or \"fifo\""),
    (r#"{"op":"new","default-ttl-ms":0}"#, Some("default-ttl-ms"), "expected"),
    (r#"{"op":"restore","records":[{"record":"lease","generation":1}]}"#, Some("records[0]"), "missing field `holder`"),
    (r#"{"op":"restore","records":[{"record":"leese"}]}"#, Some("records[0]"), "unknown variant"),
    (r#"{"op":"restore","records":[{"record":"pin-gone","token":"7"}]}"#, Some("records[0]"), "as in \"pin-7\""),
    (
        r#"{"op":"restore","records":[{"record":"waiter-gone","id":"w","x":1}]}"#,
        Some("records[0]"),
        "unknown field `x`",
    ),
];

fn assert_bad(answer: &Value, line: usize, field: Option<&str>, words: &str, said: &str) {
    let error = &answer["error"];
    assert_eq!((&error["line"], &error["field"]), (&json!(line), &json!(field)), "{said}: {answer}");
    assert!(error["reason"].as_str().unwrap().contains(words), "{said}: {answer}");
}

#[test]
fn each_bad_line_is_named_and_the_book_goes_on() {
    for runtime in RUNTIMES {
        let mut lines = vec![r#"{"op":"acquire","at-ms":1000,"holder":"a","paths":["/kept"]}"#];
        lines.extend(BAD.iter().map(|(line, ..)| *line));
        lines.push(r#"{"op":"leases","at-ms":3000}"#);
        let run = table(&["--runtime", runtime], &lines);
        let answers = run.answers();
        assert_eq!(answers.len(), lines.len(), "{}", run.out);
        for (n, (line, field, words)) in BAD.iter().enumerate() {
            assert_bad(&answers[n + 1], n + 2, *field, words, line);
        }
        let last = answers.last().unwrap();
        assert_eq!((&last["leases"][0]["path"], &last["leases"][0]["held-for-ms"]), (&json!("/kept"), &json!(2000)));
        assert_eq!(run.code, 65);
    }
}

#[test]
fn an_unusable_number_is_refused_by_the_table_and_is_no_bad_line() {
    for runtime in RUNTIMES {
        let numbers =
            ["0", "-0", "-1", "1.5", "1e300", "1e999", "86400001", "9007199254740993", "18446744073709551615"];
        let ask = |ttl: &&str| format!(r#"{{"op":"acquire","at-ms":0,"holder":"a","paths":["/a"],"ttl-ms":{ttl}}}"#);
        let lines: Vec<String> = numbers.iter().map(ask).collect();
        let run = table(&["--runtime", runtime], &lines.iter().map(String::as_str).collect::<Vec<_>>());
        for (answer, number) in run.answers().iter().zip(numbers) {
            assert_eq!((&answer["granted"], &answer["reason"]), (&json!(false), &json!("invalid-ttl")), "{number}");
            assert!(answer["sentence"].as_str().unwrap().starts_with("the ttl must be"), "{answer}");
        }
        assert_eq!(run.answers()[2]["ttl-ms"], json!(-1));
        assert_eq!(run.code, 0);

        let null = table(&["--runtime", runtime], &[&ask(&"null"), &ask(&"86400000")]).answers();
        assert_eq!(
            (&null[0]["leases"][0]["ttl-ms"], &null[1]["leases"][0]["ttl-ms"]),
            (&json!(300_000), &json!(86_400_000))
        );
    }
}

#[test]
fn a_line_over_the_limit_is_skipped() {
    let padded = |bytes: usize| {
        let line = r#"{"op":"ready","at-ms":1}"#.to_owned();
        let padding = " ".repeat(bytes - line.len());
        line + &padding
    };
    let input = [padded(LINE_BYTES_MAX), padded(LINE_BYTES_MAX + 1), padded(40)].join("\n");
    let run = run(&["table"], input);
    let answers = run.answers();
    assert_eq!((answers.len(), run.code), (3, 65));
    assert_eq!((&answers[0], &answers[2]), (&json!({"ready": []}), &json!({"ready": []})));
    assert_bad(&answers[1], 2, None, "longer than 8388608 bytes", "a long line");
}

#[test]
fn deep_nesting_and_bytes_that_are_no_text_are_bad_lines() {
    let deep = "[".repeat(LINE_BYTES_MAX / 4) + &"]".repeat(LINE_BYTES_MAX / 4);
    let mut input = format!("{deep}\n{{\"op\":\"pin\",\"holder\":\"a\",\"paths\":{deep}}}\n").into_bytes();
    let record = "[".repeat(1000) + &"]".repeat(1000);
    input.extend(format!("{{\"op\":\"restore\",\"records\":[{{\"record\":\"lease\",\"x\":{record}}}]}}\n").bytes());
    input.extend(b"{\"op\":\"\xff\"}\n{\"op\":\"ready\",\"at-ms\":1,\"answer\":");
    input.extend(deep.bytes());
    input.extend(b"}\n");
    let run = run(&["table"], input);
    let answers = run.answers();
    assert_bad(&answers[0], 1, None, "expected one JSON object a line", "a deep line");
    assert_bad(&answers[1], 2, Some("paths"), "expected a list of strings", "deep paths");
    assert_bad(&answers[2], 3, Some("records[0]"), "recursion limit", "a deep record");
    assert_bad(&answers[3], 4, None, "not UTF-8 at byte 8", "no text");
    // What is ignored is not looked into.
    assert_eq!(answers[4], json!({"ready": []}));
    assert_eq!(run.code, 65);
}

#[test]
fn what_a_bad_line_says_is_repeated_in_part() {
    let name = "x".repeat(1 << 20);
    let run = table(&[], &[&format!(r#"{{"op":"{name}"}}"#), &format!(r#"{{"op":"ready","{name}\u001b":1}}"#)]);
    for answer in run.answers() {
        assert!(answer.to_string().len() < 600, "{answer}");
    }
}
