//! Keys: who may speak for which actor.
//!
//! A key is shown once, when it is made; what is kept is a digest of it. It belongs to one workspace and one actor, and
//! may end, be limited to a number of calls, or be revoked.

mod ring;
mod secret;

pub use ring::{Denied, KeyRing};
pub use secret::{InvalidKey, Key};
pub(crate) use secret::{hex, unhex};

/// The longest name of a workspace, in bytes.
pub const WORKSPACE_BYTES_MAX: usize = 64;
/// The workspace of a key whose maker names none.
pub const WORKSPACE_DEFAULT: &str = "default";
/// The calls of a test key.
pub const TEST_CALLS_MAX: u64 = 35;
/// How long a test key is good for, in milliseconds: 7 days.
pub const TEST_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// What a key lets its bearer do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// In which workspace.
    pub workspace: String,
    /// In whose name.
    pub actor: String,
    /// Until when, in milliseconds of the Unix epoch; `None` = until it is revoked. It is over at this moment itself.
    pub expires_ms: Option<u64>,
    /// How many calls it is good for; `None` = any number.
    pub calls_max: Option<u64>,
}

/// A key as it is listed: all of it but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its id, the part of the key that is no secret.
    pub id: String,
    /// What it is good for.
    pub grant: Grant,
    /// When it was made, in milliseconds of the Unix epoch.
    pub created_ms: u64,
    /// How many calls it was used for, where these are limited.
    pub calls: u64,
    /// When it was revoked.
    pub revoked_ms: Option<u64>,
}

/// Whether a text can be the name of a workspace: 1 to 64 of `a-z`, `0-9` and `-`, beginning with a letter or digit.
/// It is part of the names of files.
pub fn is_workspace(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=WORKSPACE_BYTES_MAX).contains(&name.len())
        && name.bytes().all(|byte| plain(byte) || byte == b'-')
        && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_workspace_can_be_one_of_a_file() {
        for good in ["default", "a", "9", "team-7", &"x".repeat(64)] {
            assert!(is_workspace(good), "{good}");
        }
        for bad in ["", "-", "-a", "A", "a/b", "..", "a b", "ä", "a\0", &"x".repeat(65)] {
            assert!(!is_workspace(bad), "{bad}");
        }
    }
}
