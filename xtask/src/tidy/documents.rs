//! Rules that hold documents against the code.

use super::Complaints;
use super::packages::Packages;
use super::tree::{SourceFile, Tree};

/// The page with the reasons.
const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";

/// Where the reasons stand in it.
const REASONS: &str = "## Dependencies";

/// The commands that the first page must name.
const FIRST_PAGE: [&str; 2] = ["cargo xtask demo", "cargo xtask test"];

/// Each direct dependency has a row with a reason, and each row a dependency.
pub fn reasons(tree: &Tree, packages: &Packages) -> Complaints {
    let direct = packages.direct();
    let Some(page) = tree.file(ARCHITECTURE) else { return vec![format!("{ARCHITECTURE}: is missing")] };
    let section = page.lines().map(|(_, line)| line).skip_while(|line| !line.starts_with(REASONS)).skip(1);
    let rows = section.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with('|')).skip(2);
    let listed: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|names| names.split(',').map(|name| name.trim().trim_matches('`')))
        .collect();
    let missing = direct.iter().filter(|name| !listed.contains(name));
    let stale = listed.iter().filter(|name| !direct.contains(*name));
    let missing = missing.map(|name| format!("{ARCHITECTURE}: no row says why {name} is used"));
    missing.chain(stale.map(|name| format!("{ARCHITECTURE}: {name} has a row and is not used"))).collect()
}

/// Each `cargo xtask NAME` and `cargo xtask test NAME` in a document is one that exists.
pub fn commands(tree: &Tree, subcommands: &[String], checks: &[&str]) -> Complaints {
    let mut complaints = Complaints::new();
    for file in documents(tree) {
        for (number, line) in file.lines() {
            for call in line.split("cargo xtask ").skip(1) {
                let mut words = call.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
                // Capitals stand for a name, as in this rule's own description.
                let word = words.next().filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()));
                let Some(task) = word else { continue };
                if !subcommands.iter().any(|known| known == task) {
                    complaints.push(format!("{}:{number}: there is no `cargo xtask {task}`", file.path));
                }
                let named = (task == "test").then(|| call["test".len()..].strip_prefix(' ')).flatten();
                let name = named.and_then(|rest| rest.split(|c: char| !(c.is_ascii_lowercase() || c == '-')).next());
                if let Some(name) = name.filter(|name| !name.is_empty() && call.contains(&format!("test {name}`")))
                    && !checks.contains(&name)
                {
                    complaints.push(format!("{}:{number}: there is no check `{name}`", file.path));
                }
            }
        }
    }
    let readme = tree.file("README.md").and_then(|file| file.text()).unwrap_or_default();
    let missing = FIRST_PAGE.iter().filter(|command| !readme.contains(**command));
    complaints.extend(missing.map(|command| format!("README.md: does not name `{command}`")));
    complaints
}

/// Where a document names a minimal Rust, it is the workspace's.
pub fn minimal_rust(tree: &Tree, packages: &Packages) -> Complaints {
    let Some(minimal) = packages.minimal_rust() else {
        return vec!["Cargo.toml: names no minimal Rust".to_owned()];
    };
    let mut complaints = Complaints::new();
    for file in documents(tree) {
        for (number, line) in file.lines() {
            for rest in line.split("Rust 1.").skip(1) {
                let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
                if !minor.is_empty() && format!("1.{minor}") != minimal {
                    complaints.push(format!("{}:{number}: Rust 1.{minor}, expected {minimal}", file.path));
                }
            }
        }
    }
    complaints
}

/// Pages for readers; a changelog is history and may name what is gone.
fn documents(tree: &Tree) -> impl Iterator<Item = &SourceFile> {
    tree.files.iter().filter(|file| file.is("md") && !file.path.ends_with("CHANGELOG.md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "Run `cargo xtask demo`, then `cargo xtask test`.\n";

    fn complaints(text: &str) -> Complaints {
        let subcommands = ["demo", "test", "wasm"].map(str::to_owned);
        commands(&Tree::of(&[("README.md", README), ("docs/a.md", text)]), &subcommands, &["fmt", "clippy"])
    }

    #[test]
    fn commands_that_exist_are_fine() {
        assert_eq!(complaints("`cargo xtask wasm`, `cargo xtask test`; cargo xtask NAME"), Complaints::new());
        assert_eq!(complaints("`cargo xtask test clippy` and cargo xtask test is the gate"), Complaints::new());
    }

    #[test]
    fn commands_that_do_not_exist_are_found() {
        assert_eq!(complaints("one\n`cargo xtask wsm`"), ["docs/a.md:2: there is no `cargo xtask wsm`"]);
        assert_eq!(complaints("`cargo xtask test clipy`"), ["docs/a.md:1: there is no check `clipy`"]);
    }

    #[test]
    fn the_first_page_names_both_commands() {
        let tree = Tree::of(&[("README.md", "Run `cargo xtask demo`.\n")]);
        assert_eq!(commands(&tree, &["demo".to_owned()], &[]), ["README.md: does not name `cargo xtask test`"]);
    }
}
