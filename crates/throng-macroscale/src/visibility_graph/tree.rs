//! The shortest ways from all nodes to one goal, and the first node on the way from anywhere.

use super::graph::{Eye, Graph};
use super::nodes::Arrival;
use super::sieve::Sieve;
use super::space::Place;
use glam::DVec2;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The shortest ways from all nodes to a goal.
#[derive(Debug)]
pub(super) struct Tree {
    /// Where the goal can be entered: its point, or places inside the edge of its area.
    goals: Vec<DVec2>,
    /// From each node to the goal, m; infinite where there is no way.
    distance: Vec<f64>,
    /// The stop after each node.
    next: Vec<u32>,
    /// From where each node is arrived at.
    arrival: Vec<Arrival>,
    sieve: Sieve,
}

/// A place where the way bends or ends, by its number: first nodes, then goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop(u32);

impl Tree {
    /// Works the ways out, from the goal backwards (Dijkstra's algorithm).
    pub fn new(graph: &Graph, goals: Vec<DVec2>) -> Tree {
        let nodes = graph.nodes.len();
        let mut tree = Tree {
            goals: roomy(graph, goals),
            distance: vec![f64::INFINITY; nodes],
            next: vec![u32::MAX; nodes],
            arrival: Vec::new(),
            sieve: Sieve::default(),
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
        let arrival = |node: usize| {
            let next = tree.after(Stop(node as u32)).filter(|_| tree.distance[node].is_finite());
            graph.nodes.arrival(node, next.map_or(graph.nodes.at[node], |next| tree.at(graph, next)))
        };
        tree.arrival = (0..nodes).map(arrival).collect();
        let reached = |node: &usize| tree.distance[*node].is_finite();
        tree.sieve = Sieve::new(&tree.arrival, reached, graph.nodes.tolerance());
        tree
    }

    /// Nodes that see a goal.
    fn enter(&mut self, graph: &Graph, goal: usize, open: &mut Open) {
        let place = graph.space.place(self.goals[goal]);
        let pressed = graph.space.is_pressed(&place);
        let stop = (self.distance.len() + goal) as u32;
        let keeps = [graph.space.keep(), graph.space.pressed_keep(&place)];
        for keep in keeps.into_iter().take(1 + usize::from(pressed)) {
            let mut eye = Eye::new(&graph.space, &place, keep);
            let mut any = false;
            for (node, &at) in graph.nodes.at.iter().enumerate() {
                if (pressed || graph.nodes.is_taut(node, place.at)) && eye.sees(at) {
                    self.offer(node as u32, at.distance(place.at), stop, open);
                    any = true;
                }
            }
            // A goal in a narrow place may be entered narrowly, but only where there is no other way.
            if any {
                return;
            }
        }
    }

    fn offer(&mut self, node: u32, distance: f64, next: u32, open: &mut Open) {
        if distance < self.distance[node as usize] {
            self.distance[node as usize] = distance;
            self.next[node as usize] = next;
            open.push(entry(distance, node as usize));
        }
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

    /// The visible stop with the shortest way over it. The promising ones are looked at first; ties go by number.
    fn nearest_seen(&self, graph: &Graph, place: &Place, pressed: bool, keep: f64) -> Option<Stop> {
        STOPS.with_borrow_mut(|stops| {
            self.list_stops(graph, place, pressed, stops);
            let mut eye = Eye::new(&graph.space, place, keep);
            let mut heap = BinaryHeap::from(std::mem::take(stops));
            let mut seen = None;
            while let (None, Some(Reverse((_, stop)))) = (seen, heap.pop()) {
                seen = eye.sees(self.at(graph, Stop(stop))).then_some(Stop(stop));
            }
            *stops = heap.into_vec();
            seen
        })
    }

    /// Every stop that may be the first, with the length of the way over it if nothing were in between.
    fn list_stops(&self, graph: &Graph, place: &Place, pressed: bool, stops: &mut Vec<Entry>) {
        let length = |at: DVec2| at.distance(place.at);
        let goals = self.goals.iter().enumerate();
        stops.clear();
        stops.extend(goals.map(|(goal, &at)| entry(length(at), self.distance.len() + goal)));
        let add = |node: usize| {
            // Inside of an arc no way is a tangent: whoever is pressed there takes any way out.
            let arrives = pressed || graph.nodes.arrives(&self.arrival[node], place.at);
            if arrives && self.distance[node].is_finite() {
                stops.push(entry(self.distance[node] + length(graph.nodes.at[node]), node));
            }
        };
        if pressed { (0..self.distance.len()).for_each(add) } else { self.sieve.each(place.at, add) }
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

/// The goals where a body has room; all of them where it has none anywhere.
fn roomy(graph: &Graph, goals: Vec<DVec2>) -> Vec<DVec2> {
    let places: Vec<Place> = goals.into_iter().map(|goal| graph.space.place(goal)).collect();
    let any = places.iter().any(|place| !graph.space.is_pressed(place));
    let fit = places.iter().filter(|place| !any || !graph.space.is_pressed(place));
    fit.map(|place| place.at).collect()
}

/// The bits of a length and a stop's number. The bits of numbers that are not negative are in the order of the numbers.
type Entry = Reverse<(u64, u32)>;
type Open = BinaryHeap<Entry>;

fn entry(length: f64, stop: usize) -> Entry {
    Reverse((length.to_bits(), stop as u32))
}

thread_local! {
    /// Scratch memory of a query.
    static STOPS: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}
