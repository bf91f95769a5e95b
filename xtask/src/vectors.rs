//! `cargo xtask vectors`: recorded runs, replayed through `leasebook table` and compared.
//!
//! A run is a file of lines, each an operation with the `answer` that was recorded. One command serves all runs of a
//! runtime, over a pipe and in lockstep, since a later operation may name a pin that an earlier answer gave.

mod compare;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;
use serde_json::{Value, json};

use compare::{FieldDifference, Tokens, compare, is_cycle};

/// How much of an operation or a value is shown, in characters.
const SHOWN_MAX: usize = 150;

/// The arguments of `cargo xtask vectors`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A folder of recorded runs (every *.jsonl in it, at any depth), or one such file
    dir: PathBuf,
    /// What the table runs on
    #[arg(long, value_enum, default_value_t = Runtime::All)]
    pub runtime: Runtime,
    /// A leasebook command that is built already; otherwise it is built first
    #[arg(long, value_name = "FILE")]
    pub leasebook: Option<PathBuf>,
    /// How many runs with differences are shown, each by its first
    #[arg(long, value_name = "N", default_value_t = 5)]
    show: usize,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

/// The name of the npm package as a runtime.
const JS: &str = "js";
/// The name of the transpiled component as one.
const JCO: &str = "jco";

/// What a table runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Runtime {
    /// Linked into the command
    Native,
    /// As a component under wasmtime
    Component,
    /// As the npm package, in Node
    Js,
    /// As the component transpiled to JavaScript by jco, in Node
    Jco,
    /// One after the other
    All,
}

impl Runtime {
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Native => &["native"],
            Self::Component => &["component"],
            Self::Js => &[JS],
            Self::Jco => &[JCO],
            Self::All => &["native", "component", JS, JCO],
        }
    }

    /// Does it take the `leasebook` command?
    pub fn takes_command(self) -> bool {
        !matches!(self, Self::Js | Self::Jco)
    }

    /// Does it take the npm package?
    pub fn takes_package(self) -> bool {
        matches!(self, Self::Js | Self::Jco | Self::All)
    }

    /// Does it take the transpiled component?
    pub fn takes_transpiled(self) -> bool {
        matches!(self, Self::Jco | Self::All)
    }
}

/// What the replay of a folder on one runtime came to.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// `native`, `component`, `js` or `jco`.
    pub runtime: &'static str,
    /// Files replayed.
    pub sequences: usize,
    /// Answers compared.
    pub operations: usize,
    /// Answers that differ.
    pub differences: usize,
    /// The first difference of each run that has one.
    pub first: Vec<Difference>,
}

/// An answer that differs from the recorded one.
#[derive(Debug, Serialize)]
pub struct Difference {
    /// The run.
    pub file: PathBuf,
    /// The line in it, from 1.
    pub line: usize,
    /// What was asked.
    pub operation: Value,
    /// What differs.
    pub fields: Vec<FieldDifference>,
    /// What the command said about the line, where it took it for a bad one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
}

/// Replays, prints, and answers with failure where anything differs.
pub fn run(arguments: &Arguments, table: &dyn Fn(&str) -> Command) -> Result<ExitCode> {
    let outcomes = replay(&arguments.dir, arguments.runtime, table)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&outcomes)?);
    } else {
        for outcome in &outcomes {
            print!("{}", told(outcome, arguments.show));
        }
    }
    let same = outcomes.iter().all(|outcome| outcome.differences == 0);
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where the runtimes are that were built.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The `leasebook` command.
    pub leasebook: PathBuf,
    /// The folder of the npm package.
    pub package: PathBuf,
    /// The folder of the transpiled component.
    pub transpiled: PathBuf,
}

/// The command that serves a table on one runtime.
pub fn table(places: &Places, runtime: &str) -> Command {
    let Places { leasebook, package, transpiled } = places;
    if runtime == JS || runtime == JCO {
        let mut node = Command::new("node");
        node.current_dir(package).arg("test/book.mjs");
        if runtime == JCO {
            node.arg(transpiled);
        }
        return node;
    }
    let mut command = Command::new(leasebook);
    command.args(["table", "--runtime", runtime]);
    command
}

/// Replays every run of a folder on the runtimes asked for; `table` is the command that serves one of them.
pub fn replay(dir: &Path, runtime: Runtime, table: &dyn Fn(&str) -> Command) -> Result<Vec<Outcome>> {
    let mut files = Vec::new();
    find(dir, &mut files).with_context(|| format!("look for recorded runs in {}", dir.display()))?;
    files.sort();
    ensure!(!files.is_empty(), "{}: there is no *.jsonl in it", dir.display());
    runtime.names().iter().map(|name| replay_on(name, &files, table(name))).collect()
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        if kind.is_dir() || path.extension().is_some_and(|extension| extension == "jsonl") {
            find(&path, files)?;
        }
    }
    Ok(())
}

fn replay_on(runtime: &'static str, files: &[PathBuf], table: Command) -> Result<Outcome> {
    let mut book = Book::start(table)?;
    let mut outcome = Outcome { runtime, sequences: 0, operations: 0, differences: 0, first: Vec::new() };
    for file in files {
        replay_file(file, &mut book, &mut outcome)?;
    }
    ensure!(outcome.operations > 0, "no line of {} runs has an answer to compare with", files.len());
    Ok(outcome)
}

fn replay_file(file: &Path, book: &mut Book, outcome: &mut Outcome) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let mut tokens = Tokens::default();
    let mut differed = false;
    outcome.sequences += 1;
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("{}:{}", file.display(), n + 1);
        let mut operation: Value = serde_json::from_str(line).with_context(at)?;
        let Some(fields) = operation.as_object_mut() else { bail!("{}: expected a JSON object", at()) };
        let recorded = fields.remove("answer");
        if let Some(Value::String(token)) = fields.get_mut("token") {
            *token = tokens.translated(token);
        }
        if n == 0 && operation["op"] != "new" {
            bail!("{}: expected a run to begin with the operation `new`", at());
        }
        let answered = book.ask(&operation).with_context(at)?;
        // A `new` has no recorded answer, but must have been understood.
        let expected = recorded.unwrap_or_else(|| json!({}));
        outcome.operations += usize::from(operation["op"] != "new");
        let mut found = compare(&expected, &answered, &mut tokens);
        if let Some(cycle) = found.cycle {
            let status = book.ask(&json!({"op": "status", "at-ms": operation["at-ms"]})).with_context(at)?;
            if !is_cycle(&cycle, operation["holder"].as_str().unwrap_or_default(), &status, &answered) {
                let (expected, answered) = (Some(expected["cycle"].clone()), Some(json!(cycle)));
                found.fields.push(FieldDifference { at: "cycle".to_owned(), expected, answered });
            }
        }
        let error = answered.get("error").cloned();
        if found.fields.is_empty() && error.is_none() {
            continue;
        }
        outcome.differences += 1;
        if !std::mem::replace(&mut differed, true) {
            let (file, line, fields) = (file.to_owned(), n + 1, found.fields);
            outcome.first.push(Difference { file, line, operation, fields, error });
        }
    }
    Ok(())
}

/// A running `leasebook table`.
struct Book {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Book {
    fn start(mut table: Command) -> Result<Self> {
        table.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = table.spawn().with_context(|| format!("start {}", table.get_program().display()))?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let output = BufReader::new(output.context("its output is a pipe")?);
        Ok(Self { process, input, output })
    }

    fn ask(&mut self, operation: &Value) -> Result<Value> {
        let mut answer = String::new();
        let input = self.input.as_mut().context("its input is a pipe")?;
        writeln!(input, "{operation}").context("the command has ended")?;
        self.output.read_line(&mut answer)?;
        ensure!(!answer.is_empty(), "the command ended without an answer");
        serde_json::from_str(&answer).with_context(|| format!("the answer is not JSON: {}", answer.trim_end()))
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        // The end of its input ends it; what it says then does not matter any more.
        drop(self.input.take());
        let _ = self.process.wait();
    }
}

pub fn told(outcome: &Outcome, show: usize) -> String {
    let Outcome { runtime, sequences, operations, differences, first } = outcome;
    let mut text = format!("{runtime}: {sequences} sequences, {operations} operations, {differences} differences\n");
    for Difference { file, line, operation, fields, error } in first.iter().take(show) {
        text += &format!("\n  {}:{line}\n  {}\n", file.display(), shown(operation));
        let value = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), shown);
        for FieldDifference { at, expected, answered } in fields {
            text += &format!("    {at}\n      expected  {}\n      answered  {}\n", value(expected), value(answered));
        }
        if let Some(error) = error {
            text += &format!("    taken for a bad line: {}\n", shown(error));
        }
    }
    if first.len() > show {
        text += &format!("\n  and {} more runs differ\n", first.len() - show);
    }
    text
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In place of `leasebook`: answers what the script says, line by line.
    fn sh(script: &str) -> impl Fn(&str) -> Command {
        let loop_ = format!("while read -r line; do case \"$line\" in\n{script}\nesac; done");
        move |_| {
            let mut command = Command::new("sh");
            command.args(["-c", &loop_]);
            command
        }
    }

    const RUN: &str = r#"{"op":"new","at-ms":1}
{"op":"pin","at-ms":1,"holder":"a","paths":["/a"],"answer":{"pinned":true,"token":"pin-1"}}
{"op":"unpin","at-ms":1,"token":"pin-1","answer":{"found":true}}
"#;

    fn outcome(script: &str) -> Outcome {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("runs")).unwrap();
        fs::write(dir.path().join("runs/one.jsonl"), RUN).unwrap();
        fs::write(dir.path().join("README.md"), "no run").unwrap();
        let mut all = replay(dir.path(), Runtime::Native, &sh(script)).unwrap();
        all.pop().unwrap()
    }

    #[test]
    fn tokens_of_later_operations_are_those_that_were_answered() {
        let same = outcome(
            r#"*'"new"'*) echo '{}';;
               *'"pin"'*) echo '{"pinned":true,"token":"mine"}';;
               *'"mine"'*) echo '{"found":true}';;
               *) echo '{"found":false}';;"#,
        );
        assert_eq!((same.sequences, same.operations, same.differences), (1, 2, 0));
        assert_eq!(told(&same, 5), "native: 1 sequences, 2 operations, 0 differences\n");
    }

    #[test]
    fn what_differs_is_counted_and_the_first_of_a_run_is_told() {
        let other =
            outcome(r#"*'"new"'*) echo '{}';; *'"pin"'*) echo '{"pinned":false}';; *) echo '{"found":false}';;"#);
        assert_eq!((other.sequences, other.operations, other.differences), (1, 2, 2));
        let told = told(&other, 5);
        assert!(told.contains("runs/one.jsonl:2\n"), "{told}");
        assert!(told.contains("    token\n      expected  \"pin-1\"\n      answered  nothing\n"), "{told}");
        assert!(!told.contains("one.jsonl:3"), "{told}");
    }

    #[test]
    fn a_bad_line_is_a_difference_also_where_nothing_was_recorded() {
        let bad = outcome(r#"*) echo '{"error":{"line":1,"field":"op","reason":"?"}}';;"#);
        assert_eq!(bad.differences, 3);
        assert!(told(&bad, 1).contains("taken for a bad line"));
    }

    #[test]
    fn nothing_to_compare_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let silent = sh("*) exit 1;;");
        let none = replay(dir.path(), Runtime::All, &silent).unwrap_err();
        assert!(none.to_string().contains("there is no *.jsonl in it"), "{none}");
        assert!(replay(&dir.path().join("missing"), Runtime::All, &silent).is_err());

        fs::write(dir.path().join("run.jsonl"), "{\"op\":\"ready\",\"answer\":{}}\n").unwrap();
        let late = replay(dir.path(), Runtime::Native, &silent).unwrap_err();
        assert!(format!("{late:#}").contains("run.jsonl:1: expected a run to begin"), "{late:#}");
        fs::write(dir.path().join("run.jsonl"), RUN).unwrap();
        let ended = replay(dir.path(), Runtime::Native, &silent).unwrap_err();
        assert!(format!("{ended:#}").contains("run.jsonl:1: the command ended"), "{ended:#}");
    }
}
