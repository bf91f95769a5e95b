//! What one pair of acquire and release cannot do without: the system calls of the protocol, and nothing between them.
//!
//! Open the root, ask what it is called and which file it is; ask for the process id, which a marker tells; open the
//! marker directory; list it for stale markers; write the `.tmp`, rename it; list again, see that the destination still
//! leads to both, read the own marker back. To release: ask for the process id, since a fork has no lease; read the
//! marker, remove it. Both directories stay open for as long as the lease.

use anyhow::Result;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, fstat, openat, renameat, statat, unlinkat};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

pub struct Bare {
    destination: PathBuf,
    number: u64,
}

impl Bare {
    pub fn new(destination: &Path) -> Result<Self> {
        Ok(Self { destination: destination.to_owned(), number: 0 })
    }

    pub fn pair(&mut self) {
        self.number += 1;
        self.calls().expect("the archive is there, and nobody else");
    }

    fn calls(&self) -> rustix::io::Result<()> {
        let directory = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(rustix::fs::CWD, &self.destination, OFlags::PATH | directory, Mode::empty())?;
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&root));
        let path = rustix::fs::readlink(link, Vec::new())?;
        let _ = fstat(&root)?;
        let _ = rustix::process::getpid();
        let nonce: [u8; 16] = {
            let mut bits = [0; 16];
            rustix::rand::getrandom(&mut bits, rustix::rand::GetRandomFlags::empty())?;
            bits
        };
        let markers = openat(&root, super::MARKERS, OFlags::RDONLY | OFlags::NOFOLLOW | directory, Mode::empty())?;
        let _ = fstat(&markers)?;
        list(&markers)?;
        let name = format!("{:032x}", u128::from_be_bytes(nonce) ^ u128::from(self.number));
        let (incomplete, marker) = (format!("{name}.tmp"), format!("{name}.json"));
        let content = format!("{{\"version\":1,\"pid\":4242,\"host\":\"build-7\",\"nonce\":\"{name}\"}}\n");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&markers, &incomplete, flags, Mode::from(0o644))?;
        rustix::io::write(&file, content.as_bytes())?;
        drop(file);
        renameat(&markers, &incomplete, &markers, &marker)?;
        rustix::fs::seek(&markers, rustix::fs::SeekFrom::Start(0))?;
        list(&markers)?;
        let _ = statat(&root, super::MARKERS, AtFlags::SYMLINK_NOFOLLOW)?;
        let _ = rustix::fs::stat(path)?;
        read(&markers, &marker)?;
        // Held; and released:
        let _ = rustix::process::getpid();
        read(&markers, &marker)?;
        unlinkat(&markers, &marker, AtFlags::empty())
    }
}

fn list(markers: &OwnedFd) -> rustix::io::Result<()> {
    let mut buffer = [const { MaybeUninit::uninit() }; 4096];
    let mut entries = RawDir::new(markers.as_fd(), &mut buffer);
    while let Some(entry) = entries.next() {
        entry?;
    }
    Ok(())
}

fn read(markers: &OwnedFd, name: &str) -> rustix::io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(markers, name, flags, Mode::empty())?;
    let _ = fstat(&file)?;
    let mut bytes = [0_u8; 4097];
    while rustix::io::read(&file, &mut bytes)? > 0 {}
    Ok(())
}
