//! Room for bodies: nobody stands in a wall, and nobody wants to where no body fits.
//!
//! Local models and motion keep bodies out of walls that they come to. Where a body is in one already, at its start or because an
//! obstacle comes down on it, they cannot say which way is out.

use crate::scenario::{FloorPlan, Region, boundary, edges, grown};
use glam::{DVec2, Vec2};
use throng_core::world::World;

/// Whoever is closer than this to a wall is in it, m: rounding decides on which side.
const TOUCHING: f64 = 1e-3;
/// Part of the goal's radius within which there must be room for somebody: the rest is for rounding, and for pushes.
const ENOUGH: f64 = 0.9;
/// More than a body takes, as a factor: ways are planned for a little more (`WIDEST_CLASS`).
const TO_SPARE: f64 = 1.08;
/// An area is searched for room in so many places along each side of the box around it.
const LOOKS: usize = 24;

/// Where one can be on a map, in the world's coordinates.
pub(super) struct Room {
    region: Region,
    /// Where bodies may be carried over.
    gaps: Vec<Vec<Vec2>>,
    origin: DVec2,
}

impl Room {
    pub(super) fn new(map: &FloorPlan, gaps: &[Vec<DVec2>], origin: DVec2) -> Room {
        let gap = |ring: &Vec<DVec2>| ring.iter().map(|&corner| super::local(corner, origin)).collect();
        Room { region: Region::new(&boundary(map)), gaps: gaps.iter().map(gap).collect(), origin }
    }

    /// Puts everybody who is in a wall, or in what has come down on it, beside it. Whether there was anybody.
    pub(super) fn free_bodies(&self, world: &mut World) -> bool {
        let agents = &mut world.agents;
        let mut any = false;
        for row in 0..agents.len() {
            let (place, radius) = (Vec2::new(agents.x[row], agents.y[row]), agents.radius[row]);
            if let Some(free) = self.beside_walls(place, radius) {
                (agents.x[row], agents.y[row]) = free.into();
                (agents.vx[row], agents.vy[row]) = (0.0, 0.0);
                world.feet.forget(agents.id[row]);
                any = true;
            }
        }
        any
    }

    fn beside_walls(&self, place: Vec2, radius: f32) -> Option<Vec2> {
        let global = self.global(place);
        let stands = self.region.is_free(global) && self.region.has_room(global, TOUCHING);
        if stands || self.gaps.iter().any(|gap| throng_core::geom::inside_ring(place, gap).0) {
            return None;
        }
        self.region.closest_room(global, f64::from(radius)).map(|free| super::local(free, self.origin))
    }

    /// Moves goals on which no body fits to the closest place where it does, unless they are reached from there.
    pub(super) fn free_goals(&self, world: &mut World) {
        let agents = &mut world.agents;
        for row in 0..agents.len() {
            let cohort = &world.cohorts[agents.cohort[row] as usize];
            let goal = Vec2::new(agents.goal_x[row], agents.goal_y[row]);
            if cohort.area.is_none()
                && let Some(free) = self.reachable(goal, agents.radius[row], cohort.goal_radius)
            {
                (agents.goal_x[row], agents.goal_y[row]) = free.into();
            }
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
        if !self.fits(&ring, f64::from(radius)) {
            let wide = grown(&ring, f64::from(radius) * TO_SPARE);
            *area = wide.into_iter().map(|corner| super::local(corner, self.origin)).collect();
        }
    }

    /// Whether there is a place in a ring with room around it.
    fn fits(&self, ring: &[DVec2], radius: f64) -> bool {
        let low = ring.iter().copied().reduce(DVec2::min).unwrap_or_default();
        let size = ring.iter().copied().reduce(DVec2::max).unwrap_or_default() - low;
        let inside = Region::new(&boundary(&FloorPlan {
            walkable: vec![vec![ring.to_vec()]],
            ..FloorPlan::default()
        }));
        let part = |look: usize| (look as f64 + 0.5) / LOOKS as f64;
        let within = (0..LOOKS * LOOKS)
            .map(|look| low + size * DVec2::new(part(look % LOOKS), part(look / LOOKS)))
            .filter(|&place| inside.is_free(place));
        let along = edges(ring).flat_map(|[a, b]| (0..LOOKS).map(move |look| a.lerp(b, part(look))));
        within.chain(along).any(|place| self.region.is_free(place) && self.region.has_room(place, radius))
    }

    fn global(&self, place: Vec2) -> DVec2 {
        self.origin + place.as_dvec2()
    }
}
