//! # A* (Hart, Nilsson & Raphael 1968)
//! The best path, once. Over [`super::Blind`] it is Dijkstra's algorithm.
//!
//! Nodes that become cheaper after they were expanded are expanded again, so that the way is the best even where the
//! heuristic is admissible but not consistent.

use super::arena::Arena;
use super::heap::{Heap, Key};
use super::{Aim, Budget, Domain, Effort, Status};
use std::hash::Hash;

/// The best path from a state to an aim, searched in the direction of travel. Keeps its memory from search to search.
#[derive(Clone, Debug)]
pub struct Astar<S> {
    arena: Arena<S>,
    open: Heap,
    edges: Vec<(S, f32)>,
    /// The node that met the aim.
    met: Option<u32>,
    effort: Effort,
}

impl<S: Copy + Eq + Hash> Default for Astar<S> {
    fn default() -> Astar<S> {
        let (arena, open, edges) = (Arena::new(), Heap::default(), Vec::new());
        Astar { arena, open, edges, met: None, effort: Effort::default() }
    }
}

impl<S: Copy + Eq + Hash> Astar<S> {
    /// Finds the best path. [`Status::Optimal`], [`Status::Unreachable`], or [`Status::OutOfBudget`] without a way.
    pub fn find<D: Domain<State = S>>(
        &mut self,
        domain: &D,
        start: S,
        aim: Aim<S>,
        budget: Budget,
    ) -> Status {
        self.arena.clear();
        self.open.clear();
        self.met = None;
        let mut left = budget.0;
        let start = self.arena.id(start);
        self.offer(domain, aim, start, 0.0, start);
        while let Some(first) = self.open.first().filter(|first| first.key.first() < f32::INFINITY) {
            if self.is_met(domain, aim, first.id) {
                self.met = Some(first.id);
                return Status::Optimal;
            }
            if left == 0 {
                return Status::OutOfBudget { bound: None };
            }
            left -= 1;
            self.open.pop(&mut self.arena.nodes);
            self.expand(domain, aim, first.id);
        }
        Status::Unreachable
    }

    fn is_met<D: Domain<State = S>>(&self, domain: &D, aim: Aim<S>, id: u32) -> bool {
        let state = self.arena.nodes[id as usize].state;
        match aim {
            Aim::At(goal) => state == goal,
            Aim::Ends => domain.is_end(state),
        }
    }

    fn expand<D: Domain<State = S>>(&mut self, domain: &D, aim: Aim<S>, id: u32) {
        let node = self.arena.nodes[id as usize];
        let mut edges = std::mem::take(&mut self.edges);
        edges.clear();
        domain.successors(node.state, &mut edges);
        self.effort.expansions += 1;
        self.effort.edges += edges.len() as u64;
        for &(next, cost) in &edges {
            let next = self.arena.id(next);
            self.offer(domain, aim, next, node.g + cost, id);
        }
        self.edges = edges;
    }

    fn offer<D: Domain<State = S>>(&mut self, domain: &D, aim: Aim<S>, id: u32, g: f32, parent: u32) {
        let node = &mut self.arena.nodes[id as usize];
        if g < node.g {
            (node.g, node.parent) = (g, parent);
            let ahead = match aim {
                Aim::At(goal) => domain.heuristic(node.state, goal),
                Aim::Ends => domain.to_end(node.state),
            };
            self.open.set(id, Key::new(g + ahead, ahead), &mut self.arena.nodes);
        }
    }

    /// The states of the way in the direction of travel, and its cost; `None` where there is none.
    pub fn path(&self, out: &mut Vec<S>) -> Option<f32> {
        out.clear();
        let mut id = self.met?;
        let cost = self.arena.nodes[id as usize].g;
        loop {
            let node = &self.arena.nodes[id as usize];
            out.push(node.state);
            if node.parent == id {
                break;
            }
            id = node.parent;
        }
        out.reverse();
        Some(cost)
    }

    /// The cost of the way; `None` where there is none.
    pub fn cost(&self) -> Option<f32> {
        self.met.map(|id| self.arena.nodes[id as usize].g)
    }

    /// The states that the last search has met, in the order in which it met them.
    pub fn visited(&self) -> impl Iterator<Item = S> {
        self.arena.nodes.iter().map(|node| node.state)
    }

    /// The same with what it costs to get there, as far as the last search knows.
    pub fn costs(&self) -> impl Iterator<Item = (S, f32)> {
        self.arena.nodes.iter().map(|node| (node.state, node.g))
    }

    /// How many states the last search has met.
    pub fn nodes(&self) -> usize {
        self.arena.nodes.len()
    }

    /// What it has done since it was made.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// The memory it holds.
    pub fn bytes(&self) -> usize {
        self.arena.bytes() + self.open.bytes()
    }
}
