//! ClearPath of sixteen agents at once, a lane an agent, where there are no walls: each does what
//! [`choose_outside`](super::choose_outside) does, in the same order, so it has the same bits.

use super::cone::HURRY;
use crate::together::{Together, load, load_both, load_rank};
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};
use throng_core::geom::Wanted;
use throng_core::geom::lanes::{Vectors, at_most, select};

/// Agents, and one of the others of each.
pub struct Pairs<S: Simd> {
    /// Agents' velocities, m/s.
    pub velocity: Vectors<S>,
    /// Others' velocities, m/s.
    pub other_velocity: Vectors<S>,
    /// Towards others, m.
    pub towards: Vectors<S>,
    /// Sums of radii, m.
    pub reach: f32x16<S>,
    /// The part of an avoidance that agents take on.
    pub share: f32x16<S>,
    part: f32x16<S>,
    max_speed: f32x16<S>,
    dt: f32x16<S>,
}

/// Cones of forbidden velocities, a lane a pair.
pub struct ConeLanes<S: Simd> {
    /// Where sides meet, m/s.
    pub apex: Vectors<S>,
    /// Unit vectors along the left sides.
    pub left: Vectors<S>,
    /// Unit vectors along the right sides.
    pub right: Vectors<S>,
    /// Whether bodies are apart.
    pub apart: mask32x16<S>,
}

impl<S: Simd> Pairs<S> {
    #[inline(always)]
    fn of(simd: S, together: &Together, rank: usize) -> Pairs<S> {
        Pairs {
            velocity: load_both(simd, &together.velocity),
            other_velocity: load_rank(simd, &together.other_velocity, rank),
            towards: load_rank(simd, &together.towards, rank),
            reach: load(simd, &together.reach[rank]),
            share: load(simd, &together.share[rank]),
            part: load(simd, &together.part[rank]),
            max_speed: load(simd, &together.max_speed),
            dt: f32x16::splat(simd, together.dt),
        }
    }

    /// Apexes between the velocities of both: 0 the agents', 1 the others'.
    #[inline(always)]
    pub fn between(&self, simd: S, part: f32x16<S>) -> Vectors<S> {
        let rest = f32x16::splat(simd, 1.0) - part;
        let ([x, y], [other_x, other_y]) = (self.velocity, self.other_velocity);
        [x * rest + other_x * part, y * rest + other_y * part]
    }

    /// As [`cone_towards`](super::cone_towards).
    #[inline(always)]
    pub fn cones(&self, simd: S, apex: Vectors<S>, share: f32x16<S>) -> ConeLanes<S> {
        let splat = |value: f32| f32x16::splat(simd, value);
        let ([dx, dy], reach, none) = (self.towards, self.reach, splat(0.0));
        let squared = dx * dx + dy * dy;
        let apart = squared.simd_gt(reach * reach);
        let leg = (squared - reach * reach).sqrt();
        let (middle_x, middle_y, across_x, across_y) = (dx * leg, dy * leg, -dy * reach, dx * reach);
        let left = [(middle_x + across_x) / squared, (middle_y + across_y) / squared];
        let right = [(middle_x - across_x) / squared, (middle_y - across_y) / squared];
        if apart.all_true() {
            return ConeLanes { apex, left, right, apart };
        }
        let distance = squared.sqrt();
        let has_direction = distance.simd_gt(splat(1e-9));
        let unit_x = has_direction.select(dx / distance, -self.part);
        let unit_y = has_direction.select(dy / distance, none);
        let along = apex[0] * unit_x + apex[1] * unit_y;
        let most = (along + splat(HURRY) * self.max_speed).max(none);
        let speed = (share * (reach - distance) / self.dt).min(most);
        let back = [apex[0] - speed * unit_x, apex[1] - speed * unit_y];
        ConeLanes {
            apex: select(apart, apex, back),
            left: select(apart, left, [-unit_y, unit_x]),
            right: select(apart, right, [unit_y, -unit_x]),
            apart,
        }
    }
}

/// Writes the velocities that agents choose among others that have a cone each.
#[inline(always)]
pub fn choose_outside_together<S: Simd>(
    simd: S,
    together: &mut Together,
    cones: impl Fn(&Pairs<S>) -> ConeLanes<S>,
) {
    for rank in 0..together.deepest {
        let ConeLanes { apex, left, right, .. } = cones(&Pairs::of(simd, together, rank));
        together.cones.set(rank, apex, left, right);
    }
    // Not inlined: it is long, and three models need it.
    simd.vectorize(
        #[inline(always)]
        || clear_paths(simd, together),
    );
}

/// Where nothing is free, the furthest others are left out until something is: how many, is found by bisection.
#[inline(always)]
fn clear_paths<S: Simd>(simd: S, together: &mut Together) {
    let max_speed = load(simd, &together.max_speed);
    let preferred = at_most(load_both(simd, &together.preferred), max_speed);
    let (wanted, cones) = (Wanted { preferred, max_speed }, &mut together.cones);
    let one = u32x16::splat(simd, 1);
    let (mut works, mut fails) = (u32x16::splat(simd, 0), u32x16::from_slice(simd, &together.batch.found));
    let (free, found) = cones.closest_free(simd, &wanted, fails, together.lanes);
    let mut best = select(mask32x16::from_bitmask(simd, found), free, preferred);
    let mut open = together.lanes & !found;
    while open != 0 {
        let middle = (works + fails) >> 1;
        let bisected = (fails - works).simd_gt(one).to_bitmask() & open;
        if bisected == 0 {
            break;
        }
        let (free, found) = cones.closest_free(simd, &wanted, middle, bisected);
        let (found, failed) = (found & bisected, bisected & !found);
        let those = mask32x16::from_bitmask(simd, found);
        best = select(those, free, best);
        works = those.select(middle, works);
        fails = mask32x16::from_bitmask(simd, failed).select(middle, fails);
        open = bisected;
    }
    best[0].store_slice(&mut together.chosen[0]);
    best[1].store_slice(&mut together.chosen[1]);
}
