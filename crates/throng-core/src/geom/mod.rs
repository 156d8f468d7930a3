//! Plane geometry on `glam` vectors that more than one room needs.

mod cone;
mod cones;
pub mod double;
mod exp;
pub mod lanes;
pub mod overlay;
mod pendulum;
mod timed;

pub use cone::{Cone, Line, MOST_CONES, SLACK, each_free};
pub use cones::{Cones as ConesTogether, Wanted};
pub use exp::exp;
pub use pendulum::{Pendulum, Swing};
pub use timed::between;

use glam::Vec2;

/// Twice the signed area of the triangle (0, a, b): positive where `b` lies to the left of `a`.
#[inline(always)]
pub fn det(a: Vec2, b: Vec2) -> f32 {
    a.x * b.y - a.y * b.x
}

/// The vector a quarter turn to the left.
#[inline(always)]
pub fn left(a: Vec2) -> Vec2 {
    Vec2::new(-a.y, a.x)
}

/// The unit vector along `a`, or `fallback` where `a` is too short to have a direction.
#[inline(always)]
pub fn unit_or(a: Vec2, fallback: Vec2) -> Vec2 {
    let length = a.length();
    if length > 1e-9 { a / length } else { fallback }
}

/// `a`, shortened to at most `limit`.
#[inline(always)]
pub fn at_most(a: Vec2, limit: f32) -> Vec2 {
    let squared = a.length_squared();
    if squared > limit * limit { a * (limit / squared.sqrt()) } else { a }
}

/// The point of segment `a`–`b` closest to `p`.
#[inline]
pub fn closest_on_segment(p: Vec2, a: Vec2, b: Vec2) -> Vec2 {
    let along = b - a;
    let length_squared = along.length_squared();
    if length_squared <= 0.0 {
        return a;
    }
    a + along * ((p - a).dot(along) / length_squared).clamp(0.0, 1.0)
}

/// Whether the segments `a`–`b` and `c`–`d` have a point in common, ends included.
pub fn segments_meet(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> bool {
    let (c_side, d_side) = (det(b - a, c - a), det(b - a, d - a));
    let (a_side, b_side) = (det(d - c, a - c), det(d - c, b - c));
    // A point has no side: all lies on it.
    if c_side == 0.0 && d_side == 0.0 && (a != b || a_side == 0.0) {
        let (low, high) = (a.min(b), a.max(b));
        return c.min(d).cmple(high).all() && c.max(d).cmpge(low).all();
    }
    c_side * d_side <= 0.0 && a_side * b_side <= 0.0
}

/// Whether `p` lies inside a ring (even-odd rule), and the point of the ring's edge closest to it.
pub fn inside_ring(p: Vec2, ring: &[Vec2]) -> (bool, Vec2) {
    let mut inside = false;
    let mut closest = ring.first().copied().unwrap_or(p);
    let mut previous = ring.last().copied().unwrap_or(p);
    for &corner in ring {
        if (corner.y > p.y) != (previous.y > p.y) {
            let x = corner.x + (p.y - corner.y) / (previous.y - corner.y) * (previous.x - corner.x);
            inside ^= p.x < x;
        }
        let candidate = closest_on_segment(p, previous, corner);
        if candidate.distance_squared(p) < closest.distance_squared(p) {
            closest = candidate;
        }
        previous = corner;
    }
    (inside, closest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collinear_segments_meet_only_where_they_overlap() {
        let at = |x: f32| Vec2::new(x, 2.0 * x);
        assert!(segments_meet(at(0.0), at(2.0), at(1.0), at(3.0)));
        assert!(!segments_meet(at(0.0), at(1.0), at(2.0), at(3.0)));
    }

    #[test]
    fn a_point_meets_a_segment_that_it_lies_on_alone() {
        let (low, high) = (Vec2::ZERO, Vec2::new(4.0, 2.0));
        for (point, meets) in [(Vec2::new(2.0, 1.0), true), (Vec2::new(2.0, 1.5), false), (low, true)] {
            assert_eq!(segments_meet(point, point, low, high), meets, "{point}");
            assert_eq!(segments_meet(low, high, point, point), meets, "{point}");
        }
    }

    #[test]
    fn a_point_is_inside_its_square() {
        let ring = [Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y];
        assert_eq!(inside_ring(Vec2::new(0.5, 0.25), &ring), (true, Vec2::new(0.5, 0.0)));
        assert_eq!(inside_ring(Vec2::new(2.0, 0.5), &ring), (false, Vec2::new(1.0, 0.5)));
    }
}
