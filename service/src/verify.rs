//! `leasebook verify` and `leasebook ledger verify`: whether a receipt or a ledger is what a service has written. Both
//! work offline.

use crate::exit::Exit;
use crate::stderr;
use anyhow::Context as _;
use clap::Subcommand;
use leasebook_server::ledger::{self, Broken};
use leasebook_server::receipts::{self, RECEIPT_BYTES_MAX};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};

/// The largest file that is read as a receipt or as keys, in bytes: an answer with its receipt, and what the same says
/// beside it.
const FILE_BYTES_MAX: u64 = 4 * RECEIPT_BYTES_MAX as u64;

/// The arguments of `leasebook verify`.
#[derive(clap::Args, Debug)]
#[command(after_help = Exit::help())]
pub struct ReceiptArguments {
    /// A receipt, or a whole answer that has one; - is standard input
    file: PathBuf,
    /// The public keys of the service, from its /.well-known/jwks.json
    #[arg(long, value_name = "FILE")]
    jwks: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The arguments of `leasebook ledger`.
#[derive(clap::Args, Debug)]
#[command(after_help = Exit::help())]
pub struct LedgerArguments {
    #[command(subcommand)]
    command: LedgerCommand,
}

#[derive(Subcommand, Debug)]
enum LedgerCommand {
    /// Check that no line of a ledger was changed, removed or put in
    Verify {
        /// The ledger: a file of JSON lines
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Verifies a receipt.
pub fn receipt(arguments: &ReceiptArguments) -> anyhow::Result<Exit> {
    let (text, jwks) = match (read(&arguments.file), read(&arguments.jwks)) {
        (Ok(text), Ok(jwks)) => (text, jwks),
        (Err(error), _) | (_, Err(error)) => {
            stderr::say(format_args!("error: {error:#}"));
            return Ok(Exit::NoInput);
        }
    };
    // A whole answer is more at hand than the receipt in it.
    let answer = serde_json::from_str::<Value>(&text).ok();
    let receipt = answer.as_ref().map_or(Some(text.trim()), |answer| answer["receipt"].as_str());
    let Some(receipt) = receipt else {
        stderr::say("not verified: the answer has no receipt");
        return Ok(Exit::BadLine);
    };
    let verified = match receipts::verify_text(receipt, &jwks) {
        Ok(verified) => verified,
        Err(error) => {
            stderr::say(format_args!("not verified: {error}"));
            return Ok(Exit::BadLine);
        }
    };
    if let Some(mut answer) = answer {
        // The receipt is good, but who shows it may have changed what stands around it.
        if let Some(fields) = answer.as_object_mut() {
            fields.remove("receipt");
        }
        if answer != verified.payload["outcome"] {
            stderr::say("not verified: the receipt is good, but the answer around it says something else");
            return Ok(Exit::BadLine);
        }
    }
    let payload = &verified.payload;
    let said = if arguments.json {
        json!({ "verified": true, "kid": verified.kid, "payload": payload }).to_string()
    } else {
        let word = |field: &str| payload[field].as_str().unwrap_or("-").escape_debug().to_string();
        format!(
            "verified: signed by key {}\nactor      {}\nworkspace  {}\nrequest    {}\noutcome    {}",
            verified.kid.escape_debug(),
            word("actor"),
            word("workspace"),
            word("request"),
            payload["outcome"]
        )
    };
    writeln!(io::stdout(), "{said}").context("print")?;
    Ok(Exit::Success)
}

/// Verifies a ledger.
pub fn ledger(arguments: &LedgerArguments) -> anyhow::Result<Exit> {
    let LedgerCommand::Verify { file, json } = &arguments.command;
    let verified = match ledger::verify_file(file) {
        Ok(verified) => verified,
        Err(error @ (Broken::Open { .. } | Broken::Read { .. })) => {
            stderr::say(format_args!("error: {error}"));
            return Ok(Exit::NoInput);
        }
        Err(error) => {
            stderr::say(format_args!("not whole: {error}"));
            return Ok(Exit::BadLine);
        }
    };
    let said = if *json {
        json!({
            "whole": true,
            "workspace": verified.workspace,
            "lines": verified.lines,
            "first": verified.first,
            "last": verified.last,
            "gaps": verified.gaps,
            "missing": verified.missing,
            "outages": verified.outages,
            "digest": verified.digest,
        })
        .to_string()
    } else {
        format!(
            "whole: {} lines of workspace {}, events up to {}; {} missing in {} gaps, {} outages\ndigest {}",
            verified.lines,
            verified.workspace,
            verified.last,
            verified.missing,
            verified.gaps.len(),
            verified.outages,
            verified.digest
        )
    };
    writeln!(io::stdout(), "{said}").context("print")?;
    Ok(Exit::Success)
}

fn read(path: &Path) -> anyhow::Result<String> {
    let doing = || format!("read {}", path.display());
    let source: Box<dyn Read> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path).with_context(doing)?) };
    let mut text = String::new();
    source.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).with_context(doing)?;
    anyhow::ensure!(text.len() as u64 <= FILE_BYTES_MAX, "{}: more than {FILE_BYTES_MAX} bytes", doing());
    Ok(text)
}
