//! Stage 4, MOVE: bodies take their velocities.

mod holonomic;
mod separation;

pub use holonomic::{AccelerationLimited, Holonomic};
pub use separation::{Separation, SeparationParams};

use throng_core::handover::{Commands, Moves};
use throng_core::world::View;

/// A way to move.
pub trait Motion: Send + Sync {
    /// Writes where everybody will be.
    fn run(&mut self, view: View<'_>, input: &Commands, out: &mut Moves);
}
