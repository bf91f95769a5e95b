//! Text from outside, as it may go to a terminal.

use std::fmt::{self, Display, Formatter, Write};

/// Does a character steer a terminal, or hide what is written?
pub fn steers_or_hides(c: char) -> bool {
    let hides = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    hides || c.is_control()
}

/// What is shown of a path, or of what a system said: control characters, which steer terminals, and invisible ones or
/// those that turn the direction of writing, which hide what is written, are escaped.
pub struct Shown<T>(pub T);

impl<T: Display> Display for Shown<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

struct Escaping<'a, 'f>(&'a mut Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if steers_or_hides(c) {
                write!(self.0, "{}", c.escape_default())?;
            } else {
                self.0.write_char(c)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_steers_a_terminal_or_hides_is_escaped() {
        for (text, shown) in [
            ("/srv/ä b\\c'", "/srv/ä b\\c'"),
            ("\u{1b}[2J\n", "\\u{1b}[2J\\n"),
            ("a\u{202e}b\u{200b}\u{feff}", "a\\u{202e}b\\u{200b}\\u{feff}"),
            ("\u{85}\u{7f}\0", "\\u{85}\\u{7f}\\u{0}"),
        ] {
            assert_eq!(Shown(text).to_string(), shown);
            assert_eq!(Shown(Path::new(text).display()).to_string(), shown);
        }
    }
}
