//! Words of others, on a screen and for a shell: paths, hosts and commands.
//!
//! They come from strangers' files and from arguments: what steers a terminal or hides itself is never printed raw.

use leasebook_files::steers_or_hides;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// How much of a text is shown, in characters. What is longer tells nothing more.
const SHOWN_MAX: usize = 300;

/// The longest command that is offered whole, in bytes: what a person can still read before pasting it.
const COMMAND_BYTES_MAX: usize = 1_000;

/// A text, cut and escaped.
pub fn shown(text: &str) -> String {
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == SHOWN_MAX {
            out.push('…');
            break;
        }
        if steers_or_hides(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// A path, cut and escaped.
pub fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// The same JSON, printable: such characters are within its strings, which have escapes of their own for them.
pub fn json_shown(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if steers_or_hides(c) {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// A command to paste into a shell, which takes each word as it stands. A word that cannot be shown as it is is left
/// out: another one would name something else.
#[derive(Debug, PartialEq, Eq)]
pub struct Offer {
    text: String,
    /// What stands in for the words that are left out.
    open: Vec<&'static str>,
}

impl Offer {
    /// It begins with these words.
    pub fn new(words: &str) -> Self {
        Self { text: words.to_owned(), open: Vec::new() }
    }

    /// An option with a value.
    pub fn option(mut self, name: &str, value: &str, stand_in: &'static str) -> Self {
        self.text += " ";
        self.text += name;
        // Else it would be an option itself.
        self.text += if value.starts_with('-') { "=" } else { " " };
        self.push(quoted(value.as_ref()), stand_in)
    }

    /// A path.
    pub fn path(mut self, path: &Path, stand_in: &'static str) -> Self {
        self.text += " ";
        if path.as_os_str().as_encoded_bytes().starts_with(b"-") {
            // Else it would be an option.
            self.text += "./";
        }
        self.push(quoted(path.as_os_str()), stand_in)
    }

    /// These words.
    pub fn words(mut self, words: &str) -> Self {
        self.text += " ";
        self.text += words;
        self
    }

    /// A whole command, or none of it.
    pub fn command(mut self, command: &[OsString], stand_in: &'static str) -> Self {
        self.text += " -- ";
        let bytes: usize = command.iter().map(|word| word.len() + 1).sum();
        let words = if bytes > COMMAND_BYTES_MAX { None } else { command.iter().map(|word| quoted(word)).collect() };
        self.push(words.map(|words: Vec<String>| words.join(" ")), stand_in)
    }

    /// The command.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A line that names what is left out of these; empty where that is nothing.
    pub fn missing(offers: &[&Self]) -> String {
        let mut open: Vec<&str> = offers.iter().flat_map(|offer| offer.open.iter().copied()).collect();
        open.sort_unstable();
        open.dedup();
        if open.is_empty() {
            return String::new();
        }
        format!("  to be filled in, since it cannot be shown so that it could be pasted: {}\n", open.join(", "))
    }

    fn push(mut self, word: Option<String>, stand_in: &'static str) -> Self {
        match word {
            Some(word) => self.text += &word,
            None => {
                self.text += stand_in;
                self.open.push(stand_in);
            }
        }
        self
    }
}

/// A word for a shell; `None` where it cannot be shown as it is.
fn quoted(word: &OsStr) -> Option<String> {
    let word = word.to_str().filter(|word| shown(word) == *word)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    Some(if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_taken_as_it_stands_or_is_left_out() {
        for (word, expected) in [
            ("a/b-1.c", Some("a/b-1.c")),
            ("", Some("''")),
            ("a b", Some("'a b'")),
            ("$(x)`y`*~", Some("'$(x)`y`*~'")),
            ("it's", Some("'it'\\''s'")),
            ("a\\b", Some("'a\\b'")),
            ("über", Some("'über'")),
            ("a\nb", None),
            ("a\tb", None),
            ("\u{1b}[31m", None),
            ("a\u{202e}b", None),
            ("a\u{200b}b", None),
        ] {
            assert_eq!(quoted(word.as_ref()).as_deref(), expected, "{word:?}");
        }
        assert!(quoted("x".repeat(SHOWN_MAX).as_ref()).is_some());
        assert_eq!(quoted("x".repeat(SHOWN_MAX + 1).as_ref()), None);
    }

    #[cfg(unix)]
    #[test]
    fn bytes_that_are_no_text_are_left_out() {
        use std::os::unix::ffi::OsStrExt;
        let word = OsStr::from_bytes(b"a\xff");
        assert_eq!(quoted(word), None);
        let offer = Offer::new("run").path(Path::new(word), "DEST").command(&["x".into(), word.to_owned()], "CMD...");
        assert_eq!(offer.text(), "run DEST -- CMD...");
        let missing = "  to be filled in, since it cannot be shown so that it could be pasted: CMD..., DEST\n";
        assert_eq!(Offer::missing(&[&offer]), missing);
    }

    #[test]
    fn what_begins_with_a_dash_stays_a_value() {
        let offer = Offer::new("run").option("--host", "-x", "HOST").option("--host", "x", "HOST");
        let offer = offer.path(Path::new("-d"), "DEST").path(Path::new("-d e"), "DEST");
        assert_eq!(offer.text(), "run --host=-x --host x ./-d ./'-d e'");
        assert_eq!(Offer::missing(&[&offer]), "");
    }

    #[test]
    fn a_long_command_is_left_out_whole() {
        let words = |count| Offer::new("run").command(&vec![OsString::from("123456789"); count], "CMD...");
        assert!(words(COMMAND_BYTES_MAX / 10).open.is_empty());
        let long = words(COMMAND_BYTES_MAX / 10 + 1);
        assert_eq!(long.text(), "run -- CMD...");
        let missing = "  to be filled in, since it cannot be shown so that it could be pasted: CMD...\n";
        assert_eq!(Offer::missing(&[&long, &long]), missing);
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = "a\u{202e}b\u{7f}\u{85}c\n\u{1b}\"é";
        let json = json_shown(&serde_json::to_string(text).unwrap());
        assert_eq!(json, "\"a\\u202eb\\u007f\\u0085c\\n\\u001b\\\"é\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
