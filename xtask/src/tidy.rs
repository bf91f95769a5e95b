//! Tidy: rules about the repository that no compiler checks.
//!
//! Every rule is a function from what is checked in, or from what cargo knows about the packages, to complaints. A
//! complaint says where, what stands there and what was expected. An exception to a rule is listed with its reason
//! beside the rule, nowhere else.

mod documents;
mod packages;
mod source;
mod tree;

use anyhow::Result;

use crate::workspace::Workspace;
use packages::Packages;
use tree::Tree;

/// What a rule has against the repository; empty when it is kept.
type Complaints = Vec<String>;

/// What came of all rules.
#[derive(Debug, Default)]
pub struct Report {
    /// Rules that are kept.
    pub kept: usize,
    /// Rules that are broken, with what they complain of.
    pub broken: Vec<(&'static str, Complaints)>,
}

/// Applies every rule. `subcommands` are the names that `cargo xtask` knows, and `checks` those of `cargo xtask test`.
pub fn check(workspace: &Workspace, subcommands: &[String], checks: &[&str]) -> Result<Report> {
    let tree = Tree::read(workspace)?;
    let packages = Packages::read(workspace)?;
    let mut report = Report::default();
    let mut rule = |name, complaints: Complaints| match complaints.is_empty() {
        true => report.kept += 1,
        false => report.broken.push((name, complaints)),
    };
    rule("dependencies between crates point one way", packages.directions());
    rule("the core depends on a hash map alone", packages.core_is_bare());
    rule("every dependency comes from crates.io", packages.sources());
    rule("every licence is permissive", packages.licences());
    rule("versions and the minimal Rust are written once", packages.written_once(&tree));
    rule("each dependency has a reason in docs/ARCHITECTURE.md", documents::reasons(&tree, &packages));
    rule("the commands in documents exist", documents::commands(&tree, subcommands, checks));
    rule("the minimal Rust in documents is the real one", documents::minimal_rust(&tree, &packages));
    rule("files are short", source::length(&tree));
    rule("every module says what it is", source::headers(&tree));
    rule("nothing is left to do, nothing is ignored", source::unfinished(&tree));
    rule("no path of some machine", source::machine_paths(&tree));
    rule("no built binary is checked in", source::binaries(&tree));
    rule(".ci/run runs the gate and nothing else", source::ci(&tree));
    Ok(report)
}
