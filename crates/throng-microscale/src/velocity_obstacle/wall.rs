//! # Walls as half-planes (van den Berg et al. 2011, section 4.3)
//! The velocity obstacle of a segment is the cone around it, cut off by the segment itself at the time horizon.
//! The agent takes on the whole avoidance: a wall takes none.
//!
//! Deviation: each wall stands alone, and tangents are taken at whichever end is the outer one. RVO2 links walls to
//! chains and hands legs from one to the next, which goes wrong where a polygon is wound the other way.

use super::Planes;
use crate::around::{Ego, MAX_WALLS};
use glam::Vec2;
use throng_core::few::Few;
use throng_core::geom::{closest_on_segment, det, left, unit_or};
use throng_core::space::Wall;

/// Adds a half-plane per wall, nearest first, but for those that the planes so far already keep away.
pub fn wall_planes(ego: &Ego, walls: &Few<Wall, MAX_WALLS>, time_horizon: f32, planes: &mut Planes) {
    for wall in walls {
        let (a, b) = (wall.a - ego.position, wall.b - ego.position);
        if covered(planes, a / time_horizon, b / time_horizon, ego.radius / time_horizon) {
            continue;
        }
        let (point, direction) = plane(ego, a, b, time_horizon);
        planes.push(point, direction);
    }
    planes.walls = planes.len;
}

/// Whether a plane forbids everything around the cut-off anyway.
fn covered(planes: &Planes, a: Vec2, b: Vec2, radius: f32) -> bool {
    (0..planes.len)
        .any(|i| planes.violation(i, a) >= radius - 1e-5 && planes.violation(i, b) >= radius - 1e-5)
}

/// A half-plane as point and direction, for a wall from `a` to `b` as seen from the agent.
fn plane(ego: &Ego, a: Vec2, b: Vec2, time_horizon: f32) -> (Vec2, Vec2) {
    let nearest = closest_on_segment(Vec2::ZERO, a, b);
    if nearest.length_squared() <= ego.radius * ego.radius {
        // In contact: no closer.
        let away = unit_or(-nearest, unit_or(left(b - a), Vec2::X));
        return (Vec2::ZERO, -left(away));
    }
    let (left_end, left_leg) = outer(a, b, ego.radius, 1.0);
    let (right_end, right_leg) = outer(a, b, ego.radius, -1.0);
    let cut = CutOff {
        left: left_end / time_horizon,
        right: right_end / time_horizon,
        radius: ego.radius / time_horizon,
        left_leg,
        right_leg,
    };
    cut.closest_plane(ego.velocity)
}

/// The end whose tangent is the outer one on a side (1 left, -1 right), and that tangent.
fn outer(a: Vec2, b: Vec2, radius: f32, side: f32) -> (Vec2, Vec2) {
    let (from_a, from_b) = (tangent(a, radius, side), tangent(b, radius, side));
    if side * det(from_a, from_b) > 0.0 { (b, from_b) } else { (a, from_a) }
}

/// The direction in which a disc is just touched on a side (1 left, -1 right).
fn tangent(middle: Vec2, radius: f32, side: f32) -> Vec2 {
    let squared = middle.length_squared();
    let leg = (squared - radius * radius).max(0.0).sqrt();
    (middle * leg + left(middle) * (side * radius)) / squared
}

struct CutOff {
    left: Vec2,
    right: Vec2,
    radius: f32,
    left_leg: Vec2,
    right_leg: Vec2,
}

impl CutOff {
    /// The plane at the point of the obstacle's edge that is closest to a velocity.
    fn closest_plane(&self, velocity: Vec2) -> (Vec2, Vec2) {
        let span = self.right - self.left;
        let is_point = span.length_squared() <= 1e-12;
        let along = if is_point { 0.5 } else { (velocity - self.left).dot(span) / span.length_squared() };
        let along_left = (velocity - self.left).dot(self.left_leg);
        let along_right = (velocity - self.right).dot(self.right_leg);
        if (along < 0.0 && along_left < 0.0) || (is_point && along_left < 0.0 && along_right < 0.0) {
            return self.on_circle(self.left, velocity);
        }
        if along > 1.0 && along_right < 0.0 {
            return self.on_circle(self.right, velocity);
        }
        let distance =
            |counts: bool, to: Vec2| if counts { velocity.distance_squared(to) } else { f32::INFINITY };
        let to_front = distance(!is_point && (0.0..=1.0).contains(&along), self.left + along * span);
        let to_left = distance(along_left >= 0.0, self.left + along_left * self.left_leg);
        let to_right = distance(along_right >= 0.0, self.right + along_right * self.right_leg);
        if to_front <= to_left && to_front <= to_right {
            // Seen from the agent the front runs from right to left, so that the agent's side is permitted.
            self.beside(self.left, unit_or(-span, Vec2::X))
        } else if to_left <= to_right {
            self.beside(self.left, self.left_leg)
        } else {
            self.beside(self.right, -self.right_leg)
        }
    }

    fn on_circle(&self, middle: Vec2, velocity: Vec2) -> (Vec2, Vec2) {
        let out = unit_or(velocity - middle, unit_or(-middle, Vec2::X));
        (middle + self.radius * out, -left(out))
    }

    fn beside(&self, middle: Vec2, direction: Vec2) -> (Vec2, Vec2) {
        (middle + self.radius * left(direction), direction)
    }
}
