//! The `leasebook` command as its users meet it: arguments, standard streams and exit codes.

mod bad_lines;
#[cfg(unix)]
mod crash;
mod demo;
mod exit_codes;
mod pipe;
#[cfg(unix)]
mod remote;
mod runtimes;
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod writer;

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

const RUNTIMES: [&str; 2] = ["native", "component"];

/// How a run ended, and what it said.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Run {
    /// The output, each line read as JSON.
    fn answers(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"))).collect()
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leasebook"));
    command.args(arguments).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    with_default_signals(command)
}

/// A command that begins with no signal ignored, however these tests were started: a shell has what it runs in the
/// background ignore some.
#[cfg(unix)]
fn with_default_signals(mut command: Command) -> Command {
    use std::os::unix::process::CommandExt;
    // SAFETY: system calls alone, between fork and exec.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2] {
                if libc::signal(signal, libc::SIG_DFL) == libc::SIG_ERR {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    command
}

#[cfg(not(unix))]
fn with_default_signals(command: Command) -> Command {
    command
}

/// Runs the command with some input to its end.
fn run(arguments: &[&str], input: impl AsRef<[u8]>) -> Run {
    let mut command = command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    // A command that ends early reads no more.
    let _ = writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

/// Whether a test can be run that needs something of the machine. It fails where that is missing, unless
/// `LEASEBOOK_WITHOUT` names it, in a list with commas.
#[cfg(target_os = "linux")]
fn has(what: &str, there: bool) -> bool {
    let without = std::env::var("LEASEBOOK_WITHOUT").unwrap_or_default();
    assert!(there || without.split(',').any(|name| name == what), "{what} is missing: set LEASEBOOK_WITHOUT={what}");
    if !there {
        println!("not tested: there is no {what}");
    }
    there
}

/// `leasebook table` with some arguments, on lines.
fn table(arguments: &[&str], lines: &[&str]) -> Run {
    run(&[&["table"], arguments].concat(), lines.join("\n") + "\n")
}
