//! Room for bodies: nobody stands in a wall, and nobody wants to where no body fits.
//!
//! Local models and motion keep bodies out of walls that they come to. Where a body is in one already, at its start or because an
//! obstacle comes down on it, they cannot say which way is out. Everybody is put beside it alone: two may overlap there, and are
//! taken apart in the next steps.

use crate::scenario::{FloorPlan, Region, boundary, edges, grown};
use glam::{DVec2, Vec2};
use throng_core::world::World;
use throng_macroscale::Macroscale;

/// Whoever is closer than this to a wall is in it, m: rounding decides on which side.
const TOUCHING: f64 = 1e-3;
/// Part of the goal's radius within which there must be room for somebody: the rest is for rounding, and for pushes.
const ENOUGH: f64 = 0.9;
/// More than a body takes, as a factor: ways are planned for a little more (`WIDEST_CLASS`).
const TO_SPARE: f64 = 1.08;
/// An area has room for a body where so many radii are free: whoever gets there must not have to stop to the millimetre.
const TO_STOP: f64 = 1.2;
/// An area is searched for room in so many places along each side of the box around it.
const LOOKS: usize = 24;

/// Where one can be on a map, in the world's coordinates.
pub(super) struct Room {
    region: Region,
    /// Where bodies may be carried over.
    gaps: Vec<Vec<Vec2>>,
    origin: DVec2,
}

/// Whose room is seen to. Whoever is carried over what is not walkable, or jumps over it, is left alone.
#[derive(Clone, Copy)]
pub(super) enum Whose<'a> {
    /// Everybody's.
    All,
    /// That of those who join, from an id on.
    Since(u32),
    /// That of those who stood free on the map as it was.
    FreeOn(&'a FloorPlan),
    /// Nobody's.
    Nobody,
}

impl Room {
    pub(super) fn new(map: &FloorPlan, gaps: &[Vec<DVec2>], origin: DVec2) -> Room {
        let gap = |ring: &Vec<DVec2>| ring.iter().map(|&corner| super::local(corner, origin)).collect();
        Room { region: Region::new(&boundary(map)), gaps: gaps.iter().map(gap).collect(), origin }
    }

    /// Puts those who are in a wall, or in what has come down on them, beside it. Whether there was anybody.
    pub(super) fn free_bodies(
        &self,
        world: &mut World,
        planner: &mut dyn Macroscale,
        whose: Whose<'_>,
    ) -> bool {
        let agents = &world.agents;
        let place = |row: usize| Vec2::new(agents.x[row], agents.y[row]);
        let mut caught: Vec<usize> = (0..agents.len()).filter(|&row| !self.stands(place(row))).collect();
        match whose {
            Whose::All => {}
            Whose::Since(first) => caught.retain(|&row| agents.id[row] >= first),
            Whose::FreeOn(map) if !caught.is_empty() => {
                let before =
                    Room { region: Region::new(&boundary(map)), gaps: Vec::new(), origin: self.origin };
                caught.retain(|&row| before.stands(place(row)));
            }
            Whose::FreeOn(_) | Whose::Nobody => caught.clear(),
        }
        let mut any = false;
        for row in caught {
            any |= self.put_beside_walls(world, planner, row);
        }
        any
    }

    /// Whether a body is on the floor, or may be where it is without one.
    fn stands(&self, place: Vec2) -> bool {
        let global = self.global(place);
        self.region.is_free(global) && self.region.has_room(global, TOUCHING)
            || self.gaps.iter().any(|gap| throng_core::geom::inside_ring(place, gap).0)
    }

    fn put_beside_walls(&self, world: &mut World, planner: &mut dyn Macroscale, row: usize) -> bool {
        let agents = &mut world.agents;
        let global = self.global(Vec2::new(agents.x[row], agents.y[row]));
        let Some(free) = self.region.closest_room(global, f64::from(agents.radius[row])) else {
            return false;
        };
        (agents.x[row], agents.y[row]) = super::local(free, self.origin).into();
        (agents.vx[row], agents.vy[row]) = (0.0, 0.0);
        world.feet.forget(agents.slot[row]);
        planner.memory_mut().into_iter().for_each(|memory| memory.forget(agents.slot[row]));
        true
    }

    /// Moves goals of some cohorts on which no body fits to the closest place where it does, unless they are reached from
    /// there.
    pub(super) fn free_goals(&self, world: &mut World, of: impl Fn(usize) -> bool) {
        let agents = &mut world.agents;
        for row in (0..agents.len()).filter(|&row| of(agents.cohort[row].into())) {
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
        if !self.fits(&ring, f64::from(radius) * TO_STOP) {
            let wide = grown(&ring, f64::from(radius) * TO_STOP);
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
