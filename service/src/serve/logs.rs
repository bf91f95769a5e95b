//! The log of a service.

use std::io::{self, IsTerminal as _};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// How the log looks.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Logs to standard error from now on.
pub fn start(format: Option<Format>, filter: &str) -> Result<(), ParseError> {
    let terminal = io::stderr().is_terminal();
    let filter = EnvFilter::builder().parse(filter)?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).with_target(false);
    match format.unwrap_or(if terminal { Format::Text } else { Format::Json }) {
        Format::Text => log.with_ansi(terminal).compact().init(),
        Format::Json => log.json().flatten_event(true).init(),
    }
    Ok(())
}
