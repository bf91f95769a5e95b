//! Receipts: what was asked and what was answered, signed, so that whoever has it can show it to others.
//!
//! A receipt is a compact JWS (RFC 7515) by Ed25519 (RFC 8037). Its header has `alg`, `kid` and `typ` alone, its payload
//! `actor`, `atMs`, `outcome`, `request` and `workspace`; both are canonical JSON, so that each receipt has one text.
//! It says what the service has answered, not that anything was done.

mod jwk;
mod keys;
mod verify;

#[cfg(test)]
mod tests;

pub use jwk::{Jwks, NoJwks};
pub use keys::{SigningError, SigningKeys};
pub use verify::{NoReceipt, Verified, verify, verify_text};

use crate::canonical::{self, NotCanonical};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The algorithm of every receipt.
const ALGORITHM: &str = "EdDSA";
/// What the header calls a receipt, so that no other signed text is taken for one.
pub const TYPE: &str = "leasebook-receipt";
/// The longest receipt, in bytes: an answer of a megabyte, in base64 and with all that stands around it.
pub const RECEIPT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// What a receipt attests.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Who asked.
    pub actor: String,
    /// When it was answered, in milliseconds of the Unix epoch.
    #[serde(rename = "atMs")]
    pub at_ms: u64,
    /// What was answered: an object, without the receipt.
    pub outcome: Value,
    /// The digest of the request, of [`request_digest`].
    pub request: String,
    /// In which workspace.
    pub workspace: String,
}

/// The SHA-256 of the canonical JSON of a request, in lower-case hex: the same however the request was spelled.
pub fn request_digest(request: &Value) -> Result<String, NotCanonical> {
    Ok(crate::ledger::Digest(Sha256::digest(canonical::to_text(request)?).into()).to_string())
}

/// A compact JWS over a payload that is canonical.
fn jws(key: &SigningKey, id: &str, payload: &str) -> Result<String, NotCanonical> {
    let header = canonical::to_text(&json!({"alg": ALGORITHM, "kid": id, "typ": TYPE}))?;
    Ok(signed(key, &header, payload))
}

/// A header and a payload, and the signature of both.
fn signed(key: &SigningKey, header: &str, payload: &str) -> String {
    let mut text = URL_SAFE_NO_PAD.encode(header);
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(payload, &mut text);
    let signature = key.sign(text.as_bytes()).to_bytes();
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut text);
    text
}
