//! The state hash.

use super::World;
use crate::memory::mix;
use crate::parallel::for_chunks;
use std::sync::atomic::{AtomicU64, Ordering};

impl World {
    /// A number that differs whenever the state differs in a bit, whatever the order of rows. What stages remember is part of
    /// it: the hash of that is given, 0 where they remember nothing.
    pub fn state_hash(&self, remembered: u64) -> u64 {
        let a = &self.agents;
        let row_hash = |row: usize| {
            let mut hash = mix(u64::from(a.id[row]) ^ 0x7468_726f_6e67);
            for value in [
                a.x[row],
                a.y[row],
                a.vx[row],
                a.vy[row],
                a.goal_x[row],
                a.goal_y[row],
                a.arrival[row],
                a.walked[row],
            ] {
                hash = mix(hash ^ u64::from(value.to_bits()));
            }
            // As before there were destinations, where there are none.
            mix(hash ^ a.status[row] as u64 ^ u64::from(a.destination[row]) << 8)
        };
        // A sum of integers: the same in any order, so on any number of threads.
        let present = AtomicU64::new(0);
        for_chunks(crate::CHUNK, 0..a.len(), &|_, rows| {
            let hash = rows.map(row_hash).fold(0, u64::wrapping_add);
            present.fetch_add(hash, Ordering::Relaxed);
        });
        let present = present.into_inner();
        let jam = self.jam.cells().iter().fold(0u64, |hash, (cell, hold)| {
            let [cell, hold] = [cell.to_array().map(|x| x as u32), hold.to_array().map(f32::to_bits)]
                .map(|[x, y]| u64::from(x) << 32 | u64::from(y));
            mix(hash ^ mix(cell ^ mix(hold)))
        });
        let outside = self.steering.state_hash();
        mix(present
            ^ mix(self.departed_hash ^ mix(self.step))
            ^ jam
            ^ remembered
            ^ self.feet.hash()
            ^ outside)
    }
}
