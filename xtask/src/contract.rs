//! What the built component promises: what it imports, and how large it may be.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use wasmparser::{Encoding, Parser, Payload};

/// The largest component, in bytes. It grows only with a line in `docs/DESIGN.md`, section 8, which says what was aimed
/// at, and where the bytes go.
pub const SIZE_MAX: u64 = 260 * 1024;

/// The interfaces it may import, and must: without their version.
pub const IMPORTS: [&str; 2] = ["leasebook:lease/clock", "leasebook:lease/marker-files"];

/// Reads a component file and compares; answers its size in bytes.
pub fn check(file: &Path) -> Result<u64> {
    let bytes = fs::read(file).with_context(|| format!("read {}; build it with `cargo xtask wasm`", file.display()))?;
    check_bytes(&bytes).with_context(|| format!("the component {}", file.display()))
}

fn check_bytes(bytes: &[u8]) -> Result<u64> {
    let imports = imports(bytes)?;
    let names: Vec<&str> = imports.iter().map(|name| without_version(name)).collect();
    if names != IMPORTS {
        bail!("imports {imports:?}, expected exactly {IMPORTS:?}");
    }
    let size = bytes.len() as u64;
    if size > SIZE_MAX {
        bail!("is {size} bytes large, expected at most {SIZE_MAX}");
    }
    Ok(size)
}

/// The names a component imports itself, sorted; what the modules inside it import of one another does not count.
fn imports(bytes: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0_u32;
    let mut is_component = false;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.context("is not readable")? {
            Payload::Version { encoding, .. } if depth == 0 => is_component = encoding == Encoding::Component,
            Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            Payload::ComponentImportSection(section) if depth == 0 => {
                for import in section {
                    names.push(import?.name.name.to_owned());
                }
            }
            _ => {}
        }
    }
    if !is_component {
        bail!("is not a component");
    }
    names.sort();
    Ok(names)
}

fn without_version(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        Component, ComponentImportSection, ComponentTypeRef, ComponentTypeSection, CustomSection, InstanceType,
    };

    use super::*;

    fn component(imports: &[&str], padding: usize) -> Vec<u8> {
        let mut component = Component::new();
        let mut types = ComponentTypeSection::new();
        types.instance(&InstanceType::new());
        component.section(&types);
        let mut section = ComponentImportSection::new();
        for import in imports {
            section.import(*import, ComponentTypeRef::Instance(0));
        }
        component.section(&section);
        component.section(&CustomSection { name: "p".into(), data: vec![0; padding].into() });
        component.finish()
    }

    const BOTH: [&str; 2] = ["leasebook:lease/marker-files@0.1.0", "leasebook:lease/clock@0.1.0"];

    #[test]
    fn the_clock_and_marker_files_are_allowed_and_nothing_else() {
        assert!(check_bytes(&component(&BOTH, 0)).is_ok());
        for imports in [
            &[][..],
            &BOTH[..1],
            &BOTH[1..],
            &["wasi:clocks/monotonic-clock@0.2.0"],
            &[BOTH[0], BOTH[1], "wasi:cli/environment@0.2.0"],
            &[BOTH[0], "leasebook:lease/clocks@0.1.0"],
        ] {
            let error = check_bytes(&component(imports, 0)).unwrap_err().to_string();
            assert!(error.starts_with("imports "), "{imports:?}: {error}");
        }
    }

    #[test]
    fn the_budget_is_exact() {
        let bare = component(&BOTH, 0).len();
        // From 16 384 to 2 097 151, the length of a section takes three bytes instead of one.
        let padding = SIZE_MAX as usize - bare - 2;
        let full = component(&BOTH, padding);
        assert_eq!(full.len() as u64, SIZE_MAX);
        assert_eq!(check_bytes(&full).unwrap(), SIZE_MAX);
        let error = check_bytes(&component(&BOTH, padding + 1)).unwrap_err();
        assert_eq!(error.to_string(), format!("is {} bytes large, expected at most {SIZE_MAX}", SIZE_MAX + 1));
    }

    #[test]
    fn a_plain_module_and_noise_are_refused() {
        let module = wasm_encoder::Module::new().finish();
        assert_eq!(check_bytes(&module).unwrap_err().to_string(), "is not a component");
        assert!(check_bytes(b"noise").is_err());
    }
}
