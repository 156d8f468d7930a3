//! # Hybrid reciprocal velocity obstacles (Snape et al. 2011; 2012, section 2.B)
//! The side that the agent should not pass on is taken from VO, the other from RVO: one that is on the right of the
//! centre line goes right.

use crate::LocalModel;
use crate::around::{Around, Ego, Others, Reach};
use crate::stage::Scene;
use crate::together::Together;
use crate::velocity_obstacle::{ConeLanes, Pairs, choose_outside, choose_outside_together, cone_towards};
use fearless_simd::{Simd, f32x16, prelude::*};
use glam::Vec2;
use throng_core::geom::{Cone, det, lanes};

throng_core::params! {
    /// Hybrid reciprocal velocity obstacles: one side from VO, one from RVO, so that both pass on the same side.
    pub struct Hrvo("hrvo") {
        /// How far ahead collisions with walls count.
        time_horizon_obstacles: f32 = 1.0, "s", Limit::above(0.0).up_to(1000.0);
        /// Others further away than this do not count.
        neighbor_distance: f32 = 5.0, "m", Limit::from(0.0).up_to(1000.0);
        /// At most this many others count, the nearest ones.
        max_neighbors: usize = 10, "", Limit::from(0.0).up_to(64.0);
    }
}

impl LocalModel for Hrvo {
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
            |pairs| cones(simd, pairs),
        );
    }

    #[inline(always)]
    fn choose<S: Simd>(&self, simd: S, _scene: Scene<'_>, ego: &Ego, around: &mut Around) -> Vec2 {
        choose_outside(simd, ego, around, self.time_horizon_obstacles, |others, other| {
            cone(ego, others, other)
        })
    }
}

fn cone(ego: &Ego, others: &Others, other: usize) -> Cone {
    let (towards, reach, share) = (others.towards(other), others.reach[other], others.share[other]);
    let reciprocal_apex = ego.velocity.lerp(others.velocity(other), share);
    let reciprocal = cone_towards(ego, towards, reach, reciprocal_apex, share, others.part[other]);
    let sine = det(reciprocal.right, reciprocal.left);
    if towards.length_squared() <= reach * reach || sine <= 1e-6 {
        return reciprocal;
    }
    // Sides are parallel in both cones, so the apex slides along the reciprocal side until it meets the other's.
    let gap = others.velocity(other) - reciprocal_apex;
    let on_the_left = det(towards, ego.velocity - reciprocal_apex) > 0.0;
    let apex = if on_the_left {
        reciprocal_apex + reciprocal.left * (det(reciprocal.right, gap) / sine)
    } else {
        reciprocal_apex + reciprocal.right * (det(gap, reciprocal.left) / sine)
    };
    Cone { apex, ..reciprocal }
}

/// The same of many pairs at once.
#[inline(always)]
fn cones<S: Simd>(simd: S, pairs: &Pairs<S>) -> ConeLanes<S> {
    let apex = pairs.between(simd, pairs.share);
    let reciprocal = pairs.cones(simd, apex, pairs.share);
    let ConeLanes { left, right, apart, .. } = reciprocal;
    let sine = lanes::det(right, left);
    let slides = apart & sine.simd_gt(f32x16::splat(simd, 1e-6));
    let gap = lanes::less(pairs.other_velocity, apex);
    let (to_left, to_right) = (lanes::det(right, gap) / sine, lanes::det(gap, left) / sine);
    let on_the_left =
        lanes::det(pairs.towards, lanes::less(pairs.velocity, apex)).simd_gt(f32x16::splat(simd, 0.0));
    let slid = lanes::select(
        on_the_left,
        [apex[0] + left[0] * to_left, apex[1] + left[1] * to_left],
        [apex[0] + right[0] * to_right, apex[1] + right[1] * to_right],
    );
    ConeLanes { apex: lanes::select(slides, slid, reciprocal.apex), ..reciprocal }
}
