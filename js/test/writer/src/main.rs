//! A writer of the Rust host, for the tests of the npm package: it does what it is told, line by line, and answers each
//! line by one. `js/test/files/writer.mjs` is its twin in Node, and understands the same.
//!
//! `acquire`, `release`, `recover`, `crowd N`: acquire N times, again after a random time whenever somebody is in the
//! way; each time write one's own process id to the file `owner` of the destination, and look whether it stays.

use leasebook_files::marker::Released;
use leasebook_files::{Acquisition, WriterLease, WriterLeaseStore};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Duration;
use std::{env, fs, io, process, thread};

fn main() {
    let mut arguments = env::args().skip(1);
    let (Some(destination), Some(directory)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: leasebook-js-writer DESTINATION MARKER-DIRECTORY");
        process::exit(2);
    };
    let store = match WriterLeaseStore::new(&directory) {
        Ok(store) => store,
        Err(invalid) => {
            eprintln!("{invalid}");
            process::exit(2);
        }
    };
    let mut lease = None;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let answer = match line.split_once(' ') {
            Some(("crowd", times)) => crowd(&store, Path::new(&destination), times.parse().unwrap_or(0)),
            _ => told(&store, Path::new(&destination), &line, &mut lease),
        };
        println!("{answer}");
        // Whoever told is gone where this fails.
        if io::stdout().flush().is_err() {
            return;
        }
    }
}

fn told(store: &WriterLeaseStore, destination: &Path, line: &str, lease: &mut Option<WriterLease>) -> String {
    match line {
        "acquire" => match store.acquire(destination, None) {
            Ok(Acquisition::Acquired(acquired)) => {
                *lease = Some(acquired);
                "acquired".to_owned()
            }
            Ok(Acquisition::Busy { owners }) => {
                let pids = owners.iter().map(|owner| owner.owner.as_ref().map_or(0, |owner| owner.pid()).to_string());
                format!("busy {}", pids.collect::<Vec<_>>().join(" "))
            }
            Ok(Acquisition::Legacy { legacy, .. }) => format!("legacy {legacy}"),
            Err(failure) => failure.code.name().to_owned(),
        },
        "release" => match lease.as_ref().map(WriterLease::release) {
            Some(Ok(Released::Released)) => "released".to_owned(),
            Some(Ok(Released::Lost)) => "lost".to_owned(),
            Some(Err(failure)) => failure.code.name().to_owned(),
            None => "nothing".to_owned(),
        },
        "recover" => match store.recover(destination, true, None) {
            Ok(recovery) => format!("removed {} kept {}", recovery.removed.len(), recovery.kept.len()),
            Err(failure) => failure.code.name().to_owned(),
        },
        _ => "not understood".to_owned(),
    }
}

/// Takes turns with the others, and tells whether anybody was there at the same time.
fn crowd(store: &WriterLeaseStore, destination: &Path, times: u32) -> String {
    /// How long a turn waits at most before it tries again.
    const WAIT_MS_MAX: u32 = 12;
    let file = destination.join("owner");
    let own = process::id().to_string();
    let mut turns = 0;
    while turns < times {
        match store.acquire(destination, None) {
            Ok(Acquisition::Acquired(lease)) => {
                if fs::write(&file, &own).is_err() || fs::read_to_string(&file).ok().as_deref() != Some(&own) {
                    return "two writers".to_owned();
                }
                thread::sleep(Duration::from_micros(300));
                if fs::read_to_string(&file).ok().as_deref() != Some(&own) {
                    return "two writers".to_owned();
                }
                match lease.release() {
                    Ok(Released::Released) => turns += 1,
                    other => return format!("{other:?}"),
                }
            }
            Ok(_) => {
                // Any number that differs between processes and turns will do as chance.
                let chance = process::id().wrapping_mul(2_654_435_761).rotate_left(turns % 31);
                let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
                let chance = chance ^ now.map_or(0, |now| now.subsec_nanos());
                thread::sleep(Duration::from_millis(u64::from(chance % WAIT_MS_MAX)));
            }
            Err(failure) => return failure.to_string(),
        }
    }
    "done".to_owned()
}
