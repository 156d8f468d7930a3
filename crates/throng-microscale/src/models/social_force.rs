//! # Social force (Helbing, Farkas, Vicsek 2000: Simulating dynamical features of escape panic)
//! An agent is driven towards its wish within the time of reaction (equation 1) and repelled by others and by walls: by a social
//! force A exp(-gap / B), and where bodies touch by a body force k and a sliding friction κ, both as large as the overlap (equations
//! 2 and 3). Parameters and their defaults are those of the paper and of JuPedSim 1.4, beside which it is tested.
//!
//! **Steps of 0.1 s.** Velocities are integrated as in JuPedSim, each body by the forces where it is and then moved with the new
//! velocity, which is exact to the second order. But bodies in touch swing with √(2 k / m), 55 /s, and such a step is unstable
//! beyond 2 / 55 s. So what a step changes is divided, along the directions in which pushes stiffen, by as much as they exceed
//! what is stable: a body is as heavy there as the step needs (selective mass scaling). No balance of forces moves by that, and
//! where nothing is stiff not a bit changes. Pushes of an equal are counted twice, because it gives way as much.
//!
//! Deviations: speeds end at an agent's highest. Others count up to `neighbor_distance` and `max_neighbors`, and not through
//! walls, where JuPedSim has them push. Friction of walls brakes, as in the paper; in JuPedSim 1.4 it speeds up. Who waits for its
//! start stands.
//!
//! Shortfall: on `footsteps` the velocity that forces add to sways with every step, and an agent walks a seventh too fast.

use crate::LocalModel;
use crate::around::{Around, Ego, Reach};
use crate::repulsion::{direction_and_gap, direction_and_gap_to_wall, push, reach};
use crate::stage::Scene;
use fearless_simd::Simd;
use glam::Vec2;
use throng_core::geom::{at_most, left};
use throng_core::world::Status;

throng_core::params! {
    /// Social force: driven towards its wish, repelled by others and by walls, with friction between bodies that touch.
    pub struct SocialForce("social-force") {
        /// m of the paper.
        mass: f32 = 80.0, "kg", Limit::from(1.0).up_to(10000.0);
        /// Within this an agent gets to the velocity that it wants, τ of the paper.
        reaction_time: f32 = 0.5, "s", Limit::above(0.0).up_to(100.0);
        /// The force with which one that touches repels, A of the paper.
        agent_scale: f32 = 2000.0, "N", Limit::from(0.0).up_to(100000.0);
        /// The same of a wall.
        obstacle_scale: f32 = 2000.0, "N", Limit::from(0.0).up_to(100000.0);
        /// The gap over which these fall by a factor of e, B of the paper.
        force_distance: f32 = 0.08, "m", Limit::from(0.01).up_to(100.0);
        /// How hard bodies are, k of the paper.
        body_force: f32 = 120000.0, "kg/s2", Limit::from(0.0).up_to(1e7);
        /// Friction of bodies that touch, κ of the paper.
        friction: f32 = 240000.0, "kg/(m s)", Limit::from(0.0).up_to(1e7);
        /// Others further away than this do not count.
        neighbor_distance: f32 = 2.5, "m", Limit::from(0.0).up_to(1000.0);
        /// At most this many others count, the nearest ones.
        max_neighbors: usize = 32, "", Limit::from(0.0).up_to(64.0);
    }
}

impl LocalModel for SocialForce {
    fn reach(&self) -> Reach {
        reach(self.neighbor_distance, self.max_neighbors)
    }

    fn keeps_distance(&self) -> bool {
        true
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, _: S, scene: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        if scene.view.agents.status[ego.row] == Status::Waiting {
            return Vec2::ZERO;
        }
        let others = &around.others;
        let mut pushes = Pushes::default();
        for i in 0..others.len {
            let is_agent = (others.row[i] as usize) < scene.view.agents.len();
            let gives_way = if is_agent { 1.0 } else { 0.0 };
            let relative = ego.velocity - others.velocity(i);
            pushes.add(self, ego.dt, direction_and_gap(others, i), self.agent_scale, relative, gives_way);
        }
        for found in around.walls.iter().filter_map(|wall| direction_and_gap_to_wall(ego, wall)) {
            pushes.add(self, ego.dt, found, self.obstacle_scale, ego.velocity, 0.0);
        }
        let drive = (ego.preferred - ego.velocity) * (ego.dt / self.reaction_time).min(1.0);
        let change = pushes.stiffness.limit(drive + pushes.acceleration * ego.dt);
        at_most(ego.velocity + change, ego.max_speed)
    }
}

/// What all others and walls do to an agent.
#[derive(Default)]
struct Pushes {
    /// m/s².
    acceleration: Vec2,
    stiffness: Stiffness,
}

impl Pushes {
    /// Adds that of one body or wall, which lies in a direction across a gap. `gives_way` is 1 where it is pushed back as much.
    #[inline(always)]
    fn add(
        &mut self,
        model: &SocialForce,
        dt: f32,
        (towards, gap): (Vec2, f32),
        scale: f32,
        relative_velocity: Vec2,
        gives_way: f32,
    ) {
        let (overlap, along) = ((-gap).max(0.0), left(towards));
        let social = push(scale, gap, model.force_distance);
        let slide = model.friction * overlap;
        let force =
            towards * (social + model.body_force * overlap) + along * (slide * relative_velocity.dot(along));
        self.acceleration -= force / model.mass;
        let body = if overlap > 0.0 { model.body_force } else { 0.0 };
        let per_mass = dt * (1.0 + gives_way) / model.mass;
        self.stiffness.add(towards, per_mass * dt * (social / model.force_distance + body));
        self.stiffness.add(along, per_mass * slide);
    }
}

/// How much of a change of velocity is taken back within the same step, by direction: a symmetric matrix.
#[derive(Default)]
struct Stiffness {
    xx: f32,
    xy: f32,
    yy: f32,
}

impl Stiffness {
    /// Swings and brakes are stable up to 4 and 2; at this neither grows.
    const MOST: f32 = 2.0;

    #[inline(always)]
    fn add(&mut self, along: Vec2, much: f32) {
        self.xx += much * along.x * along.x;
        self.xy += much * along.x * along.y;
        self.yy += much * along.y * along.y;
    }

    /// A change of velocity, less along the directions in which it would be taken back by more than is stable.
    #[inline(always)]
    fn limit(&self, change: Vec2) -> Vec2 {
        let (mean, half) = (0.5 * (self.xx + self.yy), 0.5 * (self.xx - self.yy));
        let spread = (half * half + self.xy * self.xy).sqrt();
        let (stiff, soft) = (mean + spread, mean - spread);
        if stiff <= Self::MOST {
            return change;
        }
        let part = |stiffness: f32| Self::MOST / stiffness.max(Self::MOST);
        // The part of the change along the stiffer of the two directions that the matrix leaves as they are.
        let deviation = Vec2::new(half * change.x + self.xy * change.y, self.xy * change.x - half * change.y);
        let along_stiff = 0.5 * (change + deviation / spread.max(f32::MIN_POSITIVE));
        along_stiff * part(stiff) + (change - along_stiff) * part(soft)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_limited_only_where_it_is_stiff() {
        let mut stiffness = Stiffness::default();
        stiffness.add(Vec2::X, 1.5);
        assert_eq!(stiffness.limit(Vec2::new(3.0, -2.0)), Vec2::new(3.0, -2.0));
        let along = Vec2::new(0.6, 0.8);
        let mut stiffness = Stiffness::default();
        stiffness.add(along, 20.0);
        stiffness.add(left(along), 4.0);
        let limited = stiffness.limit(3.0 * along - 2.0 * left(along));
        assert!(limited.distance(0.3 * along - left(along)) < 1e-5, "{limited}");
    }

    #[test]
    fn what_is_equally_stiff_all_around_is_limited_alike() {
        let mut stiffness = Stiffness::default();
        stiffness.add(Vec2::X, 8.0);
        stiffness.add(Vec2::Y, 8.0);
        assert!(stiffness.limit(Vec2::new(4.0, -8.0)).distance(Vec2::new(1.0, -2.0)) < 1e-5);
    }
}
