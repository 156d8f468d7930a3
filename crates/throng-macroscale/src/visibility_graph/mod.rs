//! # Visibility graph (He & van den Berg 2013, Meso-scale planning for multi-agent navigation)
//! The paper takes a preferred velocity from any macroscale planner and uses a visibility graph in its experiments
//! (section III), without saying how it is made; this one gives the shortest path for a body of the agent's radius. Its
//! nodes lie around the corners of obstacles (`nodes`), its edges are the tangents between them that are clear of walls
//! (`space`, `graph`). Trees of shortest paths are kept for each goal and radius (`tree`), and an agent heads for the
//! visible node with the least way over it. Where few want to the same goal, a tree reaches only as far as they need
//! (`search`).
//!
//! - Every step asks anew where an agent stands, so one that was pushed off its path has another one at once, and what is
//!   kept are caches only: nothing has to be saved, and the answer depends on the view alone.
//! - Where people get on slowly ([`Jam`](throng_core::world::Jam)), a way counts as longer than it is, and may be left for
//!   another one.
//! - Where trees are more than may be remembered, those that do not fit are made for one answer and dropped. That takes
//!   longer and changes nothing else.
//! - Arcs around corners are polygons around them. A way is up to 1.3 % longer on the arc, and a gap may be up to 4 %
//!   wider than the body and yet count as closed, where no wall's direction is square to it.
//! - Weighed: grown polygons (needs boolean operations that survive every map) and paths that are followed until they
//!   break (cheaper by the step, but state that must be saved, and wrong after every push).

mod graph;
mod nodes;
mod search;
mod sieve;
mod tree;

use crate::cached::Cached;
use crate::goal_cache::{Answer, Areas, Key, Left, answer, rows_with, unreachable};
use crate::heading::{Leg, Target, goals, target, waits};
use crate::space::Place;
use crate::{Intent, Macroscale, MacroscaleModel};
use glam::Vec2;
use graph::Graph;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use throng_core::handover::Intents;
use throng_core::parallel;
use throng_core::world::View;
use tree::{Stop, Tree};

throng_core::params! {
    /// Around obstacles, on the shortest path that the body fits through.
    pub struct VisibilityGraph("visibility-graph") {
    }
}

/// Heads for the visible node with the shortest path over it.
#[derive(Debug)]
pub struct VisibilityGraphPlanner {
    paths: Cached<Paths>,
    unreachable: Vec<u32>,
}

/// Graphs and trees, as far as they are known.
#[derive(Debug)]
struct Paths {
    /// The memory that all trees together may keep, bytes.
    most_remembered: usize,
    map_version: Option<u64>,
    jam_version: u64,
    areas: Areas,
    /// By radius; few.
    graphs: Vec<(f32, Graph)>,
    /// A whole tree for each, or a few narrow ones.
    trees: HashMap<Key, Vec<Tree>>,
    /// Counts looks over the crowd, so that trees know when they were last asked.
    now: u64,
    /// What is known of each row in this step.
    answers: Vec<Answer>,
}

/// Unless something else is asked for, bytes. A tree takes 41 for each node, a narrow one 17 for each that it knows.
const MOST_REMEMBERED: usize = 256 << 20;
/// Narrow trees to one goal; where more are wanted, a whole one serves all.
const MOST_NARROW: usize = 3;

/// New trees to one goal, and what they answer.
struct Learned {
    key: Key,
    trees: Vec<Tree>,
    answers: Vec<(usize, Leg)>,
}

impl MacroscaleModel for VisibilityGraph {
    fn planner(_: VisibilityGraph, _: Vec<VisibilityGraph>) -> Box<dyn Macroscale> {
        Box::new(VisibilityGraphPlanner::default())
    }
}

impl Default for VisibilityGraphPlanner {
    fn default() -> VisibilityGraphPlanner {
        VisibilityGraphPlanner::remembering(MOST_REMEMBERED)
    }
}

impl VisibilityGraphPlanner {
    /// One that keeps at most this many bytes of paths from step to step. Less takes longer, and the answers are the same.
    pub fn remembering(bytes: usize) -> VisibilityGraphPlanner {
        VisibilityGraphPlanner { paths: Cached::new(Paths::remembering(bytes)), unreachable: Vec::new() }
    }
}

impl Macroscale for VisibilityGraphPlanner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        let paths = self.paths.get_mut();
        self.unreachable.clear();
        if paths.run(view, out) {
            unreachable(view, &paths.answers, &mut self.unreachable);
        }
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        Intent::new(self.paths.lock().next_of(view, row).velocity(view, row))
    }

    fn path(&self, view: View<'_>, from: Vec2, to: Vec2, radius: f32) -> Option<Vec<Vec2>> {
        if view.walls.all().is_empty() {
            return Some(vec![from, to]);
        }
        self.paths.lock().path(view, [from, to], view.class_of(radius))
    }

    fn route(&self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        self.paths.lock().route(view, row)
    }

    fn unreachable(&self) -> &[u32] {
        &self.unreachable
    }
}

impl Paths {
    fn remembering(bytes: usize) -> Paths {
        Paths {
            most_remembered: bytes,
            map_version: None,
            jam_version: 0,
            areas: Areas::default(),
            graphs: Vec::new(),
            trees: HashMap::new(),
            now: 0,
            answers: Vec::new(),
        }
    }

    /// Writes every agent's preferred velocity. Says whether any has no path.
    fn run(&mut self, view: View<'_>, out: &mut Intents) -> bool {
        self.forget_what_changed(view);
        self.now += 1;
        self.answers.clear();
        self.answers.resize(view.agents.len(), Answer::Open);
        let mut left = self.answer(view, out);
        // Graphs first: with them some see their goals and need no tree.
        if left.open && self.learn_graphs(view) {
            left = self.answer(view, out);
        }
        if left.open {
            left.unreachable |= self.learn_ways(view, out);
        }
        left.unreachable
    }

    /// What a row does next, worked out where it is not known.
    fn next_of(&mut self, view: View<'_>, row: usize) -> Leg {
        self.forget_what_changed(view);
        self.learn_graph(view.planned_radius(row), view);
        self.next(view, row).unwrap_or_else(|| {
            let mut answers = self.explore(view, Key::of(view, row), &[row]).answers;
            answers.pop().map_or(Leg::Unreachable, |(_, next)| next)
        })
    }

    fn path(&mut self, view: View<'_>, [from, to]: [Vec2; 2], radius: f32) -> Option<Vec<Vec2>> {
        self.forget_what_changed(view);
        self.learn_graph(radius, view);
        let graph = self.graph(radius.to_bits())?;
        if sees_goal(graph, from, &Target { reach: to, aim: to }) {
            return Some(vec![from, to]);
        }
        let (place, goals) = (graph.space.place(from.as_dvec2()), vec![to.as_dvec2()]);
        let whole = graph.is_jammed();
        let tree = if whole { Tree::whole(graph, goals) } else { Tree::towards(graph, goals, &place) };
        let stop = tree.first_stop(graph, &place).ok().flatten()?;
        let mut path = stops(graph, &tree, from, stop);
        // A goal that is nearer to a wall than the body fits was moved away from it.
        path.extend((path.last() != Some(&to)).then_some(to));
        Some(path)
    }

    fn route(&mut self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        self.forget_what_changed(view);
        self.learn_graph(view.planned_radius(row), view);
        let key = Key::of(view, row);
        let graph = self.graph(key.radius)?;
        let (from, target) = (view.position(row), target(view, row));
        if sees_goal(graph, from, &target) {
            return Some(vec![from, target.aim]);
        }
        let place = graph.space.place(from.as_dvec2());
        if let Some((tree, stop)) = self.known_stop(graph, key, &place) {
            return stop.map(|stop| stops(graph, tree, from, stop));
        }
        let learned = self.explore(view, key, &[row]);
        let tree = learned.trees.last()?;
        let stop = tree.first_stop(graph, &place).ok().flatten()?;
        Some(stops(graph, tree, from, stop))
    }

    fn forget_what_changed(&mut self, view: View<'_>) {
        if self.map_version != Some(view.map_version) {
            self.map_version = Some(view.map_version);
            self.graphs.clear();
            self.trees.clear();
        }
        if self.jam_version != view.jam.version {
            self.jam_version = view.jam.version;
            self.graphs.iter_mut().for_each(|(_, graph)| graph.weigh(view.jam));
            self.trees.clear();
        }
        let trees = &mut self.trees;
        self.areas.update(view, |goal| trees.retain(|key, _| key.goal != goal));
    }

    /// Answers the rows that are open, as far as is known.
    fn answer(&mut self, view: View<'_>, out: &mut Intents) -> Left {
        let mut answers = std::mem::take(&mut self.answers);
        let left = answer(view, &mut answers, out, |row| self.next(view, row));
        self.answers = answers;
        left
    }

    /// What a row does next; `None` where what it needs has not been worked out.
    fn next(&self, view: View<'_>, row: usize) -> Option<Leg> {
        if waits(view, row) {
            return Some(Leg::Wait);
        }
        let target = target(view, row);
        if view.walls.all().is_empty() {
            return Some(Leg::End(target.aim));
        }
        let key = Key::of(view, row);
        let graph = self.graph(key.radius)?;
        if sees_goal(graph, view.position(row), &target) {
            return Some(Leg::End(target.aim));
        }
        let place = graph.space.place(view.position(row).as_dvec2());
        let (tree, stop) = self.known_stop(graph, key, &place)?;
        Some(towards(graph, tree, &place, stop))
    }

    /// The first stop on the way from a place and the tree that knows it; `None` where none does.
    fn known_stop(&self, graph: &Graph, key: Key, place: &Place) -> Option<(&Tree, Option<Stop>)> {
        let trees = self.trees.get(&key)?;
        let (tree, stop) = trees.iter().find_map(|tree| Some((tree, tree.first_stop(graph, place).ok()?)))?;
        tree.used.touch(self.now);
        Some((tree, stop))
    }

    /// By the bits of its radius.
    fn graph(&self, radius: u32) -> Option<&Graph> {
        self.graphs.iter().find(|(other, _)| other.to_bits() == radius).map(|(_, graph)| graph)
    }

    /// Makes the graphs that open rows need. Says whether any was missing.
    fn learn_graphs(&mut self, view: View<'_>) -> bool {
        let before = self.graphs.len();
        let answers = std::mem::take(&mut self.answers);
        rows_with(&answers, Answer::Open).for_each(|row| self.learn_graph(view.planned_radius(row), view));
        self.answers = answers;
        self.graphs.len() > before
    }

    fn learn_graph(&mut self, radius: f32, view: View<'_>) {
        if self.graphs.iter().all(|(known, _)| known.to_bits() != radius.to_bits()) {
            let mut graph = Graph::new(view.walls.all(), radius);
            graph.weigh(view.jam);
            self.graphs.push((radius, graph));
        }
    }

    /// Makes the trees that open rows need, answers the rows, and remembers as many trees as there is room for. Says
    /// whether any agent has no path.
    fn learn_ways(&mut self, view: View<'_>, out: &mut Intents) -> bool {
        let mut open: Vec<(Key, usize)> =
            rows_with(&self.answers, Answer::Open).map(|row| (Key::of(view, row), row)).collect();
        open.sort_unstable();
        let wanted: Vec<&[(Key, usize)]> = open.chunk_by(|a, b| a.0 == b.0).collect();
        let room = AtomicUsize::new(self.evict());
        let learned = parallel::map(1, wanted.len(), &|i| {
            let wanted = wanted[i];
            let rows: Vec<usize> = wanted.iter().map(|&(_, row)| row).collect();
            let mut learned = self.explore(view, wanted[0].0, &rows);
            let bytes: usize = learned.trees.iter().map(Tree::bytes).sum();
            let taken = room.try_update(Ordering::Relaxed, Ordering::Relaxed, |room| room.checked_sub(bytes));
            // Dropped at once, so that they are never all there together.
            if taken.is_err() {
                learned.trees.clear();
            }
            learned
        });
        let mut no_way = false;
        for Learned { key, trees, answers } in learned {
            for (row, next) in answers {
                next.head(view, row, out);
                self.answers[row] = Answer::from(next);
                no_way |= self.answers[row] == Answer::Unreachable;
            }
            self.remember(key, trees);
        }
        no_way
    }

    /// Trees that answer rows which want to the same goal: a narrow one for each of a few, else one for all.
    fn explore(&self, view: View<'_>, key: Key, rows: &[usize]) -> Learned {
        let Some(graph) = self.graph(key.radius) else {
            return Learned { key, trees: vec![], answers: vec![] };
        };
        let place = |row: usize| graph.space.place(view.position(row).as_dvec2());
        let in_use =
            self.trees.get(&key).map_or(0, |trees| trees.iter().filter(|tree| self.uses(tree)).count());
        let (mut trees, mut answers) = (Vec::new(), Vec::new());
        // A narrow tree takes it that a way is as long as it is.
        if in_use + rows.len() <= MOST_NARROW && !graph.is_jammed() {
            for &row in rows {
                let place = place(row);
                let tree = Tree::towards(graph, goals(view, row), &place);
                let stop = tree.first_stop(graph, &place);
                answers.extend(stop.map(|stop| (row, towards(graph, &tree, &place, stop))));
                trees.push(tree);
            }
        }
        if answers.len() < rows.len() {
            let tree = Tree::whole(graph, goals(view, rows[0]));
            let answer = |i: usize| {
                let row = rows[i];
                let place = place(row);
                // A whole tree always knows.
                let stop = tree.first_stop(graph, &place).ok().flatten();
                (row, towards(graph, &tree, &place, stop))
            };
            answers = parallel::map(1, rows.len(), &answer);
            trees = vec![tree];
        }
        trees.iter().for_each(|tree| tree.used.touch(self.now));
        Learned { key, trees, answers }
    }

    /// Whether a tree has answered an agent in this step.
    fn uses(&self, tree: &Tree) -> bool {
        tree.used.get() == self.now
    }

    fn remember(&mut self, key: Key, new: Vec<Tree>) {
        if new.is_empty() {
            return;
        }
        let now = self.now;
        let known = self.trees.entry(key).or_default();
        // The agents that had the others have gone on or want something else by now, or find it in the whole tree.
        known.retain(|tree| tree.used.get() == now && !new.iter().any(Tree::is_whole));
        known.extend(new);
    }

    /// Forgets what was not asked for in this step where room gets scarce. Returns how many bytes are left.
    fn evict(&mut self) -> usize {
        let remembered =
            |trees: &HashMap<Key, Vec<Tree>>| trees.values().flatten().map(Tree::bytes).sum::<usize>();
        let mut bytes = remembered(&self.trees);
        if bytes > self.most_remembered / 4 * 3 {
            let now = self.now;
            self.trees.retain(|_, trees| {
                trees.retain(|tree| tree.used.get() == now);
                !trees.is_empty()
            });
            bytes = remembered(&self.trees);
        }
        self.most_remembered.saturating_sub(bytes)
    }
}

/// What an agent does whose first stop is known.
fn towards(graph: &Graph, tree: &Tree, place: &Place, stop: Option<Stop>) -> Leg {
    let Some(stop) = stop else { return Leg::Unreachable };
    let stop = tree.heading(graph, place, stop);
    let at = tree.at(graph, stop).as_vec2();
    if tree.after(stop).is_none() { Leg::End(at) } else { Leg::Through(at) }
}

/// The whole path over a first stop.
fn stops(graph: &Graph, tree: &Tree, from: Vec2, first: Stop) -> Vec<Vec2> {
    let way = std::iter::successors(Some(first), |&stop| tree.after(stop));
    std::iter::once(from).chain(way.map(|stop| tree.at(graph, stop).as_vec2())).collect()
}

/// Whether the goal is in sight, and nothing on the way to it a reason to take another.
fn sees_goal(graph: &Graph, from: Vec2, target: &Target) -> bool {
    let place = graph.space.place(from.as_dvec2());
    let goal = graph.space.place(target.reach.as_dvec2());
    graph.space.is_clear(place.at, goal.at, graph.space.keep())
        && !(graph.is_jammed() && graph.delay(place.at, goal.at) > 0.0)
}
