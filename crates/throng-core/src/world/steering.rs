//! Preferred velocities that come from outside: the caller steers, and avoidance stays on.

use super::View;
use crate::CHUNK;
use crate::handover::Intents;
use crate::memory::mix;
use crate::parallel::for_chunks;
use glam::Vec2;
use serde::{Deserialize, Serialize};

/// The velocities that callers prefer for agents, by slot. Costs nothing where no agent is steered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steering {
    by_slot: Vec<Option<Vec2>>,
    count: u32,
}

impl Steering {
    /// The velocity that the caller prefers for an agent, m/s.
    #[inline]
    pub fn of(&self, slot: u32) -> Option<Vec2> {
        *self.by_slot.get(slot as usize)?
    }

    /// Sets it, or gives the agent back to its planner.
    pub(super) fn set(&mut self, slot: u32, velocity: Option<Vec2>) {
        let slot = slot as usize;
        if slot >= self.by_slot.len() {
            if velocity.is_none() {
                return;
            }
            self.by_slot.resize(slot + 1, None);
        }
        let before = std::mem::replace(&mut self.by_slot[slot], velocity);
        self.count += u32::from(velocity.is_some());
        self.count -= u32::from(before.is_some());
    }

    /// Whether no agent is steered.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Puts the callers' velocities in the place of what was intended.
    pub fn write(&self, view: View<'_>, intents: &mut Intents) {
        if self.is_empty() {
            return;
        }
        let columns = (&mut intents.vx[..], &mut intents.vy[..], &mut intents.aim[..]);
        for_chunks(CHUNK, columns, &|chunk, (vx, vy, aim)| {
            for i in 0..vx.len() {
                let row = chunk * CHUNK + i;
                if let Some(velocity) = self.of(view.agents.slot[row]) {
                    (vx[i], vy[i]) = velocity.into();
                    // Where the caller wants to is not known: as far as it gets in a second.
                    aim[i] = view.position(row) + velocity;
                }
            }
        });
    }

    pub(super) fn state_hash(&self) -> u64 {
        let steered = (0u64..).zip(&self.by_slot).filter_map(|(slot, velocity)| Some((slot, (*velocity)?)));
        let hash = |(slot, velocity): (u64, Vec2)| {
            mix(mix(slot) ^ (u64::from(velocity.x.to_bits()) << 32 | u64::from(velocity.y.to_bits())))
        };
        steered.map(hash).fold(0, u64::wrapping_add)
    }
}

impl super::World {
    /// Sets the velocity that a caller prefers for a row, or gives the agent back to its planner.
    pub fn steer(&mut self, row: usize, velocity: Option<Vec2>) {
        self.steering.set(self.agents.slot[row], velocity);
    }

    /// Preferred velocities that come from outside.
    pub fn steering(&self) -> &Steering {
        &self.steering
    }
}
