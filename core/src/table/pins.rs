//! The standing pins, by token.

use super::pairs::Pairs;
use alloc::vec::Vec;

#[derive(Clone, Debug)]
pub(super) struct Pin {
    pub token: u64,
    pub holder: u32,
    pub generations: Vec<u64>,
    pub since: u64,
    pub deadline: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Pins {
    entries: Vec<Option<Pin>>,
    free: Vec<u32>,
    /// (token, slot).
    tokens: Pairs,
}

impl Pins {
    pub fn len(&self) -> usize {
        self.tokens.as_slice().len()
    }

    pub fn insert(&mut self, pin: Pin) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        self.tokens.insert((pin.token, slot));
        self.entries[slot as usize] = Some(pin);
        slot
    }

    pub fn remove(&mut self, slot: u32) -> Option<Pin> {
        let pin = self.entries[slot as usize].take()?;
        self.tokens.remove((pin.token, slot));
        self.free.push(slot);
        Some(pin)
    }

    pub fn find(&self, token: u64) -> Option<u32> {
        self.tokens.first_from(token).filter(|&(found, _)| found == token).map(|(_, slot)| slot)
    }

    pub fn get(&self, slot: u32) -> Option<&Pin> {
        self.entries.get(slot as usize)?.as_ref()
    }

    /// All pins with their slots, in the order of their tokens.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Pin)> {
        self.tokens.slots().filter_map(|slot| Some((slot, self.get(slot)?)))
    }
}
