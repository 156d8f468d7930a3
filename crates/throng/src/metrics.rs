//! What a run is measured by.

use crate::crowd::Crowd;
use fearless_simd::{Level, Simd};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use throng_core::CHUNK;
use throng_core::dispatch;
use throng_core::parallel::for_chunks;
use throng_core::space::{Candidates, rows_within};
use throng_core::world::View;

/// An overlap deeper than this is a collision, m.
pub const COLLISION_DEPTH: f32 = 1e-3;

/// Sums over the steps of a run. Part of a checkpoint, so that a resumed run reports the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Steps looked at.
    pub steps: u64,
    /// Pairs that overlap by more than [`COLLISION_DEPTH`], summed over steps.
    pub collisions: u64,
    /// The deepest overlap of all, m.
    pub max_overlap: f32,
}

/// Pairs that overlap, and how deeply.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Overlaps {
    /// Pairs deeper than [`COLLISION_DEPTH`].
    pub collisions: u64,
    /// m.
    pub deepest: f32,
}

impl Overlaps {
    fn and(self, other: Overlaps) -> Overlaps {
        Overlaps { collisions: self.collisions + other.collisions, deepest: self.deepest.max(other.deepest) }
    }

    fn see(&mut self, depth: f32) {
        self.deepest = self.deepest.max(depth);
        self.collisions += u64::from(depth > COLLISION_DEPTH);
    }
}

impl Metrics {
    /// Looks at the crowd after a step.
    pub fn observe(&mut self, crowd: &Crowd) {
        let now = crowd.overlaps();
        self.steps += 1;
        self.collisions += now.collisions;
        self.max_overlap = self.max_overlap.max(now.deepest);
    }

    /// Collisions per step.
    pub fn collisions_per_step(&self) -> f64 {
        self.collisions as f64 / self.steps.max(1) as f64
    }
}

/// Pairs of agents, and agents and scripted bodies, that overlap now.
pub(crate) fn overlaps(view: View<'_>) -> Overlaps {
    let level = Level::new();
    // Counts and a greatest depth, which are the same in any order.
    let all = Mutex::new(Overlaps::default());
    for_chunks(CHUNK, 0..view.agents.len(), &|_, rows| {
        let found = dispatch!(level, simd => overlaps_of(simd, view, rows.clone()));
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = all.and(found);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[inline(always)]
fn overlaps_of<S: Simd>(simd: S, view: View<'_>, rows: std::ops::Range<usize>) -> Overlaps {
    let agents = view.agents;
    let mut found = Overlaps::default();
    let mut candidates = Candidates::default();
    for row in rows {
        let (place, radius) = (view.position(row), agents.radius[row]);
        let reach = [radius + view.widest, 2.0 * view.widest];
        rows_within(
            simd,
            view.cells,
            row,
            reach,
            &mut candidates,
            #[inline(always)]
            |other| {
                if other > row {
                    let apart = view.towards(place, view.position(other)).length();
                    found.see(radius + agents.radius[other] - apart);
                }
            },
        );
        for mover in view.movers {
            found.see(radius + mover.radius - view.towards(place, mover.position).length());
        }
    }
    found
}

/// The most memory that this process had, MB; 0 where the system does not tell.
pub fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0 / 1e6
}
