//! # Straight to the goal
//! What Snape et al. (2012, section 3.B) do where the goal is visible: the preferred velocity points at it.

use crate::heading::{target, to_end, waits};
use crate::{Intent, Macroscale, MacroscaleModel};
use glam::Vec2;
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::parallel::for_chunks;
use throng_core::world::{Status, View};

throng_core::params! {
    /// Straight to the goal, whatever is in the way.
    pub struct Straight("straight") {
    }
}

/// As fast as preferred, and no further than the goal within a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct StraightPlanner;

impl MacroscaleModel for Straight {
    fn planner(_: Straight, _: Vec<Straight>) -> Box<dyn Macroscale> {
        Box::new(StraightPlanner)
    }
}

impl Macroscale for StraightPlanner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        let columns = (&mut out.vx[..], &mut out.vy[..], &mut out.aim[..]);
        let only_points =
            view.destinations.is_empty() && view.cohorts.iter().all(|cohort| cohort.area.is_none());
        for_chunks(CHUNK, columns, &|chunk, (vx, vy, aim)| {
            let first = chunk * CHUNK;
            if only_points {
                return to_points(view, first, vx, vy, aim);
            }
            for (i, aim) in aim.iter_mut().enumerate() {
                *aim = target(view, first + i).aim;
                (vx[i], vy[i]) = preferred(view, first + i, *aim).into();
            }
        });
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        let aim = target(view, row).aim;
        Intent::new((preferred(view, row, aim), aim))
    }

    fn path(&self, _: View<'_>, from: Vec2, to: Vec2, _: f32) -> Option<Vec<Vec2>> {
        Some(vec![from, to])
    }

    fn route(&self, _: View<'_>, _: usize) -> Option<Vec<Vec2>> {
        None
    }

    fn unreachable(&self) -> &[u32] {
        &[]
    }
}

/// The same where every goal is a point, in loops that compilers turn into vectors.
fn to_points(view: View<'_>, first: usize, vx: &mut [f32], vy: &mut [f32], aim: &mut [Vec2]) {
    let rows = first..first + aim.len();
    let agents = view.agents;
    let goals = agents.goal_x[rows.clone()].iter().zip(&agents.goal_y[rows.clone()]);
    aim.iter_mut().zip(goals).for_each(|(aim, (&x, &y))| *aim = Vec2::new(x, y));
    let places = agents.x[rows.clone()].iter().zip(&agents.y[rows.clone()]);
    let bodies = places.zip(agents.preferred_speed[rows.clone()].iter().zip(&agents.status[rows]));
    let wishes = vx.iter_mut().zip(vy).zip(aim);
    for (((vx, vy), aim), ((&x, &y), (&speed, &status))) in wishes.zip(bodies) {
        let offset = *aim - Vec2::new(x, y);
        let distance = offset.length();
        let wish = offset * (speed.min(distance / view.dt) / distance);
        let walks = distance > 0.0 && status != Status::Waiting;
        (*vx, *vy) = if walks { wish.into() } else { (0.0, 0.0) };
    }
}

#[inline(always)]
fn preferred(view: View<'_>, row: usize, aim: Vec2) -> Vec2 {
    if waits(view, row) { Vec2::ZERO } else { to_end(view, row, aim) }
}
