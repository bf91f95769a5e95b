//! Writer leases on the command line, with real processes.

mod escaped;
mod holding;
mod looking;
mod lost;
mod nested;
mod signals;
#[cfg(target_os = "linux")]
mod terminal;
mod unheard;
mod waiting;

use super::command;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Where markers are unless another name is given.
const MARKERS: &str = ".leasebook-writers";

/// A script that says that it runs, and goes on until its input ends.
const HOLDS: &str = "echo runs; cat > /dev/null";

/// `leasebook run` at work, with a shell script below it.
struct Writer {
    process: Child,
    stdin: Option<ChildStdin>,
    says: BufReader<ChildStdout>,
}

impl Writer {
    fn spawn(root: &Path, options: &[&str], script: &str) -> Self {
        let mut command = command(&[&["run", root.to_str().unwrap()], options, &["--", "sh", "-c", script]].concat());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let says = BufReader::new(process.stdout.take().unwrap());
        let stdin = process.stdin.take();
        Self { process, stdin, says }
    }

    /// One that holds a directory already.
    fn holding(root: &Path) -> Self {
        let mut writer = Self::spawn(root, &[], HOLDS);
        writer.expect("runs");
        writer
    }

    fn pid(&self) -> u32 {
        self.process.id()
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn expect(&mut self, line: &str) {
        let heard = self.hear();
        if heard != line {
            panic!("heard {heard:?} instead of {line:?}; {:?}", self.end());
        }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.process), signal).unwrap();
    }

    /// Ends its input, and answers its exit code and the rest of what it said on both streams.
    fn end(&mut self) -> (i32, String, String) {
        drop(self.stdin.take());
        let (mut out, mut err) = (String::new(), String::new());
        self.says.read_to_string(&mut out).unwrap();
        self.process.stderr.as_mut().unwrap().read_to_string(&mut err).unwrap();
        (self.process.wait().unwrap().code().unwrap(), out, err)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The markers in a directory.
fn markers(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root.join(MARKERS)) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}
