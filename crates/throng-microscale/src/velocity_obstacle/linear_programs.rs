//! Linear programs of sixteen agents at once, a lane an agent: the planes of one rank after the other, under masks. Each lane does
//! what [`closest`](super::closest) does, in the same order, so it has the same bits.

use super::linear_program::PARALLEL;
use crate::together::{Together, load, load_both};
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};
use throng_core::space::lanes_below;

/// Vectors, a lane an agent.
type Vectors<S> = [f32x16<S>; 2];

/// Writes the permitted velocities closest to the preferred ones. Returns by bits the lanes that have one.
#[inline(always)]
pub fn closest_together<S: Simd>(simd: S, together: &mut Together) -> u64 {
    let (wish, max_speed) = (load_both(simd, &together.preferred), load(simd, &together.max_speed));
    let mut best = at_most(simd, wish, max_speed);
    let mut open = lanes_below(together.count);
    for rank in 0..together.deepest {
        let [px, py, dx, dy] = plane(simd, together, rank);
        let violation = dx * (py - best[1]) - dy * (px - best[0]);
        let violated = violation.simd_gt(f32x16::splat(simd, 0.0)) & together.see(simd, rank);
        let violated = violated.to_bitmask() & open;
        if violated == 0 {
            continue;
        }
        let (on_line, exists) = on_line(simd, together, rank, max_speed, wish);
        open &= !violated | exists.to_bitmask();
        let better = mask32x16::from_bitmask(simd, violated & open);
        best = [better.select(on_line[0], best[0]), better.select(on_line[1], best[1])];
    }
    for (column, lanes) in together.chosen.iter_mut().zip(best) {
        lanes.store_slice(column);
    }
    open
}

/// Points and directions of the planes of a rank.
#[inline(always)]
fn plane<S: Simd>(simd: S, together: &Together, rank: usize) -> [f32x16<S>; 4] {
    let [px, py, dx, dy] = &together.planes;
    [load(simd, &px[rank]), load(simd, &py[rank]), load(simd, &dx[rank]), load(simd, &dy[rank])]
}

/// As [`at_most`](throng_core::geom::at_most).
#[inline(always)]
fn at_most<S: Simd>(_simd: S, [x, y]: Vectors<S>, limit: f32x16<S>) -> Vectors<S> {
    let squared = x * x + y * y;
    let over = squared.simd_gt(limit * limit);
    let part = limit / squared.sqrt();
    [over.select(x * part, x), over.select(y * part, y)]
}

/// The best on the lines of a rank, within the speed discs and the planes before, and where there is one.
#[inline(always)]
fn on_line<S: Simd>(
    simd: S,
    together: &Together,
    rank: usize,
    max_speed: f32x16<S>,
    wish: Vectors<S>,
) -> (Vectors<S>, mask32x16<S>) {
    let (none, parallel) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, PARALLEL));
    let [x, y, along_x, along_y] = plane(simd, together, rank);
    let along = x * along_x + y * along_y;
    let discriminant = along * along + max_speed * max_speed - (x * x + y * y);
    let mut exists = discriminant.simd_ge(none);
    let root = discriminant.sqrt();
    let (mut low, mut high) = (-along - root, -along + root);
    for earlier in 0..rank {
        let [px, py, dx, dy] = plane(simd, together, earlier);
        let cross = along_x * dy - along_y * dx;
        let offset = dx * (y - py) - dy * (x - px);
        let t = offset / cross;
        exists = exists & !(cross.abs().simd_le(parallel) & offset.simd_lt(none));
        high = cross.simd_gt(parallel).select(high.min(t), high);
        low = cross.simd_lt(-parallel).select(low.max(t), low);
    }
    let t = (along_x * (wish[0] - x) + along_y * (wish[1] - y)).max(low).min(high);
    ([x + t * along_x, y + t * along_y], exists & low.simd_le(high))
}
