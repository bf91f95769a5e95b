//! A rustc that can build for wasm32-unknown-unknown: found, or made.
//!
//! Three routes, in this order: the active toolchain when it has the target; `rustup target add`; on Debian a private
//! sysroot in the user cache, whose std is built once from the packaged sources (`debian`). Whatever the route, the
//! answer is proved by compiling a few lines before anybody builds on it.

pub mod debian;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, anyhow};

use crate::cache::Cache;
use crate::error::StepFailed;
use crate::process;
use crate::progress::{Step, step};
use crate::workspace;

/// The target of the component.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// How long `rustup target add` may take where another route is left. The download is 20 MB; an unreachable server
/// otherwise costs minutes.
const RUSTUP_MAX: Duration = Duration::from_secs(60);

/// The same where it is the only route.
const RUSTUP_ONLY_MAX: Duration = Duration::from_secs(600);

/// Fails to compile unless std, alloc and the panic runtime of the target are whole.
const PROBE: &str = "#[unsafe(no_mangle)] pub extern \"C\" fn probe(n: usize) -> usize { \
                     vec![n; n].iter().map(|n| n.to_string().len()).sum() }";

/// A rustc with the target's std, and how to make cargo use it.
#[derive(Debug, Clone)]
pub struct WasmToolchain {
    /// The compiler where it is not the active one.
    rustc: Option<PathBuf>,
    /// The linker where the compiler brings none.
    linker: Option<PathBuf>,
    /// `rustc -vV` of that compiler: what a build with it depends on.
    pub version: String,
}

impl WasmToolchain {
    /// Finds a toolchain, setting one up if there is none.
    pub fn set_up() -> Result<Self> {
        if let Some(active) = Self::active()? {
            return Ok(active);
        }
        let debian = debian::available();
        if let Some(ready) = debian.then(|| debian::cached(&Cache::of_user()?)).transpose()?.flatten() {
            return Ok(ready);
        }
        let tried = match rustup_target_add(if debian { RUSTUP_MAX } else { RUSTUP_ONLY_MAX }) {
            Ok(()) => match Self::active()? {
                Some(active) => return Ok(active),
                None => "rustup added the target to another toolchain than the active one".to_owned(),
            },
            Err(reason) => reason,
        };
        let by_rustup = format!("rustup target add {TARGET}");
        if !debian {
            let reason = format!("{tried}\n  (the other route needs Debian or a relative of it: apt-get)");
            return Err(StepFailed::new(by_rustup.clone(), reason).by_hand(by_rustup).into());
        }
        eprintln!("  rustup cannot add the target here; the packages of Debian are next");
        debian::set_up(&Cache::of_user()?).map_err(|error| {
            let first = StepFailed::new(by_rustup.clone(), tried).by_hand(by_rustup);
            anyhow!("no standard library for {TARGET}, by either route\n\n{first}\n\n{error:#}")
        })
    }

    /// The active toolchain, if it has the target.
    fn active() -> Result<Option<Self>> {
        let rustc = workspace::rustc();
        let libdir = process::ask(Command::new(&rustc).args(["--print", "target-libdir", "--target", TARGET]));
        let has_std = libdir.is_ok_and(|dir| has_rlib(Path::new(dir.trim()), "libstd-"));
        if !has_std {
            return Ok(None);
        }
        let toolchain = WasmToolchain { rustc: None, linker: None, version: version_of(&rustc)? };
        // A target that rustup was interrupted in adding has files, too; it does not count.
        Ok(toolchain.works().is_ok().then_some(toolchain))
    }

    /// Makes a cargo command build with this toolchain, and with nothing of the caller's that could reach into it.
    pub fn apply(&self, cargo: &mut Command) {
        for name in
            ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_BOOTSTRAP"]
        {
            cargo.env_remove(name);
        }
        if let Some(rustc) = &self.rustc {
            cargo.env("RUSTC", rustc);
        }
        if let Some(linker) = &self.linker {
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
    }

    fn works(&self) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
        let source = folder.path().join("probe.rs");
        std::fs::write(&source, PROBE).map_err(|error| format!("write {}: {error}", source.display()))?;
        let rustc = self.rustc.as_ref().map_or_else(workspace::rustc, OsString::from);
        let mut command = Command::new(rustc);
        command.args(["--edition", "2024", "--crate-type", "cdylib", "-C", "panic=abort", "--target", TARGET]);
        if let Some(linker) = &self.linker {
            command.arg("-C").arg(format!("linker={}", linker.display()));
        }
        command.arg("--out-dir").arg(folder.path()).arg(&source);
        process::ask(&mut command).map(|_| ()).map_err(|error| error.to_string())
    }
}

fn rustup_target_add(timeout: Duration) -> Result<(), String> {
    if let Err(error) = process::ask(Command::new("rustup").arg("--version")) {
        return Err(error.why);
    }
    step(format!("rustup target add {TARGET}"), |step: &Step| {
        let mut command = Command::new("rustup");
        command.args(["target", "add", TARGET]).env("RUSTUP_MAX_RETRIES", "1").env("RUST_BACKTRACE", "0");
        Ok(process::quiet_within(&mut command, timeout, step)?)
    })
    .map(|_| ())
    .map_err(|error| error.to_string())
}

/// `rustc -vV`: release, commit, host.
fn version_of(rustc: impl Into<OsString>) -> Result<String> {
    Ok(process::ask(Command::new(rustc.into()).arg("-vV"))?.trim().to_owned())
}

/// One field of `rustc -vV`.
fn field<'a>(version: &'a str, name: &str) -> Option<&'a str> {
    version.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn has_rlib(folder: &Path, prefix: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(prefix) && name.ends_with(".rlib")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_version_is_found_by_its_whole_name() {
        let version = "rustc 1.96.0 (abc 2026-05-28)\nbinary: rustc\ncommit-hash: abc\nhost: x86_64-unknown-linux-gnu";
        assert_eq!(field(version, "host"), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(field(version, "commit-hash"), Some("abc"));
        assert_eq!(field(version, "commit"), None);
    }

    #[test]
    fn a_folder_counts_only_with_the_library_in_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!has_rlib(folder.path(), "libstd-"));
        std::fs::write(folder.path().join("libstd-1.rmeta"), "").unwrap();
        std::fs::write(folder.path().join("libcore-1.rlib"), "").unwrap();
        assert!(!has_rlib(folder.path(), "libstd-"));
        std::fs::write(folder.path().join("libstd-1.rlib"), "").unwrap();
        assert!(has_rlib(folder.path(), "libstd-"));
        assert!(!has_rlib(&folder.path().join("none"), "libstd-"));
    }
}
