//! A key as its bearer has it: `lb_<id>_<secret>`, both in lower-case hex.

use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;
use subtle::ConstantTimeEq as _;

/// Bytes of the id: enough that no two keys of one store have the same.
const ID_BYTES: usize = 8;
/// Bytes of the secret: as many as its digest has, so that guessing either is as hopeless.
const SECRET_BYTES: usize = 32;
/// What every key begins with, so that scanners of repositories find it.
const PREFIX: &str = "lb_";

/// A key. It is never shown by `Debug`.
#[derive(Clone)]
pub struct Key {
    id: [u8; ID_BYTES],
    secret: [u8; SECRET_BYTES],
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a key: lb_, 16 hex digits, _, 64 hex digits")]
pub struct InvalidKey;

impl Key {
    /// Draws a key from the system.
    pub fn draw() -> std::io::Result<Self> {
        let mut key = Self { id: [0; ID_BYTES], secret: [0; SECRET_BYTES] };
        getrandom::fill(&mut key.id).and_then(|()| getrandom::fill(&mut key.secret))?;
        Ok(key)
    }

    /// Its id, which is no secret.
    pub fn id(&self) -> String {
        hex(&self.id)
    }

    /// The whole of it, to be shown once.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}_{}", hex(&self.id), hex(&self.secret))
    }

    /// What is kept of it. The secret is random and long, so that a plain digest cannot be turned back by guessing.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::new().chain_update(self.id).chain_update(self.secret).finalize().into()
    }

    /// Whether a digest is of this key, in a time that does not tell how much of it is right.
    pub fn is_of(&self, digest: &[u8; 32]) -> bool {
        self.digest().ct_eq(digest).into()
    }
}

impl FromStr for Key {
    type Err = InvalidKey;

    fn from_str(text: &str) -> Result<Self, InvalidKey> {
        let (id, secret) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or(InvalidKey)?;
        Ok(Self { id: unhex(id).ok_or(InvalidKey)?, secret: unhex(secret).ok_or(InvalidKey)? })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id())
    }
}

/// Bytes as lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // a string takes everything
        text
    })
}

pub(crate) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = 16 * digit(pair[0])? + digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_it_was_shown_and_never_otherwise() {
        let key = Key::draw().unwrap();
        let shown = key.reveal();
        let read: Key = shown.parse().unwrap();
        assert!(read.is_of(&key.digest()));
        assert_eq!(read.reveal(), shown);
        assert!(!Key::draw().unwrap().is_of(&key.digest()));
        let upper = shown.to_uppercase();
        for wrong in ["", "lb_", "lb_1_2", &shown[1..], &shown[..shown.len() - 1], &(shown.clone() + "0"), &upper] {
            assert_eq!(wrong.parse::<Key>().unwrap_err(), InvalidKey, "{wrong}");
        }
    }

    #[test]
    fn a_key_is_not_printed_by_mistake() {
        let key = Key::draw().unwrap();
        let printed = format!("{key:?}");
        assert_eq!(printed, format!("Key({})", key.id()));
        assert!(!printed.contains(&hex(&key.secret)));
    }
}
