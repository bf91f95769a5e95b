//! The owner record: what a marker says, read without trust.
//!
//! It is one JSON object on one line, and whatever JSON allows in writing the four fields, in spaces and escapes, is
//! read; whatever it allows beyond them is not.

use super::json::Reader;
use super::limits::{PID_MAX, RECORD_BYTES_MAX};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// What a recognized marker says: version 1, a process id, a host, a nonce.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OwnerRecord {
    pid: u32,
    host: String,
    nonce: String,
}

/// Why a marker is not recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unrecognized {
    /// It is no ordinary file.
    NotOrdinary,
    /// It has more than [`RECORD_BYTES_MAX`] bytes.
    TooLarge,
    /// The system does not let us read it.
    PermissionDenied,
    /// It is not one JSON object of numbers and strings.
    Malformed,
    /// It has a field twice, one that is unknown, or lacks one.
    Fields,
    /// Its version is not 1.
    Version,
    /// Its process id is not a whole number from 1 to [`PID_MAX`].
    Pid,
    /// Its host is no text, is empty, or has control characters.
    Host,
    /// Its nonce is not 32 lower-case hex digits, or not the one in the name of the file.
    Nonce,
}

impl Unrecognized {
    /// What is wrong with it, for a person.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotOrdinary => "it is no ordinary file",
            Self::TooLarge => "it has more than 4096 bytes",
            Self::PermissionDenied => "the system does not let us read it",
            Self::Malformed => "it is not one line of JSON with a record",
            Self::Fields => "it has not exactly the fields version, pid, host and nonce",
            Self::Version => "its version is not 1",
            Self::Pid => "its pid is not from 1 to 2147483647",
            Self::Host => "its host is not a name",
            Self::Nonce => "its nonce is not the one of its file name",
        }
    }
}

impl fmt::Display for Unrecognized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl core::error::Error for Unrecognized {}

/// What stands around the values in the line of a record.
const BEFORE_PID: &str = "{\"version\":1,\"pid\":";
const BEFORE_HOST: &str = ",\"host\":\"";
const BEFORE_NONCE: &str = "\",\"nonce\":\"";
const AFTER_NONCE: &str = "\"}\n";

impl OwnerRecord {
    /// A record of these values, where a marker may say them.
    pub fn new(pid: u32, host: &str, nonce: &str) -> Result<Self, Unrecognized> {
        Self { pid, host: host.into(), nonce: nonce.into() }.checked()
    }

    fn checked(self) -> Result<Self, Unrecognized> {
        if !(1..=PID_MAX).contains(&self.pid) {
            return Err(Unrecognized::Pid);
        }
        if self.host.is_empty() || self.host.chars().any(char::is_control) {
            return Err(Unrecognized::Host);
        }
        if nonce_number(&self.nonce).is_none() {
            return Err(Unrecognized::Nonce);
        }
        Ok(self)
    }

    /// Reads a record.
    pub fn parse(bytes: &[u8]) -> Result<Self, Unrecognized> {
        if bytes.len() > RECORD_BYTES_MAX {
            return Err(Unrecognized::TooLarge);
        }
        let mut reader = Reader::new(bytes);
        let mut seen = 0;
        let (mut pid, mut host, mut nonce) = (0, String::new(), String::new());
        reader.token(b'{').ok_or(Unrecognized::Malformed)?;
        loop {
            let key = reader.string().ok_or(Unrecognized::Malformed)?;
            reader.token(b':').ok_or(Unrecognized::Malformed)?;
            let field = match &*key {
                "version" => 1,
                "pid" => 2,
                "host" => 4,
                "nonce" => 8,
                _ => return Err(Unrecognized::Fields),
            };
            if seen & field != 0 {
                return Err(Unrecognized::Fields);
            }
            seen |= field;
            match field {
                1 if reader.number() != Some(1) => return Err(Unrecognized::Version),
                1 => {}
                2 => pid = reader.number().ok_or(Unrecognized::Pid)?,
                4 => host = reader.string().ok_or(Unrecognized::Host)?,
                _ => nonce = reader.string().ok_or(Unrecognized::Nonce)?,
            }
            if reader.token(b',').is_none() {
                break;
            }
        }
        reader.token(b'}').ok_or(Unrecognized::Malformed)?;
        if reader.peek().is_some() {
            return Err(Unrecognized::Malformed);
        }
        if seen != 15 {
            return Err(Unrecognized::Fields);
        }
        Self { pid, host, nonce }.checked()
    }

    /// The record as a marker holds it: one line.
    pub fn line(&self) -> String {
        let mut host = Vec::with_capacity(self.host.len());
        for byte in self.host.bytes() {
            if matches!(byte, b'"' | b'\\') {
                host.push(b'\\');
            }
            host.push(byte);
        }
        // What is put before two characters of one byte leaves text text.
        let host = String::from_utf8(host).unwrap_or_default();
        let pid = self.pid.to_string();
        [BEFORE_PID, &pid, BEFORE_HOST, &host, BEFORE_NONCE, &self.nonce, AFTER_NONCE].concat()
    }

    /// Do these bytes say this record, and nothing else?
    pub(super) fn is_said_by(&self, bytes: &[u8]) -> bool {
        // Nearly always they are what was written, which takes no memory to see.
        self.is_line(bytes) || Self::parse(bytes).as_ref() == Ok(self)
    }

    /// Are these the bytes of [`OwnerRecord::line`]? It may say no where the host has escapes.
    fn is_line(&self, bytes: &[u8]) -> bool {
        let after_pid = || {
            let rest = bytes.strip_prefix(BEFORE_PID.as_bytes())?;
            let (pid, rest) = rest.split_at_checked(rest.iter().take_while(|byte| byte.is_ascii_digit()).count())?;
            let value = |pid: u64, digit: &u8| pid * 10 + u64::from(digit - b'0');
            // No process id has more than ten digits, and none begins with a zero.
            let same = pid.len() <= 10 && !pid.starts_with(b"0") && pid.iter().fold(0, value) == u64::from(self.pid);
            same.then_some(rest)
        };
        let after_all = |rest: &'_ [u8]| -> bool {
            let parts = [BEFORE_HOST, &self.host, BEFORE_NONCE, &self.nonce, AFTER_NONCE];
            let rest = parts.iter().try_fold(rest, |rest, part| rest.strip_prefix(part.as_bytes()));
            rest.is_some_and(<[u8]>::is_empty)
        };
        let plain = !self.host.bytes().any(|byte| matches!(byte, b'"' | b'\\'));
        plain && after_pid().is_some_and(after_all)
    }

    /// The process id, from 1 to [`PID_MAX`].
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The host, with its pid namespace where it is not the initial one. Not empty, no control characters.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// 32 lower-case hex digits.
    pub fn nonce(&self) -> &str {
        &self.nonce
    }
}

/// The number that a nonce writes, if it is one. Nonces have one length, so that they sort as their numbers do.
pub(super) fn nonce_number(nonce: &str) -> Option<u128> {
    let digits = nonce.as_bytes();
    if digits.len() != 32 {
        return None;
    }
    let mut number = 0;
    for &digit in digits {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        number = number << 4 | u128::from(value);
    }
    Some(number)
}

/// The nonce of a number.
pub(super) fn nonce_text(number: u128) -> String {
    let mut digits = Vec::from([0; 32]);
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdef"[rest as usize & 15];
        rest >>= 4;
    }
    String::from_utf8(digits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const NONCE: &str = "0123456789abcdef0123456789abcdef";

    fn fields(version: &str, pid: &str, host: &str, nonce: &str) -> String {
        format!("{{\"version\":{version},\"pid\":{pid},\"host\":{host},\"nonce\":{nonce}}}\n")
    }

    fn check(text: &[u8], expected: Result<(u32, &str), Unrecognized>) {
        let found = OwnerRecord::parse(text);
        let found = found.as_ref().map(|record| (record.pid, &*record.host)).map_err(|why| *why);
        assert_eq!(found, expected, "{}", String::from_utf8_lossy(text));
    }

    #[test]
    fn the_own_line_is_known_without_reading_it_and_nothing_else_is_taken_for_it() {
        let record = OwnerRecord::new(4242, "build-7", NONCE).unwrap();
        let line = record.line();
        assert!(record.is_line(line.as_bytes()));
        for pid in [1, 9, 10, PID_MAX] {
            let record = OwnerRecord::new(pid, "build-7", NONCE).unwrap();
            assert!(record.is_line(record.line().as_bytes()), "{pid}");
        }
        // Every other text of one byte more, less or changed.
        for at in 0..line.len() {
            for byte in 0..=255 {
                let mut other = line.clone().into_bytes();
                other.insert(at, byte);
                assert!(!record.is_line(&other), "{byte} before {at}");
                other.remove(at + 1);
                assert_eq!(record.is_line(&other), other == line.as_bytes(), "{byte} at {at}");
                other.remove(at);
                assert!(!record.is_line(&other), "none at {at}");
            }
        }
        assert!(!record.is_line(&[line.as_bytes(), b"\n"].concat()));
        assert!(!record.is_line(b""));
        // A number as large as the number of a process id, and written with more digits than a sum holds.
        let other = line.replace("4242", "18446744073709555858");
        assert!(!record.is_line(other.as_bytes()) && !record.is_said_by(other.as_bytes()));
    }

    #[test]
    fn a_record_is_said_however_json_writes_it() {
        for host in ["build-7", "a\"b", "a\\b", "bücher"] {
            let record = OwnerRecord::new(4242, host, NONCE).unwrap();
            assert!(record.is_said_by(record.line().as_bytes()), "{host}");
            let spaced = record.line().replace(",\"pid\":", " , \"pid\" : ");
            assert!(record.is_said_by(spaced.as_bytes()), "{host}");
            let other = OwnerRecord::new(4242, &[host, "x"].concat(), NONCE).unwrap();
            assert!(!record.is_said_by(other.line().as_bytes()), "{host}");
        }
        // A host that would be its own escape says another one.
        let record = OwnerRecord::new(1, "a\\\"b", NONCE).unwrap();
        let raw = [BEFORE_PID, "1", BEFORE_HOST, "a\\\"b", BEFORE_NONCE, NONCE, AFTER_NONCE].concat();
        assert!(!record.is_said_by(raw.as_bytes()));
    }

    #[test]
    fn a_record_is_one_line_and_is_read_again() {
        let record = OwnerRecord::new(4242, "build-7", NONCE).unwrap();
        let line = "{\"version\":1,\"pid\":4242,\"host\":\"build-7\",\"nonce\":\"0123456789abcdef0123456789abcdef\"}\n";
        assert_eq!(record.line(), line);
        for host in ["a\"b\\c/", "ä-\u{1f4d6}", "h;pidns=4026532177@0123abcd", "\u{202e}"] {
            let record = OwnerRecord::new(PID_MAX, host, NONCE).unwrap();
            assert_eq!(OwnerRecord::parse(record.line().as_bytes()), Ok(record));
        }
    }

    #[test]
    fn spaces_order_and_escapes_are_those_of_json() {
        let nonce = format!("\"{NONCE}\"");
        check(
            format!(
                "\r\n\t {{ \"nonce\" : {nonce},\n\"host\":\"h\" , \"\\u0070id\":\t7 ,\"version\":1 }}\n\n\t \
                 "
            )
            .as_bytes(),
            Ok((7, "h")),
        );
        for (written, host) in [
            (r#""\u0061\"\\\/""#, "a\"\\/"),
            (r#""\ud83d\udcd6""#, "\u{1f4d6}"),
            (r#""\uD83D\uDCD6""#, "\u{1f4d6}"),
            (r#""\u00e4""#, "ä"),
        ] {
            check(fields("1", "7", written, &nonce).as_bytes(), Ok((7, host)));
        }
        let escaped = format!("\"\\u0030{}\"", &NONCE[1..]);
        check(fields("1", "7", "\"h\"", &escaped).as_bytes(), Ok((7, "h")));
    }

    #[test]
    fn values_that_are_none_are_refused_by_field() {
        let nonce = &format!("\"{NONCE}\"");
        for pid in [
            "0",
            "-1",
            "-0",
            "+1",
            "01",
            "00",
            "1.0",
            "1e3",
            "1E3",
            "2147483648",
            "4294967297",
            "9223372036854775808",
            "18446744073709551617",
            "\"7\"",
            "null",
            "true",
            "[7]",
            "{}",
            "0x7",
            "7_",
            "NaN",
            "",
        ] {
            check(fields("1", pid, "\"h\"", nonce).as_bytes(), Err(Unrecognized::Pid));
        }
        for version in ["0", "2", "10", "1.0", "\"1\"", "-1", "null"] {
            check(fields(version, "7", "\"h\"", nonce).as_bytes(), Err(Unrecognized::Version));
        }
        for host in [
            "\"\"",
            "7",
            "null",
            "\"a\nb\"",
            "\"a\\nb\"",
            "\"\\u0000\"",
            "\"\\u007f\"",
            "\"\\u0085\"",
            "\"\\ud83d\"",
            "\"\\udcd6\"",
            "\"\\ud83dx\"",
            "\"\\ud83d\\u0041\"",
            "\"\\x41\"",
            "\"\\u00g0\"",
            "\"\\u12\"",
            "[\"h\"]",
            "'h'",
        ] {
            check(fields("1", "7", host, nonce).as_bytes(), Err(Unrecognized::Host));
        }
        for nonce in ["\"\"", "7", "\"0123456789ABCDEF0123456789ABCDEF\"", "\"0123456789abcdef\"", "\"../../../etc\""] {
            check(fields("1", "7", "\"h\"", nonce).as_bytes(), Err(Unrecognized::Nonce));
        }
        check(fields("1", "2147483647", "\"h\"", nonce).as_bytes(), Ok((PID_MAX, "h")));
    }

    #[test]
    fn fields_are_exactly_four_once_each() {
        let whole = fields("1", "7", "\"h\"", &format!("\"{NONCE}\""));
        let body = whole.trim_end().trim_end_matches('}');
        for more in [",\"pid\":7", ",\"\\u0070id\":7", ",\"extra\":1", ",\"\":1", ",\"PID\":1"] {
            check(format!("{body}{more}}}").as_bytes(), Err(Unrecognized::Fields));
        }
        check(b"{\"version\":1}", Err(Unrecognized::Fields));
        check(format!("{{\"version\":1,\"pid\":7,\"nonce\":\"{NONCE}\"}}").as_bytes(), Err(Unrecognized::Fields));
        for text in
            ["{body},}", "{body}} x", "{body}}}", "{body}};", "{body}}\0", "{body}},", "{body}", "\u{feff}{body}}"]
        {
            check(text.replace("{body}", body).as_bytes(), Err(Unrecognized::Malformed));
        }
    }

    #[test]
    fn what_is_no_record_is_malformed() {
        for text in [
            &b""[..],
            b" ",
            b"{}",
            b"null",
            b"[]",
            b"7",
            b"{",
            b"{\"",
            b"{\"pid\"",
            b"\0",
            b"\xff\xfe",
            b"{\"\xff\":1}",
        ] {
            check(text, Err(Unrecognized::Malformed));
        }
        check("[".repeat(RECORD_BYTES_MAX).as_bytes(), Err(Unrecognized::Malformed));
        check("{\"a\":".repeat(800).as_bytes(), Err(Unrecognized::Fields));
        check("{\"pid\":{".repeat(500).as_bytes(), Err(Unrecognized::Pid));
        check(b"{\"host\":\"\xff\"}", Err(Unrecognized::Host));
        check(b"{\"host\":\"\xed\xa0\xbd\"}", Err(Unrecognized::Host));
    }

    #[test]
    fn the_length_is_bounded() {
        let short = fields("1", "7", "\"h\"", &format!("\"{NONCE}\""));
        let room = RECORD_BYTES_MAX - short.len();
        check(format!("{}{short}", " ".repeat(room)).as_bytes(), Ok((7, "h")));
        check(format!("{}{short}", " ".repeat(room + 1)).as_bytes(), Err(Unrecognized::TooLarge));
        let host = "h".repeat(room + 1);
        check(fields("1", "7", &format!("\"{host}\""), &format!("\"{NONCE}\"")).as_bytes(), Ok((7, &*host)));
    }

    #[test]
    fn what_is_said_of_a_bound_is_the_bound() {
        assert!(Unrecognized::TooLarge.text().contains(&RECORD_BYTES_MAX.to_string()));
        assert!(Unrecognized::Pid.text().contains(&PID_MAX.to_string()));
    }

    #[test]
    fn a_nonce_is_a_number_of_32_digits() {
        assert_eq!(nonce_number(NONCE), Some(0x0123456789abcdef0123456789abcdef));
        assert_eq!(nonce_text(0x0123456789abcdef0123456789abcdef), NONCE);
        for text in ["", "0", &NONCE[1..], "0123456789abcdef0123456789abcdeg", "0123456789abcdef0123456789abcdeF"] {
            assert_eq!(nonce_number(text), None);
        }
    }
}
