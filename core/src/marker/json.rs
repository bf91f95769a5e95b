//! As much of JSON as an owner record needs: single characters, whole numbers and strings, read from the front.
//!
//! It is smaller than a parser of all of JSON, and nothing in it grows with what it reads: nothing nests.

use super::limits::PID_MAX;
use alloc::string::String;
use alloc::vec::Vec;

/// Bytes of JSON, read from the front.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next byte that is no space.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first)
    }

    /// Takes this byte, if it is the next one that is no space.
    pub(super) fn token(&mut self, expected: u8) -> Option<()> {
        if self.peek() != Some(expected) {
            return None;
        }
        self.next();
        Some(())
    }

    /// A whole number without sign, fraction or exponent, up to [`PID_MAX`].
    pub(super) fn number(&mut self) -> Option<u32> {
        let first = self.peek()?;
        let mut number = 0_u32;
        let mut digits = 0;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            number = number.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
            digits += 1;
            self.rest = rest;
        }
        let plain = digits == 1 || digits > 1 && first != b'0';
        let ends = matches!(self.rest.first(), None | Some(b' ' | b'\t' | b'\n' | b'\r' | b',' | b'}'));
        (plain && ends && number <= PID_MAX).then_some(number)
    }

    /// A string with its escapes.
    pub(super) fn string(&mut self) -> Option<String> {
        self.token(b'"')?;
        let mut text = Vec::new();
        loop {
            match self.next()? {
                b'"' => return String::from_utf8(text).ok(),
                b'\\' => self.escape(&mut text)?,
                0..0x20 => return None,
                byte => text.push(byte),
            }
        }
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let byte = match self.next()? {
            plain @ (b'"' | b'\\' | b'/') => plain,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut code = self.four_digits()?;
                // What lies outside the basic plane is written as two halves.
                if (0xd800..0xdc00).contains(&code) {
                    let [b'\\', b'u', rest @ ..] = self.rest else { return None };
                    self.rest = rest;
                    let low = self.four_digits()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                    code = 0x10000 + ((code - 0xd800) << 10) + low;
                }
                text.extend_from_slice(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes());
                return Some(());
            }
            _ => return None,
        };
        text.push(byte);
        Some(())
    }

    fn four_digits(&mut self) -> Option<u32> {
        let mut code = 0;
        for _ in 0..4 {
            code = code << 4 | char::from(self.next()?).to_digit(16)?;
        }
        Some(code)
    }
}
