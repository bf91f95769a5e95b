//! Events for those who watch a workspace, live.
//!
//! A watcher that falls behind, or comes back, is given what it missed as long as that is at hand; where it is not, it
//! is told so, and looks at the whole again.

use crate::journal;
use leasebook::coordination::Event;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// How many events of a workspace are at hand for those who come back.
pub const KEPT_MAX: usize = 1_000;
/// How many events a watcher may be behind before it loses some.
const BEHIND_MAX: usize = 1_024;

/// An event as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its number since the service started; the first is 1.
    pub number: u64,
    /// What happened, as JSON.
    pub body: Arc<str>,
}

/// The events of all workspaces.
#[derive(Debug, Default)]
pub struct Feeds {
    feeds: Mutex<BTreeMap<Arc<str>, Feed>>,
}

#[derive(Debug)]
struct Feed {
    last: u64,
    kept: VecDeque<Told>,
    sender: broadcast::Sender<Told>,
}

impl Default for Feed {
    fn default() -> Self {
        Self { last: 0, kept: VecDeque::new(), sender: broadcast::Sender::new(BEHIND_MAX) }
    }
}

/// What a watcher gets.
#[derive(Debug)]
pub struct Watch {
    /// What it has missed and is at hand.
    pub missed: Vec<Told>,
    /// It has missed more than is at hand.
    pub lost: bool,
    /// What comes.
    pub coming: broadcast::Receiver<Told>,
}

impl Feeds {
    pub(crate) fn tell(&self, workspace: &Arc<str>, event: &Event) {
        let mut feeds = self.lock();
        let feed = feeds.entry(Arc::clone(workspace)).or_default();
        feed.last += 1;
        let told = Told { number: feed.last, body: journal::told(event).to_string().into() };
        if feed.kept.len() == KEPT_MAX {
            feed.kept.pop_front();
        }
        feed.kept.push_back(told.clone());
        // Nobody may be watching.
        let _ = feed.sender.send(told);
    }

    /// Watches a workspace. `after`: the number of the last event that the watcher has seen; `None`: it wants only what
    /// comes.
    pub fn watch(&self, workspace: &Arc<str>, after: Option<u64>) -> Watch {
        let mut feeds = self.lock();
        let feed = feeds.entry(Arc::clone(workspace)).or_default();
        let coming = feed.sender.subscribe();
        let Some(after) = after else { return Watch { missed: Vec::new(), lost: false, coming } };
        // A number that was not told yet is one of an earlier run of the service.
        let lost = after > feed.last || feed.kept.front().is_some_and(|first| first.number > after + 1);
        let missed = feed.kept.iter().filter(|told| lost || told.number > after).cloned().collect();
        Watch { missed, lost, coming }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, Feed>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasebook::coordination::Fact;

    fn numbers(watch: &Watch) -> Vec<u64> {
        watch.missed.iter().map(|told| told.number).collect()
    }

    #[test]
    fn who_comes_back_gets_what_it_missed() {
        let feeds = Feeds::default();
        let here: Arc<str> = "here".into();
        let mut watch = feeds.watch(&here, None);
        let tell = |count| feeds.tell(&here, &Event { at_ms: 1, what: Fact::Dropped { count } });
        (1..=3).for_each(tell);
        feeds.tell(&"there".into(), &Event { at_ms: 1, what: Fact::Dropped { count: 9 } });
        assert_eq!(watch.coming.try_recv().unwrap().number, 1);
        let back = feeds.watch(&here, Some(1));
        assert_eq!((numbers(&back), back.lost), (vec![2, 3], false));
        assert!(numbers(&feeds.watch(&here, Some(3))).is_empty());
        (4..=KEPT_MAX as u64 + 4).for_each(tell);
        let late = feeds.watch(&here, Some(2));
        assert!(late.lost && late.missed.len() == KEPT_MAX);
        assert!(!feeds.watch(&here, Some(4)).lost);
        assert!(feeds.watch(&here, Some(99_999)).lost, "of an earlier run");
    }
}
