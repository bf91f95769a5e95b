//! Operations that give leases back, and those that keep them in place.

use super::{Held, Model, Pinned, Want, locate};
use leasebook::limits::PATHS_MAX;
use leasebook::{Holder, Limit, Millis, Mode, NotHeld, PinRefusal, PinToken, Release, Released, Revoked, TooManyPaths};

impl Model {
    /// Gives back leases by location, by generation, or all.
    pub fn release(&mut self, now: Millis, holder: &str, what: Release<'_>) -> Result<Released, TooManyPaths> {
        self.reap(now);
        let mut answer = Released::default();
        let mut gone = Vec::new();
        let own = || self.leases.iter().filter(|lease| lease.holder == holder);
        let mut name = |found: Option<&Held>, asked: NotHeld| match found {
            Some(lease) => {
                answer.released.push(lease.path.clone());
                gone.push(lease.generation);
            }
            None => answer.not_held.push(asked),
        };
        match what {
            Release::All => own().for_each(|lease| name(Some(lease), NotHeld::Generation(lease.generation))),
            Release::Paths(paths) => {
                if paths.len() > PATHS_MAX {
                    return Err(TooManyPaths);
                }
                for path in paths {
                    let location = locate(path);
                    name(own().find(|lease| lease.location == location), NotHeld::Path(path.to_string()));
                }
            }
            Release::Generation(generation) => {
                name(own().find(|lease| lease.generation == generation), NotHeld::Generation(generation));
            }
        }
        self.end(|lease| gone.contains(&lease.generation));
        Ok(answer)
    }

    /// Gives back everything of a holder, its waiters too.
    pub fn release_holder(&mut self, now: Millis, holder: &str) -> usize {
        self.reap(now);
        self.drop_holder(holder)
    }

    /// Gives back everything of everybody, all waiters too.
    pub fn release_all(&mut self, now: Millis) -> usize {
        self.reap(now);
        self.waiters.clear();
        self.end(|_| true)
    }

    /// The holder is known to be gone: its pins keep nothing any more.
    pub fn end_session(&mut self, now: Millis, holder: &str) -> usize {
        self.reap(now);
        self.pins.retain(|pin| pin.holder != holder);
        self.drop_holder(holder)
    }

    /// Takes a lease away, whoever has it. A forced one waits for no pin; the tokens stay good for unpin.
    pub fn revoke(&mut self, now: Millis, generation: u64, force: bool) -> Option<Revoked> {
        self.reap(now);
        let lease = self.leases.iter().find(|lease| lease.generation == generation)?.clone();
        let pending = self.pins_of(generation) > 0 && !force;
        if pending {
            self.end(|lease| lease.generation == generation);
        } else {
            self.leases.retain(|lease| lease.generation != generation);
        }
        Some(Revoked { holder: lease.holder, path: lease.path, pending })
    }

    /// Ends a waiter.
    pub fn cancel_wait(&mut self, now: Millis, waiter_id: &str) -> bool {
        self.reap(now);
        let before = self.waiters.len();
        self.waiters.retain(|waiter| waiter.id != waiter_id);
        self.waiters.len() < before
    }

    /// Keeps the leases that cover these paths in place.
    pub fn pin(
        &mut self,
        now: Millis,
        holder: &str,
        paths: &[&str],
        mode: Mode,
        deadline: Option<Millis>,
    ) -> Result<PinToken, PinRefusal> {
        self.reap(now);
        if paths.is_empty() {
            return Err(PinRefusal::NoPaths);
        }
        if paths.len() > PATHS_MAX {
            return Err(PinRefusal::LimitExceeded { which: Limit::Paths, limit: PATHS_MAX as u64 });
        }
        if self.pins.len() >= self.options.limits.pins {
            return Err(PinRefusal::LimitExceeded { which: Limit::Pins, limit: self.options.limits.pins as u64 });
        }
        let most = self.options.limits.pins_per_holder;
        if self.pins.iter().filter(|pin| pin.holder == holder).count() >= most {
            return Err(PinRefusal::LimitExceeded { which: Limit::PinsPerHolder, limit: most as u64 });
        }
        let mut generations = Vec::new();
        for path in paths {
            let want = Want { path: path.to_string(), location: locate(path), mode };
            let Some(lease) = self.own(holder, &want).next() else {
                return Err(PinRefusal::NotHeld { path: want.path });
            };
            if !generations.contains(&lease.generation) {
                generations.push(lease.generation);
            }
        }
        self.last_token += 1;
        let token = PinToken(self.last_token);
        let holder = Holder::new(holder).expect("it holds a lease");
        self.pins.push(Pinned { token, holder, generations, since: self.now, deadline: deadline.map(Millis::get) });
        Ok(token)
    }

    /// Ends a pin.
    pub fn unpin(&mut self, now: Millis, token: PinToken) -> bool {
        self.reap(now);
        let before = self.pins.len();
        self.pins.retain(|pin| pin.token != token);
        self.sweep();
        self.pins.len() < before
    }

    fn drop_holder(&mut self, holder: &str) -> usize {
        self.waiters.retain(|waiter| waiter.holder != holder);
        self.end(|lease| lease.holder == holder)
    }

    /// Marks leases, and takes away those that no pin keeps. The answer counts both.
    fn end(&mut self, which: impl Fn(&Held) -> bool) -> usize {
        let mut count = 0;
        for lease in self.leases.iter_mut().filter(|lease| which(lease)) {
            lease.release_pending = true;
            count += 1;
        }
        self.sweep();
        count
    }
}
