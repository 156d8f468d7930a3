//! What a crowd shows of one moment: borrowed columns, nothing copied.

use crate::map::{self, Map};
use glam::DVec2;
use throng_core::world::{Planted, World};

/// A crowd at one moment. Rows are in the engine's order (sorted in space), not by id.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame<'a> {
    /// How many steps have been taken.
    pub step: u64,
    /// Simulated time, s.
    pub time: f64,
    /// What must be added to `x` and `y` for coordinates as the caller has them.
    pub origin: DVec2,
    /// Who stands in a row. Ids are forever, and count up from 0 in the order of coming.
    pub id: &'a [u32],
    /// Position, m from `origin`.
    pub x: &'a [f32],
    /// Position, m from `origin`.
    pub y: &'a [f32],
    /// Velocity, m/s.
    pub vx: &'a [f32],
    /// Velocity, m/s.
    pub vy: &'a [f32],
    /// Which cohort, counted from 0.
    pub cohort: &'a [u16],
    /// Feet that were put down in the last step, by id, m from `origin`.
    pub planted: &'a [Planted],
    /// How often the map has changed.
    pub map_changes: u64,
    /// The map as bodies know it, where there is one.
    pub map: Option<&'a Map>,
    /// A box that the outline of an endless plane is drawn around.
    pub within: Option<[DVec2; 2]>,
}

impl<'a> Frame<'a> {
    pub(crate) fn new(
        world: &'a World,
        map: &'a Map,
        map_changes: u64,
        within: Option<[DVec2; 2]>,
    ) -> Frame<'a> {
        let agents = &world.agents;
        Frame {
            step: world.step,
            time: world.time(),
            origin: world.origin,
            id: &agents.id,
            x: &agents.x,
            y: &agents.y,
            vx: &agents.vx,
            vy: &agents.vy,
            cohort: &agents.cohort,
            planted: world.feet.planted(),
            map_changes,
            map: Some(map),
            within,
        }
    }

    /// How many agents are present.
    pub fn len(&self) -> usize {
        self.id.len()
    }

    /// Whether no agent is present.
    pub fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// A row's position in the caller's coordinates.
    pub fn position(&self, row: usize) -> DVec2 {
        self.origin + DVec2::new(f64::from(self.x[row]), f64::from(self.y[row]))
    }

    /// The walkable area as one WKT POLYGON, see [`map::to_wkt`]; an endless plane where there is no map.
    pub fn walkable_wkt(&self) -> String {
        let present: Vec<DVec2> = (0..self.len()).map(|row| self.position(row)).collect();
        map::to_wkt_around(self.map.unwrap_or(&Map::default()), self.within, &present)
    }
}
