//! Recovery removes what is known to be dead, each read and probed again immediately before, and nothing else.

use super::{DEAD, OTHER, PID, inspect, recover, states};
use leasebook::marker::{
    Effect, FileCode, FileError, INCOMPLETE_AGE_MS_MIN, Inspect, Outcome, Recover, Recovery, Untidied,
};
use leasebook_tests::markers::{HOST, MarkerFiles, Node, Process, marker, nonce, record, run};

fn scene() -> MarkerFiles {
    let mut files = MarkerFiles::new();
    files.alive.insert(OTHER);
    files.put_file(&marker(1), record(1, OTHER, HOST));
    files.put_file(&marker(2), record(2, DEAD, HOST));
    files.put_file(&marker(3), record(3, DEAD, "elsewhere"));
    files.put_file(&marker(4), "?");
    files.put_file(&marker(5), record(5, DEAD + 1, HOST));
    files
}

#[test]
fn only_the_dead_of_this_host_are_removed() {
    let mut files = scene();
    let recovery = recover(&mut files, true);
    assert_eq!(states(&recovery.removed), [(&*marker(2), "stale"), (&*marker(5), "stale")]);
    let kept = [(&*marker(1), "active"), (&*marker(3), "foreign"), (&*marker(4), "unrecognized")];
    assert_eq!(states(&recovery.kept), kept);
    assert_eq!(files.names(), [marker(1), marker(3), marker(4)]);
    let again = recover(&mut files, true);
    assert_eq!((again.removed.len(), again.kept), (0, recovery.kept));
}

#[test]
fn looking_writes_nothing() {
    for mut files in [scene(), MarkerFiles::new()] {
        let before = files.clone();
        let mut process = Process::start(&mut files, PID);
        let only_looks = |_: usize, effect: &Effect, _: &mut Process, _: &mut MarkerFiles| {
            let looks = ["resolve-root", "identity", "list", "read", "probe"];
            assert!(looks.contains(&effect.name()), "{effect:?}");
            None
        };
        let found = run(&mut Inspect::new(), &mut process, &mut files, only_looks).expect("it looks").records;
        let recovery = run(&mut Recover::new(false, Vec::new()), &mut process, &mut files, only_looks);
        assert_eq!(recovery, Ok(Recovery { kept: found.clone(), ..Recovery::default() }));
        assert_eq!(found.len(), before.names().len());
        assert_eq!(found, inspect(&mut files));
        assert_eq!(files.directories, before.directories);
    }
}

#[test]
fn each_is_read_and_probed_again_immediately_before_it_is_removed() {
    let mut files = scene();
    let mut process = Process::start(&mut files, PID);
    let mut effects = Vec::new();
    let answer = run(&mut Recover::new(true, Vec::new()), &mut process, &mut files, |_, effect, _, _| {
        effects.push(effect.clone());
        None
    });
    assert!(answer.is_ok());
    for (place, effect) in effects.iter().enumerate() {
        let Effect::Remove { name, .. } = effect else { continue };
        assert!(matches!(&effects[place - 2], Effect::Read { name: read, .. } if read == name), "{effects:?}");
        assert!(matches!(&effects[place - 1], Effect::Probe { .. }), "{effects:?}");
        assert!(matches!(&effects[place - 4], Effect::Read { name: read, .. } if read == name), "{effects:?}");
    }
}

#[test]
fn what_is_alive_or_another_at_the_second_look_is_kept() {
    let replaced = record(2, DEAD + 1, HOST);
    let unrecognized = Some("unrecognized");
    for (what, state) in [(0, Some("active")), (1, unrecognized), (2, unrecognized), (3, unrecognized), (4, None)] {
        let mut files = MarkerFiles::new();
        files.put_file(&marker(2), record(2, DEAD, HOST));
        let mut process = Process::start(&mut files, PID);
        let mut reads = 0;
        let answer = run(&mut Recover::new(true, Vec::new()), &mut process, &mut files, |_, effect, _, files| {
            reads += usize::from(effect.name() == "read");
            if effect.name() == "read" && reads == 2 {
                match what {
                    0 => _ = files.alive.insert(DEAD),
                    1 => files.put_file(&marker(2), replaced.clone()),
                    2 => files.put_file(&marker(2), ""),
                    3 => files.put(&marker(2), Node::Closed),
                    _ => files.remove_tree(),
                }
            }
            None
        });
        let recovery = answer.expect("it recovers");
        assert_eq!(recovery.removed, []);
        assert_eq!(states(&recovery.kept).first().map(|(_, state)| *state), state);
        assert_eq!(files.names().len(), usize::from(state.is_some()));
    }
}

#[test]
fn one_that_another_removes_first_is_nobodys() {
    let mut files = scene();
    let mut process = Process::start(&mut files, PID);
    let answer = run(&mut Recover::new(true, Vec::new()), &mut process, &mut files, |_, effect, _, files| {
        if matches!(effect, Effect::Remove { name, .. } if *name == marker(2)) {
            let directory = files.make();
            files.directories[directory].remove(&marker(2));
        }
        None
    });
    assert_eq!(states(&answer.expect("it recovers").removed), [(&*marker(5), "stale")]);
}

#[test]
fn what_a_dead_writer_had_not_made_yet_goes_too() {
    let name = |number| format!("{}.tmp", nonce(number));
    let mut files = MarkerFiles::new();
    files.alive.insert(OTHER);
    files.put_file(&name(1), "");
    files.put_file(&name(2), "{\"version\":1,\"pid\":66,\"ho");
    files.now_ms += INCOMPLETE_AGE_MS_MIN - 1;
    files.put_file(&name(3), "");
    files.put_file(&name(4), record(4, DEAD, HOST));
    files.put_file(&name(5), record(5, OTHER, HOST));
    files.put_file(&name(6), record(6, DEAD, "elsewhere"));
    files.put_file("x.tmp", "");
    files.put(&name(7), Node::Special);

    assert_eq!(recover(&mut files.clone(), false).tidied, Vec::<String>::new());
    let recovery = recover(&mut files, true);
    assert_eq!(recovery, Recovery { tidied: vec![name(4)], ..Recovery::default() });
    files.now_ms += 1;
    assert_eq!(recover(&mut files, true).tidied, [name(1), name(2)]);
    assert_eq!(files.names(), [name(3), name(5), name(6), name(7), "x.tmp".into()]);
}

#[test]
fn a_half_made_one_that_stays_because_something_failed_is_told() {
    let name = |number| format!("{}.tmp", nonce(number));
    let mut files = MarkerFiles::new();
    files.put_file(&name(1), "");
    files.put_file(&name(2), record(2, DEAD, HOST));
    files.put(&name(3), Node::Closed);
    files.put_file(&name(4), "");
    files.now_ms += INCOMPLETE_AGE_MS_MIN;
    files.put_file(&name(5), "");
    files.stuck.insert(name(2));
    let mut process = Process::start(&mut files, PID);
    let mut asked = Vec::new();
    let answer = run(&mut Recover::new(true, Vec::new()), &mut process, &mut files, |_, effect, _, _| {
        let Effect::Age { name: of, beside } = effect else { return None };
        asked.push(of.clone());
        let detail = format!("no space is left; {beside} could not be removed");
        let error = FileError { code: FileCode::NoSpace, path: String::new(), detail };
        (*of == name(1)).then_some(Outcome::Failed(error))
    });
    let recovery = answer.expect("the rest is recovered");
    assert_eq!((&asked, &recovery.tidied), (&vec![name(1), name(4), name(5)], &vec![name(4)]));
    let told: Vec<(&str, &str)> = recovery.untidied.iter().map(|it| (&*it.name, &*it.detail)).collect();
    let left = format!("{}.tmp", nonce(PID << 8 | 1));
    let age = format!("its age could not be told: no space is left; {left} could not be removed");
    let expected = [
        (&*name(1), &*age),
        (&*name(2), "it could not be removed: permission-denied"),
        (&*name(3), "the system does not let us read it"),
    ];
    assert_eq!(told, expected);
    assert_eq!(files.names(), [name(1), name(2), name(3), name(5)]);
    let untidied = Untidied { name: "a\u{1b}.tmp".into(), detail: "b".into() };
    assert_eq!(untidied.to_string(), "a\\u{1b}.tmp stays: b");
}

#[test]
fn a_process_that_may_not_be_probed_is_active() {
    // A host answers "alive" to everything but the system's "no such process"; so a name space or a right that it
    // lacks keeps the marker.
    let mut files = MarkerFiles::new();
    files.alive.insert(1);
    files.put_file(&marker(1), record(1, 1, HOST));
    assert_eq!(states(&recover(&mut files, true).kept), [(&*marker(1), "active")]);
}
