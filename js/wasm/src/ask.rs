//! What comes in: several texts as one, and numbers of JavaScript as the core takes them.

use alloc::vec::Vec;
use leasebook::limits::NUMBER_MAX;
use leasebook::{Millis, Mode, Period, Wish};

/// A moment; what is no whole number counts as the one before it, and what is none at all as the beginning.
pub fn moment(ms: f64) -> Millis {
    Millis::new(ms as u64)
}

pub fn period(ms: Option<f64>) -> Option<Period> {
    ms.map(Period::from)
}

/// A number that counts something; one that counts nothing is above all that do.
pub fn count(number: f64) -> u64 {
    let whole = number as u64;
    if whole as f64 == number && whole <= NUMBER_MAX { whole } else { u64::MAX }
}

pub fn mode(shared: bool) -> Mode {
    if shared { Mode::Shared } else { Mode::Exclusive }
}

/// Texts of these lengths in UTF-16 units, one after the other. Of lengths that do not fit, what is over is empty.
pub struct Texts<'a> {
    rest: &'a str,
    ascii: bool,
}

impl<'a> Texts<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { rest: text, ascii: text.is_ascii() }
    }

    pub fn next(&mut self, units: u32) -> &'a str {
        let bytes = if self.ascii {
            (units as usize).min(self.rest.len())
        } else {
            let mut left = units as usize;
            let end = self.rest.char_indices().find(|(_, char)| {
                let none = left == 0;
                left = left.saturating_sub(char.len_utf16());
                none
            });
            end.map_or(self.rest.len(), |(at, _)| at)
        };
        let (text, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        text
    }
}

/// Texts of these lengths.
pub fn texts<'a>(text: &'a str, lengths: &[u32]) -> Vec<&'a str> {
    let mut texts = Texts::new(text);
    lengths.iter().map(|&units| texts.next(units)).collect()
}

/// Wishes: for each twice the length of its path, and one more where it is shared.
pub fn wishes<'a>(text: &'a str, layout: &[u32]) -> Vec<Wish<'a>> {
    let mut texts = Texts::new(text);
    layout.iter().map(|&wish| Wish { path: texts.next(wish >> 1), mode: mode(wish & 1 == 1) }).collect()
}
