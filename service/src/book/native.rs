//! A table that is linked into this program.

use super::answer::Refused;
use super::{Answer, Ask, NoTable, Runtime, token};
use leasebook::{Millis, Options, Record, Table, WaitAttempt, contains};

/// A table, empty or from records.
pub(super) fn make(options: &Options, records: Option<Vec<Record>>) -> Result<Box<dyn Runtime>, NoTable> {
    let table = match records {
        None => Table::new(options.clone())
            .map_err(|wrong| NoTable::Options { field: wrong.field.to_owned(), expected: wrong.expected.to_owned() })?,
        Some(records) => Table::restore(options.clone(), records)
            .map_err(|wrong| NoTable::Records { record: wrong.record, expected: wrong.expected.to_owned() })?,
    };
    Ok(Box::new(table))
}

impl Runtime for Table {
    fn ask(&mut self, at: Millis, ask: &Ask) -> anyhow::Result<Answer> {
        Ok(match ask {
            Ask::Acquire { holder, wishes, ttl } => {
                Answer::Attempt(self.acquire(at, holder, &wishes.borrowed(), *ttl).map_err(Refused::from))
            }
            Ask::WaitAttempt { waiter_id, holder, wishes, ttl, allow_hold, keep } => {
                let wishes = &wishes.borrowed()[..];
                let (ttl, allow_hold, keep) = (*ttl, *allow_hold, *keep);
                let attempt = WaitAttempt { waiter_id, holder, wishes, ttl, allow_hold, keep };
                Answer::Attempt(self.wait_attempt(at, &attempt).map_err(Refused::from))
            }
            Ask::CancelWait { waiter_id } => Answer::Found(self.cancel_wait(at, waiter_id)),
            Ask::Refresh { holder, generation, ttl } => {
                Answer::Refreshed(self.refresh(at, holder, *generation, *ttl).map_err(Refused::from))
            }
            Ask::Release { holder, what } => Answer::Released(what.with(|what| self.release(at, holder, what))),
            Ask::ReleaseHolder { holder } => Answer::Count(self.release_holder(at, holder)),
            Ask::ReleaseAll => Answer::Count(self.release_all(at)),
            Ask::EndSession { holder } => Answer::Count(self.end_session(at, holder)),
            Ask::Revoke { generation, force } => Answer::Revoked(self.revoke(at, *generation, *force)),
            Ask::Pin { holder, paths, mode, deadline_ms } => {
                let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
                let deadline = deadline_ms.map(Millis::new);
                Answer::Pinned(self.pin(at, holder, &paths, *mode, deadline).map_err(Refused::from))
            }
            Ask::Unpin { token: shown } => Answer::Found(token(shown).is_some_and(|token| self.unpin(at, token))),
            Ask::Covering { holder, path, mode } => Answer::Covering(self.covering(at, holder, path, *mode)),
            Ask::Contains { path, directory } => Answer::Contains(contains(path, directory)),
            Ask::Ready => Answer::Ready(self.ready(at)),
            Ask::NextDeadline => Answer::NextDeadline(self.next_deadline(at)),
            Ask::Leases => Answer::Leases(self.leases(at)),
            Ask::Status => Answer::Status(self.status(at)),
            Ask::Events => Answer::Events(self.take_events()),
            Ask::Records => Answer::Records(self.records()),
        })
    }

    fn changed(&mut self) -> anyhow::Result<Vec<Record>> {
        Ok(self.take_records())
    }
}
