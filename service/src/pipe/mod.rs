//! `leasebook table`: a lease book that any program can drive over a pipe, one line of JSON in, one out.

mod help;
mod lines;

use crate::book::{BadLine, Book, Fault, RuntimeName};
use crate::exit::Exit;
use crate::stderr;
use leasebook::limits::{LEASES_MAX, PINS_MAX, TTL_MS_DEFAULT, WAITERS_MAX, WISHES_MAX};
use leasebook::{Fairness, Limits, Options};
use lines::{LINE_BYTES_MAX, Line, Lines};
use serde::Serialize;
use std::io::{self, BufRead, IsTerminal, Write};

/// The arguments of `leasebook table`.
#[derive(clap::Args, Debug)]
#[command(after_help = help::short(), after_long_help = help::long())]
pub struct Arguments {
    /// What the table runs on
    #[arg(long, value_enum, default_value_t = RuntimeName::Native)]
    runtime: RuntimeName,
    /// Who is served first
    #[arg(long, value_enum, default_value_t = FairnessName::Barge)]
    fairness: FairnessName,
    /// The ttl of a lease whose caller names none, in milliseconds: 1 to 86400000
    #[arg(long, value_name = "N", default_value_t = TTL_MS_DEFAULT)]
    default_ttl_ms: u64,
    /// How many events are kept for the operation `events`; older ones are dropped
    #[arg(long, value_name = "N", default_value_t = 1024)]
    events: usize,
    /// Add to each answer the records that it changed, as `changed`, for `restore`
    #[arg(long)]
    journal: bool,
    /// The most leases of the table
    #[arg(long, value_name = "N", default_value_t = LEASES_MAX, help_heading = "Bounds")]
    leases_max: usize,
    /// The most waiters of the table
    #[arg(long, value_name = "N", default_value_t = WAITERS_MAX, help_heading = "Bounds")]
    waiters_max: usize,
    /// The most wishes of all waiters together
    #[arg(long, value_name = "N", default_value_t = WISHES_MAX, help_heading = "Bounds")]
    wishes_max: usize,
    /// The most pins of the table
    #[arg(long, value_name = "N", default_value_t = PINS_MAX, help_heading = "Bounds")]
    pins_max: usize,
    /// The most leases of one holder
    #[arg(long, value_name = "N", default_value_t = LEASES_MAX, help_heading = "Bounds")]
    leases_per_holder_max: usize,
    /// The most waiters of one holder
    #[arg(long, value_name = "N", default_value_t = WAITERS_MAX, help_heading = "Bounds")]
    waiters_per_holder_max: usize,
    /// The most pins of one holder
    #[arg(long, value_name = "N", default_value_t = PINS_MAX, help_heading = "Bounds")]
    pins_per_holder_max: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FairnessName {
    /// The attempt that lands first
    Barge,
    /// The waiter that came first, and nobody before it where both cannot have what they want
    Fifo,
}

impl Arguments {
    fn options(&self) -> Options {
        Options {
            default_ttl_ms: self.default_ttl_ms,
            fairness: match self.fairness {
                FairnessName::Barge => Fairness::Barge,
                FairnessName::Fifo => Fairness::Fifo,
            },
            limits: Limits {
                leases: self.leases_max,
                waiters: self.waiters_max,
                wishes: self.wishes_max,
                pins: self.pins_max,
                leases_per_holder: self.leases_per_holder_max,
                waiters_per_holder: self.waiters_per_holder_max,
                pins_per_holder: self.pins_per_holder_max,
            },
            events: self.events,
            journal: self.journal,
            ..Options::default()
        }
    }
}

/// Serves the standard input to its end.
pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let mut book = match Book::new(arguments.runtime, arguments.options()) {
        Ok(book) => book,
        Err(Fault::Bad(BadLine { field, reason })) => {
            stderr::say(format_args!("error: {}: {reason}", field.as_deref().unwrap_or("options")));
            return Ok(Exit::Usage);
        }
        Err(Fault::Runtime(error)) => {
            stderr::say(format_args!("error: starting the table: {error:#}"));
            return Ok(Exit::Runtime);
        }
    };
    if io::stdin().is_terminal() {
        stderr::say(help::ON_A_TERMINAL);
    }
    let mut good = Exit::Success;
    match serve(&mut book, io::stdin().lock(), io::stdout().lock(), &mut good) {
        Ok(exit) => Ok(exit),
        // Whoever read the answers has what was wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(good),
        Err(error) => Err(error.into()),
    }
}

/// Answers line after line. `so_far` is how a run ends that ends here.
fn serve(book: &mut Book, input: impl BufRead, mut output: impl Write, so_far: &mut Exit) -> io::Result<Exit> {
    let mut lines = Lines::new(input, LINE_BYTES_MAX);
    let mut out = Vec::new();
    loop {
        out.clear();
        let answered = match lines.next()? {
            Line::End => return Ok(*so_far),
            Line::TooLong => Err(BadLine::whole(format!("longer than {LINE_BYTES_MAX} bytes")).into()),
            Line::Bytes(line) if line.trim_ascii().is_empty() => continue,
            Line::Bytes(line) => book.line(line).and_then(|answer| Ok(book.write(&answer, &mut out)?)),
        };
        let (error, over) = match answered {
            Ok(()) => (None, false),
            Err(Fault::Bad(bad)) => (Some(bad), false),
            Err(Fault::Runtime(error)) => (Some(BadLine::whole(format!("{error:#}; the book is lost"))), true),
        };
        if let Some(BadLine { field, reason }) = &error {
            out.clear();
            let error = ErrorSaid { line: lines.number(), field: field.as_deref(), reason };
            serde_json::to_writer(&mut out, &ErrorLine { error })?;
            *so_far = Exit::BadLine;
        }
        out.push(b'\n');
        output.write_all(&out)?;
        output.flush()?;
        if over {
            return Ok(Exit::Runtime);
        }
    }
}

#[derive(Serialize)]
struct ErrorLine<'a> {
    error: ErrorSaid<'a>,
}

#[derive(Serialize)]
struct ErrorSaid<'a> {
    line: u64,
    field: Option<&'a str>,
    reason: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_that_fails_ends_the_book_with_a_line_that_says_so() {
        let mut book = crate::book::tests::broken();
        let input = &b"?\n{\"op\":\"ready\"}\n{\"op\":\"ready\"}\n"[..];
        let (mut output, mut so_far) = (Vec::new(), Exit::Success);
        let exit = serve(&mut book, input, &mut output, &mut so_far).unwrap();
        assert_eq!(exit, Exit::Runtime);
        let output = String::from_utf8(output).unwrap();
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(lines.len(), 2, "{output}");
        let said = r#"{"error":{"line":2,"field":null,"reason":"the lease table is poisoned; the book is lost"}}"#;
        assert_eq!(lines[1], said);
    }
}
