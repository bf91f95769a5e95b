//! `leasebook inspect` and `leasebook recover`: who is there, what is left of the dead, and what an operator may
//! remove.

use super::super::run;
use super::{MARKERS, Writer, markers};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A process id above those that Linux gives out.
const NOBODY: u32 = (1 << 31) - 2;

fn nonce(digit: char) -> String {
    digit.to_string().repeat(32)
}

fn put(root: &Path, digit: char, host: &str, pid: u32) {
    let record = json!({"version": 1, "pid": pid, "host": host, "nonce": nonce(digit)});
    write(root, digit, &record.to_string());
}

fn write(root: &Path, digit: char, content: &str) {
    fs::create_dir_all(root.join(MARKERS)).unwrap();
    fs::write(root.join(MARKERS).join(nonce(digit) + ".json"), content).unwrap();
}

/// What this host is called, as a marker of this program says it.
fn host(root: &Path) -> String {
    let mut writer = Writer::holding(root);
    let record: Value = serde_json::from_str(&fs::read_to_string(&markers(root)[0]).unwrap()).unwrap();
    writer.end();
    record["host"].as_str().unwrap().to_owned()
}

fn json_of(arguments: &[&str]) -> Value {
    let done = run(arguments, "");
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{arguments:?}");
    assert_eq!(done.out.lines().count(), 1);
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn nobody_is_there_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    assert_eq!(run(&["inspect", root], "").out, format!("nobody writes to {root}\n"));
    assert_eq!(json_of(&["inspect", root, "--json"]), json!({"records": []}));
    let nothing = |applied| json!({"applied": applied, "removed": [], "kept": [], "tidied": [], "untidied": []});
    assert_eq!(json_of(&["recover", root, "--json"]), nothing(false));
    assert_eq!(json_of(&["recover", root, "--apply", "--json"]), nothing(true));
    assert_eq!(run(&["recover", root], "").out, "0 markers to be removed, 0 to be kept\n");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn each_state_is_shown_and_only_the_stale_go() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let here = host(dir.path());
    put(dir.path(), '1', &here, std::process::id());
    put(dir.path(), '2', &here, NOBODY);
    put(dir.path(), '3', "else\u{202e}where", 4_242);
    write(dir.path(), '4', "torn");
    let states = ["active", "stale", "foreign", "unrecognized"];

    let said = run(&["inspect", root], "").out;
    let rows: Vec<&str> = said.lines().collect();
    assert!(rows[0].starts_with("STATE"), "{said}");
    for (row, state) in rows[1..].iter().zip(states) {
        assert!(row.starts_with(state), "{said}");
    }
    assert_eq!(rows[0].split_whitespace().nth(3), Some("FOR"), "{said}");
    assert!(said.contains("else\\u{202e}where"), "what hides is escaped: {said}");
    let raw = run(&["inspect", root, "--json"], "").out;
    assert!(raw.contains("else\\u202ewhere") && !raw.contains('\u{202e}'), "{raw}");

    let records = &json_of(&["inspect", root, "--json"])["records"];
    for (record, (state, digit)) in records.as_array().unwrap().iter().zip(states.into_iter().zip('1'..)) {
        assert_eq!((&record["state"], &record["name"]), (&json!(state), &json!(nonce(digit) + ".json")));
        assert!(record["since-ms"].is_u64() && record["path"].is_string(), "{record}");
    }
    assert_eq!((&records[1]["pid"], &records[1]["host"]), (&json!(NOBODY), &json!(here)));
    assert_eq!((records[3].get("pid"), records[3]["detail"].is_string()), (None, true));

    let said = run(&["recover", root], "").out;
    assert!(said.starts_with("1 marker to be removed, 3 to be kept\n"), "{said}");
    assert!(said.contains(&format!("to remove them: leasebook recover {root} --apply\n")), "{said}");
    assert_eq!(markers(dir.path()).len(), 4);
    let done = json_of(&["recover", root, "--apply", "--json"]);
    assert_eq!((&done["applied"], &done["removed"][0]["name"]), (&json!(true), &json!(nonce('2') + ".json")));
    assert_eq!(done["kept"].as_array().unwrap().len(), 3);
    assert_eq!(markers(dir.path()).len(), 3);
    assert!(run(&["recover", root, "--apply"], "").out.starts_with("0 markers removed, 3 kept\n"));
}

#[test]
fn an_operator_removes_one_that_he_can_name() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    put(dir.path(), '1', "gone", 4_242);
    write(dir.path(), '2', "torn");
    let remove = |digit: char, whose: &[&str]| {
        let nonce = nonce(digit);
        run(&[&["recover", root, "--remove", &nonce], whose].concat(), "")
    };
    for wrong in [&["--host", "gone", "--pid", "1"][..], &["--host", "here", "--pid", "4242"], &["--unrecognized"]] {
        let done = remove('1', wrong);
        assert_eq!(done.code, 76, "{wrong:?}");
        assert_eq!(done.out, format!("kept {}: it names host gone and process 4242\n", nonce('1')));
    }
    assert_eq!(remove('2', &["--host", "gone", "--pid", "4242"]).code, 76);
    assert_eq!(markers(dir.path()).len(), 2);
    let done = remove('1', &["--host", "gone", "--pid", "4242"]);
    assert_eq!(done.out, format!("removed {}, which named host gone and process 4242\n", nonce('1')));
    assert_eq!(done.code, 0);
    let done = remove('2', &["--unrecognized", "--json"]);
    let said: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(said, json!({"nonce": nonce('2'), "outcome": "removed"}));
    assert_eq!(remove('2', &["--unrecognized"]).code, 66);
    assert_eq!(markers(dir.path()).len(), 0);
}

#[test]
fn a_marker_is_named_as_it_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let path = dir.path().join(MARKERS).join(nonce('1') + ".json");
    for named in [path.to_str().unwrap(), &(nonce('1') + ".json")] {
        put(dir.path(), '1', "gone", 4_242);
        let done = run(&["recover", root, "--remove", named, "--host", "gone", "--pid", "4242"], "");
        assert_eq!(done.out, format!("removed {}, which named host gone and process 4242\n", nonce('1')));
        assert_eq!((done.code, markers(dir.path()).len()), (0, 0));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_stale_and_cannot_be_removed_is_said() {
    let script = "mount -t tmpfs none $1 && mkdir $1/.leasebook-writers && cp $2 $1/.leasebook-writers/ && \
                  mount -o remount,ro $1 && shift 2 && \"$@\"";
    let unshare = |arguments: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.args(["-m", "sh", "-c", script, "sh"]).args(arguments).output()
    };
    let (dir, mount) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    put(dir.path(), '1', &host(dir.path()), NOBODY);
    let (marker, mount) = (markers(dir.path()).remove(0), mount.path().to_str().unwrap());
    let inside = |arguments: &[&str]| unshare(&[&[mount, marker.to_str().unwrap()], arguments].concat()).unwrap();
    if !super::super::has(
        "unshare",
        unshare(&[mount, marker.to_str().unwrap(), "true"]).is_ok_and(|it| it.status.success()),
    ) {
        return;
    }
    let leasebook = env!("CARGO_BIN_EXE_leasebook");
    let done = inside(&[leasebook, "recover", mount, "--apply"]);
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(74), "{said}");
    assert_eq!(String::from_utf8(done.stderr).unwrap(), "error: 1 marker of dead writers could not be removed\n");
    assert!(said.starts_with("0 markers removed, 1 kept\n") && said.contains("(it could not be removed: "), "{said}");
    let done = inside(&[leasebook, "run", mount, "--", "true"]);
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(75), "{said}");
    assert!(said.starts_with(&format!("busy: in the way in {mount} is the stale marker of process {NOBODY} on ")));
    assert!(said.contains(&format!("\n  remove it:   leasebook recover {mount} --apply\n")), "{said}");
}

#[test]
fn the_command_that_is_offered_works_whatever_a_stranger_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a directory");
    let touched = dir.path().join("touched");
    fs::create_dir(&root).unwrap();
    for host in [&*format!("x'; touch '{}'; echo '$(id)", touched.display()), "-x", "--pid"] {
        put(&root, '1', host, 7);
        let busy = run(&["run", root.to_str().unwrap(), "--", "true"], "");
        assert_eq!(busy.code, 75);
        let begins = format!("busy: in the way in {} is the foreign marker of process 7 on ", root.display());
        assert!(busy.err.starts_with(&begins), "{}", busy.err);
        let offered = busy.err.lines().last().unwrap().trim().strip_prefix("leasebook").unwrap();
        let script = format!("'{}'{offered}", env!("CARGO_BIN_EXE_leasebook"));
        let status = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(status.status.code(), Some(0), "{script}: {status:?}");
        assert!(!touched.exists());
        assert_eq!(markers(&root).len(), 0);
    }
}

#[test]
fn what_cannot_be_pasted_is_not_offered() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a\u{1b}[31m\nb");
    fs::create_dir(&root).unwrap();
    put(&root, '1', "x\u{200b}y", 7);
    let busy = run(&["run", root.to_str().unwrap(), "--", "sh", "-c", "true\nfalse"], "");
    assert_eq!(busy.code, 75);
    let said: Vec<&str> = busy.err.lines().collect();
    assert_eq!(said[1], "  wait for it: leasebook run --wait 60 DEST -- CMD...", "{}", busy.err);
    assert_eq!(said[2], "  look:        leasebook inspect DEST");
    assert_eq!(said[3], "  to be filled in, since it cannot be shown so that it could be pasted: CMD..., DEST");
    assert_eq!(said[5], "  to be filled in, since it cannot be shown so that it could be pasted: DEST, HOST");
    assert_eq!(said[6], format!("  leasebook recover DEST --remove {} --host HOST --pid 7", nonce('1')));
}

#[test]
fn a_directory_in_place_of_a_marker_is_removed_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let marker = dir.path().canonicalize().unwrap().join(MARKERS).join(nonce('1') + ".json");
    fs::create_dir_all(&marker).unwrap();
    let busy = run(&["run", dir.path().to_str().unwrap(), "--", "true"], "");
    assert_eq!(busy.code, 75);
    let begins =
        format!("busy: in the way in {} is the unrecognized marker {}.json (", dir.path().display(), nonce('1'));
    assert!(busy.err.starts_with(&begins), "{}", busy.err);
    assert_eq!(busy.err.lines().last(), Some(&*format!("  rmdir {}", marker.display())));
}

#[test]
fn many_in_the_way_are_not_all_listed() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    fs::create_dir(dir.path().join(MARKERS)).unwrap();
    for n in 0..1_000 {
        fs::write(dir.path().join(MARKERS).join(format!("{n:032x}.json")), "torn").unwrap();
    }
    let busy = run(&["run", root, "--", "true"], "");
    assert!(busy.err.starts_with("busy: 1000 markers are in the way in "), "{}", busy.err);
    assert!(busy.err.contains("\nand 990 more\n"), "{}", busy.err);
    assert!(busy.err.lines().count() < 25, "{}", busy.err);
    assert_eq!(run(&["inspect", root], "").out.lines().filter(|line| line.starts_with("unrecognized")).count(), 1_000);
}
