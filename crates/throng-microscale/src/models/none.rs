//! # No avoidance
//! The preferred velocity as it is: the yardstick of a free way.

use crate::LocalModel;
use crate::around::{Around, Ego, Reach};
use crate::stage::Scene;
use fearless_simd::Simd;
use glam::Vec2;
use throng_core::geom::at_most;

throng_core::params! {
    /// No avoidance: every agent takes its preferred velocity.
    pub struct Unaware("none") {
    }
}

impl LocalModel for Unaware {
    fn reach(&self) -> Reach {
        Reach { neighbor_distance: 0.0, max_neighbors: 0, time_horizon_obstacles: 0.0, walls_ahead: 0.0 }
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, _: S, _scene: Scene<'_>, ego: &Ego, _: &mut Around) -> Vec2 {
        at_most(ego.preferred, ego.max_speed)
    }
}
