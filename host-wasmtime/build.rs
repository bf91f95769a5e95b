//! Finds the component that the crate embeds: `LEASEBOOK_COMPONENT`, or where `cargo xtask wasm` puts it.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-env-changed=LEASEBOOK_COMPONENT");
    let built = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/wasm/leasebook.component.wasm");
    let component = std::env::var_os("LEASEBOOK_COMPONENT").map_or_else(built, PathBuf::from);
    println!("cargo::rerun-if-changed={}", component.display());
    match component.canonicalize() {
        Ok(found) => println!("cargo::rustc-env=LEASEBOOK_COMPONENT_FOUND={}", found.display()),
        Err(error) => println!("cargo::error={}: {error}; run `cargo xtask wasm`", component.display()),
    }
}
