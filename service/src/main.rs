//! The `leasebook` command: a lease book over a pipe, and a demonstration of it on a real tree.

mod book;
mod demo;
mod exit;
mod pipe;

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
    /// Keep a lease book over a pipe: operations as JSON lines in, answers as JSON lines out
    Table(pipe::Arguments),
    /// See two agents contend for the files of a folder, on one screen
    Demo(demo::Arguments),
}

fn first_commands() -> String {
    format!(
        "Try first:
  leasebook demo                 two agents contend for the files of this folder, on one screen
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
        None => Arguments::command().print_help().map(|()| Exit::Success).map_err(Into::into),
        Some(Command::Table(arguments)) => pipe::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("error: {error:#}");
            Exit::Io.into()
        }
    }
}
