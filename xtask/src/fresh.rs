//! Up to date or not: outputs are remembered with a digest of everything that went into them.
//!
//! Contents are hashed, never times, so a fresh checkout, a touched file or a moved clock change nothing. The stamp is
//! written after its output and names the output's own digest: a run that dies between the two leaves an output that
//! does not match its stamp, and the next run makes it again.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

/// The digest of some bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(Sha256::digest(bytes).into())
    }

    /// 64 lower-case hex digits.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

/// Gathers what an output depends on, in an order of its own.
#[derive(Debug, Default)]
pub struct Inputs {
    entries: Vec<(String, Digest)>,
}

impl Inputs {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value: a tool's version, a setting.
    pub fn value(mut self, name: &str, value: &str) -> Self {
        self.entries.push((format!("={name}"), Digest::of(value.as_bytes())));
        self
    }

    /// Adds a file, or every file below a folder, by its path relative to `root`. What does not exist is an input, too:
    /// once it exists, the output is out of date. Folders called `target` are passed over.
    pub fn path(mut self, root: &Path, relative: &str) -> Result<Self> {
        self.walk(&root.join(relative), relative)?;
        Ok(self)
    }

    fn walk(&mut self, path: &Path, name: &str) -> Result<()> {
        match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                for entry in fs::read_dir(path).with_context(|| format!("read the folder {}", path.display()))? {
                    let entry = entry?;
                    let child = entry.file_name().to_string_lossy().into_owned();
                    if child != "target" {
                        self.walk(&entry.path(), &format!("{name}/{child}"))?;
                    }
                }
            }
            Ok(_) => {
                let bytes = fs::read(path).with_context(|| format!("read {}", path.display()))?;
                self.entries.push((name.to_owned(), Digest::of(&bytes)));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
        }
        Ok(())
    }

    /// The digest of all of it.
    pub fn digest(mut self) -> Digest {
        self.entries.sort_by(|a, b| a.0.cmp(&b.0));
        let mut hasher = Sha256::new();
        for (name, digest) in &self.entries {
            hasher.update((name.len() as u64).to_le_bytes());
            hasher.update(name);
            hasher.update(digest.0);
        }
        Digest(hasher.finalize().into())
    }
}

/// A file that is made from inputs.
#[derive(Debug)]
pub struct Artifact {
    place: PathBuf,
}

/// What became of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was made now.
    Made,
    /// It was there already.
    UpToDate,
}

impl Artifact {
    /// The artifact whose file is `place`.
    pub fn at(place: impl Into<PathBuf>) -> Self {
        Artifact { place: place.into() }
    }

    /// Whether the file is what these inputs make.
    pub fn is_fresh(&self, inputs: Digest) -> bool {
        let (Ok(stamp), Ok(bytes)) = (fs::read_to_string(self.stamp()), fs::read(&self.place)) else { return false };
        stamp == stamp_text(inputs, &bytes)
    }

    /// Makes the file with `make` unless it is fresh. A file that would not change is left untouched, so that cargo
    /// does not rebuild what embeds it.
    pub fn ensure(&self, inputs: Digest, make: impl FnOnce() -> Result<Vec<u8>>) -> Result<Outcome> {
        self.publish(inputs, make, || {})
    }

    fn publish(
        &self,
        inputs: Digest,
        make: impl FnOnce() -> Result<Vec<u8>>,
        between: impl FnOnce(),
    ) -> Result<Outcome> {
        if self.is_fresh(inputs) {
            return Ok(Outcome::UpToDate);
        }
        let bytes = make()?;
        if fs::read(&self.place).ok().as_ref() != Some(&bytes) {
            write_by_rename(&self.place, &bytes)?;
        }
        between();
        write_by_rename(&self.stamp(), stamp_text(inputs, &bytes).as_bytes())?;
        Ok(Outcome::Made)
    }

    fn stamp(&self) -> PathBuf {
        with_suffix(&self.place, ".stamp")
    }
}

fn stamp_text(inputs: Digest, output: &[u8]) -> String {
    format!("inputs {inputs:?}\noutput {:?}\n", Digest::of(output))
}

/// Replaces a file whole: written beside its place, then renamed. One run at a time may do so (see `cache::lock`).
pub fn write_by_rename(place: &Path, bytes: &[u8]) -> Result<()> {
    let partial = with_suffix(place, ".partial");
    fs::write(&partial, bytes).with_context(|| format!("write {}", partial.display()))?;
    fs::rename(&partial, place).with_context(|| format!("rename {} to {}", partial.display(), place.display()))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn tree() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("src/inner")).unwrap();
        fs::write(root.path().join("src/a"), "a").unwrap();
        fs::write(root.path().join("src/inner/b"), "b").unwrap();
        root
    }

    fn digest(root: &Path) -> Digest {
        Inputs::new().value("rustc", "1").path(root, "src").unwrap().path(root, "later").unwrap().digest()
    }

    #[test]
    fn every_change_of_an_input_shows_and_nothing_else_does() {
        let root = tree();
        let before = digest(root.path());
        assert_eq!(digest(root.path()), before);
        fs::write(root.path().join("unrelated"), "u").unwrap();
        fs::create_dir(root.path().join("src/target")).unwrap();
        fs::write(root.path().join("src/target/built"), "t").unwrap();
        fs::write(root.path().join("src/a"), "a").unwrap();
        assert_eq!(digest(root.path()), before, "neither other files nor times count");

        type Change = fn(&Path);
        let changes: [(&str, Change); 5] = [
            ("contents", |root| fs::write(root.join("src/a"), "A").unwrap()),
            ("added", |root| fs::write(root.join("src/c"), "").unwrap()),
            ("removed", |root| fs::remove_file(root.join("src/inner/b")).unwrap()),
            ("renamed", |root| fs::rename(root.join("src/a"), root.join("src/z")).unwrap()),
            ("appeared", |root| fs::write(root.join("later"), "").unwrap()),
        ];
        for (what, change) in changes {
            let root = tree();
            change(root.path());
            assert_ne!(digest(root.path()), before, "{what}");
        }
        assert_ne!(Inputs::new().value("rustc", "1").digest(), Inputs::new().value("rustc", "2").digest());
    }

    #[test]
    fn an_artifact_is_made_again_exactly_when_its_inputs_or_its_file_changed() {
        let root = tempfile::tempdir().unwrap();
        let artifact = Artifact::at(root.path().join("out"));
        let (one, two) = (Digest::of(b"1"), Digest::of(b"2"));
        let make = |text: &'static str| move || Ok(text.as_bytes().to_vec());
        assert_eq!(artifact.ensure(one, make("x")).unwrap(), Outcome::Made);
        assert_eq!(artifact.ensure(one, || panic!("made twice")).unwrap(), Outcome::UpToDate);
        assert_eq!(artifact.ensure(two, make("y")).unwrap(), Outcome::Made);
        assert_eq!(fs::read(root.path().join("out")).unwrap(), b"y");

        fs::write(root.path().join("out"), "damaged").unwrap();
        assert!(!artifact.is_fresh(two));
        assert_eq!(artifact.ensure(two, make("y")).unwrap(), Outcome::Made);
        fs::remove_file(root.path().join("out")).unwrap();
        assert!(!artifact.is_fresh(two));
        assert_eq!(artifact.ensure(two, make("y")).unwrap(), Outcome::Made);
        fs::remove_file(root.path().join("out.stamp")).unwrap();
        assert!(!artifact.is_fresh(two));
    }

    #[test]
    fn an_output_that_did_not_change_keeps_its_file() {
        let root = tempfile::tempdir().unwrap();
        let artifact = Artifact::at(root.path().join("out"));
        artifact.ensure(Digest::of(b"1"), || Ok(b"x".to_vec())).unwrap();
        let old = fs::File::options().write(true).open(root.path().join("out")).unwrap();
        old.set_modified(std::time::UNIX_EPOCH).unwrap();
        assert_eq!(artifact.ensure(Digest::of(b"2"), || Ok(b"x".to_vec())).unwrap(), Outcome::Made);
        let modified = fs::metadata(root.path().join("out")).unwrap().modified().unwrap();
        assert_eq!(modified, std::time::UNIX_EPOCH);
    }

    #[test]
    fn a_failed_make_and_a_death_before_the_stamp_leave_it_out_of_date() {
        let root = tempfile::tempdir().unwrap();
        let artifact = Artifact::at(root.path().join("out"));
        let (one, two) = (Digest::of(b"1"), Digest::of(b"2"));
        artifact.ensure(one, || Ok(b"x".to_vec())).unwrap();
        assert!(artifact.ensure(two, || anyhow::bail!("no")).is_err());
        assert!(artifact.is_fresh(one) && !artifact.is_fresh(two));

        let died = catch_unwind(AssertUnwindSafe(|| artifact.publish(two, || Ok(b"y".to_vec()), || panic!("dies"))));
        assert!(died.is_err());
        assert!(!artifact.is_fresh(one) && !artifact.is_fresh(two));
        assert_eq!(artifact.ensure(two, || Ok(b"y".to_vec())).unwrap(), Outcome::Made);
        assert!(artifact.is_fresh(two));
    }
}
