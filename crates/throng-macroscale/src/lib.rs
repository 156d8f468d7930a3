//! Stage 1, WHERE TO: a preferred velocity for every agent.

mod by_goal;
pub mod chain;
mod corners;
pub mod domain;
pub mod dynamic_navmesh;
mod heading;
pub mod map_field;
pub mod multi_domain;
pub mod navmesh;
pub mod search;
mod space;
mod straight;
pub mod tunnel;
mod visibility_graph;
pub mod waypoints;

pub use dynamic_navmesh::DynamicNavmesh;
pub use map_field::MapField;
pub use multi_domain::MultiDomain;
pub use navmesh::NavMesh;
pub use straight::Straight;
pub use visibility_graph::VisibilityGraph;

use glam::Vec2;
use throng_core::handover::Intents;
use throng_core::world::View;

/// A way to the goal.
///
/// What a model keeps from step to step may make it faster and never change what it answers: a checkpoint does not hold it.
pub trait Macroscale: Send + Sync {
    /// Writes every agent's preferred velocity.
    fn run(&mut self, view: View<'_>, out: &mut Intents);

    /// The rows, ascending, that had no way to their goals in the last [`run`](Macroscale::run).
    fn stranded(&self) -> &[u32] {
        &[]
    }

    /// A row's whole way from where it is to its goal, m from the world's origin. `None` where there is no way, or where
    /// the model does not think in ways.
    fn route(&mut self, _view: View<'_>, _row: usize) -> Option<Vec<Vec2>> {
        None
    }

    /// Whether the same world always gets the same answer: not where time on the clock decides.
    fn is_reproducible(&self) -> bool {
        true
    }

    /// Whether its velocities keep clear of everybody by themselves: then no mesoscale turns anybody.
    fn keeps_clear(&self) -> bool {
        false
    }

    /// Who was thought about in the last run, in order, where the model takes turns.
    fn served(&self) -> &[multi_domain::Served] {
        &[]
    }

    /// The memory that it keeps for agents from step to step, beside what is in the world.
    fn bytes(&self) -> usize {
        0
    }

    /// A row's tasks and their plans, where the model has such.
    fn explain(&mut self, _view: View<'_>, _row: usize) -> Option<Vec<multi_domain::Explained>> {
        None
    }
}
