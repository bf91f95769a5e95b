//! Whether a receipt is one, and by whom: it needs the public keys alone, and trusts nothing else.

use super::jwk::{Jwks, NoJwks};
use super::{ALGORITHM, RECEIPT_BYTES_MAX, TYPE};
use crate::canonical::{self, NotCanonical};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signature;
use serde_json::Value;

/// A receipt that is one.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The id of the key that signed it.
    pub kid: String,
    /// What it attests: `actor`, `atMs`, `outcome`, `request`, `workspace`.
    pub payload: Value,
}

/// Why a text is no receipt, or not one of these keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoReceipt {
    /// It is too long.
    #[error("the receipt has {bytes} bytes: expected at most {RECEIPT_BYTES_MAX}")]
    Long {
        /// How long it is.
        bytes: usize,
    },
    /// It is no compact JWS.
    #[error("expected a compact JWS: three parts in base64url, with dots between them")]
    Form,
    /// A part is no canonical JSON.
    #[error("the {part}: {source}")]
    NotCanonical {
        /// Which part.
        part: &'static str,
        /// Why.
        source: NotCanonical,
    },
    /// It is signed in another way.
    #[error("alg is {found}: expected {ALGORITHM}")]
    Algorithm {
        /// How.
        found: Value,
    },
    /// It is something else that was signed.
    #[error("typ is {found}: expected {TYPE}")]
    Type {
        /// What.
        found: Value,
    },
    /// Its header is not that of a receipt.
    #[error("the header: expected the members alg, kid and typ alone")]
    Header,
    /// None of the keys has signed it.
    #[error("kid is {kid:?}: expected one of the keys that were given")]
    UnknownKey {
        /// The key that it names.
        kid: String,
    },
    /// Something of it was changed, or it was signed by another key.
    #[error("the signature is not that of this text by the key {kid:?}")]
    Signature {
        /// The key that it names.
        kid: String,
    },
    /// What is signed is not what a receipt says.
    #[error("the payload: expected {expected}")]
    Payload {
        /// What was expected.
        expected: &'static str,
    },
    /// The keys cannot be read.
    #[error(transparent)]
    Keys(#[from] NoJwks),
}

/// Verifies a receipt by keys as they were published. A line end behind the receipt, as files have it, is passed over.
pub fn verify_text(receipt: &str, jwks: &str) -> Result<Verified, NoReceipt> {
    let keys = Jwks::read(jwks)?;
    let receipt = receipt.strip_suffix('\n').unwrap_or(receipt);
    verify(receipt.strip_suffix('\r').unwrap_or(receipt), &keys)
}

/// Verifies a receipt.
pub fn verify(receipt: &str, keys: &Jwks) -> Result<Verified, NoReceipt> {
    if receipt.len() > RECEIPT_BYTES_MAX {
        return Err(NoReceipt::Long { bytes: receipt.len() });
    }
    let (message, signature) = receipt.rsplit_once('.').ok_or(NoReceipt::Form)?;
    let (header, payload) = message.split_once('.').ok_or(NoReceipt::Form)?;
    let decode = |part| URL_SAFE_NO_PAD.decode(part).map_err(|_| NoReceipt::Form);
    let (header, payload, signature) = (decode(header)?, decode(payload)?, decode(signature)?);
    let kid = kid_of(&read("header", &header)?)?;
    let key = keys.get(&kid).ok_or_else(|| NoReceipt::UnknownKey { kid: kid.clone() })?;
    let signature = Signature::from_slice(&signature).map_err(|_| NoReceipt::Form)?;
    // Strictly: a signature has one form, and no key verifies anything that it has not signed.
    if key.verify_strict(message.as_bytes(), &signature).is_err() {
        return Err(NoReceipt::Signature { kid });
    }
    let payload = read("payload", &payload)?;
    check(&payload)?;
    Ok(Verified { kid, payload })
}

fn read(part: &'static str, text: &[u8]) -> Result<Value, NoReceipt> {
    canonical::read(text).map_err(|source| NoReceipt::NotCanonical { part, source })
}

/// The algorithm is ours, never the one that the text asks for.
fn kid_of(header: &Value) -> Result<String, NoReceipt> {
    let members = header.as_object().ok_or(NoReceipt::Header)?;
    let found = |name: &str| members.get(name).cloned().unwrap_or_default();
    if found("alg") != ALGORITHM {
        return Err(NoReceipt::Algorithm { found: found("alg") });
    }
    if found("typ") != TYPE {
        return Err(NoReceipt::Type { found: found("typ") });
    }
    match members.get("kid") {
        Some(Value::String(kid)) if members.len() == 3 => Ok(kid.clone()),
        _ => Err(NoReceipt::Header),
    }
}

fn check(payload: &Value) -> Result<(), NoReceipt> {
    let refused = |expected| NoReceipt::Payload { expected };
    let members = payload.as_object().ok_or(refused("an object"))?;
    let is = |name: &str, good: fn(&Value) -> bool| members.get(name).is_some_and(good);
    if !["actor", "request", "workspace"].iter().all(|name| is(name, Value::is_string)) {
        return Err(refused("actor, request and workspace as texts"));
    }
    if !is("atMs", Value::is_u64) {
        return Err(refused("atMs in milliseconds of the Unix epoch"));
    }
    if !is("outcome", Value::is_object) {
        return Err(refused("outcome as an object"));
    }
    if members.len() != 5 {
        return Err(refused("actor, atMs, outcome, request and workspace alone"));
    }
    Ok(())
}
