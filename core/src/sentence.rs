//! One ready sentence for each refusal, for a person or a model.
//!
//! It quotes ids and paths only, each cut to a bounded length, and escapes what could pass for something else.

use crate::lease::{Blocked, Conflict, Mode, PinRefusal, RefreshRefusal, Refusal, TooManyPaths};
use crate::limits::{HOLDER_BYTES_MAX, NUMBER_MAX, PATH_BYTES_MAX, PATH_SEGMENTS_MAX, PATHS_MAX, TTL_MS_MAX};
use crate::path::{Containment, contains};
use core::fmt::{self, Display, Formatter, Write};

/// The most characters quoted of one id or path.
const QUOTED_MAX: usize = 200;
/// The most ids named in one list.
const NAMED_MAX: usize = 8;

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidHolder => {
                write!(f, "the holder must be 1 to {HOLDER_BYTES_MAX} bytes without control characters")
            }
            Self::InvalidTtl { ttl_ms } => invalid_ttl(f, *ttl_ms),
            Self::InvalidKeep { keep_ms: None } => {
                f.write_str("a waiter of this table needs a keep: whole milliseconds from 1")
            }
            Self::InvalidKeep { keep_ms: Some(keep_ms) } => {
                write!(f, "the keep must be whole milliseconds from 1, not {}", Number(*keep_ms))
            }
            Self::NoPaths => f.write_str("no path was asked for"),
            Self::UnevaluablePath { unevaluable } => {
                for path in unevaluable.iter().take(1) {
                    write!(f, "\"{}\" cannot be judged", Quoted(path))?;
                }
                more(f, unevaluable.len(), 1)?;
                write!(
                    f,
                    ": a path is 1 to {PATH_BYTES_MAX} bytes in at most {PATH_SEGMENTS_MAX} segments, without NUL, \
                     backslash and `..`"
                )
            }
            Self::LimitExceeded { which, limit } => {
                write!(f, "the limit of {limit} is reached for {}", which.name())
            }
            Self::WaiterIdTaken => f.write_str("another holder waits under this waiter id"),
            Self::AlreadyWaiting => f.write_str("this holder already waits under another waiter id"),
            Self::Conflict(blocked) => in_the_way(f, blocked),
            Self::HoldAndWait(blocked) => {
                in_the_way(f, blocked)?;
                f.write_str("; a holder of leases does not wait: release them, then acquire the whole set at once")
            }
            Self::Deadlock { blocked, cycle } => {
                f.write_str("deadlock: ")?;
                for (n, pair) in cycle.windows(2).take(NAMED_MAX).enumerate() {
                    let comma = if n > 0 { ", " } else { "" };
                    write!(f, "{comma}{} waits for {}", Quoted(&pair[0]), Quoted(&pair[1]))?;
                }
                more(f, cycle.len().saturating_sub(1), NAMED_MAX)?;
                f.write_str("; ")?;
                in_the_way(f, blocked)
            }
        }
    }
}

impl core::error::Error for Refusal {}

impl Display for RefreshRefusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidTtl { ttl_ms } => invalid_ttl(f, *ttl_ms),
            Self::Stale => f.write_str("the holder has no live lease of this generation"),
        }
    }
}

impl core::error::Error for RefreshRefusal {}

impl Display for TooManyPaths {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "a release names at most {PATHS_MAX} paths; nothing was released")
    }
}

impl core::error::Error for TooManyPaths {}

impl Display for PinRefusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPaths => f.write_str("no path was named"),
            Self::LimitExceeded { which, limit } => write!(f, "the limit of {limit} is reached for {}", which.name()),
            Self::NotHeld { path } => {
                write!(f, "no live lease of the holder, strong enough, contains {}", Quoted(path))
            }
        }
    }
}

impl core::error::Error for PinRefusal {}

impl Display for Conflict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (path, leased) = (Quoted(&self.path), Quoted(&self.leased));
        let inside = contains(&self.path, &self.leased);
        match (inside, contains(&self.leased, &self.path)) {
            (Containment::Unknown, _) => write!(f, "{path} cannot be compared with {leased}, ")?,
            (Containment::Yes, Containment::Yes) => write!(f, "{path} is ")?,
            (Containment::Yes, _) => write!(f, "{path} is inside {leased}, ")?,
            (Containment::No, _) => write!(f, "{path} contains {leased}, ")?,
        }
        let held = if self.mode == Mode::Shared { "shared" } else { "held" };
        write!(f, "{held} by {} for {}, ", Quoted(&self.holder), Seconds(self.held_for_ms, false))?;
        if self.ended {
            f.write_str("ended, and kept only until a write in flight is done")
        } else {
            write!(f, "free in at most {}", Seconds(self.expires_in_ms.max(0) as u64, true))
        }
    }
}

fn invalid_ttl(f: &mut Formatter<'_>, ttl_ms: f64) -> fmt::Result {
    write!(f, "the ttl must be whole milliseconds from 1 to {TTL_MS_MAX}, not {}", Number(ttl_ms))
}

fn in_the_way(f: &mut Formatter<'_>, blocked: &Blocked) -> fmt::Result {
    let first = blocked.conflicts.first();
    if let Some(first) = first {
        write!(f, "{first}")?;
        if blocked.truncated {
            write!(f, " (and more than {} more)", blocked.conflicts.len() - 1)?;
        } else {
            more(f, blocked.conflicts.len(), 1)?;
        }
    }
    let Some(ahead) = &blocked.ahead else { return Ok(()) };
    let waiters = ahead.position - 1;
    f.write_str(if first.is_some() { "; " } else { "no lease is in the way, but " })?;
    let (noun, verb) = if waiters == 1 { ("waiter", "is") } else { ("waiters", "are") };
    write!(f, "{waiters} {noun} {verb} ahead in the queue: ")?;
    for (n, holder) in ahead.holders.iter().take(NAMED_MAX).enumerate() {
        let comma = if n > 0 { ", " } else { "" };
        write!(f, "{comma}{}", Quoted(holder))?;
    }
    more(f, waiters, NAMED_MAX)
}

/// Says how many of a list were left out.
fn more(f: &mut Formatter<'_>, all: usize, said: usize) -> fmt::Result {
    if all > said { write!(f, " (and {} more)", all - said) } else { Ok(()) }
}

/// An id or a path from outside, cut and escaped.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (n, c) in self.0.chars().enumerate() {
            if n == QUOTED_MAX {
                return f.write_char('…');
            }
            // Control characters steer terminals, and invisible ones or those that turn the direction of writing hide
            // what is written.
            let hides =
                matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
            if c.is_control() || hides {
                write!(f, "{}", c.escape_default())?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }
}

/// A number from outside. Whole ones are said; what else there is only needs a name, and printing it in full would be
/// a tenth of a component.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let whole = self.0 as i64;
        if self.0.is_nan() {
            f.write_str("no number")
        } else if self.0.abs() > NUMBER_MAX as f64 {
            f.write_str(if self.0 > 0.0 { "one over 2^53" } else { "one under -2^53" })
        } else if whole as f64 == self.0 {
            write!(f, "{whole}")
        } else {
            f.write_str("a fraction")
        }
    }
}

/// A length of time in the unit that suits it, cut off or rounded up.
struct Seconds(u64, bool);

impl Display for Seconds {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let units = [(3_600_000, "h", 7_200_000), (60_000, "min", 600_000), (1_000, "s", 1_000)];
        let Some(&(unit, name, _)) = units.iter().find(|(.., from)| self.0 >= *from) else {
            return write!(f, "{} ms", self.0);
        };
        let count = if self.1 { self.0.div_ceil(unit) } else { self.0 / unit };
        write!(f, "{count} {name}")
    }
}

#[cfg(test)]
mod tests {
    use crate::{Fairness, Millis, Options, Release, Table, WaitAttempt, Wish};
    use alloc::string::{String, ToString};

    fn table(fairness: Fairness) -> Table {
        Table::new(Options { fairness, ..Options::default() }).unwrap()
    }

    fn refusal(table: &mut Table, at: u64, holder: &str, wishes: &[Wish<'_>]) -> String {
        table.acquire(Millis::new(at), holder, wishes, None).unwrap_err().to_string()
    }

    fn attempt<'a>(id: &'a str, holder: &'a str, wishes: &'a [Wish<'a>], allow_hold: bool) -> WaitAttempt<'a> {
        let keep = Some(60_000_u64.into());
        WaitAttempt { waiter_id: id, holder, wishes, ttl: None, allow_hold, keep }
    }

    #[test]
    fn a_conflict_says_who_what_since_when_and_until_when() {
        let mut table = table(Fairness::Barge);
        let mine = [Wish::exclusive("/srv/src"), Wish::shared("docs")];
        table.acquire(Millis::new(0), "writer-1", &mine[..1], None).unwrap();
        let cases = [
            (12_000, "/srv/src/a", "/srv/src/a is inside /srv/src, held by writer-1 for 12 s, free in at most 288 s"),
            (500, "/srv//src", "/srv//src is held by writer-1 for 500 ms, free in at most 300 s"),
            (1_000, "/srv", "/srv contains /srv/src, held by writer-1 for 1 s, free in at most 299 s"),
            (1_000, "src", "src cannot be compared with /srv/src, held by writer-1 for 1 s, free in at most 299 s"),
        ];
        for (at, path, expected) in cases {
            assert_eq!(refusal(&mut table.clone(), at, "b", &[Wish::exclusive(path)]), expected);
        }
        let both = [Wish::exclusive("/srv/src/a"), Wish::exclusive("/srv/src/b")];
        assert!(refusal(&mut table, 0, "b", &both).ends_with("free in at most 300 s (and 1 more)"));
    }

    #[test]
    fn a_long_time_has_a_long_unit() {
        let mut table = table(Fairness::Barge);
        table.acquire(Millis::new(0), "a", &[Wish::shared("/d")], Some(86_400_000_u64.into())).unwrap();
        let said = refusal(&mut table, 11 * 60_000, "b", &[Wish::exclusive("/d")]);
        assert_eq!(said, "/d is shared by a for 11 min, free in at most 24 h");
    }

    #[test]
    fn an_ended_lease_is_said_to_be_one() {
        let mut table = table(Fairness::Barge);
        let now = Millis::new(0);
        table.acquire(now, "a", &[Wish::exclusive("/d")], None).unwrap();
        table.pin(now, "a", &["/d"], crate::Mode::Exclusive, None).unwrap();
        table.release(now, "a", Release::All).unwrap();
        let said = refusal(&mut table, 0, "b", &[Wish::exclusive("/d")]);
        assert_eq!(said, "/d is held by a for 0 ms, ended, and kept only until a write in flight is done");
    }

    #[test]
    fn a_number_is_said_shortly() {
        let mut table = table(Fairness::Barge);
        for (ttl, said) in [
            (0.0, "0"),
            (-1.0, "-1"),
            (86_400_001.0, "86400001"),
            (1.5, "a fraction"),
            (1e300, "one over 2^53"),
            (f64::NEG_INFINITY, "one under -2^53"),
            (f64::NAN, "no number"),
        ] {
            let refusal = table.acquire(Millis::new(0), "a", &[Wish::exclusive("/")], Some(ttl.into())).unwrap_err();
            assert_eq!(
                refusal.to_string(),
                alloc::format!("the ttl must be whole milliseconds from 1 to 86400000, not {said}")
            );
        }
    }

    #[test]
    fn the_queue_a_deadlock_and_a_held_lease_are_said() {
        let mut table = table(Fairness::Fifo);
        let (now, x, y) = (Millis::new(0), [Wish::exclusive("/x")], [Wish::exclusive("/y")]);
        table.acquire(now, "a", &x, None).unwrap();
        table.acquire(now, "b", &y, None).unwrap();
        table.wait_attempt(now, &attempt("a-1", "a", &y, true)).unwrap_err();
        let said = table.wait_attempt(now, &attempt("b-1", "b", &x, true)).unwrap_err().to_string();
        assert_eq!(said, "deadlock: b waits for a, a waits for b; /x is held by a for 0 ms, free in at most 300 s");
        let said = table.wait_attempt(now, &attempt("b-1", "b", &x, false)).unwrap_err().to_string();
        assert!(said.ends_with("; a holder of leases does not wait: release them, then acquire the whole set at once"));
        table.release(now, "b", Release::All).unwrap();
        let said = refusal(&mut table, 0, "c", &y);
        assert_eq!(said, "no lease is in the way, but 1 waiter is ahead in the queue: a");
    }

    #[test]
    fn what_a_stranger_wrote_is_escaped_and_cut() {
        let mut table = table(Fairness::Barge);
        let path = String::from("/\u{1b}[2J\u{202e}") + &"x".repeat(3_000);
        table.acquire(Millis::new(0), "a", &[Wish::exclusive(&path)], None).unwrap();
        let said = refusal(&mut table, 0, "b", &[Wish::exclusive("/")]);
        assert!(said.starts_with("/ contains /\\u{1b}[2J\\u{202e}xxx"), "{said}");
        assert!(said.len() < 400, "{}", said.len());
        let said = refusal(&mut table, 0, "b", &[Wish::exclusive(&"\\".repeat(1_000_000))]);
        assert!(said.len() < 400, "{}", said.len());
    }
}
