//! Every bound of marker files, as named constants.

/// The longest owner record, in bytes. A real one has about 100.
pub const RECORD_BYTES_MAX: usize = 4096;
/// The highest process id that a record may name: 2^31 - 1, the most that any system's type for it holds.
pub const PID_MAX: u32 = (1 << 31) - 1;
/// The most names in a marker directory that an operation goes through; more is a failure. A listing of so many markers
/// takes 75 MB, and reading them takes half a minute. Where a host does not leave out the names of unrelated files, it
/// takes up to 280 MB.
pub const NAMES_MAX: usize = 1_000_000;
/// The longest name of a marker directory, and the longest part of a legacy name, in bytes: what file systems allow.
pub const NAME_BYTES_MAX: usize = 255;
/// The longest legacy name, in bytes: what systems take as a path at most, without its final NUL.
pub const LEGACY_BYTES_MAX: usize = 4095;
/// The most legacy names of a layout: each costs every acquisition two look-ups.
pub const LEGACY_NAMES_MAX: usize = 64;
/// How often one acquisition makes a marker directory anew that others, failing, remove at the same time.
pub const REMAKES_MAX: u32 = 32;
/// How much older an incomplete `.tmp` must be than a file just written, before recovery removes it, in milliseconds:
/// an hour, since a writer that is stopped in between may go on.
pub const INCOMPLETE_AGE_MS_MIN: u64 = 60 * 60 * 1000;
/// The most markers that one list of left-over ones keeps: the newest.
pub const LEFT_MAX: usize = 64;
