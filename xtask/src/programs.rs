//! Programs that tests and benchmarks work with: found, or on Debian installed.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::error::StepFailed;
use crate::wasm_std::debian;

/// What Chromium is called, by those who package it.
const CHROMIUM: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// A browser, in which tests and benchmarks of the npm package run.
pub fn chromium() -> Result<PathBuf> {
    one_of(&CHROMIUM, "chromium", "https://www.chromium.org")
}

/// What the coordination service is measured beside, and what the client of one of them is built with.
pub fn servers() -> Result<()> {
    one_of(&["protoc"], "protobuf-compiler", "https://protobuf.dev")?;
    // The descriptions of basic types, which Debian has in a package apart.
    if debian::available() && !Path::new("/usr/include/google/protobuf/descriptor.proto").exists() {
        debian::install_packages(&["libprotobuf-dev"], false)?;
    }
    one_of(&["etcd"], "etcd-server", "https://etcd.io")?;
    one_of(&["redis-server"], "redis-server", "https://redis.io")?;
    Ok(())
}

fn one_of(names: &[&str], package: &str, site: &str) -> Result<PathBuf> {
    if let Some(found) = find(names) {
        return Ok(found);
    }
    if debian::available() {
        debian::install_packages(&[package], false)?;
    }
    let missing = || StepFailed::new(format!("find {package}"), format!("none of {} is on PATH", names.join(", ")));
    find(names).ok_or_else(|| missing().by_hand(format!("install it: {site}")).into())
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|program| program.is_file())
}
