//! Child processes: this binary again, told by its environment to play a part. They say and hear lines.

use super::{MARKERS, store};
use leasebook_files::marker::Released;
use leasebook_files::{Acquisition, WriterLease};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{self, Command, Stdio};

/// Which part a child plays; without it, this is no child.
const PART: &str = "LEASEBOOK_FILES_PART";
/// What the part is about.
const ARGUMENT: &str = "LEASEBOOK_FILES_ARGUMENT";
/// How a line begins that a child says. Others are of the test harness.
const SAID: &str = "> ";

/// A child at work. It is killed where it is dropped.
pub struct Child {
    process: process::Child,
    says: BufReader<process::ChildStderr>,
}

impl Child {
    pub fn spawn(part: &str, argument: impl AsRef<Path>) -> Self {
        Self::spawn_by(command(part, argument))
    }

    pub fn spawn_by(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let says = BufReader::new(process.stderr.take().unwrap());
        Self { process, says }
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The next line that it says; `None` at its end.
    pub fn hear(&mut self) -> Option<String> {
        let mut others = String::new();
        loop {
            let mut line = String::new();
            if self.says.read_line(&mut line).unwrap() == 0 {
                assert!(!others.contains("panicked"), "{others}");
                return None;
            }
            if let Some(said) = line.strip_prefix(SAID) {
                return Some(said.trim_end().to_owned());
            }
            others += &line;
        }
    }

    pub fn expect(&mut self, said: &str) {
        assert_eq!(self.hear().as_deref(), Some(said));
    }

    pub fn tell(&mut self, line: &str) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Ends it by SIGKILL, and waits until it is gone.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Ends it by SIGKILL and does not wait: it stays a zombie until it is dropped.
    pub fn kill_unreaped(&mut self) {
        self.process.kill().unwrap();
    }

    /// Waits for its own end.
    pub fn ended(mut self) -> process::ExitStatus {
        drop(self.process.stdin.take());
        while self.hear().is_some() {}
        self.process.wait().unwrap()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// This binary as a child, to be changed before it is spawned.
pub fn command(part: &str, argument: impl AsRef<Path>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    told(&mut command, part, argument.as_ref());
    command
}

/// This binary as a child of another program, which is given it as its last arguments.
pub fn command_below(program: &str, arguments: &[&str], part: &str, argument: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).arg(std::env::current_exe().unwrap());
    told(&mut command, part, argument.as_ref());
    command
}

fn told(command: &mut Command, part: &str, argument: &Path) {
    // Whatever options this run was given, such a child runs one test in one thread.
    command.args(["--exact", "child::plays_its_part", "--nocapture", "--test-threads=1"]);
    command.env(PART, part).env(ARGUMENT, argument);
}

pub fn say(line: impl std::fmt::Display) {
    eprintln!("{SAID}{line}");
}

/// The next line that a child is told; `None` where nobody tells it any more.
pub fn hear() -> Option<String> {
    let mut line = String::new();
    (io::stdin().read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
}

/// Says whether a lease was acquired.
pub fn attempt(root: &Path) -> Option<WriterLease> {
    match store().acquire(root, None) {
        Ok(Acquisition::Acquired(lease)) => {
            say("acquired");
            Some(lease)
        }
        Ok(other) => {
            say(format_args!("{}", format!("{other:?}").split([' ', '(']).next().unwrap().to_lowercase()));
            None
        }
        Err(failure) => {
            say(format_args!("{} {}", failure.step, failure.code.name()));
            None
        }
    }
}

/// Not a test of its own: what children run.
#[test]
fn plays_its_part() {
    let Ok(part) = std::env::var(PART) else { return };
    let argument = std::env::var_os(ARGUMENT).unwrap();
    let root = Path::new(&argument);
    match part.as_str() {
        "hold" => hold(root),
        "constructs" => super::constructed::constructs(root),
        "crowd" => super::crowd::part(root),
        "dies" => super::dies::part(root),
        "few-files" => super::exhausted::few_files(root),
        "full" => super::exhausted::full(root),
        "drops" => super::released::drops(root),
        "no-inodes" => super::exhausted::no_inodes(root),
        "read-only" => super::exhausted::read_only(root),
        "whole" => super::killed_anywhere::part(root),
        "who" => say(leasebook_files::identity().unwrap()),
        _ => panic!("no part {part} in {MARKERS}"),
    }
}

/// Acquires, and does what it is told until nobody tells it any more.
fn hold(root: &Path) {
    let mut lease = attempt(root);
    while let Some(told) = hear() {
        match told.as_str() {
            "acquire" => lease = attempt(root),
            "release" => match lease.as_ref().unwrap().release() {
                Ok(Released::Released) => say("released"),
                Ok(Released::Lost) => say("lost"),
                Err(failure) => say(failure.code.name()),
            },
            "drop" => drop(lease.take()),
            other => panic!("not understood: {other}"),
        }
        if told == "drop" {
            say("dropped");
        }
    }
}
