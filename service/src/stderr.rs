//! What is said on standard error.

use std::fmt::Display;
use std::io::{self, Write};

/// Says something there, in one piece and with a line end. Where nobody hears it, the exit code is left to tell.
pub fn say(text: impl Display) {
    let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
}
