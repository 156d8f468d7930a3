//! Cohorts: what their members have in common.

use glam::Vec2;
use serde::{Deserialize, Serialize};

/// What the members of a cohort have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cohort {
    /// Whether members vanish when they arrive.
    pub leaves: bool,
    /// How close to its goal an agent has arrived, m.
    pub goal_radius: f32,
    /// Whether members walk together.
    pub together: bool,
    /// Where the goal is an area: its ring, m from the world's origin.
    pub area: Option<Vec<Vec2>>,
    /// From when to when members should arrive, s.
    pub arrive: Option<[f64; 2]>,
}

impl Cohort {
    pub(super) fn reached(&self, place: Vec2, goal: Vec2) -> bool {
        match &self.area {
            Some(ring) => crate::geom::inside_ring(place, ring).0,
            None => place.distance_squared(goal) <= self.goal_radius * self.goal_radius,
        }
    }
}
