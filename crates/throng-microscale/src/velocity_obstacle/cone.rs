//! # Velocity obstacles as cones (Snape et al. 2012, section 2)
//! VO, RVO and HRVO are one shape with different apexes.

use crate::around::{Ego, MAX_OTHERS};
use arrayvec::ArrayVec;
use glam::Vec2;
use throng_core::geom::{det, left, unit_or};

/// The part of its highest speed with which an agent parts from somebody at the most.
const HURRY: f32 = 0.9;

/// Cones, nearest other first.
pub type Cones = ArrayVec<Cone, MAX_OTHERS>;

/// Forbidden velocities: what lies between two sides. A half-plane where they are opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// Where the sides meet, m/s.
    pub apex: Vec2,
    /// Unit vector along the left side.
    pub left: Vec2,
    /// Unit vector along the right side.
    pub right: Vec2,
}

impl Cone {
    /// The velocities that lead towards somebody, seen from an apex. `towards` and the sum of radii `reach` are in
    /// metres. In contact the sides are square to the way towards the other, and the apex is moved back by as much
    /// as the two must part within a step.
    pub fn new(ego: &Ego, towards: Vec2, reach: f32, apex: Vec2, share: f32, part: f32) -> Cone {
        let squared = towards.length_squared();
        if squared > reach * reach {
            let leg = (squared - reach * reach).sqrt();
            let (middle, across) = (towards * leg, left(towards) * reach);
            return Cone { apex, left: (middle + across) / squared, right: (middle - across) / squared };
        }
        let towards_unit = unit_or(towards, Vec2::new(-part, 0.0));
        // No faster than the agent can: a side beyond its speed leaves no velocity at all, and then it would be ignored.
        let most = (apex.dot(towards_unit) + HURRY * ego.max_speed).max(0.0);
        let part_speed = (share * (reach - squared.sqrt()) / ego.dt).min(most);
        let side = left(towards_unit);
        Cone { apex: apex - part_speed * towards_unit, left: side, right: -side }
    }

    /// Whether a velocity is forbidden: by more than `slack` (m/s) from both sides.
    pub fn forbids(&self, velocity: Vec2, slack: f32) -> bool {
        let from_apex = velocity - self.apex;
        det(self.right, from_apex) > slack && det(from_apex, self.left) > slack
    }

    /// The part of the line `point + t direction` that is forbidden; empty where the first number is not below the
    /// second.
    #[inline(always)]
    pub fn shadow(&self, point: Vec2, direction: Vec2) -> (f32, f32) {
        let from_apex = point - self.apex;
        let right = above(det(self.right, from_apex), det(self.right, direction));
        let left = above(det(from_apex, self.left), det(direction, self.left));
        (right.0.max(left.0), right.1.min(left.1))
    }
}

/// Where `start + t * slope` is positive.
#[inline(always)]
fn above(start: f32, slope: f32) -> (f32, f32) {
    if slope.abs() < 1e-9 {
        return if start > 1e-6 {
            (f32::NEG_INFINITY, f32::INFINITY)
        } else {
            (f32::INFINITY, f32::NEG_INFINITY)
        };
    }
    let zero = -start / slope;
    if slope > 0.0 { (zero, f32::INFINITY) } else { (f32::NEG_INFINITY, zero) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ego() -> Ego {
        Ego {
            row: 0,
            position: Vec2::ZERO,
            velocity: Vec2::ZERO,
            preferred: Vec2::ZERO,
            radius: 0.5,
            max_speed: 2.0,
            dt: 0.1,
        }
    }

    #[test]
    fn forbids_what_leads_to_a_collision_and_nothing_else() {
        let cone = Cone::new(&ego(), Vec2::new(2.0, 0.0), 1.0, Vec2::ZERO, 1.0, 1.0);
        assert!(cone.forbids(Vec2::new(1.0, 0.0), 0.0));
        assert!(cone.forbids(Vec2::from_angle(0.52), 0.0), "just inside asin(1/2)");
        assert!(!cone.forbids(Vec2::from_angle(0.53), 0.0), "just outside");
        assert!(!cone.forbids(Vec2::new(-1.0, 0.0), 0.0));
    }

    #[test]
    fn the_shadow_on_a_line_is_where_it_is_forbidden() {
        let cone = Cone::new(&ego(), Vec2::new(2.0, 0.3), 1.0, Vec2::new(0.2, -0.1), 0.5, 1.0);
        let (point, direction) = (Vec2::new(1.0, -2.0), Vec2::new(0.1, 1.0).normalize());
        let (low, high) = cone.shadow(point, direction);
        for t in [-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0] {
            assert_eq!(cone.forbids(point + t * direction, 0.0), low < t && t < high, "at {t}");
        }
    }
}
