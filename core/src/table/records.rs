//! What must be durable, said; and a table made of it again.

use super::hash::{self, Index, Seed};
use super::leases::NewLease;
use super::pairs::{Pairs, sorted};
use super::tree::Ask;
use super::{Fairness, Options, Table};
use crate::lease::{Mode, PinToken};
use crate::limits::{NOW_MS_MAX, NUMBER_MAX, PATHS_MAX, TTL_MS_MAX, WAITER_ID_BYTES_MAX};
use crate::path::Path;
use crate::record::{Counters, LeaseRecord, PinRecord, Record, RestoreError, WaiterRecord};
use crate::table::deadlines::Due;
use crate::table::grant::mode;
use crate::table::pins::Pin;
use crate::table::search::{Part, Search};
use crate::time::Millis;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Table {
    /// The whole table as records: the counters, then the leases in grant order, the waiters in queue order, the pins.
    pub fn records(&self) -> Vec<Record> {
        let leases = self.lease_slots().into_iter().map(|slot| Record::Lease(self.lease_record(slot)));
        let waiters = self.waiter_slots().into_iter().map(|slot| Record::Waiter(self.waiter_record(slot)));
        let pins = self.pins.iter().map(|(slot, _)| slot);
        let pins = pins.filter_map(|slot| Some(Record::Pin(self.pin_record(slot)?)));
        let counters = Record::Counters(self.counters());
        core::iter::once(counters).chain(leases).chain(waiters).chain(pins).collect()
    }

    /// A table as records say: those of [`Table::records`], or all those of [`Table::take_records`] in their order. It
    /// gives the same answers as the one they are from, and never uses a number of it again.
    ///
    /// What the records say is checked like any other input; at the first fault nothing is restored.
    pub fn restore(options: Options, records: impl IntoIterator<Item = Record>) -> Result<Self, RestoreError> {
        let mut table = Self::new(options).map_err(|error| fault(error.field, error.expected))?;
        // What the records leave standing: (number, place in the list). A waiter is known by its id, and stands in the
        // order of its place.
        let seed = Seed::new(table.options.hash_key);
        let mut list = Vec::new();
        let (mut leases, mut pins, mut ids) = (Pairs::default(), Pairs::default(), Index::default());
        for record in records {
            let at = list.len() as u32;
            match record {
                Record::Counters(counters) => table.restore_counters(counters)?,
                Record::Lease(LeaseRecord { generation, .. }) => replace(&mut leases, generation, Some(at)),
                Record::LeaseGone(generation) => replace(&mut leases, generation, None),
                Record::Pin(PinRecord { token: PinToken(token), .. }) => replace(&mut pins, token, Some(at)),
                Record::PinGone(PinToken(token)) => replace(&mut pins, token, None),
                Record::Waiter(WaiterRecord { ref id, .. }) => {
                    forget_waiter(&mut ids, &mut list, &seed, id);
                    let key = hash::text(&seed, 0, id);
                    list.push(Some(record));
                    ids.insert(key, at, &|at| waiter_id(&list, at).map_or(0, |id| hash::text(&seed, 0, id)));
                    continue;
                }
                Record::WaiterGone(ref id) => forget_waiter(&mut ids, &mut list, &seed, id),
            }
            list.push(Some(record));
        }
        let waiters = list.iter().enumerate().filter_map(|(at, record)| match record {
            Some(Record::Waiter(waiter)) => Some((waiter.place, at as u32)),
            _ => None,
        });
        let waiters = sorted(waiters);
        let limits = table.options.limits;
        check("leases", "as many as the limit allows", leases.as_slice().len() <= limits.leases)?;
        check("waiters", "as many as the limit allows", waiters.len() <= limits.waiters)?;
        check("pins", "as many as the limit allows", pins.as_slice().len() <= limits.pins)?;
        let mut place = 0;
        for at in leases.slots().chain(waiters.into_iter().map(|(_, at)| at)).chain(pins.slots()) {
            match list[at as usize].take() {
                Some(Record::Lease(lease)) => table.restore_lease(lease)?,
                Some(Record::Waiter(waiter)) => {
                    check(&waiter.id, "a place of its own", waiter.place > place)?;
                    place = waiter.place;
                    table.restore_waiter(waiter)?;
                }
                Some(Record::Pin(pin)) => table.restore_pin(pin)?,
                _ => {}
            }
        }
        check("waiters", "as many wishes as the limit allows", table.waiters.wishes.len() <= limits.wishes)?;
        // A grant may have closed a cycle before; that shows only when somebody looks.
        table.tangled = table.options.fairness == Fairness::Barge && table.waiters.len() > 0;
        table.reap(Millis::new(table.now));
        table.sweep();
        table.settle();
        let counters = table.counters();
        table.log.clear(counters);
        Ok(table)
    }

    fn restore_counters(&mut self, counters: Counters) -> Result<(), RestoreError> {
        let numbers = [counters.last_generation, counters.last_place, counters.last_token];
        check("counters", "numbers up to 2^53 - 1", numbers.iter().all(|&n| n <= NUMBER_MAX))?;
        check("counters", "a time that a table can have", counters.now_ms <= NOW_MS_MAX)?;
        self.now = counters.now_ms;
        [self.last_generation, self.last_place, self.last_token] = numbers;
        Ok(())
    }

    fn restore_lease(&mut self, lease: LeaseRecord) -> Result<(), RestoreError> {
        let name = lease.generation.to_string();
        let (generation, exclusive) = (lease.generation, lease.mode == Mode::Exclusive);
        check(&name, "a generation from 1 to the last one", (1..=self.last_generation).contains(&generation))?;
        check(&name, "a ttl of 1 to 86 400 000 ms", (1..=TTL_MS_MAX).contains(&lease.ttl_ms))?;
        check(&name, "an acquisition in the past", lease.acquired_at_ms <= self.now)?;
        let expires_at = lease.expires_at_ms;
        check(&name, "an expiry within the longest ttl", (1..=self.now + TTL_MS_MAX).contains(&expires_at))?;
        let path = Path::parse(&lease.path).ok_or_else(|| fault(&name, "an evaluable path"))?;
        let holder = self.holders.add(&lease.holder);
        let (mut search, spot) = Search::new(&self.leases.tree, Some(path), Ask { holder, exclusive }, Part::All);
        check(&name, "no lease in its way", search.next().is_none())?;
        let spot = spot.ok_or_else(|| fault(&name, "an evaluable path"))?;
        let twin = spot.complete && self.leases.own_at(spot.node, holder).is_some();
        check(&name, "one lease of a holder at a location", !twin)?;
        let new = NewLease { generation, holder, exclusive, acquired_at: lease.acquired_at_ms };
        let slot = self.leases.insert(&mut self.holders, spot, path, new);
        let data = self.leases.data_mut(slot);
        data.ttl = lease.ttl_ms as u32;
        data.expires_at = expires_at;
        data.release_pending = lease.release_pending;
        if lease.release_pending {
            self.holders.get_mut(holder).ended.insert((generation, slot));
        } else {
            data.queued = expires_at;
            self.deadlines.push(expires_at, Due::Lease(slot));
        }
        Ok(())
    }

    fn restore_waiter(&mut self, waiter: WaiterRecord) -> Result<(), RestoreError> {
        let fifo = self.is_fifo();
        let name = &waiter.id;
        check(name, "an id of at most 256 bytes", name.len() <= WAITER_ID_BYTES_MAX)?;
        check(name, "1 to 1 024 paths", (1..=PATHS_MAX).contains(&waiter.paths.len()))?;
        check(name, "as many modes as paths", waiter.modes.len() == waiter.paths.len())?;
        check(name, "a start in the past", waiter.since_ms <= self.now)?;
        check(name, "a time to lapse at in fifo", !fifo || waiter.lapses_at_ms.is_some())?;
        check(name, "a time to lapse at above 0", waiter.lapses_at_ms != Some(0))?;
        check(name, "a place up to the last one", (1..=self.last_place).contains(&waiter.place))?;
        let earlier = waiter.passed.last().is_none_or(|&last| last < waiter.place);
        check(name, "passed places in order, before its own", waiter.passed.is_sorted() && earlier)?;
        let paths = waiter.paths.iter().map(|path| Path::parse(path)).collect::<Option<Vec<_>>>();
        let paths = paths.ok_or_else(|| fault(name, "evaluable paths"))?;
        let holder = self.holders.add(&waiter.holder);
        check(name, "one waiter of a holder in fifo", !fifo || self.holders.get(holder).waiters.is_empty())?;
        let wishes = paths.into_iter().zip(waiter.modes.iter().map(|&mode| mode == Mode::Exclusive));
        let slot = self.waiters.insert(name, holder, wishes, waiter.since_ms, waiter.place, waiter.passed);
        self.holders.get_mut(holder).waiters.push(slot);
        if let Some(at) = waiter.lapses_at_ms {
            let standing = self.waiters.get_mut(slot);
            standing.lapses_at = Some(at);
            standing.queued = at;
            self.deadlines.push(at, Due::Waiter(slot));
        }
        Ok(())
    }

    fn restore_pin(&mut self, pin: PinRecord) -> Result<(), RestoreError> {
        let name = pin.token.to_string();
        let PinToken(token) = pin.token;
        check(&name, "a token from 1 to the last one", (1..=self.last_token).contains(&token))?;
        check(&name, "a start in the past", pin.since_ms <= self.now)?;
        let distinct = sorted(pin.generations.iter().map(|&generation| (generation, 0))).len() == pin.generations.len();
        check(&name, "1 to 1 024 distinct generations", distinct && (1..=PATHS_MAX).contains(&pin.generations.len()))?;
        let holder = self.holders.add(&pin.holder);
        for &generation in &pin.generations {
            check(&name, "generations up to the last one", generation <= self.last_generation)?;
            // A forced revocation takes a lease away and leaves its pins.
            if let Some(slot) = self.leases.find(generation) {
                check(&name, "leases of its own holder", self.leases.tree.item(slot).holder == holder)?;
                self.leases.data_mut(slot).pins += 1;
            }
        }
        let deadline = pin.deadline_ms;
        let pin = Pin { token, holder, generations: pin.generations, since: pin.since_ms, deadline };
        let slot = self.pins.insert(pin);
        self.holders.get_mut(holder).pins += 1;
        if let Some(deadline) = deadline {
            self.deadlines.push(deadline, Due::Pin(slot));
        }
        Ok(())
    }

    /// Takes away ended leases that nothing keeps; records of a living table name none.
    fn sweep(&mut self) {
        for slot in self.lease_slots() {
            let data = self.leases.data(slot);
            if data.ended() && data.pins == 0 {
                self.remove_lease(slot);
            }
        }
    }

    pub(super) fn record_lease(&mut self, slot: u32) {
        if self.log.journal {
            let record = self.lease_record(slot);
            self.log.record(|| Record::Lease(record));
        }
    }

    pub(super) fn record_waiter(&mut self, slot: u32) {
        if self.log.journal {
            let record = self.waiter_record(slot);
            self.log.record(|| Record::Waiter(record));
        }
    }

    pub(super) fn record_pin(&mut self, slot: u32) {
        if let Some(record) = self.pin_record(slot).filter(|_| self.log.journal) {
            self.log.record(|| Record::Pin(record));
        }
    }

    fn lease_record(&self, slot: u32) -> LeaseRecord {
        let item = self.leases.tree.item(slot);
        LeaseRecord {
            generation: item.order,
            holder: self.holders.get(item.holder).id.clone(),
            path: self.leases.spelling(slot),
            mode: mode(item.exclusive),
            acquired_at_ms: self.leases.data(slot).acquired_at,
            ttl_ms: self.leases.data(slot).ttl.into(),
            expires_at_ms: self.leases.data(slot).expires_at,
            release_pending: self.leases.data(slot).release_pending,
        }
    }

    fn waiter_record(&self, slot: u32) -> WaiterRecord {
        let waiter = self.waiters.get(slot);
        let wishes = self.wishes_of(slot).into_iter();
        let (paths, modes) = wishes.map(|(path, exclusive)| (path, mode(exclusive))).unzip();
        WaiterRecord {
            id: waiter.id.as_ref().into(),
            holder: self.holders.get(waiter.holder).id.clone(),
            paths,
            modes,
            since_ms: waiter.since,
            lapses_at_ms: waiter.lapses_at,
            place: waiter.place,
            passed: waiter.passed.clone(),
        }
    }

    fn pin_record(&self, slot: u32) -> Option<PinRecord> {
        let pin = self.pins.get(slot)?;
        Some(PinRecord {
            token: PinToken(pin.token),
            holder: self.holders.get(pin.holder).id.clone(),
            generations: pin.generations.clone(),
            since_ms: pin.since,
            deadline_ms: pin.deadline,
        })
    }
}

/// Puts a record in the place of an earlier one of its number, or only takes that out.
fn replace(standing: &mut Pairs, number: u64, at: Option<u32>) {
    if let Some(earlier) = standing.first_from(number).filter(|&(found, _)| found == number) {
        standing.remove(earlier);
    }
    if let Some(at) = at {
        standing.insert((number, at));
    }
}

/// Takes an earlier record of a waiter out.
fn forget_waiter(ids: &mut Index, list: &mut [Option<Record>], seed: &Seed, id: &str) {
    let key = hash::text(seed, 0, id);
    if let Some(at) = ids.find(key, |at| waiter_id(list, at) == Some(id)) {
        ids.remove(key, at);
        list[at as usize] = None;
    }
}

fn waiter_id(list: &[Option<Record>], at: u32) -> Option<&str> {
    match list.get(at as usize) {
        Some(Some(Record::Waiter(waiter))) => Some(&waiter.id),
        _ => None,
    }
}

fn check(record: &str, expected: &'static str, good: bool) -> Result<(), RestoreError> {
    if good { Ok(()) } else { Err(fault(record, expected)) }
}

fn fault(record: &str, expected: &'static str) -> RestoreError {
    RestoreError { record: String::from(record), expected }
}
