//! The `leasebook` command: writer leases of directories, a lease book over a pipe, the coordination service, and a
//! demonstration on a real tree.

mod book;
mod demo;
mod exit;
mod keys;
mod pipe;
mod remote;
mod rows;
#[cfg(unix)]
mod serve;
mod stderr;
mod verify;
mod writer;

use clap::{CommandFactory, Parser, Subcommand};
use exit::Exit;
use std::process::ExitCode;

/// One lease book for agents, CLIs and plugins: who may write what, until when, and why not.
#[derive(Parser, Debug)]
#[command(name = "leasebook", version, after_help = first_commands(), max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Hold the writer lease of a directory while a command runs
    Run(writer::RunArguments),
    /// See who writes to a directory
    Inspect(writer::InspectArguments),
    /// Remove what dead writers left in a directory
    Recover(writer::RecoverArguments),
    /// Keep a lease book over a pipe: operations as JSON lines in, answers as JSON lines out
    Table(pipe::Arguments),
    /// Serve leases to agents over HTTP: the coordination service
    #[cfg(unix)]
    Serve(serve::Arguments),
    /// Make, list and revoke the keys of a service
    Key(keys::Arguments),
    /// Ask a service for leases
    Lease(remote::LeaseArguments),
    /// Give leases back to a service
    Release(remote::ReleaseArguments),
    /// See who waits for what at a service
    Wait(remote::WaitArguments),
    /// See who holds what at a service, and who waits
    Status(remote::StatusArguments),
    /// Offer a service to an MCP client, over standard streams
    Mcp(remote::McpArguments),
    /// Check a receipt of a service, offline
    Verify(verify::ReceiptArguments),
    /// Check a ledger of a service, offline
    Ledger(verify::LedgerArguments),
    /// See two agents contend for the files of a folder, on one screen
    Demo(demo::Arguments),
}

fn first_commands() -> String {
    format!(
        "Try first:
  leasebook run . -- make        run a command as the only writer of this folder
  leasebook demo                 two agents contend for the files of this folder, on one screen
  leasebook serve --dev          leases for agents over HTTP, with a dashboard and a key to try
  leasebook table --help         the operations of a book, with examples
  echo '{{\"op\":\"acquire\",\"holder\":\"me\",\"paths\":[\"/srv/src\"]}}' | leasebook table

{}",
        Exit::help()
    )
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Where even this cannot be printed there is nobody to tell.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage } else { Exit::Success }.into();
        }
    };
    let done = match arguments.command {
        None => Arguments::command().print_help().map(|()| Exit::Success.into()).map_err(Into::into),
        Some(Command::Run(arguments)) => writer::run(&arguments),
        Some(Command::Inspect(arguments)) => writer::inspect(&arguments).map(Into::into),
        Some(Command::Recover(arguments)) => writer::recover(&arguments).map(Into::into),
        Some(Command::Table(arguments)) => pipe::run(&arguments).map(Into::into),
        #[cfg(unix)]
        Some(Command::Serve(arguments)) => serve::run(&arguments).map(Into::into),
        Some(Command::Key(arguments)) => keys::run(&arguments).map(Into::into),
        Some(Command::Lease(arguments)) => remote::lease(&arguments).map(Into::into),
        Some(Command::Release(arguments)) => remote::release(&arguments).map(Into::into),
        Some(Command::Wait(arguments)) => remote::wait(&arguments).map(Into::into),
        Some(Command::Status(arguments)) => remote::status(&arguments).map(Into::into),
        Some(Command::Mcp(arguments)) => remote::mcp(&arguments).map(Into::into),
        Some(Command::Verify(arguments)) => verify::receipt(&arguments).map(Into::into),
        Some(Command::Ledger(arguments)) => verify::ledger(&arguments).map(Into::into),
        Some(Command::Demo(arguments)) => demo::run(&arguments).map(Into::into),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            stderr::say(format_args!("error: {error:#}"));
            Exit::Io.into()
        }
    }
}
