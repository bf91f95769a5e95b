//! Lines of a bounded length, from any input.
//!
//! A line that is too long is never held in memory: it is skipped to its end, and said to be too long.

use std::io::{self, BufRead};

/// The longest line, in bytes without its newline: twice an acquire at every limit of the table (1 024 paths of 4 096
/// bytes), which leaves room for escapes.
pub const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line, without its newline.
    Bytes(&'a [u8]),
    /// A line over the limit, skipped.
    TooLong,
    /// The input has ended.
    End,
}

/// Reads lines, counted from 1.
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
    bytes_max: usize,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    /// Reads from an input, with a bound for each line.
    pub fn new(input: R, bytes_max: usize) -> Self {
        Self { input, line: Vec::new(), bytes_max, number: 0 }
    }

    /// The next line. A last line without a newline is a line too.
    pub fn next(&mut self) -> io::Result<Line<'_>> {
        self.line.clear();
        let mut too_long = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let piece = &chunk[..end.unwrap_or(chunk.len())];
            if self.line.len() + piece.len() > self.bytes_max {
                too_long = true;
                self.line.clear();
            } else if !too_long {
                self.line.extend_from_slice(piece);
            }
            let (at_end, taken) = (chunk.is_empty(), piece.len() + usize::from(end.is_some()));
            self.input.consume(taken);
            if at_end && self.line.is_empty() && !too_long {
                return Ok(Line::End);
            }
            if at_end || end.is_some() {
                self.number += 1;
                return Ok(if too_long { Line::TooLong } else { Line::Bytes(&self.line) });
            }
        }
    }

    /// The number of the line that was read last.
    pub fn number(&self) -> u64 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &[u8], bytes_max: usize, capacity: usize) -> Vec<(u64, Option<String>)> {
        let mut lines = Lines::new(io::BufReader::with_capacity(capacity, input), bytes_max);
        let mut all = Vec::new();
        loop {
            let line = match lines.next().unwrap() {
                Line::Bytes(line) => Some(String::from_utf8(line.to_vec()).unwrap()),
                Line::TooLong => None,
                Line::End => return all,
            };
            all.push((lines.number(), line));
        }
    }

    #[test]
    fn lines_come_whole_whatever_the_chunks() {
        for capacity in 1..12 {
            let some = |text: &str| Some(text.to_string());
            assert_eq!(read(b"", 4, capacity), []);
            assert_eq!(read(b"ab", 4, capacity), [(1, some("ab"))]);
            assert_eq!(read(b"\n\nabcd\n", 4, capacity), [(1, some("")), (2, some("")), (3, some("abcd"))]);
            assert_eq!(read(b"abcde\nf\n", 4, capacity), [(1, None), (2, some("f"))]);
            assert_eq!(read(b"f\nabcdefghijkl", 4, capacity), [(1, some("f")), (2, None)]);
        }
    }

    #[test]
    fn a_line_over_the_limit_is_not_kept() {
        let endless = io::BufReader::new(io::Read::take(io::repeat(b'x'), 1 << 20));
        let mut lines = Lines::new(endless, 1024);
        assert_eq!(lines.next().unwrap(), Line::TooLong);
        assert!(lines.line.capacity() <= 4096, "{} bytes were kept", lines.line.capacity());
        assert_eq!(lines.next().unwrap(), Line::End);
    }
}
