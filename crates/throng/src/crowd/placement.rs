//! Room for bodies: no agent stands in a wall, and no goal lies where no body fits.
//!
//! Local models and motion keep bodies out of walls that they come to. Where a body is in one already, at its start or because an
//! obstacle comes down on it, they cannot say which way is out. Each agent is put beside it alone: two may overlap there, and are
//! taken apart in the next steps.

use crate::map::{Boundary, Map, Region, boundary, edges, grown};
use glam::{DVec2, Vec2};
use throng_core::world::World;

/// A body closer than this to a wall is in it, m: rounding decides on which side.
const TOUCHING: f64 = 1e-3;
/// Part of the goal's radius within which there must be room for a body: the rest is for rounding, and for pushes.
const ENOUGH: f64 = 0.9;
/// More than a body takes, as a factor: paths are planned for a little more (`WIDEST_CLASS`).
const TO_SPARE: f64 = 1.08;
/// An area has room for a body where this many radii are free: an agent that gets there must not have to stop to the millimetre.
const TO_STOP: f64 = 1.2;
/// An area is searched for room in this many places along each side of the box around it.
const SAMPLES: usize = 24;

/// Where bodies can be on a map, in the world's coordinates.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    region: Region,
    /// Where bodies may be carried over.
    gaps: Vec<Vec<Vec2>>,
    origin: DVec2,
}

impl Placement {
    pub(super) fn new(boundary: &Boundary, gaps: &[Vec<DVec2>], origin: DVec2) -> Placement {
        let gap = |ring: &Vec<DVec2>| ring.iter().map(|&corner| super::local(corner, origin)).collect();
        Placement { region: Region::new(boundary), gaps: gaps.iter().map(gap).collect(), origin }
    }

    /// Whether a place is free, in the caller's coordinates.
    pub(super) fn is_free(&self, place: DVec2) -> bool {
        self.region.is_free(place)
    }

    /// Whether a body fits beside the walls, in the caller's coordinates.
    pub(super) fn has_room(&self, place: DVec2, radius: f64) -> bool {
        self.region.is_free(place) && self.region.has_room(place, radius)
    }

    /// Whether a body is on the floor, or may be where it is without one.
    pub(super) fn stands(&self, place: Vec2) -> bool {
        self.is_on_floor(place) || self.gaps.iter().any(|gap| throng_core::geom::inside_ring(place, gap).0)
    }

    /// Whether a body is on the floor, and not carried over a gap.
    pub(super) fn is_on_floor(&self, place: Vec2) -> bool {
        let global = self.global(place);
        self.region.is_free(global) && self.region.has_room(global, TOUCHING)
    }

    /// Puts a body that is in a wall beside it. Whether there is a place.
    pub(super) fn put_beside_walls(&self, world: &mut World, row: usize) -> bool {
        let agents = &mut world.agents;
        let global = self.global(Vec2::new(agents.x[row], agents.y[row]));
        let Some(free) = self.region.closest_room(global, f64::from(agents.radius[row])) else {
            return false;
        };
        (agents.x[row], agents.y[row]) = super::local(free, self.origin).into();
        (agents.vx[row], agents.vy[row]) = (0.0, 0.0);
        true
    }

    /// Moves a goal on which no body fits to the closest place where it does, unless it is reached from there.
    pub(super) fn free_goal(&self, world: &mut World, row: usize) {
        let (agents, bound) = (&world.agents, world.bound(row));
        let goal = Vec2::new(agents.goal_x[row], agents.goal_y[row]);
        if bound.area.is_none()
            && let Some(free) = self.reachable(goal, agents.radius[row], bound.goal_radius)
        {
            (world.agents.goal_x[row], world.agents.goal_y[row]) = free.into();
        }
    }

    fn reachable(&self, goal: Vec2, radius: f32, goal_radius: f32) -> Option<Vec2> {
        let (global, radius) = (self.global(goal), f64::from(radius));
        // Inside an obstacle it waits for that to be taken away.
        if self.region.has_room(global, radius) || !self.region.is_free(global) {
            return None;
        }
        let closest = self.region.closest_room(global, radius)?;
        if closest.distance(global) <= ENOUGH * f64::from(goal_radius) {
            return None;
        }
        let spacious = self.region.closest_room(global, TO_SPARE * radius).unwrap_or(closest);
        Some(super::local(spacious, self.origin))
    }

    /// Where no member fits into a cohort's area, as into a strip along a wall, it is enough to touch it.
    pub(super) fn free_area(&self, world: &mut World, cohort: usize) {
        let agents = &world.agents;
        let members = (0..agents.len()).filter(|&row| usize::from(agents.cohort[row]) == cohort);
        let radius = members.map(|row| agents.radius[row]).fold(0.0, f32::max);
        let Some(area) = &mut world.cohorts[cohort].area else { return };
        let ring: Vec<DVec2> = area.iter().map(|&corner| self.global(corner)).collect();
        if let Some(wide) = self.widened(&ring, f64::from(radius)) {
            *area = wide.into_iter().map(|corner| super::local(corner, self.origin)).collect();
        }
    }

    /// An area that bodies of a radius can touch, where they do not fit into one.
    pub(super) fn widened(&self, ring: &[DVec2], radius: f64) -> Option<Vec<DVec2>> {
        let room = radius * TO_STOP;
        (!self.fits(ring, room)).then(|| grown(ring, room))
    }

    /// Whether there is a place in a ring with room around it.
    fn fits(&self, ring: &[DVec2], radius: f64) -> bool {
        let low = ring.iter().copied().reduce(DVec2::min).unwrap_or_default();
        let size = ring.iter().copied().reduce(DVec2::max).unwrap_or_default() - low;
        let inside = Region::new(&boundary(&Map { walkable: vec![vec![ring.to_vec()]], ..Map::default() }));
        let part = |sample: usize| (sample as f64 + 0.5) / SAMPLES as f64;
        let within = (0..SAMPLES * SAMPLES)
            .map(|sample| low + size * DVec2::new(part(sample % SAMPLES), part(sample / SAMPLES)))
            .filter(|&place| inside.is_free(place));
        let along = edges(ring).flat_map(|[a, b]| (0..SAMPLES).map(move |sample| a.lerp(b, part(sample))));
        within.chain(along).any(|place| self.region.is_free(place) && self.region.has_room(place, radius))
    }

    fn global(&self, place: Vec2) -> DVec2 {
        self.origin + place.as_dvec2()
    }
}
