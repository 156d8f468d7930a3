//! The world as stages see it.

use super::{
    Agents, Bound, Cohort, Destination, Feet, Gaps, Jam, Legs, Link, Mover, MoverState, Terrain, World,
};
use crate::space::{Cells, Walls};
use glam::Vec2;

/// The world as a stage sees it: frozen, shared, read-only.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Key of everything that agents draw.
    pub seed: u64,
    /// Step, s.
    pub dt: f32,
    /// Simulated time, s.
    pub time: f32,
    /// Simulated time as precisely as it is known, s: for planners.
    pub now: f64,
    /// Step as precisely as it is known, s.
    pub tick: f64,
    /// Steps taken.
    pub step: u64,
    /// The highest speed that any agent can have, m/s.
    pub fastest: f32,
    /// The largest radius, m.
    pub widest: f32,
    /// Who is present, sorted in space.
    pub agents: &'a Agents,
    /// Who is near.
    pub cells: &'a Cells,
    /// What is in the way.
    pub walls: &'a Walls,
    /// Differs from what it was before whenever the map has changed, so that a stage knows what it must work out anew. The same
    /// after a resume.
    pub map_version: u64,
    /// The radii that paths are planned for, ascending.
    pub radius_classes: &'a [f32],
    /// Where walkers got on slowly of late, as far as they were looked for.
    pub jam: &'a Jam,
    /// Where feet are, as far as bodies move on such.
    pub feet: &'a Feet,
    /// Legs, where bodies move on such.
    pub legs: Option<&'a Legs>,
    /// Where there is no ground for feet. None where bodies move without them: then gaps have walls around.
    pub gaps: &'a Gaps,
    /// Ground that is harder to walk on than the rest.
    pub terrain: &'a [Terrain],
    /// What all starts and goals so far lie within.
    pub extent: Option<[Vec2; 2]>,
    /// Scripted bodies that are in the way, where they are now.
    pub movers: &'a [MoverState],
    /// Scripted bodies, where they will ever be.
    pub scripts: &'a [Mover],
    /// Differs from what it was before whenever scripted bodies have come, gone or been moved from outside.
    pub mover_version: u64,
    /// Jumps.
    pub links: &'a [Link],
    /// What cohorts have in common.
    pub cohorts: &'a [Cohort],
    /// Where agents are sent one by one.
    pub destinations: &'a [Destination],
}

impl World {
    /// The world as stages see it. [`World::sort_rows`] must have followed the last change.
    pub fn view(&self) -> View<'_> {
        View {
            seed: self.seed,
            dt: self.dt as f32,
            time: self.time() as f32,
            now: self.time(),
            tick: self.dt,
            step: self.step,
            fastest: self.fastest,
            widest: self.widest,
            agents: &self.agents,
            cells: &self.index.cells,
            walls: &self.map.walls,
            map_version: self.map_version,
            radius_classes: &self.radius_classes,
            jam: &self.jam,
            feet: &self.feet,
            legs: self.map.legs.as_ref(),
            gaps: &self.map.gaps,
            terrain: &self.map.terrain,
            extent: self.extent,
            movers: &self.mover_states,
            scripts: &self.movers,
            mover_version: self.mover_version,
            links: &self.links,
            cohorts: &self.cohorts,
            destinations: &self.destinations,
        }
    }
}

impl<'a> View<'a> {
    /// What a row walks to.
    #[inline(always)]
    pub fn bound(&self, row: usize) -> Bound<'a> {
        let cohort = &self.cohorts[self.agents.cohort[row] as usize];
        Bound::of(cohort, self.destinations, self.agents.destination[row])
    }

    /// No agent further away than this from a row (centre to centre, m) can touch it within a step.
    #[inline(always)]
    pub fn contact_range(&self, row: usize) -> f32 {
        self.agents.radius[row] + self.widest + 2.0 * self.fastest * self.dt
    }

    /// The radius that a row's path is planned for: its own, or that of its class, which is hardly wider.
    #[inline]
    pub fn planned_radius(&self, row: usize) -> f32 {
        self.class_of(self.agents.radius[row])
    }

    /// The least radius that paths are planned for and that a radius fits into; itself where it is wider than all of them.
    #[inline]
    pub fn class_of(&self, radius: f32) -> f32 {
        let class = self.radius_classes.partition_point(|&class| class < radius);
        self.radius_classes.get(class).copied().unwrap_or(radius)
    }

    /// From one place to another, m; to its nearest image where space repeats.
    #[inline(always)]
    pub fn towards(&self, from: Vec2, to: Vec2) -> Vec2 {
        self.cells.period().nearest(to - from)
    }

    /// Another's place as it is seen from one: the nearest of its images where space repeats.
    #[inline(always)]
    pub fn image(&self, from: Vec2, to: Vec2) -> Vec2 {
        self.cells.period().image(from, to)
    }

    /// What lies between a row and the image of it that is seen from a place: a multiple of the period, and zero where nothing
    /// repeats. What the row heads for is seen as far away from where it is.
    #[inline(always)]
    pub fn seam(&self, from: Vec2, row: usize) -> Vec2 {
        let period = self.cells.period();
        if period.repeats() { period.seam(from, self.position(row)) } else { Vec2::ZERO }
    }

    /// A row's position.
    #[inline(always)]
    pub fn position(&self, row: usize) -> Vec2 {
        Vec2::new(self.agents.x[row], self.agents.y[row])
    }

    /// Where a row wants to be; of an area, the point of its edge that is closest to it.
    #[inline(always)]
    pub fn goal(&self, row: usize) -> Vec2 {
        match self.bound(row).area {
            Some(ring) => crate::geom::inside_ring(self.position(row), ring).1,
            None => Vec2::new(self.agents.goal_x[row], self.agents.goal_y[row]),
        }
    }

    /// A row's velocity.
    #[inline(always)]
    pub fn velocity(&self, row: usize) -> Vec2 {
        Vec2::new(self.agents.vx[row], self.agents.vy[row])
    }
}
