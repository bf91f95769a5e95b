//! What a run found, as a page and as JSON.

use anyhow::{Context, Result};
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// In which unit: `ns` or `bytes`.
    unit: &'static str,
    /// What it costs.
    ours: f64,
    /// What stands beside it.
    peer: Option<Peer>,
    /// Ours by the peer's.
    ratio: Option<f64>,
    /// The target: of the ratio where there is a peer, else of the cost.
    at_most: Option<f64>,
    met: Option<bool>,
}

/// What ours is compared with.
#[derive(Clone, Debug, Serialize)]
pub struct Peer {
    what: &'static str,
    cost: f64,
}

impl Peer {
    pub fn new(what: &'static str, cost: f64) -> Self {
        Self { what, cost }
    }
}

impl Row {
    /// A time beside another.
    pub fn nanos(what: String, ours: f64, peer: Peer, at_most: Option<f64>) -> Self {
        let ratio = ours / peer.cost;
        let met = at_most.map(|at_most| ratio <= at_most);
        Self { what, unit: "ns", ours, peer: Some(peer), ratio: Some(ratio), at_most, met }
    }

    /// A number of bytes.
    pub fn bytes(what: String, ours: f64, at_most: Option<f64>) -> Self {
        let met = at_most.map(|at_most| ours <= at_most);
        Self { what, unit: "bytes", ours, peer: None, ratio: None, at_most, met }
    }
}

/// What a run found, with what it was found on.
#[derive(Debug, Serialize)]
pub struct Report {
    quick: bool,
    command: &'static str,
    processor: String,
    cores: usize,
    rustc: &'static str,
    rows: Vec<Row>,
}

impl Report {
    /// Puts the facts of this machine beside the rows.
    pub fn new(rows: Vec<Row>, quick: bool) -> Self {
        let command = if quick { "cargo xtask bench table --quick" } else { "cargo xtask bench table" };
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        Self { quick, command, processor: processor(), cores, rustc: env!("LEASEBOOK_BENCH_RUSTC"), rows }
    }

    /// The page.
    pub fn markdown(&self) -> String {
        let mut page = String::from("# What the table costs\n\n");
        if self.quick {
            page.push_str("A quick run over small tables: these figures mean nothing.\n\n");
        }
        page.push_str("| ratio | at most | met | what | ours | beside | peer |\n");
        page.push_str("|---:|---:|:---|:---|---:|---:|:---|\n");
        for row in &self.rows {
            let (ratio, beside, peer) = match (&row.peer, row.ratio) {
                (Some(peer), Some(ratio)) => (format!("{ratio:.2}"), amount(peer.cost, row.unit), peer.what),
                _ => (String::new(), String::new(), ""),
            };
            let at_most = match row.at_most {
                Some(at_most) if row.peer.is_none() => amount(at_most, row.unit),
                Some(at_most) => at_most.to_string(),
                None => String::new(),
            };
            let met = row.met.map_or("", |met| if met { "yes" } else { "**no**" });
            let (what, ours) = (&row.what, amount(row.ours, row.unit));
            // Writing to a string cannot fail.
            let _ = writeln!(page, "| {ratio} | {at_most} | {met} | {what} | {ours} | {beside} | {peer} |");
        }
        let judged = self.rows.iter().filter_map(|row| row.met).collect::<Vec<_>>();
        let met = judged.iter().filter(|&&met| met).count();
        let (command, rustc, processor, cores) = (self.command, self.rustc, &self.processor, self.cores);
        let _ = write!(page, "\n{met} of {} targets met. {}", judged.len(), HOW.replace('\n', " ").trim());
        let _ = writeln!(page, "\n\nMeasured on {processor}, {cores} cores, with {rustc}, by:\n\n    {command}");
        page
    }

    /// Writes the same as JSON.
    pub fn write_json(&self, file: &Path) -> Result<()> {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
        }
        let json = serde_json::to_string_pretty(self)? + "\n";
        fs::write(file, json).with_context(|| format!("write {}", file.display()))
    }
}

const HOW: &str = "
Both sides of a row run in turn in one process, 500 pairs each time, over up to 100 000 paths that lie all over the
standing tree (five segments, 32 names a directory, sixteen holders, the asker one of them) in an order that jumps
about: the processor time of the thread, the median over all sweeps. The map is given a copy of each key, as the table
makes one. Where an operation must be undone before it can be measured again, each is timed alone and the median of a
thousand counts; undoing is not timed. Bytes are those asked of the allocator.
";

fn amount(number: f64, unit: &str) -> String {
    format!("{} {unit}", thousands(number.round() as usize))
}

/// A number with its thousands apart.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut spaced = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            spaced.push(' ');
        }
        spaced.push(digit);
    }
    spaced
}

fn processor() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or(std::env::consts::ARCH, |(_, model)| model.trim()).to_owned()
}
