//! The exit codes are a promise, and `--help` says them.

use super::{command, run, table};
use std::process::Stdio;

/// What `--help` lists, and what the runs below end with.
const DOCUMENTED: [(i32, &str); 13] = [
    (0, "everything was answered"),
    (64, "command line"),
    (65, "line was bad"),
    (66, "folder or the marker"),
    (69, "the service cannot be reached"),
    (70, "runtime"),
    (73, "cannot be created"),
    (74, "reading or writing"),
    (75, "another writer"),
    (76, "its lease was lost or could not be released"),
    (77, "not allow"),
    (126, "cannot be run"),
    (127, "not found"),
];

#[test]
fn help_lists_exactly_these() {
    for arguments in [
        &["--help"][..],
        &["table", "--help"],
        &["table", "-h"],
        &["demo", "--help"],
        &["run", "--help"],
        &["inspect", "--help"],
        &["recover", "--help"],
        &["serve", "--help"],
        &["key", "--help"],
        &["verify", "--help"],
        &["lease", "--help"],
        &["release", "--help"],
        &["wait", "--help"],
        &["status", "--help"],
        &["mcp", "--help"],
        &["ledger", "--help"],
        &[],
    ] {
        let help = run(arguments, "");
        assert_eq!((help.code, help.err.as_str()), (0, ""), "{arguments:?}");
        let (_, codes) = help.out.split_once("Exit codes:\n").unwrap_or_else(|| panic!("{arguments:?}: {}", help.out));
        let mut listed: Vec<(i32, String)> = Vec::new();
        for line in codes.lines().take_while(|line| !line.is_empty()) {
            if let Some(more) = line.strip_prefix("       ") {
                listed.last_mut().unwrap().1 += &format!("; {more}");
                continue;
            }
            let (code, meaning) = line.trim_start().split_once("  ").unwrap();
            listed.push((code.parse().unwrap(), meaning.to_owned()));
        }
        assert_eq!(listed.len(), DOCUMENTED.len(), "{arguments:?}: {listed:?}");
        for ((code, meaning), (expected, words)) in listed.iter().zip(DOCUMENTED) {
            assert_eq!(*code, expected, "{arguments:?}");
            assert!(meaning.contains(words), "{arguments:?}: {meaning}");
        }
    }
}

#[test]
fn without_arguments_it_shows_what_to_try() {
    let help = run(&[], "").out;
    for first in ["leasebook run . -- make", "leasebook demo", "leasebook table --help", "| leasebook table\n"] {
        assert!(help.contains(first), "{first}: {help}");
    }
}

#[test]
fn a_refusal_is_an_answer_and_a_bad_line_is_not() {
    let good = r#"{"op":"acquire","at-ms":1,"holder":"","paths":[]}"#;
    assert_eq!(table(&[], &[good]).code, 0);
    assert_eq!(table(&[], &["", good, "  "]).code, 0);
    assert_eq!(table(&[], &["?", good]).code, 65);
    assert_eq!(run(&["table"], "").code, 0);
}

#[test]
fn a_command_line_that_is_not_understood_is_64() {
    for arguments in [
        &["tabel"][..],
        &["table", "--runtime", "jvm"],
        &["table", "--fairness", "none"],
        &["table", "--default-ttl-ms", "-1"],
        &["table", "--default-ttl-ms", "0"],
        &["table", "--leases-max", "1000001"],
        &["table", "extra"],
        &["demo", "--colour"],
        &["run"],
        &["run", "."],
        &["run", ".", "true"],
        &["run", ".", "--wait", "-1", "--", "true"],
        &["run", ".", "--wait", "2592001", "--", "true"],
        &["run", ".", "--marker-dir", "", "--", "true"],
        &["run", ".", "--marker-dir", "../x", "--", "true"],
        &["run", ".", "--legacy", "/etc/passwd", "--", "true"],
        &["inspect"],
        &["inspect", ".", "--marker-dir", ".."],
        &["recover", ".", "--marker-dir", "a/b"],
        &["recover", ".", "--remove", "0123456789abcdef0123456789abcdef"],
        &["recover", ".", "--remove", "0123456789abcdef0123456789abcdef", "--host", "h"],
        &["recover", ".", "--remove", "../x", "--host", "h", "--pid", "1"],
        &["recover", ".", "--remove", "0123456789abcdef0123456789abcdef", "--host", "h", "--pid", "-1"],
        &["recover", ".", "--host", "h", "--pid", "1"],
        &["recover", ".", "--unrecognized"],
        &["recover", ".", "--apply", "--remove", "x", "--host", "h", "--pid", "1"],
    ] {
        let run = run(arguments, "");
        assert_eq!((run.code, run.out.as_str()), (64, ""), "{arguments:?}");
        assert!(run.err.starts_with("error: "), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn a_folder_that_the_demo_cannot_use_is_66() {
    let empty = tempfile::tempdir().unwrap();
    for folder in [empty.path().to_str().unwrap(), "/no/such/folder", "/dev/null"] {
        let run = run(&["demo", folder], "");
        assert_eq!((run.code, run.out.as_str()), (66, ""), "{folder}");
        assert!(run.err.starts_with(&format!("error: contending for {folder}: ")), "{}", run.err);
        assert!(run.err.ends_with("leasebook demo DIR\n"), "{}", run.err);
    }
}

#[test]
fn output_that_cannot_be_written_is_74() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = command(&["table"]).stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"{\"op\":\"ready\"}\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(74));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "));
}

#[test]
fn input_that_cannot_be_read_is_74() {
    let folder = std::fs::File::open("/").unwrap();
    let output = command(&["table"]).stdin(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(74), "{output:?}");
}
