//! Vectors of sixteen agents, a lane an agent.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};

/// Sixteen vectors: their x, and their y.
pub type Vectors<S> = [f32x16<S>; 2];

/// As `a.dot(b)` of each.
#[inline(always)]
pub fn dot<S: Simd>(a: Vectors<S>, b: Vectors<S>) -> f32x16<S> {
    a[0] * b[0] + a[1] * b[1]
}

/// As [`det`](super::det) of each.
#[inline(always)]
pub fn det<S: Simd>(a: Vectors<S>, b: Vectors<S>) -> f32x16<S> {
    a[0] * b[1] - a[1] * b[0]
}

/// As `a - b` of each.
#[inline(always)]
pub fn less<S: Simd>(a: Vectors<S>, b: Vectors<S>) -> Vectors<S> {
    [a[0] - b[0], a[1] - b[1]]
}

/// As [`at_most`](super::at_most) of each.
#[inline(always)]
pub fn at_most<S: Simd>([x, y]: Vectors<S>, limit: f32x16<S>) -> Vectors<S> {
    let squared = x * x + y * y;
    let over = squared.simd_gt(limit * limit);
    let part = limit / squared.sqrt();
    [over.select(x * part, x), over.select(y * part, y)]
}

/// `first` where `those` holds, else `second`.
#[inline(always)]
pub fn select<S: Simd>(those: mask32x16<S>, first: Vectors<S>, second: Vectors<S>) -> Vectors<S> {
    [those.select(first[0], second[0]), those.select(first[1], second[1])]
}
