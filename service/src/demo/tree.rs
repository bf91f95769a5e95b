//! The real directory tree that the demo contends for: it is read, never written.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many entries are looked at, at most.
const ENTRIES_MAX: usize = 20_000;
/// How deep the tree is walked, in segments below the root.
const DEPTH_MAX: usize = 6;
/// How deep the folders may lie that the agents contend for.
const FOLDER_DEPTH_MAX: usize = 3;
/// Folders of built files, which no agent edits.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// A tree with two folders to contend for.
#[derive(Debug)]
pub struct Tree {
    /// Its root, absolute.
    pub root: String,
    /// How many files were seen.
    pub files: usize,
    /// How many folders were seen, without the root.
    pub folders: usize,
    /// Two folders, none inside the other.
    pub places: [Place; 2],
}

/// A folder and a file somewhere in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The folder, relative to the root.
    pub folder: String,
    /// The file, relative to the root.
    pub file: String,
}

/// Why a tree cannot be contended for.
#[derive(Debug)]
pub enum Unusable {
    /// It could not be read.
    Unreadable(io::Error),
    /// Its name is not UTF-8, or not one that a table can reason about.
    Name,
    /// It has no two folders with a file in each.
    TooLittle,
}

/// The folder of the project that a folder belongs to: the nearest one with a `.git`, else itself.
pub fn project_of(folder: &Path) -> PathBuf {
    folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(folder).to_owned()
}

impl Tree {
    /// Walks a tree, without hidden entries and without following links.
    pub fn walk(root: &Path) -> Result<Self, Unusable> {
        let root = fs::canonicalize(root).map_err(Unusable::Unreadable)?;
        let shown = root.to_str().filter(|root| leasebook::Path::parse(root).is_some()).ok_or(Unusable::Name)?;
        let mut seen = Seen::default();
        seen.folder(&root, "", 0).map_err(Unusable::Unreadable)?;
        while let Some((folder, depth)) = seen.queue.pop_front() {
            // A folder that cannot be read has nothing to contend for.
            let _ = seen.folder(&root.join(&folder), &folder, depth);
        }
        let depths = (1..=FOLDER_DEPTH_MAX).map(|depth| seen.places(depth));
        let mut places = depths.filter_map(|places| <[Place; 2]>::try_from(places).ok());
        let places = places.next().ok_or(Unusable::TooLittle)?;
        Ok(Self { root: shown.to_owned(), files: seen.files.len(), folders: seen.folders.len(), places })
    }
}

#[derive(Default)]
struct Seen {
    entries: usize,
    files: Vec<String>,
    folders: Vec<String>,
    queue: VecDeque<(String, usize)>,
}

impl Seen {
    fn folder(&mut self, path: &Path, relative: &str, depth: usize) -> io::Result<()> {
        for entry in fs::read_dir(path)? {
            let (entry, limit) = (entry?, self.entries == ENTRIES_MAX);
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !limit && is_usable(name)) else { continue };
            self.entries += 1;
            let below = if relative.is_empty() { name.to_owned() } else { format!("{relative}/{name}") };
            let kind = entry.file_type()?;
            if kind.is_file() {
                self.files.push(below);
            } else if kind.is_dir() && depth < DEPTH_MAX && !SKIPPED.contains(&name) {
                self.queue.push_back((below.clone(), depth + 1));
                self.folders.push(below);
            }
        }
        Ok(())
    }

    /// The two folders of a depth that show best what a lease covers, each with the file that does: in a folder of
    /// the folder, and short.
    fn places(&self, depth: usize) -> Vec<Place> {
        let folders = self.folders.iter().filter(|folder| folder.matches('/').count() + 1 == depth);
        let rank = |file: &String| (file.matches('/').count().abs_diff(depth + 1), file.len());
        let mut places: Vec<Place> = folders
            .filter_map(|folder| {
                let inside =
                    |file: &&String| file.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'));
                let file = self.files.iter().filter(inside).min_by_key(|file| (rank(file), *file))?;
                Some(Place { folder: folder.clone(), file: file.clone() })
            })
            .collect();
        places.sort_by_cached_key(|place| (rank(&place.file), place.file.clone()));
        places.truncate(2);
        places
    }
}

/// Neither hidden, nor with characters that a table or a terminal cannot take.
fn is_usable(name: &str) -> bool {
    !name.starts_with('.') && !name.contains('\\') && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> (tempfile::TempDir, Result<Tree, Unusable>) {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let tree = Tree::walk(dir.path());
        (dir, tree)
    }

    fn places(files: &[&str]) -> Vec<(String, String)> {
        let (_dir, tree) = tree(files);
        tree.unwrap().places.into_iter().map(|place| (place.folder, place.file)).collect()
    }

    #[test]
    fn two_folders_are_chosen_with_a_file_deep_in_each() {
        let files = [".git/x", "a/README", "a/src/lib.rs", "a/src/longer.rs", "b/c/d/e", "target/x/y", "z"];
        assert_eq!(places(&files), [("a".into(), "a/src/lib.rs".into()), ("b".into(), "b/c/d/e".into())]);
        assert_eq!(
            places(&["src/a/x", "src/b/y", "src/z"]),
            [("src/a".into(), "src/a/x".into()), ("src/b".into(), "src/b/y".into())]
        );
    }

    #[test]
    fn a_tree_with_too_little_in_it_is_refused() {
        for files in [&[][..], &["x"], &["a/x", "y"], &[".git/x", ".ci/y"]] {
            assert!(matches!(tree(files).1, Err(Unusable::TooLittle)), "{files:?}");
        }
        assert!(matches!(Tree::walk(Path::new("/no/such/folder")), Err(Unusable::Unreadable(_))));
    }

    #[test]
    fn links_are_not_followed() {
        let (dir, tree) = tree(&["a/x", "b/y"]);
        std::os::unix::fs::symlink(dir.path(), dir.path().join("b/loop")).unwrap();
        assert_eq!(Tree::walk(dir.path()).unwrap().files, tree.unwrap().files);
    }
}
