//! Laws of paths, for any two spellings.

use crate::model::{locate, within};
use leasebook::{Containment, Path, contains};

/// Checks two spellings against the reference reading and against each other. An error says the law that is broken.
pub fn check(one: &str, other: &str) -> Result<(), String> {
    for spelling in [one, other] {
        check_reading(spelling)?;
    }
    let expected = within(locate(one).as_ref(), locate(other).as_ref());
    let found = contains(one, other);
    if expected != found {
        return Err(format!("{one:?} in {other:?}: expected {expected:?}, found {found:?}"));
    }
    let back = contains(other, one);
    if (found == Containment::Unknown) != (back == Containment::Unknown) {
        return Err(format!("{one:?} and {other:?} can be compared one way only"));
    }
    let one_location = found == Containment::Yes && back == Containment::Yes;
    let same_segments = Path::parse(one)
        .zip(Path::parse(other))
        .is_some_and(|(one, other)| one.is_absolute() == other.is_absolute() && one.segments().eq(other.segments()));
    if one_location != same_segments {
        return Err(format!("{one:?} and {other:?}: in each other {one_location}, same segments {same_segments}"));
    }
    let below = format!("{other}/{one}");
    let readable = locate(other).is_some() && locate(&below).is_some();
    if readable && contains(&below, other) != Containment::Yes {
        return Err(format!("{below:?} is not in {other:?}"));
    }
    Ok(())
}

fn check_reading(spelling: &str) -> Result<(), String> {
    let expected = locate(spelling);
    let found = Path::parse(spelling);
    match (&expected, found) {
        (None, None) => return Ok(()),
        (Some(location), Some(path)) => {
            let names: Vec<&str> = path.segments().collect();
            if location.absolute != path.is_absolute() || location.names != names || path.spelling() != spelling {
                return Err(format!("{spelling:?} is read as {names:?}, expected {location:?}"));
            }
        }
        _ => {
            return Err(format!(
                "{spelling:?} is readable: expected {}, found {}",
                expected.is_some(),
                found.is_some()
            ));
        }
    }
    // Other spellings of the same place, where they are short enough to be read.
    for other in [format!("{spelling}/"), format!("{spelling}/."), spelling.replace('/', "//")] {
        if locate(&other).is_some() && contains(&other, spelling) != Containment::Yes {
            return Err(format!("{other:?} is another place than {spelling:?}"));
        }
    }
    Ok(())
}
