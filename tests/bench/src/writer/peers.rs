//! Lock files of other libraries, each in a process of its own that times what it is asked to do.

use super::{Given, script};
use crate::measure::Sides;
use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

/// Pairs that one side does before it is the other's turn: enough that waking up after the other one does not count.
const TURN: usize = 200;

/// A child that answers how long so many pairs took it.
pub struct Timed {
    child: Child,
    answers: BufReader<ChildStdout>,
    name: &'static str,
}

pub fn proper_lockfile(given: &Given, folder: &Path) -> Result<Timed> {
    let mut node = Command::new("node");
    node.env("NODE_PATH", given.peers.join("node_modules")).arg(script("proper-lockfile.cjs")).arg(folder);
    Timed::start(node, "proper-lockfile")
}

pub fn soft_file_lock(given: &Given, folder: &Path) -> Result<Timed> {
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", given.peers.join("python")).arg(script("soft_file_lock.py")).arg(folder);
    Timed::start(python, "filelock")
}

impl Timed {
    fn start(mut command: Command, name: &'static str) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("start {:?}", command.get_program()))?;
        let answers = BufReader::new(child.stdout.take().context("its output is piped")?);
        Ok(Self { child, answers, name })
    }

    fn pairs(&mut self, count: usize) -> Result<f64> {
        let input = self.child.stdin.as_mut().context("its input is piped")?;
        writeln!(input, "{count}").with_context(|| format!("ask {}", self.name))?;
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            bail!("{} ended: {}", self.name, self.child.wait()?);
        }
        line.trim().parse().with_context(|| format!("{} answered {line:?}", self.name))
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        // It ends with its input; one that hangs is ended.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Both sides in turn, on the clock: the peer has processes and threads of its own. Medians over the turns.
pub fn in_turns(pairs: usize, ours: impl Fn(), mut peer: Timed) -> Result<Sides> {
    let turn_of_ours = || {
        let start = Instant::now();
        (0..TURN).for_each(|_| ours());
        start.elapsed().as_nanos() as f64
    };
    turn_of_ours();
    peer.pairs(TURN)?;
    let (mut our_turns, mut peer_turns) = (Vec::new(), Vec::new());
    for _ in 0..pairs.div_ceil(TURN) {
        our_turns.push(turn_of_ours());
        peer_turns.push(peer.pairs(TURN)?);
    }
    let each = |turns: &mut Vec<f64>| {
        turns.sort_by(f64::total_cmp);
        turns[turns.len() / 2] / TURN as f64
    };
    Ok(Sides { ours: each(&mut our_turns), peer: each(&mut peer_turns) })
}
