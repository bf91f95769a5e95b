//! Steps of the machines of writer leases as numbers and texts: effects by their place in a list, then results.

use crate::out::Out;
use leasebook::marker::{Effect, Failure, MarkerRecord, NamedRemoval, OwnerRecord, Recovery};

/// The first number of a step that is over: it went well, or failed.
const DONE: f64 = 100.0;
const FAILED: f64 = 101.0;

pub fn effect(out: &mut Out, effect: &Effect) {
    match effect {
        Effect::ResolveRoot => out.number(0.0),
        Effect::LegacyExists { name } => out.number(1.0).text(name),
        Effect::Identity => out.number(2.0),
        Effect::OwnPid => out.number(3.0),
        Effect::Nonce => out.number(4.0),
        Effect::Publish { nonce, content } => out.number(5.0).text(nonce).text(content),
        Effect::List => out.number(6.0),
        Effect::Read { name, limit, clean_up } => out.number(7.0).text(name).count(*limit as u64).flag(*clean_up),
        Effect::Probe { pid } => out.number(8.0).count(u64::from(*pid)),
        Effect::Age { name, beside } => out.number(9.0).text(name).text(beside),
        Effect::Remove { name, clean_up } => out.number(10.0).text(name).flag(*clean_up),
        Effect::RemoveDirectoryIfEmpty => out.number(11.0),
        Effect::Signal => out.number(12.0),
    };
}

pub fn done(out: &mut Out) -> &mut Out {
    out.number(DONE)
}

pub fn failed(out: &mut Out, failure: &Failure) {
    out.number(FAILED).text(failure.code.name()).text(failure.step).text(&failure.path).text(&failure.cause);
    out.maybe_text(failure.left.as_deref()).sentence(failure);
}

pub fn markers(out: &mut Out, found: &[MarkerRecord]) {
    out.list(found.iter(), |out, marker| {
        out.text(&marker.name).text(&marker.path).text(marker.state.name());
        maybe_owner(out, marker.owner.as_ref());
        out.maybe(marker.since_ms.map(|ms| ms as f64)).maybe_text(marker.detail.as_deref());
    });
}

pub fn recovery(out: &mut Out, recovery: &Recovery) {
    markers(out, &recovery.removed);
    markers(out, &recovery.kept);
    out.list(recovery.tidied.iter(), |out, name| {
        out.text(name);
    });
    out.list(recovery.untidied.iter(), |out, left| {
        out.text(&left.name).text(&left.detail);
    });
}

pub fn removal(out: &mut Out, removal: &NamedRemoval) {
    match removal {
        NamedRemoval::Removed(said) => maybe_owner(out.number(0.0), said.as_ref()),
        NamedRemoval::Absent => {
            out.number(1.0);
        }
        NamedRemoval::Different(said) => maybe_owner(out.number(2.0), said.as_ref()),
    }
}

pub fn owner(out: &mut Out, owner: &OwnerRecord) {
    out.count(u64::from(owner.pid())).text(owner.host()).text(owner.nonce());
}

fn maybe_owner(out: &mut Out, said: Option<&OwnerRecord>) {
    out.flag(said.is_some());
    if let Some(said) = said {
        owner(out, said);
    }
}
