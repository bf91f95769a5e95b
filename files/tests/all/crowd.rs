//! Many processes on one destination, some of them killed while they hold it: never two inside, and nothing lost.

use super::child::{Child, hear, say};
use super::{MARKERS, everything, soak, store};
use leasebook_files::Acquisition;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

/// Writers at the same time.
const WRITERS: usize = 16;
/// How often each comes to write: in the gate and in soak.
const ROUNDS: [usize; 2] = [20, 200];
/// One in so many writers that are inside is killed there.
const KILLED: usize = 12;

/// What the lease guards: a number, and beside it a line for each change.
const COUNTER: &str = "counter";
const LOG: &str = "log";
/// Is there while somebody is inside, with its process id. Made exclusively: a second one inside would fail to.
const INSIDE: &str = "inside";

#[test]
fn never_two_inside_and_the_count_is_right() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join(COUNTER), "0").unwrap();
    let rounds = ROUNDS[usize::from(soak())];
    let (tell, told) = mpsc::channel();
    let writers: Vec<_> = (0..WRITERS)
        .map(|number| {
            let (root, tell) = (root.clone(), tell.clone());
            thread::spawn(move || writer(&root, rounds, number as u64, &tell))
        })
        .collect();
    drop(tell);
    let kills = told.iter().count();
    for writer in writers {
        writer.join().unwrap();
    }
    let expected = (WRITERS * rounds).to_string();
    assert_eq!(fs::read_to_string(root.join(COUNTER)).unwrap(), expected);
    assert_eq!(fs::read_to_string(root.join(LOG)).unwrap().lines().count(), WRITERS * rounds);
    println!("{WRITERS} writers, {rounds} rounds each, {kills} killed inside");
    assert!(kills > 0);
    store().recover(&root, true, None).unwrap();
    // Those that came too late were killed wherever they were, perhaps before they had written anything of a marker.
    let left: Vec<String> = everything(&root).into_iter().filter(|name| !name.ends_with(".tmp")).collect();
    assert!(left.iter().all(|name| [MARKERS, COUNTER, LOG, INSIDE].contains(&name.as_str())), "{left:?}");
}

/// Lets children do the rounds of one writer; each does some, until it is killed or there are none left.
fn writer(root: &Path, rounds: usize, seed: u64, killed: &mpsc::Sender<()>) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut done = 0;
    while done < rounds {
        let mut child = Child::spawn("crowd", root);
        while done < rounds {
            child.expect("inside");
            if random.usize(..KILLED) == 0 {
                child.kill();
                // It has gone as it stood: nothing of the round was done. Its process is waited for, so that from here
                // on its marker is stale; until it is recovered nobody gets inside, and then the place is free.
                killed.send(()).unwrap();
                break;
            }
            child.tell("write");
            child.expect("written");
            done += 1;
        }
    }
}

/// Comes again and again until nobody tells it any more.
pub fn part(root: &Path) {
    let store = store();
    let mut random = fastrand::Rng::new();
    // Beside the destination, to be linked, so that it is never seen half-written.
    let note = root.with_file_name(std::process::id().to_string());
    fs::write(&note, std::process::id().to_string()).unwrap();
    loop {
        let lease = loop {
            match store.acquire(root, None).unwrap() {
                Acquisition::Acquired(lease) => break lease,
                // Who was refused lets others run, for a random number of turns.
                Acquisition::Busy { .. } => (0..random.usize(1..64)).for_each(|_| thread::yield_now()),
                Acquisition::Legacy { path, .. } => panic!("{path}"),
            }
        };
        // What one that was killed inside has left there; its marker was recovered, or this one would not be inside.
        let inside = root.join(INSIDE);
        if let Ok(left) = fs::read_to_string(&inside) {
            let pid: u32 = left.trim().parse().unwrap();
            assert_eq!(leasebook_files::probe(pid), leasebook_files::Liveness::Dead, "two inside");
            fs::remove_file(&inside).unwrap();
        }
        fs::hard_link(&note, &inside).expect("two inside");
        say("inside");
        if hear().is_none() {
            fs::remove_file(&inside).unwrap();
            lease.release().unwrap();
            break;
        }
        let count: usize = fs::read_to_string(root.join(COUNTER)).unwrap().parse().unwrap();
        thread::yield_now();
        fs::write(root.join(COUNTER), (count + 1).to_string()).unwrap();
        let mut log = OpenOptions::new().create(true).append(true).open(root.join(LOG)).unwrap();
        log.write_all(format!("{count}\n").as_bytes()).unwrap();
        fs::remove_file(&inside).unwrap();
        lease.release().unwrap();
        say("written");
    }
}
