//! # A field of perception for every agent (Park, Cao, Quek 2012)
//! Each agent sees a small grid of its surroundings, in which others make the places where they are and will be
//! uncomfortable. It goes down the slope of what is left of its way, and as fast as the crowd that it goes into.
//!
//! What the paper says, and what was taken:
//! - Equation 1 has `min` and equation 3 `max` of the cost and δ, which is infinite in walls and 0 elsewhere. Only `max`
//!   makes walls infinite. Thin walls lie between cells and not in them, so here they close the way between two cells
//!   (`eikonal::Sills`), and cells in which the body would touch a wall are dear.
//! - The cost of a metre is α + (β + γσ) / f + ε·d: time is length over the speed f that the agent prefers, σ the
//!   discomfort, d the distance to the middle of those it walks together with.
//! - Equation 2 divides by ∇‖φ‖; what is meant is the unit vector -∇φ / ‖∇φ‖, which is also the n_θ that v̄ is multiplied
//!   with. As it stands no agent would begin to walk, because there is no flow where no agent is: as in the work that it
//!   comes from (Treuille et al. 2006) the speed goes from the agent's own, where it is empty, to that of the flow, where
//!   it is dense. No agent is pushed back by a flow that comes towards it; it stands.
//! - The agent's own part of the world field is taken out before it is read: no agent is carried along by itself.
//! - The grid lies along the way that the agent wants to go, so that sixteen cells across are worked on at once, and straight
//!   on is exact. Around it φ is what is left of the way to the next stop as the crow flies, and not only the one cell of
//!   the local goal: an agent that stands there would close the way.
//! - Velocities change over a short time (`relaxation`): close to walls and bodies the slope of so coarse a field turns from
//!   step to step, and no agent trembles like that.
//! - σ is multiplied with the time between its steps: so it does not depend on how many there are.
//! - Wide bodies count in all cells that they cover.
//! - Where no agent makes the straight way uncomfortable and no wall crosses it, no other can cost less, and the field is not
//!   solved (`shortcut`); what touches a wall slides along it.
//! - ε·d is bounded: where nearness to the group outweighed everything else, its middle would be the only goal there is.
//!
//! People avoid one another by the field alone, as the paper says, where a person costs more than a way around: through the middle
//! of one who stands it is σ = 3.6 s/m², and at the default γ half a metre of that as much as five metres of empty ground, which
//! is more than a way around costs within the field. With a twelfth of it they walked through one another: that much is left
//! between those who walk together. Then a dense crowd that stands is a wall for some: those who are to go through one have a
//! high α (figure 4). What overlaps are left, in doors and dense streams, are taken back by the motion stage (`params.contact`).

mod eikonal;
mod field;

use crate::LocalModel;
use crate::around::{Around, Ego, Reach};
use crate::stage::Scene;
use crate::velocity_obstacle::{closest, wall_planes};
use eikonal::SIDE;
use fearless_simd::Simd;
use field::{Company, Weights};
use glam::Vec2;
use throng_core::params::Draw;

pub use field::Perception;

throng_core::params! {
    /// A field of perception for every agent: it goes down the slope of a small field of costs around it, as fast as the flow ahead.
    pub struct Hybrid("hybrid") {
        /// Side of a cell of the perception field, which has 16 a side.
        cell: f32 = 0.5, "m", Limit::from(0.05).up_to(100.0);
        /// How many times its size the field grows at most where there is room: it reaches twice as far as the space around is free, by larger cells, so that it costs the same. 1: it does not. Others must be within `neighbor_distance` to be perceived.
        scope: f32 = 1.0, "", Limit::from(1.0).up_to(16.0);
        /// Weight of a path's length (α).
        length: Draw = Draw::Fixed(1.0), "1/m", Limit::from(0.0).up_to(1000.0);
        /// Weight of the time that it takes (β).
        time: Draw = Draw::Fixed(1.0), "1/s", Limit::from(0.0).up_to(1000.0);
        /// Weight of others' closeness (γ). Beside 1 for length and time: less, and a person is sooner walked through than around.
        discomfort: Draw = Draw::Fixed(6.0), "m2/s", Limit::from(0.0).up_to(1000.0);
        /// Weight of the distance to the middle of those it walks together with (ε).
        cohesion: Draw = Draw::Fixed(3.0), "1/m2", Limit::from(0.0).up_to(1000.0);
        /// How far ahead others are advanced, in equal parts that each count with where they are at its beginning.
        look: f32 = 2.0, "s", Limit::from(0.0).up_to(60.0);
        /// Number of these parts (τ).
        steps: usize = 8, "", Limit::from(1.0).up_to(64.0);
        /// How far ahead the flow is read.
        offset: f32 = 0.8, "m", Limit::from(0.0).up_to(100.0);
        /// Below this density ahead an agent walks as fast as it prefers.
        free_density: f32 = 0.6, "1/m2", Limit::from(0.0).up_to(100.0);
        /// From this density on it walks as fast as the flow; where it is below the one above, that one counts.
        full_density: f32 = 2.0, "1/m2", Limit::above(0.0).up_to(100.0);
        /// The part of its preferred speed that no agent falls below, however the crowd ahead flows and whichever others are left behind: two who read that the other stands would stand for ever.
        creep: f32 = 0.15, "", Limit::from(0.0).up_to(1.0);
        /// How long it takes to change velocity where something is in the way.
        relaxation: f32 = 0.25, "s", Limit::from(0.0).up_to(100.0);
        /// An agent that is further than this ahead of the middle of those it walks together with, or twice as far ahead of the last one, waits for them. Of four; more of them take more room.
        wait: f32 = 0.7, "m", Limit::above(0.0).up_to(1000.0);
        /// Whether the field is left out where no agent is in the straight way. It finds the same, but for its cells; only time is spared.
        shortcut: bool = true, "", Limit::from(0.0);
        /// Others further away than this are not perceived.
        neighbor_distance: f32 = 5.0, "m", Limit::from(0.0).up_to(1000.0);
        /// At most this many others are perceived, the nearest ones.
        max_neighbors: usize = 16, "", Limit::from(0.0).up_to(64.0);
        /// How far ahead walls are perceived.
        time_horizon_obstacles: f32 = 2.5, "s", Limit::above(0.0).up_to(1000.0);
    }
}

impl LocalModel for Hybrid {
    fn reach(&self) -> Reach {
        Reach {
            neighbor_distance: self.neighbor_distance,
            max_neighbors: self.max_neighbors,
            time_horizon_obstacles: self.time_horizon_obstacles,
            walls_ahead: TOUCH,
        }
    }

    fn reads_flow(&self) -> bool {
        true
    }

    /// Less for an agent that is ahead of those it walks together with. No agent waits for ever for those who are lost.
    #[inline(always)]
    fn pace(&self, scene: Scene<'_>, ego: &Ego) -> f32 {
        let Some(mates) = scene.mates(ego.row) else { return 1.0 };
        let company = Company::of(mates, ego.position);
        // A single slow one hardly moves the middle of many: of two, the middle is half as far behind as the other is.
        let ahead = ego.preferred.normalize_or_zero();
        let behind = |place: Vec2| -place.dot(ahead);
        let lead = behind(company.middle).max(0.5 * behind(mates.last - ego.position)) - company.room;
        (2.0 - lead / self.wait).clamp(self.creep, 1.0)
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, simd: S, scene: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        let preferred = ego.preferred;
        let speed = preferred.length();
        let hurries = self.shortcut && scene.mates(ego.row).is_none();
        if speed == 0.0 || hurries && around.others.len == 0 && around.walls.is_empty() {
            return preferred;
        }
        let ahead = preferred / speed;
        let weights = self.perceive(simd, scene, ego, around, preferred);
        let is_free =
            hurries && around.perception.is_free_ahead() && !self.is_walled(scene, ego, around, ahead);
        let direction = if is_free {
            ahead
        } else {
            self.solve(simd, &scene, ego, around, (&weights, speed), false);
            // Where everything around is closed, walls are for the motion to keep.
            around.perception.downhill().unwrap_or(ahead)
        };
        let chosen = direction * self.speed(scene, ego, direction, speed);
        // The slope turns from step to step, the straight way does not.
        let velocity = match is_free {
            true => chosen,
            false => ego.velocity + (chosen - ego.velocity) * (ego.dt / self.relaxation.max(ego.dt)),
        };
        along_walls(simd, ego, around, velocity)
    }

    /// The whole field: to choose, little of it is needed, or nothing.
    #[inline(always)]
    fn show<S: Simd>(&self, simd: S, scene: Scene<'_>, ego: &Ego, around: &mut Around) {
        let preferred = ego.preferred;
        if preferred != Vec2::ZERO {
            let weights = self.perceive(simd, scene, ego, around, preferred);
            self.solve(simd, &scene, ego, around, (&weights, preferred.length()), true);
        }
    }
}

/// The permitted velocity closest to one: cells are too coarse to say how to go along a wall that is touched.
#[inline(always)]
fn along_walls<S: Simd>(simd: S, ego: &Ego, around: &mut Around, velocity: Vec2) -> Vec2 {
    let Around { walls, planes, projected, .. } = around;
    planes.clear();
    if walls.is_empty() {
        return velocity;
    }
    wall_planes(ego, walls, TOUCH, planes);
    closest(simd, planes, projected, velocity, ego.max_speed)
}

/// Which part of the discomfort that a stranger makes one makes whom the agent walks together with: of a whole one the nearness to
/// their middle would be worth nothing, and the group would part (figure 5).
const MATE: f32 = 1.0 / 12.0;
/// How long before it is touched a wall turns a velocity aside, s.
const TOUCH: f32 = 0.3;

impl Hybrid {
    /// Lays the field along the way that the agent wants to go, with the discomfort that others make in it.
    #[inline(always)]
    fn perceive<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        ego: &Ego,
        around: &mut Around,
        preferred: Vec2,
    ) -> Weights {
        let weights = self.weights(scene, ego.row);
        let speed = preferred.length();
        around.perception.begin(
            self.side_of_a_cell(ego, around),
            preferred / speed,
            weights.cost_of_a_metre(speed),
        );
        let (cohorts, rows) = (&scene.view.agents.cohort, &around.others.row);
        let together = scene.view.cohorts[cohorts[ego.row] as usize].together;
        let is_mate = |row: u32| together && cohorts.get(row as usize) == Some(&cohorts[ego.row]);
        let counts = |i: usize| if is_mate(rows[i]) { MATE } else { 1.0 };
        around.perception.add_others(simd, &around.others, counts, (self.look, self.steps));
        weights
    }

    /// The paper's future work: the field's range follows the free space around, and the number of its cells is the budget.
    #[inline(always)]
    fn side_of_a_cell(&self, ego: &Ego, around: &Around) -> f32 {
        if self.scope <= 1.0 {
            return self.cell;
        }
        let others = &around.others;
        let bodies = (0..others.len).map(|i| others.towards(i).length() - others.reach[i]);
        let walls = around.walls.iter().map(|wall| wall.closest(ego.position).distance(ego.position));
        let free = bodies.chain(walls).fold(f32::INFINITY, f32::min);
        let reach = self.cell * (SIDE / 2) as f32;
        self.cell * (2.0 * free / reach).clamp(1.0, self.scope)
    }

    /// Finds what is left of the way from where the agent stands, or from everywhere in the field. Not inlined: it is long,
    /// and called to choose and to show.
    #[inline(never)]
    fn solve<S: Simd>(
        &self,
        simd: S,
        scene: &Scene<'_>,
        ego: &Ego,
        around: &mut Around,
        (weights, speed): (&Weights, f32),
        whole: bool,
    ) {
        let perception = &mut around.perception;
        let company = scene.mates(ego.row).map(|mates| Company::of(mates, ego.position));
        let distance = scene.intents.aim[ego.row].distance(ego.position);
        // Also those that do not face the agent: within a doorway the walls beside it are still in the way.
        let walls = self.reach().walls(scene.view, ego);
        simd.vectorize(
            #[inline(always)]
            || {
                perception.weigh(simd, weights, speed, company);
                perception.add_walls(simd, walls, ego.position, ego.radius, distance);
                perception.solve(simd, distance, whole);
            },
        );
    }

    /// Whether a wall crosses the straight way to the next stop within the field: not all who plan routes mind walls.
    fn is_walled(&self, scene: Scene<'_>, ego: &Ego, around: &Around, ahead: Vec2) -> bool {
        let reach = around.perception.cell * (SIDE / 2) as f32;
        let distance = scene.intents.aim[ego.row].distance(ego.position).min(reach);
        let end = ego.position + ahead * distance;
        around.walls.iter().any(|wall| wall.blocks(ego.position, end))
    }

    /// How an agent weighs its ways: its own draws.
    fn weights(&self, scene: Scene<'_>, row: usize) -> Weights {
        let draws = [self.length, self.time, self.discomfort, self.cohesion];
        let (seed, id) = (scene.view.seed, scene.view.agents.id[row]);
        let mut parameter = 0;
        let [length, time, discomfort, cohesion] = draws.map(|draw| {
            parameter += 1;
            draw.of(seed, id, parameter)
        });
        Weights { length, time, discomfort, cohesion }
    }

    /// Equation 2: as fast as preferred where it is empty ahead, as the flow where it is dense.
    #[inline(always)]
    fn speed(&self, scene: Scene<'_>, ego: &Ego, direction: Vec2, preferred: f32) -> f32 {
        let Some(flow) = &scene.intents.flow else { return preferred };
        let there = flow.read(scene.view, ego.position + self.offset * direction, Some(ego.row));
        let dense = (there.density - self.free_density) / (self.full_density - self.free_density).max(1e-3);
        let along = there.velocity.dot(direction).clamp(self.creep * preferred, preferred);
        preferred + (along - preferred) * dense.clamp(0.0, 1.0)
    }
}
