//! The operations of a lease book, read from lines of JSON.
//!
//! Reading says what a line asks for and whether it has the right fields of the right types. Whether a value can be
//! used (a ttl, a holder, a path) is for the table to say: that is an answer, not a bad line.

use super::fields::{BadLine, Fields, alike, shown};
use super::record;
use leasebook::{Fairness, Mode, Period, Record, Release, Wish};
use serde::{Deserialize, Serialize};

/// The name of each operation, and its fields beside those in [`COMMON`].
pub const OPERATIONS: [(&str, &[&str]); 22] = [
    ("new", &["default-ttl-ms", "fairness"]),
    ("restore", &["records", "default-ttl-ms", "fairness"]),
    ("advance", &["by-ms"]),
    ("acquire", &["holder", "paths", "modes", "ttl-ms"]),
    ("wait-attempt", &["waiter-id", "holder", "paths", "modes", "ttl-ms", "allow-hold", "keep-ms"]),
    ("cancel-wait", &["waiter-id"]),
    ("refresh", &["holder", "generation", "ttl-ms"]),
    ("release", &["holder", "paths", "generation"]),
    ("release-holder", &["holder"]),
    ("release-all", &[]),
    ("end-session", &["holder"]),
    ("revoke", &["generation", "force"]),
    ("pin", &["holder", "paths", "mode", "deadline-ms"]),
    ("unpin", &["token"]),
    ("covering", &["holder", "path", "mode"]),
    ("contains", &["path", "directory"]),
    ("ready", &[]),
    ("next-deadline", &[]),
    ("leases", &[]),
    ("status", &[]),
    ("events", &[]),
    ("records", &[]),
];

/// The fields that every operation may have. An `answer` is ignored, so that recorded runs can be read as they are.
pub const COMMON: [&str; 3] = ["op", "at-ms", "answer"];

const TIME: &str = "a whole number of milliseconds, 0 or more";
const GENERATION: &str = "a generation, a whole number";
const HOLDER: &str = "a string, the id of a holder";
const PATHS: &str = "a list of strings, the paths";
const MODE: &str = "\"exclusive\" or \"shared\"";

/// One line, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The moment it happens at; `None` = now.
    pub at_ms: Option<u64>,
    /// What is asked.
    pub operation: Operation,
}

/// What a line asks of the book.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Begin again with an empty table.
    New(Settings),
    /// Begin again with the table that these records describe.
    Restore(Settings, Vec<Record>),
    /// Only move the clock.
    Advance,
    /// Ask the table.
    Ask(Ask),
}

/// What a new table is told; where absent, what the command line said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// The ttl of a lease whose caller names none.
    pub default_ttl_ms: Option<u64>,
    /// In which order waiters are served.
    pub fairness: Option<Fairness>,
}

/// A question to the table, or a change of it: the operations that every runtime has.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // the names are those of `leasebook::Table`
pub enum Ask {
    Acquire {
        holder: String,
        wishes: Wishes,
        ttl: Option<Period>,
    },
    WaitAttempt {
        waiter_id: String,
        holder: String,
        wishes: Wishes,
        ttl: Option<Period>,
        allow_hold: bool,
        keep: Option<Period>,
    },
    CancelWait {
        waiter_id: String,
    },
    Refresh {
        holder: String,
        generation: u64,
        ttl: Option<Period>,
    },
    Release {
        holder: String,
        what: Given,
    },
    ReleaseHolder {
        holder: String,
    },
    ReleaseAll,
    EndSession {
        holder: String,
    },
    Revoke {
        generation: u64,
        force: bool,
    },
    Pin {
        holder: String,
        paths: Vec<String>,
        mode: Mode,
        deadline_ms: Option<u64>,
    },
    Unpin {
        token: String,
    },
    Covering {
        holder: String,
        path: String,
        mode: Mode,
    },
    Contains {
        path: String,
        directory: String,
    },
    Ready,
    NextDeadline,
    Leases,
    Status,
    Events,
    Records,
}

/// Paths, each with a mode.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes(Vec<(String, Mode)>);

impl Wishes {
    /// As the table takes them.
    pub fn borrowed(&self) -> Vec<Wish<'_>> {
        self.0.iter().map(|(path, mode)| Wish { path, mode: *mode }).collect()
    }
}

/// What to release.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // as in `leasebook::Release`
pub enum Given {
    All,
    Paths(Vec<String>),
    Generation(u64),
}

impl Given {
    /// Hands it on as the table takes it.
    pub fn with<T>(&self, then: impl FnOnce(Release<'_>) -> T) -> T {
        match self {
            Self::All => then(Release::All),
            Self::Paths(paths) => then(Release::Paths(&paths.iter().map(String::as_str).collect::<Vec<_>>())),
            Self::Generation(generation) => then(Release::Generation(*generation)),
        }
    }
}

impl Request {
    /// Reads one line.
    pub fn read(line: &[u8]) -> Result<Self, BadLine> {
        let mut fields = Fields::read(line)?;
        let name: String = fields.required("op", "the name of an operation")?;
        let Some((name, own)) = OPERATIONS.iter().find(|(known, _)| *known == name) else {
            return Err(unknown(&name));
        };
        fields.only(name, &[*own, &COMMON].concat())?;
        let at_ms = fields.optional("at-ms", TIME)?;
        let operation = match *name {
            "new" => Operation::New(settings(&mut fields)?),
            "restore" => {
                let records = record::read(fields.required("records", "a list of records")?)?;
                Operation::Restore(settings(&mut fields)?, records)
            }
            "advance" => {
                let _: Option<u64> = fields.optional("by-ms", TIME)?;
                if at_ms.is_none() {
                    return Err(BadLine::field("at-ms", format!("missing; expected {TIME}")));
                }
                Operation::Advance
            }
            name => Operation::Ask(ask(name, &mut fields)?),
        };
        Ok(Self { at_ms, operation })
    }
}

fn unknown(name: &str) -> BadLine {
    let names = OPERATIONS.map(|(name, _)| name);
    let hint = match alike(name, &names) {
        Some(other) => format!("did you mean {other}?"),
        None => format!("there are {}", names.join(", ")),
    };
    BadLine::field("op", format!("no operation is called {:?}; {hint}", shown(name)))
}

fn settings(fields: &mut Fields<'_>) -> Result<Settings, BadLine> {
    let default_ttl_ms = fields.optional("default-ttl-ms", TIME)?;
    let fairness = fields.optional("fairness", "\"barge\" or \"fifo\"")?.map(|named| match named {
        FairnessName::Barge => Fairness::Barge,
        FairnessName::Fifo => Fairness::Fifo,
    });
    Ok(Settings { default_ttl_ms, fairness })
}

fn ask(name: &str, fields: &mut Fields<'_>) -> Result<Ask, BadLine> {
    let holder = |fields: &mut Fields<'_>| fields.required::<String>("holder", HOLDER);
    let waiter_id = |fields: &mut Fields<'_>| fields.required::<String>("waiter-id", "a string, the id of a waiter");
    let path = |fields: &mut Fields<'_>, name| fields.required::<String>(name, "a string, a path");
    let paths = |fields: &mut Fields<'_>| fields.required::<Vec<String>>("paths", PATHS);
    let generation = |fields: &mut Fields<'_>| fields.required::<u64>("generation", GENERATION);
    let period = |fields: &mut Fields<'_>, name| Ok(fields.number(name)?.map(Period::from));
    let flag = |fields: &mut Fields<'_>, name| Ok(fields.optional(name, "true or false")?.unwrap_or(false));
    let mode = |fields: &mut Fields<'_>| Ok(fields.optional("mode", MODE)?.map_or(Mode::Exclusive, ModeName::mode));

    Ok(match name {
        "acquire" => Ask::Acquire { holder: holder(fields)?, wishes: wishes(fields)?, ttl: period(fields, "ttl-ms")? },
        "wait-attempt" => Ask::WaitAttempt {
            waiter_id: waiter_id(fields)?,
            holder: holder(fields)?,
            wishes: wishes(fields)?,
            ttl: period(fields, "ttl-ms")?,
            allow_hold: flag(fields, "allow-hold")?,
            keep: period(fields, "keep-ms")?,
        },
        "cancel-wait" => Ask::CancelWait { waiter_id: waiter_id(fields)? },
        "refresh" => {
            Ask::Refresh { holder: holder(fields)?, generation: generation(fields)?, ttl: period(fields, "ttl-ms")? }
        }
        "release" => Ask::Release { holder: holder(fields)?, what: given(fields)? },
        "release-holder" => Ask::ReleaseHolder { holder: holder(fields)? },
        "release-all" => Ask::ReleaseAll,
        "end-session" => Ask::EndSession { holder: holder(fields)? },
        "revoke" => Ask::Revoke { generation: generation(fields)?, force: flag(fields, "force")? },
        "pin" => Ask::Pin {
            holder: holder(fields)?,
            paths: paths(fields)?,
            mode: mode(fields)?,
            deadline_ms: fields.optional("deadline-ms", TIME)?,
        },
        "unpin" => Ask::Unpin { token: fields.required("token", "a string, the token of a pin")? },
        "covering" => Ask::Covering { holder: holder(fields)?, path: path(fields, "path")?, mode: mode(fields)? },
        "contains" => Ask::Contains { path: path(fields, "path")?, directory: path(fields, "directory")? },
        "ready" => Ask::Ready,
        "next-deadline" => Ask::NextDeadline,
        "leases" => Ask::Leases,
        "status" => Ask::Status,
        "events" => Ask::Events,
        "records" => Ask::Records,
        other => return Err(unknown(other)),
    })
}

fn wishes(fields: &mut Fields<'_>) -> Result<Wishes, BadLine> {
    let paths: Vec<String> = fields.required("paths", PATHS)?;
    let modes: Option<Vec<ModeName>> = fields.optional("modes", "a list of \"exclusive\" and \"shared\"")?;
    let modes = match modes {
        None => vec![Mode::Exclusive; paths.len()],
        Some(modes) if modes.len() == paths.len() => modes.into_iter().map(ModeName::mode).collect(),
        Some(modes) => {
            let reason = format!("expected one mode for each of {} paths; found {}", paths.len(), modes.len());
            return Err(BadLine::field("modes", reason));
        }
    };
    Ok(Wishes(paths.into_iter().zip(modes).collect()))
}

fn given(fields: &mut Fields<'_>) -> Result<Given, BadLine> {
    let paths: Option<Vec<String>> = fields.optional("paths", PATHS)?;
    let generation = fields.optional("generation", GENERATION)?;
    match (paths, generation) {
        (Some(_), Some(_)) => Err(BadLine::field("generation", "expected paths or a generation; found both")),
        (None, Some(generation)) => Ok(Given::Generation(generation)),
        (Some(paths), None) if !paths.is_empty() => Ok(Given::Paths(paths)),
        // No paths at all is the bare release.
        _ => Ok(Given::All),
    }
}

/// A mode by the name that every runtime uses.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ModeName {
    Exclusive,
    Shared,
}

impl ModeName {
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::Exclusive => Mode::Exclusive,
            Self::Shared => Mode::Shared,
        }
    }
}

impl From<Mode> for ModeName {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Exclusive => Self::Exclusive,
            Mode::Shared => Self::Shared,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FairnessName {
    Barge,
    Fifo,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_read_and_knows_its_fields() {
        for (name, fields) in OPERATIONS {
            let values = fields.iter().map(|field| match *field {
                "paths" => r#","paths":["/a"]"#.to_string(),
                "modes" => r#","modes":["shared"]"#.to_string(),
                "mode" => r#","mode":"shared""#.to_string(),
                "fairness" => r#","fairness":"fifo""#.to_string(),
                "records" => r#","records":[]"#.to_string(),
                "allow-hold" | "force" => format!(r#","{field}":true"#),
                // A release names paths or a generation.
                "generation" if name == "release" => String::new(),
                number if number.ends_with("-ms") || number == "generation" => format!(r#","{field}":7"#),
                text => format!(r#","{text}":"x""#),
            });
            let line = format!(r#"{{"op":"{name}","at-ms":5,"answer":{{}}{}}}"#, values.collect::<String>());
            let read = Request::read(line.as_bytes()).unwrap_or_else(|bad| panic!("{line}: {bad:?}"));
            assert_eq!(read.at_ms, Some(5));
        }
    }

    #[test]
    fn a_bare_release_has_no_paths_or_none_at_all() {
        for line in [r#"{"op":"release","holder":"a"}"#, r#"{"op":"release","holder":"a","paths":[]}"#] {
            let Operation::Ask(Ask::Release { what, .. }) = Request::read(line.as_bytes()).unwrap().operation else {
                panic!("{line}")
            };
            assert_eq!(what, Given::All);
        }
    }
}
