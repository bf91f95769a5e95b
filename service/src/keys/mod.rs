//! `leasebook key`: who may speak for which actor at a service.
//!
//! The commands work on the store of a service, whether it runs or not; a running one notices within a second.

use crate::exit::Exit;
use crate::{rows, stderr};
use anyhow::Context as _;
use clap::Subcommand;
use leasebook_server::keys::{Grant, KeyRing, Listed, WORKSPACE_DEFAULT, is_workspace};
use serde_json::{Value, json};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// The longest life of a key that is given one, in days: a hundred years.
const DAYS_MAX: u64 = 36_500;

/// The arguments of `leasebook key`.
#[derive(clap::Args, Debug)]
#[command(after_help = Exit::help())]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The SQLite file of the service
    #[arg(long, value_name = "FILE", env = "LEASEBOOK_DATA", default_value = "leasebook.sqlite", global = true)]
    data: PathBuf,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Make a key, and print it this once
    Create {
        /// Whom it speaks for: a DID, like did:web:agent-a.example
        #[arg(long, value_name = "DID")]
        actor: String,
        /// In which workspace: 1 to 64 of a-z, 0-9 and -
        #[arg(long, default_value = WORKSPACE_DEFAULT)]
        workspace: String,
        /// For how many days it is good; until it is revoked unless set
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u64).range(1..=DAYS_MAX))]
        days: Option<u64>,
        /// For how many calls it is good; any number unless set
        #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
        calls: Option<u64>,
    },
    /// List the keys, without their secrets
    List,
    /// Revoke a key: a running service refuses it within a second
    Revoke {
        /// Its id, as `list` shows it
        id: String,
    },
}

/// Does what is asked with the keys.
pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("read the clock")?;
    let now_ms = u64::try_from(now.as_millis()).context("read the clock")?;
    if let Command::Create { actor, workspace, .. } = &arguments.command {
        if let Err(error) = leasebook::coordination::check_actor(actor) {
            stderr::say(format_args!("error: --actor: expected {}", error.expected));
            return Ok(Exit::Usage);
        }
        if !is_workspace(workspace) {
            stderr::say("error: --workspace: expected 1 to 64 of a-z, 0-9 and -, beginning with a letter or digit");
            return Ok(Exit::Usage);
        }
    } else if !arguments.data.exists() {
        stderr::say(format_args!("error: {} is not there; expected the file of a service", arguments.data.display()));
        return Ok(Exit::NoInput);
    }
    let keys = KeyRing::open(&arguments.data)?;
    let (said, exit) = match &arguments.command {
        Command::Create { actor, workspace, days, calls } => {
            let day_ms = 24 * 60 * 60 * 1000;
            let grant = Grant {
                workspace: workspace.clone(),
                actor: actor.clone(),
                expires_ms: days.map(|days| now_ms + days * day_ms),
                calls_max: *calls,
            };
            let key = keys.create(&grant, now_ms)?;
            if arguments.json {
                (
                    json!({ "id": key.id(), "key": key.reveal(), "actorDid": actor, "workspace": workspace })
                        .to_string(),
                    Exit::Success,
                )
            } else {
                stderr::say(format_args!("a key for {actor}; it is shown this once:"));
                (key.reveal(), Exit::Success)
            }
        }
        Command::List => {
            let listed = keys.list()?;
            let said = if arguments.json {
                json!({ "keys": listed.iter().map(fields).collect::<Vec<_>>() }).to_string()
            } else {
                let head = ["ID", "ACTOR", "WORKSPACE", "STATE", "CALLS"];
                rows::table(&head, listed.iter().map(|listed| cells(listed, now_ms))).trim_end().to_owned()
            };
            (said, Exit::Success)
        }
        Command::Revoke { id } => {
            let revoked = keys.revoke(id, now_ms)?;
            if !revoked {
                stderr::say(format_args!("error: there is no key {} to revoke", id.escape_debug()));
                return Ok(Exit::NoInput);
            }
            let said = if arguments.json { json!({ "revoked": id }).to_string() } else { format!("revoked {id}") };
            (said, Exit::Success)
        }
    };
    writeln!(io::stdout(), "{said}").context("print")?;
    Ok(exit)
}

fn fields(listed: &Listed) -> Value {
    json!({
        "id": listed.id,
        "actorDid": listed.grant.actor,
        "workspace": listed.grant.workspace,
        "createdAtMs": listed.created_ms,
        "expiresAtMs": listed.grant.expires_ms,
        "callsMax": listed.grant.calls_max,
        "calls": listed.calls,
        "revokedAtMs": listed.revoked_ms,
    })
}

fn cells(listed: &Listed, now_ms: u64) -> Vec<String> {
    let state = match (listed.revoked_ms, listed.grant.expires_ms) {
        (Some(_), _) => "revoked".into(),
        (None, Some(end)) if end <= now_ms => "expired".into(),
        (None, Some(end)) => format!("good for {} h", (end - now_ms).div_ceil(3_600_000)),
        (None, None) => "good".into(),
    };
    let calls = listed.grant.calls_max.map_or_else(|| "-".into(), |max| format!("{} of {max}", listed.calls));
    vec![listed.id.clone(), listed.grant.actor.clone(), listed.grant.workspace.clone(), state, calls]
}
