//! The second part: two commands write to one folder, each under `leasebook run`.
//!
//! Real processes and real markers, in a folder of their own that goes away. One is killed, as it happens.

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The folder that is written to, as the commands name it.
const DESTINATION: &str = "archive";
/// Who writes first, and is killed.
pub const NIGHTLY: &str = "nightly";
/// Who comes meanwhile.
pub const EXPORT: &str = "export-now";

/// One command, and how it ended.
#[derive(Debug, Serialize)]
pub struct Turn {
    /// What it shows; the same for turns that belong together.
    pub scene: &'static str,
    /// Who runs it.
    pub who: &'static str,
    /// The command.
    pub command: String,
    /// How it ended, in a few words.
    pub ended: String,
    /// Its exit code, where it has one.
    pub code: Option<i32>,
    /// What it said on standard error, its first line.
    pub said: String,
}

/// Plays it.
pub fn play() -> Result<Vec<Turn>> {
    let folder = tempfile::tempdir().context("make a folder")?;
    fs::create_dir(folder.path().join(DESTINATION)).context("make a folder")?;
    let held = "one writer at a time";
    let mut turns = Vec::new();

    let mut nightly = Holder::start(folder.path())?;
    let pid = nightly.child.id();
    let ended = format!("runs as process {pid}");
    let command = format!("leasebook run {DESTINATION} -- cat");
    turns.push(Turn { scene: held, who: NIGHTLY, command, ended, code: None, said: String::new() });
    turns.push(export(held, folder.path(), "")?);

    let died = "a writer is killed";
    nightly.kill()?;
    let (command, ended) = (format!("kill -9 {pid}"), "its marker is left".to_owned());
    turns.push(Turn { scene: died, who: NIGHTLY, command, ended, code: None, said: String::new() });
    turns.push(export(died, folder.path(), ": recovered and ran")?);
    Ok(turns)
}

/// Runs a command that wants to write, too.
fn export(scene: &'static str, folder: &Path, where_it_ran: &str) -> Result<Turn> {
    let output = leasebook(folder, "true")?.output().context("run `leasebook run`")?;
    let said = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    let code = output.status.code();
    let mut ended = code.map_or("killed".to_owned(), |code| format!("exit code {code}"));
    if code == Some(0) {
        ended += where_it_ran;
    }
    Ok(Turn { scene, who: EXPORT, command: format!("leasebook run {DESTINATION} -- true"), ended, code, said })
}

/// This program again, as `leasebook run`.
fn leasebook(folder: &Path, command: &str) -> Result<Command> {
    let mut run = Command::new(std::env::current_exe().context("find this program")?);
    run.current_dir(folder).args(["run", DESTINATION, "--", command]);
    Ok(run)
}

/// A writer that holds its lease until it is killed.
struct Holder {
    child: Child,
}

impl Holder {
    /// Answers once it writes: `cat` gives back what it is given, and runs under the lease.
    fn start(folder: &Path) -> Result<Self> {
        let mut run = leasebook(folder, "cat")?;
        let mut child = run.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("run `leasebook run`")?;
        let (input, output) =
            (child.stdin.as_mut().context("its input")?, child.stdout.as_mut().context("its output")?);
        input.write_all(b"\n").context("write to it")?;
        let heard = BufReader::new(output).read_line(&mut String::new()).context("hear from it")?;
        ensure!(heard > 0, "`leasebook run` ended before its command began");
        Ok(Self { child })
    }

    fn kill(&mut self) -> Result<()> {
        self.child.kill().context("kill it")?;
        self.child.wait().context("wait for its end")?;
        Ok(())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        // It is gone already unless something failed.
        let _ = self.kill();
    }
}
