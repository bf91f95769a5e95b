//! A root with a marker directory, in memory, with the processes that there are.
//!
//! A directory that loses its name stays for whoever has opened it, as a real one does; nothing new can be made in it.

use super::DIRECTORY;
use std::collections::{BTreeMap, BTreeSet};

/// What a name in a directory stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// An ordinary file.
    File {
        /// What is in it.
        bytes: Vec<u8>,
        /// When it was changed.
        changed_ms: u64,
    },
    /// One that may not be opened.
    Closed,
    /// No ordinary file: a link, fifo, socket or device.
    Special,
    /// A directory, which no removal of files takes away.
    Directory,
}

/// The files below one root, and the processes of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MarkerFiles {
    /// Names in the root beside the marker directory.
    pub legacy: BTreeSet<String>,
    /// Which directory has the name of the marker directory.
    pub directory: Option<usize>,
    /// Every directory that ever had it.
    pub directories: Vec<BTreeMap<String, Node>>,
    /// The processes that are alive.
    pub alive: BTreeSet<u32>,
    /// Names that cannot be removed.
    pub stuck: BTreeSet<String>,
    /// The time of the file system.
    pub now_ms: u64,
}

impl MarkerFiles {
    /// An empty root.
    pub fn new() -> Self {
        Self { now_ms: 10_000_000, ..Self::default() }
    }

    /// The marker directory, made where it is missing.
    pub fn make(&mut self) -> usize {
        *self.directory.get_or_insert_with(|| {
            self.directories.push(BTreeMap::new());
            self.directories.len() - 1
        })
    }

    /// Is this the directory that has the name?
    pub fn is_linked(&self, directory: usize) -> bool {
        self.directory == Some(directory)
    }

    /// Puts a node into the marker directory.
    pub fn put(&mut self, name: &str, node: Node) {
        let directory = self.make();
        self.directories[directory].insert(name.into(), node);
    }

    /// Puts an ordinary file into the marker directory.
    pub fn put_file(&mut self, name: &str, bytes: impl Into<Vec<u8>>) {
        let changed_ms = self.now_ms;
        self.put(name, Node::File { bytes: bytes.into(), changed_ms });
    }

    /// The names in the marker directory.
    pub fn names(&self) -> Vec<String> {
        self.directory.map_or_else(Vec::new, |directory| self.directories[directory].keys().cloned().collect())
    }

    /// What a name in the marker directory stands for.
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.directories[self.directory?].get(name)
    }

    /// The marker directory goes with everything in it, as a stranger may remove it.
    pub fn remove_tree(&mut self) {
        if let Some(directory) = self.directory.take() {
            self.directories[directory].clear();
        }
    }

    /// Every marker that can be seen is whole.
    pub fn check_whole(&self) {
        for name in self.names().iter().filter(|name| name.ends_with(".json")) {
            let Some(Node::File { bytes, .. }) = self.node(name) else { panic!("{name} in {DIRECTORY} is no file") };
            leasebook::marker::OwnerRecord::parse(bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }
}
