//! Cones of forbidden velocities, and the free velocities around their union (ClearPath, Guy et al. 2009).
//!
//! The free velocity closest to a preferred one is that one itself, its projection on a cone's side, or an intersection
//! of two sides. Instead of listing all intersections and testing each against all cones, a side is walked outwards from
//! the projection, from shadow to shadow, until it is free: the same velocities, without the list, and with all shadows
//! on a side worked out at once.

use super::det;
use crate::space::LANES;
use fearless_simd::{Simd, f32x16, prelude::*};
use glam::Vec2;

/// A velocity this close to a side, in m/s, counts as outside.
pub const SLACK: f32 = 1e-4;

/// More cones than these are never looked at.
pub const MOST_CONES: usize = 96;

/// Forbidden velocities: what lies between two sides. A half-plane where they are opposite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cone {
    /// Where the sides meet, m/s.
    pub apex: Vec2,
    /// Unit vector along the left side.
    pub left: Vec2,
    /// Unit vector along the right side.
    pub right: Vec2,
}

impl Cone {
    /// Whether a velocity is forbidden: by more than `slack` (m/s) from both sides.
    pub fn forbids(&self, velocity: Vec2, slack: f32) -> bool {
        let from_apex = velocity - self.apex;
        det(self.right, from_apex) > slack && det(from_apex, self.left) > slack
    }
}

/// A line; permitted is what lies on it or to its left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// A point on it.
    pub point: Vec2,
    /// Its unit direction.
    pub direction: Vec2,
}

impl Line {
    /// How far a velocity lies on the forbidden side (negative: permitted).
    #[inline(always)]
    pub fn violation(&self, velocity: Vec2) -> f32 {
        det(self.direction, self.point - velocity)
    }
}

/// Calls `take` with free velocities among which are those closest to `preferred`: itself, or points on the sides of
/// cones and on lines. `take` returns the squared distance beyond which it wants no more. Of more than [`MOST_CONES`] the
/// last are left out.
#[inline(always)]
pub fn each_free<S: Simd>(
    simd: S,
    cones: &[Cone],
    lines: &[Line],
    preferred: Vec2,
    max_speed: f32,
    mut take: impl FnMut(Vec2) -> f32,
) {
    let cones = &cones[..cones.len().min(MOST_CONES)];
    let cut = lines.iter().any(|line| line.violation(preferred) > SLACK);
    if !cut && !cones.iter().any(|cone| cone.forbids(preferred, SLACK)) {
        take(preferred);
        return;
    }
    let mut shadows = Shadows::of(cones);
    let mut walk = Walk { lines, preferred, max_speed, take, distance: f32::INFINITY };
    // Those that forbid the preferred velocity first: their sides are close to it, and then most others are too far.
    for first in [true, false] {
        for cone in cones.iter().filter(|cone| cone.forbids(preferred, SLACK) == first) {
            walk.along(simd, &mut shadows, cone.apex, cone.left, 0.0);
            walk.along(simd, &mut shadows, cone.apex, cone.right, 0.0);
        }
    }
    for line in lines {
        walk.along(simd, &mut shadows, line.point, line.direction, f32::NEG_INFINITY);
    }
}

struct Walk<'a, Take> {
    lines: &'a [Line],
    preferred: Vec2,
    max_speed: f32,
    take: Take,
    distance: f32,
}

impl<Take: FnMut(Vec2) -> f32> Walk<'_, Take> {
    /// Takes the free velocities on `point + t direction`, `t >= from`, that are closest to the preferred one.
    #[inline(always)]
    fn along<S: Simd>(&mut self, simd: S, shadows: &mut Shadows, point: Vec2, direction: Vec2, from: f32) {
        let projection = (self.preferred - point).dot(direction);
        let aside = point + projection * direction - self.preferred;
        if aside.length_squared() >= self.distance {
            return;
        }
        let Some((low, high)) = self.bounds(point, direction, from) else { return };
        shadows.fall(simd, point, direction);
        for up in [true, false] {
            let t = shadows.free_from(simd, projection.clamp(low, high), up);
            if (low..=high).contains(&t) {
                self.distance = (self.take)(point + t * direction);
            }
        }
    }

    /// The part of a line within the speed disc and on the permitted side of all lines.
    #[inline(always)]
    fn bounds(&self, point: Vec2, direction: Vec2, from: f32) -> Option<(f32, f32)> {
        let along = point.dot(direction);
        let discriminant = along * along + self.max_speed * self.max_speed - point.length_squared();
        if discriminant < 0.0 {
            return None;
        }
        let root = discriminant.sqrt();
        let (mut low, mut high) = ((-along - root).max(from), -along + root);
        for line in self.lines {
            let start = line.violation(point);
            let slope = line.violation(point + direction) - start;
            if slope.abs() < 1e-6 {
                if start > SLACK {
                    return None;
                }
            } else if slope > 0.0 {
                high = high.min(-start / slope);
            } else {
                low = low.max(-start / slope);
            }
        }
        (low <= high).then_some((low, high))
    }
}

/// Cones, one column per property, and the parts of a line that they cover: `low < t < high`.
struct Shadows {
    count: usize,
    apex_x: Column,
    apex_y: Column,
    left_x: Column,
    left_y: Column,
    right_x: Column,
    right_y: Column,
    low: Column,
    high: Column,
}

type Column = [f32; MOST_CONES];

impl Shadows {
    #[inline(always)]
    fn of(cones: &[Cone]) -> Shadows {
        const NONE: Column = [0.0; MOST_CONES];
        let mut shadows = Shadows {
            count: cones.len(),
            apex_x: NONE,
            apex_y: NONE,
            left_x: NONE,
            left_y: NONE,
            right_x: NONE,
            right_y: NONE,
            low: NONE,
            high: NONE,
        };
        for (i, cone) in cones.iter().enumerate() {
            (shadows.apex_x[i], shadows.apex_y[i]) = cone.apex.into();
            (shadows.left_x[i], shadows.left_y[i]) = cone.left.into();
            (shadows.right_x[i], shadows.right_y[i]) = cone.right.into();
        }
        shadows
    }

    /// Works out what the cones cover of `point + t direction`. Those that stand for no agent cover nothing.
    #[inline(always)]
    fn fall<S: Simd>(&mut self, simd: S, point: Vec2, direction: Vec2) {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (dx, dy) = (splat(direction.x), splat(direction.y));
        for block in (0..self.count).step_by(LANES) {
            let load = |column: &Column| f32x16::from_slice(simd, &column[block..block + LANES]);
            let (x, y) = (splat(point.x) - load(&self.apex_x), splat(point.y) - load(&self.apex_y));
            let (right_x, right_y) = (load(&self.right_x), load(&self.right_y));
            let (left_x, left_y) = (load(&self.left_x), load(&self.left_y));
            let right = above(simd, right_x * y - right_y * x, right_x * dy - right_y * dx);
            let left = above(simd, x * left_y - y * left_x, dx * left_y - dy * left_x);
            right.0.max(left.0).store_slice(&mut self.low[block..block + LANES]);
            right.1.min(left.1).store_slice(&mut self.high[block..block + LANES]);
        }
    }

    /// Steps out of shadow after shadow in one direction, to infinity where there is no end. Ends, because every step
    /// passes another one.
    #[inline(always)]
    fn free_from<S: Simd>(&self, simd: S, start: f32, up: bool) -> f32 {
        let slack = f32x16::splat(simd, SLACK);
        let mut t = start;
        for _ in 0..=self.count {
            let before = t;
            for block in (0..self.count).step_by(LANES) {
                let low = f32x16::from_slice(simd, &self.low[block..block + LANES]);
                let high = f32x16::from_slice(simd, &self.high[block..block + LANES]);
                let at = f32x16::splat(simd, t);
                let covered = (low + slack).simd_lt(at) & at.simd_lt(high - slack);
                if covered.any_true() {
                    t = if up {
                        covered.select(high, at).reduce_max()
                    } else {
                        covered.select(low, at).reduce_min()
                    };
                }
            }
            if t == before {
                break;
            }
        }
        t
    }
}

/// Where `start + t * slope` is positive, as an interval of t.
#[inline(always)]
pub(super) fn above<S: Simd>(simd: S, start: f32x16<S>, slope: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
    let splat = |value: f32| f32x16::splat(simd, value);
    let (never, always) = (splat(f32::INFINITY), splat(f32::NEG_INFINITY));
    let flat = slope.abs().simd_lt(splat(1e-9));
    let zero = -start / flat.select(splat(1.0), slope);
    let rises = slope.simd_gt(splat(0.0));
    let is_positive = start.simd_gt(splat(1e-6));
    let low = flat.select(is_positive.select(always, never), rises.select(zero, always));
    let high = flat.select(is_positive.select(never, always), rises.select(never, zero));
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    #[test]
    fn the_shadow_on_a_line_is_where_it_is_forbidden() {
        let (left, right) = (Vec2::from_angle(0.7), Vec2::from_angle(-0.4));
        let cone = Cone { apex: Vec2::new(0.2, -0.1), left, right };
        let (point, direction) = (Vec2::new(1.0, -2.0), Vec2::new(0.1, 1.0).normalize());
        let mut shadows = Shadows::of(&[cone]);
        dispatch!(Level::new(), simd => shadows.fall(simd, point, direction));
        for t in [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0] {
            let covered = shadows.low[0] < t && t < shadows.high[0];
            assert_eq!(cone.forbids(point + t * direction, 0.0), covered, "at {t}");
        }
    }
}
