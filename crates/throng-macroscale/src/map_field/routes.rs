//! Routes: the search over the grid, and what is left of its way when it is pulled taut.
//!
//! Costs are whole numbers, so that nothing depends on the order of sums, and among equals the one nearer to the
//! end wins, then the lower node.

use super::crowd_count::CrowdCount;
use super::grid::{Grid, HALF, Node, octile_between};
use crate::closures::Closure;
use crate::space::Space;
use glam::{DVec2, Vec2};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Parts that the cost of a metre is counted in.
const PARTS: f64 = 256.0;
/// The highest cost multiplier of ground and crowd together.
const DEAREST: f64 = 1e5;
/// Marks an entry of the goal among the nodes that a way goes on to.
const ENTRY: u32 = 1 << 31;
/// A straight way is held against costs in at most this many places.
const MOST_SAMPLES: f64 = 1024.0;

/// Cost multipliers of the ground and the crowd.
#[derive(Clone, Copy)]
pub(super) struct Costs<'a> {
    pub grid: &'a Grid,
    /// The crowd, for agents that mind it.
    pub crowd: Option<Aversion<'a>>,
    /// Where bodies leave no room to pass.
    pub closed: &'a [Closure],
}

/// How an agent minds a crowd.
#[derive(Clone, Copy)]
pub(super) struct Aversion<'a> {
    pub crowd: &'a CrowdCount,
    /// What is added to the cost multiplier at the threshold.
    pub weight: f32,
    /// From this density on it counts, persons/m².
    pub threshold: f32,
}

impl Costs<'_> {
    /// Whether a metre is a metre everywhere.
    pub fn are_plain(&self) -> bool {
        self.are_level() && self.closed.is_empty()
    }

    /// The same but for what is closed.
    fn are_level(&self) -> bool {
        !self.grid.has_terrain() && self.crowd.is_none()
    }

    fn crowding(&self, place: Vec2) -> f64 {
        let Some(Aversion { crowd, weight, threshold }) = self.crowd else { return 1.0 };
        let density = crowd.density(place);
        if density < threshold { 1.0 } else { 1.0 + f64::from(weight) * f64::from(density / threshold) }
    }

    /// The cost multiplier at a place.
    fn at(&self, place: DVec2) -> f64 {
        (f64::from(self.grid.ground_at(place)) * self.crowding(place.as_vec2())).min(DEAREST)
    }

    fn of_node(&self, node: Node) -> u64 {
        if self.are_level() {
            return PARTS as u64;
        }
        let crowding =
            if self.crowd.is_some() { self.crowding(self.grid.place(node).as_vec2()) } else { 1.0 };
        ((f64::from(self.grid.ground(node)) * crowding).min(DEAREST) * PARTS) as u64
    }

    /// As how many times its length an edge between two nodes counts.
    fn of_edge(&self, [from, to]: [Node; 2]) -> u64 {
        let ends = || [from, to].map(|node| self.grid.place(node));
        let is_closed = |closure: &Closure| closure.length_within(ends()) > 0.0;
        if self.closed.iter().any(is_closed) { DEAREST as u64 } else { 1 }
    }

    /// As how many metres a straight way counts.
    pub fn along(&self, from: DVec2, to: DVec2) -> f64 {
        let closed = self.closed.iter().map(|closure| closure.length_within([from, to])).sum::<f64>();
        self.along_open(from, to) + DEAREST * closed
    }

    /// The same where nothing is closed.
    fn along_open(&self, from: DVec2, to: DVec2) -> f64 {
        let length = from.distance(to);
        if self.are_level() {
            return length;
        }
        let samples = (length / (self.grid.side() / 4.0)).ceil().clamp(1.0, MOST_SAMPLES);
        let sample = |i: usize| self.at(from.lerp(to, (i as f64 + 0.5) / samples));
        (0..samples as usize).map(sample).sum::<f64>() * (length / samples)
    }

    /// As how many metres a path over stops counts.
    pub fn of_way(&self, from: Vec2, stops: &[Vec2]) -> f64 {
        let mut at = from.as_dvec2();
        let mut leg = |stop: &Vec2| {
            let cost = self.along(at, stop.as_dvec2());
            at = stop.as_dvec2();
            cost
        };
        stops.iter().map(&mut leg).sum()
    }
}

/// Memory of a search, used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// By node: the search in which the rest was written.
    written: Vec<u32>,
    search: u32,
    cost: Vec<u64>,
    /// By node: where the way to the goal goes on.
    onward: Vec<u32>,
    /// By estimate; among equals the node nearer to the end goes first, or all paths around an open square would be tried.
    open: BinaryHeap<Reverse<(u64, u64, Node)>>,
}

/// Where the goal is entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub node: Node,
    pub at: DVec2,
}

impl Scratch {
    fn begin(&mut self, nodes: usize) {
        if self.written.len() < nodes {
            self.written.resize(nodes, 0);
            self.cost.resize(nodes, 0);
            self.onward.resize(nodes, 0);
        }
        self.search = self.search.wrapping_add(1);
        if self.search == 0 {
            self.written.fill(0);
            self.search = 1;
        }
        self.open.clear();
    }

    #[inline]
    fn cost(&self, node: Node) -> u64 {
        if self.written[node as usize] == self.search { self.cost[node as usize] } else { u64::MAX }
    }

    #[inline]
    fn reach(&mut self, node: Node, cost: u64, onward: u32, ahead: u64) {
        if cost < self.cost(node) {
            self.written[node as usize] = self.search;
            (self.cost[node as usize], self.onward[node as usize]) = (cost, onward);
            self.open.push(Reverse((cost.saturating_add(ahead), ahead, node)));
        }
    }

    /// Searches from where the goal is entered until the ways from all starts are known. Every start must be in the region
    /// of an entry. For one start the search leans towards it (A*); for more it is for all of them.
    pub fn search(&mut self, costs: &Costs<'_>, entries: &[Entry], starts: &[Node]) {
        let grid = costs.grid;
        self.begin(grid.len());
        let mut wanted = starts.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let alone = (wanted.len() == 1).then(|| grid.spot(wanted[0]));
        let ahead =
            |node: Node| alone.map_or(0, |start| octile_between(start, grid.spot(node)) * PARTS as u64);
        for (index, entry) in entries.iter().enumerate() {
            let away =
                grid.place(entry.node).distance(entry.at) / (grid.side() / 16.0) * (HALF as f64 * PARTS);
            self.reach(entry.node, away as u64, ENTRY | index as u32, ahead(entry.node));
        }
        let mut missing = wanted.len();
        while let Some(Reverse((estimate, ahead_of_it, node))) = self.open.pop() {
            let cost = self.cost(node);
            if estimate > cost.saturating_add(ahead_of_it) {
                continue;
            }
            if wanted.binary_search(&node).is_ok() {
                missing -= 1;
                if missing == 0 {
                    return;
                }
            }
            let here = costs.of_node(node);
            grid.each_edge(node, |next, length| {
                let length = length * costs.of_edge([node, next]);
                let cost = cost.saturating_add(length * (here + costs.of_node(next)) / 2);
                self.reach(next, cost, node, ahead(next));
            });
        }
    }

    /// The stops on the way from a place over the node that it begins at, the goal last. Only after a search that had the
    /// node among its starts.
    pub fn stops(&self, costs: &Costs<'_>, entries: &[Entry], from: DVec2, start: Node) -> Vec<Vec2> {
        let grid = costs.grid;
        let mut way = vec![from, grid.place(start)];
        let mut node = start;
        loop {
            let onward = self.onward[node as usize];
            if onward & ENTRY != 0 {
                way.push(entries[(onward & !ENTRY) as usize].at);
                return tautest(costs, way).into_iter().map(DVec2::as_vec2).collect();
            }
            way.extend(grid.gate(node, onward));
            way.push(grid.place(onward));
            node = onward;
        }
    }
}

/// A way pulled taut from both ends, whichever is cheaper: a place that is seen from far may lie past where the next could
/// have been seen.
fn tautest(costs: &Costs<'_>, mut way: Vec<DVec2>) -> Vec<DVec2> {
    let (first, last) = (way[0], way[way.len() - 1]);
    let cost = |stops: &[DVec2]| {
        let legs = std::iter::once(&first).chain(stops).zip(stops);
        legs.map(|(&from, &to)| costs.along(from, to)).sum::<f64>()
    };
    let onward = taut(costs, &way);
    if onward.len() < 2 {
        return onward;
    }
    way.reverse();
    let mut back = taut(costs, &way);
    back.reverse();
    back.remove(0);
    back.push(last);
    if cost(&back) < cost(&onward) { back } else { onward }
}

/// The places of a way that are left when it is pulled taut, without the first. Where costs differ, a piece stays as it is
/// if the straight way would be dearer. It keeps a little off walls where there is room: of an agent that is to see the next
/// stop only from exactly where the last one is, others make one that turns around it for ever.
fn taut(costs: &Costs<'_>, way: &[DVec2]) -> Vec<DVec2> {
    let plain = costs.are_plain();
    let mut sum = 0.0;
    let so_far: Vec<f64> = if plain {
        Vec::new()
    } else {
        let legs = way.windows(2).map(|leg| {
            sum += costs.along(leg[0], leg[1]);
            sum
        });
        std::iter::once(0.0).chain(legs).collect()
    };
    let Grid { space, roomy, .. } = costs.grid;
    let skips = |from: usize, to: usize, space: &Space| {
        space.is_clear(way[from], way[to], space.keep())
            && (plain || costs.along(way[from], way[to]) <= (so_far[to] - so_far[from]) * (1.0 + 1e-9))
    };
    let (mut stops, mut at, last) = (Vec::new(), 0, way.len() - 1);
    while at < last {
        let furthest_in = |space: &Space| furthest(at, last, |from, to| skips(from, to, space));
        let roomy = furthest_in(roomy);
        at = if roomy > at + 1 { roomy } else { furthest_in(space) };
        stops.push(way[at]);
    }
    stops
}

/// A late place of a way that can be gone to straight: the step doubles as long as it can, then halves. So a way of a
/// thousand places takes some twenty looks for each stop, and each stop is one that was looked at.
fn furthest(from: usize, last: usize, skips: impl Fn(usize, usize) -> bool) -> usize {
    let (mut reached, mut step) = (from + 1, 1);
    while reached < last {
        let next = (reached + step).min(last);
        if !skips(from, next) {
            break;
        }
        (reached, step) = (next, step * 2);
    }
    while step > 1 {
        step /= 2;
        let next = (reached + step).min(last);
        if next > reached && skips(from, next) {
            reached = next;
        }
    }
    reached
}
