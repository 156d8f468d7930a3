//! # Anticipation velocity (Xu, Chraibi, Seyfried 2021: Anticipation in a velocity-based model for pedestrian dynamics)
//! The speed is that of the collision-free speed model. The direction is turned, sideways only, by those in sight: by how close
//! they will be after the time of anticipation (equations 2 to 4), to the side on which they will not be (5), and the more the
//! more they walk against one (4). It follows with the time of reaction (7).
//!
//! Walls are JuPedSim's: nearer than the buffer an agent glides along them with a push outwards, and from twice that distance on
//! the part of its direction that leads into them fades. The paper's walls push, and hold agents in the middle of narrow ways.
//! Parameters and their defaults are those of JuPedSim 1.4, beside which it is tested.
//!
//! Deviations: others count up to `neighbor_distance` and `max_neighbors`, and not through walls, as in JuPedSim. Who stands has
//! no direction to remember: he is taken to face where he wants to go. Scripted bodies that stand face nowhere.

use crate::LocalModel;
use crate::around::{Around, Ego, Reach};
use crate::repulsion::{
    direction_and_gap, direction_and_gap_to_wall, free_ahead, optimal_speed, push, reach,
};
use crate::stage::Scene;
use fearless_simd::Simd;
use glam::Vec2;
use throng_core::geom::{left, unit_or};
use throng_core::rng::{self, Purpose};
use throng_core::space::Wall;

throng_core::params! {
    /// Anticipation velocity: turned aside by where others will be, as fast as the gap ahead is covered in a time gap.
    pub struct AnticipationVelocity("anticipation-velocity") {
        /// An agent needs at least this long to cover the gap to the next body in its way.
        time_gap: f32 = 1.06, "s", Limit::above(0.0).up_to(100.0);
        /// How far ahead agents foresee where others will be.
        anticipation_time: f32 = 1.0, "s", Limit::from(0.0).up_to(100.0);
        /// How long it takes to turn.
        reaction_time: f32 = 0.3, "s", Limit::above(0.0).up_to(100.0);
        /// How much one that will touch turns the direction, where the wish counts 1; twice that where it walks against one.
        strength_neighbor_repulsion: f32 = 8.0, "", Limit::from(0.0).up_to(1000.0);
        /// The gap over which that falls by a factor of e.
        range_neighbor_repulsion: f32 = 0.1, "m", Limit::above(0.0).up_to(100.0);
        /// The gap to walls that agents keep.
        wall_buffer_distance: f32 = 0.1, "m", Limit::from(0.0).up_to(100.0);
        /// How much they turn outwards where it is less.
        pushout_strength: f32 = 0.3, "", Limit::from(0.0).up_to(1000.0);
        /// Others further away than this do not count.
        neighbor_distance: f32 = 3.0, "m", Limit::from(0.0).up_to(1000.0);
        /// At most this many others count, the nearest ones.
        max_neighbors: usize = 32, "", Limit::from(0.0).up_to(64.0);
    }
}

/// Slower than this (m/s) an agent stands, and the direction of its velocity says nothing.
const STANDING: f32 = 1e-4;

impl LocalModel for AnticipationVelocity {
    fn reach(&self) -> Reach {
        reach(self.neighbor_distance, self.max_neighbors)
    }

    fn keeps_distance(&self) -> bool {
        true
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, _: S, scene: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        let wanted = ego.preferred.length().min(ego.max_speed);
        if wanted == 0.0 {
            return Vec2::ZERO;
        }
        let wish = ego.preferred.normalize_or_zero();
        let facing = facing(ego.velocity, wish);
        let turned = self.react(ego, wish, facing, self.direction(scene, ego, around, wish, facing));
        let along = self.along_walls(ego, around.walls.first(), turned);
        along * optimal_speed(wanted, free_ahead(&around.others, along), self.time_gap)
    }
}

/// Where an agent faces that has a velocity and a wish.
#[inline(always)]
fn facing(velocity: Vec2, wish: Vec2) -> Vec2 {
    let speed = velocity.length();
    if speed > STANDING { velocity / speed } else { wish }
}

impl AnticipationVelocity {
    /// Equations 1 to 6: which way those in sight let the agent want to go.
    #[inline(always)]
    fn direction(&self, scene: Scene<'_>, ego: &Ego, around: &Around, wish: Vec2, facing: Vec2) -> Vec2 {
        let others = &around.others;
        // All pushes are along one line, to the left or to the right of the wish.
        let mut to_left = 0.0;
        for i in 0..others.len {
            let (towards, gap) = direction_and_gap(others, i);
            if wish.dot(towards) < 0.0 && facing.dot(towards) < 0.0 {
                continue;
            }
            let velocity = others.velocity(i);
            let closing = (ego.velocity - velocity).dot(towards) * self.anticipation_time;
            let against = 0.5 * (1.0 - wish.dot(their_facing(scene, others.row[i], velocity)));
            let strength = self.strength_neighbor_repulsion * (1.0 + against);
            let foreseen = others.towards(i) + velocity * self.anticipation_time;
            let push = push(strength, (gap - closing).max(0.0), self.range_neighbor_repulsion);
            to_left -= side(scene, ego, left(wish).dot(foreseen)) * push;
        }
        (wish + left(wish) * to_left).normalize_or(wish)
    }

    /// Equation 7: the direction follows, unless it changes between towards the goal and away from it.
    #[inline(always)]
    fn react(&self, ego: &Ego, wish: Vec2, facing: Vec2, direction: Vec2) -> Vec2 {
        if wish.dot(direction) * wish.dot(facing) < 0.0 {
            return direction;
        }
        let part = (ego.dt / self.reaction_time).min(1.0);
        unit_or(facing + (direction - facing) * part, direction)
    }

    /// Glides along the nearest wall.
    #[inline(always)]
    fn along_walls(&self, ego: &Ego, nearest: Option<&Wall>, direction: Vec2) -> Vec2 {
        let found = nearest.and_then(|wall| Some((wall, direction_and_gap_to_wall(ego, wall)?)));
        let Some((wall, (towards, gap))) = found else { return direction };
        let (critical, distance) = (ego.radius + self.wall_buffer_distance, gap + ego.radius);
        let along = unit_or(wall.b - wall.a, Vec2::ZERO);
        let parallel = along * direction.dot(along);
        if distance < critical {
            unit_or(parallel - towards * self.pushout_strength, direction)
        } else if distance < 2.0 * critical && direction.dot(towards) > 0.0 {
            let fading = (distance - critical) / critical;
            unit_or(parallel + (direction - parallel) * fading, direction)
        } else {
            direction
        }
    }
}

/// Where somebody else faces.
#[inline(always)]
fn their_facing(scene: Scene<'_>, row: u32, velocity: Vec2) -> Vec2 {
    let is_agent = (row as usize) < scene.view.agents.len();
    let wish = if is_agent { scene.intents.velocity(row as usize) } else { Vec2::ZERO };
    facing(velocity, wish.normalize_or_zero())
}

/// 1 where a place lies to the left, -1 to the right. Straight ahead the paper draws lots.
#[inline(always)]
fn side(scene: Scene<'_>, ego: &Ego, to_left: f32) -> f32 {
    if to_left.abs() > 1e-6 {
        return to_left.signum();
    }
    let view = scene.view;
    let mut lot = rng::stream(view.seed, view.agents.id[ego.row], view.step, Purpose::Tie);
    if lot.f64() < 0.5 { 1.0 } else { -1.0 }
}
