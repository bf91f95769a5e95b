//! Events and changed records, until the host drains them.

use super::ask::LeaseId;
use super::authority::Authority;
use super::event::{Event, Fact};
use super::record::{GrantRecord, Record};
use crate::{Counters, Holder};
use alloc::collections::{BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

/// What changed; what it is now is read when the records are taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Changed {
    Grant(LeaseId),
    Trust(Holder),
    Remembered(Holder, String),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    kept: usize,
    journal: bool,
    events: VecDeque<Event>,
    dropped: u64,
    locations: Vec<Record>,
    counters: Counters,
    changed: BTreeSet<Changed>,
}

impl Log {
    pub(super) fn new(kept: usize, journal: bool) -> Self {
        Self { kept, journal, ..Self::default() }
    }

    /// Notes an event, where anybody wants it.
    pub(super) fn event(&mut self, at_ms: u64, what: impl FnOnce() -> Fact) {
        if self.kept == 0 {
            return;
        }
        if self.events.len() == self.kept {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(Event { at_ms, what: what() });
    }

    pub(super) fn change(&mut self, changed: Changed) {
        if self.journal {
            self.changed.insert(changed);
        }
    }

    pub(super) fn location(&mut self, record: Record) {
        if self.journal {
            self.locations.push(record);
        }
    }

    pub(super) fn counters(&mut self, counters: Counters) {
        self.counters = counters;
    }

    pub(super) fn take_events(&mut self, now_ms: u64) -> Vec<Event> {
        let dropped = core::mem::take(&mut self.dropped);
        let lost = (dropped > 0).then_some(Event { at_ms: now_ms, what: Fact::Dropped { count: dropped } });
        lost.into_iter().chain(self.events.drain(..)).collect()
    }

    pub(super) fn take_records(&mut self, authority: &Authority) -> Vec<Record> {
        let mut records = core::mem::take(&mut self.locations);
        // Counters change with every wait, too, which is not durable: nothing is to be synced for that.
        if !records.is_empty() {
            records.push(Record::Counters(self.counters));
        }
        let changed = core::mem::take(&mut self.changed);
        if changed.iter().any(|changed| matches!(changed, Changed::Grant(_))) {
            records.push(Record::LastLease(authority.last_lease));
        }
        records.extend(changed.into_iter().map(|changed| match changed {
            Changed::Grant(id) => match authority.grants.get(id) {
                None => Record::GrantGone(id.0),
                Some(entry) => Record::Grant(GrantRecord {
                    lease_id: id.0,
                    generations: entry.locations.iter().map(|location| location.generation).collect(),
                    acquired_at_ms: entry.acquired_at_ms,
                    fence: entry.fence,
                }),
            },
            Changed::Trust(actor) => Record::Trust { trust: authority.trust(&actor), actor },
            Changed::Remembered(actor, key) => match authority.memory.get(&actor, &key) {
                None => Record::RememberedGone { actor, key },
                Some(grant) => Record::Remembered(grant.clone()),
            },
        }));
        records
    }
}
