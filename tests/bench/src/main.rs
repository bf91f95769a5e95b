//! `leasebook-bench`: what the lease table costs, side by side with what it is compared with.
//!
//! One run measures both sides in turn, so that ratios hold on a busy machine. It prints a page in Markdown and writes
//! the same as JSON. It is no test: a target that is missed is said, and the program still succeeds. What must not
//! depend on the machine (that nothing scans) is tested elsewhere, by counting.

mod component;
mod measure;
mod memory;
mod report;
mod run;
mod service;
mod standing;
mod table;
mod waiters;
mod writer;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measure what Leasebook costs.
#[derive(Debug, Parser)]
#[command(name = "leasebook-bench", disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The lease table: natively, through the component, its memory, and its waiters
    Table(TableArguments),
    /// Writer leases: beside bare system calls, other libraries, and `flock`
    Writer(WriterArguments),
    /// The coordination service: beside etcd, Redis, and an empty route
    Service(ServiceArguments),
    /// Serve an empty route, for the above
    #[command(hide = true)]
    EmptyRoute,
}

/// What to measure of the service with, and where the figures go.
#[derive(Debug, clap::Args)]
struct ServiceArguments {
    /// A run of a few seconds, whose figures mean nothing
    #[arg(long)]
    quick: bool,
    /// The `leasebook` command
    #[arg(long, value_name = "FILE")]
    command: PathBuf,
    /// Where the JSON goes
    #[arg(long, value_name = "FILE", default_value_os_t = run::default_json("service"))]
    json: PathBuf,
}

/// What to measure of writer leases with, and where the figures go.
#[derive(Debug, clap::Args)]
struct WriterArguments {
    /// A run of a few seconds, whose figures mean nothing
    #[arg(long)]
    quick: bool,
    /// The `leasebook` command
    #[arg(long, value_name = "FILE")]
    command: PathBuf,
    /// Where the packages of the peers are installed
    #[arg(long, value_name = "FOLDER")]
    peers: PathBuf,
    /// Where the JSON goes
    #[arg(long, value_name = "FILE", default_value_os_t = run::default_json("writer"))]
    json: PathBuf,
}

/// What to measure of the table, and where the figures go.
#[derive(Debug, clap::Args)]
struct TableArguments {
    /// A run of a few seconds over small tables, whose figures mean nothing
    #[arg(long)]
    quick: bool,
    /// Measure only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<run::Part>,
    /// Where the JSON goes
    #[arg(long, value_name = "FILE", default_value_os_t = run::default_json("table"))]
    json: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.command {
        Command::Table(TableArguments { quick, only, json }) => {
            let report = run::table(*quick, only)?;
            print!("{}", report.markdown());
            report.write_json(json)
        }
        Command::EmptyRoute => service::empty_route(),
        Command::Service(ServiceArguments { quick, command, json }) => {
            let report = run::service(*quick, &service::Given { command: command.clone() })?;
            print!("{}", report.markdown());
            report.write_json(json)
        }
        Command::Writer(WriterArguments { quick, command, peers, json }) => {
            let given = writer::Given { command: command.clone(), peers: peers.clone() };
            let report = run::writer(*quick, &given)?;
            print!("{}", report.markdown());
            report.write_json(json)
        }
    }
}
