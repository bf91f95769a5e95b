//! What this process is called as a host.
//!
//! A process id means something only among processes that share a namespace of them. The host's name is enough in the
//! initial one. Elsewhere it goes with the namespace and the boot, because namespaces are numbered in order, and two
//! machines have the same numbers.

use crate::error::{FileCode, FileError, FileStep};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The number of the initial namespace of process ids, which Linux gives to it alone
/// (`PROC_PID_INIT_INO` in `include/linux/proc_ns.h`).
#[cfg(any(target_os = "linux", target_os = "android"))]
const INITIAL_NAMESPACE: &str = "pid:[4026531836]";

/// How much of the boot id is told: enough that two boots differ.
#[cfg(any(target_os = "linux", target_os = "android"))]
const BOOT_DIGITS: usize = 8;

/// The host's name, with the namespace of process ids where it is not the initial one.
///
/// `;pidns=?` says that it could not be found out; such a name is foreign to everybody, itself included.
///
/// It is found out once in the life of a process: a host that is given another name meanwhile must not make a process
/// take its own markers for another's. A fork finds it out anew.
pub fn identity() -> Result<String, FileError> {
    static KNOWN: Mutex<Option<(u32, String)>> = Mutex::new(None);
    let pid = std::process::id();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some((of, identity)) if *of == pid => Ok(identity.clone()),
        _ => {
            let identity = found_out()?;
            *known = Some((pid, identity.clone()));
            Ok(identity)
        }
    }
}

fn found_out() -> Result<String, FileError> {
    let host = host_name()?;
    if host.is_empty() {
        let said = "the host has no name; set one, or give the store an identity";
        return Err(FileError::with_code(FileCode::Other, FileStep::Identity, Path::new(""), said));
    }
    Ok(host + &namespace())
}

#[cfg(unix)]
fn host_name() -> Result<String, FileError> {
    Ok(text(rustix::system::uname().nodename().to_bytes()))
}

/// A name as text. Where it is not UTF-8, its bytes are written as `\xff`, so that two names stay two.
#[cfg(unix)]
fn text(name: &[u8]) -> String {
    let mut text = String::new();
    for chunk in name.utf8_chunks() {
        text += chunk.valid();
        text.extend(chunk.invalid().iter().flat_map(|byte| byte.escape_ascii()).map(char::from));
    }
    text
}

#[cfg(not(unix))]
fn host_name() -> Result<String, FileError> {
    std::env::var("COMPUTERNAME").map_err(|error| {
        FileError::with_code(FileCode::Other, FileStep::Identity, Path::new("COMPUTERNAME"), error.to_string())
    })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn namespace() -> String {
    let own = std::fs::read_link("/proc/self/ns/pid").ok();
    let own = own.as_deref().and_then(Path::to_str);
    if own == Some(INITIAL_NAMESPACE) {
        return String::new();
    }
    let boot = || std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    suffix(own, boot().as_deref())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn namespace() -> String {
    String::new()
}

/// What is added to the host's name outside the initial namespace.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn suffix(link: Option<&str>, boot: Option<&str>) -> String {
    let id = link.and_then(|link| link.strip_prefix("pid:[")?.strip_suffix(']'));
    let id = id.filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()));
    let boot = boot.and_then(|boot| boot.get(..BOOT_DIGITS));
    let boot = boot.filter(|boot| boot.bytes().all(|byte| byte.is_ascii_hexdigit()));
    match (id, boot) {
        (Some(id), Some(boot)) => format!(";pidns={id}@{boot}"),
        _ => ";pidns=?".to_owned(),
    }
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_goes_with_its_boot() {
        let boot = Some("0f3a5b7c-0000-0000-0000-000000000000\n");
        assert_eq!(suffix(Some("pid:[4026532178]"), boot), ";pidns=4026532178@0f3a5b7c");
        for (link, boot) in [
            (None, boot),
            (Some("pid:[4026532178]"), None),
            (Some("pid:[4026532178]"), Some("0f3")),
            (Some("pid:[4026532178]"), Some("not a boot id")),
            (Some("pid:[]"), boot),
            (Some("pid:[1;2]"), boot),
            (Some("net:[1]"), boot),
        ] {
            assert_eq!(suffix(link, boot), ";pidns=?", "{link:?} {boot:?}");
        }
    }

    #[test]
    fn two_names_of_hosts_stay_two() {
        for (name, expected) in [
            (&b"build-7"[..], "build-7"),
            ("bücher".as_bytes(), "bücher"),
            (b"a\xff", "a\\xff"),
            (b"a\xfe.b", "a\\xfe.b"),
        ] {
            assert_eq!(text(name), expected);
        }
    }

    #[test]
    fn it_is_the_same_each_time() {
        let first = identity().unwrap();
        assert!(!first.is_empty());
        assert_eq!(found_out().unwrap(), first);
        assert_eq!(identity().unwrap(), first);
    }
}
