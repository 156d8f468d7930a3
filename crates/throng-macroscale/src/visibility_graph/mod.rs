//! # Visibility graph (He & van den Berg 2013, Meso-scale planning for multi-agent navigation)
//! The paper takes a preferred velocity from any macroscale planner and uses a visibility graph in its experiments
//! (section III), without saying how it is made; this one gives the shortest way for a body of the agent's radius. Its
//! nodes lie around the corners of obstacles ([`nodes`]), its edges are the tangents between them that are clear of walls
//! ([`space`], [`graph`]). A tree of shortest ways is kept for each goal and radius ([`tree`]), and an agent heads for the
//! visible node with the least way over it.
//!
//! - Every step asks anew where an agent stands, so whoever was pushed off its way has another one at once, and what is
//!   kept are caches only: nothing has to be saved, and the answer depends on the view alone.
//! - Arcs around corners are polygons around them. A way is up to 1.3 % longer on the arc, and a gap may be up to 4 %
//!   wider than the body and yet count as closed, where no wall's direction is square to it.
//! - Weighed: grown polygons (needs boolean operations that survive every map) and paths that are followed until they
//!   break (cheaper by the step, but state that must be saved, and wrong after every push).

mod graph;
mod nodes;
mod sieve;
mod space;
mod tree;

use crate::Macroscale;
use crate::heading::{Target, target, through, to_end, waits};
use glam::{DVec2, Vec2};
use graph::Graph;
use rayon::prelude::*;
use std::collections::HashMap;
use throng_core::CHUNK;
use throng_core::geom::inside_ring;
use throng_core::handover::Intents;
use throng_core::world::View;
use tree::Tree;

/// Around obstacles on the shortest way that the body fits through.
#[derive(Debug, Default)]
pub struct VisibilityGraph {
    map_version: Option<u64>,
    /// The areas that trees were made for, by cohort.
    areas: Vec<Option<Vec<Vec2>>>,
    /// By radius; few.
    graphs: Vec<(f32, Graph)>,
    trees: HashMap<Key, Tree>,
    /// Counts looks over the crowd, so that trees know when they were last asked.
    now: u64,
    /// The rows that have no answer yet in this step.
    open: Vec<bool>,
}

/// Nodes that all trees together may remember: 84 bytes each. Where goals are more than that holds, trees are made anew
/// in every step, which is slow and right.
const MOST_REMEMBERED: usize = 3_000_000;
/// Into so many pieces the edge of an area is cut, at least where they would not be shorter than a radius.
const PIECES_OF_AN_EDGE: f32 = 64.0;

/// Whom a tree is for. Goals are told apart by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    radius: u32,
    goal: GoalKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum GoalKey {
    Point(u32, u32),
    Area(u16),
}

/// What a row does next.
enum Next {
    /// The goal is in sight.
    End(Vec2),
    /// Past this place, and on.
    Through(Vec2),
    /// There is no way.
    Stay,
    /// The graph or the tree that it needs has not been worked out.
    Unknown,
}

impl Macroscale for VisibilityGraph {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        self.forget_what_changed(view);
        self.open.clear();
        self.open.resize(view.agents.len(), true);
        while self.answer(view, out) {
            let open: Vec<usize> = (0..self.open.len()).filter(|&row| self.open[row]).collect();
            // Graphs first: with them some see their goals and need no tree.
            if !self.learn_graphs(view, &open) {
                self.learn_trees(view, &open);
            }
        }
    }

    fn route(&mut self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        self.forget_what_changed(view);
        self.learn_graphs(view, &[row]);
        self.learn_trees(view, &[row]);
        let (graph, tree) = (self.graph(key(view, row))?, self.trees.get(&key(view, row))?);
        let (from, target) = (view.position(row), target(view, row));
        if sees_goal(graph, from, &target) {
            return Some(vec![from, target.aim]);
        }
        let mut stop = tree.first_stop(graph, &graph.space.place(from.as_dvec2()))?;
        let mut route = vec![from, tree.at(graph, stop).as_vec2()];
        while let Some(next) = tree.after(stop) {
            route.push(tree.at(graph, next).as_vec2());
            stop = next;
        }
        Some(route)
    }
}

impl VisibilityGraph {
    fn forget_what_changed(&mut self, view: View<'_>) {
        if self.map_version != Some(view.map_version) {
            self.map_version = Some(view.map_version);
            self.graphs.clear();
            self.trees.clear();
        }
        self.areas.resize(view.cohorts.len(), None);
        for (cohort, (known, now)) in self.areas.iter_mut().zip(view.cohorts).enumerate() {
            if *known != now.area {
                known.clone_from(&now.area);
                self.trees.retain(|key, _| key.goal != GoalKey::Area(cohort as u16));
            }
        }
    }

    /// Answers the rows that are open, as far as is known. Says whether any remain.
    fn answer(&mut self, view: View<'_>, out: &mut Intents) -> bool {
        self.now += 1;
        let mut open = std::mem::take(&mut self.open);
        let columns =
            (out.vx.par_chunks_mut(CHUNK), out.vy.par_chunks_mut(CHUNK), open.par_chunks_mut(CHUNK));
        let remain = columns.into_par_iter().enumerate().map(|(chunk, (vx, vy, open))| {
            let mut remain = false;
            for (i, open) in open.iter_mut().enumerate().filter(|(_, open)| **open) {
                let answer = self.velocity(view, chunk * CHUNK + i);
                *open = answer.is_none();
                remain |= *open;
                (vx[i], vy[i]) = answer.unwrap_or_default().into();
            }
            remain
        });
        let remain = remain.reduce(|| false, |a, b| a | b);
        self.open = open;
        remain
    }

    /// A row's preferred velocity; `None` where what it needs has not been worked out.
    fn velocity(&self, view: View<'_>, row: usize) -> Option<Vec2> {
        if waits(view, row) {
            return Some(Vec2::ZERO);
        }
        match self.next(view, row) {
            Next::End(place) => Some(to_end(view, row, place)),
            Next::Through(place) => Some(through(view, row, place)),
            Next::Stay => Some(Vec2::ZERO),
            Next::Unknown => None,
        }
    }

    fn next(&self, view: View<'_>, row: usize) -> Next {
        let target = target(view, row);
        if view.walls.all().is_empty() {
            return Next::End(target.aim);
        }
        let key = key(view, row);
        let Some(graph) = self.graph(key) else { return Next::Unknown };
        if sees_goal(graph, view.position(row), &target) {
            return Next::End(target.aim);
        }
        let Some(tree) = self.trees.get(&key) else { return Next::Unknown };
        tree.touch(self.now);
        let place = graph.space.place(view.position(row).as_dvec2());
        let Some(stop) = tree.first_stop(graph, &place) else { return Next::Stay };
        let stop = tree.heading(graph, &place, stop);
        let at = tree.at(graph, stop).as_vec2();
        if tree.after(stop).is_none() { Next::End(at) } else { Next::Through(at) }
    }

    fn graph(&self, key: Key) -> Option<&Graph> {
        self.graphs.iter().find(|(radius, _)| radius.to_bits() == key.radius).map(|(_, graph)| graph)
    }

    /// Makes the graphs that rows need. Says whether any was missing.
    fn learn_graphs(&mut self, view: View<'_>, rows: &[usize]) -> bool {
        let before = self.graphs.len();
        for &row in rows {
            if self.graph(key(view, row)).is_none() {
                let radius = view.planned_radius(row);
                self.graphs.push((radius, Graph::new(view.walls.all(), radius)));
            }
        }
        self.graphs.len() > before
    }

    /// Makes the trees that rows need, or as many of them as may be remembered.
    fn learn_trees(&mut self, view: View<'_>, rows: &[usize]) {
        let keys = rows.iter().map(|&row| (key(view, row), row));
        let mut missing: Vec<(Key, usize)> = keys.filter(|(key, _)| !self.trees.contains_key(key)).collect();
        missing.sort_unstable();
        missing.dedup_by_key(|(key, _)| *key);
        missing.truncate(self.make_room(&missing));
        let tree = |&(key, row): &(Key, usize)| Some((key, Tree::new(self.graph(key)?, goals(view, row))));
        let trees: Vec<(Key, Tree)> = missing.par_iter().filter_map(tree).collect();
        self.trees.extend(trees);
    }

    /// Forgets trees where new ones would be too many. Returns for how many of them there is room, one at least.
    fn make_room(&mut self, missing: &[(Key, usize)]) -> usize {
        let size = |key: Key| self.graph(key).map_or(0, |graph| graph.nodes.len());
        let sizes: Vec<usize> = missing.iter().map(|&(key, _)| size(key)).collect();
        let wanted: usize = sizes.iter().sum();
        let now = self.now;
        let remembered = |trees: &HashMap<Key, Tree>| trees.values().map(Tree::len).sum::<usize>();
        // What was not asked in this look over the crowd can go; if that is not enough, all can, for those who asked
        // have their answers.
        if remembered(&self.trees) + wanted > MOST_REMEMBERED {
            self.trees.retain(|_, tree| tree.last_used() == now);
        }
        if remembered(&self.trees) + wanted > MOST_REMEMBERED {
            self.trees.clear();
        }
        let mut room = MOST_REMEMBERED - remembered(&self.trees).min(MOST_REMEMBERED);
        let fits = sizes.iter().take_while(|&&size| {
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        });
        fits.count().max(1)
    }
}

fn key(view: View<'_>, row: usize) -> Key {
    let cohort = view.agents.cohort[row];
    let goal = match view.cohorts[cohort as usize].area {
        Some(_) => GoalKey::Area(cohort),
        None => GoalKey::Point(view.agents.goal_x[row].to_bits(), view.agents.goal_y[row].to_bits()),
    };
    Key { radius: view.planned_radius(row).to_bits(), goal }
}

fn sees_goal(graph: &Graph, from: Vec2, target: &Target) -> bool {
    let place = graph.space.place(from.as_dvec2());
    let goal = graph.space.place(target.reach.as_dvec2());
    graph.space.is_clear(place.at, goal.at, graph.space.keep())
}

/// Where a row's goal can be entered.
fn goals(view: View<'_>, row: usize) -> Vec<DVec2> {
    let agents = view.agents;
    match &view.cohorts[agents.cohort[row] as usize].area {
        Some(ring) => entries(ring, view.planned_radius(row)),
        None => vec![Vec2::new(agents.goal_x[row], agents.goal_y[row]).as_dvec2()],
    }
}

/// Places all around an area, inside its edge, so that whoever is there has arrived.
fn entries(ring: &[Vec2], radius: f32) -> Vec<DVec2> {
    let edges = || (0..ring.len()).map(|index| (ring[index], ring[(index + 1) % ring.len()]));
    let around: f32 = edges().map(|(a, b)| a.distance(b)).sum();
    let piece = (around / PIECES_OF_AN_EDGE).max(radius).max(f32::MIN_POSITIVE);
    let mut entries = Vec::new();
    for (a, b) in edges() {
        let pieces = (a.distance(b) / piece).ceil().clamp(1.0, PIECES_OF_AN_EDGE) as usize;
        let inwards = (b - a).perp().normalize_or_zero() * radius.min(piece / 2.0);
        for index in 0..pieces {
            let edge = a.lerp(b, (index as f32 + 0.5) / pieces as f32);
            let inside =
                [edge + inwards, edge - inwards].into_iter().find(|&place| inside_ring(place, ring).0);
            entries.extend(inside.map(Vec2::as_dvec2));
        }
    }
    entries
}
