//! T0: moves agents along their plans.

use super::{Planner, wide};
use glam::{DVec2, Vec2};
use rayon::prelude::*;
use throng_core::CHUNK;
use throng_core::geom::at_most;
use throng_core::handover::Intents;
use throng_core::world::View;

impl Planner {
    /// The velocity that leads to where the plan is after this step, for everybody. Whoever has no plan stands.
    pub(super) fn execute(&self, view: View<'_>, out: &mut Intents) {
        let columns = (
            out.vx.par_chunks_mut(CHUNK),
            out.vy.par_chunks_mut(CHUNK),
            out.aim.par_chunks_mut(CHUNK),
            out.aloft.par_chunks_mut(CHUNK),
        );
        columns.into_par_iter().enumerate().for_each(|(chunk, (vx, vy, aim, aloft))| {
            for i in 0..vx.len() {
                let row = chunk * CHUNK + i;
                let velocity = self.velocity(view, row);
                (vx[i], vy[i]) = velocity.into();
                aloft[i] = self.is_aloft(view, row);
                let plan = self.plan(view, view.agents.id[row]);
                aim[i] = plan.way.first().map_or(view.position(row), |bend| bend.as_vec2());
            }
        });
    }

    /// Whether the plan leads over a jump, or onto, along or off a platform.
    fn is_aloft(&self, view: View<'_>, row: usize) -> bool {
        let Some(ground) = self.grounds.of(view, row).filter(|ground| ground.leaves_the_floor()) else {
            return false;
        };
        let plan = self.plan(view, view.agents.id[row]);
        let here = wide(view.position(row));
        plan.valid && plan.place(view.now + view.tick).is_some_and(|next| !ground.is_floor(here, next))
    }

    fn velocity(&self, view: View<'_>, row: usize) -> Vec2 {
        let plan = self.plan(view, view.agents.id[row]);
        let here = wide(view.position(row));
        let next = match plan.place(view.now + view.tick) {
            Some(next) if plan.valid => next,
            next => self.way_out(view, row).or(next).unwrap_or(here),
        };
        at_most(((next - here) / view.tick).as_vec2(), view.agents.max_speed[row])
    }

    /// Where one goes next whom an obstacle has come down on: straight to where there is room. Nothing can be planned before.
    fn way_out(&self, view: View<'_>, row: usize) -> Option<DVec2> {
        let ground = self.grounds.of(view, row)?;
        let here = wide(view.position(row));
        let room = ground.way_out(here)?;
        let step = f64::from(view.agents.preferred_speed[row]) * view.tick;
        Some(here + (room - here).clamp_length_max(step))
    }
}
