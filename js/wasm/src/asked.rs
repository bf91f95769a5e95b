//! A holder and a path that stay here between calls: the caller writes them into this memory by itself, and leaves what
//! is there already. So a call about one path allocates nothing for its texts.

use alloc::vec::Vec;

/// No text that crosses is longer, in bytes: 65 536 UTF-16 units, which is what TypeScript lets through.
const TEXT_BYTES_MAX: usize = 3 * 65_536;

/// Room for both.
#[derive(Default)]
pub struct Asked {
    holder: Vec<u8>,
    path: Vec<u8>,
}

impl Asked {
    /// Makes room for a text of so many bytes, and answers where it begins. What was there stays.
    pub fn room(&mut self, path: bool, bytes: usize) -> u32 {
        let text = if path { &mut self.path } else { &mut self.holder };
        text.resize(bytes.min(TEXT_BYTES_MAX), 0);
        text.as_ptr() as usize as u32
    }

    /// Both, of so many bytes; of what is no text, or was given no room, nothing is read.
    pub fn texts(&self, holder: u32, path: u32) -> (&str, &str) {
        (text(&self.holder, holder), text(&self.path, path))
    }
}

fn text(bytes: &[u8], length: u32) -> &str {
    bytes.get(..length as usize).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
}
