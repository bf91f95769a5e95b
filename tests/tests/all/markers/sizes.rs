//! A directory of 100 000 markers is gone through like any other.

use super::{DEAD, OTHER, PID, acquire, acquired, inspect, recover};
use leasebook::marker::Acquisition;
use leasebook_tests::markers::{HOST, MarkerFiles, Process, marker, record};

const MANY: u32 = 100_000;

#[test]
fn a_hundred_thousand_markers_are_told_kept_and_recovered() {
    let mut files = MarkerFiles::new();
    for number in 0..MANY {
        files.put_file(&marker(number), record(number, DEAD, HOST));
    }
    files.alive.insert(OTHER);
    files.put_file(&marker(MANY), record(MANY, OTHER, HOST));

    let found = inspect(&mut files);
    assert_eq!(found.len(), MANY as usize + 1);
    assert!(found.is_sorted_by(|a, b| a.name < b.name));

    let mut process = Process::start(&mut files, PID);
    let mut acquiring = files.clone();
    let Ok(Acquisition::Busy { owners }) = acquire(&mut acquiring, &mut process) else { panic!("one is alive") };
    assert_eq!((owners.len(), acquiring.names()), (1, vec![marker(MANY)]));

    files.alive.remove(&OTHER);
    let recovery = recover(&mut files, true);
    assert_eq!((recovery.removed.len(), recovery.kept.len()), (MANY as usize + 1, 0));
    acquired(&mut files, &mut process);
}
