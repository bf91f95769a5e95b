//! What a host drains: events and changed records.

use crate::event::{Event, Fact};
use crate::record::{Counters, Record};
use alloc::{collections::VecDeque, vec::Vec};

#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// How many events are kept; 0 = none.
    capacity: usize,
    /// Are records kept?
    pub journal: bool,
    events: VecDeque<Event>,
    dropped: u64,
    records: Vec<Record>,
    counters: Counters,
}

impl Log {
    pub fn new(capacity: usize, journal: bool) -> Self {
        Self { capacity, journal, ..Self::default() }
    }

    /// Notes an event, if anybody wants events.
    pub fn event(&mut self, at_ms: u64, what: impl FnOnce() -> Fact) {
        if self.capacity == 0 {
            return;
        }
        if self.events.len() == self.capacity {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(Event { at_ms, what: what() });
    }

    /// Notes a record, if anybody wants records.
    pub fn record(&mut self, record: impl FnOnce() -> Record) {
        if self.journal {
            self.records.push(record());
        }
    }

    pub fn take_events(&mut self, now: u64) -> Vec<Event> {
        let mut events = Vec::with_capacity(self.events.len() + 1);
        if self.dropped > 0 {
            events.push(Event { at_ms: now, what: Fact::Dropped { count: core::mem::take(&mut self.dropped) } });
        }
        events.extend(self.events.drain(..));
        events
    }

    /// The records since the last call. The counters come first, where anything but the time has changed: looking at
    /// a table is nothing that must be durable.
    pub fn take_records(&mut self, counters: Counters) -> Vec<Record> {
        let changed = Counters { now_ms: self.counters.now_ms, ..counters } != self.counters;
        if !changed && self.records.is_empty() {
            return Vec::new();
        }
        self.counters = counters;
        let mut records = Vec::with_capacity(self.records.len() + 1);
        records.push(Record::Counters(counters));
        records.append(&mut self.records);
        records
    }

    /// Forgets everything, as if the host had drained it.
    pub fn clear(&mut self, counters: Counters) {
        self.events.clear();
        self.records.clear();
        self.dropped = 0;
        self.counters = counters;
    }
}
