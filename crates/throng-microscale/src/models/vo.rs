//! # Velocity obstacles (Fiorini & Shiller 1998; Snape et al. 2012, section 2.A)
//! The other is expected to keep its velocity, so the cone's apex is that velocity.

use crate::LocalModel;
use crate::around::{Around, Ego, Reach};
use crate::stage::Scene;
use crate::together::Together;
use crate::velocity_obstacle::{choose_outside, choose_outside_together, cone_towards};
use fearless_simd::{Simd, f32x16, prelude::*};
use glam::Vec2;

throng_core::params! {
    /// Velocity obstacles: others are expected to keep their velocity.
    pub struct Vo("vo") {
        /// How far ahead collisions with walls count.
        time_horizon_obstacles: f32 = 1.0, "s", Limit::above(0.0).up_to(1000.0);
        /// Others further away than this do not count.
        neighbor_distance: f32 = 5.0, "m", Limit::from(0.0).up_to(1000.0);
        /// At most this many others count, the nearest ones.
        max_neighbors: usize = 10, "", Limit::from(0.0).up_to(64.0);
    }
}

impl LocalModel for Vo {
    const CHOOSES_TOGETHER: bool = true;

    fn reach(&self) -> Reach {
        Reach {
            neighbor_distance: self.neighbor_distance,
            max_neighbors: self.max_neighbors,
            time_horizon_obstacles: self.time_horizon_obstacles,
            walls_ahead: self.time_horizon_obstacles,
        }
    }

    #[inline(always)]
    fn choose_together<S: Simd>(&self, simd: S, together: &mut Together) {
        let one = f32x16::splat(simd, 1.0);
        choose_outside_together(
            simd,
            together,
            #[inline(always)]
            |pairs| pairs.cones(simd, pairs.other_velocity, one),
        );
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, simd: S, _scene: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        choose_outside(simd, ego, around, self.time_horizon_obstacles, |others, other| {
            let (towards, reach) = (others.towards(other), others.reach[other]);
            cone_towards(ego, towards, reach, others.velocity(other), 1.0, others.part[other])
        })
    }
}
