//! Finds the precompiled component that the command embeds: `LEASEBOOK_PRECOMPILED`, or where `cargo xtask wasm` puts
//! it.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-env-changed=LEASEBOOK_PRECOMPILED");
    let built = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/wasm/leasebook.cwasm");
    let precompiled = std::env::var_os("LEASEBOOK_PRECOMPILED").map_or_else(built, PathBuf::from);
    println!("cargo::rerun-if-changed={}", precompiled.display());
    match precompiled.canonicalize() {
        Ok(found) => println!("cargo::rustc-env=LEASEBOOK_PRECOMPILED_FOUND={}", found.display()),
        Err(error) => println!("cargo::error={}: {error}; run `cargo xtask wasm`", precompiled.display()),
    }
}
