//! # Patience
use crate::around::Ego;
use glam::Vec2;

throng_core::params! {
    /// What agents do when they are held up.
    pub struct Patience("patience") {
        /// Whether.
        on: bool = true, "", Limit::from(0.0);
        /// How long.
        memory: f32 = 1.0, "s", Limit::above(0.0);
        /// forget
        forget: f32 = 2.0, "s", Limit::above(0.0);
        /// From which
        tolerance: f32 = 0.2, "", Limit::from(0.0).up_to(0.99);
        /// At most
        max_turn: f32 = 1.57, "rad", Limit::from(0.0).up_to(3.2);
    }
}

impl Patience {
    #[inline(always)]
    pub(crate) fn turn(&self, ego: &mut Ego, frustration: f32) -> f32 {
        if !self.on {
            return 0.0;
        }
        let tried = self.turned(ego.preferred, frustration);
        let wanted = tried.length_squared();
        let lag = if wanted > 1e-6 { (1.0 - ego.velocity.dot(tried) / wanted).clamp(0.0, 1.0) } else { 0.0 };
        let frustration = frustration + (lag - frustration) * (ego.dt / if lag > frustration { self.memory } else { self.forget }).min(1.0);
        ego.preferred = self.turned(ego.preferred, frustration);
        frustration
    }

    fn turned(&self, preferred: Vec2, frustration: f32) -> Vec2 {
        if frustration <= self.tolerance {
            return preferred;
        }
        let angle = -self.max_turn * (frustration - self.tolerance) / (1.0 - self.tolerance);
        Vec2::from_angle(angle).rotate(preferred)
    }
}
