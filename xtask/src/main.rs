//! `cargo xtask`: the only build logic of this repository.
//!
//! It sets up what a fresh machine lacks, builds the component, runs the checks and the demo. It does not depend on
//! wasmtime: what needs a wasm runtime is another crate's program.

mod cache;

mod component;
mod contract;
mod error;
mod fresh;
mod gate;
mod js;
mod leasebook;
mod peers;
mod process;
mod programs;
mod progress;
mod tasks;
mod tidy;
mod vectors;
mod wasm_std;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::builder::PossibleValuesParser;
use clap::{CommandFactory, Parser, Subcommand};

use workspace::Workspace;

/// Build, check and show Leasebook.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_version_flag = true)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Show the lease table at work: set up, build, run `leasebook demo`
    Demo {
        /// Handed on to `leasebook demo`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<String>,
    },
    /// Run the gate: every check, or the ones named
    Test {
        /// Checks to run, in the gate's order; all when none is named
        #[arg(value_name = "CHECK", value_parser = PossibleValuesParser::new(gate::NAMES))]
        checks: Vec<String>,
    },
    /// Run the same tests made long; they print their seeds
    Soak {
        /// Parts of the names of tests; all when none is given
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Repeat a run that printed this seed
        #[arg(long, value_name = "N")]
        seed: Option<u64>,
    },
    /// Build the component, precompile it, and build the example plugin; set up the wasm toolchain where it is missing
    Wasm,
    /// Build the npm package into js/dist; set up the tools that are missing
    Js,
    /// Replay recorded runs of a folder through `leasebook table`, and compare the answers
    Vectors(vectors::Arguments),
    /// Measure, with optimized code: `cargo xtask bench table`, `cargo xtask bench writer`, `cargo xtask bench js`
    Bench {
        /// Handed on to the benchmark
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "ARGUMENT")]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode> {
    let workspace = Workspace::locate();
    match arguments.command {
        Task::Demo { arguments } => tasks::demo(&workspace, &arguments),
        Task::Test { checks } => gate::run(&workspace, subcommands(), &checks),
        Task::Soak { names, seed } => tasks::soak(&workspace, &names, seed),
        Task::Wasm => {
            let built = component::build(&workspace)?;
            let plugin = component::build_plugin(&workspace)?;
            println!("{}\n{}\n{}", built.component.display(), built.precompiled.display(), plugin.display());
            contract::check(&built.component)?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Js => {
            println!("{}", js::build(&workspace)?.display());
            js::sizes(&workspace)?;
            Ok(ExitCode::SUCCESS)
        }
        Task::Vectors(arguments) => {
            let runtime = arguments.runtime;
            let mut places = vectors::Places::default();
            match &arguments.leasebook {
                Some(file) => places.leasebook = file.clone(),
                None if runtime.takes_command() => places.leasebook = leasebook::build(&workspace)?,
                None => {}
            }
            if runtime.takes_package() {
                places.package = js::build(&workspace)?;
            }
            if runtime.takes_transpiled() {
                places.transpiled = js::transpile(&workspace)?;
            }
            vectors::run(&arguments, &|runtime| vectors::table(&places, runtime))
        }
        Task::Bench { arguments } => tasks::bench(&workspace, &arguments),
    }
}

/// The names of all tasks, for the rule that documents name none that does not exist.
fn subcommands() -> Vec<String> {
    let mut command = Arguments::command();
    command.build();
    command.get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_task_of_the_documents_is_there() {
        let known = subcommands();
        for task in ["demo", "test", "soak", "wasm", "js", "vectors", "bench", "help"] {
            assert!(known.iter().any(|name| name == task), "{task} is missing in {known:?}");
        }
    }
}
