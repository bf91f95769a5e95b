//! A lease book that speaks JSON: operations are read here, performed by a table on either runtime, and answered here.
//!
//! It is not a table: it decides nothing. It knows when an operation happens (the line says so, or the clock), keeps
//! that time from running back, and replaces the table where an operation asks for a new one.

mod answer;
mod component;
mod fields;
mod native;
mod operation;
mod record;
mod said;

pub use answer::{Answer, NotRestored, Refused, Started};
pub use fields::BadLine;
pub use operation::{Ask, COMMON, OPERATIONS, Operation, Request, Settings};

use leasebook::{Fairness, Millis, Options, PinToken, Record};
use leasebook_wasmtime::{Clock, SystemClock};
use serde::Serialize;

/// What the table runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RuntimeName {
    /// Linked into this program.
    Native,
    /// As a WebAssembly component under wasmtime.
    Component,
}

impl RuntimeName {
    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Component => "component",
        }
    }
}

/// A table on some runtime.
trait Runtime {
    /// Answers one question at one moment.
    fn ask(&mut self, at: Millis, ask: &Ask) -> anyhow::Result<Answer>;
    /// The records that changed since the last call.
    fn changed(&mut self) -> anyhow::Result<Vec<Record>>;
}

/// Why there is no table.
enum NoTable {
    /// An option is out of its bounds.
    Options { field: String, expected: String },
    /// The records do not make one.
    Records { record: String, expected: String },
    /// The runtime failed.
    Runtime(anyhow::Error),
}

/// Why an operation has no answer.
#[derive(Debug)]
pub enum Fault {
    /// It was not understood; the book goes on.
    Bad(BadLine),
    /// The runtime failed; the book is over.
    Runtime(anyhow::Error),
}

impl From<BadLine> for Fault {
    fn from(bad: BadLine) -> Self {
        Self::Bad(bad)
    }
}

impl From<anyhow::Error> for Fault {
    fn from(error: anyhow::Error) -> Self {
        Self::Runtime(error)
    }
}

/// One table, and the time it goes by.
pub struct Book {
    runtime: RuntimeName,
    options: Options,
    table: Box<dyn Runtime>,
    clock: SystemClock,
    latest: Millis,
}

impl Book {
    /// An empty book. The clock of the machine serves the operations that name no moment.
    pub fn new(runtime: RuntimeName, options: Options) -> Result<Self, Fault> {
        let table = make(runtime, &options, None).map_err(NoTable::fault)?;
        Ok(Self { runtime, options, table, clock: SystemClock::new(), latest: Millis::default() })
    }

    /// Reads one line and performs what it asks.
    pub fn line(&mut self, line: &[u8]) -> Result<Answer, Fault> {
        let Request { at_ms, operation } = Request::read(line)?;
        let at = Millis::new(at_ms.unwrap_or_else(|| self.clock.now_ms()));
        match operation {
            // A new book begins at its own moment, also an earlier one.
            Operation::New(settings) => {
                let options = self.with(settings);
                match make(self.runtime, &options, None) {
                    Ok(table) => self.begin(options, table, at),
                    Err(none) => return Err(none.fault()),
                }
                Ok(Answer::New(self.started()))
            }
            Operation::Restore(settings, records) => {
                let options = self.with(settings);
                let latest_ms = records.iter().map(seen_ms).max().unwrap_or(0);
                match make(self.runtime, &options, Some(records)) {
                    Ok(table) => {
                        // Its time goes on from the latest that the records know, whatever the wall clock says now.
                        self.clock = SystemClock::not_before(latest_ms);
                        self.begin(options, table, at);
                    }
                    Err(NoTable::Records { record, expected }) => {
                        return Ok(Answer::Restored(Err(NotRestored { record, expected })));
                    }
                    Err(none) => return Err(none.fault()),
                }
                Ok(Answer::Restored(Ok(self.started())))
            }
            Operation::Advance => {
                self.latest = self.latest.max(at);
                Ok(Answer::At(self.latest))
            }
            Operation::Ask(ask) => {
                self.latest = self.latest.max(at);
                Ok(self.table.ask(self.latest, &ask)?)
            }
        }
    }

    /// Writes an answer to a line as JSON, with the records that it changed where the book keeps a journal.
    pub fn write(&mut self, answer: &Answer, to: &mut Vec<u8>) -> anyhow::Result<()> {
        if self.options.journal {
            let changed = self.table.changed()?;
            serde_json::to_writer(to, &Journaled { answer, changed: record::written(&changed) })?;
        } else {
            serde_json::to_writer(to, answer)?;
        }
        Ok(())
    }

    fn with(&self, settings: Settings) -> Options {
        Options {
            default_ttl_ms: settings.default_ttl_ms.unwrap_or(self.options.default_ttl_ms),
            fairness: settings.fairness.unwrap_or(self.options.fairness),
            ..self.options.clone()
        }
    }

    fn begin(&mut self, options: Options, table: Box<dyn Runtime>, at: Millis) {
        (self.options, self.table, self.latest) = (options, table, at);
    }

    fn started(&self) -> Started {
        Started {
            fairness: match self.options.fairness {
                Fairness::Barge => "barge",
                Fairness::Fifo => "fifo",
            },
            default_ttl_ms: self.options.default_ttl_ms,
            runtime: self.runtime.name(),
        }
    }
}

impl NoTable {
    fn fault(self) -> Fault {
        match self {
            Self::Options { field, expected } => {
                Fault::Bad(BadLine::field(&field.replace('_', "-"), format!("expected {expected}")))
            }
            Self::Records { expected, .. } => Fault::Bad(BadLine::field("records", format!("expected {expected}"))),
            Self::Runtime(error) => Fault::Runtime(error),
        }
    }
}

/// An answer with the records that the operation changed.
#[derive(Serialize)]
struct Journaled<'a, R> {
    #[serde(flatten)]
    answer: &'a Answer,
    changed: Vec<R>,
}

fn make(runtime: RuntimeName, options: &Options, records: Option<Vec<Record>>) -> Result<Box<dyn Runtime>, NoTable> {
    match runtime {
        RuntimeName::Native => native::make(options, records),
        RuntimeName::Component => component::make(options, records),
    }
}

/// The latest moment that a record has seen.
fn seen_ms(record: &Record) -> u64 {
    if let Record::Counters(counters) = record { counters.now_ms } else { 0 }
}

/// The token of a pin as it is shown, exactly: no other spelling names the same pin.
fn token(shown: &str) -> Option<PinToken> {
    shown.parse().ok().filter(|token: &PinToken| token.to_string() == shown)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    struct Broken;

    impl Runtime for Broken {
        fn ask(&mut self, _: Millis, _: &Ask) -> anyhow::Result<Answer> {
            anyhow::bail!("the lease table is poisoned")
        }

        fn changed(&mut self) -> anyhow::Result<Vec<Record>> {
            Ok(Vec::new())
        }
    }

    /// A book whose runtime answers nothing.
    pub fn broken() -> Book {
        let mut book = Book::new(RuntimeName::Native, Options::default()).unwrap();
        book.table = Box::new(Broken);
        book
    }

    #[test]
    fn a_bound_of_the_runtime_is_a_refusal_like_others() {
        let mut book = broken();
        let mut written = Vec::new();
        let over = Answer::Over { outcome: "pinned", sentence: "no room".to_owned(), which: "memory-bytes", limit: 7 };
        book.write(&over, &mut written).unwrap();
        let expected =
            r#"{"pinned":false,"reason":"limit-exceeded","sentence":"no room","which":"memory-bytes","limit":7}"#;
        assert_eq!(String::from_utf8(written).unwrap(), expected);
    }
}
