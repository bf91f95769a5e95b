//! Where in a ledger the next line goes: found in an open file, after whatever happened to it.

use super::files::LedgerFile;
use super::line::{Digest, Event, KIND_GAP, KIND_LEDGER, LINE_BYTES_MAX, Line};
use super::outbox::Waiting;
use super::verify::{Broken, walk};
use super::writer::Trouble;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};

/// How much is read at once in search of the last line; most lines are much shorter.
const TAIL_BYTES: u64 = 8 * 1024;

/// The end of what is known to be in a ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct End {
    /// How many bytes that is.
    pub length: u64,
    /// The number of the last line.
    pub number: u64,
    /// Its digest.
    pub digest: Digest,
}

/// Finds the end of a ledger, and cuts off a line behind it that was not written to its end. `waiting`: events that wait;
/// those that are in the file already must be the same there.
pub(super) fn find<F: LedgerFile>(file: &mut F, workspace: &str, waiting: &[Waiting]) -> Result<End, Trouble> {
    let length = file.length().map_err(Trouble::io("look at"))?;
    let Some((end, line, digest)) = last_line(file, length)? else {
        cut(file, length, 0)?;
        return Ok(End::default());
    };
    is_of(file, end, workspace)?;
    if waiting.first().is_some_and(|(number, _)| *number <= line.number) {
        same(file, end, waiting)?;
    }
    cut(file, length, end)?;
    Ok(End { length: end, number: line.number, digest })
}

fn cut<F: LedgerFile>(file: &mut F, length: u64, end: u64) -> Result<(), Trouble> {
    if end == length { Ok(()) } else { file.truncate(end).map_err(Trouble::io("cut an incomplete line off")) }
}

/// The last whole line of the first `length` bytes, and where it ends. `None`: there is none, and no more than one
/// incomplete line.
fn last_line<F: LedgerFile>(file: &mut F, length: u64) -> Result<Option<(u64, Line, Digest)>, Trouble> {
    // Room for a whole line and an incomplete one.
    let bound = 2 * LINE_BYTES_MAX as u64;
    let mut size = TAIL_BYTES;
    loop {
        let start = length.saturating_sub(size.min(bound));
        let mut tail = Vec::new();
        let read = Reading { file: &mut *file, offset: start, end: length }.read_to_end(&mut tail);
        read.map_err(Trouble::io("read"))?;
        let whole = tail.iter().rposition(|byte| *byte == b'\n');
        let torn = tail.len() - whole.map_or(0, |at| at + 1);
        if torn > LINE_BYTES_MAX {
            return Err(Trouble::Broken("its end is longer than a line can be".into()));
        }
        if let Some(end) = whole {
            let before = tail[..end].iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
            if let Some(begin) = before.or((start == 0).then_some(0)) {
                let (line, digest) = Line::read(&tail[begin..end])
                    .map_err(|found| Trouble::Broken(format!("its last line: {found}")))?;
                return Ok(Some((start + end as u64 + 1, line, digest)));
            }
        } else if start == 0 {
            return Ok(None);
        }
        if size >= bound {
            return Err(Trouble::Broken("its last line is longer than a line can be".into()));
        }
        size *= 8;
    }
}

/// The file begins as the ledger of this workspace.
fn is_of<F: LedgerFile>(file: &mut F, end: u64, workspace: &str) -> Result<(), Trouble> {
    let mut first = Vec::new();
    let reading = Reading { file, offset: 0, end: end.min(TAIL_BYTES) };
    io::BufRead::read_until(&mut BufReader::new(reading), b'\n', &mut first).map_err(Trouble::io("read"))?;
    let line = Line::read(first.strip_suffix(b"\n").unwrap_or(&first));
    let (line, _) = line.map_err(|found| Trouble::Broken(format!("its first line: {found}")))?;
    let found = line.body.get("workspace").and_then(serde_json::Value::as_str);
    if line.kind == KIND_LEDGER && found == Some(workspace) {
        return Ok(());
    }
    Err(Trouble::Broken(format!("it is the ledger of {found:?}: expected that of {workspace:?}")))
}

/// Whatever waits and is in the file already is the same there: the last run ended before it could say so. Anything
/// else is another history (a store brought back from a copy), whose events must not be taken for written.
fn same<F: LedgerFile>(file: &mut F, end: u64, waiting: &[Waiting]) -> Result<(), Trouble> {
    let mut open: BTreeMap<u64, Option<Event>> =
        waiting.iter().map(|(number, text)| (*number, Event::read(text.as_bytes()).ok())).collect();
    let reading = BufReader::new(Reading { file, offset: 0, end });
    let verified = walk(reading, |line| {
        if line.kind == KIND_GAP {
            // An event that cannot be read became a gap.
            let from = line.body.get("from").and_then(serde_json::Value::as_u64).unwrap_or(line.number);
            let unreadable = |number: &u64| open.get(number).is_some_and(Option::is_none);
            let lost: Vec<u64> = waiting.iter().map(|(number, _)| *number).filter(unreadable).collect();
            for number in lost.into_iter().filter(|number| (from..=line.number).contains(number)) {
                open.remove(&number);
            }
        } else if open.get(&line.number).is_some_and(|event| event.as_ref().is_some_and(|event| is(event, line))) {
            open.remove(&line.number);
        }
    });
    let verified = verified.map_err(|broken| match broken {
        Broken::Read { source, .. } | Broken::Open { source, .. } => Trouble::io("read")(source),
        broken => Trouble::Broken(broken.to_string()),
    })?;
    match open.into_keys().next().filter(|number| *number <= verified.last) {
        Some(number) => Err(Trouble::Diverged { number }),
        None => Ok(()),
    }
}

fn is(event: &Event, line: &Line) -> bool {
    (&event.kind, event.at_ms, &event.body) == (&line.kind, line.at_ms, &line.body)
}

/// A part of a file, as a stream.
struct Reading<'a, F> {
    file: &'a mut F,
    offset: u64,
    end: u64,
}

impl<F: LedgerFile> Read for Reading<'_, F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
        let room = into.len().min(rest);
        let read = if room == 0 { 0 } else { self.file.read_at(self.offset, &mut into[..room])? };
        self.offset += read as u64;
        Ok(read)
    }
}
