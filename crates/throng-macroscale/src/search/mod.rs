//! Searches over any graph: they know states and costs, and nothing of geometry.
//!
//! A [`Domain`] says which states follow which and at what cost. Two searches go over it:
//! - [`AnytimeDynamicAstar`] has a way soon and a better one later, and mends it when costs change or the start moves.
//! - [`Astar`] finds the best path once. It is the plain one that the other is held against.
//!
//! # Roots and aim
//! A search grows from its *roots*, whose cost is zero, towards its *aim*. Anytime Dynamic A* goes against the direction of
//! travel: its roots are the goals, as many as there are, and its aim is the start. What it has worked out are costs to
//! the goal, and they stay true when the start moves.
//!
//! Where the goals cannot be listed beforehand (anywhere near a place, at any time within a window), it has to go the
//! other way: over [`Reversed`], with the start for its root and [`Aim::Ends`] for its aim. Then the start cannot move, and
//! all else works alike: inflation, budgets, mending after changes. What is a successor for `Reversed` is a predecessor
//! for the domain inside, and the states that [`AnytimeDynamicAstar::edges_changed`] has to be told of are those with
//! changed edges *into* them.
//!
//! ```
//! use throng_macroscale::search::{Aim, AnytimeDynamicAstar, Budget, Domain, Settings, Status};
//!
//! /// Whole numbers; one up costs 1, twice as much costs 1.5.
//! struct Numbers;
//!
//! impl Domain for Numbers {
//!     type State = u32;
//!     fn successors(&self, state: u32, out: &mut Vec<(u32, f32)>) {
//!         out.extend([(state + 1, 1.0), (state * 2, 1.5)]);
//!     }
//!     fn predecessors(&self, state: u32, out: &mut Vec<(u32, f32)>) {
//!         out.extend(state.checked_sub(1).map(|less| (less, 1.0)));
//!         out.extend((state % 2 == 0).then_some((state / 2, 1.5)));
//!     }
//!     fn heuristic(&self, from: u32, to: u32) -> f32 {
//!         if from > to { f32::INFINITY } else { 0.0 }
//!     }
//! }
//!
//! let mut search = AnytimeDynamicAstar::new(Settings::default(), Aim::At(3), &[25]);
//! assert_eq!(search.solve(&Numbers, Budget::expansions(1_000)), Status::Optimal);
//! let mut way = Vec::new();
//! assert_eq!(search.path(&Numbers, &mut way), Some(5.5));
//! assert_eq!(way, [3, 6, 12, 24, 25]);
//! ```

mod anytime_dynamic_astar;
mod arena;
mod astar;
mod heap;
mod plan;
mod reliance;

pub use anytime_dynamic_astar::{AnytimeDynamicAstar, Settings};
pub use astar::Astar;

use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::hash::Hash;

/// A graph to search: states, what leads from one to another, and at least how much that costs.
///
/// Costs are finite and above zero, and none is smaller than a millionth of the whole path's: single precision would lose
/// it in the sum. Successors and predecessors tell of the same edges with the same costs, and tell the same until the
/// search is told otherwise. Two edges may join the same two states.
pub trait Domain {
    /// What the graph is made of. It is copied and compared a lot: keep it small.
    type State: Copy + Eq + Hash + Debug;

    /// Adds every state that can follow, with the cost of the step. The order decides between ways of equal cost.
    fn successors(&self, state: Self::State, out: &mut Vec<(Self::State, f32)>);

    /// Adds every state that this one can follow, with the cost of the step.
    fn predecessors(&self, state: Self::State, out: &mut Vec<(Self::State, f32)>);

    /// At least so much costs the way from one state to another. Never negative, zero from a state to itself; infinite
    /// where there is certainly no way.
    ///
    /// It must be consistent: no larger than an edge's cost plus what it says from the edge's other end. With less the
    /// ways are still ways and their costs true, but no bound holds and mending may take long.
    fn heuristic(&self, from: Self::State, to: Self::State) -> f32;

    /// Whether a way may end here, for searches that head for [`Aim::Ends`].
    fn is_end(&self, _state: Self::State) -> bool {
        false
    }

    /// At least so much costs the way from a state to the nearest end, with the heuristic's duties; zero at an end.
    fn to_end(&self, _state: Self::State) -> f32 {
        0.0
    }

    /// Keeps an anytime search away from states, by so much cost: the distance from a tunnel (Kapadia et al. 2013,
    /// equation 6). Never negative. It is no part of the heuristic because it is not consistent with costs: states are
    /// found later because of it, but what has become dearer is still told on in the right order.
    fn penalty(&self, _state: Self::State) -> f32 {
        0.0
    }

    /// By how much [`Domain::penalty`] weakens every bound: heuristic and penalty together must change along an edge by
    /// no more than this times its cost, and the penalty must be zero at ends. A distance in the unit of costs makes
    /// it 2. Infinite where nothing is known; then no bound is claimed.
    fn looseness(&self) -> f32 {
        1.0
    }

    /// Whether successors come before a state in the direction of travel; see [`Reversed`].
    fn is_reversed(&self) -> bool {
        false
    }
}

/// A domain with all edges turned round, for searches that must go in the direction of travel.
#[derive(Debug)]
pub struct Reversed<'a, D>(pub &'a D);

impl<D: Domain> Domain for Reversed<'_, D> {
    type State = D::State;

    fn successors(&self, state: D::State, out: &mut Vec<(D::State, f32)>) {
        self.0.predecessors(state, out);
    }

    fn predecessors(&self, state: D::State, out: &mut Vec<(D::State, f32)>) {
        self.0.successors(state, out);
    }

    fn heuristic(&self, from: D::State, to: D::State) -> f32 {
        self.0.heuristic(to, from)
    }

    fn is_end(&self, state: D::State) -> bool {
        self.0.is_end(state)
    }

    fn to_end(&self, state: D::State) -> f32 {
        self.0.to_end(state)
    }

    fn penalty(&self, state: D::State) -> f32 {
        self.0.penalty(state)
    }

    fn looseness(&self) -> f32 {
        self.0.looseness()
    }

    fn is_reversed(&self) -> bool {
        !self.0.is_reversed()
    }
}

/// A domain whose heuristic says nothing: A* over it is Dijkstra's algorithm.
#[derive(Debug)]
pub struct Blind<'a, D>(pub &'a D);

impl<D: Domain> Domain for Blind<'_, D> {
    type State = D::State;

    fn successors(&self, state: D::State, out: &mut Vec<(D::State, f32)>) {
        self.0.successors(state, out);
    }

    fn predecessors(&self, state: D::State, out: &mut Vec<(D::State, f32)>) {
        self.0.predecessors(state, out);
    }

    fn heuristic(&self, _from: D::State, _to: D::State) -> f32 {
        0.0
    }

    fn is_end(&self, state: D::State) -> bool {
        self.0.is_end(state)
    }

    fn is_reversed(&self) -> bool {
        self.0.is_reversed()
    }
}

/// A domain whose heuristic counts as many times: A* over it is weighted A* (Pohl 1970). It expands fewer states, and its way
/// costs at most as many times the optimum.
#[derive(Debug)]
pub struct Inflated<'a, D>(pub &'a D, pub f32);

impl<D: Domain> Domain for Inflated<'_, D> {
    type State = D::State;

    fn successors(&self, state: D::State, out: &mut Vec<(D::State, f32)>) {
        self.0.successors(state, out);
    }

    fn predecessors(&self, state: D::State, out: &mut Vec<(D::State, f32)>) {
        self.0.predecessors(state, out);
    }

    fn heuristic(&self, from: D::State, to: D::State) -> f32 {
        self.1 * self.0.heuristic(from, to)
    }

    fn is_end(&self, state: D::State) -> bool {
        self.0.is_end(state)
    }

    fn to_end(&self, state: D::State) -> f32 {
        self.1 * self.0.to_end(state)
    }

    fn is_reversed(&self) -> bool {
        self.0.is_reversed()
    }
}

/// What a search heads for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Aim<S> {
    /// One state.
    At(S),
    /// The cheapest of all states that [`Domain::is_end`] knows. They need not be listed. Where other states become
    /// ends, the search has to begin anew.
    Ends,
}

/// How much a call may do. Counted and not timed, so that a busy machine changes no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(u64);

impl Budget {
    /// A number of expansions.
    pub fn expansions(count: u64) -> Budget {
        Budget(count)
    }

    /// How many expansions that is.
    pub fn count(self) -> u64 {
        self.0
    }

    /// Until there is nothing left to do. In a domain without end, and with no way, that is never.
    pub fn unlimited() -> Budget {
        Budget(u64::MAX)
    }
}

/// What a search can say of its way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Status {
    /// There is a path, and none is cheaper.
    Optimal,
    /// There is a path, and it costs at most this many times the optimum.
    Bounded(f32),
    /// The budget ran out; calling again goes on.
    OutOfBudget {
        /// There is a path from before, or from the work that was begun, and it costs at most this many times the optimum:
        /// infinite where nothing is known of that. `None`: there is no path yet.
        bound: Option<f32>,
    },
    /// There is no path.
    Unreachable,
}

/// What a search has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// States that were expanded, each time counted.
    pub expansions: u64,
    /// States that were looked at again because their steps had changed. Each takes about as long as an expansion.
    pub reevaluations: u64,
    /// Edges that these expansions looked at.
    pub edges: u64,
    /// How often all was forgotten and begun anew.
    pub restarts: u64,
}

impl Effort {
    /// Edges per expansion: the mean branching factor.
    pub fn branching(&self) -> f64 {
        self.edges as f64 / self.expansions.max(1) as f64
    }
}

/// The cost of the cheapest edge from one state to another.
fn edge_cost<D: Domain + ?Sized>(
    domain: &D,
    from: D::State,
    to: D::State,
    scratch: &mut Vec<(D::State, f32)>,
) -> Option<f32> {
    scratch.clear();
    domain.successors(from, scratch);
    let edges = scratch.iter().filter(|edge| edge.0 == to).map(|edge| edge.1);
    edges.min_by(f32::total_cmp).filter(|cost| cost.is_finite())
}
