//! # Half-planes of permitted velocities (van den Berg et al. 2011)
//! Follows the construction of the paper's section 4: `u` is the smallest change of the relative velocity that
//! leaves the truncated velocity obstacle, and an agent takes on its share of `u`.
//!
//! Eight others at once: every case is worked out for all lanes and the right one selected, which is cheaper than
//! to branch on what is close to random.

use crate::around::{Ego, MAX_OTHERS, MAX_WALLS, Others};
use fearless_simd::{Simd, f32x8, prelude::*};
use glam::Vec2;
use throng_core::geom::det;
use throng_core::space::LANES;

/// Room for all walls and others.
const MAX_PLANES: usize = MAX_WALLS + MAX_OTHERS + LANES;

/// Half-planes, one column per property. Permitted is what lies on the line or to the left of its direction.
/// Those of walls come first. After the last one stand zeros: a plane that permits everything.
#[derive(Clone, Debug)]
pub struct Planes {
    /// How many.
    pub len: usize,
    /// How many of them are walls, which never give way.
    pub walls: usize,
    pub(super) px: [f32; MAX_PLANES],
    pub(super) py: [f32; MAX_PLANES],
    pub(super) dx: [f32; MAX_PLANES],
    pub(super) dy: [f32; MAX_PLANES],
}

impl Default for Planes {
    fn default() -> Planes {
        const NONE: [f32; MAX_PLANES] = [0.0; MAX_PLANES];
        Planes { len: 0, walls: 0, px: NONE, py: NONE, dx: NONE, dy: NONE }
    }
}

impl Planes {
    /// Forgets all.
    #[inline(always)]
    pub fn clear(&mut self) {
        (self.len, self.walls) = (0, 0);
    }

    /// Adds one.
    #[inline(always)]
    pub fn push(&mut self, point: Vec2, direction: Vec2) {
        if self.len < MAX_PLANES - LANES {
            (self.px[self.len], self.py[self.len]) = (point.x, point.y);
            (self.dx[self.len], self.dy[self.len]) = (direction.x, direction.y);
            self.len += 1;
        }
    }

    /// A point on the line.
    #[inline(always)]
    pub fn point(&self, i: usize) -> Vec2 {
        Vec2::new(self.px[i], self.py[i])
    }

    /// The line's unit direction.
    #[inline(always)]
    pub fn direction(&self, i: usize) -> Vec2 {
        Vec2::new(self.dx[i], self.dy[i])
    }

    /// How far a velocity lies on the forbidden side (negative: permitted), m/s.
    #[inline(always)]
    pub fn violation(&self, i: usize, velocity: Vec2) -> f32 {
        det(self.direction(i), self.point(i) - velocity)
    }

    /// Fills the last vector with planes that permit everything.
    #[inline(always)]
    pub(super) fn pad(&mut self) {
        let end = self.len.next_multiple_of(LANES);
        for column in [&mut self.px, &mut self.py, &mut self.dx, &mut self.dy] {
            column[self.len..end].fill(0.0);
        }
    }
}

/// Adds a half-plane per other.
#[inline(always)]
pub fn peer_planes<S: Simd>(simd: S, ego: &Ego, others: &mut Others, time_horizon: f32, planes: &mut Planes) {
    let count = others.len.min(MAX_PLANES - LANES - planes.len);
    pad(others, count);
    for block in (0..count).step_by(LANES) {
        let at = planes.len + block;
        let lanes = block_planes(simd, ego, others, block, time_horizon);
        for (column, lanes) in
            [&mut planes.px, &mut planes.py, &mut planes.dx, &mut planes.dy].into_iter().zip(lanes)
        {
            lanes.store_slice(&mut column[at..at + LANES]);
        }
    }
    planes.len += count;
}

/// Lanes beyond the last other must not trap or turn up NaN warnings: somebody far away who moves along.
#[inline(always)]
fn pad(others: &mut Others, count: usize) {
    let end = count.next_multiple_of(LANES);
    others.dx[count..end].fill(1.0);
    others.reach[count..end].fill(0.0);
}

#[inline(always)]
fn block_planes<S: Simd>(
    simd: S,
    ego: &Ego,
    others: &Others,
    block: usize,
    time_horizon: f32,
) -> [f32x8<S>; 4] {
    let load = |column: &[f32; MAX_OTHERS]| f32x8::from_slice(simd, &column[block..block + LANES]);
    let splat = |value: f32| f32x8::splat(simd, value);
    let (dx, dy, radii) = (load(&others.dx), load(&others.dy), load(&others.reach));
    let (rvx, rvy) = (splat(ego.velocity.x) - load(&others.vx), splat(ego.velocity.y) - load(&others.vy));
    let distance_squared = dx * dx + dy * dy;
    let radii_squared = radii * radii;
    // In contact there is no time left to look ahead: part within this step.
    let apart = distance_squared.simd_gt(radii_squared);
    let per_second = apart.select(splat(1.0 / time_horizon), splat(1.0 / ego.dt));

    // From the middle of the cut-off circle to the relative velocity.
    let (wx, wy) = (rvx - per_second * dx, rvy - per_second * dy);
    let w_squared = wx * wx + wy * wy;
    let dot = wx * dx + wy * dy;
    let front = dot.simd_lt(splat(0.0)) & (dot * dot).simd_gt(radii_squared * w_squared);
    let on_circle = front | !apart;

    let w_length = w_squared.sqrt();
    let has_direction = w_length.simd_gt(splat(1e-9));
    let per_w = splat(1.0) / has_direction.select(w_length, splat(1.0));
    let unit_x = has_direction.select(wx * per_w, load(&others.part));
    let unit_y = has_direction.select(wy * per_w, splat(0.0));
    let push = radii * per_second - w_length;

    let leg = (distance_squared - radii_squared).max(splat(0.0)).sqrt();
    let is_left = (dx * wy - dy * wx).simd_gt(splat(0.0));
    let side = is_left.select(splat(1.0), splat(-1.0));
    let per_distance_squared = side / distance_squared.max(splat(1e-12));
    let leg_x = (dx * leg - side * (dy * radii)) * per_distance_squared;
    let leg_y = (side * (dx * radii) + dy * leg) * per_distance_squared;
    let along = rvx * leg_x + rvy * leg_y;

    let direction_x = on_circle.select(unit_y, leg_x);
    let direction_y = on_circle.select(-unit_x, leg_y);
    let ux = on_circle.select(push * unit_x, along * leg_x - rvx);
    let uy = on_circle.select(push * unit_y, along * leg_y - rvy);
    let share = load(&others.share);
    [splat(ego.velocity.x) + share * ux, splat(ego.velocity.y) + share * uy, direction_x, direction_y]
}
