//! What an agent's plan is made in: walls, others, and how far it is around walls.

use crate::domain::occupancy::Occupancy;
use crate::navmesh::{Mesh, PathTree};
use crate::space::Space;
use glam::DVec2;
use throng_core::space::Wall;

/// What an agent's plan is made in.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// Walls.
    pub clearance: &'a Clearance,
    /// Where others will be.
    pub published: &'a Occupancy,
    /// Who plans: its own path is not in its way.
    pub own: Option<u32>,
}

/// Shortest paths on the static mesh to somewhere, as a lower bound for ways to anywhere.
#[derive(Clone, Copy, Debug)]
pub struct Compass<'a> {
    /// For bodies of the same radius. Without links, which may be shorter than ways.
    pub mesh: &'a Mesh,
    /// To the goal of the whole plan.
    pub ways: &'a PathTree,
}

/// As far beside the mesh an agent may be that has room between walls, m: the mesh has polygons around the arcs at corners.
const BESIDE: f64 = 0.2;

impl Compass<'_> {
    /// How far it is from a place to where the ways lead, m.
    pub(super) fn length(&self, place: DVec2) -> Option<f64> {
        if let Some(heading) = self.ways.heading(self.mesh, place, 0.0) {
            return Some(heading.length);
        }
        let near = self.mesh.nearest(place, BESIDE, |_| true)?;
        // A place on the mesh's edge may be found to be just outside.
        Some((self.ways.heading(self.mesh, near, 0.0)?.length - near.distance(place)).max(0.0))
    }
}

/// Walls around bodies of one radius, shared by all who have it.
#[derive(Debug)]
pub struct Clearance {
    space: Space,
}

impl Clearance {
    /// Between walls, for bodies of a radius.
    pub fn new(walls: &[Wall], radius: f32) -> Clearance {
        Clearance { space: Space::new(walls, radius) }
    }

    /// m.
    pub fn radius(&self) -> f64 {
        self.space.radius
    }

    /// Whether the way between two places keeps clear of walls, its end included.
    #[inline]
    pub fn is_clear(&self, from: DVec2, to: DVec2) -> bool {
        self.has_room(to) && self.space.is_clear(from, to, self.keep())
    }

    /// How far the nearest wall is, m; the radius where none is nearer.
    pub fn clearance(&self, at: DVec2) -> f64 {
        self.space.clearance(at)
    }

    /// Whether the way between two places keeps clear of walls; an agent that is pressed against one may leave it.
    pub fn lets_by(&self, from: DVec2, to: DVec2) -> bool {
        let has_room = || self.clearance(to) >= self.keep().min(self.clearance(from));
        self.space.is_clear(from, to, self.keep()) && has_room()
    }

    /// Whether a body has room at a place.
    #[inline]
    pub fn has_room(&self, at: DVec2) -> bool {
        self.space.clearance(at) >= self.keep()
    }

    /// Less than the radius by what rounding may do, and not by what the visibility graph allows its tangents: these
    /// plans keep off walls by themselves.
    fn keep(&self) -> f64 {
        self.space.radius * (1.0 - 1e-5)
    }
}
