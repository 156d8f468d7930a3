//! Stage 2, AMONG WHOM: a preferred velocity, adapted to the crowd around.

pub mod density;
pub mod groups;
mod world_field;

pub use density::{Density, Probe};
pub use groups::Groups;
pub use world_field::WorldField;

use glam::Vec2;
use throng_core::geom::{Cone, left};
use throng_core::handover::Intents;
use throng_core::memory::Remember;
use throng_core::params::Params;
use throng_core::world::View;

/// A way to take the crowd into account.
///
/// What has to outlive a step is in its [`memory`](Mesoscale::memory). Whatever else it keeps may make it faster and never
/// change what it answers: a checkpoint does not hold it.
pub trait Mesoscale: Send + Sync {
    /// Adapts every agent's preferred velocity. Called once a step.
    fn run(&mut self, view: View<'_>, intents: &mut Intents);

    /// What one agent perceives now, given what every agent wants so far. Remembers nothing of it.
    fn explain(&mut self, view: View<'_>, intents: &Intents, row: usize) -> Perceived;

    /// What it remembers of agents from step to step.
    fn memory(&self) -> Option<&dyn Remember> {
        None
    }

    /// The same, to be changed.
    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        None
    }
}

/// The parameters of a mesoscale model, from which it is made.
pub trait MesoscaleModel: Params {
    /// The model, from the values of every cohort.
    fn model(cohorts: Vec<Self>) -> Box<dyn Mesoscale>;
}

/// What one agent perceives.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Perceived {
    /// Groups, nearest first.
    pub groups: Vec<PerceivedGroup>,
    /// Looks at the crowd ahead: straight on, to the preferred side, to the other one.
    pub looks: Vec<Probe>,
    /// What it would make of what it wants, m/s.
    pub adapted: Vec2,
}

/// A group as one agent perceives it.
#[derive(Clone, Debug, PartialEq)]
pub struct PerceivedGroup {
    /// Its members' ids, in order.
    pub members: Vec<u32>,
    /// Their mean velocity, m/s.
    pub velocity: Vec2,
    /// Velocities that lead into it; `None` where the agent stands among its members.
    pub cone: Option<Cone>,
}

/// Whether no wall is in the way of a body that goes from a place by `way`, m.
pub(crate) fn is_open(view: View<'_>, from: Vec2, way: Vec2, radius: f32) -> bool {
    // Only at the far end: where the agent stands, it may touch a wall.
    let aside = left(way.normalize_or_zero()) * radius;
    view.walls.all().is_empty()
        || [-aside, Vec2::ZERO, aside]
            .into_iter()
            .all(|aside| !view.walls.block_far(from, from + way + aside))
}
