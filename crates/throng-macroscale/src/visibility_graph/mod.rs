//! # Visibility graph (He & van den Berg 2013, Meso-scale planning for multi-agent navigation)
//! The paper takes a preferred velocity from any macroscale planner and uses a visibility graph in its experiments
//! (section III), without saying how it is made; this one gives the shortest way for a body of the agent's radius. Its
//! nodes lie around the corners of obstacles ([`nodes`]), its edges are the tangents between them that are clear of walls
//! ([`space`], [`graph`]). A tree of shortest ways is kept for each goal and radius ([`tree`]), and an agent heads for the
//! visible node with the least way over it.
//!
//! - Every step asks anew where an agent stands, see [`crate::by_goal`].
//! - Arcs around corners are polygons around them. A way is up to 1.3 % longer on the arc, and a gap may be up to 4 %
//!   wider than the body and yet count as closed, where no wall's direction is square to it.
//! - Weighed: grown polygons (needs boolean operations that survive every map) and paths that are followed until they
//!   break (cheaper by the step, but state that must be saved, and wrong after every push).

mod graph;
mod nodes;
mod sieve;
pub(crate) mod space;
mod tree;

use crate::Macroscale;
use crate::by_goal::{ByGoal, FirstStop, Planner};
use crate::heading::Target;
use glam::{DVec2, Vec2};
use graph::Graph;
use throng_core::handover::Intents;
use throng_core::space::Wall;
use throng_core::world::View;
use tree::Tree;

/// Around obstacles on the shortest way that the body fits through.
#[derive(Debug, Default)]
pub struct VisibilityGraph(ByGoal<Graph>);

impl Macroscale for VisibilityGraph {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        self.0.run(view, out);
    }

    fn route(&mut self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        self.0.route(view, row)
    }
}

impl Planner for Graph {
    type Tree = Tree;

    fn new(walls: &[Wall], radius: f32) -> Graph {
        Graph::new(walls, radius)
    }

    fn tree(&self, goals: Vec<DVec2>) -> Tree {
        Tree::new(self, goals)
    }

    fn size(&self, _tree: Option<&Tree>) -> usize {
        self.nodes.len()
    }

    fn sees(&self, from: Vec2, target: &Target) -> bool {
        let place = self.space.place(from.as_dvec2());
        let goal = self.space.place(target.reach.as_dvec2());
        self.space.is_clear(place.at, goal.at, self.space.keep())
    }

    fn first_stop(&self, tree: &Tree, from: Vec2) -> Option<FirstStop> {
        let place = self.space.place(from.as_dvec2());
        let stop = tree.heading(self, &place, tree.first_stop(self, &place)?);
        Some(FirstStop { at: tree.at(self, stop).as_vec2(), ends: tree.after(stop).is_none() })
    }

    fn route(&self, tree: &Tree, from: Vec2) -> Option<Vec<Vec2>> {
        let mut stop = tree.first_stop(self, &self.space.place(from.as_dvec2()))?;
        let mut route = vec![from, tree.at(self, stop).as_vec2()];
        while let Some(next) = tree.after(stop) {
            route.push(tree.at(self, next).as_vec2());
            stop = next;
        }
        Some(route)
    }
}
