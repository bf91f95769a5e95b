//! The Debian route: packaged rustc and std sources, and a private sysroot built from them once.
//!
//! The packages are `rustc-web` and `rust-web-src`; security updates move their version, so it is asked for, never
//! named. The sysroot is an entry of the user cache: a wrapper around the packaged compiler, links to its host libraries
//! and sources, and the built rlibs of the target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{TARGET, WasmToolchain, field, has_rlib, version_of};
use crate::cache::Cache;
use crate::error::StepFailed;
use crate::process;
use crate::progress::{Step, step};
use crate::workspace;

/// Where the package puts its compiler; never the one on PATH, which may be rustup's.
const RUSTC: &str = "/usr/bin/rustc";

/// The packages.
const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Raised when what is in the sysroot changes, so that older entries are not taken for newer ones.
const LAYOUT: u32 = 1;

/// The compiler reads its own place, so that the entry works before and after it is renamed into the cache.
const WRAPPER: &str = "#!/bin/sh\nexec /usr/bin/rustc --sysroot \"$(cd \"$(dirname \"$0\")/..\" && pwd)\" \"$@\"\n";

/// The packaged compiler, once it is known to be new enough and to have its sources.
struct Packaged {
    version: String,
    /// Its sysroot, `/usr` in practice.
    sysroot: PathBuf,
}

/// Whether this machine has apt.
pub fn available() -> bool {
    cfg!(target_os = "linux") && Path::new("/usr/bin/apt-get").exists()
}

/// The toolchain, if an earlier run has built it.
pub fn cached(cache: &Cache) -> Result<Option<WasmToolchain>> {
    let Some(packaged) = Packaged::find()? else { return Ok(None) };
    let Some(sysroot) = cache.get(&packaged.key()) else { return Ok(None) };
    Ok(Some(toolchain(&sysroot, packaged.version)?).filter(|toolchain| toolchain.works().is_ok()))
}

/// Installs the packages and builds the sysroot, where they are not there yet.
pub fn set_up(cache: &Cache) -> Result<WasmToolchain> {
    let packaged = match Packaged::find()? {
        Some(packaged) => packaged,
        None => install()?,
    };
    let sysroot = cache.get_or_build(&packaged.key(), |partial| {
        step(format!("build the standard library for {TARGET}"), |step| {
            build_sysroot(partial, &packaged, step).map_err(|error| {
                StepFailed::new(format!("build the standard library for {TARGET}"), format!("{error:#}"))
                    .by_hand(format!("rustup target add {TARGET}"))
                    .into()
            })
        })
    })?;
    let toolchain = toolchain(&sysroot, packaged.version)?;
    toolchain.works().map_err(|reason| {
        StepFailed::new("try the private sysroot", reason)
            .by_hand(format!("rm -r {}   (and run this again)", sysroot.display()))
    })?;
    Ok(toolchain)
}

impl Packaged {
    fn find() -> Result<Option<Self>> {
        if !Path::new(RUSTC).exists() {
            return Ok(None);
        }
        let version = version_of(RUSTC)?;
        let sysroot = PathBuf::from(process::ask(Command::new(RUSTC).args(["--print", "sysroot"]))?.trim());
        let new_enough = field(&version, "release").is_some_and(at_least_msrv);
        let sources = sysroot.join("lib/rustlib/src/rust/library/std/Cargo.toml").exists();
        Ok((new_enough && sources).then_some(Packaged { version, sysroot }))
    }

    fn key(&self) -> String {
        let release = field(&self.version, "release").unwrap_or("unknown");
        let host = field(&self.version, "host").unwrap_or("unknown");
        let digest = crate::fresh::Digest::of(self.version.as_bytes());
        format!("wasm32-std-{release}-{host}-{}-{LAYOUT}", &digest.to_hex()[..12])
    }
}

fn toolchain(sysroot: &Path, version: String) -> Result<WasmToolchain> {
    Ok(WasmToolchain { rustc: Some(sysroot.join("bin/rustc")), linker: Some(linker()?), version })
}

/// The wasm linker: the packaged compiler brings none, the active toolchain does.
fn linker() -> Result<PathBuf> {
    let active = version_of(workspace::rustc())?;
    let host = field(&active, "host").unwrap_or_default();
    let sysroot = process::ask(Command::new(workspace::rustc()).args(["--print", "sysroot"]))?;
    let sysroot = Path::new(sysroot.trim());
    let brought = sysroot.join("lib/rustlib").join(host).join("bin/rust-lld");
    let packaged = [PathBuf::from("/usr/bin/rust-lld"), PathBuf::from("/usr/bin/wasm-ld")];
    match std::iter::once(brought.clone()).chain(packaged).find(|path| path.exists()) {
        Some(linker) => Ok(linker),
        None => Err(StepFailed::new("find a linker for wasm", format!("there is no {}", brought.display()))
            .by_hand("sudo apt-get install lld")
            .into()),
    }
}

fn install() -> Result<Packaged> {
    let updated = if candidate_is_new_enough() { false } else { update(&by_hand(&PACKAGES)).map(|()| true)? };
    install_packages(&PACKAGES, updated)?;
    Packaged::find()?.with_context(|| {
        let minimum = env!("CARGO_PKG_RUST_VERSION");
        format!("{RUSTC} is older than {minimum} or has no std sources; by hand: {}", by_hand(&PACKAGES))
    })
}

/// What a person would type.
fn by_hand(packages: &[&str]) -> String {
    format!("sudo apt-get update && sudo apt-get install {}", packages.join(" "))
}

/// Installs packages; apt's lists are updated where they turn out to be old or empty, unless they were just `updated`.
pub fn install_packages(packages: &[&str], updated: bool) -> Result<()> {
    let name = format!("apt-get install {}", packages.join(" "));
    let failed = |reason: String| StepFailed::new(name.clone(), reason).by_hand(by_hand(packages));
    step(name.clone(), |step| {
        let mut result = try_install(packages, step);
        if let Err(error) = &result {
            let is_old = error.output.contains("404") || error.output.contains("Unable to locate package");
            if error.output.contains("dpkg --configure -a") {
                // An installation that was interrupted, perhaps an earlier run of this one, is finished first.
                process::quiet(apt("dpkg").args(["--configure", "-a"]), step)
                    .map_err(|error| failed(error.to_string()))?;
                result = try_install(packages, step);
            } else if !updated && (is_old || error.output.contains("no installation candidate")) {
                process::quiet(apt("apt-get").arg("update"), step).map_err(|error| failed(error.to_string()))?;
                result = try_install(packages, step);
            }
        }
        result.map(|_| ()).map_err(|error| failed(error.to_string()).into())
    })
}

fn update(by_hand: &str) -> Result<()> {
    step("apt-get update", |step| {
        process::quiet(apt("apt-get").arg("update"), step)
            .map_err(|error| StepFailed::new("apt-get update", error).by_hand(by_hand))?;
        Ok(())
    })
}

fn try_install(packages: &[&str], step: &Step) -> Result<process::Output, process::Failed> {
    let mut command = apt("apt-get");
    // Another apt may be at work, a concurrent run of this for instance: it is waited for.
    command.args(["install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"]).args(packages);
    process::quiet(&mut command, step)
}

fn apt(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C");
    command
}

/// Whether apt's present lists offer a compiler that is new enough; they may be empty, or older than the update that is.
fn candidate_is_new_enough() -> bool {
    let policy = process::ask(apt("apt-cache").args(["policy", PACKAGES[0]]));
    policy.is_ok_and(|policy| {
        policy.lines().find_map(|line| line.trim().strip_prefix("Candidate: ")).is_some_and(at_least_msrv)
    })
}

/// Whether a version (`1.96.0`, `1.96.0+dfsg1-1~deb12u1`) is at least the workspace's minimum.
fn at_least_msrv(version: &str) -> bool {
    at_least(version, env!("CARGO_PKG_RUST_VERSION"))
}

fn at_least(version: &str, minimum: &str) -> bool {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split(['.', '+', '-', '~']);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    matches!((numbers(version), numbers(minimum)), (Some(version), Some(minimum)) if version >= minimum)
}

/// Fills `sysroot`: wrapper, links, and the target's std, built by cargo from an empty crate.
fn build_sysroot(sysroot: &Path, packaged: &Packaged, step: &Step) -> Result<()> {
    let host = field(&packaged.version, "host").context("rustc -vV names no host")?;
    let rustlib = sysroot.join("lib/rustlib");
    let system = packaged.sysroot.join("lib/rustlib");
    fs::create_dir_all(sysroot.join("bin"))?;
    fs::create_dir_all(&rustlib)?;
    executable(&sysroot.join("bin/rustc"), WRAPPER)?;
    link(&system.join(host), &rustlib.join(host))?;
    link(&system.join("src"), &rustlib.join("src"))?;

    let empty = sysroot.join("empty");
    fs::create_dir_all(empty.join("src"))?;
    fs::write(empty.join("src/lib.rs"), "#![no_std]\n")?;
    fs::write(
        empty.join("Cargo.toml"),
        "[package]\nname = \"empty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[profile.release]\npanic = \"abort\"\n\n[workspace]\n",
    )?;
    let mut cargo = Command::new(workspace::cargo());
    WasmToolchain { rustc: Some(sysroot.join("bin/rustc")), linker: None, version: String::new() }.apply(&mut cargo);
    cargo
        .current_dir(&empty)
        .args(["build", "-Zbuild-std=std,panic_abort", "--target", TARGET, "--release"])
        .env("RUSTC_BOOTSTRAP", "1")
        // Without bitcode in the rlibs, link-time optimization with them fails later.
        .env("RUSTFLAGS", "-Cembed-bitcode=yes")
        .env("CARGO_TARGET_DIR", empty.join("target"));
    process::quiet(&mut cargo, step)?;

    let lib = rustlib.join(TARGET).join("lib");
    fs::create_dir_all(&lib)?;
    for entry in fs::read_dir(empty.join("target").join(TARGET).join("release/deps"))? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".rlib") && !name.starts_with("libempty-") {
            fs::copy(entry.path(), lib.join(&*name))?;
        }
    }
    fs::remove_dir_all(&empty)?;
    if !has_rlib(&lib, "libstd-") {
        bail!("cargo built no libstd");
    }
    Ok(())
}

#[cfg(unix)]
fn executable(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> Result<()> {
    std::os::unix::fs::symlink(to, at).with_context(|| format!("link {} to {}", at.display(), to.display()))
}

#[cfg(not(unix))]
fn executable(_: &Path, _: &str) -> Result<()> {
    bail!("the Debian route exists on Debian alone")
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> Result<()> {
    bail!("the Debian route exists on Debian alone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(at_least("1.96.0", "1.95"));
        assert!(at_least("1.95.0+dfsg1-1~deb12u1", "1.95"));
        assert!(at_least("1.100.0", "1.95"));
        assert!(at_least("2.0", "1.95"));
        assert!(!at_least("1.85.0+dfsg3-1~deb12u3", "1.95"));
        assert!(!at_least("1.9", "1.95"));
        assert!(!at_least("(none)", "1.95"));
    }
}
