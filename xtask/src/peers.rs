//! Other libraries that benchmarks compare with, installed below the build folder by the package managers of their
//! languages, each at one version.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::error::StepFailed;
use crate::process;
use crate::progress::step;
use crate::workspace::Workspace;

/// For Node: a lock file library, and locks in memory. They are installed together: npm removes what nobody names.
const NODE: [&str; 3] = ["proper-lockfile@4.1.2", "async-lock@1.5.0", "async-mutex@0.5.0"];
/// One for Python.
const PYTHON: &str = "filelock==4.3.1";

/// Installs what is not there yet; answers the folder: `node_modules` and `python` in it.
pub fn install(workspace: &Workspace) -> Result<PathBuf> {
    let folder = install_for_node(workspace)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target"]);
    one(&folder, PYTHON, pip.arg(folder.join("python")).arg(PYTHON))?;
    Ok(folder)
}

/// The same of those for Node alone.
pub fn install_for_node(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target_dir().join("bench").join("peers");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).args(NODE);
    one(&folder, &NODE.join(" "), &mut npm)?;
    Ok(folder)
}

/// Runs an installation, unless a file says that it was finished before.
fn one(folder: &Path, package: &str, command: &mut Command) -> Result<()> {
    let finished = folder.join(format!("{package}.installed"));
    if finished.exists() {
        return Ok(());
    }
    let name = format!("install {package}");
    step(&name, |step| {
        std::fs::create_dir_all(folder)?;
        process::quiet(command, step)
            .map_err(|error| StepFailed::new(&*name, error).by_hand(process::line_of(command)))?;
        std::fs::write(&finished, "")?;
        Ok(())
    })
}
