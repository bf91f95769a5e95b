//! Here they are blocked in this process and read by a thread of their own, so that nothing runs inside a handler, and
//! none is lost between two steps.

use super::super::mask::{Came, Disposition, Mask, Source, in_own_group};
use crate::stderr;
use leasebook_files::Cancel;
use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What is passed on.
const PASSED_ON: [Signal; 6] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];

/// What a key at a terminal sends, to all processes of the group in front of it.
const TYPED: [i32; 2] = [Signal::INT.as_raw(), Signal::QUIT.as_raw()];

/// The signals of this process, from when they were taken over.
pub struct Signals {
    shared: Arc<Shared>,
    /// What was blocked before: what the command begins with.
    before: Mask,
    /// What was done at the end of a child. The command begins with that, too.
    at_a_child: Disposition,
}

#[derive(Default)]
struct Shared {
    cancel: Cancel,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The first one that came before the command ran.
    came: Option<i32>,
    runs: Runs,
}

#[derive(Clone, Copy, Default)]
enum Runs {
    #[default]
    NotYet,
    /// It has this process id.
    Now(Pid),
    NoMore,
}

impl Signals {
    /// Takes over the signals of this process. It must be called before any other thread begins.
    pub fn take_over() -> io::Result<Self> {
        // One that was ignored at the start is to be ignored: `nohup` and shells say so.
        let ignored = ignored();
        let numbers = PASSED_ON.map(Signal::as_raw).into_iter();
        let taken = Mask::of(numbers.filter(|number| (ignored >> (number - 1)) & 1 == 0));
        let before = taken.block()?;
        // Where it is ignored, the system waits for children itself, and how the command ended could not be learned.
        let at_a_child = Disposition::default_of(Signal::CHILD.as_raw())?;
        let mut source = Source::of(&taken)?;
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            while let Ok(came) = source.next() {
                theirs.take(&came);
            }
        })?;
        Ok(Self { shared, before, at_a_child })
    }

    /// Used at the first signal.
    pub fn cancel(&self) -> &Cancel {
        &self.shared.cancel
    }

    /// The first signal that came before the command ran.
    pub fn came(&self) -> Option<i32> {
        self.shared.state().came
    }

    /// Sleeps, or answers the signal that ended it.
    pub fn sleep(&self, time: Duration) -> Option<i32> {
        let until = Instant::now() + time;
        let mut state = self.shared.state();
        while state.came.is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.shared.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.came
    }

    /// Lets a command begin with what was blocked and ignored before.
    pub fn restore_in(&self, command: &mut Command) {
        let (before, at_a_child) = (self.before, self.at_a_child);
        // SAFETY: both calls are allowed between fork and exec, and neither allocates nor takes a lock.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(move || at_a_child.set().and_then(|()| before.set()));
        }
    }

    /// From now on signals go to this process. So does one that came too late to end the attempt.
    pub fn forward_to(&self, child: &Child) {
        let pid = Pid::from_child(child);
        let mut state = self.shared.state();
        state.runs = Runs::Now(pid);
        if let Some(number) = state.came.take() {
            pass_on(pid, number);
        }
    }

    /// The command has ended.
    pub fn forward_no_more(&self) {
        self.shared.state().runs = Runs::NoMore;
    }
}

impl Shared {
    fn take(&self, came: &Came) {
        let mut state = self.state();
        match state.runs {
            Runs::NotYet => {
                state.came.get_or_insert(came.number);
                self.cancel.cancel();
                self.changed.notify_all();
            }
            // What is typed has reached it already, unless it has made a group of its own. A terminal that goes away
            // tells only who leads its session.
            Runs::Now(pid) if came.by_kernel && TYPED.contains(&came.number) && in_own_group(pid) => {}
            Runs::Now(pid) => {
                pass_on(pid, came.number);
            }
            // Only the release is left, which is not to be interrupted.
            Runs::NoMore => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes a signal on. Until the command is waited for, its process id is its own.
fn pass_on(pid: Pid, number: i32) {
    let Some(signal) = Signal::from_named_raw(number) else { return };
    if let Err(error) = kill_process(pid, signal) {
        stderr::say(format_args!("error: signal {number} cannot be passed on to the command: {error}"));
    }
}

/// Which signals are ignored, a bit for each from the first; none where that cannot be read.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}
