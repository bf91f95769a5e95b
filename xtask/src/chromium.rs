//! Chromium, in which tests and benchmarks of the npm package run: found, or on Debian installed.

use std::path::PathBuf;

use anyhow::Result;

use crate::error::StepFailed;
use crate::wasm_std::debian;

/// What it is called, by those who package it.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Its package on Debian.
const PACKAGE: &str = "chromium";

/// The program.
pub fn set_up() -> Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    if debian::available() {
        debian::install_packages(&[PACKAGE], false)?;
    }
    let missing = || StepFailed::new("find Chromium", format!("none of {} is on PATH", NAMES.join(", ")));
    find().ok_or_else(|| missing().by_hand("install Chromium: https://www.chromium.org").into())
}

fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    all.into_iter().find(|program| program.is_file())
}
