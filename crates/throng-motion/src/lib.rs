//! Stage 4, MOVE: bodies take their velocities, then stop where another body or a wall stands.

mod contact;
mod footsteps;
mod holonomic;
mod walls;

pub use contact::Contact;
pub use footsteps::Footsteps;
pub use holonomic::{AccelerationLimited, Holonomic};

use contact::Contacts;
use throng_core::handover::{Commands, Intents, Moves};
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
    contact: Contact,
    contacts: Contacts,
}

impl Bodies {
    /// Bodies that move in a way.
    pub fn new(motion: Box<dyn Motion>, contact: Contact) -> Bodies {
        Bodies { motion, contact, contacts: Contacts::default() }
    }

    /// The legs that they walk on, where they do.
    pub fn legs(&self) -> Option<Legs> {
        self.motion.legs()
    }

    /// Writes where every agent will be.
    pub fn run(&mut self, view: View<'_>, intents: &Intents, input: &Commands, out: &mut Moves) {
        self.motion.run(view, input, out);
        if self.contact.on {
            // First, or walls would push a body into another one after these have parted.
            walls::hold(view, input, out);
            self.contact.run(view, intents, input, &mut self.contacts, out);
        }
        walls::hold(view, input, out);
    }
}
