//! Stage 1, WHERE TO: a preferred velocity for every agent.

mod straight;

pub use straight::Straight;

use throng_core::handover::Intents;
use throng_core::world::View;

/// A way to the goal.
pub trait Macroscale: Send + Sync {
    /// Writes every agent's preferred velocity.
    fn run(&mut self, view: View<'_>, out: &mut Intents);
}
