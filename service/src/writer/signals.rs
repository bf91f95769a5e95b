//! Signals that are for the command: before it runs they end the attempt, and while it runs they are passed on.
//!
//! They are blocked in this process and read by a thread of their own, so that nothing here runs inside a handler, and
//! none is lost between two steps.

#[cfg(unix)]
pub use here::Signals;

#[cfg(not(unix))]
pub use nothing::Signals;

#[cfg(unix)]
mod here {
    use super::super::mask::{Came, Mask, Source};
    use leasebook_files::Cancel;
    use rustix::process::{Pid, Signal, getpgid, getpgrp, kill_process};
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
        /// It has this process id, and `own_group` if what is typed does not reach it.
        Now {
            pid: Pid,
            own_group: bool,
        },
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
            let mut source = Source::of(&taken)?;
            let shared = Arc::new(Shared::default());
            let theirs = Arc::clone(&shared);
            thread::Builder::new().name("signals".to_owned()).spawn(move || {
                while let Ok(came) = source.next() {
                    theirs.take(&came);
                }
            })?;
            Ok(Self { shared, before })
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

        /// Lets a command begin with what was blocked before.
        pub fn restore_in(&self, command: &mut Command) {
            let before = self.before;
            // SAFETY: setting the mask of a thread is allowed between fork and exec, and neither allocates nor takes a
            // lock.
            #[allow(unsafe_code)]
            unsafe {
                command.pre_exec(move || before.set());
            }
        }

        /// From now on signals go to this process. So does one that came too late to end the attempt.
        pub fn forward_to(&self, child: &Child) {
            let pid = Pid::from_child(child);
            let own_group = getpgid(Some(pid)).is_ok_and(|group| group != getpgrp());
            let mut state = self.shared.state();
            state.runs = Runs::Now { pid, own_group };
            if let Some(signal) = state.came.take().and_then(Signal::from_named_raw) {
                // It may have ended already.
                let _ = kill_process(pid, signal);
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
                // What is typed has reached it already. A terminal that goes away tells only who leads its session.
                Runs::Now { own_group: false, .. } if came.by_kernel && TYPED.contains(&came.number) => {}
                Runs::Now { pid, .. } => {
                    if let Some(signal) = Signal::from_named_raw(came.number) {
                        // Until it is waited for, its process id is its own.
                        let _ = kill_process(pid, signal);
                    }
                }
                // Only the release is left, which is not to be interrupted.
                Runs::NoMore => {}
            }
        }

        fn state(&self) -> MutexGuard<'_, State> {
            self.state.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    /// Which signals are ignored, a bit for each from the first; none where that cannot be read.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
    }
}

#[cfg(not(unix))]
mod nothing {
    use leasebook_files::Cancel;
    use std::io;
    use std::process::{Child, Command};
    use std::time::Duration;

    /// On this system a signal ends the process as the system does it, and the marker is recovered by the next writer.
    pub struct Signals(Cancel);

    impl Signals {
        pub fn take_over() -> io::Result<Self> {
            Ok(Self(Cancel::new()))
        }

        pub fn cancel(&self) -> &Cancel {
            &self.0
        }

        pub fn came(&self) -> Option<i32> {
            None
        }

        pub fn sleep(&self, time: Duration) -> Option<i32> {
            std::thread::sleep(time);
            None
        }

        pub fn restore_in(&self, _: &mut Command) {}

        pub fn forward_to(&self, _: &Child) {}
    }
}
