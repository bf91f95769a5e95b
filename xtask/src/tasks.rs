//! The tasks that hand the terminal to another program: demo, soak, bench.

use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Result;

use crate::component;
use crate::js;
use crate::leasebook;
use crate::peers;
use crate::process;
use crate::programs;
use crate::workspace::Workspace;

/// Builds the command and shows what it is for; further arguments go to `leasebook demo`.
pub fn demo(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let command = leasebook::build(workspace)?;
    eprintln!();
    hand_over(Command::new(command).arg("demo").args(arguments))
}

/// Runs the long form of the tests whose names contain one of `names`, or of all. They print what they draw their
/// randomness from; `seed` repeats such a run.
pub fn soak(workspace: &Workspace, names: &[String], seed: Option<u64>) -> Result<ExitCode> {
    component::build(workspace)?;
    let mut cargo = workspace.cargo();
    cargo.args(["test", "--release", "--package", "leasebook-tests", "--package", "leasebook-files"]);
    cargo.args(["--package", "leasebook-coordination-tests"]);
    cargo.args(["--", "--nocapture"]).args(names);
    cargo.env("LEASEBOOK_SOAK", "1");
    if let Some(seed) = seed {
        cargo.env("LEASEBOOK_SEED", seed.to_string());
    }
    hand_over(&mut cargo)
}

/// Builds the component and the one that answers constants, sets up what a benchmark compares with, and measures;
/// `arguments` go to the benchmark.
pub fn bench(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    if let Some((name, rest)) = arguments.split_first()
        && name == "js"
    {
        return bench_js(workspace, rest);
    }
    component::build(workspace)?;
    component::build_baseline(workspace)?;
    let mut cargo = workspace.cargo();
    cargo.args(["run", "--release", "--package", "leasebook-bench"]);
    if arguments.first().is_some_and(|name| name == "service") {
        programs::servers()?;
        cargo.args(["--features", "etcd"]);
    }
    cargo.arg("--").args(arguments);
    if arguments.first().is_some_and(|name| name == "writer") {
        cargo.arg("--command").arg(leasebook::build_released(workspace)?);
        cargo.arg("--peers").arg(peers::install(workspace)?);
    }
    if arguments.first().is_some_and(|name| name == "service") {
        cargo.arg("--command").arg(leasebook::build_released(workspace)?);
    }
    hand_over(&mut cargo)
}

/// Builds the npm package, sets up the browser and the peers, and measures.
fn bench_js(workspace: &Workspace, arguments: &[String]) -> Result<ExitCode> {
    let package = js::build(workspace)?;
    let mut node = Command::new("node");
    node.arg(package.join("bench").join("main.mjs")).arg("--chromium").arg(programs::chromium()?);
    node.arg("--peers").arg(peers::install_for_node(workspace)?);
    node.arg("--scratch").arg(workspace.target_dir().join("bench"));
    hand_over(node.args(arguments))
}

fn hand_over(command: &mut Command) -> Result<ExitCode> {
    Ok(code(process::shown(command)?))
}

/// The exit code of a child as our own; ended by a signal counts as a failure.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}
