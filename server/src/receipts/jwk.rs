//! The public parts of keys: a JWK set (RFC 7517) of Ed25519 keys (RFC 8037).

use super::ALGORITHM;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// The longest set that is read, in bytes: a thousand keys take a fifth of it.
pub const JWKS_BYTES_MAX: usize = 1024 * 1024;

/// A set of keys, by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jwks {
    keys: BTreeMap<String, VerifyingKey>,
}

/// Why a text is no set of keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoJwks {
    /// It is too long.
    #[error("the keys have {bytes} bytes: expected at most {JWKS_BYTES_MAX}")]
    Long {
        /// How long it is.
        bytes: usize,
    },
    /// It is no JSON.
    #[error("the keys: expected JSON: {0}")]
    Json(String),
    /// It has no member `keys`.
    #[error("keys: expected a list of keys, as of a JWK set")]
    Keys,
    /// A key is not what it says to be.
    #[error("keys[{index}]: expected {expected}")]
    Key {
        /// Which one, counted from 0.
        index: usize,
        /// What was expected.
        expected: &'static str,
    },
}

impl Jwks {
    /// Reads a set. Keys of other kinds are passed over, as the RFC says; a key of ours must be right.
    pub fn read(text: &str) -> Result<Self, NoJwks> {
        if text.len() > JWKS_BYTES_MAX {
            return Err(NoJwks::Long { bytes: text.len() });
        }
        let value: Value = serde_json::from_str(text).map_err(|error| NoJwks::Json(error.to_string()))?;
        let mut set = Self::default();
        for (index, key) in value.get("keys").and_then(Value::as_array).ok_or(NoJwks::Keys)?.iter().enumerate() {
            let refused = |expected| NoJwks::Key { index, expected };
            let member = |name: &str| key.get(name).and_then(Value::as_str);
            let other = |name: &str, ours: &str| key.get(name).is_some_and(|found| found != ours);
            if member("kty") != Some("OKP") || member("crv") != Some("Ed25519") {
                continue;
            }
            if other("alg", ALGORITHM) || other("use", "sig") {
                continue;
            }
            let id = member("kid").ok_or(refused("a kid"))?;
            let bytes = member("x").and_then(|x| URL_SAFE_NO_PAD.decode(x).ok()).unwrap_or_default();
            let bytes: [u8; 32] = bytes.try_into().map_err(|_| refused("x of 32 bytes in base64url"))?;
            let public = VerifyingKey::from_bytes(&bytes).ok().filter(|public| !public.is_weak());
            let public = public.ok_or(refused("x that is a public key of Ed25519"))?;
            if set.keys.insert(id.to_string(), public).is_some() {
                return Err(refused("a kid that no other key has"));
            }
        }
        Ok(set)
    }

    /// The set as JSON.
    pub fn to_json(&self) -> Value {
        let key = |(id, public): (&String, &VerifyingKey)| {
            let x = URL_SAFE_NO_PAD.encode(public.as_bytes());
            json!({"alg": ALGORITHM, "crv": "Ed25519", "kid": id, "kty": "OKP", "use": "sig", "x": x})
        };
        json!({ "keys": self.keys.iter().map(key).collect::<Vec<_>>() })
    }

    /// The key with this id.
    pub fn get(&self, id: &str) -> Option<&VerifyingKey> {
        self.keys.get(id)
    }

    pub(super) fn insert(&mut self, public: VerifyingKey) {
        self.keys.insert(thumbprint(&public), public);
    }
}

/// The id of a key: its thumbprint (RFC 7638), so that no two keys share one, and none can be put in another's place.
pub(super) fn thumbprint(public: &VerifyingKey) -> String {
    let x = URL_SAFE_NO_PAD.encode(public.as_bytes());
    URL_SAFE_NO_PAD.encode(Sha256::digest(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#)))
}
