//! Stage 4, MOVE: bodies take their velocities, then stop where another body or a wall stands.

mod footsteps;
mod holonomic;
mod separation;
mod walls;

pub use footsteps::Footsteps;
pub use holonomic::{AccelerationLimited, Holonomic};
pub use separation::Separation;

use separation::Contacts;
use throng_core::handover::{Commands, Moves};
use throng_core::world::{Legs, View};

/// A way to move: which velocity a body really takes.
pub trait Motion: Send + Sync {
    /// Writes the velocities that bodies take, and where these would lead.
    fn run(&mut self, view: View<'_>, input: &Commands, out: &mut Moves);

    /// The legs that bodies walk on, where they do. For all others gaps in the ground are walls.
    fn legs(&self) -> Option<Legs> {
        None
    }
}

/// The whole stage: a way to move, and what no body can do, whatever its way.
pub struct Bodies {
    motion: Box<dyn Motion>,
    separation: Separation,
    contacts: Contacts,
}

impl Bodies {
    /// Bodies that move in a way.
    pub fn new(motion: Box<dyn Motion>, separation: Separation) -> Bodies {
        Bodies { motion, separation, contacts: Contacts::default() }
    }

    /// The legs that they walk on, where they do.
    pub fn legs(&self) -> Option<Legs> {
        self.motion.legs()
    }

    /// Writes where every agent will be.
    pub fn run(&mut self, view: View<'_>, input: &Commands, out: &mut Moves) {
        self.motion.run(view, input, out);
        if self.separation.on {
            self.separation.run(view, input, &mut self.contacts, out);
        }
        walls::hold(view, input, out);
    }
}
