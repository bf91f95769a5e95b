//! Text looked at eight bytes at a time, as numbers: most paths are short, and so are their segments.

const ONES: u64 = u64::MAX / 255;
const LOW_BITS: u64 = ONES * 0x7f;

/// Up to 8 bytes as a number, the first one lowest. Where loads overlap they say the same.
pub(crate) fn word(bytes: &[u8]) -> u64 {
    let one = |at: usize| u64::from(bytes[at]) << (8 * at);
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(&first), Some(&last)) => {
            u64::from(u32::from_le_bytes(first)) | u64::from(u32::from_le_bytes(last)) << (8 * (bytes.len() - 4))
        }
        _ if bytes.is_empty() => 0,
        _ => one(0) | one(bytes.len() / 2) | one(bytes.len() - 1),
    }
}

/// The top bit of every byte of a word that is this one.
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    let differs = word ^ (ONES * u64::from(byte));
    !(((differs & LOW_BITS) + LOW_BITS) | differs | LOW_BITS)
}

/// Is something true of every word of a text? The bytes of the last word that lie behind the end are 0xff, which is in
/// no text.
pub(crate) fn all(bytes: &[u8], mut is: impl FnMut(u64) -> bool) -> bool {
    let (words, rest) = bytes.as_chunks();
    words.iter().all(|&bytes| is(u64::from_le_bytes(bytes)))
        && (rest.is_empty() || is(word(rest) | u64::MAX << (8 * rest.len())))
}
