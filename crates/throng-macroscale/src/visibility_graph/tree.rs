//! The shortest ways from all nodes to one goal, and the first node on the way from anywhere.

use super::graph::Graph;
use super::space::Place;
use glam::DVec2;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Candidates that one look over all nodes collects. Nearly always one of the first is seen.
const SHORTLIST: usize = 32;

/// The shortest ways from all nodes to a goal.
#[derive(Debug)]
pub(super) struct Tree {
    /// Where the goal can be entered: its point, or places inside the edge of its area.
    goals: Vec<DVec2>,
    /// From each node to the goal, m; infinite where there is no way.
    distance: Vec<f64>,
    /// The stop after each node.
    next: Vec<u32>,
    /// When it was last asked. It decides only what is forgotten first.
    used: AtomicU64,
}

/// A place where the way bends or ends, by its number: first nodes, then goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop(u32);

impl Tree {
    /// Works the ways out, from the goal backwards (Dijkstra's algorithm).
    pub fn new(graph: &Graph, goals: Vec<DVec2>) -> Tree {
        let nodes = graph.nodes.len();
        let mut tree = Tree {
            goals: goals.into_iter().map(|goal| graph.space.place(goal).at).collect(),
            distance: vec![f64::INFINITY; nodes],
            next: vec![u32::MAX; nodes],
            used: AtomicU64::new(0),
        };
        let mut open = BinaryHeap::new();
        for goal in 0..tree.goals.len() {
            tree.enter(graph, goal, &mut open);
        }
        while let Some(Reverse((bits, node))) = open.pop() {
            let distance = f64::from_bits(bits);
            if distance > tree.distance[node as usize] {
                continue;
            }
            for &(other, length) in graph.ways(node as usize) {
                tree.offer(other, distance + length, node, &mut open);
            }
        }
        tree
    }

    /// Nodes that see a goal.
    fn enter(&mut self, graph: &Graph, goal: usize, open: &mut Open) {
        let place = graph.space.place(self.goals[goal]);
        let pressed = graph.space.is_pressed(&place);
        let stop = (self.distance.len() + goal) as u32;
        let mut any = false;
        let keeps = [graph.space.keep(), graph.space.pressed_keep(&place)];
        for keep in &keeps[..1 + usize::from(pressed)] {
            // A goal in a narrow place may be entered narrowly, but only where there is no other way.
            if any {
                break;
            }
            for node in 0..self.distance.len() {
                let at = graph.nodes.at[node];
                let length = at.distance(place.at);
                if length < self.distance[node]
                    && graph.may_lead(place.at, pressed, node)
                    && graph.sees(&place, at, *keep)
                {
                    self.offer(node as u32, length, stop, open);
                    any = true;
                }
            }
        }
    }

    fn offer(&mut self, node: u32, distance: f64, next: u32, open: &mut Open) {
        if distance < self.distance[node as usize] {
            self.distance[node as usize] = distance;
            self.next[node as usize] = next;
            // The bits of numbers that are not negative are in the order of the numbers; ties go by node.
            open.push(Reverse((distance.to_bits(), node)));
        }
    }

    /// How many nodes it remembers a way from.
    pub fn len(&self) -> usize {
        self.distance.len()
    }

    /// Notes that it was asked.
    pub fn touch(&self, now: u64) {
        // Most find it noted, and a store would take the line from all other threads.
        if self.last_used() != now {
            self.used.store(now, Ordering::Relaxed);
        }
    }

    /// When it was last asked.
    pub fn last_used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The first stop on the shortest way from a place; `None` where no way is known.
    pub fn first_stop(&self, graph: &Graph, place: &Place) -> Option<Stop> {
        let pressed = graph.space.is_pressed(place);
        let found = self.nearest_seen(graph, place, pressed, graph.space.keep());
        // Between walls that leave no room for the body: out of there, as far from walls as now.
        found.or_else(|| {
            let keep = graph.space.pressed_keep(place);
            pressed.then(|| self.nearest_seen(graph, place, pressed, keep))?
        })
    }

    fn nearest_seen(&self, graph: &Graph, place: &Place, pressed: bool, keep: f64) -> Option<Stop> {
        let mut after = (-1.0, 0);
        loop {
            let list = self.shortlist(graph, place, pressed, after);
            let seen =
                list.all().iter().find(|(_, stop)| graph.sees(place, self.at(graph, Stop(*stop)), keep));
            if let Some(&(_, stop)) = seen {
                return Some(Stop(stop));
            }
            after = *list.all().get(SHORTLIST - 1)?;
        }
    }

    /// The stops with the shortest ways over them, nearest first, if nothing were between them and a place.
    fn shortlist(&self, graph: &Graph, place: &Place, pressed: bool, after: Entry) -> Shortlist {
        let mut list = Shortlist::new(after);
        for (goal, at) in self.goals.iter().enumerate() {
            list.offer(at.distance(place.at), (self.distance.len() + goal) as u32);
        }
        for (node, &distance) in self.distance.iter().enumerate() {
            if distance < list.worst && graph.may_lead(place.at, pressed, node) {
                list.offer(distance + graph.nodes.at[node].distance(place.at), node as u32);
            }
        }
        list
    }

    /// Where a stop is.
    pub fn at(&self, graph: &Graph, stop: Stop) -> DVec2 {
        let node = stop.0 as usize;
        if node < self.distance.len() { graph.nodes.at[node] } else { self.goals[node - self.distance.len()] }
    }

    /// The stop after a stop; `None` after the goal.
    pub fn after(&self, stop: Stop) -> Option<Stop> {
        self.next.get(stop.0 as usize).map(|&next| Stop(next))
    }

    /// The stop to head for: the one that is given, or what follows where somebody has as good as rounded it.
    pub fn heading(&self, graph: &Graph, place: &Place, stop: Stop) -> Stop {
        match self.after(stop) {
            Some(next) if graph.nodes.is_past(stop.0 as usize, place.at, self.at(graph, next)) => next,
            _ => stop,
        }
    }
}

type Open = BinaryHeap<Reverse<(u64, u32)>>;
/// Length of the way, m, and a stop's number.
type Entry = (f64, u32);

/// The best entries that come after a given one, ascending; ties by number.
struct Shortlist {
    entry: [Entry; SHORTLIST],
    count: usize,
    after: Entry,
    /// Nothing from here on gets onto the list.
    worst: f64,
}

impl Shortlist {
    fn new(after: Entry) -> Shortlist {
        Shortlist { entry: [(0.0, 0); SHORTLIST], count: 0, after, worst: f64::INFINITY }
    }

    fn all(&self) -> &[Entry] {
        &self.entry[..self.count]
    }

    #[inline]
    fn offer(&mut self, length: f64, stop: u32) {
        let entry = (length, stop);
        if entry <= self.after || (self.count == SHORTLIST && entry >= self.entry[SHORTLIST - 1]) {
            return;
        }
        let place = self.all().iter().rposition(|other| *other < entry).map_or(0, |before| before + 1);
        self.count = (self.count + 1).min(SHORTLIST);
        self.entry[place..self.count].rotate_right(1);
        self.entry[place] = entry;
        if self.count == SHORTLIST {
            // Equal lengths still count: the next number up decides.
            self.worst = self.entry[SHORTLIST - 1].0.next_up();
        }
    }
}
