//! What a simulation shows of one moment: borrowed columns, nothing copied.

use crate::world::Planted;
use glam::DVec2;

/// The crowd at one moment. Rows are in the engine's order (sorted in space), not by id.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// How many steps have been taken.
    pub step: u64,
    /// Simulated time, s.
    pub time: f64,
    /// What must be added to `x` and `y` for coordinates as the scenario has them.
    pub origin: DVec2,
    /// Who stands in a row. Ids are forever, and count up from 0 through the scenario's cohorts.
    pub id: &'a [u32],
    /// Position, m from `origin`.
    pub x: &'a [f32],
    /// Position, m from `origin`.
    pub y: &'a [f32],
    /// Velocity, m/s.
    pub vx: &'a [f32],
    /// Velocity, m/s.
    pub vy: &'a [f32],
    /// Which cohort, by its place in the scenario file.
    pub cohort: &'a [u16],
    /// Feet that were put down in the last step, by id, m from `origin`.
    pub planted: &'a [Planted],
}

impl Frame<'_> {
    /// How many agents are present.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether nobody is present.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// A row's position in the scenario's coordinates.
    pub fn position(&self, row: usize) -> DVec2 {
        self.origin + DVec2::new(f64::from(self.x[row]), f64::from(self.y[row]))
    }
}
