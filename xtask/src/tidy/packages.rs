//! Rules about packages: what cargo resolves, not what a manifest looks like.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Complaints;
use super::tree::Tree;
use crate::process;
use crate::workspace::Workspace;

/// Which of our packages a package of ours may depend on, tests included. A new package gets a line here.
const DIRECTIONS: [(&str, &[&str]); 13] = [
    ("leasebook", &[]),
    ("leasebook-component", &["leasebook"]),
    ("leasebook-js", &["leasebook"]),
    ("leasebook-js-writer", &["leasebook-files"]),
    ("leasebook-plugin", &[]),
    ("leasebook-files", &["leasebook"]),
    ("leasebook-wasmtime", &["leasebook-files"]),
    ("leasebook-server", &["leasebook"]),
    ("leasebook-service", &["leasebook", "leasebook-files", "leasebook-server", "leasebook-wasmtime"]),
    ("leasebook-tests", &["leasebook", "leasebook-files", "leasebook-wasmtime"]),
    ("leasebook-coordination-tests", &["leasebook", "leasebook-tests"]),
    ("leasebook-bench", &["leasebook", "leasebook-files", "leasebook-wasmtime"]),
    ("xtask", &[]),
];

/// Packages that must not be anywhere below one of ours, and why that matters.
const NEVER_BELOW: [(&str, &str, &str); 3] = [
    ("xtask", "wasmtime", "build logic must not take minutes to build"),
    ("leasebook", "wasmtime", "a pure core needs no runtime"),
    ("leasebook-component", "wasmtime", "a guest needs no runtime"),
];

/// All that the core may depend on outside its tests.
const CORE: [&str; 2] = ["foldhash", "hashbrown"];

/// Where packages may come from.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Licences that oblige a user to nothing but a notice.
const PERMISSIVE: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Zlib",
];

/// Licences that are permissive in part of an expression only: data, or a licence of the same spirit.
const PERMISSIVE_DATA: [&str; 2] = ["Unicode-3.0", "Unlicense"];

/// What cargo knows.
#[derive(Debug)]
pub struct Packages {
    metadata: Value,
}

impl Packages {
    /// Asks cargo, and insists that `Cargo.lock` is as the manifests want it.
    pub fn read(workspace: &Workspace) -> Result<Self> {
        let mut cargo = workspace.cargo();
        cargo.args(["metadata", "--format-version", "1", "--all-features", "--locked"]);
        let answer = process::ask(&mut cargo).context("read the packages (is Cargo.lock up to date?)")?;
        Ok(Packages { metadata: serde_json::from_str(&answer).context("read the answer of cargo metadata")? })
    }

    fn all(&self) -> impl Iterator<Item = Package<'_>> {
        list(&self.metadata["packages"]).map(Package)
    }

    fn members(&self) -> impl Iterator<Item = Package<'_>> {
        let ids: BTreeSet<&str> = list(&self.metadata["workspace_members"]).filter_map(Value::as_str).collect();
        self.all().filter(move |package| ids.contains(package.id()))
    }

    /// The minimal Rust of the workspace.
    pub fn minimal_rust(&self) -> Option<&str> {
        self.members().find_map(|package| package.0["rust_version"].as_str())
    }

    /// The names of packages from outside that our packages ask for themselves.
    pub fn direct(&self) -> BTreeSet<&str> {
        let members: BTreeSet<&str> = self.members().map(|package| package.name()).collect();
        let asked = self.members().flat_map(|package| package.dependencies().map(|(name, _)| name).collect::<Vec<_>>());
        asked.filter(|name| !members.contains(name)).collect()
    }

    /// Every edge between our packages is an allowed one.
    pub fn directions(&self) -> Complaints {
        let mut complaints = Complaints::new();
        let members: BTreeSet<&str> = self.members().map(|package| package.name()).collect();
        for package in self.members() {
            let Some((_, allowed)) = DIRECTIONS.iter().find(|(name, _)| *name == package.name()) else {
                complaints.push(format!("{}: is not listed in xtask/src/tidy/packages.rs", package.name()));
                continue;
            };
            for (name, _) in package.dependencies().filter(|(name, _)| members.contains(name)) {
                if !allowed.contains(&name) {
                    complaints
                        .push(format!("{}: depends on {name}, expected of ours only {allowed:?}", package.name()));
                }
            }
        }
        for (above, below, reason) in NEVER_BELOW {
            if self.below(above).contains(below) {
                complaints.push(format!("{above}: has {below} somewhere below it; {reason}"));
            }
        }
        complaints
    }

    /// The core depends on the hash map and nothing else.
    pub fn core_is_bare(&self) -> Complaints {
        let core = self.members().filter(|package| package.name() == "leasebook");
        let found: BTreeSet<&str> = core
            .flat_map(|package| {
                package.dependencies().filter(|(_, kind)| *kind != "dev").map(|(name, _)| name).collect::<Vec<_>>()
            })
            .collect();
        if found.iter().eq(CORE.iter()) {
            return Complaints::new();
        }
        vec![format!("leasebook: depends on {found:?}, expected {CORE:?}")]
    }

    /// Packages come from crates.io or are ours.
    pub fn sources(&self) -> Complaints {
        let from = |package: &Package| package.0["source"].as_str().unwrap_or("a folder").to_owned();
        let ours: BTreeSet<&str> = self.members().map(|package| package.id()).collect();
        let strangers = self.all().filter(|package| !ours.contains(package.id()) && from(package) != CRATES_IO);
        strangers
            .map(|package| format!("{}: comes from {}, expected crates.io", package.name(), from(&package)))
            .collect()
    }

    /// Each package can be used under licences that oblige to nothing but a notice.
    pub fn licences(&self) -> Complaints {
        let licence = |package: &Package| package.0["license"].as_str().unwrap_or("").to_owned();
        let strict = self.all().filter(|package| !permissive(&licence(package)));
        strict.map(|package| format!("{}: is under `{}`", package.name(), licence(&package))).collect()
    }

    /// Members take version, edition and minimal Rust from the workspace, and the workspace's own list agrees.
    pub fn written_once(&self, tree: &Tree) -> Complaints {
        let mut complaints = Complaints::new();
        for file in tree.files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
            // A package of its own, such as one with fuzz targets, is no member and has its own edition line.
            if file.lines().any(|(_, line)| line.trim() == "[workspace]") {
                continue;
            }
            for key in ["version", "edition", "rust-version"] {
                let wanted = format!("{key}.workspace = true");
                if !file.lines().any(|(_, line)| line.trim() == wanted) {
                    complaints.push(format!("{}: expected `{wanted}`", file.path));
                }
            }
            for (number, line) in file.lines() {
                if line.contains("version = \"") {
                    complaints.push(format!(
                        "{}:{number}: `{}`, expected `NAME.workspace = true`",
                        file.path,
                        line.trim()
                    ));
                }
            }
        }
        let version = self.members().next().and_then(|package| package.0["version"].as_str()).unwrap_or_default();
        let root = tree.file("Cargo.toml");
        for (number, line) in root.into_iter().flat_map(|file| file.lines()) {
            if line.contains("path = \"") && !line.contains(&format!("version = \"{version}\"")) {
                complaints.push(format!("Cargo.toml:{number}: expected version {version}, which is the workspace's"));
            }
        }
        complaints
    }

    /// The names of everything below a package of ours, tests left out.
    fn below(&self, name: &str) -> BTreeSet<&str> {
        let names: BTreeMap<&str, &str> = self.all().map(|package| (package.id(), package.name())).collect();
        let nodes: BTreeMap<&str, &Value> =
            list(&self.metadata["resolve"]["nodes"]).filter_map(|node| Some((node["id"].as_str()?, node))).collect();
        let mut todo: Vec<&str> =
            self.members().filter(|package| package.name() == name).map(|package| package.id()).collect();
        let mut seen = BTreeSet::new();
        while let Some(id) = todo.pop() {
            for dependency in nodes.get(id).into_iter().flat_map(|node| list(&node["deps"])) {
                let shipped = list(&dependency["dep_kinds"]).any(|kind| kind["kind"].as_str() != Some("dev"));
                if let Some(id) = dependency["pkg"].as_str().filter(|id| shipped && !seen.contains(id)) {
                    seen.insert(id);
                    todo.push(id);
                }
            }
        }
        seen.iter().filter_map(|id| names.get(id).copied()).collect()
    }
}

struct Package<'a>(&'a Value);

impl<'a> Package<'a> {
    fn id(&self) -> &'a str {
        self.0["id"].as_str().unwrap_or_default()
    }

    fn name(&self) -> &'a str {
        self.0["name"].as_str().unwrap_or_default()
    }

    /// Names and kinds (`normal`, `dev`, `build`).
    fn dependencies(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        list(&self.0["dependencies"]).filter_map(|dependency| {
            Some((dependency["name"].as_str()?, dependency["kind"].as_str().unwrap_or("normal")))
        })
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Whether an SPDX expression leaves a choice that is permissive throughout. Brackets group alternatives only, as they
/// do in every expression met; an expression of another shape is not permissive until somebody has read it.
fn permissive(expression: &str) -> bool {
    let allowed = |term: &str| PERMISSIVE.contains(&term) || PERMISSIVE_DATA.contains(&term);
    let any = |alternatives: &str| alternatives.replace('/', " OR ").split(" OR ").any(|term| allowed(term.trim()));
    if expression.contains('(') {
        return expression.split(" AND ").all(|part| any(part.trim().trim_matches(['(', ')'])));
    }
    let alternatives = expression.replace('/', " OR ");
    alternatives.split(" OR ").any(|all| all.split(" AND ").all(|term| allowed(term.trim())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dependency(name: &str, kind: Option<&str>) -> Value {
        json!({ "name": name, "kind": kind })
    }

    fn package(name: &str, dependencies: &[Value]) -> Value {
        let source = (!name.starts_with("leasebook") && name != "xtask").then_some(CRATES_IO);
        json!({ "id": format!("id {name}"), "name": name, "version": "0.1.0", "rust_version": "1.95",
            "license": "MIT OR Apache-2.0", "source": source, "dependencies": dependencies })
    }

    fn packages(packages: &[Value]) -> Packages {
        let node = |package: &Value| {
            let deps = list(&package["dependencies"]).map(|dependency| {
                json!({ "pkg": format!("id {}", dependency["name"].as_str().unwrap()),
                    "dep_kinds": [{ "kind": dependency["kind"] }] })
            });
            json!({ "id": package["id"], "deps": deps.collect::<Vec<_>>() })
        };
        let ours = packages.iter().filter(|package| package["source"].is_null());
        Packages {
            metadata: json!({
                "packages": packages,
                "workspace_members": ours.map(|package| package["id"].clone()).collect::<Vec<_>>(),
                "resolve": { "nodes": packages.iter().map(node).collect::<Vec<_>>() },
            }),
        }
    }

    #[test]
    fn an_edge_against_the_direction_is_found_in_tests_too() {
        let good =
            packages(&[package("leasebook", &[]), package("leasebook-component", &[dependency("leasebook", None)])]);
        assert_eq!(good.directions(), Complaints::new());
        for kind in [None, Some("dev"), Some("build")] {
            let bad =
                packages(&[package("leasebook", &[]), package("leasebook-wasmtime", &[dependency("leasebook", kind)])]);
            assert_eq!(
                bad.directions(),
                ["leasebook-wasmtime: depends on leasebook, expected of ours only [\"leasebook-files\"]"],
                "{kind:?}"
            );
        }
        let unknown = packages(&[package("leasebook-new", &[])]);
        assert_eq!(unknown.directions().len(), 1);
    }

    #[test]
    fn a_runtime_anywhere_below_xtask_is_found() {
        let deep = packages(&[
            package("xtask", &[dependency("helper", None)]),
            package("helper", &[dependency("wasmtime", None)]),
            package("wasmtime", &[]),
        ]);
        assert_eq!(deep.directions().len(), 1);
        let tests_only = packages(&[
            package("xtask", &[dependency("helper", None)]),
            package("helper", &[dependency("wasmtime", Some("dev"))]),
            package("wasmtime", &[]),
        ]);
        assert_eq!(tests_only.directions(), Complaints::new());
    }

    #[test]
    fn the_core_has_its_hash_map_and_nothing_else() {
        let hash = [dependency("hashbrown", None), dependency("foldhash", None)];
        let with = |more: &[Value]| packages(&[package("leasebook", &[&hash[..], more].concat())]);
        assert_eq!(with(&[]).core_is_bare(), Complaints::new());
        assert_eq!(with(&[dependency("proptest", Some("dev"))]).core_is_bare(), Complaints::new());
        assert_eq!(with(&[dependency("serde", None)]).core_is_bare().len(), 1);
        assert_eq!(with(&[dependency("cc", Some("build"))]).core_is_bare().len(), 1);
    }

    #[test]
    fn a_package_from_elsewhere_is_found() {
        let mut stranger = package("stranger", &[]);
        assert_eq!(packages(&[stranger.clone()]).sources(), Complaints::new());
        stranger["source"] = json!("git+https://example.org/stranger");
        assert_eq!(packages(&[stranger]).sources().len(), 1);
    }

    #[test]
    fn licences_are_read_as_expressions() {
        for good in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Unlicense OR MIT",
        ] {
            assert!(permissive(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND GPL-3.0", "MPL-2.0"] {
            assert!(!permissive(bad), "{bad}");
        }
    }

    #[test]
    fn a_version_written_twice_is_found() {
        let ours = packages(&[package("leasebook", &[])]);
        let manifest = "[package]\nversion.workspace = true\nedition.workspace = true\nrust-version.workspace = true\n";
        let root = "leasebook = { path = \"core\", version = \"0.1.0\" }\n";
        let check = |root: &str, member: &str| {
            ours.written_once(&Tree::of(&[("Cargo.toml", root), ("core/Cargo.toml", member)]))
        };
        assert_eq!(check(root, manifest), Complaints::new());
        assert_eq!(check(root, &manifest.replace("edition.workspace = true", "edition = \"2024\"")).len(), 1);
        assert_eq!(check(root, &format!("{manifest}serde = {{ version = \"1\" }}\n")).len(), 1);
        assert_eq!(check(&root.replace("0.1.0", "0.2.0"), manifest).len(), 1);
        assert_eq!(check(root, "[package]\nversion = \"0.0.0\"\n\n[workspace]\n"), Complaints::new());
    }
}
