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
    /// Ours less the peer's, where that is what counts.
    more: Option<f64>,
    /// The target: of the ratio or of the difference where there is a peer, else of the cost.
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
        Self { what, unit: "ns", ours, peer: Some(peer), ratio: Some(ratio), more: None, at_most, met }
    }

    /// A time that may be so much longer than another.
    pub fn more_nanos(what: String, ours: f64, peer: (&'static str, f64), at_most: f64) -> Self {
        Self::more(what, "ns", ours, peer, at_most)
    }

    /// Bytes that may be so many more than others.
    pub fn more_bytes(what: String, ours: f64, peer: (&'static str, f64), at_most: f64) -> Self {
        Self::more(what, "bytes", ours, peer, at_most)
    }

    fn more(what: String, unit: &'static str, ours: f64, (peer, cost): (&'static str, f64), at_most: f64) -> Self {
        let (more, peer) = (ours - cost, Some(Peer::new(peer, cost)));
        let met = Some(more <= at_most);
        Self { what, unit, ours, peer, ratio: None, more: Some(more), at_most: Some(at_most), met }
    }

    /// A number of bytes.
    pub fn bytes(what: String, ours: f64, at_most: Option<f64>) -> Self {
        let met = at_most.map(|at_most| ours <= at_most);
        Self { what, unit: "bytes", ours, peer: None, ratio: None, more: None, at_most, met }
    }
}

/// Which benchmark it is, and how it measures.
#[derive(Debug, Clone, Copy)]
pub struct About {
    /// The name: `cargo xtask bench NAME`.
    pub name: &'static str,
    /// The title of the page.
    pub title: &'static str,
    /// How it was measured, as a paragraph.
    pub how: &'static str,
}

/// What a run found, with what it was found on.
#[derive(Debug, Serialize)]
pub struct Report {
    quick: bool,
    command: String,
    processor: String,
    cores: usize,
    rustc: &'static str,
    rows: Vec<Row>,
    #[serde(skip)]
    about: About,
}

impl Report {
    /// Puts the facts of this machine beside the rows.
    pub fn new(about: About, rows: Vec<Row>, quick: bool) -> Self {
        let command = format!("cargo xtask bench {}{}", about.name, if quick { " --quick" } else { "" });
        let cores = std::thread::available_parallelism().map_or(1, Into::into);
        Self { quick, command, processor: processor(), cores, rustc: env!("LEASEBOOK_BENCH_RUSTC"), rows, about }
    }

    /// The page.
    pub fn markdown(&self) -> String {
        let mut page = format!("# {}\n\n", self.about.title);
        if self.quick {
            page.push_str("A quick run with little to do: these figures mean nothing.\n\n");
        }
        page.push_str("| ratio | at most | met | what | ours | beside | peer |\n");
        page.push_str("|---:|---:|:---|:---|---:|---:|:---|\n");
        for row in &self.rows {
            let (beside, peer) =
                row.peer.as_ref().map_or_else(Default::default, |peer| (amount(peer.cost, row.unit), peer.what));
            let ratio = match (row.ratio, row.more) {
                (Some(ratio), _) => format!("{ratio:.2}"),
                (None, Some(more)) => format!("+ {}", amount(more, row.unit)),
                (None, None) => String::new(),
            };
            let at_most = match row.at_most {
                Some(at_most) if row.more.is_some() => format!("+ {}", amount(at_most, row.unit)),
                Some(at_most) if row.ratio.is_none() => amount(at_most, row.unit),
                Some(at_most) => format!("{:.2}", at_most).trim_end_matches('0').trim_end_matches('.').to_owned(),
                None => String::new(),
            };
            let met = row.met.map_or("", |met| if met { "yes" } else { "**no**" });
            let (what, ours) = (&row.what, amount(row.ours, row.unit));
            // Writing to a string cannot fail.
            let _ = writeln!(page, "| {ratio} | {at_most} | {met} | {what} | {ours} | {beside} | {peer} |");
        }
        let judged = self.rows.iter().filter_map(|row| row.met).collect::<Vec<_>>();
        let met = judged.iter().filter(|&&met| met).count();
        let Self { command, rustc, processor, cores, about, .. } = self;
        let _ = write!(page, "\n{met} of {} targets met. {}", judged.len(), about.how.replace('\n', " ").trim());
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
