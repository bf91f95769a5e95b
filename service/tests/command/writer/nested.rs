//! `leasebook run` below `leasebook run`.

use super::super::run;
use super::markers;

#[cfg(target_os = "linux")]
#[test]
fn waiting_for_oneself_is_not_offered() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let leasebook = env!("CARGO_BIN_EXE_leasebook");
    let done = run(&["run", root, "--", "sh", "-c", "\"$0\" run \"$1\" -- echo run; exit $?", leasebook, root], "");
    assert_eq!((done.code, done.out.as_str()), (75, ""));
    let said: Vec<&str> = done.err.lines().collect();
    assert_eq!(said[1], "  this very command runs below it, so that waiting for it would not end", "{}", done.err);
    assert_eq!(said[2..], [format!("  look:        leasebook inspect {root}")]);
    assert_eq!(markers(dir.path()).len(), 0);
}

/// In a sandbox whose process group is of an outer namespace of process ids.
#[cfg(target_os = "linux")]
#[test]
fn in_a_namespace_of_its_own_it_runs_the_command() {
    use super::super::has;
    use std::process::Command;
    let unshare = |arguments: &[&str]| Command::new("unshare").args(["-pf", "--mount-proc"]).args(arguments).output();
    if !has("unshare", unshare(&["true"]).is_ok_and(|output| output.status.success())) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let leasebook = env!("CARGO_BIN_EXE_leasebook");
    let done =
        unshare(&[leasebook, "run", dir.path().to_str().unwrap(), "--", "sh", "-c", "echo ran; exit 3"]).unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    assert_eq!((done.status.code(), &*done.stdout), (Some(3), &b"ran\n"[..]));
    assert_eq!(markers(dir.path()).len(), 0);
}
