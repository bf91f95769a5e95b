//! The corpus of the fuzz targets is replayed, so that what was found once stays found.

use leasebook_tests::{decode, paths, trial};
use std::path::{Path, PathBuf};

fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|fault| panic!("{}: {fault}", folder.display()));
    let files = entries.map(|entry| entry.expect("an entry of the corpus").path());
    let corpus: Vec<_> = files.map(|file| (file.clone(), std::fs::read(&file).expect("a file"))).collect();
    assert!(corpus.len() >= 20, "{}: {} files", folder.display(), corpus.len());
    corpus
}

#[test]
fn the_corpus_of_operations_gets_the_answers_of_the_model() {
    for (file, bytes) in corpus("table_ops") {
        trial::run(&decode::run(&bytes)).unwrap_or_else(|fault| panic!("{}\n{fault}", file.display()));
    }
}

#[test]
fn the_corpus_of_spellings_keeps_the_laws_of_paths() {
    for (file, bytes) in corpus("paths") {
        let (one, other) = decode::spellings(&bytes).unwrap_or_else(|| panic!("{}: no spellings", file.display()));
        paths::check(one, other).unwrap_or_else(|fault| panic!("{}\n{fault}", file.display()));
    }
}
