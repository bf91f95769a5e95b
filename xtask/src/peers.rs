//! Other libraries that benchmarks compare with, installed below the build folder by the package managers of their
//! languages, each at one version.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::error::StepFailed;
use crate::process;
use crate::progress::step;
use crate::workspace::Workspace;

/// A lock file library for Node, with its version.
const NODE: &str = "proper-lockfile@4.1.2";
/// One for Python.
const PYTHON: &str = "filelock==4.3.1";

/// Installs what is not there yet; answers the folder: `node_modules` and `python` in it.
pub fn install(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target_dir().join("bench").join("peers");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--prefix"]).arg(&folder).arg(NODE);
    one(&folder, NODE, &mut npm)?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--target"]);
    one(&folder, PYTHON, pip.arg(folder.join("python")).arg(PYTHON))?;
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
