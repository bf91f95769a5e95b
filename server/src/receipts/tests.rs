//! Receipts that are ones, and all that are not.

use super::verify::NoReceipt;
use super::*;
use crate::store::Sqlite;
use ed25519_dalek::SigningKey;

fn outcome() -> Outcome {
    Outcome {
        actor: "did:web:a.example".into(),
        at_ms: 1_000_000,
        outcome: json!({"lease": {"leaseId": "7"}, "ok": true}),
        request: request_digest(&json!({"resource": "lock:deploy/production"})).unwrap(),
        workspace: "default".into(),
    }
}

fn keys(folder: &tempfile::TempDir) -> SigningKeys {
    SigningKeys::open(&folder.path().join("book.sqlite"), 1).unwrap()
}

/// A key, and the set that has it.
fn key() -> (SigningKey, String, Jwks) {
    let key = SigningKey::from_bytes(&[7; 32]);
    let mut set = Jwks::default();
    set.insert(key.verifying_key());
    let id = jwk::thumbprint(&key.verifying_key());
    (key, id, set)
}

#[test]
fn a_receipt_verifies_by_the_published_keys_and_says_what_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(&folder);
    let receipt = keys.sign(&outcome()).unwrap();
    let verified = verify_text(&(receipt.clone() + "\r\n"), &keys.jwks().to_json().to_string()).unwrap();
    assert_eq!(verified.kid, keys.id());
    assert_eq!(verified.payload, serde_json::to_value(outcome()).unwrap());
    assert_eq!(receipt, keys.sign(&outcome()).unwrap());
}

#[test]
fn no_byte_of_a_receipt_can_change() {
    let (key, id, set) = key();
    let receipt = jws(&key, &id, &canonical::to_text(&outcome()).unwrap()).unwrap();
    for at in 0..receipt.len() {
        for byte in [b'A', b'B', b'.', b'=', b'_', receipt.as_bytes()[at] ^ 1, receipt.as_bytes()[at] ^ 0x20] {
            let mut changed = receipt.clone().into_bytes();
            changed[at] = byte;
            let Ok(changed) = String::from_utf8(changed) else { continue };
            assert_eq!(verify(&changed, &set).is_ok(), changed == receipt, "{changed}");
        }
        assert!(verify(&receipt[..at], &set).is_err());
    }
    for more in ["A", "=", ".", " ", "\n\n"] {
        assert!(verify_text(&(receipt.clone() + more), &set.to_json().to_string()).is_err(), "{more:?}");
    }
}

#[test]
fn only_the_own_algorithm_is_ever_used() {
    let (key, id, set) = key();
    let payload = canonical::to_text(&outcome()).unwrap();
    for algorithm in ["none", "HS256", "ES256", "Ed25519", "eddsa"] {
        let header = canonical::to_text(&json!({"alg": algorithm, "kid": id, "typ": TYPE})).unwrap();
        let refused = verify(&signed(&key, &header, &payload), &set).unwrap_err();
        assert_eq!(refused, NoReceipt::Algorithm { found: algorithm.into() });
    }
    // As forgers do it: without a signature; and with the public key as the secret of an HMAC, whose result has 32 bytes.
    let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
    let none = format!(r#"{{"alg":"none","kid":"{id}","typ":"{TYPE}"}}"#);
    let bare = format!("{}.{}.", encode(&none), encode(&payload));
    assert_eq!(verify(&bare, &set), Err(NoReceipt::Algorithm { found: "none".into() }));
    let ours = canonical::to_text(&json!({"alg": ALGORITHM, "kid": id, "typ": TYPE})).unwrap();
    let short = format!("{}.{}.{}", encode(&ours), encode(&payload), URL_SAFE_NO_PAD.encode([0; 32]));
    assert_eq!(verify(&short, &set), Err(NoReceipt::Form));
}

#[test]
fn another_key_another_header_and_another_text_are_refused_by_name() {
    let (key, id, set) = key();
    let payload = canonical::to_text(&outcome()).unwrap();
    let other = SigningKey::from_bytes(&[8; 32]);
    let other_id = jwk::thumbprint(&other.verifying_key());
    let unknown = jws(&other, &other_id, &payload).unwrap();
    assert_eq!(verify(&unknown, &set), Err(NoReceipt::UnknownKey { kid: other_id }));
    assert_eq!(verify(&jws(&other, &id, &payload).unwrap(), &set), Err(NoReceipt::Signature { kid: id.clone() }));
    let check = |header: &str, payload: &str, expected: NoReceipt| {
        assert_eq!(verify(&signed(&key, header, payload), &set), Err(expected), "{header} {payload}");
    };
    let good = canonical::to_text(&json!({"alg": ALGORITHM, "kid": id, "typ": TYPE})).unwrap();
    let spelled = |part| NoReceipt::NotCanonical { part, source: NotCanonical::Spelling };
    check(&good.replace(',', ", "), &payload, spelled("header"));
    check(&good, &payload.replacen(',', ", ", 1), spelled("payload"));
    check(&good, &payload.replacen("{", r#"{"actor":"did:web:b.example","#, 1), spelled("payload"));
    check(&good.replace(TYPE, "JWT"), &payload, NoReceipt::Type { found: "JWT".into() });
    check(&good.replace(r#","typ""#, r#","more":1,"typ""#), &payload, NoReceipt::Header);
    check(&format!(r#"{{"alg":"EdDSA","kid":1,"typ":"{TYPE}"}}"#), &payload, NoReceipt::Header);
    check("[]", &payload, NoReceipt::Header);
    check(&good, "[]", NoReceipt::Payload { expected: "an object" });
    check(
        &good,
        &payload.replace("1000000", "-1"),
        NoReceipt::Payload { expected: "atMs in milliseconds of the Unix epoch" },
    );
    for text in ["", ".", "..", "...", "a.b.c.d", "\u{e4}.\u{e4}.\u{e4}"] {
        assert!(verify(text, &set).is_err(), "{text}");
    }
    let long = "A".repeat(RECEIPT_BYTES_MAX + 1);
    assert_eq!(verify(&long, &set), Err(NoReceipt::Long { bytes: RECEIPT_BYTES_MAX + 1 }));
    assert_eq!(verify(&long[1..], &set), Err(NoReceipt::Form));
}

#[test]
fn a_new_key_signs_and_the_former_one_verifies_on() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(&folder);
    let (first, before) = (keys.id(), keys.sign(&outcome()).unwrap());
    let beside = self::keys(&folder);
    let second = keys.rotate(2).unwrap();
    assert_ne!(first, second);
    let after = keys.sign(&outcome()).unwrap();
    assert_eq!(verify(&before, &keys.jwks()).unwrap().kid, first);
    assert_eq!(verify(&after, &keys.jwks()).unwrap().kid, second);
    // Another process learns of it, and so does the next run.
    assert_eq!(verify(&after, &beside.jwks()), Err(NoReceipt::UnknownKey { kid: second.clone() }));
    beside.refresh().unwrap();
    assert_eq!((beside.id(), beside.jwks()), (second.clone(), keys.jwks()));
    assert_eq!(self::keys(&folder).id(), second);
    let text = keys.jwks().to_json().to_string();
    assert_eq!(Jwks::read(&text).unwrap(), keys.jwks());
    assert_eq!(text.matches("\"kid\"").count(), 2);
}

#[test]
fn signatures_and_ids_are_those_of_the_rfcs() {
    // RFC 8037, appendices A.1 to A.4.
    let seed = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").unwrap();
    let key = SigningKey::from_bytes(&seed.try_into().unwrap());
    let expected = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6\
                    dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    assert_eq!(signed(&key, r#"{"alg":"EdDSA"}"#, "Example of Ed25519 signing"), expected);
    assert_eq!(jwk::thumbprint(&key.verifying_key()), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    let mut set = Jwks::default();
    set.insert(key.verifying_key());
    assert_eq!(set.to_json()["keys"][0]["x"], "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
}

#[test]
fn keys_of_other_kinds_are_passed_over_and_wrong_ones_refused() {
    let (_, id, set) = key();
    let ours = set.to_json()["keys"][0].clone();
    let with = |name: &str, value: Value| {
        let mut key = ours.clone();
        key[name] = value;
        Jwks::read(&json!({"keys": [key]}).to_string())
    };
    for (name, other) in [("kty", "RSA"), ("crv", "X25519"), ("alg", "HS256"), ("use", "enc")] {
        assert_eq!(with(name, other.into()), Ok(Jwks::default()), "{name}");
    }
    assert!(with("more", json!([1])).unwrap().get(&id).is_some());
    let identity = URL_SAFE_NO_PAD.encode([&[1u8][..], &[0; 31]].concat());
    for (name, wrong) in [("x", "AA".into()), ("x", json!(1)), ("x", identity.into()), ("kid", Value::Null)] {
        assert!(matches!(with(name, wrong), Err(NoJwks::Key { index: 0, .. })), "{name}");
    }
    assert!(matches!(Jwks::read(&json!({"keys": [ours, ours]}).to_string()), Err(NoJwks::Key { index: 1, .. })));
    for text in ["{}", "[]", r#"{"keys":{}}"#] {
        assert_eq!(Jwks::read(text), Err(NoJwks::Keys));
    }
    assert!(matches!(Jwks::read("{"), Err(NoJwks::Json(_))));
    let long = " ".repeat(jwk::JWKS_BYTES_MAX + 1);
    assert_eq!(Jwks::read(&long), Err(NoJwks::Long { bytes: long.len() }));
}

#[test]
fn the_digest_of_a_request_does_not_depend_on_its_spelling() {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let (one, two) = (read(r#"{"a":1,"b":"x"}"#), read(r#"{ "b": "\u0078", "a": 1 }"#));
    assert_eq!(request_digest(&one), request_digest(&two));
    assert_ne!(request_digest(&one), request_digest(&json!({"a": 2, "b": "x"})));
}

#[cfg(unix)]
#[test]
fn the_file_with_the_keys_is_readable_by_its_account_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("book.sqlite");
    let store = Sqlite::open(&path).unwrap();
    let keys = keys(&folder);
    let modes = || {
        let mut modes: Vec<(String, u32)> = Vec::new();
        for entry in folder.path().read_dir().unwrap() {
            let entry = entry.unwrap();
            modes.push((
                entry.file_name().into_string().unwrap(),
                entry.metadata().unwrap().permissions().mode() & 0o777,
            ));
        }
        modes.retain(|(name, _)| !name.ends_with(".lock"));
        modes
    };
    assert!(modes().len() >= 3 && modes().iter().all(|(_, mode)| *mode == 0o600), "{:?}", modes());
    drop((store, keys));
    // One that others could read is taken from them.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(self::keys(&folder));
    assert!(modes().iter().all(|(_, mode)| *mode == 0o600), "{:?}", modes());
}
