//! What time does: leases expire, waiters lapse, pins run out. Never by themselves, always before an operation.

use super::Table;
use super::deadlines::Due;
use crate::event::Fact;
use crate::time::Millis;

impl Table {
    /// Moves the clock, and takes away what has ended by then. What a reap removes depends on the moment alone, so one
    /// more in between changes nothing.
    pub(super) fn reap(&mut self, now: Millis) {
        self.now = self.now.max(now.get());
        while let Some((at, due)) = self.deadlines.peek().filter(|&(at, _)| at <= self.now) {
            if self.falls_due(due) == Some(true) && self.queued(due) == at {
                self.deadlines.pop();
                self.end_of(due, at);
            } else {
                self.requeue(at, due);
            }
        }
        if self.deadlines.is_stale(self.leases.tree.len() + self.waiters.len() + self.pins.len()) {
            self.queue_anew();
        }
        self.settle();
    }

    /// Does the thing end when the queue says so, and not later? `None`: it is gone, or has no end.
    pub(super) fn falls_due(&self, due: Due) -> Option<bool> {
        match due {
            Due::Lease(slot) => {
                // A vacant slot has no expiry, and leaves the queue when it comes up.
                let data = self.leases.data(slot);
                (data.queued > 0).then_some(data.queued == data.expires_at)
            }
            Due::Waiter(slot) => {
                let waiter = self.waiters.exists(slot).then(|| self.waiters.get(slot))?;
                (waiter.queued > 0).then_some(Some(waiter.queued) == waiter.lapses_at)
            }
            Due::Pin(slot) => self.pins.get(slot)?.deadline.map(|_| true),
        }
    }

    /// The time under which the thing is queued.
    pub(super) fn queued(&self, due: Due) -> u64 {
        match due {
            Due::Lease(slot) => self.leases.data(slot).queued,
            Due::Waiter(slot) => self.waiters.get(slot).queued,
            Due::Pin(slot) => self.pins.get(slot).and_then(|pin| pin.deadline).unwrap_or(0),
        }
    }

    /// Takes out the first entry, which does not say the truth; what ends later is queued again.
    pub(super) fn requeue(&mut self, at: u64, due: Due) {
        self.deadlines.pop();
        if self.falls_due(due).is_none() || self.queued(due) != at {
            return;
        }
        let later = match due {
            Due::Lease(slot) => {
                let data = self.leases.data_mut(slot);
                data.queued = data.expires_at;
                data.queued
            }
            Due::Waiter(slot) => {
                let waiter = self.waiters.get_mut(slot);
                waiter.queued = waiter.lapses_at.unwrap_or(0);
                waiter.queued
            }
            Due::Pin(_) => return,
        };
        if later > 0 {
            self.deadlines.push(later, due);
        }
    }

    /// Puts in the queue what has an end, and nothing else.
    fn queue_anew(&mut self) {
        self.deadlines.clear();
        for (slot, data) in self.leases.all_data_mut() {
            data.queued = data.queued.min(data.expires_at);
            if data.queued > 0 {
                self.deadlines.push(data.queued, Due::Lease(slot));
            }
        }
        for slot in self.waiters.queue.slots() {
            let queued = self.waiters.get(slot).queued;
            if queued > 0 {
                self.deadlines.push(queued, Due::Waiter(slot));
            }
        }
        for (slot, pin) in self.pins.iter() {
            if let Some(deadline) = pin.deadline {
                self.deadlines.push(deadline, Due::Pin(slot));
            }
        }
    }

    fn end_of(&mut self, due: Due, at: u64) {
        match due {
            Due::Pin(slot) => self.loosen(slot, true),
            Due::Waiter(slot) => {
                let (waiters, holders) = (&self.waiters, &self.holders);
                self.log.event(at, || {
                    let waiter = waiters.get(slot);
                    let holder = holders.get(waiter.holder).id.clone();
                    Fact::Lapsed { waiter_id: waiter.id.as_ref().into(), holder }
                });
                self.drop_waiter(slot);
            }
            Due::Lease(slot) => {
                self.leases.data_mut(slot).queued = 0;
                let item = self.leases.tree.item(slot);
                let (generation, pending) = (item.order, self.leases.data(slot).pins > 0);
                let (leases, holder) = (&self.leases, &self.holders.get(item.holder).id);
                self.log.event(at, || Fact::Expired {
                    generation,
                    holder: holder.clone(),
                    path: leases.spelling(slot),
                    pending,
                });
                if pending {
                    self.leases.data_mut(slot).expired = true;
                    self.keep_ended(slot);
                } else {
                    self.remove_lease(slot);
                }
            }
        }
    }
}
