//! Where things are: the workspace, its build folders, and the cargo to build it with.

use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::{self, Failed};
use crate::progress::Step;

/// The checked-out repository.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Its root folder, absolute.
    pub root: PathBuf,
}

impl Workspace {
    /// The workspace this xtask was built from, whatever the current folder is.
    pub fn locate() -> Self {
        // Cargo sets the variable for `cargo run`; the compiled-in path serves when the binary is called directly.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let xtask = manifest.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        let root = xtask.parent().unwrap_or(Path::new(".")).to_path_buf();
        Workspace { root }
    }

    /// A path inside the repository.
    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The folder of the built component and its precompiled form. Always in the repository, whatever
    /// `CARGO_TARGET_DIR` says, since build scripts look for them here.
    pub fn wasm_dir(&self) -> PathBuf {
        self.root.join("target").join("wasm")
    }

    /// Cargo's own build folder: `CARGO_TARGET_DIR` or `target`.
    pub fn target_dir(&self) -> PathBuf {
        match env::var_os("CARGO_TARGET_DIR") {
            Some(dir) if !dir.is_empty() => self.root.join(dir),
            _ => self.root.join("target"),
        }
    }

    /// A cargo command at the root. `CARGO_TARGET_DIR` is handed on as an absolute path, so that it means the same
    /// wherever it is read; what the cargo that runs xtask has set for xtask, and what a caller has set to change our
    /// builds and tests, is not handed on: each would make cargo build again what it has built.
    pub fn cargo(&self) -> Command {
        let mut cargo = Command::new(cargo());
        cargo.current_dir(&self.root).env("CARGO_TARGET_DIR", self.target_dir());
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if OURS.contains(&&*text) || OF_XTASK.iter().any(|prefix| text.starts_with(prefix)) {
                cargo.env_remove(&name);
            }
        }
        if std::io::stderr().is_terminal() {
            cargo.env("CARGO_TERM_COLOR", "always");
        }
        cargo
    }
}

/// Features that are off by default and tested all the same.
pub const FEATURES: &str = "leasebook-wasmtime/tokio";

impl Workspace {
    /// Builds one of our programs as the tests will want it, and answers where it is. Cargo settles the features of
    /// dependencies over all packages it is asked to build: asked for one package it would build wasmtime once more.
    pub fn program(&self, name: &str, step: &Step) -> Result<PathBuf, Failed> {
        let mut cargo = self.cargo();
        cargo.args(["build", "--workspace", "--features", FEATURES, "--bin", name]);
        process::quiet(&mut cargo, step)?;
        Ok(self.target_dir().join("debug").join(format!("{name}{}", env::consts::EXE_SUFFIX)))
    }
}

/// Variables that change what our crates build or test.
const OURS: [&str; 3] = ["LEASEBOOK_COMPONENT", "LEASEBOOK_PRECOMPILED", "LEASEBOOK_SOAK"];

/// How variables begin that cargo sets for the program it runs.
const OF_XTASK: [&str; 4] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_"];

/// The cargo that runs this.
pub fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// The rustc that this cargo uses.
pub fn rustc() -> OsString {
    env::var_os("RUSTC").filter(|rustc| !rustc.is_empty()).unwrap_or_else(|| "rustc".into())
}
