//! `cargo xtask test`: the gate. Every check runs, also after one that failed; a check can be run alone by its name.
//!
//! What a check has to say shows only when it fails, in full up to a bound, with the command that runs it alone.

mod checks;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::{self, Failed};
use crate::progress::{Seconds, Step};
use crate::workspace::Workspace;
use crate::{component, js, leasebook, programs};
pub use checks::NAMES;

/// How many lines of a failed check's output are shown.
const SHOWN_MAX: usize = 300;

/// A check: its name, what it is, and what must have been built before.
struct Check {
    name: &'static str,
    what: &'static str,
    needs: Needs,
    run: fn(&Context, &Step) -> Result<Counts>,
}

/// What a check builds on. It is built before the check begins, once, with progress lines of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Needs {
    Nothing,
    /// The component and its precompiled form, which build scripts embed, and the example plugin, which tests load.
    Component,
    /// The `leasebook` command.
    Command,
    /// The npm package, which builds on none of the others.
    Package,
    /// The same, and a browser.
    Browser,
    /// The same, and the component as JavaScript.
    Transpiled,
}

/// What checks share.
struct Context {
    workspace: Workspace,
    subcommands: Vec<String>,
    /// Where the `leasebook` command is, once it is built.
    leasebook: Option<PathBuf>,
    /// What is built, or why it could not be.
    built: Needs,
    cannot: Option<Needs>,
    /// Where the npm package is, once it is built, or that it could not be.
    package: Option<Option<PathBuf>>,
    /// Where Chromium is, or that it could not be had.
    chromium: Option<Option<PathBuf>>,
    /// Where the transpiled component is, once it is made.
    transpiled: Option<PathBuf>,
}

/// How much of a check passed; a check without parts counts as one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
}

/// How a check ended.
#[derive(Debug)]
struct Ended {
    name: &'static str,
    what: &'static str,
    counts: Counts,
    verdict: &'static str,
    took: Duration,
}

/// A check that failed in parts: the counts, and what it has to say.
#[derive(Debug)]
struct Broken {
    counts: Counts,
    said: String,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Broken {}

impl Counts {
    const ONE: Counts = Counts { passed: 1, failed: 0 };
}

/// Runs the checks named, or all of them, and prints the summary.
pub fn run(workspace: &Workspace, subcommands: Vec<String>, names: &[String]) -> Result<ExitCode> {
    let unknown: Vec<&String> = names.iter().filter(|name| !NAMES.contains(&name.as_str())).collect();
    if !unknown.is_empty() {
        bail!("there is no check {unknown:?}; there are {}", NAMES.join(", "));
    }
    let mut context = Context::new(workspace, subcommands);
    let chosen: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let mut ended = Vec::new();
    for check in checks::ALL.iter().filter(|check| chosen.is_empty() || chosen.contains(check.name)) {
        ended.push(if context.have(check.needs) { run_one(check, &context) } else { not_run(check) });
    }
    print!("{}", summary(&ended));
    let failed: usize = ended.iter().map(|ended| ended.counts.failed).sum();
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Context {
    fn new(workspace: &Workspace, subcommands: Vec<String>) -> Self {
        Context {
            workspace: workspace.clone(),
            subcommands,
            leasebook: None,
            built: Needs::Nothing,
            cannot: None,
            package: None,
            chromium: None,
            transpiled: None,
        }
    }

    /// Builds what is needed and not built yet; answers whether it is there. What could not be built is not tried
    /// again, nor is what builds on it.
    fn have(&mut self, needs: Needs) -> bool {
        if needs >= Needs::Package {
            return match needs {
                Needs::Transpiled => self.have_package() && self.have_transpiled(),
                Needs::Browser => {
                    self.look_for_browser();
                    self.have_package()
                }
                _ => self.have_package(),
            };
        }
        if needs <= self.built {
            return true;
        }
        if self.cannot.is_some_and(|cannot| cannot <= needs) {
            return false;
        }
        let result = match needs {
            Needs::Nothing => Ok(()),
            Needs::Component => {
                component::build(&self.workspace).and_then(|_| component::build_plugin(&self.workspace)).map(|_| ())
            }
            Needs::Command => leasebook::build(&self.workspace).map(|command| self.leasebook = Some(command)),
            Needs::Package | Needs::Browser | Needs::Transpiled => unreachable!("it is built apart"),
        };
        match &result {
            Ok(()) => self.built = needs,
            Err(error) => {
                eprintln!("error: {error:#}\n");
                self.cannot = Some(needs);
            }
        }
        result.is_ok()
    }

    /// Without one the check begins all the same: the tests that need it say so, and may be excused.
    fn look_for_browser(&mut self) {
        let told = |error: &anyhow::Error| eprintln!("error: {error:#}\n");
        self.chromium.get_or_insert_with(|| programs::chromium().inspect_err(told).ok());
    }

    fn have_transpiled(&mut self) -> bool {
        let told = |error: &anyhow::Error| eprintln!("error: {error:#}\n");
        self.transpiled = js::transpile(&self.workspace).inspect_err(told).ok();
        self.transpiled.is_some()
    }

    fn have_package(&mut self) -> bool {
        let workspace = &self.workspace;
        let package = self
            .package
            .get_or_insert_with(|| js::build(workspace).inspect_err(|error| eprintln!("error: {error:#}\n")).ok());
        package.is_some()
    }
}

fn run_one(check: &Check, context: &Context) -> Ended {
    let step = Step::begin(check.what);
    let result = (check.run)(context, &step);
    let verdict = if result.is_ok() { "ok" } else { "failed" };
    let took = step.end(format!("{verdict:6}"));
    let counts = match result {
        Ok(counts) => counts,
        Err(error) => {
            let said = match (error.downcast_ref::<Broken>(), error.downcast_ref::<Failed>()) {
                (Some(broken), _) => broken.said.clone(),
                (None, Some(failed)) => format!("`{}` {}\n{}", failed.command, failed.why, failed.output),
                (None, None) => format!("{error:#}"),
            };
            eprintln!("{}\n    alone: cargo xtask test {}\n", process::tail(&said, SHOWN_MAX), check.name);
            error.downcast_ref::<Broken>().map_or(Counts { passed: 0, failed: 1 }, |broken| broken.counts)
        }
    };
    Ended { name: check.name, what: check.what, counts, verdict, took }
}

fn not_run(check: &Check) -> Ended {
    Step::begin(check.what).end("not run: what it needs could not be built");
    let counts = Counts { passed: 0, failed: 1 };
    Ended { name: check.name, what: check.what, counts, verdict: "not run", took: Duration::ZERO }
}

/// The table of checks, and the line that says it all.
fn summary(ended: &[Ended]) -> String {
    let width = ended.iter().map(|ended| ended.what.chars().count()).max().unwrap_or(0);
    let names = ended.iter().map(|ended| ended.name.len()).max().unwrap_or(0);
    let mut text =
        format!("\n{:names$}  {:width$}  {:7}  {:>6}  {:>6}  {:>12}\n", "CHECK", "", "", "PASSED", "FAILED", "TIME");
    for Ended { name, what, counts, verdict, took } in ended {
        let time = Seconds(*took).to_string();
        text.push_str(&format!(
            "{name:names$}  {what:width$}  {verdict:7}  {:>6}  {:>6}  {time:>12}\n",
            counts.passed, counts.failed
        ));
    }
    let passed: usize = ended.iter().map(|ended| ended.counts.passed).sum();
    let failed: usize = ended.iter().map(|ended| ended.counts.failed).sum();
    text.push_str(&format!("\n{passed} passed, {failed} failed\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(name: &'static str, passed: usize, failed: usize) -> Ended {
        let verdict = if failed == 0 { "ok" } else { "failed" };
        let counts = Counts { passed, failed };
        Ended { name, what: "what it is", counts, verdict, took: Duration::from_millis(1_500) }
    }

    #[test]
    fn the_summary_ends_with_the_sums_alone_on_a_line() {
        let text = summary(&[ended("fmt", 1, 0), ended("test", 230, 2)]);
        assert_eq!(text.lines().last(), Some("231 passed, 2 failed"));
        assert!(text.lines().any(|line| line.starts_with("test") && line.contains("failed") && line.contains("230")));
    }

    #[test]
    fn an_unknown_check_is_refused_with_the_known_ones() {
        let error = run(&Workspace::locate(), Vec::new(), &["clipy".to_owned()]).unwrap_err().to_string();
        assert!(error.contains("clipy") && error.contains("clippy"), "{error}");
    }

    #[test]
    fn what_could_not_be_built_fails_all_that_builds_on_it() {
        let mut context = Context::new(&Workspace::locate(), Vec::new());
        context.cannot = Some(Needs::Component);
        assert!(context.have(Needs::Nothing));
        assert!(!context.have(Needs::Component) && !context.have(Needs::Command));
        let mut context = Context::new(&Workspace::locate(), Vec::new());
        (context.built, context.cannot) = (Needs::Component, Some(Needs::Command));
        assert!(context.have(Needs::Component) && !context.have(Needs::Command));
    }

    #[test]
    fn a_check_counts_its_parts_where_it_has_any() {
        let context = Context::new(&Workspace::locate(), Vec::new());
        let check = |run| Check { name: "x", what: "x", needs: Needs::Nothing, run };
        let parts = run_one(
            &check(|_, _| bail!(Broken { counts: Counts { passed: 3, failed: 2 }, said: "two".to_owned() })),
            &context,
        );
        assert_eq!((parts.counts, parts.verdict), (Counts { passed: 3, failed: 2 }, "failed"));
        let whole = run_one(&check(|_, _| bail!("no")), &context);
        assert_eq!(whole.counts, Counts { passed: 0, failed: 1 });
        assert_eq!(run_one(&check(|_, _| Ok(Counts::ONE)), &context).counts, Counts::ONE);
    }
}
