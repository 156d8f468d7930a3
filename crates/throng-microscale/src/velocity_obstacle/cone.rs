//! # Velocity obstacles as cones (Snape et al. 2012, section 2)
//! VO, RVO and HRVO are one shape with different apexes.

use crate::around::{Ego, MAX_OTHERS};
use glam::Vec2;
use throng_core::few::Few;
use throng_core::geom::{Cone, left, unit_or};

/// The part of its highest speed with which an agent parts from another at the most.
pub(super) const HURRY: f32 = 0.9;

/// Cones, nearest other first.
pub type Cones = Few<Cone, MAX_OTHERS>;

/// The velocities that lead towards another agent, seen from an apex. `towards` and the sum of radii `reach` are in
/// metres. In contact the sides are square to the way towards the other, and the apex is moved back by as much
/// as the two must part within a step.
pub fn cone_towards(ego: &Ego, towards: Vec2, reach: f32, apex: Vec2, share: f32, part: f32) -> Cone {
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
        let cone = cone_towards(&ego(), Vec2::new(2.0, 0.0), 1.0, Vec2::ZERO, 1.0, 1.0);
        assert!(cone.forbids(Vec2::new(1.0, 0.0), 0.0));
        assert!(cone.forbids(Vec2::from_angle(0.52), 0.0), "just inside asin(1/2)");
        assert!(!cone.forbids(Vec2::from_angle(0.53), 0.0), "just outside");
        assert!(!cone.forbids(Vec2::new(-1.0, 0.0), 0.0));
    }
}
