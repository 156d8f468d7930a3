//! # Collision-free speed (Tordeux, Chraibi, Seyfried 2015: Collision-free speed model for pedestrian dynamics)
//! The speed follows from the spacing to the nearest body ahead, V(s) = min(v0, max(0, (s - l) / T)) (their equation 2); the
//! direction is the wanted one, turned by pushes of all others and of walls that fall exponentially with the distance (equations
//! 4 and 5). Parameters and their defaults are those of JuPedSim 1.4, beside which it is tested.
//!
//! Deviations: others count up to `neighbor_distance` and `max_neighbors`, and not through walls, as in JuPedSim. Somebody beside,
//! neither ahead nor behind, is not in the way. An agent that wants to stand stands: pushes turn a walk, they do not begin one.

use crate::LocalModel;
use crate::around::{Around, Ego, Reach};
use crate::repulsion::{
    direction_and_gap, direction_and_gap_to_wall, free_ahead, optimal_speed, push, reach,
};
use crate::stage::Scene;
use fearless_simd::Simd;
use glam::Vec2;
use throng_core::geom::unit_or;

throng_core::params! {
    /// Collision-free speed: as fast as the gap ahead is covered in a time gap, turned by pushes of others and of walls.
    pub struct CollisionFreeSpeed("collision-free-speed") {
        /// An agent needs at least this long to cover the gap to the next body in its way.
        time_gap: f32 = 1.0, "s", Limit::above(0.0).up_to(100.0);
        /// How much one that touches turns the direction, where the wish counts 1.
        strength_neighbor_repulsion: f32 = 8.0, "", Limit::from(0.0).up_to(1000.0);
        /// The gap over which that falls by a factor of e.
        range_neighbor_repulsion: f32 = 0.1, "m", Limit::above(0.0).up_to(100.0);
        /// How much a wall that is touched turns the direction.
        strength_geometry_repulsion: f32 = 5.0, "", Limit::from(0.0).up_to(1000.0);
        /// The gap over which that falls by a factor of e.
        range_geometry_repulsion: f32 = 0.02, "m", Limit::above(0.0).up_to(100.0);
        /// Others further away than this do not count.
        neighbor_distance: f32 = 3.0, "m", Limit::from(0.0).up_to(1000.0);
        /// At most this many others count, the nearest ones.
        max_neighbors: usize = 32, "", Limit::from(0.0).up_to(64.0);
    }
}

impl LocalModel for CollisionFreeSpeed {
    fn reach(&self) -> Reach {
        reach(self.neighbor_distance, self.max_neighbors)
    }

    fn keeps_distance(&self) -> bool {
        true
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, _: S, _: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        let wanted = ego.preferred.length().min(ego.max_speed);
        if wanted == 0.0 {
            return Vec2::ZERO;
        }
        let along = self.direction(ego, around);
        along * optimal_speed(wanted, free_ahead(&around.others, along), self.time_gap)
    }
}

impl CollisionFreeSpeed {
    #[inline(always)]
    fn direction(&self, ego: &Ego, around: &Around) -> Vec2 {
        let wish = ego.preferred.normalize_or_zero();
        let mut sum = wish;
        for i in 0..around.others.len {
            let (towards, gap) = direction_and_gap(&around.others, i);
            sum -= towards * push(self.strength_neighbor_repulsion, gap, self.range_neighbor_repulsion);
        }
        for (towards, gap) in around.walls.iter().filter_map(|wall| direction_and_gap_to_wall(ego, wall)) {
            sum -= towards * push(self.strength_geometry_repulsion, gap, self.range_geometry_repulsion);
        }
        unit_or(sum, wish)
    }
}
