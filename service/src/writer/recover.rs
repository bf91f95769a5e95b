//! `leasebook recover`: what dead writers left is removed; or, by an operator, one marker that he names.

use super::{Place, said};
use crate::exit::Exit;
use crate::stderr;
use leasebook_files::marker::{MarkerState, NamedRemoval};

/// The arguments of `leasebook recover`.
#[derive(clap::Args, Debug)]
#[command(after_help = help())]
pub struct Arguments {
    #[command(flatten)]
    place: Place,
    /// Remove the stale markers; without it, only say which they are
    #[arg(long)]
    apply: bool,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Remove this one marker, whatever its state: only who knows that its writer is gone may say so
    #[arg(long, value_name = "NONCE", conflicts_with = "apply", help_heading = "For an operator")]
    remove: Option<String>,
    /// The host that the marker names
    #[arg(long, value_name = "H", requires_all = ["remove", "pid"], help_heading = "For an operator")]
    host: Option<String>,
    /// The process id that the marker names
    #[arg(long, value_name = "P", requires_all = ["remove", "host"], help_heading = "For an operator")]
    pid: Option<u32>,
    /// The marker does not say whose it is
    #[arg(long, requires = "remove", conflicts_with_all = ["host", "pid"], help_heading = "For an operator")]
    unrecognized: bool,
}

fn help() -> String {
    format!(
        "Examples:
  leasebook recover /srv/archive            what would be removed
  leasebook recover /srv/archive --apply    markers whose processes are gone, each looked at once more before
  leasebook recover /srv/archive --remove 0123456789abcdef0123456789abcdef --host build-7 --pid 4242

{}",
        Exit::help()
    )
}

/// Recovers and prints what it did.
pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    if let Some(marker) = &arguments.remove {
        return remove(arguments, nonce(marker));
    }
    let Arguments { place, apply, json, .. } = arguments;
    let done = match place.ask(|store, destination| store.recover(destination, *apply, None)) {
        Ok(done) => done,
        Err(exit) => return Ok(exit),
    };
    if *json {
        said::json(&said::Recovered {
            applied: *apply,
            removed: said::markers(&done.removed),
            kept: said::markers(&done.kept),
            tidied: &done.tidied,
            untidied: said::untidied(&done.untidied),
        })?;
    } else {
        said::recovered(place, *apply, &done)?;
    }
    let stale = done.kept.iter().filter(|record| record.state == MarkerState::Stale).count();
    if *apply && stale > 0 {
        stderr::say(format_args!("error: {} of dead writers could not be removed", said::counted(stale)));
        return Ok(Exit::Io);
    }
    Ok(Exit::Success)
}

/// The nonce of a marker that is named by it, or as `inspect` shows it: by its path.
fn nonce(marker: &str) -> &str {
    let name = marker.rsplit('/').next().unwrap_or(marker);
    name.strip_suffix(".json").unwrap_or(name)
}

fn remove(arguments: &Arguments, nonce: &str) -> anyhow::Result<Exit> {
    let expected = match (&arguments.host, arguments.pid) {
        (Some(host), Some(pid)) => Some((host.as_str(), pid)),
        _ if arguments.unrecognized => None,
        _ => {
            stderr::say("error: --remove takes --host and --pid as the marker names them, or --unrecognized");
            return Ok(Exit::Usage);
        }
    };
    let removed = arguments.place.ask(|store, destination| store.remove_named(destination, nonce, expected));
    let (outcome, owner, exit) = match removed {
        Ok(NamedRemoval::Removed(owner)) => ("removed", owner, Exit::Success),
        Ok(NamedRemoval::Different(owner)) => ("different", owner, Exit::Marker),
        Ok(NamedRemoval::Absent) => ("absent", None, Exit::NoInput),
        Err(exit) => return Ok(exit),
    };
    let said = said::Named {
        nonce,
        outcome,
        host: owner.as_ref().map(|it| it.host()),
        pid: owner.as_ref().map(|it| it.pid()),
    };
    if arguments.json {
        said::json(&said)?
    } else {
        said::named(&said)?
    }
    Ok(exit)
}
