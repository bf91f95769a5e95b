//! Signals that are blocked, ignored and read, as the C library has them: the unsafe part of `signals`.
#![allow(unsafe_code)]

use rustix::process::Pid;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// Which signals a thread blocks.
#[derive(Clone, Copy)]
pub struct Mask(libc::sigset_t);

impl Mask {
    /// A mask of these signals, by number.
    pub fn of(numbers: impl IntoIterator<Item = i32>) -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the first call initializes the set, and the others are given that. A number that is no signal is
        // refused by them and adds nothing.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for number in numbers {
                libc::sigaddset(set.as_mut_ptr(), number);
            }
            Self(set.assume_init())
        }
    }

    /// Blocks these signals too in this thread and those that it begins from now on; answers what was blocked before.
    pub fn block(&self) -> io::Result<Self> {
        let mut before = MaybeUninit::uninit();
        // SAFETY: both pointers are to sets of this function, and the second is initialized where the call succeeds.
        unsafe {
            checked(libc::pthread_sigmask(libc::SIG_BLOCK, &self.0, before.as_mut_ptr()))?;
            Ok(Self(before.assume_init()))
        }
    }

    /// Blocks exactly these signals in this thread. It may be called between fork and exec.
    pub fn set(&self) -> io::Result<()> {
        // SAFETY: the set is initialized, and no other is asked for.
        checked(unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, ptr::null_mut()) })
    }
}

/// What this process does about a signal.
#[derive(Clone, Copy)]
pub struct Disposition {
    number: i32,
    handler: libc::sighandler_t,
}

impl Disposition {
    /// Sets what the system does by itself; answers what was before.
    pub fn default_of(number: i32) -> io::Result<Self> {
        Self { number, handler: libc::SIG_DFL }.exchange()
    }

    /// Sets this. It may be called between fork and exec.
    pub fn set(&self) -> io::Result<()> {
        self.exchange().map(|_| ())
    }

    fn exchange(&self) -> io::Result<Self> {
        // SAFETY: the handler is none, or one that was set before.
        match unsafe { libc::signal(self.number, self.handler) } {
            libc::SIG_ERR => Err(io::Error::last_os_error()),
            handler => Ok(Self { handler, ..*self }),
        }
    }
}

/// Whether a process is in the process group of this one. The group may be of another namespace of process ids, where
/// its number is 0 for both.
pub fn in_own_group(pid: Pid) -> bool {
    // SAFETY: neither call touches memory.
    unsafe { libc::getpgid(pid.as_raw_nonzero().get()) == libc::getpgrp() }
}

/// Calls for threads answer the number of the error.
fn checked(number: i32) -> io::Result<()> {
    if number == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(number)) }
}

/// A signal that came.
pub struct Came {
    pub number: i32,
    /// The kernel sent it: for one that can be typed, to all processes at a terminal.
    pub by_kernel: bool,
}

/// Where signals of a mask are read that all threads block.
#[cfg(target_os = "linux")]
pub struct Source(std::fs::File);

#[cfg(target_os = "linux")]
impl Source {
    pub fn of(mask: &Mask) -> io::Result<Self> {
        use std::os::fd::FromRawFd;
        // SAFETY: the set is initialized; a descriptor that is not negative is new, and nobody else's.
        unsafe {
            match libc::signalfd(-1, &mask.0, libc::SFD_CLOEXEC) {
                -1 => Err(io::Error::last_os_error()),
                descriptor => Ok(Self(std::fs::File::from_raw_fd(descriptor))),
            }
        }
    }

    /// Waits for the next one.
    pub fn next(&mut self) -> io::Result<Came> {
        use std::io::Read;
        use std::mem::offset_of;
        let mut bytes = [0; size_of::<libc::signalfd_siginfo>()];
        self.0.read_exact(&mut bytes)?;
        let number = |at: usize| i32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Ok(Came {
            number: number(offset_of!(libc::signalfd_siginfo, ssi_signo)),
            by_kernel: number(offset_of!(libc::signalfd_siginfo, ssi_code)) == libc::SI_KERNEL,
        })
    }
}

/// Where signals of a mask are read that all threads block. Nobody says here who sent them, so that one of a terminal
/// is passed on too, and comes twice.
#[cfg(not(target_os = "linux"))]
pub struct Source(Mask);

#[cfg(not(target_os = "linux"))]
impl Source {
    pub fn of(mask: &Mask) -> io::Result<Self> {
        Ok(Self(*mask))
    }

    /// Waits for the next one.
    pub fn next(&mut self) -> io::Result<Came> {
        let mut number = 0;
        // SAFETY: the set is initialized, and the number is this function's.
        checked(unsafe { libc::sigwait(&self.0.0, &mut number) })?;
        Ok(Came { number, by_kernel: false })
    }
}
