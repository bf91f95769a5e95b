//! The files of the repository, read once: what is checked in or would be.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::process;
use crate::workspace::Workspace;

/// Folders that a copy of the repository without git may hold and that are never part of it.
const NOT_OURS: [&str; 5] = [".git", "dist", "generated", "node_modules", "target"];

/// A file of the repository.
#[derive(Debug)]
pub struct SourceFile {
    /// Its path from the root, with `/`.
    pub path: String,
    /// Its contents.
    pub bytes: Vec<u8>,
    /// Whether its owner may run it; true where the system does not know.
    pub executable: bool,
}

impl SourceFile {
    /// The contents as text, unless they are not.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// The lines with their numbers; none where it is not text.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text().unwrap_or_default().lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Whether its name ends with a dot and this.
    pub fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }
}

/// All files, in order of their paths.
#[derive(Debug)]
pub struct Tree {
    /// The files.
    pub files: Vec<SourceFile>,
}

impl Tree {
    /// Reads the files that git knows or would take; where there is no git, all but the known folders of tools.
    pub fn read(workspace: &Workspace) -> Result<Self> {
        let root = &workspace.root;
        let mut git = Command::new("git");
        git.current_dir(root).args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let mut paths: Vec<String> = match process::ask(&mut git) {
            Ok(listed) => listed.split_terminator('\0').map(str::to_owned).collect(),
            Err(_) => {
                let mut paths = Vec::new();
                walk(root, "", &mut paths)?;
                paths
            }
        };
        paths.sort();
        paths.dedup();
        let mut files = Vec::new();
        for path in paths {
            let place = root.join(&path);
            // What git lists and the folder no longer has is a removal that is not recorded yet.
            let Ok(metadata) = fs::symlink_metadata(&place) else { continue };
            if metadata.is_file() {
                let bytes = fs::read(&place).with_context(|| format!("read {}", place.display()))?;
                files.push(SourceFile { path, bytes, executable: executable(&metadata) });
            }
        }
        Ok(Tree { files })
    }

    /// A file by its path.
    pub fn file(&self, path: &str) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == path)
    }
}

fn walk(folder: &Path, name: &str, paths: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("read the folder {}", folder.display()))? {
        let entry = entry?;
        let child = entry.file_name().to_string_lossy().into_owned();
        let path = if name.is_empty() { child.clone() } else { format!("{name}/{child}") };
        if entry.file_type()?.is_dir() {
            if !NOT_OURS.contains(&child.as_str()) {
                walk(&entry.path(), &path, paths)?;
            }
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

#[cfg(unix)]
fn executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn executable(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
impl Tree {
    /// A tree of given files, for the tests of rules.
    pub fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| SourceFile {
            path: (*path).to_owned(),
            bytes: text.as_bytes().to_vec(),
            executable: true,
        };
        Tree { files: files.iter().map(file).collect() }
    }
}
