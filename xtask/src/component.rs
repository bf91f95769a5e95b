//! The component: core and glue compiled to wasm, encoded, and precompiled for this machine.
//!
//! Each file is made only when something that goes into it changed, and published by rename; build scripts of other
//! crates read the two files and never make them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use wasm_encoder::{Component, Module, RawSection};
use wasmparser::{Parser, Payload};
use wit_component::ComponentEncoder;

use crate::cache;
use crate::contract;
use crate::error::StepFailed;
use crate::fresh::{Artifact, Digest, Inputs, Outcome};
use crate::process;
use crate::progress::{Step, step};
use crate::wasm_std::{TARGET, WasmToolchain};
use crate::workspace::{self, Workspace};

/// The crate of the component.
const CRATE: &str = "leasebook-component";
/// The crate of the example plugin.
const PLUGIN: &str = "leasebook-plugin";

/// The program of `host-wasmtime` that precompiles: `leasebook-precompile IN OUT`.
const PRECOMPILE: &str = "leasebook-precompile";

/// What the component depends on, besides the compiler.
const COMPONENT_INPUTS: [&str; 8] = [
    "Cargo.lock",
    "Cargo.toml",
    ".cargo/config.toml",
    "core/Cargo.toml",
    "core/src",
    "core/component",
    "wit",
    "xtask/src/component.rs",
];

/// What the example plugin depends on, besides the compiler.
const PLUGIN_INPUTS: [&str; 5] = ["Cargo.lock", "Cargo.toml", "examples/plugin", "wit", "xtask/src/component.rs"];

/// What precompiling depends on, besides the component and the machine.
const PRECOMPILE_INPUTS: [&str; 4] = ["Cargo.lock", "Cargo.toml", "host-wasmtime", "xtask/src/component.rs"];

/// The built files.
#[derive(Debug, Clone)]
pub struct Built {
    /// The component.
    pub component: PathBuf,
    /// The same, precompiled for this machine.
    pub precompiled: PathBuf,
}

/// Where the built files are or will be.
pub fn places(workspace: &Workspace) -> Built {
    let folder = workspace.wasm_dir();
    Built { component: folder.join("leasebook.component.wasm"), precompiled: folder.join("leasebook.cwasm") }
}

/// Builds what is not up to date; sets the toolchain up first where it is missing.
pub fn build(workspace: &Workspace) -> Result<Built> {
    let built = places(workspace);
    let _lock = lock(workspace)?;
    unlocked(workspace, &built.component)?;
    let mut inputs = Inputs::new()
        .value("rustc", &process::ask(Command::new(workspace::rustc()).arg("-vV"))?)
        .value("processor", &processor())
        .value("component", &Digest::of(&fs::read(&built.component)?).to_hex());
    for input in PRECOMPILE_INPUTS {
        inputs = inputs.path(&workspace.root, input)?;
    }
    ensure(&Artifact::at(&built.precompiled), inputs.digest(), "precompile the component for this machine", |step| {
        precompile(workspace, &built, step)
    })?;
    Ok(built)
}

/// Builds the component alone, for those who do not run it under wasmtime.
pub fn build_alone(workspace: &Workspace) -> Result<PathBuf> {
    let component = places(workspace).component;
    let _lock = lock(workspace)?;
    unlocked(workspace, &component)?;
    Ok(component)
}

fn unlocked(workspace: &Workspace, component: &Path) -> Result<()> {
    if own(workspace, component, "build the component", &[])? == Outcome::Made {
        let size = fs::metadata(component)?.len();
        eprintln!("  the component is {size} bytes of at most {}", contract::SIZE_MAX);
    }
    Ok(())
}

/// Builds the component that has the same signatures and answers constants: what a call costs without a table.
pub fn build_baseline(workspace: &Workspace) -> Result<PathBuf> {
    let place = workspace.wasm_dir().join("leasebook-baseline.component.wasm");
    let _lock = lock(workspace)?;
    own(workspace, &place, "build the component that answers constants", &["--features", "baseline"])?;
    Ok(place)
}

/// Builds the example plugin, which imports a session.
pub fn build_plugin(workspace: &Workspace) -> Result<PathBuf> {
    let place = workspace.wasm_dir().join("leasebook-plugin.component.wasm");
    let _lock = lock(workspace)?;
    encoded(workspace, &place, "build the example plugin", PLUGIN, &PLUGIN_INPUTS, &[])?;
    Ok(place)
}

/// One run at a time builds here.
fn lock(workspace: &Workspace) -> Result<File> {
    let folder = workspace.wasm_dir();
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    cache::lock(&folder.join("lock"))
}

/// Our own component at `place`, built with `features`.
fn own(workspace: &Workspace, place: &Path, name: &str, features: &[&str]) -> Result<Outcome> {
    encoded(workspace, place, name, CRATE, &COMPONENT_INPUTS, features)
}

/// A component at `place`, from a crate built with `features`, where one of `depends_on` changed.
fn encoded(
    workspace: &Workspace,
    place: &Path,
    name: &str,
    package: &str,
    depends_on: &[&str],
    features: &[&str],
) -> Result<Outcome> {
    let toolchain = WasmToolchain::set_up()?;
    let mut inputs = Inputs::new().value("rustc", &toolchain.version).value("features", &features.join(" "));
    for input in depends_on {
        inputs = inputs.path(&workspace.root, input)?;
    }
    ensure(&Artifact::at(place), inputs.digest(), name, |step| {
        encode(&compile(workspace, &toolchain, package, features, step)?)
    })
}

/// One artifact as one progress line; none when it is up to date.
fn ensure(
    artifact: &Artifact,
    inputs: Digest,
    name: &str,
    make: impl FnOnce(&Step) -> Result<Vec<u8>>,
) -> Result<Outcome> {
    if artifact.is_fresh(inputs) {
        return Ok(Outcome::UpToDate);
    }
    step(name, |step| artifact.ensure(inputs, || make(step)))
}

/// Compiles a crate to a core module that still carries its interface as a custom section.
fn compile(
    workspace: &Workspace,
    toolchain: &WasmToolchain,
    package: &str,
    features: &[&str],
    step: &Step,
) -> Result<Vec<u8>> {
    // A build folder of its own: another compiler may be at work here, and cargo locks the folder it builds in.
    let target = workspace.target_dir().join("wasm-build");
    let mut cargo = workspace.cargo();
    toolchain.apply(&mut cargo);
    cargo.args(["build", "--package", package, "--profile", "wasm", "--target", TARGET]).args(features);
    cargo.env("CARGO_TARGET_DIR", &target);
    process::quiet(&mut cargo, step).map_err(|error| StepFailed::new(format!("build {package}"), error))?;
    let module = target.join(TARGET).join("wasm").join(format!("{}.wasm", package.replace('-', "_")));
    fs::read(&module).with_context(|| format!("read {}", module.display()))
}

/// Makes a component of a core module.
pub fn encode(module: &[u8]) -> Result<Vec<u8>> {
    let stripped = strip(module).context("read the module that cargo built")?;
    let mut encoder = ComponentEncoder::default();
    let component = encoder.validate(true).module(&stripped).and_then(|encoder| encoder.encode());
    unnamed(&component.context("encode the component")?).context("read the component that was encoded")
}

/// Drops the custom sections of a component itself: names of its parts, which only tools read.
fn unnamed(component: &[u8]) -> Result<Vec<u8>> {
    let mut kept = Component::new();
    let mut depth = 0_u32;
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload?;
        let section = payload.as_section().filter(|_| depth == 0);
        if let Some((id, range)) = section
            && !matches!(payload, Payload::CustomSection(_))
        {
            let (start, end) = (usize::try_from(range.start)?, usize::try_from(range.end)?);
            let data = component.get(start..end).context("a section reaches past the end")?;
            kept.section(&RawSection { id, data });
        }
        match payload {
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(kept.finish())
}

/// Drops the custom sections that only tools read; those that say what the component's interface is stay.
fn strip(module: &[u8]) -> Result<Vec<u8>> {
    let mut stripped = Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::CustomSection(section) = &payload
            && !section.name().starts_with("component-type")
        {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            let (start, end) = (usize::try_from(range.start)?, usize::try_from(range.end)?);
            let data = module.get(start..end).context("a section reaches past the end")?;
            stripped.section(&RawSection { id, data });
        }
    }
    Ok(stripped.finish())
}

fn precompile(workspace: &Workspace, built: &Built, step: &Step) -> Result<Vec<u8>> {
    let output = built.precompiled.with_extension("cwasm.new");
    let failed = |error| StepFailed::new("precompile the component", error);
    let program = workspace.program(PRECOMPILE, step).map_err(failed)?;
    process::quiet(Command::new(program).arg(&built.component).arg(&output), step).map_err(failed)?;
    let bytes = fs::read(&output).with_context(|| format!("read {}", output.display()))?;
    fs::remove_file(&output).with_context(|| format!("remove {}", output.display()))?;
    Ok(bytes)
}

/// What precompiled code may depend on of this machine: it uses the instructions that the processor has, and a build
/// folder can be carried to a machine that lacks them.
fn processor() -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags") || line.starts_with("Features"));
    format!("{} {}", std::env::consts::ARCH, flags.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use wasm_encoder::CustomSection;

    use super::*;

    #[test]
    fn only_the_interface_survives_of_the_custom_sections() {
        let mut module = Module::new();
        for name in ["name", "component-type:leasebook", "producers", "target_features", ".debug_info"] {
            module.section(&CustomSection { name: name.into(), data: name.as_bytes().into() });
        }
        let stripped = strip(&module.finish()).unwrap();
        let names: Vec<String> = Parser::new(0)
            .parse_all(&stripped)
            .filter_map(|payload| match payload.unwrap() {
                Payload::CustomSection(section) => Some(section.name().to_owned()),
                _ => None,
            })
            .collect();
        assert_eq!(names, ["component-type:leasebook"]);
    }

    #[test]
    fn what_is_no_module_is_an_error() {
        assert!(encode(b"\x7fELF").is_err());
    }
}
