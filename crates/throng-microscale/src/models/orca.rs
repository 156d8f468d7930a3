//! # Optimal reciprocal collision avoidance (van den Berg et al. 2011; Snape et al. 2012, section 2.C)
//! A half-plane per wall and per other, and the permitted velocity closest to the preferred one.

use crate::LocalModel;
use crate::around::{Around, Ego, Reach};
use crate::stage::Scene;
use crate::together::Together;
use crate::velocity_obstacle::{closest, closest_together, peer_planes, peer_planes_together, wall_planes};
use fearless_simd::Simd;
use glam::Vec2;

throng_core::params! {
    /// Optimal reciprocal collision avoidance: a half-plane of permitted velocities per neighbour, solved by linear programming.
    pub struct Orca("orca") {
        /// How far ahead collisions with others count.
        time_horizon: f32 = 3.0, "s", Limit::above(0.0).up_to(1000.0);
        /// How far ahead collisions with walls count.
        time_horizon_obstacles: f32 = 1.0, "s", Limit::above(0.0).up_to(1000.0);
        /// Others further away than this do not count.
        neighbor_distance: f32 = 5.0, "m", Limit::from(0.0).up_to(1000.0);
        /// At most this many others count, the nearest ones.
        max_neighbors: usize = 10, "", Limit::from(0.0).up_to(64.0);
    }
}

impl LocalModel for Orca {
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
        peer_planes_together(simd, together, self.time_horizon);
        closest_together(simd, together);
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, simd: S, _scene: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        around.planes.clear();
        wall_planes(ego, &around.walls, self.time_horizon_obstacles, &mut around.planes);
        peer_planes(simd, ego, &around.others, self.time_horizon, &mut around.planes);
        closest(simd, &around.planes, &mut around.projected, ego.preferred, ego.max_speed)
    }
}
