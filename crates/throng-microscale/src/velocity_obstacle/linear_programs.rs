//! Linear programs of sixteen agents at once, a lane an agent: plane after plane under masks. Each lane does what
//! [`closest`](super::closest) does where there are no walls, in the same order, so it has the same bits.

use super::linear_program::PARALLEL;
use crate::together::{PlanesByRank, Together, load, load_both};
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};
use throng_core::geom::lanes::{Vectors, at_most, select};
use throng_core::space::{Lane, MOST_TOGETHER};

/// What programs look for within the speed discs.
#[derive(Clone, Copy)]
enum Aim<S: Simd> {
    /// The velocities closest to these.
    Closest(Vectors<S>),
    /// The velocities furthest along these unit vectors.
    Furthest(Vectors<S>),
}

/// Writes the permitted velocities closest to the preferred ones; where there is none, the one that violates planes least.
#[inline(always)]
pub fn closest_together<S: Simd>(simd: S, together: &mut Together) {
    let (wish, max_speed) = (load_both(simd, &together.preferred), load(simd, &together.max_speed));
    let best = at_most(wish, max_speed);
    let mut failed = [0; MOST_TOGETHER];
    let planes = (&together.planes, together.deepest);
    let lanes = together.lanes;
    let (mut best, permitted) =
        plane_programs(simd, planes, max_speed, Aim::Closest(wish), best, lanes, &mut failed);
    if permitted != lanes {
        // Not inlined: it is long and, outside of dense crowds, rarely needed.
        best = simd.vectorize(
            #[inline(always)]
            || space_programs(simd, together, max_speed, &failed, best),
        );
    }
    best[0].store_slice(&mut together.chosen[0]);
    best[1].store_slice(&mut together.chosen[1]);
}

/// Points and directions of the planes of a rank.
#[inline(always)]
fn plane<S: Simd>(simd: S, [px, py, dx, dy]: &PlanesByRank, rank: usize) -> [f32x16<S>; 4] {
    [load(simd, &px[rank]), load(simd, &py[rank]), load(simd, &dx[rank]), load(simd, &dy[rank])]
}

/// How far velocities lie on the forbidden sides, m/s.
#[inline(always)]
fn violation<S: Simd>([px, py, dx, dy]: [f32x16<S>; 4], [x, y]: Vectors<S>) -> f32x16<S> {
    dx * (py - y) - dy * (px - x)
}

/// Adds the planes of rank after rank. Returns the best so far and, by bits, the lanes of which no plane leaves nothing; adds the
/// others to those of the rank that failed them.
#[inline(always)]
fn plane_programs<S: Simd>(
    simd: S,
    (planes, ranks): (&PlanesByRank, usize),
    max_speed: f32x16<S>,
    aim: Aim<S>,
    mut best: Vectors<S>,
    mut open: u64,
    failed: &mut [u64; MOST_TOGETHER],
) -> (Vectors<S>, u64) {
    for (rank, failed) in failed.iter_mut().enumerate().take(ranks) {
        let violated = violation(plane(simd, planes, rank), best).simd_gt(f32x16::splat(simd, 0.0));
        let violated = violated.to_bitmask() & open;
        if violated == 0 {
            continue;
        }
        let (on_line, exists) = on_line(simd, planes, rank, max_speed, aim);
        *failed = violated & !exists.to_bitmask();
        open &= !*failed;
        best = select(mask32x16::from_bitmask(simd, violated & open), on_line, best);
    }
    (best, open)
}

/// The best on the lines of a rank, within the speed discs and the planes before, and where there is one.
#[inline(always)]
fn on_line<S: Simd>(
    simd: S,
    planes: &PlanesByRank,
    rank: usize,
    max_speed: f32x16<S>,
    aim: Aim<S>,
) -> (Vectors<S>, mask32x16<S>) {
    let (none, parallel) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, PARALLEL));
    let [x, y, along_x, along_y] = plane(simd, planes, rank);
    let along = x * along_x + y * along_y;
    let discriminant = along * along + max_speed * max_speed - (x * x + y * y);
    let mut exists = discriminant.simd_ge(none);
    let root = discriminant.sqrt();
    let (mut low, mut high) = (-along - root, -along + root);
    for earlier in 0..rank {
        let [px, py, dx, dy] = plane(simd, planes, earlier);
        let cross = along_x * dy - along_y * dx;
        let offset = dx * (y - py) - dy * (x - px);
        let t = offset / cross;
        exists &= !(cross.abs().simd_le(parallel) & offset.simd_lt(none));
        high = cross.simd_gt(parallel).select(high.min(t), high);
        low = cross.simd_lt(-parallel).select(low.max(t), low);
    }
    let t = match aim {
        Aim::Closest([wx, wy]) => (along_x * (wx - x) + along_y * (wy - y)).max(low).min(high),
        Aim::Furthest([wx, wy]) => (wx * along_x + wy * along_y).simd_gt(none).select(high, low),
    };
    ([x + t * along_x, y + t * along_y], exists & low.simd_le(high))
}

/// Lets planes give way equally until something is permitted, in the lanes that have `failed`, by the rank at which they did.
#[inline(always)]
fn space_programs<S: Simd>(
    simd: S,
    together: &mut Together,
    max_speed: f32x16<S>,
    failed: &[u64; MOST_TOGETHER],
    mut best: Vectors<S>,
) -> Vectors<S> {
    let mut deepest = f32x16::splat(simd, 0.0);
    let mut lanes = 0;
    let Together { planes, projected, .. } = together;
    for (rank, failed) in failed.iter().enumerate().take(together.deepest) {
        lanes |= failed;
        let this = plane(simd, planes, rank);
        let deeper = violation(this, best).simd_gt(deepest).to_bitmask() & lanes;
        if deeper == 0 {
            continue;
        }
        project(simd, planes, rank, projected);
        // Up the slope of this plane's violation. It cannot fail but by rounding, and then the best stands.
        let uphill = [-this[3], this[2]];
        let start = [uphill[0] * max_speed, uphill[1] * max_speed];
        let (better, found) = plane_programs(
            simd,
            (projected, rank),
            max_speed,
            Aim::Furthest(uphill),
            start,
            deeper,
            &mut [0; MOST_TOGETHER],
        );
        best = select(mask32x16::from_bitmask(simd, found), better, best);
        let deeper = mask32x16::from_bitmask(simd, deeper);
        deepest = deeper.select(violation(this, best), deepest);
    }
    best
}

/// Where the planes before `rank` are violated as much as those of it: lines in the planes of velocities.
#[inline(always)]
fn project<S: Simd>(simd: S, planes: &PlanesByRank, rank: usize, projected: &mut PlanesByRank) {
    let splat = |value: f32| f32x16::splat(simd, value);
    let (none, one) = (splat(0.0), splat(1.0));
    let [x, y, along_x, along_y] = plane(simd, planes, rank);
    for earlier in 0..rank {
        let [px, py, dx, dy] = plane(simd, planes, earlier);
        let cross = along_x * dy - along_y * dx;
        let meet = cross.abs().simd_gt(splat(PARALLEL));
        let part = (dx * (y - py) - dy * (x - px)) / cross;
        let meeting_x = meet.select(x + along_x * part, splat(0.5) * (x + px));
        let meeting_y = meet.select(y + along_y * part, splat(0.5) * (y + py));
        // Planes that are alike do not limit one another.
        let differ = meet | (along_x * dx + along_y * dy).simd_le(none);
        let (between_x, between_y) = (dx - along_x, dy - along_y);
        let per_length = one / (between_x * between_x + between_y * between_y).sqrt();
        let has_direction = per_length.simd_lt(splat(f32::INFINITY)) & per_length.simd_gt(none) & differ;
        let direction_x = has_direction.select(between_x * per_length, none);
        let direction_y = has_direction.select(between_y * per_length, none);
        let away = direction_x * meeting_y - direction_y * meeting_x;
        let away = has_direction.select(away, none);
        store(projected, earlier, [-direction_y * away, direction_x * away, direction_x, direction_y]);
    }
}

#[inline(always)]
fn store<S: Simd>([px, py, dx, dy]: &mut PlanesByRank, rank: usize, plane: [f32x16<S>; 4]) {
    let to: [&mut Lane<f32>; 4] = [&mut px[rank], &mut py[rank], &mut dx[rank], &mut dy[rank]];
    for (lane, values) in to.into_iter().zip(plane) {
        values.store_slice(lane);
    }
}
