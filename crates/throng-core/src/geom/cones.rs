//! Free velocities of sixteen agents at once, a lane an agent: what [`each_free`](super::each_free) finds for each where there are
//! cones and no lines, worked out in the same order, so with the same bits.

use super::cone::{SLACK, above};
use super::lanes::{Vectors, det, dot, less, select};
use crate::space::{LANES, Lane, MOST_TOGETHER, lanes_below};
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};

/// A lane an agent, for each of the others by rank.
type Ranks = [Lane<f32>; MOST_TOGETHER];

/// Cones by rank, a lane an agent, and what those cover of a line: `low < t < high`.
#[derive(Clone, Debug)]
pub struct Cones {
    apex: [Ranks; 2],
    /// Unit vectors along the left sides, and along the right ones.
    sides: [[Ranks; 2]; 2],
    low: Ranks,
    high: Ranks,
}

impl Default for Cones {
    fn default() -> Cones {
        const NONE: Ranks = [[0.0; LANES]; MOST_TOGETHER];
        Cones { apex: [NONE; 2], sides: [[NONE; 2]; 2], low: NONE, high: NONE }
    }
}

#[inline(always)]
fn load<S: Simd>(simd: S, [x, y]: &[Ranks; 2], rank: usize) -> Vectors<S> {
    [f32x16::from_slice(simd, &x[rank]), f32x16::from_slice(simd, &y[rank])]
}

#[inline(always)]
fn store<S: Simd>([x, y]: &mut [Ranks; 2], rank: usize, vectors: Vectors<S>) {
    vectors[0].store_slice(&mut x[rank]);
    vectors[1].store_slice(&mut y[rank]);
}

/// What is looked for: velocities close to these, no faster than this.
#[derive(Clone, Copy)]
pub struct Wanted<S: Simd> {
    /// m/s.
    pub preferred: [f32x16<S>; 2],
    /// m/s.
    pub max_speed: f32x16<S>,
}

/// The best so far.
struct Best<S: Simd> {
    velocity: Vectors<S>,
    /// Squared distances from what is preferred.
    distance: f32x16<S>,
}

impl Cones {
    /// Sets the cones of a rank: where sides meet, and the unit vectors along the left and the right ones.
    #[inline(always)]
    pub fn set<S: Simd>(
        &mut self,
        rank: usize,
        apex: [f32x16<S>; 2],
        left: [f32x16<S>; 2],
        right: [f32x16<S>; 2],
    ) {
        store(&mut self.apex, rank, apex);
        store(&mut self.sides[0], rank, left);
        store(&mut self.sides[1], rank, right);
    }

    /// The velocities closest to those wanted that none of the first `counts` cones of each agent forbids, among `lanes` by bits; and
    /// the lanes that have one.
    #[inline(always)]
    pub fn closest_free<S: Simd>(
        &mut self,
        simd: S,
        wanted: &Wanted<S>,
        counts: u32x16<S>,
        lanes: u64,
    ) -> ([f32x16<S>; 2], u64) {
        let ranks = counts.reduce_max() as usize;
        let mut forbidding = [0; MOST_TOGETHER];
        let mut forbidden = 0;
        for (rank, bits) in forbidding.iter_mut().enumerate().take(ranks) {
            *bits = self.forbid(simd, rank, wanted.preferred) & exist(simd, counts, rank);
            forbidden |= *bits;
        }
        let mut best = Best { velocity: wanted.preferred, distance: f32x16::splat(simd, f32::INFINITY) };
        // Those that forbid the preferred velocity first: their sides are close to it, and then most others are too far.
        for first in [true, false] {
            for (rank, bits) in forbidding.iter().enumerate().take(ranks) {
                let those = if first { *bits } else { !bits & exist(simd, counts, rank) };
                for side in 0..2 {
                    self.walk(simd, wanted, counts, (rank, side), those & forbidden & lanes, &mut best);
                }
            }
        }
        let found = best.distance.simd_lt(f32x16::splat(simd, f32::INFINITY)).to_bitmask();
        (best.velocity, (found | !forbidden) & lanes)
    }

    /// By bits, the lanes whose cone of a rank forbids a velocity.
    #[inline(always)]
    fn forbid<S: Simd>(&self, simd: S, rank: usize, velocity: Vectors<S>) -> u64 {
        let slack = f32x16::splat(simd, SLACK);
        let from_apex = less(velocity, load(simd, &self.apex, rank));
        let [left, right] = [load(simd, &self.sides[0], rank), load(simd, &self.sides[1], rank)];
        (det(right, from_apex).simd_gt(slack) & det(from_apex, left).simd_gt(slack)).to_bitmask()
    }

    /// Takes the free velocities on the sides of a rank that are closest to what is preferred, in some lanes by bits.
    #[inline(always)]
    fn walk<S: Simd>(
        &mut self,
        simd: S,
        wanted: &Wanted<S>,
        counts: u32x16<S>,
        (rank, side): (usize, usize),
        lanes: u64,
        best: &mut Best<S>,
    ) {
        if lanes == 0 {
            return;
        }
        let (point, direction) = (load(simd, &self.apex, rank), load(simd, &self.sides[side], rank));
        let projection = dot(less(wanted.preferred, point), direction);
        let on_side = [point[0] + projection * direction[0], point[1] + projection * direction[1]];
        let aside = less(on_side, wanted.preferred);
        let near = dot(aside, aside).simd_lt(best.distance).to_bitmask() & lanes;
        if near == 0 {
            return;
        }
        let none = f32x16::splat(simd, 0.0);
        let along = dot(point, direction);
        let discriminant = along * along + wanted.max_speed * wanted.max_speed - dot(point, point);
        let root = discriminant.sqrt();
        let (low, high) = ((-along - root).max(none), -along + root);
        let walked = (discriminant.simd_ge(none) & low.simd_le(high)).to_bitmask() & near;
        if walked == 0 {
            return;
        }
        self.fall(simd, counts, point, direction);
        let ranks = counts.reduce_max() as usize;
        let start = projection.max(low).min(high);
        for up in [true, false] {
            let t = self.free_from(simd, ranks, start, up, walked);
            let within = low.simd_le(t) & t.simd_le(high);
            let velocity = [point[0] + t * direction[0], point[1] + t * direction[1]];
            let off = less(velocity, wanted.preferred);
            let distance = dot(off, off);
            let better = within & distance.simd_lt(best.distance);
            let better = mask32x16::from_bitmask(simd, better.to_bitmask() & walked);
            best.velocity = select(better, velocity, best.velocity);
            best.distance = better.select(distance, best.distance);
        }
    }

    /// Works out what cones cover of `point + t direction`.
    #[inline(always)]
    fn fall<S: Simd>(&mut self, simd: S, counts: u32x16<S>, point: Vectors<S>, direction: Vectors<S>) {
        let (never, always) = (f32x16::splat(simd, f32::INFINITY), f32x16::splat(simd, f32::NEG_INFINITY));
        for rank in 0..counts.reduce_max() as usize {
            let from_apex = less(point, load(simd, &self.apex, rank));
            let [left, right] = [load(simd, &self.sides[0], rank), load(simd, &self.sides[1], rank)];
            let right = above(simd, det(right, from_apex), det(right, direction));
            let left = above(simd, det(from_apex, left), det(direction, left));
            let is_there = counts.simd_gt(u32x16::splat(simd, rank as u32));
            is_there.select(right.0.max(left.0), never).store_slice(&mut self.low[rank]);
            is_there.select(right.1.min(left.1), always).store_slice(&mut self.high[rank]);
        }
    }

    /// Steps out of shadow after shadow in one direction, to infinity where there is no end, in some lanes by bits.
    #[inline(always)]
    fn free_from<S: Simd>(&self, simd: S, ranks: usize, start: f32x16<S>, up: bool, lanes: u64) -> f32x16<S> {
        let slack = f32x16::splat(simd, SLACK);
        let mut t = start;
        for _ in 0..=ranks {
            let before = t;
            for (low, high) in self.low.iter().zip(&self.high).take(ranks) {
                let (low, high) = (f32x16::from_slice(simd, low), f32x16::from_slice(simd, high));
                let covered = (low + slack).simd_lt(before) & before.simd_lt(high - slack);
                t = covered.select(if up { t.max(high) } else { t.min(low) }, t);
            }
            if t.simd_ne(before).to_bitmask() & lanes == 0 {
                break;
            }
        }
        t
    }
}

/// By bits, the lanes that have more than `rank`.
#[inline(always)]
fn exist<S: Simd>(simd: S, counts: u32x16<S>, rank: usize) -> u64 {
    counts.simd_gt(u32x16::splat(simd, rank as u32)).to_bitmask() & lanes_below(LANES)
}
