//! Paths as the model reads them: a root and a list of names.

use leasebook::Containment;

/// Where a path points: absolute or not, and its names from the top down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// It starts at the root.
    pub absolute: bool,
    /// The names, without empty and `.` ones.
    pub names: Vec<String>,
}

/// Reads a spelling; `None` where nothing can be said about it.
pub fn locate(spelling: &str) -> Option<Location> {
    let names: Vec<String> = spelling.split('/').filter(|n| !n.is_empty() && *n != ".").map(String::from).collect();
    let readable = !spelling.is_empty()
        && spelling.len() <= 4096
        && !spelling.contains(['\0', '\\'])
        && !names.iter().any(|name| name == "..")
        && names.len() <= 255;
    readable.then(|| Location { absolute: spelling.starts_with('/'), names })
}

/// Is the location the directory itself, or below it?
pub fn within(location: Option<&Location>, directory: Option<&Location>) -> Containment {
    match (location, directory) {
        (Some(location), Some(directory)) if location.absolute == directory.absolute => {
            if location.names.starts_with(&directory.names) { Containment::Yes } else { Containment::No }
        }
        _ => Containment::Unknown,
    }
}

/// Is one of the two within the other?
pub fn overlap(one: Option<&Location>, other: Option<&Location>) -> Containment {
    match (within(one, other), within(other, one)) {
        (Containment::Yes, _) | (_, Containment::Yes) => Containment::Yes,
        (Containment::Unknown, _) | (_, Containment::Unknown) => Containment::Unknown,
        (Containment::No, Containment::No) => Containment::No,
    }
}
