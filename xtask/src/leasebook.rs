//! The `leasebook` command, built for the tasks that run it.

use std::path::PathBuf;

use anyhow::Result;

use crate::component;
use crate::error::StepFailed;
use crate::process;
use crate::progress::step;
use crate::workspace::Workspace;

/// Builds the component and the command that embeds it, where they are not up to date; answers where the command is.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    component::build(workspace)?;
    let mut cargo = workspace.cargo();
    cargo.args(["build", "--package", "leasebook-service", "--bin", "leasebook"]);
    step("build the leasebook command", |step| {
        process::quiet(&mut cargo, step).map_err(|error| StepFailed::new("build the leasebook command", error).into())
    })?;
    Ok(workspace.target_dir().join("debug").join(format!("leasebook{}", std::env::consts::EXE_SUFFIX)))
}
