//! Cohorts: what their members have in common; and destinations that any agent can be sent to instead.

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

/// Where agents can be sent, one by one, in the place of where their cohort goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Destination {
    /// Where it is an area: its ring, m from the world's origin. It never changes. Else every agent has its own point.
    pub area: Option<Vec<Vec2>>,
    /// How close to its point an agent is there, m.
    pub goal_radius: f32,
    /// Whether the way ends here: who is there has arrived, and vanishes. Else it stands there until it is sent on.
    pub ends: bool,
}

/// What a row walks to.
#[derive(Clone, Copy, Debug)]
pub struct Bound<'a> {
    /// Where it is an area: its ring.
    pub area: Option<&'a [Vec2]>,
    /// How close to a point the row must come, m.
    pub goal_radius: f32,
    /// Whether it counts as arrived there.
    pub arrives: bool,
    /// Whether it vanishes there.
    pub leaves: bool,
}

/// Who is no further than this from the edge of an area is there, m: one that walks along the edge has nowhere left to go.
const ON_EDGE: f32 = 1e-3;

impl<'a> Bound<'a> {
    /// What a member of a cohort walks to that has a destination.
    #[inline(always)]
    pub(super) fn of(cohort: &'a Cohort, destinations: &'a [Destination], destination: u16) -> Bound<'a> {
        match destinations.get(usize::from(destination).wrapping_sub(1)) {
            None => Bound {
                area: cohort.area.as_deref(),
                goal_radius: cohort.goal_radius,
                arrives: true,
                leaves: cohort.leaves,
            },
            Some(Destination { area, goal_radius, ends }) => {
                Bound { area: area.as_deref(), goal_radius: *goal_radius, arrives: *ends, leaves: *ends }
            }
        }
    }

    pub(super) fn reached(&self, place: Vec2, goal: Vec2) -> bool {
        match self.area {
            Some(ring) => {
                let (inside, edge) = crate::geom::inside_ring(place, ring);
                inside || edge.distance_squared(place) <= ON_EDGE * ON_EDGE
            }
            None => place.distance_squared(goal) <= self.goal_radius * self.goal_radius,
        }
    }
}
