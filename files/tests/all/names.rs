//! A name that leads elsewhere is refused before any file is touched.

use super::store;
use leasebook_files::WriterLeaseStore;

#[test]
fn a_store_has_names_of_its_own_or_is_none() {
    let long = "x".repeat(256);
    for bad in ["", ".", "..", "/", "a/b", "a\\b", "a\0b", "/etc", "../a", &long] {
        let refused = WriterLeaseStore::new(bad).unwrap_err();
        assert!(refused.to_string().contains("plain name"), "{refused}");
        let legacy = WriterLeaseStore::builder("a").legacy([bad]).build();
        assert_eq!(legacy.is_err(), bad != "a/b", "{bad:?}");
    }
    assert!(WriterLeaseStore::new(&long[1..]).is_ok());
}

#[test]
fn an_operator_names_a_marker_by_its_nonce() {
    let dir = tempfile::tempdir().unwrap();
    for bad in ["", "..", "../../etc/passwd", "0123456789ABCDEF0123456789ABCDEF", &"0".repeat(31)] {
        assert!(store().remove_named(dir.path(), bad, None).is_err(), "{bad}");
    }
}
