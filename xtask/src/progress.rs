//! Progress lines: one a step, with its duration.
//!
//! On a terminal a spinner shows what runs now and the last line of its output; elsewhere the step's name is printed
//! when it begins and its outcome on the same line when it ends, so that a log that stops in the middle names the step
//! that was running. Everything goes to standard error; standard output belongs to results.

use std::fmt;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

/// How wide the name column of plain lines is; longer names only push the duration to the right.
const NAME_WIDTH: usize = 58;

/// A step that runs now.
#[derive(Debug)]
pub struct Step {
    name: String,
    started: Instant,
    spinner: Option<ProgressBar>,
}

impl Step {
    /// Begins a step and shows it.
    pub fn begin(name: impl Into<String>) -> Self {
        let name = name.into();
        let spinner = is_watched().then(|| {
            let style = ProgressStyle::with_template("  {spinner} {prefix} {elapsed:.dim} {wide_msg:.dim}")
                .expect("the template is a constant");
            let spinner = ProgressBar::new_spinner().with_style(style).with_prefix(name.clone());
            spinner.enable_steady_tick(Duration::from_millis(120));
            spinner
        });
        if spinner.is_none() {
            eprint!("  {name:NAME_WIDTH$} ");
            // A log that cannot be written to is not worth failing a build for.
            let _ = std::io::stderr().flush();
        }
        Step { name, started: Instant::now(), spinner }
    }

    /// Shows the latest line of output of what the step runs; only a terminal shows it.
    pub fn says(&self, line: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(line.trim().to_owned());
        }
    }

    /// Ends the step with a word for its outcome and answers how long it took.
    pub fn end(self, outcome: impl fmt::Display) -> Duration {
        let elapsed = self.started.elapsed();
        match self.spinner {
            Some(spinner) => {
                spinner.finish_and_clear();
                eprintln!("  {:NAME_WIDTH$} {outcome} {}", self.name, Seconds(elapsed));
            }
            None => eprintln!("{outcome} {}", Seconds(elapsed)),
        }
        elapsed
    }
}

/// Whether a person sees standard error as it is written. Where builds run unattended the variable `CI` is set, and a
/// terminal there is only a log.
fn is_watched() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none_or(|ci| ci.is_empty())
}

/// Runs `work` as a step: `ok` or `failed`, and how long it took.
pub fn step<T>(name: impl Into<String>, work: impl FnOnce(&Step) -> Result<T>) -> Result<T> {
    let step = Step::begin(name);
    let result = work(&step);
    step.end(if result.is_ok() { "ok    " } else { "failed" });
    result
}

/// A duration as people read it: tenths of a second, minutes above one minute.
#[derive(Debug, Clone, Copy)]
pub struct Seconds(pub Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        if seconds < 60.0 {
            write!(f, "{seconds:6.1} s")
        } else {
            write!(f, "{:3} min {:02} s", self.0.as_secs() / 60, self.0.as_secs() % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_in_seconds_below_a_minute_and_in_minutes_above() {
        let shown = |ms| Seconds(Duration::from_millis(ms)).to_string().trim().to_owned();
        assert_eq!(shown(49), "0.0 s");
        assert_eq!(shown(1_250), "1.2 s");
        assert_eq!(shown(59_900), "59.9 s");
        assert_eq!(shown(60_000), "1 min 00 s");
        assert_eq!(shown(754_000), "12 min 34 s");
    }
}
