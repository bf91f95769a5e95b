//! Whether a ledger is whole: every line as it was written, in its place, none missing and none added.
//!
//! It reads a stream line by line, in bounded memory, and trusts nothing. What no look at a file alone can tell is
//! whether its last lines were cut off: who wants to know keeps the digest of the last line, and finds it again.

use super::line::{Digest, KIND_GAP, KIND_LEDGER, KIND_OUTAGE, LINE_BYTES_MAX, Line};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// How many gaps are listed; more are only counted.
pub const GAPS_LISTED_MAX: usize = 256;

/// What a whole ledger holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The workspace whose ledger it is.
    pub workspace: String,
    /// How many lines it has, the first one included.
    pub lines: u64,
    /// The number of the first event that is in it.
    pub first: Option<u64>,
    /// The number of the last event, or missing event, that it tells of; 0 where there is none.
    pub last: u64,
    /// The missing events: the first and last number of each gap, the first [`GAPS_LISTED_MAX`] of them.
    pub gaps: Vec<(u64, u64)>,
    /// How many events are missing in all gaps.
    pub missing: u64,
    /// How many outages it tells of.
    pub outages: u64,
    /// The digest of the last line.
    pub digest: String,
}

/// Why a ledger is not whole.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// A line is not what was written there.
    #[error("line {line}: {found}")]
    Line {
        /// Which one, counted from 1.
        line: u64,
        /// What stands there, and what was expected.
        found: String,
    },
    /// There is nothing.
    #[error("the ledger is empty: expected a first line of kind ledger")]
    Empty,
    /// It cannot be read.
    #[error("read the ledger after line {line}: {source}")]
    Read {
        /// The last line that was read.
        line: u64,
        /// Why it failed.
        source: std::io::Error,
    },
    /// It cannot be opened.
    #[error("open {path}: {source}")]
    Open {
        /// Which file.
        path: String,
        /// Why it failed.
        source: std::io::Error,
    },
}

/// Verifies a ledger in a file.
pub fn verify_file(path: &Path) -> Result<Verified, Broken> {
    let file = std::fs::File::open(path).map_err(|source| Broken::Open { path: path.display().to_string(), source })?;
    verify(BufReader::new(file))
}

/// Verifies a ledger, or says which line is the first that is not what was written.
pub fn verify(reader: impl BufRead) -> Result<Verified, Broken> {
    walk(reader, |_| ())
}

/// The same, and shows each line that is in its place.
pub(super) fn walk(mut reader: impl BufRead, mut seen: impl FnMut(&Line)) -> Result<Verified, Broken> {
    let mut chain: Option<Chain> = None;
    let mut text = Vec::new();
    loop {
        let read = chain.as_ref().map_or(0, |chain| chain.verified.lines);
        let broken = |found: String| Broken::Line { line: read + 1, found };
        text.clear();
        let bound = LINE_BYTES_MAX as u64 + 1;
        reader
            .by_ref()
            .take(bound)
            .read_until(b'\n', &mut text)
            .map_err(|source| Broken::Read { line: read, source })?;
        if text.is_empty() {
            return chain.map(|chain| chain.verified).ok_or(Broken::Empty);
        }
        if text.len() > LINE_BYTES_MAX {
            return Err(broken(format!("expected at most {LINE_BYTES_MAX} bytes")));
        }
        if text.pop() != Some(b'\n') {
            return Err(broken("it has no end, as after a crash, or while it is being written".into()));
        }
        let (line, digest) = Line::read(&text).map_err(broken)?;
        match &mut chain {
            None => chain = Some(Chain::begin(&line, digest).map_err(broken)?),
            Some(chain) => chain.add(&line, digest).map_err(broken)?,
        }
        seen(&line);
    }
}

/// The lines so far.
struct Chain {
    digest: Digest,
    verified: Verified,
}

impl Chain {
    fn begin(line: &Line, digest: Digest) -> Result<Self, String> {
        if line.kind != KIND_LEDGER || line.number != 0 || line.previous != Digest::default() {
            return Err("expected the first line of a ledger: kind ledger, number 0, previous all zeros".into());
        }
        let workspace = line.body.get("workspace").and_then(|name| name.as_str());
        let workspace = workspace.ok_or("body: expected the name of a workspace")?.to_string();
        let verified = Verified {
            workspace,
            lines: 1,
            first: None,
            last: 0,
            gaps: Vec::new(),
            missing: 0,
            outages: 0,
            digest: digest.to_string(),
        };
        Ok(Self { digest, verified })
    }

    fn add(&mut self, line: &Line, digest: Digest) -> Result<(), String> {
        let verified = &mut self.verified;
        if line.previous != self.digest {
            return Err(format!(
                "previous is {}: expected {}, the digest of the line before",
                line.previous, self.digest
            ));
        }
        let next = verified.last + 1;
        let expect = |name: &str, found: u64, expected: u64| {
            if found == expected { Ok(()) } else { Err(format!("{name} is {found}: expected {expected}")) }
        };
        match line.kind.as_str() {
            KIND_LEDGER => return Err("kind is ledger: expected no second beginning".into()),
            KIND_GAP => {
                let bound = |name: &str| {
                    let found = line.body.get(name).and_then(serde_json::Value::as_u64);
                    found.ok_or_else(|| format!("body: expected a number as {name}"))
                };
                let (from, to) = (bound("from")?, bound("to")?);
                expect("from", from, next)?;
                expect("number", line.number, to)?;
                if to < from {
                    return Err(format!("to is {to}: expected at least {from}"));
                }
                verified.missing += to - from + 1;
                if verified.gaps.len() < GAPS_LISTED_MAX {
                    verified.gaps.push((from, to));
                }
            }
            KIND_OUTAGE => {
                expect("number", line.number, verified.last)?;
                verified.outages += 1;
            }
            _ => {
                expect("number", line.number, next)?;
                verified.first.get_or_insert(line.number);
            }
        }
        verified.last = line.number;
        verified.lines += 1;
        verified.digest = digest.to_string();
        self.digest = digest;
        Ok(())
    }
}
