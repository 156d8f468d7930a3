//! Slots: small numbers for agents that are present, used again once their owners have gone.

use serde::{Deserialize, Serialize};

/// Who has which slot. A slot's generation counts its owners, so that a handle of an earlier one is known as stale.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slots {
    generation: Vec<u32>,
    /// In the order of leaving; the last one is given out first.
    free: Vec<u32>,
}

impl Slots {
    /// Gives out a slot.
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.generation.push(0);
            self.generation.len() as u32 - 1
        })
    }

    /// Takes a slot back: handles of its owner are stale from now on.
    pub(super) fn release(&mut self, slot: u32) {
        if let Some(generation) = self.generation.get_mut(slot as usize) {
            *generation = generation.wrapping_add(1);
            self.free.push(slot);
        }
    }

    /// How many owners a slot has had before the present one; `None` where there is no such slot.
    pub fn generation(&self, slot: u32) -> Option<u32> {
        self.generation.get(slot as usize).copied()
    }

    /// How many slots there are, with an owner or without.
    pub fn len(&self) -> usize {
        self.generation.len()
    }

    /// Whether none was ever given out.
    pub fn is_empty(&self) -> bool {
        self.generation.is_empty()
    }
}
