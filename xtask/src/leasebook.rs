//! The `leasebook` command, built for the tasks that run it.

use std::path::PathBuf;

use anyhow::Result;

use crate::component;
use crate::error::StepFailed;
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
