//! What these commands print: JSON for programs, tables and sentences for people.
//!
//! Hosts and names come from strangers' files: see [`super::words`].

use super::words::{Offer, json_shown, shown, shown_path};
use super::{MARKER_DIRECTORY, Place};
use crate::stderr;
use leasebook_files::marker::{self, MarkerRecord, MarkerState, Recovery};
use serde::Serialize;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// How many markers in the way are listed where nothing was asked but to run a command.
const BUSY_LISTED_MAX: usize = 10;

/// How long the command waits that is offered: the next may be at it a while.
const WAIT_OFFERED_MIN: Duration = Duration::from_secs(60);

/// For how many markers in the way it is said how to remove them.
const HINTS_MAX: usize = 5;

/// How wide the column of hosts gets, in characters: a host name of 64 and a namespace fit.
const HOST_WIDTH_MAX: usize = 100;

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
    pub untidied: Vec<Untidied<'a>>,
}

/// A `.tmp` file that stays because something failed.
#[derive(Serialize)]
pub struct Untidied<'a> {
    pub name: &'a str,
    pub detail: &'a str,
}

/// `leasebook recover --remove … --json`. The owner is the one that the marker names, absent where it names none.
#[derive(Serialize)]
pub struct Named<'a> {
    pub nonce: &'a str,
    pub outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
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

/// Left-over files as they are printed.
pub fn untidied(stay: &[marker::Untidied]) -> Vec<Untidied<'_>> {
    stay.iter().map(|it| Untidied { name: &it.name, detail: &it.detail }).collect()
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
    print(&(json_shown(&serde_json::to_string(value)?) + "\n"))
}

/// Prints what an inspection found.
pub fn inspected(place: &Place, records: &[MarkerRecord]) -> io::Result<()> {
    if records.is_empty() {
        return print(&format!("nobody writes to {}\n", shown_path(&place.destination)));
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
    for stays in &done.untidied {
        out += &format!("half-made, and in nobody's way: {stays}\n");
    }
    if !done.removed.is_empty() {
        out += &format!("removed:\n{}", table(&done.removed));
    }
    if !done.kept.is_empty() {
        out += &format!("{}{}", if applied { "kept:\n" } else { "" }, table(&done.kept));
    }
    if !applied && stale > 0 {
        let remove = offer("leasebook recover", place).words("--apply");
        out += &format!("to remove them: {}\n{}", remove.text(), Offer::missing(&[&remove]));
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
pub fn busy(place: &Place, again: Offer, owners: &[MarkerRecord]) {
    let destination = shown_path(&place.destination);
    let mut said = match owners {
        [one] if one.state == MarkerState::Active => {
            format!("busy: {destination} is being written by {}; nothing was run\n", owner(one))
        }
        [one] => format!("busy: in the way in {destination} is {}; nothing was run\n", owner(one)),
        many => {
            format!("busy: {} are in the way in {destination}; nothing was run\n", counted(many.len()))
                + &table(&many[..many.len().min(BUSY_LISTED_MAX)])
        }
    };
    if let Some(more @ 1..) = owners.len().checked_sub(BUSY_LISTED_MAX) {
        said += &format!("and {more} more\n");
    }
    let look = offer("leasebook inspect", place);
    let first = if owners.iter().any(runs_this) {
        said += "  this very command runs below it, so that waiting for it would not end\n";
        None
    } else if owners.iter().any(|record| record.state == MarkerState::Stale) {
        Some(("remove it:", offer("leasebook recover", place).words("--apply")))
    } else {
        Some(("wait for it:", again))
    };
    if let Some((what, offer)) = &first {
        said += &format!("  {what:<13}{}\n", offer.text());
    }
    said += &format!("  {:<13}{}\n", "look:", look.text());
    said += &Offer::missing(&[first.as_ref().map_or(&look, |(_, offer)| offer), &look]);
    said += &hints(place, owners);
    stderr::say(said.trim_end());
}

/// Says on standard error that another program's own marker is in the way.
pub fn legacy(place: &Place, again: &Offer, path: &str) {
    let (path, destination) = (shown(path), shown_path(&place.destination));
    let (text, missing) = (again.text(), Offer::missing(&[again]));
    let said = format!("busy: {path} says that another program writes to {destination}; nothing was run\n");
    stderr::say(format!("{said}  wait for it: {text}\n{missing}").trim_end());
}

/// The same command again, waiting: for as long as was said, and for a while at least.
pub fn again(place: &Place, wait: Option<Duration>, legacy: &[String], command: &[OsString]) -> Offer {
    let wait = wait.unwrap_or_default().max(WAIT_OFFERED_MIN).as_secs_f64();
    let run = offer(&format!("leasebook run --wait {wait}"), place);
    legacy.iter().fold(run, |run, name| run.option("--legacy", name, "NAME")).command(command, "CMD...")
}

/// An owner in a few words.
pub fn owner(record: &MarkerRecord) -> String {
    let age = age(record);
    let process = record.owner.as_ref().map(|owner| format!("process {} on {}", owner.pid(), shown(owner.host())));
    if let (MarkerState::Active, Some(process), Some(owner)) = (record.state, &process, &record.owner) {
        let program = program(owner.pid()).map(|program| format!(" ({program})")).unwrap_or_default();
        let age = age.map(|age| format!(" for {age}")).unwrap_or_default();
        return format!("{process}{program}{age}");
    }
    let whose = process.map_or_else(|| shown(&record.name), |process| format!("of {process}"));
    let detail = record.detail.as_deref().map(|detail| format!(" ({})", shown(detail))).unwrap_or_default();
    let age = age.map(|age| format!(", there for {age}")).unwrap_or_default();
    format!("the {} marker {whose}{detail}{age}", record.state)
}

/// Whether an owner is above this process: it waits for what runs in it.
fn runs_this(record: &MarkerRecord) -> bool {
    let Some(owner) = record.owner.as_ref().filter(|_| record.state == MarkerState::Active && tells_of_us()) else {
        return false;
    };
    let parent = |pid: u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse::<u32>().ok()
    };
    // The first process of all has the parent 0, and no file tells of that.
    std::iter::successors(Some(std::process::id()), |pid| parent(*pid)).any(|pid| pid == owner.pid())
}

/// Whether `/proc` is of the namespace of process ids that this process is in: else the numbers in it mean others.
fn tells_of_us() -> bool {
    fs::read_link("/proc/self").is_ok_and(|pid| *pid == *std::process::id().to_string())
}

/// What a process of this host is called, where the system tells. Of one that runs a command under its lease, it is the
/// command that says something to a person.
fn program(pid: u32) -> Option<String> {
    if !tells_of_us() {
        return None;
    }
    let name = |pid: &str| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    let mut found = name(&pid.to_string())?;
    if found.trim_end() == env!("CARGO_BIN_NAME") {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        found = children.split_whitespace().next().and_then(name).unwrap_or(found);
    }
    Some(shown(found.trim_end()))
}

/// A command for this place: the marker directory is named where it is not the one that every command takes.
fn offer(words: &str, place: &Place) -> Offer {
    let offer = Offer::new(words).path(&place.destination, "DEST");
    if place.marker_dir == MARKER_DIRECTORY {
        return offer;
    }
    offer.option("--marker-dir", &place.marker_dir, "NAME")
}

/// What an operator can do about markers that no rule removes.
fn hints(place: &Place, records: &[MarkerRecord]) -> String {
    let for_ever = |record: &&MarkerRecord| matches!(record.state, MarkerState::Foreign | MarkerState::Unrecognized);
    let offers: Vec<Offer> = records.iter().filter(for_ever).take(HINTS_MAX).map(|it| removal(place, it)).collect();
    if offers.is_empty() {
        return String::new();
    }
    let missing = Offer::missing(&offers.iter().collect::<Vec<_>>());
    let lines: String = offers.iter().map(|offer| format!("  {}\n", offer.text())).collect();
    format!("no rule removes what is foreign or unrecognized. Where the writer is gone for certain:\n{missing}{lines}")
}

/// How an operator removes a marker.
fn removal(place: &Place, record: &MarkerRecord) -> Offer {
    if fs::symlink_metadata(&record.path).is_ok_and(|found| found.is_dir()) {
        return Offer::new("rmdir").path(record.path.as_ref(), "DIRECTORY");
    }
    let nonce = record.name.strip_suffix(".json").unwrap_or(&record.name);
    let remove = offer("leasebook recover", place).option("--remove", nonce, "NONCE");
    match &record.owner {
        Some(owner) => remove.option("--host", owner.host(), "HOST").words(&format!("--pid {}", owner.pid())),
        None => remove.words("--unrecognized"),
    }
}

fn table(records: &[MarkerRecord]) -> String {
    let heading = ["STATE", "PID", "HOST", "FOR", "MARKER"].map(str::to_owned);
    let rows: Vec<[String; 5]> = records
        .iter()
        .map(|record| {
            let owner = record.owner.as_ref();
            let detail = record.detail.as_deref().map(|detail| format!(" ({})", shown(detail))).unwrap_or_default();
            [
                record.state.name().to_owned(),
                owner.map_or("-".to_owned(), |owner| owner.pid().to_string()),
                owner.map_or("-".to_owned(), |owner| cut(&shown(owner.host()))),
                age(record).unwrap_or("-".to_owned()),
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

fn cut(host: &str) -> String {
    match host.char_indices().nth(HOST_WIDTH_MAX) {
        Some((end, _)) => format!("{}…", &host[..end]),
        None => host.to_owned(),
    }
}

/// For how long a marker has been there, by this machine's clock, where that is known.
fn age(record: &MarkerRecord) -> Option<String> {
    let since_ms = record.since_ms?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let seconds = (now.as_millis() as u64).saturating_sub(since_ms) / 1_000;
    Some(match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    })
}

/// So many markers, in words.
pub fn counted(count: usize) -> String {
    if count == 1 { "1 marker".to_owned() } else { format!("{count} markers") }
}

/// Prints to standard output. Whoever closed it has read what was wanted.
fn print(text: &str) -> io::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
