//! Grants that are answered again to whoever asks under the same key.

use super::record::Remembered;
use crate::Holder;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// How long a grant is remembered, in milliseconds: 10 minutes.
pub const REMEMBERED_MS: u64 = 600_000;
/// How many grants are remembered; of more, the oldest are forgotten.
pub const REMEMBERED_MAX: usize = 100_000;

type Key = (Holder, String);

/// The remembered grants of an authority.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    grants: BTreeMap<Key, Remembered>,
    /// By when they are forgotten. All are remembered for the same time, so that the oldest come first.
    order: BTreeSet<(u64, Key)>,
}

impl Memory {
    pub(super) fn get(&self, actor: &Holder, key: &str) -> Option<&Remembered> {
        // A tuple of owned parts is what the map is ordered by.
        self.grants.get(&(actor.clone(), key.into()))
    }

    pub(super) fn put(&mut self, grant: Remembered) {
        let key = (grant.actor.clone(), grant.key.clone());
        self.order.insert((grant.until_ms, key.clone()));
        if let Some(former) = self.grants.insert(key.clone(), grant) {
            let until_ms = self.grants.get(&key).map_or(0, |grant| grant.until_ms);
            if former.until_ms != until_ms {
                self.order.remove(&(former.until_ms, key));
            }
        }
    }

    /// Forgets what is due, and the oldest above the bound, and says what it forgot.
    pub(super) fn forget(&mut self, now_ms: u64) -> Vec<(Holder, String)> {
        let mut gone = Vec::new();
        while let Some((until_ms, _)) = self.order.first()
            && (*until_ms <= now_ms || self.grants.len() > REMEMBERED_MAX)
            && let Some((_, key)) = self.order.pop_first()
        {
            self.grants.remove(&key);
            gone.push(key);
        }
        gone
    }
}
