//! What models of walkers share: pushes that fall exponentially with the gap, and how far it is to the next body ahead.

use crate::around::{Ego, Others, Reach};
use glam::Vec2;
use throng_core::geom::{det, exp, unit_or};
use throng_core::space::Wall;

/// The most that a push grows with an overlap, as a power of e: a body deep inside another one must not push to infinity.
const STRONGEST: f32 = 20.0;
/// How far ahead walls are looked for, s. Pushes of walls end much sooner.
const WALLS: f32 = 1.0;

/// How far models of walkers look.
pub(crate) fn reach(neighbor_distance: f32, max_neighbors: usize) -> Reach {
    Reach { neighbor_distance, max_neighbors, time_horizon_obstacles: WALLS, walls_ahead: 0.0 }
}

/// A push across a gap, m: `strength` where bodies touch, less by a factor of e for every `range`, m, between them.
#[inline(always)]
pub(crate) fn push(strength: f32, gap: f32, range: f32) -> f32 {
    strength * exp((-gap / range).min(STRONGEST))
}

/// Another's place as one sees it: which way, and the gap between bodies, m.
#[inline(always)]
pub(crate) fn direction_and_gap(others: &Others, i: usize) -> (Vec2, f32) {
    let towards = others.towards(i);
    // At one place there is no direction; `part` is 1 for one of the two and -1 for the other.
    (unit_or(towards, Vec2::X * others.part[i]), towards.length() - others.reach[i])
}

/// The same of a wall. `None` where the agent stands on it, which has no side.
#[inline(always)]
pub(crate) fn direction_and_gap_to_wall(ego: &Ego, wall: &Wall) -> Option<(Vec2, f32)> {
    let towards = wall.closest(ego.position) - ego.position;
    let distance = towards.length();
    (distance > 1e-6).then(|| (towards / distance, distance - ego.radius))
}

/// The gap to the nearest body in the way along a direction, m: those ahead, and no further aside than bodies are wide.
#[inline(always)]
pub(crate) fn free_ahead(others: &Others, along: Vec2) -> f32 {
    let mut free = f32::INFINITY;
    for i in 0..others.len {
        let (towards, reach) = (others.towards(i), others.reach[i]);
        if along.dot(towards) > 0.0 && det(along, towards).abs() <= reach {
            free = free.min(towards.length() - reach);
        }
    }
    free
}

/// The speed at which a gap is covered in `time_gap`, s, and not above what is wanted: the speed law of Tordeux, Chraibi and
/// Seyfried 2015.
#[inline(always)]
pub(crate) fn optimal_speed(wanted: f32, gap: f32, time_gap: f32) -> f32 {
    (gap / time_gap).clamp(0.0, wanted)
}
