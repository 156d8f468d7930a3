//! What every way to the goal needs: where the goal is for a row, and how fast to head somewhere.
//!
//! Always inlined: a view is a dozen slices, and to pass it on costs five times what is worked out here.

use glam::Vec2;
use throng_core::geom::inside_ring;
use throng_core::world::{Status, View};

/// Where a row wants to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The goal point; for an area the nearest point of its edge.
    pub reach: Vec2,
    /// Where to head in order to reach it. For an area a step beyond its edge, so that it is crossed and not only reached.
    pub aim: Vec2,
}

/// Where a row wants to be; nowhere else where it is inside its area.
#[inline(always)]
pub(crate) fn target(view: View<'_>, row: usize) -> Target {
    let position = view.position(row);
    let cohort = &view.cohorts[view.agents.cohort[row] as usize];
    let Some(ring) = &cohort.area else {
        let goal = Vec2::new(view.agents.goal_x[row], view.agents.goal_y[row]);
        return Target { reach: goal, aim: goal };
    };
    match inside_ring(position, ring) {
        (true, _) => Target { reach: position, aim: position },
        (false, edge) => {
            let beyond = (edge - position).normalize_or_zero() * view.agents.radius[row];
            Target { reach: edge, aim: edge + beyond }
        }
    }
}

/// Whether a row's time to walk has not come.
#[inline(always)]
pub(crate) fn waits(view: View<'_>, row: usize) -> bool {
    view.agents.status[row] == Status::Waiting
}

/// As fast as preferred to a place where the way ends, and no further within a step: it would swing around it.
#[inline(always)]
pub(crate) fn to_end(view: View<'_>, row: usize, place: Vec2) -> Vec2 {
    let offset = place - view.position(row);
    let distance = offset.length();
    let speed = view.agents.preferred_speed[row].min(distance / view.dt);
    if distance > 0.0 { offset * (speed / distance) } else { Vec2::ZERO }
}

/// As fast as preferred towards a place where the way goes on.
#[inline(always)]
pub(crate) fn through(view: View<'_>, row: usize, place: Vec2) -> Vec2 {
    let offset = place - view.position(row);
    let distance = offset.length();
    if distance > 0.0 { offset * (view.agents.preferred_speed[row] / distance) } else { Vec2::ZERO }
}
