//! Answers of a table as numbers and texts. Each begins with a number that says which it is.

use crate::out::Out;
use leasebook::{
    Blocked, Conflict, Covering, Holder, Lease, Limit, Mode, NotHeld, PinRefusal, PinToken, RefreshRefusal, Refusal,
    Released, Revoked, Status, TooManyPaths, Verdict, Wish,
};

/// In the first place of an answer: it came about.
const DONE: f64 = 0.0;

/// A bound of this module, beside those of the table.
const MEMORY: &str = "memory-bytes";
/// The option that sets it.
pub const MEMORY_OPTION: &str = "memory-bytes-max";

fn shared(out: &mut Out, mode: Mode) -> &mut Out {
    out.flag(mode == Mode::Shared)
}

pub fn texts<'a, T: AsRef<str> + 'a>(out: &mut Out, all: &'a [T]) {
    out.list(all.iter(), |out, text| {
        out.text(text.as_ref());
    });
}

fn holders(out: &mut Out, all: &[Holder]) {
    out.list(all.iter(), |out, holder| {
        out.text(holder);
    });
}

/// A lease; `asked` is how its path and holder were asked for.
fn lease(out: &mut Out, lease: &Lease, asked: (Option<&str>, Option<&str>)) {
    out.text_or_asked(&lease.path, asked.0).text_or_asked(&lease.holder, asked.1);
    shared(out, lease.mode).count(lease.generation).count(lease.acquired_at_ms).count(lease.ttl_ms);
    out.count(lease.expires_at_ms).count(lease.held_for_ms).number(lease.expires_in_ms as f64);
}

pub fn leases(out: &mut Out, all: &[Lease]) {
    out.list(all.iter(), |out, one| lease(out, one, (None, None)));
}

/// What came of an acquire or of a wait attempt.
pub fn attempt(out: &mut Out, answer: Result<&[Lease], &Refusal>, holder: &str, wishes: &[Wish<'_>]) {
    match answer {
        Ok(granted) => {
            out.number(DONE).list(granted.iter().enumerate(), |out, (n, one)| {
                lease(out, one, (wishes.get(n).map(|wish| wish.path), Some(holder)));
            });
        }
        Err(refusal) => refused(out, refusal),
    }
}

fn refused(out: &mut Out, refusal: &Refusal) {
    out.text(refusal.reason()).sentence(refusal);
    match refusal {
        Refusal::InvalidTtl { ttl_ms } => {
            out.number(*ttl_ms);
        }
        Refusal::InvalidKeep { keep_ms } => {
            // A keep of any number may be told, so that none is told apart.
            out.flag(keep_ms.is_some()).number(keep_ms.unwrap_or(0.0));
        }
        Refusal::UnevaluablePath { unevaluable } => texts(out, unevaluable),
        Refusal::LimitExceeded { which, limit } => bound(out, *which, *limit),
        Refusal::Conflict(found) | Refusal::HoldAndWait(found) => blocked(out, found),
        Refusal::Deadlock { blocked: found, cycle } => {
            blocked(out, found);
            holders(out, cycle);
        }
        // The others have nothing more to say.
        _ => {}
    }
}

fn bound(out: &mut Out, which: Limit, limit: u64) {
    out.text(which.name()).count(limit);
}

/// The memory of this module is used up.
pub fn used_up(out: &mut Out, limit: u64) {
    out.text("limit-exceeded").sentence(&format_args!("the limit of {limit} is reached for {MEMORY}"));
    out.text(MEMORY).count(limit);
}

fn blocked(out: &mut Out, blocked: &Blocked) {
    out.list(blocked.conflicts.iter(), |out, conflict: &Conflict| {
        out.text(&conflict.path).text(&conflict.leased).text(&conflict.holder);
        shared(out, conflict.mode).count(conflict.held_for_ms).number(conflict.expires_in_ms as f64);
        out.flag(conflict.ended);
    });
    out.flag(blocked.truncated);
    holders(out, &blocked.blockers);
    out.flag(blocked.ahead.is_some());
    if let Some(ahead) = &blocked.ahead {
        holders(out, &ahead.holders);
        out.count(ahead.position as u64);
    }
}

pub fn refreshed(out: &mut Out, answer: Result<&Lease, &RefreshRefusal>, holder: &str) {
    match answer {
        Ok(one) => {
            out.number(DONE);
            lease(out, one, (None, Some(holder)));
        }
        Err(refusal) => {
            out.text(refusal.reason()).sentence(refusal);
            if let RefreshRefusal::InvalidTtl { ttl_ms } = refusal {
                out.number(*ttl_ms);
            }
        }
    }
}

/// What a release did. `asked`: the only path that was asked for, where it is one.
pub fn released(out: &mut Out, answer: &Result<Released, TooManyPaths>, asked: Option<&str>) {
    match answer {
        Ok(Released { released, not_held }) => {
            out.number(DONE).list(released.iter(), |out, path| {
                out.text_or_asked(path, asked);
            });
            out.list(not_held.iter(), |out, what| {
                match what {
                    NotHeld::Path(path) => out.flag(true).text_or_asked(path, asked),
                    NotHeld::Generation(generation) => out.flag(false).count(*generation),
                };
            });
        }
        Err(over) => {
            out.text("limit-exceeded").sentence(over);
            bound(out, Limit::Paths, leasebook::limits::PATHS_MAX as u64);
        }
    }
}

pub fn revoked(out: &mut Out, answer: Option<&Revoked>) {
    out.flag(answer.is_some());
    if let Some(Revoked { holder, path, pending }) = answer {
        out.text(holder).text(path).flag(*pending);
    }
}

pub fn pinned(out: &mut Out, answer: &Result<PinToken, PinRefusal>) {
    match answer {
        Ok(token) => {
            out.number(DONE).count(token.0);
        }
        Err(refusal) => {
            out.text(refusal.reason()).sentence(refusal);
            match refusal {
                PinRefusal::LimitExceeded { which, limit } => bound(out, *which, *limit),
                PinRefusal::NotHeld { path } => {
                    out.text(path);
                }
                _ => {}
            }
        }
    }
}

pub fn covering(out: &mut Out, answer: &Covering, holder: &str, path: &str) {
    out.number(match answer.verdict {
        Verdict::Other => 0.0,
        Verdict::Own => 1.0,
        Verdict::Unknown => 2.0,
        Verdict::Free => 3.0,
    });
    out.flag(answer.evaluable).flag(answer.lease.is_some());
    if let Some(lease) = &answer.lease {
        out.text_or_asked(&lease.holder, Some(holder)).text_or_asked(&lease.leased, Some(path));
        out.count(lease.held_for_ms);
    }
}

pub fn status(out: &mut Out, status: &Status) {
    out.list(status.leases.iter(), |out, one| {
        lease(out, &one.lease, (None, None));
        out.count(one.pins as u64).flag(one.release_pending);
    });
    out.list(status.waiters.iter(), |out, one| {
        out.text(&one.id).text(&one.holder);
        texts(out, &one.paths);
        modes(out, &one.modes);
        holders(out, &one.blockers);
        out.count(one.waiting_for_ms);
    });
    out.list(status.pins.iter(), |out, one| {
        out.count(one.token.0).text(&one.holder);
        counts(out, &one.generations);
        out.count(one.pinned_for_ms);
    });
}

pub fn modes(out: &mut Out, modes: &[Mode]) {
    out.list(modes.iter(), |out, mode| {
        shared(out, *mode);
    });
}

pub fn counts(out: &mut Out, counts: &[u64]) {
    out.list(counts.iter(), |out, count| {
        out.count(*count);
    });
}
