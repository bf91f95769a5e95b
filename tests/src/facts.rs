//! An observer that knows a table by its events alone, and is compared with what stands.

use crate::op::{Answer, Op, Timed};
use leasebook::{Event, Fact, Mode, Refusal, Status};
use std::collections::{BTreeMap, BTreeSet};

/// What somebody believes who has heard every event.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    newest: u64,
    leases: BTreeMap<u64, Seen>,
    /// Holders by waiter id.
    waiters: BTreeMap<String, String>,
    ready: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Seen {
    holder: String,
    path: String,
    mode: Mode,
    expires_at_ms: u64,
    /// Only pins keep it.
    ended: bool,
}

impl Observer {
    /// Hears the events of one operation, then compares with what stands after it. An error says what does not fit.
    pub fn see(
        &mut self,
        (now_ms, timed, answer): (u64, &Timed, &Answer),
        events: &[Event],
        status: &Status,
        ready: &[String],
    ) -> Result<(), String> {
        let mut told_ready = Vec::new();
        let mut refused = Vec::new();
        for event in events {
            if event.at_ms > now_ms {
                return Err(format!("{event:?} lies ahead of {now_ms}"));
            }
            match &event.what {
                Fact::Ready { waiter_id, holder } => {
                    if self.waiters.get(waiter_id) != Some(&holder.to_string()) {
                        return Err(format!("{event:?}: there is no such waiter"));
                    }
                    told_ready.push((waiter_id.clone(), event.at_ms));
                }
                Fact::Refused { holder, reason } => refused.push((holder.clone(), *reason)),
                _ => self.hear(event)?,
            }
        }
        self.compare_refusals(timed, answer, &refused)?;
        if let (Op::Wait(wait), Answer::Grant(Ok(_))) = (&timed.op, answer) {
            self.waiters.remove(&wait.waiter_id); // its grant ends a waiter
        }
        self.compare_leases(status)?;
        let stand: BTreeMap<_, _> =
            status.waiters.iter().map(|waiter| (waiter.id.clone(), waiter.holder.to_string())).collect();
        if stand != self.waiters {
            return Err(format!("waiters by events {:?}, {stand:?} stand", self.waiters));
        }
        for id in ready {
            if !self.ready.contains(id) && !told_ready.iter().any(|(told, _)| told == id) {
                return Err(format!("{id} is ready now, and nobody told"));
            }
        }
        // A readiness may go and come again before this operation, but is told once for one moment.
        told_ready.sort();
        if let Some(twice) = told_ready.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("told twice: {twice:?}"));
        }
        self.ready = ready.iter().cloned().collect();
        Ok(())
    }

    fn hear(&mut self, event: &Event) -> Result<(), String> {
        let unknown = || format!("{event:?}: there is no such lease or waiter");
        match &event.what {
            Fact::Granted { generation, holder, path, mode, expires_at_ms } => {
                let (holder, path) = (holder.to_string(), path.clone());
                let seen = Seen { holder, path, mode: *mode, expires_at_ms: *expires_at_ms, ended: false };
                match self.leases.insert(*generation, seen.clone()) {
                    None if *generation <= self.newest => {
                        return Err(format!("{event:?}: generation {} was there before", self.newest));
                    }
                    None => self.newest = *generation,
                    Some(before) if before.mode == Mode::Shared && *mode == Mode::Exclusive => {
                        if (&before.holder, &before.path) != (&seen.holder, &seen.path) {
                            return Err(format!("{event:?}: it was {before:?}"));
                        }
                    }
                    Some(before) => return Err(format!("{event:?}: neither new nor stronger, it was {before:?}")),
                }
            }
            Fact::Refreshed { generation, holder, expires_at_ms } => {
                let lease = self.leases.get_mut(generation).filter(|lease| *lease.holder == **holder);
                let lease = lease.ok_or_else(unknown)?;
                lease.expires_at_ms = *expires_at_ms;
                lease.ended = false;
            }
            Fact::Released { generation, holder, path, pending }
            | Fact::Revoked { generation, holder, path, pending }
            | Fact::Expired { generation, holder, path, pending } => {
                let lease = self.leases.get_mut(generation).ok_or_else(unknown)?;
                if (&*lease.holder, &lease.path) != (holder.as_str(), path) {
                    return Err(format!("{event:?}: it was {lease:?}"));
                }
                // It expired at its own end. Where it had ended before, this is its going, with the last pin.
                let expired = matches!(event.what, Fact::Expired { .. });
                if expired && (event.at_ms < lease.expires_at_ms || !lease.ended && event.at_ms > lease.expires_at_ms) {
                    return Err(format!("{event:?}: it expired at {}", lease.expires_at_ms));
                }
                if lease.ended && *pending {
                    return Err(format!("{event:?}: told before"));
                }
                lease.ended = true;
                if !pending {
                    self.leases.remove(generation);
                }
            }
            Fact::Waiting { waiter_id, holder } => {
                self.waiters.insert(waiter_id.clone(), holder.to_string());
            }
            Fact::Lapsed { waiter_id, holder } | Fact::Cancelled { waiter_id, holder } => {
                self.ready.remove(waiter_id);
                let stood = self.waiters.remove(waiter_id);
                if stood.as_deref() != Some(holder.as_str()) {
                    return Err(unknown());
                }
            }
            other => return Err(format!("no other event is expected: {other:?}")),
        }
        Ok(())
    }

    fn compare_leases(&self, status: &Status) -> Result<(), String> {
        let stand: BTreeMap<u64, Seen> = status
            .leases
            .iter()
            .map(|standing| {
                let lease = &standing.lease;
                let seen = Seen {
                    holder: lease.holder.to_string(),
                    path: lease.path.clone(),
                    mode: lease.mode,
                    expires_at_ms: lease.expires_at_ms,
                    ended: standing.release_pending || lease.expires_in_ms <= 0,
                };
                (lease.generation, seen)
            })
            .collect();
        if stand == self.leases {
            Ok(())
        } else {
            Err(format!("leases by events {:?}\nstanding {stand:?}", self.leases))
        }
    }

    /// A refusal is told once, by its reason; a conflict that registers a waiter is told as waiting.
    fn compare_refusals(
        &self,
        timed: &Timed,
        answer: &Answer,
        refused: &[(String, &'static str)],
    ) -> Result<(), String> {
        let expected = match (&timed.op, answer) {
            (Op::Wait(_), Answer::Grant(Err(Refusal::Conflict(_)))) => None,
            (Op::Acquire { holder, .. }, Answer::Grant(Err(refusal))) => Some((holder.clone(), refusal.reason())),
            (Op::Wait(wait), Answer::Grant(Err(refusal))) => Some((wait.holder.clone(), refusal.reason())),
            _ => None,
        };
        let told: Vec<_> = expected.into_iter().collect();
        if told == refused { Ok(()) } else { Err(format!("refused {refused:?}, expected {told:?}")) }
    }
}
