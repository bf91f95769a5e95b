//! `leasebook lease`, `release`, `wait`, `status` and `mcp`: what a running service is asked.
//!
//! Nothing is decided here: the service answers, and these commands say what.

mod lease;
mod look;

use crate::exit::Exit;
use crate::stderr;
use anyhow::Context as _;
use leasebook_server::client::{Answered, Client, ClientError};
use leasebook_server::mcp;
use serde_json::Value;
use std::io::{self, Write as _};
use std::path::PathBuf;

pub use lease::{LeaseArguments, ReleaseArguments, lease, release};
pub use look::{StatusArguments, WaitArguments, status, wait};

/// Which service, and with which key.
#[derive(clap::Args, Debug)]
pub struct Where {
    /// The address of the service
    #[arg(long, value_name = "URL", env = "LEASEBOOK_SERVER", default_value = "http://127.0.0.1:7878")]
    server: String,
    /// A file that holds the key; the environment variable LEASEBOOK_KEY holds it otherwise
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Print the answer of the service as JSON
    #[arg(long)]
    json: bool,
}

/// The arguments of `leasebook mcp`.
#[derive(clap::Args, Debug)]
#[command(after_help = Exit::help())]
pub struct McpArguments {
    #[command(flatten)]
    at: Where,
}

impl Where {
    /// A client, or what is wrong with the arguments.
    fn client(&self) -> Result<Client, Exit> {
        let key = match &self.key_file {
            Some(path) => std::fs::read_to_string(path).map_err(|error| {
                stderr::say(format_args!("error: read {}: {error}", path.display()));
                Exit::NoInput
            })?,
            None => std::env::var("LEASEBOOK_KEY").map_err(|_| {
                stderr::say("error: a key is needed: set LEASEBOOK_KEY, or name a file with --key-file");
                Exit::Usage
            })?,
        };
        Client::new(&self.server, key.trim()).map_err(|error| {
            stderr::say(format_args!("error: {error}"));
            Exit::Usage
        })
    }

    /// Asks a service something.
    fn ask<F>(&self, what: impl FnOnce(Client) -> F) -> anyhow::Result<Result<Answered, Exit>>
    where
        F: Future<Output = Result<Answered, ClientError>>,
    {
        let client = match self.client() {
            Ok(client) => client,
            Err(exit) => return Ok(Err(exit)),
        };
        Ok(runtime()?.block_on(what(client)).map_err(|error| {
            stderr::say(format_args!("error: {error}"));
            Exit::Unavailable
        }))
    }

    /// Prints what was answered: the fields, or words on standard output; a refusal's sentence on standard error.
    fn say(&self, answered: &Answered, words: impl FnOnce(&Value) -> String) -> anyhow::Result<Exit> {
        let exit = exit(answered);
        if self.json {
            writeln!(io::stdout(), "{}", answered.body).context("print")?;
        } else if exit == Exit::Success {
            write!(io::stdout(), "{}", words(&answered.body)).context("print")?;
        } else {
            let error = answered.body["error"].as_str().unwrap_or("error");
            stderr::say(format_args!("{error}: {}", answered.body["message"].as_str().unwrap_or("no message")));
        }
        Ok(exit)
    }
}

/// The exit code of an answer.
fn exit(answered: &Answered) -> Exit {
    match (answered.status, answered.body["error"].as_str()) {
        (200, _) => Exit::Success,
        (401 | 403, _) => Exit::NotPermitted,
        (409, Some("stale_lease" | "not_held")) => Exit::Marker,
        (409 | 429, _) => Exit::Busy,
        (500.., _) => Exit::Unavailable,
        _ => Exit::Usage,
    }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("start the runtime")
}

/// Offers a service to an MCP client over standard streams.
pub fn mcp(arguments: &McpArguments) -> anyhow::Result<Exit> {
    let client = match arguments.at.client() {
        Ok(client) => client,
        Err(exit) => return Ok(exit),
    };
    runtime()?.block_on(mcp::stdio(client)).context("speak MCP over standard streams")?;
    Ok(Exit::Success)
}

/// Milliseconds in the unit that suits them.
fn time(ms: i64) -> String {
    match ms.max(0) {
        ms @ 0..1_000 => format!("{ms} ms"),
        ms @ 1_000..600_000 => format!("{} s", (ms + 999) / 1_000),
        ms => format!("{} min", (ms + 59_999) / 60_000),
    }
}

/// A text from outside, without what steers a terminal.
fn shown(value: &Value) -> String {
    leasebook_files::Shown(value.as_str().unwrap_or("-")).to_string()
}

/// A list of texts from outside.
fn all_shown(value: &Value) -> String {
    value.as_array().into_iter().flatten().map(shown).collect::<Vec<_>>().join(", ")
}
