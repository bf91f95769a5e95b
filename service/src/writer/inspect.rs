//! `leasebook inspect`: who writes to a directory.

use super::{Place, said};
use crate::exit::Exit;

/// The arguments of `leasebook inspect`.
#[derive(clap::Args, Debug)]
#[command(after_help = help())]
pub struct Arguments {
    #[command(flatten)]
    place: Place,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

fn help() -> String {
    format!(
        "States:
  active        of this host, and its process is alive, or not ours to ask after
  stale         of this host, and there is no such process; the next writer removes it, or `leasebook recover`
  foreign       of another host, or of another namespace of process ids
  unrecognized  it does not say whose it is

{}",
        Exit::help()
    )
}

/// Prints what is there; it writes nothing.
pub fn run(arguments: &Arguments) -> anyhow::Result<Exit> {
    match arguments.place.ask(|store, destination| store.inspect(destination, None)) {
        Ok(found) if arguments.json => said::json(&said::Inspected { records: said::markers(&found.records) })?,
        Ok(found) => said::inspected(&arguments.place, &found.records)?,
        Err(exit) => return Ok(exit),
    }
    Ok(Exit::Success)
}
