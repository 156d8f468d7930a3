//! Stage 2, AMONG WHOM: a preferred velocity, adapted to the crowd around.

pub mod groups;

pub use groups::Groups;

use glam::Vec2;
use throng_core::geom::Cone;
use throng_core::handover::Intents;
use throng_core::world::View;

/// A way to take the crowd into account.
pub trait Mesoscale: Send + Sync {
    /// Adapts every agent's preferred velocity, and writes which side it will remember.
    fn run(&mut self, view: View<'_>, intents: &mut Intents);
    /// What one agent perceives now, given what the macroscale wants of everybody.
    fn explain(&mut self, view: View<'_>, intents: &Intents, row: usize) -> Vec<Perceived>;
}

/// A group as one agent perceives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Perceived {
    /// Its members' ids, in order.
    pub members: Vec<u32>,
    /// Their mean velocity, m/s.
    pub velocity: Vec2,
    /// Velocities that lead into it; `None` where the agent stands among its members.
    pub cone: Option<Cone>,
}
