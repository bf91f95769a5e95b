//! What an authority is asked: plain values, read without trust.

use crate::limits::PATHS_MAX;
use crate::{Mode, Path, Period};
use alloc::string::String;
use core::{fmt, str::FromStr};

/// The longest idempotency key, in bytes.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 256;

/// Asks for leases on resources: all of them, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request<'a> {
    /// Who asks: a DID.
    pub actor: &'a str,
    /// What for: 1 to 1 024 names.
    pub resources: &'a [&'a str],
    /// How. Shared counts only on resources that may be read concurrently.
    pub mode: Mode,
    /// For how long, once granted; `None` = the default of the authority.
    pub ttl: Option<Period>,
    /// How long the asker waits for a grant; `None` and 0 = not at all.
    pub wait: Option<Period>,
    /// Under which key a grant is remembered.
    pub idempotency: Option<Idempotency<'a>>,
}

/// The key of a request that may be sent more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idempotency<'a> {
    /// The key: 1 to 256 bytes without control characters. It is the asker's own.
    pub key: &'a str,
    /// A digest of the body, so that another body under the same key is noticed.
    pub body: [u8; 32],
}

/// Gives leases back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Giving<'a> {
    /// Who gives.
    pub actor: &'a str,
    /// What is given back; may be empty where the lease is named, which is then given back whole.
    pub resources: &'a [&'a str],
    /// Of which lease; `None` = of whichever the actor has.
    pub lease_id: Option<LeaseId>,
}

/// The id of what one request was granted; shown as `lease-7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaseId(pub u64);

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lease-{}", self.0)
    }
}

/// What was read is not the id of a lease as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidLeaseId;

impl fmt::Display for InvalidLeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a lease is shown as lease-7")
    }
}

impl core::error::Error for InvalidLeaseId {}

impl FromStr for LeaseId {
    type Err = InvalidLeaseId;

    fn from_str(shown: &str) -> Result<Self, Self::Err> {
        let number = shown.strip_prefix("lease-").ok_or(InvalidLeaseId)?;
        // One id has one spelling.
        let plain = number.bytes().all(|byte| byte.is_ascii_digit()) && (number == "0" || !number.starts_with('0'));
        if plain { number.parse().map(Self).map_err(|_| InvalidLeaseId) } else { Err(InvalidLeaseId) }
    }
}

/// A field of a request is not usable. Fields are named as REST names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidField {
    /// Which.
    pub field: &'static str,
    /// What was expected.
    pub expected: &'static str,
    /// What was given, where that is a text.
    pub found: Option<String>,
}

impl InvalidField {
    pub(super) fn new(field: &'static str, expected: &'static str) -> Self {
        Self { field, expected, found: None }
    }
}

/// Refuses an actor that has not the shape of a DID: `did:`, a method of `a-z0-9`, `:`, and an id of the characters
/// that DID Core 1.0, section 3.1, allows, that does not end with a colon.
pub fn check_actor(actor: &str) -> Result<(), InvalidField> {
    let expected = "a DID of at most 256 bytes, like did:web:example.org";
    let wrong = || InvalidField { found: Some(actor.into()), ..InvalidField::new("actorDid", expected) };
    let (method, id) = actor.strip_prefix("did:").and_then(|rest| rest.split_once(':')).ok_or_else(wrong)?;
    let in_method = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let good = crate::Holder::is_valid(actor)
        && !method.is_empty()
        && method.bytes().all(in_method)
        && is_id(id.as_bytes())
        && !id.ends_with(':');
    if good { Ok(()) } else { Err(wrong()) }
}

fn is_id(mut id: &[u8]) -> bool {
    let some = !id.is_empty();
    while let Some((&first, rest)) = id.split_first() {
        id = match first {
            b'%' => match rest {
                [a, b, rest @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => rest,
                _ => return false,
            },
            b'.' | b'-' | b'_' | b':' => rest,
            _ if first.is_ascii_alphanumeric() => rest,
            _ => return false,
        };
    }
    some
}

/// Refuses names that are no relative path with one spelling.
pub(super) fn check_resources(resources: &[&str]) -> Result<(), InvalidField> {
    if resources.is_empty() || resources.len() > PATHS_MAX {
        return Err(InvalidField::new("resources", "1 to 1024 names"));
    }
    match resources.iter().find(|name| !is_resource(name)) {
        None => Ok(()),
        Some(name) => Err(InvalidField {
            found: Some((*name).into()),
            ..InvalidField::new(
                "resource",
                "a name like lock:deploy/production: relative, at most 4096 bytes in 255 segments, none of them empty, \
                 `.` or `..`, without backslash and control characters",
            )
        }),
    }
}

/// May this be the name of a resource? Of one location there is one spelling, so that names can be compared as bytes.
pub(super) fn is_resource(name: &str) -> bool {
    Path::parse(name).is_some_and(|path| !path.is_absolute())
        && name.split('/').all(|segment| !segment.is_empty() && segment != ".")
        && !name.chars().any(char::is_control)
}

/// Refuses an idempotency key out of its bounds.
pub(super) fn check_key(key: &str) -> Result<(), InvalidField> {
    let good = (1..=IDEMPOTENCY_KEY_BYTES_MAX).contains(&key.len()) && !key.chars().any(char::is_control);
    let wrong = || InvalidField::new("idempotencyKey", "1 to 256 bytes without control characters");
    if good { Ok(()) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_is_a_did() {
        for good in ["did:web:a", "did:key:z6Mk", "did:a9:x:y", "did:web:a%2Fb", "did:x:_.-"] {
            assert_eq!(check_actor(good), Ok(()), "{good}");
        }
        let long = alloc::format!("did:web:{}", "x".repeat(249));
        for bad in ["", "a", "did:", "did:web", "did:web:", "did:Web:a", "did::a", "DID:web:a", "did:web:a b"] {
            assert!(check_actor(bad).is_err(), "{bad}");
        }
        for bad in ["did:web:a:", "did:web:%2", "did:web:%zz", "did:web:ä", "did:web:a\0", "did:web:a/b", &long] {
            assert!(check_actor(bad).is_err(), "{bad}");
        }
        assert!(check_actor(&long[1..]).is_err());
        assert_eq!(check_actor(&long[..256]), Ok(()));
    }

    #[test]
    fn one_location_has_one_name() {
        for good in ["a", "lock:deploy/production", "a/b.c/..d", "ä/é", "...", "A"] {
            assert!(is_resource(good), "{good}");
        }
        for bad in ["", "/", "/a", "a/", "a//b", ".", "a/.", "./a", "..", "a/../b", "a\\b", "a\0", "a\nb", "\u{85}"] {
            assert!(!is_resource(bad), "{bad:?}");
        }
        assert!(is_resource(&"x".repeat(4096)) && !is_resource(&"x".repeat(4097)));
        assert!(is_resource(&["a"; 255].join("/")) && !is_resource(&["a"; 256].join("/")));
    }

    #[test]
    fn the_id_of_a_lease_has_one_spelling() {
        assert_eq!("lease-7".parse(), Ok(LeaseId(7)));
        for bad in ["", "7", "lease-", "lease-07", "lease-+7", "Lease-7", "lease-99999999999999999999", "lease-7 "] {
            assert_eq!(bad.parse::<LeaseId>(), Err(InvalidLeaseId), "{bad}");
        }
    }
}
