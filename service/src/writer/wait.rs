//! Tries to acquire until it succeeds, or the time is up.
//!
//! Of writers that try at the same moment all may refuse each other, so that each waits a random time before it comes
//! again.

use super::said;
use super::signals::Signals;
use super::words::shown;
use indicatif::{ProgressBar, ProgressStyle};
use leasebook_files::marker::{Code, Failure, MarkerRecord};
use leasebook_files::{Acquisition, WriterLease, WriterLeaseStore};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::{Duration, Instant};

/// The first pause is at most this long: a few attempts of another writer.
const PAUSE_FIRST: Duration = Duration::from_millis(10);
/// No pause is longer, so that a lease that becomes free is not left lying.
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// How often the line on a terminal moves.
const TICK: Duration = Duration::from_millis(120);

/// What came of it.
pub enum Got {
    Lease(Box<WriterLease>),
    /// By these markers.
    Busy(Vec<MarkerRecord>),
    /// By the legacy marker at this path.
    Legacy(String),
    /// This signal came first.
    Signal(i32),
}

/// Tries once, or for as long as is said.
pub fn acquire(
    store: &WriterLeaseStore,
    destination: &Path,
    wait: Option<Duration>,
    signals: &Signals,
) -> Result<Got, Failure> {
    let begun = Instant::now();
    let mut progress = None;
    let mut pause_max = PAUSE_FIRST;
    loop {
        let in_the_way = match store.acquire(destination, Some(signals.cancel())) {
            Ok(Acquisition::Acquired(lease)) => return Ok(Got::Lease(Box::new(lease))),
            Ok(Acquisition::Busy { owners }) => Got::Busy(owners),
            Ok(Acquisition::Legacy { path, .. }) => Got::Legacy(path),
            Err(failure) if failure.code == Code::Cancelled && failure.left.is_none() => {
                return signals.came().map(Got::Signal).ok_or(failure);
            }
            Err(failure) => return Err(failure),
        };
        let left = wait.unwrap_or_default().saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Ok(in_the_way);
        }
        let line = progress.get_or_insert_with(|| Line::new(wait.unwrap_or_default()));
        line.say(&in_the_way);
        let pause = pause_max.mul_f64(0.5 + fastrand::f64() / 2.0).min(left);
        if let Some(number) = signals.sleep(pause) {
            return Ok(Got::Signal(number));
        }
        pause_max = (pause_max * 2).min(PAUSE_MAX);
    }
}

/// A line on a terminal that says who is waited for. It goes away with its value.
struct Line(Option<ProgressBar>);

impl Line {
    fn new(wait: Duration) -> Self {
        // Where builds run unattended a terminal is only a log.
        let watched = io::stderr().is_terminal() && std::env::var_os("CI").is_none_or(|ci| ci.is_empty());
        Self(watched.then(|| {
            let template = format!("{{spinner}} {{elapsed}} of {} s: {{wide_msg}}", wait.as_secs_f64());
            let style = ProgressStyle::with_template(&template).expect("the template is a constant with a number");
            let bar = ProgressBar::new_spinner().with_style(style);
            bar.enable_steady_tick(TICK);
            bar
        }))
    }

    fn say(&self, got: &Got) {
        let Some(bar) = &self.0 else { return };
        bar.set_message(match got {
            Got::Busy(owners) => match owners.split_first() {
                Some((first, [])) => format!("waiting for {}", said::owner(first)),
                Some((first, more)) => format!("waiting for {} and {} more", said::owner(first), more.len()),
                None => String::new(),
            },
            Got::Legacy(path) => format!("waiting for another program: {}", shown(path)),
            Got::Lease(_) | Got::Signal(_) => String::new(),
        });
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
