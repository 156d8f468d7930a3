//! The search for paths, from the goal backwards: Dijkstra's algorithm over all nodes, or A* towards one agent.
//!
//! Both give the same ways, to the bit. A way's length is the rounded sum of its parts from the goal on, and a node keeps
//! the least sum that any neighbour offers; of equal ones the offer of the neighbour with the least (length, number). No
//! order in which nodes are looked at changes that, so an agent gets the same answer from whichever search was made.

use super::graph::{Eye, Graph};
use super::tree::{Entry, entry};
use crate::space::Place;
use glam::DVec2;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How much longer than the shortest path over a node may be that A* looks at, m and as a share: an agent that is pushed off its
/// way is still within what was found. More lasts longer, and takes more time and memory.
const SPARE: f64 = 1.0;
const SPARE_SHARE: f64 = 0.02;
/// What rounding may do to a length, as a share.
const ROUNDING: f64 = 1e-9;

/// Paths from nodes to a goal.
#[derive(Debug)]
pub(super) struct Search<'a> {
    graph: &'a Graph,
    goals: &'a [DVec2],
    /// The agent that paths are wanted for; all where there is none.
    ego: Option<&'a Place>,
    /// From each node to the goal, m; infinite where no way is known.
    pub distance: Vec<f64>,
    /// The stop after each node.
    pub next: Vec<u32>,
    /// The nodes that were looked at, in that order; some more than once.
    pub looked_at: Vec<u32>,
    /// All ways to the ego are known that are no longer than this, m.
    pub complete_to: f64,
    open: BinaryHeap<Entry>,
}

impl<'a> Search<'a> {
    /// Searches paths to goals; for one agent, or from everywhere.
    pub fn new(graph: &'a Graph, goals: &'a [DVec2], ego: Option<&'a Place>) -> Search<'a> {
        let nodes = graph.nodes.len();
        let mut search = Search {
            graph,
            goals,
            ego,
            distance: vec![f64::INFINITY; nodes],
            next: vec![u32::MAX; nodes],
            looked_at: Vec::new(),
            complete_to: f64::INFINITY,
            open: BinaryHeap::new(),
        };
        (0..goals.len()).for_each(|goal| search.enter(goal));
        search.run();
        search
    }

    /// Nodes that see a goal.
    fn enter(&mut self, goal: usize) {
        let graph = self.graph;
        let place = graph.space.place(self.goals[goal]);
        let pressed = graph.space.is_pressed(&place);
        let stop = (graph.nodes.len() + goal) as u32;
        if self.ego.is_some() {
            self.open.push(entry(self.ahead(place.at), stop as usize));
        }
        let keeps = [graph.space.keep(), graph.space.pressed_keep(&place)];
        for keep in keeps.into_iter().take(1 + usize::from(pressed)) {
            let mut eye = Eye::new(&graph.space, &place, keep);
            let mut any = false;
            for (node, &at) in graph.nodes.at.iter().enumerate() {
                if (pressed || graph.nodes.is_taut(node, place.at)) && eye.sees(at) {
                    let length = at.distance(place.at) + graph.delay(at, place.at);
                    self.offer(node as u32, length, stop);
                    any = true;
                }
            }
            // A goal in a narrow place may be entered narrowly, but only where there is no other way.
            if any {
                return;
            }
        }
    }

    fn run(&mut self) {
        let graph = self.graph;
        let mut eye = self.ego.map(|ego| Eye::new(&graph.space, ego, graph.space.keep()));
        let mut limit = f64::INFINITY;
        while let Some(Reverse((bits, stop))) = self.open.pop() {
            let length = f64::from_bits(bits);
            if length > limit {
                self.complete_to = limit * (1.0 - ROUNDING);
                return;
            }
            if limit == f64::INFINITY && eye.as_mut().is_some_and(|eye| self.is_first(stop, eye)) {
                limit = length * (1.0 + SPARE_SHARE) + SPARE;
            }
            self.expand(stop, length);
        }
    }

    /// Whether the ego can head straight for a stop.
    fn is_first(&self, stop: u32, eye: &mut Eye<'_>) -> bool {
        let (Some(ego), node) = (self.ego, stop as usize) else { return false };
        let nodes = &self.graph.nodes;
        let Some(&next) = self.next.get(node) else {
            return eye.sees(self.at(stop));
        };
        let arrival = nodes.arrival(node, nodes.side(node, self.at(next)));
        (self.graph.space.is_pressed(ego) || nodes.arrives(&arrival, ego.at)) && eye.sees(arrival.at)
    }

    /// Offers a node's way to its neighbours.
    fn expand(&mut self, node: u32, length: f64) {
        let graph = self.graph;
        let Some(&distance) = self.distance.get(node as usize) else { return };
        // A shorter one was found meanwhile, and stood further in front.
        if length > distance + self.ahead(graph.nodes.at[node as usize]) {
            return;
        }
        self.looked_at.push(node);
        for &(other, part) in graph.ways(node as usize) {
            self.offer(other, distance + part, node);
        }
    }

    fn offer(&mut self, node: u32, distance: f64, next: u32) {
        let known = self.distance[node as usize];
        if distance < known {
            self.distance[node as usize] = distance;
            self.next[node as usize] = next;
            let length = distance + self.ahead(self.graph.nodes.at[node as usize]);
            self.open.push(entry(length, node as usize));
        } else if distance == known && self.is_before(next, self.next[node as usize], distance) {
            self.next[node as usize] = next;
        }
    }

    /// Whether a neighbour's offer counts more than another one of the same length.
    fn is_before(&self, stop: u32, other: u32, length: f64) -> bool {
        let rank = |stop: u32| (self.distance.get(stop as usize).copied(), stop);
        // Goals come first, having no distance. Where a part is too short to add anything the first offer stays, or two
        // nodes could follow one another.
        rank(stop) < rank(other)
            && self.distance.get(stop as usize).is_some_and(|&distance| distance < length)
    }

    /// The least that is missing from a place to the ego, m.
    fn ahead(&self, at: DVec2) -> f64 {
        self.ego.map_or(0.0, |ego| at.distance(ego.at))
    }

    fn at(&self, stop: u32) -> DVec2 {
        let nodes = &self.graph.nodes.at;
        nodes.get(stop as usize).copied().unwrap_or_else(|| self.goals[stop as usize - nodes.len()])
    }
}
