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
    step("build the leasebook command", |step| {
        let built = workspace.program("leasebook", step);
        built.map_err(|error| StepFailed::new("build the leasebook command", error).into())
    })
}

/// Builds the command as it is shipped, optimized; answers where it is.
pub fn build_released(workspace: &Workspace) -> Result<PathBuf> {
    component::build(workspace)?;
    step("build the leasebook command, optimized", |step| {
        let mut cargo = workspace.cargo();
        process::quiet(cargo.args(["build", "--release", "--package", "leasebook-service"]), step)
            .map_err(|error| StepFailed::new("build the leasebook command, optimized", error))?;
        Ok(workspace.target_dir().join("release").join(format!("leasebook{}", std::env::consts::EXE_SUFFIX)))
    })
}
