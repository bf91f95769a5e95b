//! `leasebook run DEST -- true` beside `flock FILE true`, as whole processes.

use super::Given;
use crate::report::Row;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How much longer than `flock` a run may take.
const MORE_TIME: Duration = Duration::from_millis(5);
/// How much more memory than `flock` it may take at its peak.
const MORE_BYTES: f64 = (30 << 20) as f64;

pub fn measure(times: usize, given: &Given, folder: &Path, add: &mut dyn FnMut(Row)) -> Result<()> {
    let archive = folder.join("whole");
    fs::create_dir(&archive)?;
    let file = folder.join("flock");
    let ours = |command: &[&str]| {
        let mut run = Command::new(&given.command);
        run.arg("run").arg(&archive).arg("--").args(command);
        run
    };
    let peer = |command: &[&str]| {
        let mut flock = Command::new("flock");
        flock.arg(&file).args(command);
        flock
    };
    let (mut our_times, mut peer_times) = (Vec::new(), Vec::new());
    for time in 0..=times {
        let (our_time, peer_time) = (timed(ours(&["true"]))?, timed(peer(&["true"]))?);
        if time > 0 {
            our_times.push(our_time);
            peer_times.push(peer_time);
        }
    }
    let (our_time, peer_time) = (median(&mut our_times), median(&mut peer_times));
    add(Row::more_nanos(
        "leasebook run DEST -- true, from start to end".into(),
        our_time.as_nanos() as f64,
        ("flock FILE true", peer_time.as_nanos() as f64),
        MORE_TIME.as_nanos() as f64,
    ));
    // A child says how much memory its parent has had at most.
    let peak = ["sh", "-c", "grep VmHWM /proc/$PPID/status"];
    add(Row::more_bytes(
        "leasebook run DEST -- true, memory at its peak".into(),
        bytes(ours(&peak))?,
        ("flock FILE true", bytes(peer(&peak))?),
        MORE_BYTES,
    ));
    Ok(())
}

fn timed(mut command: Command) -> Result<Duration> {
    let start = Instant::now();
    let status = command.stdin(Stdio::null()).status().with_context(|| format!("start {:?}", command.get_program()))?;
    let taken = start.elapsed();
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(taken)
}

/// Of a line such as `VmHWM:     5120 kB`.
fn bytes(mut command: Command) -> Result<f64> {
    let output = command.output().with_context(|| format!("start {:?}", command.get_program()))?;
    let line = String::from_utf8(output.stdout)?;
    let kibibytes: f64 = line.split_whitespace().nth(1).with_context(|| format!("{command:?}: {line:?}"))?.parse()?;
    Ok(kibibytes * 1024.0)
}

fn median(all: &mut [Duration]) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}
