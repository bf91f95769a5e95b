//! Operations that ask for leases.

use super::{Held, Location, Model, Waiting, Want, locate};
use leasebook::limits::{LISTED_MAX, NUMBER_MAX, PATHS_MAX, TTL_MS_MAX, WAITER_ID_BYTES_MAX};
use leasebook::{
    Ahead, Blocked, Conflict, Holder, Lease, Limit, Millis, Mode, Period, RefreshRefusal, Refusal, WaitAttempt, Wish,
};

impl From<&Wish<'_>> for Want {
    fn from(wish: &Wish<'_>) -> Self {
        Self { path: wish.path.to_string(), location: locate(wish.path), mode: wish.mode }
    }
}

impl Model {
    /// All of the wishes, or none of them.
    pub fn acquire(
        &mut self,
        now: Millis,
        holder: &str,
        wishes: &[Wish<'_>],
        ttl: Option<Period>,
    ) -> Result<Vec<Lease>, Refusal> {
        self.reap(now);
        self.check_holder_and_ttl(holder, ttl)?;
        self.check_wishes(holder, wishes, "")?;
        let wants: Vec<Want> = wishes.iter().map(Want::from).collect();
        let passes = self.passes(holder, &wants);
        let mut ahead = self.clashing(holder, &wants);
        ahead.retain(|waiter| !passes.contains(&waiter.place));
        if self.in_the_way(holder, &wants).is_empty() && ahead.is_empty() {
            return Ok(self.grant(holder, &wants, ttl));
        }
        let mut blocked = self.blocked(holder, &wants);
        blocked.ahead = said(&ahead);
        Err(Refusal::Conflict(Box::new(blocked)))
    }

    /// All of the wishes, or a registered waiter, or a refusal.
    pub fn wait_attempt(&mut self, now: Millis, attempt: &WaitAttempt<'_>) -> Result<Vec<Lease>, Refusal> {
        let WaitAttempt { waiter_id, holder, wishes, ttl, allow_hold, keep } = *attempt;
        self.reap(now);
        self.check_holder_and_ttl(holder, ttl)?;
        let keep_ms = keep.and_then(|keep| whole(keep, NUMBER_MAX));
        if (self.fifo() || keep.is_some()) && keep_ms.is_none() {
            return Err(Refusal::InvalidKeep { keep_ms: keep.map(Period::given) });
        }
        self.check_wishes(holder, wishes, waiter_id)?;
        let standing = self.waiters.iter().find(|waiter| waiter.id == waiter_id).cloned();
        if standing.as_ref().is_some_and(|standing| standing.holder != holder) {
            return Err(Refusal::WaiterIdTaken);
        }
        if self.fifo() && self.waiters.iter().any(|waiter| waiter.holder == holder && waiter.id != waiter_id) {
            return Err(Refusal::AlreadyWaiting);
        }

        // The standing waiter ends here. Its place goes on only where the same wishes come again.
        let before = self.waiters.clone();
        self.waiters.retain(|waiter| waiter.id != waiter_id);
        let wants: Vec<Want> = wishes.iter().map(Want::from).collect();
        let (place, passed) = match &standing {
            Some(standing) if same(&standing.wants, &wants) => (standing.place, standing.passed.clone()),
            _ => (self.last_place + 1, self.passes(holder, &wants)),
        };
        let waiter = Waiting {
            id: waiter_id.to_string(),
            holder: Holder::new(holder).expect("checked above"),
            since: standing.map_or(self.now, |standing| standing.since),
            lapses_at: keep_ms.map(|keep_ms| self.now + keep_ms),
            wants,
            place,
            passed,
        };
        let ahead = said(&self.ahead_of(&waiter));
        if self.in_the_way(holder, &waiter.wants).is_empty() && ahead.is_none() {
            return Ok(self.grant(holder, &waiter.wants, ttl));
        }
        let mut blocked = self.blocked(holder, &waiter.wants);
        if !allow_hold && self.leases.iter().any(|lease| lease.holder == holder) {
            return Err(Refusal::HoldAndWait(Box::new(blocked)));
        }
        if let Some(cycle) = self.deadlock(holder, &waiter.wants) {
            return Err(Refusal::Deadlock { blocked: Box::new(blocked), cycle });
        }
        if let Err(refusal) = self.check_room_for_waiter(&waiter.holder, waiter.wants.len()) {
            self.waiters = before;
            return Err(refusal);
        }
        self.last_place = self.last_place.max(place);
        self.waiters.push(waiter.clone());
        self.waiters.sort_by_key(|waiter| waiter.place);
        self.break_cycles();
        blocked.ahead = ahead;
        blocked.blockers = self.blockers(&waiter);
        Err(Refusal::Conflict(Box::new(blocked)))
    }

    /// A new ttl for a live lease of this holder.
    pub fn refresh(
        &mut self,
        now: Millis,
        holder: &str,
        generation: u64,
        ttl: Option<Period>,
    ) -> Result<Lease, RefreshRefusal> {
        self.reap(now);
        let ttl_ms = self.ttl_ms(ttl).map_err(|ttl_ms| RefreshRefusal::InvalidTtl { ttl_ms })?;
        let standing = self
            .leases
            .iter()
            .position(|lease| lease.generation == generation && lease.holder == holder && !self.ended(lease));
        let lease = standing.ok_or(RefreshRefusal::Stale)?;
        self.extend(lease, ttl_ms);
        Ok(self.snapshot(&self.leases[lease]))
    }

    fn check_holder_and_ttl(&self, holder: &str, ttl: Option<Period>) -> Result<(), Refusal> {
        if holder.is_empty() || holder.len() > 256 || holder.chars().any(char::is_control) {
            return Err(Refusal::InvalidHolder);
        }
        self.ttl_ms(ttl).map(|_| ()).map_err(|ttl_ms| Refusal::InvalidTtl { ttl_ms })
    }

    fn check_wishes(&self, holder: &str, wishes: &[Wish<'_>], waiter_id: &str) -> Result<(), Refusal> {
        if wishes.is_empty() {
            return Err(Refusal::NoPaths);
        }
        let unreadable = wishes.iter().map(|wish| wish.path).filter(|path| locate(path).is_none());
        let unevaluable: Vec<String> = unreadable.map(String::from).collect();
        if !unevaluable.is_empty() {
            return Err(Refusal::UnevaluablePath { unevaluable });
        }
        if wishes.len() > PATHS_MAX {
            return Err(exceeded(Limit::Paths, PATHS_MAX as u64));
        }
        if waiter_id.len() > WAITER_ID_BYTES_MAX {
            return Err(exceeded(Limit::WaiterId, WAITER_ID_BYTES_MAX as u64));
        }
        let mut new: Vec<Location> = wishes.iter().filter_map(|wish| locate(wish.path)).collect();
        new.sort();
        new.dedup();
        new.retain(|location| self.held_at(holder, Some(location)).is_none());
        let most = self.options.limits.leases;
        if !new.is_empty() && self.leases.len() + new.len() > most {
            return Err(exceeded(Limit::Leases, most as u64));
        }
        let most = self.options.limits.leases_per_holder;
        let own = self.leases.iter().filter(|lease| lease.holder == holder).count();
        if !new.is_empty() && own + new.len() > most {
            return Err(exceeded(Limit::LeasesPerHolder, most as u64));
        }
        Ok(())
    }

    fn check_room_for_waiter(&self, holder: &str, wishes: usize) -> Result<(), Refusal> {
        let limits = self.options.limits;
        let standing: usize = self.waiters.iter().map(|waiter| waiter.wants.len()).sum();
        if self.waiters.len() + 1 > limits.waiters {
            return Err(exceeded(Limit::Waiters, limits.waiters as u64));
        }
        if self.waiters.iter().filter(|waiter| waiter.holder == holder).count() + 1 > limits.waiters_per_holder {
            return Err(exceeded(Limit::WaitersPerHolder, limits.waiters_per_holder as u64));
        }
        if standing + wishes > limits.wishes {
            return Err(exceeded(Limit::Wishes, limits.wishes as u64));
        }
        Ok(())
    }

    /// The ttl asked for, or the number that is none.
    fn ttl_ms(&self, ttl: Option<Period>) -> Result<u64, f64> {
        match ttl {
            None => Ok(self.options.default_ttl_ms),
            Some(ttl) => whole(ttl, TTL_MS_MAX).ok_or(ttl.given()),
        }
    }

    fn held_at(&self, holder: &str, location: Option<&Location>) -> Option<usize> {
        self.leases.iter().position(|lease| lease.holder == holder && lease.location.as_ref() == location)
    }

    fn grant(&mut self, holder: &str, wants: &[Want], ttl: Option<Period>) -> Vec<Lease> {
        let ttl_ms = self.ttl_ms(ttl).expect("checked before");
        let mut granted = Vec::new();
        for want in wants {
            let lease = self.held_at(holder, want.location.as_ref()).unwrap_or_else(|| self.add(holder, want));
            if want.mode == Mode::Exclusive {
                self.leases[lease].mode = Mode::Exclusive;
            }
            self.extend(lease, ttl_ms);
            granted.push(lease);
        }
        // Said at the end, so that a location asked twice is answered twice alike.
        granted.into_iter().map(|lease| self.snapshot(&self.leases[lease])).collect()
    }

    fn add(&mut self, holder: &str, want: &Want) -> usize {
        self.last_generation += 1;
        self.leases.push(Held {
            generation: self.last_generation,
            holder: Holder::new(holder).expect("checked before"),
            path: want.path.clone(),
            location: want.location.clone(),
            mode: want.mode,
            acquired_at: self.now,
            ttl: 0,
            expires_at: 0,
            release_pending: false,
        });
        self.leases.len() - 1
    }

    fn extend(&mut self, lease: usize, ttl_ms: u64) {
        let lease = &mut self.leases[lease];
        lease.ttl = ttl_ms;
        lease.expires_at = self.now + ttl_ms;
        lease.release_pending = false;
    }

    fn blocked(&self, holder: &str, wants: &[Want]) -> Blocked {
        let pairs = self.in_the_way(holder, wants);
        let listed = pairs.iter().take(LISTED_MAX).map(|(want, lease)| Conflict {
            path: want.path.clone(),
            leased: lease.path.clone(),
            holder: lease.holder.clone(),
            mode: lease.mode,
            held_for_ms: self.now - lease.acquired_at,
            expires_in_ms: lease.expires_at as i64 - self.now as i64,
            ended: self.ended(lease),
        });
        Blocked { conflicts: listed.collect(), truncated: pairs.len() > LISTED_MAX, ..Blocked::default() }
    }
}

fn said(ahead: &[&Waiting]) -> Option<Ahead> {
    let holders = ahead.iter().take(LISTED_MAX).map(|waiter| waiter.holder.clone()).collect();
    (!ahead.is_empty()).then(|| Ahead { holders, position: ahead.len() + 1 })
}

/// Are these the same set of locations and modes? Order, repetition and spelling do not matter.
fn same(one: &[Want], other: &[Want]) -> bool {
    let in_each =
        |a: &[Want], b: &[Want]| a.iter().all(|x| b.iter().any(|y| x.location == y.location && x.mode == y.mode));
    in_each(one, other) && in_each(other, one)
}

/// The number as whole milliseconds from 1 to `most`.
fn whole(period: Period, most: u64) -> Option<u64> {
    let given = period.given();
    (given >= 1.0 && given <= most as f64 && given.fract() == 0.0).then_some(given as u64)
}

fn exceeded(which: Limit, limit: u64) -> Refusal {
    Refusal::LimitExceeded { which, limit }
}
