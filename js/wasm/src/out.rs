//! What goes out: numbers, and one text that holds all texts of an answer.
//!
//! A text is a number, its length in UTF-16 units, and its place in the order of texts. The caller finds both parts by
//! the three words at [`Out::place`], which never move; the parts themselves may move with every answer.

use alloc::{boxed::Box, string::String, vec::Vec};

/// In place of a length: the text is the one that the caller asked with.
const AS_ASKED: f64 = -1.0;
/// In place of a number or a length: there is none.
const NONE: f64 = -2.0;

/// One answer.
pub struct Out {
    numbers: Vec<f64>,
    text: String,
    place: Box<[u32; 3]>,
}

impl Out {
    pub fn new() -> Self {
        Self { numbers: Vec::with_capacity(32), text: String::new(), place: Box::new([0; 3]) }
    }

    /// Where the place of the numbers, the place of the text and its bytes stand in memory.
    pub fn place(&self) -> u32 {
        self.place.as_ptr() as usize as u32
    }

    /// Begins an answer.
    pub fn begin(&mut self) -> &mut Self {
        /// What an answer of usual size takes; more is given back.
        const KEPT_MAX: usize = 64 * 1024;
        self.numbers.clear();
        self.text.clear();
        self.numbers.shrink_to(KEPT_MAX);
        self.text.shrink_to(KEPT_MAX);
        self
    }

    /// Ends an answer: how many numbers it has.
    pub fn end(&mut self) -> u32 {
        let address = |pointer: *const u8| pointer as usize as u32;
        *self.place = [address(self.numbers.as_ptr().cast()), address(self.text.as_ptr()), self.text.len() as u32];
        self.numbers.len() as u32
    }

    pub fn number(&mut self, number: f64) -> &mut Self {
        self.numbers.push(number);
        self
    }

    /// A number of the core; all that it tells are exact in a double.
    pub fn count(&mut self, number: u64) -> &mut Self {
        self.number(number as f64)
    }

    pub fn flag(&mut self, flag: bool) -> &mut Self {
        self.number(f64::from(u8::from(flag)))
    }

    pub fn maybe(&mut self, number: Option<f64>) -> &mut Self {
        self.number(number.unwrap_or(NONE))
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        let units = if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() };
        self.text.push_str(text);
        self.number(units as f64)
    }

    pub fn maybe_text(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.text(text),
            None => self.number(NONE),
        }
    }

    /// A text that most often is the one that was asked with.
    pub fn text_or_asked(&mut self, text: &str, asked: Option<&str>) -> &mut Self {
        if asked == Some(text) { self.number(AS_ASKED) } else { self.text(text) }
    }

    /// What a refusal says, for a person or a model.
    pub fn sentence(&mut self, sentence: &dyn core::fmt::Display) -> &mut Self {
        use core::fmt::Write;
        let start = self.text.len();
        // Writing to a string does not fail.
        let _ = write!(self.text, "{sentence}");
        let units = self.text[start..].chars().map(char::len_utf16).sum::<usize>();
        self.number(units as f64)
    }

    /// How many there are, then each.
    pub fn list<T>(&mut self, all: impl ExactSizeIterator<Item = T>, each: impl Fn(&mut Self, T)) -> &mut Self {
        self.number(all.len() as f64);
        all.for_each(|one| each(self, one));
        self
    }
}
