//! What tests take that a machine may lack. A test that goes without it has tested nothing, and must not look as if it
//! had: it fails, unless the environment says that this machine lacks it.

use std::process::{Command, Stdio};

/// The tools, separated by commas, that this machine is known to lack.
const WITHOUT: &str = "LEASEBOOK_WITHOUT";

/// Does that command succeed here? Where it does not, this says what is not tested.
pub fn works(tool: &str, program: &str, arguments: &[&str]) -> bool {
    let mut probe = Command::new(program);
    probe.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let works = probe.status().is_ok_and(|status| status.success());
    if !works {
        lacks(tool);
    }
    works
}

/// This machine lacks that tool, or does not permit it: the caller tests nothing.
pub fn lacks(tool: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    println!("not tested: {test} needs {tool}");
    let without = std::env::var(WITHOUT).unwrap_or_default();
    assert!(is_named(&without, tool), "{test} needs {tool}; where there is none, set {WITHOUT}={tool}");
}

fn is_named(without: &str, tool: &str) -> bool {
    without.split(',').any(|named| named.trim() == tool)
}

#[test]
fn only_what_is_named_may_be_lacking() {
    for (without, named) in
        [("", false), ("unshare", false), ("strace", true), ("unshare, strace", true), ("str", false)]
    {
        assert_eq!(is_named(without, "strace"), named, "{without}");
    }
}
