//! Child processes: run, watched, and explained when they fail.
//!
//! Children get no standard input: nothing here may wait for a person. Their output is collected and shown only when
//! they fail, except where a command hands its terminal over (`shown`).

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::progress::Step;

/// How many lines of a failed child's output an error repeats.
pub const TAIL_LINES: usize = 25;

/// How long after its end a child's output is still waited for: a grandchild may keep the pipe open for ever.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// What a child that succeeded wrote.
#[derive(Debug)]
pub struct Output {
    /// Standard output alone.
    pub stdout: String,
}

/// A child that could not be started, failed, or took too long.
#[derive(Debug)]
pub struct Failed {
    /// The command line.
    pub command: String,
    /// Why, in one line.
    pub why: String,
    /// Everything it wrote, both streams in the order they arrived.
    pub output: String,
}

impl Failed {
    /// The last lines of what the child wrote.
    pub fn tail(&self) -> String {
        tail(&self.output, TAIL_LINES)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.command, self.why)?;
        let tail = self.tail();
        if !tail.is_empty() {
            write!(f, "\n{tail}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Failed {}

/// Runs a command quietly; its latest line shows in `step`.
pub fn quiet(command: &mut Command, step: &Step) -> Result<Output, Failed> {
    run(command, None, Some(step))
}

/// Runs a command quietly and kills it after `timeout`.
pub fn quiet_within(command: &mut Command, timeout: Duration, step: &Step) -> Result<Output, Failed> {
    run(command, Some(timeout), Some(step))
}

/// Runs a short question (`rustc --version`) and answers its standard output.
pub fn ask(command: &mut Command) -> Result<String, Failed> {
    run(command, None, None).map(|output| output.stdout)
}

/// Runs a command on the caller's own terminal and streams; answers whether it succeeded.
pub fn shown(command: &mut Command) -> Result<ExitStatus, Failed> {
    command.status().map_err(|error| not_started(command, &error))
}

fn run(command: &mut Command, timeout: Option<Duration>, step: Option<&Step>) -> Result<Output, Failed> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| not_started(command, &error))?;
    let deadline = timeout.map(|timeout| Instant::now() + timeout);
    let (mut stdout, mut both) = (String::new(), String::new());
    let timed_out = collect(&mut child, deadline, |is_stdout, line| {
        both.push_str(line);
        if is_stdout {
            stdout.push_str(line);
        }
        if let Some(step) = step {
            step.says(line);
        }
    });
    if timed_out {
        // The child may have ended between the deadline and here; then there is nothing to kill.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| failed(command, format!("could not be awaited: {error}"), &both))?;
    match timeout {
        Some(timeout) if timed_out => {
            Err(failed(command, format!("was stopped after {} s without an end", timeout.as_secs()), &both))
        }
        _ if status.success() => Ok(Output { stdout }),
        _ => Err(failed(command, ended(status), &both)),
    }
}

/// Hands every line of both streams to `line` until the child has ended; answers whether the deadline came first.
fn collect(child: &mut Child, deadline: Option<Instant>, mut line: impl FnMut(bool, &str)) -> bool {
    let (sender, lines) = mpsc::channel();
    let pipes: [(bool, Option<Box<dyn Read + Send>>); 2] =
        [(true, child.stdout.take().map(|p| Box::new(p) as _)), (false, child.stderr.take().map(|p| Box::new(p) as _))];
    for (is_stdout, pipe) in pipes {
        let (Some(pipe), sender) = (pipe, sender.clone()) else { continue };
        // Not joined: the thread ends with its pipe, which a stray grandchild can keep open.
        std::thread::spawn(move || {
            let mut reader = BufReader::new(pipe);
            let mut bytes = Vec::new();
            while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
                if sender.send((is_stdout, String::from_utf8_lossy(&bytes).into_owned())).is_err() {
                    return;
                }
                bytes.clear();
            }
        });
    }
    drop(sender);
    let mut drain_until: Option<Instant> = None;
    loop {
        match lines.recv_timeout(Duration::from_millis(50)) {
            Ok((is_stdout, text)) => line(is_stdout, &text),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = Instant::now();
        if drain_until.is_none() && matches!(child.try_wait(), Ok(Some(_))) {
            drain_until = Some(now + DRAIN_MAX);
        }
        if drain_until.is_some_and(|until| now >= until) {
            return false;
        }
        if drain_until.is_none() && deadline.is_some_and(|deadline| now >= deadline) {
            return true;
        }
    }
    // Both streams are closed; a child that lives on after that is still bound by its deadline.
    loop {
        match child.try_wait() {
            Ok(None) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => return true,
            Ok(None) if deadline.is_some() => std::thread::sleep(Duration::from_millis(20)),
            _ => return false,
        }
    }
}

fn not_started(command: &Command, error: &std::io::Error) -> Failed {
    failed(command, format!("could not be started: {error}"), "")
}

fn failed(command: &Command, why: String, output: &str) -> Failed {
    Failed { command: line_of(command), why, output: output.to_owned() }
}

/// How a child ended, as the end of a sentence.
pub fn ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => format!("was ended by a signal ({status})"),
    }
}

/// The command line as a person would type it.
pub fn line_of(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    let arguments = command.get_args().map(|argument| {
        let argument = argument.to_string_lossy();
        if argument.is_empty() || argument.contains([' ', '\'', '"', '$']) {
            format!("'{argument}'")
        } else {
            argument.into_owned()
        }
    });
    std::iter::once(name).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// The last `count` lines of `text`, indented, without empty lines at the end.
pub fn tail(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(count);
    lines[from..].iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_lines_without_the_blank_end() {
        assert_eq!(tail("a\nb\nc\n\n", 2), "    b\n    c");
        assert_eq!(tail("a", 9), "    a");
        assert_eq!(tail("", 9), "");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = ask(&mut Command::new("leasebook-no-such-program")).unwrap_err();
        assert_eq!(error.command, "leasebook-no-such-program");
        assert!(error.why.starts_with("could not be started"), "{}", error.why);
    }

    #[cfg(unix)]
    #[test]
    fn a_failure_carries_both_streams_and_the_code() {
        let error = ask(Command::new("sh").args(["-c", "echo one; echo two >&2; exit 3"])).unwrap_err();
        assert_eq!(error.why, "ended with exit code 3");
        assert!(error.output.contains("one\n") && error.output.contains("two\n"), "{}", error.output);
    }

    #[cfg(unix)]
    #[test]
    fn a_child_that_hangs_is_stopped() {
        let step = Step::begin("a child that hangs");
        let error = quiet_within(Command::new("sh").args(["-c", "exec sleep 600"]), Duration::from_millis(50), &step)
            .unwrap_err();
        assert!(error.why.starts_with("was stopped"), "{}", error.why);
    }

    #[cfg(unix)]
    #[test]
    fn a_child_that_closes_its_streams_and_hangs_is_stopped() {
        let step = Step::begin("a child that hangs silently");
        let mut command = Command::new("sh");
        command.args(["-c", "exec sleep 600 >/dev/null 2>&1"]);
        let error = quiet_within(&mut command, Duration::from_millis(50), &step).unwrap_err();
        assert!(error.why.starts_with("was stopped"), "{}", error.why);
    }
}
