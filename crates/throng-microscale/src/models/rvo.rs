//! # Reciprocal velocity obstacles (van den Berg et al. 2008; Snape et al. 2012, section 2.A)
//! The other takes on its part of the avoidance, so the apex lies between both velocities, by the shares.

use crate::LocalModel;
use crate::around::{Around, Ego, Reach};
use crate::stage::Scene;
use crate::together::Together;
use crate::velocity_obstacle::{choose_outside, choose_outside_together, cone_towards};
use fearless_simd::Simd;
use glam::Vec2;

throng_core::params! {
    /// Reciprocal velocity obstacles: others are expected to take on their share of an avoidance.
    pub struct Rvo("rvo") {
        /// How far ahead collisions with walls count.
        time_horizon_obstacles: f32 = 1.0, "s", Limit::above(0.0).up_to(1000.0);
        /// Others further away than this do not count.
        neighbor_distance: f32 = 5.0, "m", Limit::from(0.0).up_to(1000.0);
        /// At most this many others count, the nearest ones.
        max_neighbors: usize = 10, "", Limit::from(0.0).up_to(64.0);
    }
}

impl LocalModel for Rvo {
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
        choose_outside_together(
            simd,
            together,
            #[inline(always)]
            |pairs| pairs.cones(simd, pairs.between(simd, pairs.share), pairs.share),
        );
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, simd: S, _scene: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        choose_outside(simd, ego, around, self.time_horizon_obstacles, |others, other| {
            let (towards, reach, share) = (others.towards(other), others.reach[other], others.share[other]);
            let apex = ego.velocity.lerp(others.velocity(other), share);
            cone_towards(ego, towards, reach, apex, share, others.part[other])
        })
    }
}
