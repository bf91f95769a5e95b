//! Which processes live.

use crate::marker_files::Liveness;

/// Asks the system whether there is a process of this id.
///
/// Only "no such process" is [`Liveness::Dead`]. A process that another account owns, one that waits to be reaped, an
/// id that was used again and the id of a thread are alive. An id that no process can have (0, which to the system
/// means a group, and those above 2^31 - 1) is never asked about, and is alive.
#[cfg(unix)]
pub fn probe(pid: u32) -> Liveness {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Liveness::Alive };
    match test_kill_process(pid) {
        Err(Errno::SRCH) => Liveness::Dead,
        _ => Liveness::Alive,
    }
}

/// On this system nobody is asked, and every process is alive.
#[cfg(not(unix))]
pub fn probe(_: u32) -> Liveness {
    Liveness::Alive
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn only_no_such_process_is_dead() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        assert_eq!(probe(pid), Liveness::Alive);
        // The end of its output says that it is gone; it stays a zombie until it is waited for.
        child.kill().unwrap();
        rustix::process::waitid(
            rustix::process::WaitId::Pid(rustix::process::Pid::from_child(&child)),
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT,
        )
        .unwrap();
        assert_eq!(probe(pid), Liveness::Alive, "a zombie");
        child.wait().unwrap();
        assert_eq!(probe(pid), Liveness::Dead);
        assert_eq!(probe(1), Liveness::Alive);
        for never in [0, u32::MAX, pid.wrapping_neg(), 1 << 31] {
            assert_eq!(probe(never), Liveness::Alive, "{never}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_is_alive() {
        let (tell, hear) = std::sync::mpsc::channel();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
            let _ = stopped.recv();
        });
        let id = hear.recv().unwrap();
        assert_ne!(id, std::process::id());
        assert_eq!(probe(id), Liveness::Alive);
        drop(stop);
        thread.join().unwrap();
    }
}
