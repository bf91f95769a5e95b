//! `leasebook-precompile IN OUT`: compiles a lease component for this machine, in the settings that
//! `TableComponent::from_precompiled` loads. OUT appears whole or not at all.

use leasebook_wasmtime::TableComponent;
use std::error::Error as _;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [input, output] = arguments.as_slice() else {
        eprintln!("usage: leasebook-precompile IN OUT (a component, and where its compiled form goes)");
        return ExitCode::from(2);
    };
    match precompile(input, output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(said) => {
            eprintln!("leasebook-precompile: {said}");
            ExitCode::FAILURE
        }
    }
}

fn precompile(input: &Path, output: &Path) -> Result<(), String> {
    let about = |path: &Path, error: &dyn Display| format!("{}: {error}", path.display());
    let component = std::fs::read(input).map_err(|error| about(input, &error))?;
    let compiled = TableComponent::precompile(&component).map_err(|error| {
        let source = error.source().map(|source| format!(": {source:#}")).unwrap_or_default();
        about(input, &format!("{error}{source}"))
    })?;
    let mut unfinished = output.as_os_str().to_owned();
    unfinished.push(".unfinished");
    std::fs::write(&unfinished, compiled)
        .and_then(|()| std::fs::rename(&unfinished, output))
        .map_err(|error| about(output, &error))
}
