//! The npm package: two wasm modules made of `js/wasm`, and the TypeScript of `js/src` compiled around them.
//!
//! wasm-bindgen is called directly. wasm-pack would call the same three tools, after another minute of building itself,
//! and add a package.json of its own that we would throw away.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cache::{self, Cache};
use crate::component;
use crate::error::StepFailed;
use crate::fresh::{Artifact, Digest, Inputs};
use crate::process;
use crate::progress::{Step, step};
use crate::wasm_std::{TARGET, WasmToolchain};
use crate::workspace::Workspace;

/// The crate of both modules.
const CRATE: &str = "leasebook-js";
/// Its build profile.
const PROFILE: &str = "wasm-js";
/// The modules, each a feature of the crate: nobody loads what is not used.
const MODULES: [&str; 2] = ["table", "writer"];
/// The tool that makes the JavaScript of a module, at exactly the version of the crate.
const BINDGEN: &str = "wasm-bindgen";
/// The oldest Node that the package runs on.
const NODE_MAJOR_MIN: u32 = 20;

/// What a module depends on, besides the compilers.
const INPUTS: [&str; 8] = [
    "Cargo.lock",
    "Cargo.toml",
    ".cargo/config.toml",
    "core/Cargo.toml",
    "core/src",
    "js/package-lock.json",
    "js/wasm",
    "xtask/src/js.rs",
];

/// What wasm-opt is told: all that Rust's target uses, and nothing that a runtime of some years ago lacks.
const OPT: [&str; 9] = [
    "-Oz",
    "--converge",
    "--enable-bulk-memory",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--strip-debug",
    "--strip-producers",
];

/// The sizes that are aimed at, in bytes: a module, and the entry with all that it imports, compressed.
const MODULE_AIM: u64 = 110 * 1024;
const ENTRY_AIM: u64 = 60 * 1024;

/// Compresses files together as a server would, and prints how many bytes that are.
const GZIP: &str = "const { readFileSync } = require('fs'); const { gzipSync } = require('zlib'); \
    console.log(gzipSync(Buffer.concat(process.argv.slice(1).map((f) => readFileSync(f))), { level: 9 }).length)";

/// Builds the package into `js/dist`, and answers the folder `js`.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.path("js");
    let built = workspace.root.join("target").join("js");
    fs::create_dir_all(&built).with_context(|| format!("create {}", built.display()))?;
    let _lock = cache::lock(&built.join("lock"))?;
    node()?;
    packages(&folder)?;
    let generated = folder.join("src").join("generated");
    fs::create_dir_all(&generated).with_context(|| format!("create {}", generated.display()))?;
    for module in MODULES {
        let (wasm, glue) = one(workspace, &built, module)?;
        put(&generated.join(format!("{module}.js")), &fs::read(&glue)?)?;
        put(&generated.join(format!("{module}-bytes.ts")), inlined(&fs::read(&wasm)?).as_bytes())?;
    }
    compile(workspace, &folder, &built)?;
    put(&folder.join("dist").join("leasebook.wasm"), &fs::read(built.join("table.wasm"))?)?;
    put(&folder.join("dist").join("cjs").join("package.json"), b"{ \"type\": \"commonjs\" }\n")?;
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
        put(&folder.join(licence), &fs::read(workspace.path(licence))?)?;
    }
    Ok(folder)
}

/// Makes JavaScript of the component, by the jco of the packages that [`build`] installs; answers the folder.
pub fn transpile(workspace: &Workspace) -> Result<PathBuf> {
    let component = component::build_alone(workspace)?;
    let script = workspace.path("js/test/component/transpile.mjs");
    let built = workspace.root.join("target").join("js");
    let _lock = cache::lock(&built.join("lock"))?;
    let folder = built.join("jco");
    let mut inputs = Inputs::new().value("component", &Digest::of(&fs::read(&component)?).to_hex());
    for input in ["js/package-lock.json", "js/test/component/transpile.mjs"] {
        inputs = inputs.path(&workspace.root, input)?;
    }
    let artifact = Artifact::at(folder.join("made"));
    let digest = inputs.digest();
    if !artifact.is_fresh(digest) {
        fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
        step("transpile the component to JavaScript", |step| {
            artifact.ensure(digest, || {
                process::quiet(Command::new("node").arg(&script).arg(&component).arg(&folder), step)
                    .map_err(|error| StepFailed::new("transpile the component to JavaScript", error))?;
                Ok(digest.to_hex().into_bytes())
            })
        })?;
    }
    Ok(folder)
}

/// Prints how large what was built is.
pub fn sizes(workspace: &Workspace) -> Result<()> {
    let dist = workspace.path("js/dist");
    let report = |what: &str, size: u64, aim: u64| {
        let verdict = if size <= aim { "at most" } else { "more than the" };
        println!("{what:48} {size:>7} bytes, {verdict} {aim} aimed at");
    };
    for module in MODULES {
        let wasm = workspace.root.join("target").join("js").join(format!("{module}.wasm"));
        report(&format!("wasm module `{module}`"), fs::metadata(&wasm)?.len(), MODULE_AIM);
    }
    for (name, entry) in [("leasebook", "esm/index.js"), ("leasebook/files", "esm/files/index.js")] {
        let mut node = Command::new("node");
        node.args(["--eval", GZIP, "--"]).args(closure(&dist.join(entry))?);
        let size = process::ask(&mut node)?.trim().parse()?;
        report(&format!("entry `{name}` and all it imports, gzip"), size, ENTRY_AIM);
    }
    Ok(())
}

/// The program of a Rust host that the tests of the package contend with.
const WRITER: &str = "leasebook-js-writer";
/// The variable that tells the tests where it is.
const WRITER_VARIABLE: &str = "LEASEBOOK_RUST_WRITER";

/// The variable that tells the tests where Chromium is.
const CHROMIUM_VARIABLE: &str = "LEASEBOOK_CHROMIUM";

/// Runs the tests of the package, against a Rust host too. Where `chromium` is missing, the tests that need it fail,
/// unless they are told to do without.
pub fn test(
    workspace: &Workspace,
    folder: &Path,
    chromium: Option<&Path>,
    step: &Step,
) -> Result<process::Output, process::Failed> {
    let mut cargo = workspace.cargo();
    process::quiet(cargo.args(["build", "--package", WRITER]), step)?;
    let program = workspace.target_dir().join("debug").join(WRITER);
    let mut vitest = Command::new("node");
    vitest.current_dir(folder).args(["node_modules/vitest/vitest.mjs", "run", "--typecheck"]);
    vitest.env("CI", "1").env("NO_COLOR", "1").env(WRITER_VARIABLE, program);
    if let Some(chromium) = chromium {
        vitest.env(CHROMIUM_VARIABLE, chromium);
    }
    process::quiet(&mut vitest, step)
}

/// How many tests passed and failed, by the line `Tests  1 failed | 27 passed (28)`.
pub fn count(output: &str) -> (usize, usize) {
    let line = output.lines().map(str::trim).find_map(|line| line.strip_prefix("Tests ")).unwrap_or_default();
    let number = |what: &str| {
        let found = line.split(['|', '(']).find_map(|part| part.trim().strip_suffix(what));
        found.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    };
    (number("passed"), number("failed"))
}

/// Is there a Node that is new enough?
fn node() -> Result<()> {
    let by_hand = "install Node 20 or newer, with npm: https://nodejs.org";
    let found = process::ask(Command::new("node").arg("--version"))
        .map_err(|error| StepFailed::new("find node", error).by_hand(by_hand))?;
    let major = found.trim().trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < NODE_MAJOR_MIN) {
        bail!(StepFailed::new("find node", format!("it is {}", found.trim())).by_hand(by_hand));
    }
    Ok(())
}

/// The npm packages, exactly as the lock file has them.
fn packages(folder: &Path) -> Result<()> {
    let lock = fs::read(folder.join("package-lock.json")).context("read js/package-lock.json")?;
    let stamp = folder.join("node_modules").join(".leasebook-stamp");
    let digest = Digest::of(&lock).to_hex();
    if fs::read_to_string(&stamp).is_ok_and(|found| found == digest) {
        return Ok(());
    }
    step("install the npm packages of js/package-lock.json", |step| {
        let mut npm = Command::new("npm");
        npm.current_dir(folder).args(["ci", "--no-audit", "--no-fund"]);
        process::quiet(&mut npm, step)
            .map_err(|error| StepFailed::new("install the npm packages", error).by_hand("cd js && npm ci"))?;
        put(&stamp, digest.as_bytes())
    })
}

/// The version of the crate wasm-bindgen that is locked.
fn bindgen_version(workspace: &Workspace) -> Result<String> {
    let lock = fs::read_to_string(workspace.path("Cargo.lock")).context("read Cargo.lock")?;
    let head = format!("name = \"{BINDGEN}\"\nversion = \"");
    let rest = lock.split(&head).nth(1).context("Cargo.lock has no wasm-bindgen")?;
    Ok(rest.split('"').next().unwrap_or_default().to_owned())
}

/// The command-line tool of wasm-bindgen, built once for this user.
fn bindgen(workspace: &Workspace, version: &str) -> Result<PathBuf> {
    let cache = Cache::of_user()?;
    let key = format!("{BINDGEN}-{version}-{}-1", std::env::consts::ARCH);
    let bin = |folder: &Path| folder.join("bin").join(format!("{BINDGEN}{}", std::env::consts::EXE_SUFFIX));
    if let Some(folder) = cache.get(&key) {
        return Ok(bin(&folder));
    }
    let name = format!("build {BINDGEN} {version}, once for this user");
    let folder = cache.get_or_build(&key, |folder| {
        step(&*name, |step| {
            let scratch = tempfile::tempdir().context("create a folder to build in")?;
            let mut cargo = workspace.cargo();
            cargo.args(["install", "wasm-bindgen-cli", "--version", version, "--bin", BINDGEN, "--root"]).arg(folder);
            // It reads a small module in no time however it is built; optimized, it would take twice as long to build.
            cargo.env("CARGO_TARGET_DIR", scratch.path()).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
            process::quiet(&mut cargo, step).map_err(|error| {
                let by_hand = format!("cargo install wasm-bindgen-cli --version {version}");
                StepFailed::new(&*name, error).by_hand(by_hand)
            })?;
            Ok(())
        })
    })?;
    Ok(bin(&folder))
}

/// One module and its JavaScript, where something that goes into it changed.
fn one(workspace: &Workspace, built: &Path, module: &str) -> Result<(PathBuf, PathBuf)> {
    let toolchain = WasmToolchain::set_up()?;
    let version = bindgen_version(workspace)?;
    let tool = bindgen(workspace, &version)?;
    let (wasm, glue) = (built.join(format!("{module}.wasm")), built.join(format!("{module}.js")));
    let mut inputs = Inputs::new().value("rustc", &toolchain.version).value("module", module);
    for input in INPUTS {
        inputs = inputs.path(&workspace.root, input)?;
    }
    let artifact = Artifact::at(&wasm);
    if !glue.is_file() {
        remove(&wasm)?;
    }
    let digest = inputs.digest();
    if !artifact.is_fresh(digest) {
        step(format!("build the wasm module `{module}`"), |step| {
            artifact.ensure(digest, || make(workspace, &toolchain, &tool, built, module, step))
        })?;
    }
    Ok((wasm, glue))
}

fn make(
    workspace: &Workspace,
    toolchain: &WasmToolchain,
    tool: &Path,
    built: &Path,
    module: &str,
    step: &Step,
) -> Result<Vec<u8>> {
    // A build folder of its own: another compiler may be at work here, and cargo locks the folder it builds in.
    let target = workspace.target_dir().join("wasm-build");
    let mut cargo = workspace.cargo();
    toolchain.apply(&mut cargo);
    cargo.args(["build", "--package", CRATE, "--no-default-features", "--features", module]);
    cargo.args(["--profile", PROFILE, "--target", TARGET]).env("CARGO_TARGET_DIR", &target);
    process::quiet(&mut cargo, step).map_err(|error| StepFailed::new(format!("build {CRATE}"), error))?;
    let compiled = target.join(TARGET).join(PROFILE).join(format!("{}.wasm", CRATE.replace('-', "_")));

    let bound = built.join("bound");
    let mut bindgen = Command::new(tool);
    bindgen.args(["--target", "web", "--omit-default-module-path", "--no-typescript", "--out-name", module]);
    process::quiet(bindgen.arg("--out-dir").arg(&bound).arg(&compiled), step)
        .map_err(|error| StepFailed::new("run wasm-bindgen", error))?;

    let optimized = bound.join(format!("{module}_opt.wasm"));
    let mut opt = Command::new("node");
    opt.arg(workspace.path("js/node_modules/binaryen/bin/wasm-opt")).args(OPT);
    opt.arg(bound.join(format!("{module}_bg.wasm"))).arg("--output").arg(&optimized);
    process::quiet(&mut opt, step).map_err(|error| StepFailed::new("run wasm-opt", error))?;

    put(&built.join(format!("{module}.js")), &fs::read(bound.join(format!("{module}.js")))?)?;
    fs::read(&optimized).with_context(|| format!("read {}", optimized.display()))
}

/// The TypeScript: ES modules, CommonJS, and the types of both.
fn compile(workspace: &Workspace, folder: &Path, built: &Path) -> Result<()> {
    let dist = folder.join("dist");
    let mut inputs = Inputs::new();
    for input in [
        "js/src",
        "js/package.json",
        "js/package-lock.json",
        "js/tsconfig.json",
        "js/tsconfig.cjs.json",
        "xtask/src/js.rs",
    ] {
        inputs = inputs.path(&workspace.root, input)?;
    }
    let artifact = Artifact::at(built.join("compiled"));
    let digest = inputs.digest();
    if !dist.join("cjs").is_dir() {
        remove(&built.join("compiled"))?;
    }
    if artifact.is_fresh(digest) {
        return Ok(());
    }
    step("compile the TypeScript", |step| {
        artifact.ensure(digest, || {
            // What a file that is gone was compiled to must go, too.
            for kind in ["esm", "cjs"] {
                match fs::remove_dir_all(dist.join(kind)) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                    _ => {}
                }
            }
            // Comments belong to the types, where an editor shows them. Types are checked once, and are the same in
            // both kinds of modules.
            let runs: [&[&str]; 3] = [
                &["tsconfig.json", "--emitDeclarationOnly"],
                &["tsconfig.json", "--declaration", "false", "--removeComments", "--noCheck"],
                &["tsconfig.cjs.json", "--declaration", "false", "--removeComments", "--noCheck"],
            ];
            for arguments in runs {
                let mut tsc = Command::new("node");
                tsc.current_dir(folder).args(["node_modules/typescript/bin/tsc", "--project"]).args(arguments);
                process::quiet(&mut tsc, step).map_err(|error| StepFailed::new("compile the TypeScript", error))?;
            }
            copy_types(&dist.join("esm"), &dist.join("cjs"))?;
            Ok(digest.to_hex().into_bytes())
        })
    })?;
    Ok(())
}

/// Copies the declarations of one folder to another.
fn copy_types(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("read the folder {}", from.display()))? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_types(&entry.path(), &place)?;
        } else if entry.file_name().to_string_lossy().ends_with(".d.ts") {
            put(&place, &fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

/// A file and all that it imports, in no order.
fn closure(entry: &Path) -> Result<Vec<PathBuf>> {
    let mut files = vec![entry.to_owned()];
    let mut at = 0;
    while let Some(file) = files.get(at).cloned() {
        let text = fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
        let folder = file.parent().unwrap_or(Path::new("."));
        for import in text.split(" from \"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let place = folder.join(import);
            let Some(place) = import.starts_with('.').then(|| place.canonicalize()).transpose()? else { continue };
            if !files.contains(&place) {
                files.push(place);
            }
        }
        at += 1;
    }
    Ok(files)
}

/// The characters that stand for bytes, the shortest first: those of one byte in UTF-8 that need no escape, then those
/// of two.
fn characters() -> impl Iterator<Item = char> {
    (' '..='~').filter(|c| !matches!(c, '"' | '\\')).chain('\u{a1}'..'\u{200}')
}

/// A module as a file of TypeScript. See `js/src/wasm/inlined.ts`.
fn inlined(wasm: &[u8]) -> String {
    let mut bytes: Vec<(usize, u8)> = (0..=u8::MAX).map(|byte| (0, byte)).collect();
    for byte in wasm {
        bytes[usize::from(*byte)].0 += 1;
    }
    bytes.sort_by_key(|(count, byte)| (usize::MAX - count, *byte));
    let mut alphabet = ['\0'; 256];
    for ((_, byte), character) in bytes.iter().zip(characters()) {
        alphabet[usize::from(*byte)] = character;
    }
    let text: String = wasm.iter().map(|byte| alphabet[usize::from(*byte)]).collect();
    let alphabet: String = alphabet.iter().collect();
    format!(
        "// Generated by `cargo xtask js`.\nimport {{ decoded }} from \"../wasm/inlined.js\";\n\n\
         export const bytes = (): Uint8Array<ArrayBuffer> => decoded(\"{alphabet}\",\n\"{text}\");\n"
    )
}

/// Removes a file, where there is one: what is made with it is missing.
fn remove(place: &Path) -> Result<()> {
    match fs::remove_file(place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", place.display()))
        }
        _ => Ok(()),
    }
}

/// Writes a file, where it says something else.
fn put(place: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(place).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    fs::write(place, bytes).with_context(|| format!("write {}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_character_for_every_byte_and_none_ends_the_text() {
        let all: Vec<char> = characters().take(256).collect();
        assert_eq!(all.len(), 256);
        assert!(all.iter().all(|c| !matches!(c, '"' | '\\' | '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\0')));
        assert!(all.iter().all(|c| u32::from(*c) < 0x200));
    }

    #[test]
    fn tests_are_counted() {
        assert_eq!(count(" Test Files  5 passed (5)\n      Tests  27 passed (27)\n"), (27, 0));
        assert_eq!(count("      Tests  1 failed | 27 passed (28)\n"), (27, 1));
        assert_eq!(count("nothing"), (0, 0));
    }

    #[test]
    fn the_version_of_wasm_bindgen_is_the_locked_one() {
        let version = bindgen_version(&Workspace::locate()).unwrap();
        assert!(version.starts_with("0.2."), "{version}");
    }
}
