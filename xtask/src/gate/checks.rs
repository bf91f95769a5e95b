//! The checks of the gate, in order: what is quick and most often wrong comes first.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::{Broken, Check, Context, Counts, Needs};
use crate::process;
use crate::progress::Step;
use crate::vectors::{self, Places, Runtime};
use crate::workspace::FEATURES;
use crate::{component, contract, js, tidy};

/// The recorded runs of the repository.
const VECTORS: &str = "tests/vectors";

/// The program of the benchmarks.
const BENCH: &str = "leasebook-bench";

/// The names of all checks, in order.
pub const NAMES: [&str; ALL.len()] = {
    let mut names = [""; ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = ALL[index].name;
        index += 1;
    }
    names
};

pub(super) const ALL: [Check; 14] = [
    Check { name: "fmt", what: "formatting", needs: Needs::Nothing, run: fmt },
    Check { name: "tidy", what: "tidy: rules of the repository", needs: Needs::Nothing, run: tidy },
    Check { name: "core", what: "the core alone, without std", needs: Needs::Nothing, run: core },
    Check { name: "component", what: "the component's imports and size", needs: Needs::Component, run: component },
    Check { name: "clippy", what: "lints", needs: Needs::Component, run: clippy },
    Check { name: "doc", what: "documentation without warnings", needs: Needs::Component, run: doc },
    Check { name: "test", what: "tests", needs: Needs::Component, run: test },
    Check { name: "doctest", what: "examples in documentation", needs: Needs::Component, run: doctest },
    Check { name: "vectors-native", what: "recorded runs, native", needs: Needs::Command, run: vectors_native },
    Check {
        name: "vectors-component",
        what: "recorded runs, component",
        needs: Needs::Command,
        run: vectors_component,
    },
    Check { name: "js", what: "the npm package", needs: Needs::Browser, run: npm },
    Check { name: "vectors-js", what: "recorded runs, the npm package", needs: Needs::Package, run: vectors_js },
    Check { name: "vectors-jco", what: "recorded runs, jco", needs: Needs::Transpiled, run: vectors_jco },
    Check { name: "bench", what: "benchmarks build", needs: Needs::Component, run: bench },
];

fn fmt(context: &Context, step: &Step) -> Result<Counts> {
    whole(context.workspace.cargo().args(["fmt", "--all", "--check", "--", "--color", "never"]), step)
}

fn tidy(context: &Context, _: &Step) -> Result<Counts> {
    let report = tidy::check(&context.workspace, &context.subcommands, &NAMES)?;
    let counts = Counts { passed: report.kept, failed: report.broken.len() };
    if report.broken.is_empty() {
        return Ok(counts);
    }
    let told = report.broken.iter().map(|(rule, complaints)| format!("{rule}:\n  {}\n", complaints.join("\n  ")));
    bail!(Broken { counts, said: told.collect() })
}

/// Without std, and with it but without anything that another crate would bring: what a user of the core alone has.
fn core(context: &Context, step: &Step) -> Result<Counts> {
    process::quiet(context.workspace.cargo().args(["check", "-p", "leasebook", "--no-default-features"]), step)?;
    tests(context.workspace.cargo().args(["test", "-p", "leasebook", "--no-fail-fast"]), step)
}

fn component(context: &Context, _: &Step) -> Result<Counts> {
    contract::check(&component::places(&context.workspace).component).map(|_| Counts::ONE)
}

fn clippy(context: &Context, step: &Step) -> Result<Counts> {
    let mut cargo = context.workspace.cargo();
    cargo.args(["clippy", "--workspace", "--all-targets", "--features", FEATURES, "--", "-D", "warnings"]);
    whole(&mut cargo, step)
}

fn doc(context: &Context, step: &Step) -> Result<Counts> {
    let mut cargo = context.workspace.cargo();
    cargo.args(["doc", "--workspace", "--no-deps", "--features", FEATURES]).env("RUSTDOCFLAGS", "-D warnings");
    whole(&mut cargo, step)
}

fn test(context: &Context, step: &Step) -> Result<Counts> {
    let mut cargo = context.workspace.cargo();
    cargo.args(["test", "--workspace", "--lib", "--bins", "--tests", "--examples", "--no-fail-fast"]);
    tests(cargo.args(["--features", FEATURES]), step)
}

fn doctest(context: &Context, step: &Step) -> Result<Counts> {
    let mut cargo = context.workspace.cargo();
    tests(cargo.args(["test", "--workspace", "--doc", "--no-fail-fast", "--features", FEATURES]), step)
}

fn vectors_native(context: &Context, _: &Step) -> Result<Counts> {
    replay(context, Runtime::Native, &Places { leasebook: command(context)?, ..Places::default() })
}

fn vectors_component(context: &Context, _: &Step) -> Result<Counts> {
    replay(context, Runtime::Component, &Places { leasebook: command(context)?, ..Places::default() })
}

fn command(context: &Context) -> Result<PathBuf> {
    context.leasebook.clone().context("the leasebook command is not built")
}

/// The tests of the package: of what is shipped, with its types, and of the packed package itself.
fn npm(context: &Context, step: &Step) -> Result<Counts> {
    let chromium = context.chromium.as_ref().and_then(Option::as_deref);
    match js::test(&context.workspace, &package(context)?, chromium, step) {
        Ok(output) => match js::count(&output.stdout) {
            (0, _) => bail!("the npm package ran no test"),
            (passed, failed) => Ok(Counts { passed, failed }),
        },
        Err(failed) => {
            let (passed, tests) = js::count(&failed.output);
            let said = format!("`{}` {}\n{}", failed.command, failed.why, failed.output);
            bail!(Broken { counts: Counts { passed, failed: tests.max(1) }, said })
        }
    }
}

fn vectors_js(context: &Context, _: &Step) -> Result<Counts> {
    replay(context, Runtime::Js, &Places { package: package(context)?, ..Places::default() })
}

fn vectors_jco(context: &Context, _: &Step) -> Result<Counts> {
    let transpiled = context.transpiled.clone().context("the component is not transpiled")?;
    let package = package(context)?;
    replay(context, Runtime::Jco, &Places { package, transpiled, ..Places::default() })
}

fn package(context: &Context) -> Result<PathBuf> {
    context.package.clone().flatten().context("the npm package is not built")
}

fn bench(context: &Context, step: &Step) -> Result<Counts> {
    context.workspace.program(BENCH, step)?;
    Ok(Counts::ONE)
}

/// Every sequence is one part.
fn replay(context: &Context, runtime: Runtime, places: &Places) -> Result<Counts> {
    let table = |runtime: &str| vectors::table(places, runtime);
    let mut counts = Counts::default();
    let mut said = String::new();
    for outcome in vectors::replay(&context.workspace.path(VECTORS), runtime, &table)? {
        counts.failed += outcome.first.len();
        counts.passed += outcome.sequences - outcome.first.len();
        if outcome.differences > 0 {
            said.push_str(&vectors::told(&outcome, usize::MAX));
        }
    }
    if said.is_empty() { Ok(counts) } else { bail!(Broken { counts, said }) }
}

/// Runs a command that passes or fails as one.
fn whole(command: &mut Command, step: &Step) -> Result<Counts> {
    process::quiet(command, step)?;
    Ok(Counts::ONE)
}

/// Runs `cargo test` and counts what its test binaries say; a run without any test is a failure of its own.
fn tests(command: &mut Command, step: &Step) -> Result<Counts> {
    match process::quiet(command, step) {
        Ok(output) => match count(&output.stdout) {
            Counts { passed: 0, .. } => bail!("`{}` ran no test", process::line_of(command)),
            counts => Ok(counts),
        },
        Err(failed) => {
            let Counts { passed, failed: tests } = count(&failed.output);
            let said = format!("`{}` {}\n{}", failed.command, failed.why, without_passed(&failed.output));
            bail!(Broken { counts: Counts { passed, failed: tests.max(1) }, said })
        }
    }
}

/// Sums the lines `test result: ok. 12 passed; 0 failed; …`.
fn count(output: &str) -> Counts {
    let mut counts = Counts::default();
    for line in output.lines().filter(|line| line.starts_with("test result: ")) {
        let number = |what: &str| -> usize {
            let before = line.split(what).next().and_then(|head| head.trim_end().rsplit(' ').next());
            before.and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        counts.passed += number(" passed");
        counts.failed += number(" failed");
    }
    counts
}

/// The output without the lines of tests that passed: what failed is what somebody looks for.
fn without_passed(output: &str) -> String {
    let kept = output.lines().filter(|line| !(line.starts_with("test ") && line.ends_with(" ok")));
    kept.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "running 3 tests\n\
        test a ... ok\n\
        test b ... FAILED\n\
        test result: FAILED. 12 passed; 1 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.01s\n\
        test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s\n";

    #[test]
    fn results_of_all_binaries_are_summed() {
        assert_eq!(count(OUTPUT), Counts { passed: 42, failed: 1 });
        assert_eq!(count("nothing"), Counts::default());
    }

    #[test]
    fn what_passed_is_not_repeated() {
        let shown = without_passed(OUTPUT);
        assert!(!shown.contains("test a") && shown.contains("test b ... FAILED"), "{shown}");
    }

    #[test]
    fn names_are_unique_and_fit_a_command_line() {
        let mut names = NAMES.to_vec();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), NAMES.len());
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
    }
}
