//! # Straight to the goal
//! What Snape et al. (2012, section 3.B) do where the goal is visible: the preferred velocity points at it.

use crate::Macroscale;
use glam::Vec2;
use rayon::prelude::*;
use throng_core::CHUNK;
use throng_core::geom::inside_ring;
use throng_core::handover::Intents;
use throng_core::world::{Status, View};

/// Straight to the goal, as fast as preferred, and no further than the goal within a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Straight;

impl Macroscale for Straight {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        let columns = (out.vx.par_chunks_mut(CHUNK), out.vy.par_chunks_mut(CHUNK));
        columns.into_par_iter().enumerate().for_each(|(chunk, (vx, vy))| {
            for (i, (vx, vy)) in vx.iter_mut().zip(vy).enumerate() {
                (*vx, *vy) = preferred(view, chunk * CHUNK + i).into();
            }
        });
    }
}

fn preferred(view: View<'_>, row: usize) -> Vec2 {
    let agents = view.agents;
    if agents.status[row] == Status::Waiting {
        return Vec2::ZERO;
    }
    let position = view.position(row);
    let to_goal = goal(view, row, position) - position;
    let distance = to_goal.length();
    // Not beyond the goal: it would swing around it.
    let speed = agents.preferred_speed[row].min(distance / view.dt);
    if distance > 0.0 { to_goal * (speed / distance) } else { Vec2::ZERO }
}

/// The goal point; for an area the nearest point that is well inside it.
fn goal(view: View<'_>, row: usize, position: Vec2) -> Vec2 {
    let cohort = &view.cohorts[view.agents.cohort[row] as usize];
    let Some(ring) = &cohort.area else {
        return Vec2::new(view.agents.goal_x[row], view.agents.goal_y[row]);
    };
    match inside_ring(position, ring) {
        (true, _) => position,
        // A step beyond the edge, so that the edge is crossed and not only reached.
        (false, edge) => edge + (edge - position).normalize_or_zero() * view.agents.radius[row],
    }
}
