//! Tells the program which compiler it was built with: a figure without it says little.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    println!("cargo::rustc-env=LEASEBOOK_BENCH_RUSTC={}", String::from_utf8_lossy(&output).trim());
}
