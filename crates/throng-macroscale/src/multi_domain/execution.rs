//! T0: moves agents along their plans.

use crate::multi_domain::plan::Plan;
use crate::multi_domain::{Session, wide};
use glam::{DVec2, Vec2};
use throng_core::CHUNK;
use throng_core::geom::at_most;
use throng_core::handover::Intents;
use throng_core::parallel::for_chunks;
use throng_core::world::View;

/// So long before a jump no agent is turned any more, s: local models see a wall ahead and would brake.
const RUN_UP: f64 = 1.5;

impl Session<'_> {
    /// The velocity that leads to where the plan is after this step, for every agent. One without a plan stands.
    pub(crate) fn execute(&self, view: View<'_>, out: &mut Intents) {
        let columns = (&mut out.vx[..], &mut out.vy[..], &mut out.aim[..], &mut out.airborne[..]);
        for_chunks(CHUNK, columns, &|chunk, (vx, vy, aim, airborne)| {
            for i in 0..vx.len() {
                let row = chunk * CHUNK + i;
                let velocity = self.velocity(view, row);
                (vx[i], vy[i]) = velocity.into();
                airborne[i] = self.is_airborne(view, row);
                aim[i] = self.aim(view, row);
            }
        });
    }

    /// The next bend of its way.
    pub(crate) fn aim(&self, view: View<'_>, row: usize) -> Vec2 {
        let plan = self.plan(view.agents.slot[row]);
        let ahead = if plan.led {
            self.next_bend(view, row, plan)
        } else {
            plan.bends_ahead(wide(view.position(row))).first().copied()
        };
        ahead.map_or(view.position(row), |bend| bend.as_vec2())
    }

    /// Where an agent is after this step.
    fn next(&self, view: View<'_>, row: usize) -> DVec2 {
        let plan = self.plan(view.agents.slot[row]);
        let here = wide(view.position(row));
        match plan.place(view.now + view.tick) {
            Some(next) if plan.valid => next,
            next => {
                let led = || self.led(view, row, plan);
                self.without_plan(view, row).or_else(led).or(next).unwrap_or(here)
            }
        }
    }

    /// Whether the step leads over a jump or up to one, or onto, along or off a platform.
    fn is_airborne(&self, view: View<'_>, row: usize) -> bool {
        let ground = self.known.maps.of(view, row).filter(|ground| ground.leaves_the_floor());
        let here = wide(view.position(row));
        let plan = self.plan(view.agents.slot[row]);
        ground.is_some_and(|ground| {
            let takes_off = || ground.take_off(view, plan).is_some_and(|begin| begin < view.now + RUN_UP);
            ground.carrier(here, view.now).is_some()
                || plan.valid && (!ground.is_floor(here, self.next(view, row)) || takes_off())
        })
    }

    pub(crate) fn velocity(&self, view: View<'_>, row: usize) -> Vec2 {
        let step = self.next(view, row) - wide(view.position(row));
        at_most((step / view.tick).as_vec2(), view.agents.max_speed[row])
    }

    /// Where one goes who is led by the local model: to the next bend of its way.
    fn led(&self, view: View<'_>, row: usize, plan: &Plan) -> Option<DVec2> {
        let bend = plan.led.then(|| self.next_bend(view, row, plan))??;
        let step = f64::from(view.agents.preferred_speed[row]) * view.tick;
        let here = wide(view.position(row));
        Some(here + (bend - here).clamp_length_max(step))
    }

    /// Where one goes who cannot plan: with the platform that it stands on, or away from a wall that it is pressed against.
    fn without_plan(&self, view: View<'_>, row: usize) -> Option<DVec2> {
        let ground = self.known.maps.of(view, row)?;
        let here = wide(view.position(row));
        if let Some(platform) = ground.carrier(here, view.now) {
            let [now, then] =
                [view.now, view.now + view.tick].map(|time| ground.platforms[platform].place(time));
            return Some(here + then? - now?);
        }
        let room = ground.way_out(here)?;
        let step = f64::from(view.agents.preferred_speed[row]) * view.tick;
        Some(here + (room - here).clamp_length_max(step))
    }
}
