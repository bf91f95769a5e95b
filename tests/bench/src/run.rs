//! One run: which parts there are, how much work each is given, and what is shown while it goes on.

use crate::report::{About, Report, Row};
use crate::writer::{self, Given};
use crate::{component, memory, service, table, waiters};
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Acquire and release in a native table
    Table,
    /// The same through the component
    Component,
    /// Bytes for each standing lease
    Memory,
    /// Wait attempts in a large wait graph
    Waiters,
}

impl Part {
    const ALL: [Self; 4] = [Self::Table, Self::Component, Self::Waiters, Self::Memory];
}

const TABLE: About = About {
    name: "table",
    title: "What the table costs",
    how: "
Both sides of a row run in turn in one process, 500 pairs each time, over up to 100 000 paths that lie all over the
standing tree (five segments, 32 names a directory, sixteen holders, the asker one of them) in an order that jumps
about: the processor time of the thread, the median over all sweeps. The map is given a copy of each key, as the table
makes one. Where an operation must be undone before it can be measured again, each is timed alone and the median of a
thousand counts; undoing is not timed. Bytes are those asked of the allocator.
",
};

const WRITER: About = About {
    name: "writer",
    title: "What a writer lease costs",
    how: "
Both sides of a row run in turn, on one file system. Against bare system calls, 500 pairs each time, the processor time
of the thread, the median over ten sweeps. Against another library, which runs in a process of its own, 200 pairs each
time, on the clock, the median of all turns. Whole processes are timed from start to end, one after the other, the
median of all; the memory is what the process has had at its peak, as its child reads it. A row that says + is judged
by the difference.
",
};

const SERVICE: About = About {
    name: "service",
    title: "What the coordination service costs",
    how: "
All servers run at one time, each a process of its own over loopback, and are loaded one after the other for two
seconds, three times: clients that each acquire and release a resource of their own, one pair after the other, on one
connection. The time of a pair is what passes for each pair of all clients together, so that a smaller one is a higher
throughput. Everybody but the empty route has synced what it granted before it answers. The clients share the processor
with the servers.
",
};

/// How much work a run takes on.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// How many leases stand.
    pub standing: &'static [usize],
    /// How many waiters the wait graph has.
    pub waiters: usize,
    /// How many acquires and releases are measured on each side, at least.
    pub pairs: usize,
    /// How many single operations are measured, where each needs its state restored.
    pub singles: usize,
}

impl Effort {
    const WHOLE: Self =
        Self { standing: &[1_000, 100_000, 1_000_000], waiters: 10_000, pairs: 1_000_000, singles: 1_000 };
    const QUICK: Self = Self { standing: &[1_000, 10_000], waiters: 500, pairs: 20_000, singles: 20 };
}

/// Measures the table; all parts where none is named.
pub fn table(quick: bool, only: &[Part]) -> Result<Report> {
    let effort = if quick { Effort::QUICK } else { Effort::WHOLE };
    let progress = Progress::start();
    let mut rows = Vec::new();
    for part in Part::ALL.into_iter().filter(|part| only.is_empty() || only.contains(part)) {
        let mut add = |row: Row| {
            progress.says(&row);
            rows.push(row);
        };
        match part {
            Part::Table => table::measure(effort, &mut add),
            Part::Component => component::measure(effort, &mut add)?,
            Part::Memory => memory::measure(effort, &mut add),
            Part::Waiters => waiters::measure(effort, &mut add),
        }
    }
    progress.end();
    Ok(Report::new(TABLE, rows, quick))
}

/// Measures writer leases.
pub fn writer(quick: bool, given: &Given) -> Result<Report> {
    let effort = if quick { writer::Effort::QUICK } else { writer::Effort::WHOLE };
    let progress = Progress::start();
    let mut rows = Vec::new();
    let measured = writer::measure(effort, given, &mut |row| {
        progress.says(&row);
        rows.push(row);
    });
    progress.end();
    measured.map(|()| Report::new(WRITER, rows, quick))
}

/// Measures the coordination service.
pub fn service(quick: bool, given: &service::Given) -> Result<Report> {
    let effort = if quick { service::Effort::QUICK } else { service::Effort::WHOLE };
    let progress = Progress::start();
    let mut rows = Vec::new();
    let measured = service::measure(effort, given, &mut |row| {
        progress.says(&row);
        rows.push(row);
    });
    progress.end();
    measured.map(|()| Report::new(SERVICE, rows, quick))
}

/// The folder that build results go to, in the repository.
pub fn target_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target")
}

/// Where the JSON of a benchmark goes unless told otherwise.
pub fn default_json(name: &str) -> PathBuf {
    let folder = target_dir();
    folder.canonicalize().unwrap_or(folder).join("bench").join(name).with_extension("json")
}

/// One line on a terminal that says what was measured last; nothing elsewhere.
struct Progress(ProgressBar);

impl Progress {
    fn start() -> Self {
        let style = ProgressStyle::with_template("  {spinner} {elapsed:.dim} {pos} rows, last: {wide_msg}");
        let bar = ProgressBar::new_spinner().with_style(style.expect("the template is a constant"));
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    fn says(&self, row: &Row) {
        self.0.inc(1);
        self.0.set_message(row.what.clone());
    }

    fn end(&self) {
        self.0.finish_and_clear();
    }
}
