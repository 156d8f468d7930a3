//! # Patience
use crate::around::Ego;
use glam::Vec2;

throng_core::params! {
    /// What agents do when they are held up.
    pub struct Patience("patience") {
        /// Whether.
        on: bool = true, "", Limit::from(0.0);
        /// How long.
        memory: f32 = 2.0, "s", Limit::above(0.0);
        /// From which
        tolerance: f32 = 0.2, "", Limit::from(0.0).up_to(0.99);
        /// At most
        max_turn: f32 = 1.2, "rad", Limit::from(0.0).up_to(3.2);
    }
}

impl Patience {
    #[inline(always)]
    pub(crate) fn turn(&self, ego: &mut Ego, frustration: f32) -> f32 {
        if !self.on {
            return 0.0;
        }
        let wanted = ego.preferred.length_squared();
        let lag = if wanted > 1e-6 { (1.0 - ego.velocity.dot(ego.preferred) / wanted).clamp(0.0, 1.0) } else { 0.0 };
        let frustration = frustration + (lag - frustration) * (ego.dt / self.memory).min(1.0);
        if frustration > self.tolerance {
            let angle = -self.max_turn * (frustration - self.tolerance) / (1.0 - self.tolerance);
            ego.preferred = Vec2::from_angle(angle).rotate(ego.preferred);
        }
        frustration
    }
}
