//! Rules about single files.

use super::Complaints;
use super::tree::Tree;

/// The longest a file of code may be, in lines.
const LINES_MAX: usize = 600;

/// What counts as code, by extension.
const CODE: [&str; 9] = ["rs", "wit", "ts", "tsx", "js", "mjs", "cjs", "py", "sh"];

/// Files that may be longer, and why. Keep it short.
const LONG: [(&str, &str); 1] = [
    // An interface cannot be split over files, and types that it took from another one would be an import.
    ("wit/table.wit", "one interface with the types of its operations, so that the component imports the clock alone"),
];

/// What must not stand in code, and how a complaint calls it. Split, so that this list does not complain of itself.
const UNFINISHED: [(&str, &str); 5] = [
    (concat!("todo", "!("), "work that is not done"),
    (concat!("unimplemented", "!("), "work that is not done"),
    (concat!("#[", "ignore"), "an ignored test"),
    (concat!("dbg", "!("), "a debugging aid"),
    (concat!("FIX", "ME"), "work that is not done"),
];

/// Beginnings of paths that exist on one machine only.
const MACHINE_PATHS: [&str; 4] =
    [concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/"), concat!("C:\\Us", "ers")];

/// How files begin that tools build.
const BUILT: [(&[u8], &str); 7] = [
    (b"\0asm", "a wasm module or component"),
    (b"\x7fELF", "an ELF file"),
    (b"!<arch>\n", "a library archive"),
    (b"MZ\x90", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O file"),
    (b"\xca\xfe\xba\xbe", "a Mach-O or class file"),
    (b"PK\x03\x04", "a zip archive"),
];

/// The gate's script, to the byte.
const CI: &str =
    "#!/usr/bin/env bash\nset -euo pipefail\ncd \"$(dirname \"${BASH_SOURCE[0]}\")/..\"\nexec cargo xtask test\n";

/// No file of code is longer than it may be.
pub fn length(tree: &Tree) -> Complaints {
    let code = tree.files.iter().filter(|file| CODE.iter().any(|extension| file.is(extension)));
    let mut complaints: Complaints = code
        .map(|file| (file, file.lines().count()))
        .filter(|(file, lines)| *lines > LINES_MAX && LONG.iter().all(|(path, _)| *path != file.path))
        .map(|(file, lines)| format!("{}: {lines} lines, expected at most {LINES_MAX}: split it", file.path))
        .collect();
    for (path, _) in LONG {
        if tree.file(path).is_some_and(|file| file.lines().count() <= LINES_MAX) {
            complaints
                .push(format!("{path}: is not longer than {LINES_MAX} lines; take it off the list of exceptions"));
        }
    }
    complaints
}

/// Every Rust file opens with what it is.
pub fn headers(tree: &Tree) -> Complaints {
    let rust = tree.files.iter().filter(|file| file.is("rs"));
    rust.filter(|file| {
        // A shebang, attributes and empty lines may stand above it.
        let mut lines =
            file.lines().map(|(_, line)| line.trim()).skip_while(|line| line.is_empty() || line.starts_with('#'));
        !lines.next().is_some_and(|line| line.starts_with("//!"))
    })
    .map(|file| format!("{}: expected a header `//!` that says what it is", file.path))
    .collect()
}

/// No stub, no ignored test, no debugging aid.
pub fn unfinished(tree: &Tree) -> Complaints {
    let code = tree.files.iter().filter(|file| CODE.iter().any(|extension| file.is(extension)));
    code.flat_map(|file| {
        file.lines().flat_map(move |(number, line)| {
            let found = UNFINISHED.iter().filter(move |(text, _)| line.contains(text));
            found.map(move |(text, what)| format!("{}:{number}: `{text}`, {what}", file.path))
        })
    })
    .collect()
}

/// No path that exists on one machine only.
pub fn machine_paths(tree: &Tree) -> Complaints {
    let lines = tree.files.iter().flat_map(|file| file.lines().map(move |(number, line)| (file, number, line)));
    lines
        .filter_map(|(file, number, line)| {
            let text = MACHINE_PATHS.iter().find(|text| line.contains(**text))?;
            Some(format!("{}:{number}: `{text}`, a path of some machine", file.path))
        })
        .collect()
}

/// Nothing that a tool builds is checked in.
pub fn binaries(tree: &Tree) -> Complaints {
    let begins = |bytes: &[u8]| BUILT.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| *what);
    let built = tree.files.iter().filter_map(|file| Some((file, begins(&file.bytes)?)));
    built.map(|(file, what)| format!("{}: {what}; built files are not checked in", file.path)).collect()
}

/// The script of the gate is exactly the gate.
pub fn ci(tree: &Tree) -> Complaints {
    match tree.file(".ci/run") {
        None => vec![".ci/run: is missing".to_owned()],
        Some(file) if file.text() != Some(CI) => vec![format!(".ci/run: expected exactly\n{CI}")],
        Some(file) if !file.executable => vec![".ci/run: is not executable".to_owned()],
        Some(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_code_may_be_as_long_as_it_may_be_and_no_longer() {
        let full = "x\n".repeat(LINES_MAX);
        let longer = "x\n".repeat(LINES_MAX + 1);
        assert_eq!(length(&Tree::of(&[("a.rs", &full), ("b.jsonl", &longer)])), Complaints::new());
        assert_eq!(length(&Tree::of(&[("a.rs", &longer)])), ["a.rs: 601 lines, expected at most 600: split it"]);
    }

    #[test]
    fn a_header_may_follow_attributes_only() {
        let good = Tree::of(&[("a.rs", "//! A.\n"), ("b.rs", "\n#![no_std]\n\n//! B.\n"), ("c.py", "x = 1\n")]);
        assert_eq!(headers(&good), Complaints::new());
        let bad = Tree::of(&[("a.rs", "use b;\n//! A.\n"), ("b.rs", "")]);
        assert_eq!(headers(&bad).len(), 2);
    }

    #[test]
    fn stubs_and_ignored_tests_are_found_with_their_place() {
        for (text, what) in UNFINISHED {
            let tree = Tree::of(&[("src/a.rs", &format!("fn a() {{}}\n    {text}\n")), ("notes.txt", text)]);
            assert_eq!(unfinished(&tree), [format!("src/a.rs:2: `{text}`, {what}")]);
        }
        assert_eq!(unfinished(&Tree::of(&[("a.rs", "let ignored = todo;")])), Complaints::new());
    }

    #[test]
    fn machine_paths_are_found_in_any_file() {
        for text in MACHINE_PATHS {
            assert_eq!(machine_paths(&Tree::of(&[("docs/a.md", &format!("see {text}x"))])).len(), 1, "{text}");
        }
        assert_eq!(machine_paths(&Tree::of(&[("a.md", "$HOME/x ~/x /srv/src /home")])), Complaints::new());
    }

    #[test]
    fn built_files_are_known_by_their_first_bytes() {
        assert_eq!(binaries(&Tree::of(&[("a", "\0asm\r"), ("b.txt", "a\0asm")])).len(), 1);
        assert_eq!(binaries(&Tree::of(&[("c.bin", "\x7fELF")])).len(), 1);
    }

    #[test]
    fn the_script_of_the_gate_is_exact_and_executable() {
        assert_eq!(ci(&Tree::of(&[(".ci/run", CI)])), Complaints::new());
        assert_eq!(ci(&Tree::of(&[])), [".ci/run: is missing"]);
        assert_eq!(ci(&Tree::of(&[(".ci/run", &CI.replace("exec", "echo"))])).len(), 1);
        let mut tree = Tree::of(&[(".ci/run", CI)]);
        tree.files[0].executable = false;
        assert_eq!(ci(&tree), [".ci/run: is not executable"]);
    }
}
