//! # Bodies that take their velocity at once, or within what their legs allow

use crate::Motion;
use glam::Vec2;
use throng_core::CHUNK;
use throng_core::geom::at_most;
use throng_core::handover::{Commands, Moves};
use throng_core::parallel::for_chunks;
use throng_core::world::View;

throng_core::params! {
    /// Bodies take their chosen velocity at once.
    pub struct Holonomic("holonomic") {
    }
}

throng_core::params! {
    /// Bodies change their velocity by a limited acceleration.
    pub struct AccelerationLimited("acceleration-limited") {
        /// The most that the velocity can change.
        max_acceleration: f32 = 5.0, "m/s2", Limit::above(0.0).up_to(1000.0);
    }
}

impl Motion for Holonomic {
    fn run(&mut self, view: View<'_>, input: &Commands, out: &mut Moves) {
        advance(view, input, out, |_, chosen| chosen);
    }
}

impl Motion for AccelerationLimited {
    fn run(&mut self, view: View<'_>, input: &Commands, out: &mut Moves) {
        let most = self.max_acceleration * view.dt;
        advance(view, input, out, |now, chosen| now + at_most(chosen - now, most));
    }
}

fn advance(view: View<'_>, input: &Commands, out: &mut Moves, change: impl Fn(Vec2, Vec2) -> Vec2 + Sync) {
    let columns = (&mut out.x[..], &mut out.y[..], &mut out.vx[..], &mut out.vy[..]);
    for_chunks(CHUNK, columns, &|chunk, (x, y, vx, vy)| {
        for i in 0..x.len() {
            let row = chunk * CHUNK + i;
            let chosen = at_most(Vec2::new(input.vx[row], input.vy[row]), view.agents.max_speed[row]);
            let velocity = change(view.velocity(row), chosen);
            (vx[i], vy[i]) = velocity.into();
            (x[i], y[i]) = (view.position(row) + velocity * view.dt).into();
        }
    });
}
