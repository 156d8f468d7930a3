//! # Straight to the goal
//! What Snape et al. (2012, section 3.B) do where the goal is visible: the preferred velocity points at it.

use crate::heading::{target, to_end, waits};
use crate::{Intent, Macroscale, MacroscaleModel};
use glam::Vec2;
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::parallel::for_chunks;
use throng_core::world::View;

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
        for_chunks(CHUNK, columns, &|chunk, (vx, vy, aim)| {
            for (i, aim) in aim.iter_mut().enumerate() {
                let row = chunk * CHUNK + i;
                *aim = target(view, row).aim;
                (vx[i], vy[i]) = preferred(view, row, *aim).into();
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

#[inline(always)]
fn preferred(view: View<'_>, row: usize, aim: Vec2) -> Vec2 {
    if waits(view, row) { Vec2::ZERO } else { to_end(view, row, aim) }
}
