//! What these commands print: JSON for programs, tables and sentences for people.
//!
//! Hosts and names come from strangers' files: what steers a terminal or hides itself is escaped.

use super::{MARKER_DIRECTORY, Place};
use leasebook_files::marker::{MarkerRecord, MarkerState, Recovery};
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::SystemTime;

/// `leasebook inspect --json`.
#[derive(Serialize)]
pub struct Inspected<'a> {
    pub records: Vec<Marker<'a>>,
}

/// `leasebook recover --json`.
#[derive(Serialize)]
pub struct Recovered<'a> {
    pub applied: bool,
    pub removed: Vec<Marker<'a>>,
    pub kept: Vec<Marker<'a>>,
    pub tidied: &'a [String],
}

/// `leasebook recover --remove … --json`. The owner is the one that the marker names.
#[derive(Serialize)]
pub struct Named<'a> {
    pub nonce: &'a str,
    pub outcome: &'static str,
    pub host: Option<&'a str>,
    pub pid: Option<u32>,
}

/// One marker. The owner is absent where it is not recognized.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Marker<'a> {
    name: &'a str,
    path: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

/// Markers as they are printed.
pub fn markers(records: &[MarkerRecord]) -> Vec<Marker<'_>> {
    records.iter().map(Marker::of).collect()
}

impl<'a> Marker<'a> {
    fn of(record: &'a MarkerRecord) -> Self {
        let owner = record.owner.as_ref();
        Self {
            name: &record.name,
            path: &record.path,
            state: record.state.name(),
            pid: owner.map(|owner| owner.pid()),
            host: owner.map(|owner| owner.host()),
            since_ms: record.since_ms,
            detail: record.detail.as_deref(),
        }
    }
}

/// Prints a value on one line.
pub fn json(value: &impl Serialize) -> io::Result<()> {
    print(&(serde_json::to_string(value)? + "\n"))
}

/// Prints what an inspection found.
pub fn inspected(place: &Place, records: &[MarkerRecord]) -> io::Result<()> {
    if records.is_empty() {
        return print(&format!("nobody writes to {}\n", place.destination.display()));
    }
    print(&(table(records) + &hints(place, records)))
}

/// Prints what a recovery did, or would do.
pub fn recovered(place: &Place, applied: bool, done: &Recovery) -> io::Result<()> {
    let mut out = String::new();
    let stale = done.kept.iter().filter(|record| record.state == MarkerState::Stale).count();
    if applied {
        out += &format!("{} removed, {} kept\n", counted(done.removed.len()), done.kept.len());
    } else {
        out += &format!("{} to be removed, {} to be kept\n", counted(stale), done.kept.len() - stale);
    }
    if !done.tidied.is_empty() {
        out += &format!("{} half-made, of writers that died: removed\n", counted(done.tidied.len()));
    }
    if !done.removed.is_empty() {
        out += &format!("removed:\n{}", table(&done.removed));
    }
    if !done.kept.is_empty() {
        out += &format!("{}{}", if applied { "kept:\n" } else { "" }, table(&done.kept));
    }
    if !applied && stale > 0 {
        out += &format!("to remove them: leasebook recover {} --apply\n", words(place));
    }
    print(&(out + &hints(place, &done.kept)))
}

/// Prints what came of the removal of one marker.
pub fn named(said: &Named<'_>) -> io::Result<()> {
    let names = match (said.host, said.pid) {
        (Some(host), Some(pid)) => format!("host {} and process {pid}", shown(host)),
        _ => "nobody that can be recognized".to_owned(),
    };
    print(&match said.outcome {
        "removed" => format!("removed {}, which named {names}\n", said.nonce),
        "different" => format!("kept {}: it names {names}\n", said.nonce),
        _ => format!("there is no marker {}\n", shown(said.nonce)),
    })
}

/// Says on standard error who is in the way of a command, and what to do about it.
pub fn busy(place: &Place, owners: &[MarkerRecord], command: &[OsString]) -> io::Result<()> {
    let destination = place.destination.display();
    let who = match owners {
        [one] => format!("busy: {destination} is being written by {}; nothing was run\n", owner(one)),
        many => {
            format!("busy: {} are in the way in {destination}; nothing was run\n{}", counted(many.len()), table(many))
        }
    };
    let mut wait = format!("leasebook run --wait 60 {} --", words(place));
    for word in command {
        wait += " ";
        wait += &quoted(&word.to_string_lossy());
    }
    let look = format!("leasebook inspect {}", words(place));
    let said = format!("{who}  wait for it: {wait}\n  look:        {look}\n{}", hints(place, owners));
    io::stderr().write_all(said.as_bytes())
}

/// Says on standard error that another program's own marker is in the way.
pub fn legacy(place: &Place, path: &str) -> io::Result<()> {
    let destination = place.destination.display();
    let said = format!("busy: {} says that another program writes to {destination}; nothing was run\n", shown(path));
    io::stderr().write_all(said.as_bytes())
}

/// An owner in a few words.
pub fn owner(record: &MarkerRecord) -> String {
    let Some(owner) = &record.owner else { return format!("the marker {} ({})", shown(&record.name), record.state) };
    let program = match record.state {
        MarkerState::Active => program(owner.pid()).map(|program| format!(" ({program})")).unwrap_or_default(),
        _ => String::new(),
    };
    format!("process {} on {}{program}, since {}", owner.pid(), shown(owner.host()), age(record))
}

/// What a process of this host is called, where the system tells. Of one that runs a command under its lease, it is the
/// command that says something to a person.
fn program(pid: u32) -> Option<String> {
    let name = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let mut found = name(&pid.to_string())?;
    if found.trim_end() == env!("CARGO_BIN_NAME") {
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        found = children.split_whitespace().next().and_then(name).unwrap_or(found);
    }
    Some(shown(found.trim_end()))
}

/// The destination, and the marker directory where it is not the one that every command takes.
fn words(place: &Place) -> String {
    let mut words = quoted(&place.destination.to_string_lossy());
    if place.marker_dir != MARKER_DIRECTORY {
        words += " --marker-dir ";
        words += &quoted(&place.marker_dir);
    }
    words
}

/// What an operator can do about markers that no rule removes.
fn hints(place: &Place, records: &[MarkerRecord]) -> String {
    let for_ever = |record: &&MarkerRecord| matches!(record.state, MarkerState::Foreign | MarkerState::Unrecognized);
    let Some(record) = records.iter().find(for_ever) else { return String::new() };
    let nonce = record.name.strip_suffix(".json").unwrap_or(&record.name);
    let whose = match &record.owner {
        Some(owner) => format!("--host {} --pid {}", quoted(owner.host()), owner.pid()),
        None => "--unrecognized".to_owned(),
    };
    let command = format!("leasebook recover {} --remove {nonce} {whose}", words(place));
    format!("what is {} is removed by no rule. If its writer is gone for certain:\n  {command}\n", record.state)
}

fn table(records: &[MarkerRecord]) -> String {
    let heading = ["STATE", "PID", "HOST", "SINCE", "MARKER"].map(str::to_owned);
    let rows: Vec<[String; 5]> = records
        .iter()
        .map(|record| {
            let owner = record.owner.as_ref();
            let detail = record.detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
            [
                record.state.name().to_owned(),
                owner.map_or("-".to_owned(), |owner| owner.pid().to_string()),
                owner.map_or("-".to_owned(), |owner| shown(owner.host())),
                age(record),
                shown(&record.path) + &detail,
            ]
        })
        .collect();
    let width = |column: usize| {
        let cells = std::iter::once(&heading).chain(&rows).map(|row| row[column].chars().count());
        cells.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..4).map(width).collect();
    let mut out = String::new();
    for row in std::iter::once(&heading).chain(&rows) {
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a string does not fail.
            let _ = write!(out, "{cell:<width$}  ");
        }
        out += &row[4];
        out.push('\n');
    }
    out
}

/// For how long a marker has been there, by this machine's clock.
fn age(record: &MarkerRecord) -> String {
    let Some(since_ms) = record.since_ms else { return "-".to_owned() };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = (now.as_millis() as u64).saturating_sub(since_ms) / 1_000;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 marker".to_owned() } else { format!("{count} markers") }
}

/// A word for a shell, that is taken as it stands whatever a stranger wrote.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", shown(word).replace('\'', "'\\''"))
    }
}

/// A stranger's text, without what steers a terminal or hides what is written.
fn shown(text: &str) -> String {
    /// What is longer tells nothing more.
    const SHOWN_MAX: usize = 300;
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == SHOWN_MAX {
            out.push('…');
            break;
        }
        let hides =
            matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if c.is_control() || hides { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Prints to standard output. Whoever closed it has read what was wanted.
fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
