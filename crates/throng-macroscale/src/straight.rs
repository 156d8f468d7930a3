//! # Straight to the goal
//! What Snape et al. (2012, section 3.B) do where the goal is visible: the preferred velocity points at it.

use crate::Macroscale;
use crate::heading::{target, to_end, waits};
use glam::Vec2;
use rayon::prelude::*;
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::world::View;

/// Straight to the goal, as fast as preferred, and no further than the goal within a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Straight;

impl Macroscale for Straight {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        let columns =
            (out.vx.par_chunks_mut(CHUNK), out.vy.par_chunks_mut(CHUNK), out.aim.par_chunks_mut(CHUNK));
        columns.into_par_iter().enumerate().for_each(|(chunk, (vx, vy, aim))| {
            for (i, aim) in aim.iter_mut().enumerate() {
                let row = chunk * CHUNK + i;
                *aim = target(view, row).aim;
                (vx[i], vy[i]) = preferred(view, row, *aim).into();
            }
        });
    }
}

#[inline(always)]
fn preferred(view: View<'_>, row: usize, aim: Vec2) -> Vec2 {
    if waits(view, row) { Vec2::ZERO } else { to_end(view, row, aim) }
}
