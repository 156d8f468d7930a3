//! Stage 1, WHERE TO: a preferred velocity for every agent.

mod by_goal;
mod cached;
pub mod chain;
mod closures;
mod corners;
pub mod domain;
pub mod dynamic_navmesh;
mod goal_cache;
mod hash;
mod heading;
pub mod map_field;
mod meanwhile;
pub mod multi_domain;
pub mod navmesh;
mod route;
pub mod search;
mod space;
pub mod straight;
pub mod tunnel;
pub mod visibility_graph;
pub mod waypoints;

pub use dynamic_navmesh::DynamicNavmesh;
pub use map_field::MapField;
pub use meanwhile::Meanwhile;
pub use multi_domain::MultiDomain;
pub use navmesh::Navmesh;
pub use route::Guide;
pub use straight::Straight;
pub use visibility_graph::VisibilityGraph;

use glam::Vec2;
use throng_core::handover::Intents;
use throng_core::memory::Remember;
use throng_core::params::Params;
use throng_core::world::View;

/// A way to the goal.
///
/// What has to outlive a step is in its [`memory`](Macroscale::memory). Whatever else it keeps may make it faster and never
/// change what it answers: a checkpoint does not hold it.
pub trait Macroscale: Send + Sync {
    /// Works out what follows from the map alone, so that the first step need not.
    fn prepare(&mut self, _: View<'_>) {}

    /// Writes every agent's preferred velocity, and plans what has to be planned. Called once a step.
    fn run(&mut self, view: View<'_>, out: &mut Intents);

    /// What an agent wants now by what is planned for it: what [`run`](Macroscale::run) would write if it planned nothing new.
    fn intent(&self, view: View<'_>, row: usize) -> Intent;

    /// The shortest path between two places for a body of a radius, m from the world's origin, both ends included; `None`
    /// where there is none. A planner that knows no walls answers with the straight line.
    fn path(&self, view: View<'_>, from: Vec2, to: Vec2, radius: f32) -> Option<Vec<Vec2>>;

    /// An agent's whole path from where it is to its goal, m from the world's origin. `None` where there is none, or where the
    /// planner does not think in paths.
    fn route(&self, view: View<'_>, row: usize) -> Option<Vec<Vec2>>;

    /// The ids of agents whose goals could not be reached in the last [`run`](Macroscale::run), ascending.
    fn unreachable(&self) -> &[u32];

    /// What it remembers of agents from step to step.
    fn memory(&self) -> Option<&dyn Remember> {
        None
    }

    /// The same, to be changed.
    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        None
    }

    /// Whether the same world always gets the same answer: not where time on the clock decides.
    fn is_reproducible(&self) -> bool {
        true
    }

    /// What only planners have that share out their time among agents.
    fn tasks(&self) -> Option<&dyn Tasks> {
        None
    }
}

/// A planner that gives agents tasks, and shares out a budget among them.
pub trait Tasks {
    /// Which agents were planned for in the last run, in order.
    fn serviced(&self) -> &[multi_domain::TaskRecord];

    /// The tasks of an agent and their plans.
    fn explain(&self, view: View<'_>, row: usize) -> Vec<multi_domain::TaskExplanation>;

    /// Whether its velocities keep agents clear of one another by themselves: then no mesoscale turns them.
    fn keeps_clear(&self) -> bool;

    /// What it keeps for agents beside its memory, bytes.
    fn bytes(&self) -> usize;
}

/// What an agent wants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Intent {
    /// Preferred velocity, m/s.
    pub velocity: Vec2,
    /// The next stop of its route, or its goal, m from the world's origin.
    pub aim: Vec2,
    /// What it goes by, where the planner remembers that.
    pub guide: Guide,
    /// The id of the agent that it follows, where it follows one.
    pub leader: Option<u32>,
}

impl Intent {
    /// A velocity and the place that it leads to.
    pub(crate) fn new((velocity, aim): (Vec2, Vec2)) -> Intent {
        Intent { velocity, aim, ..Intent::default() }
    }
}

/// The parameters of a planner, and what makes the planner of them.
pub trait MacroscaleModel: Params {
    /// From the scenario's parameters and those of every cohort.
    fn planner(all: Self, cohorts: Vec<Self>) -> Box<dyn Macroscale>;
}
