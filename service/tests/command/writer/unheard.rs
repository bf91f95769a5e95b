//! Nobody hears what is said: the exit code is the same.

use super::super::command;
use super::{MARKERS, Writer};
use std::fs::OpenOptions;
use std::process::Stdio;

#[test]
fn the_exit_code_does_not_depend_on_standard_error() {
    let (busy, free) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let _first = Writer::holding(busy.path());
    let (busy, free) = (busy.path().to_str().unwrap(), free.path().to_str().unwrap());
    let lost = format!("rm '{free}/{MARKERS}'/*.json");
    let absent = ["recover", free, "--remove", &"1".repeat(32), "--unrecognized"];
    for (arguments, code) in [
        (&["run", busy, "--", "true"][..], 75),
        (&["run", "/no/such/folder", "--", "true"], 66),
        (&["run", free, "--", "no-such-command"], 127),
        (&["run", free, "--", "sh", "-c", &lost], 76),
        (&["run", free, "--", "sh", "-c", &(lost.clone() + "; exit 3")], 3),
        (&["run", free, "--marker-dir", "..", "--", "true"], 64),
        (&["run", free, "--no-such-option", "--", "true"], 64),
        (&["recover", free, "--remove", "x"], 64),
        (&absent, 66),
        (&["demo", "/no/such/folder"], 66),
        (&["table", "--default-ttl-ms", "0"], 64),
    ] {
        let (reader, closed) = std::io::pipe().unwrap();
        drop(reader);
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        for (how, stderr) in [("closed", Stdio::from(closed)), ("full", Stdio::from(full))] {
            let status = command(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr).status().unwrap();
            assert_eq!(status.code(), Some(code), "{how}: {arguments:?}");
        }
    }
    // Not even what comes last, where neither is heard.
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    assert_eq!(command(&["inspect", free]).stdout(full()).stderr(full()).status().unwrap().code(), Some(74));
}
