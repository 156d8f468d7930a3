//! The shortest paths from nodes to one goal, and the first node on the way from anywhere.
//!
//! A tree knows the way from every node, or only from those that an agent at a certain place may want to pass. Such a
//! narrow one also answers an agent that is near that place or further along the way, as long as it can tell that no node it
//! does not know of could be better; else it says that it does not know.

use super::graph::{Eye, Graph};
use super::nodes::Side;
use super::search::Search;
use super::sieve::Sieve;
use crate::goal_cache::LastUsed;
use crate::space::Place;
use glam::DVec2;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The shortest paths from nodes to a goal.
#[derive(Debug)]
pub(super) struct Tree {
    /// Where the goal can be entered: its point, or places inside the edge of its area.
    goals: Vec<DVec2>,
    /// The nodes that ways are known from, ascending.
    node: Vec<u32>,
    /// From each of them to the goal, m.
    distance: Vec<f64>,
    /// The stop after each.
    next: Vec<Stop>,
    /// On which side each is arrived at.
    side: Vec<Side>,
    /// Only where all ways are known: the few of a narrow tree are looked at one by one.
    sieve: Option<Sieve>,
    scope: Scope,
    pub used: LastUsed,
}

/// What a tree knows.
#[derive(Clone, Copy, Debug)]
enum Scope {
    /// Every node that there is a way from.
    Everything,
    /// Every node over which the way from a place is at most this long, m.
    Near(DVec2, f64),
}

/// A place where the way bends or ends, by its number in the tree: first nodes, then goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop(u32);

/// A tree knows too few nodes to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unknown;

impl Tree {
    /// All ways.
    pub fn whole(graph: &Graph, goals: Vec<DVec2>) -> Tree {
        Tree::new(graph, roomy(graph, goals), None)
    }

    /// The ways that an agent at a place may want, now and further along.
    pub fn towards(graph: &Graph, goals: Vec<DVec2>, ego: &Place) -> Tree {
        Tree::new(graph, roomy(graph, goals), Some(ego))
    }

    fn new(graph: &Graph, goals: Vec<DVec2>, ego: Option<&Place>) -> Tree {
        let Search { distance, next, mut looked_at, complete_to, .. } = Search::new(graph, &goals, ego);
        looked_at.sort_unstable();
        looked_at.dedup();
        let node = looked_at;
        let mut number = vec![0; graph.nodes.len()];
        (0..).zip(&node).for_each(|(index, &node)| number[node as usize] = index);
        let all = graph.nodes.len() as u32;
        let stop =
            |next: u32| if next < all { number[next as usize] } else { next - all + node.len() as u32 };
        let scope = match ego {
            Some(ego) if complete_to < f64::INFINITY => Scope::Near(ego.at, complete_to),
            _ => Scope::Everything,
        };
        let mut tree = Tree {
            distance: node.iter().map(|&node| distance[node as usize]).collect(),
            next: node.iter().map(|&node| Stop(stop(next[node as usize]))).collect(),
            goals,
            node,
            side: Vec::new(),
            sieve: None,
            scope,
            used: LastUsed::default(),
        };
        tree.side = (tree.node.iter().zip(&tree.next))
            .map(|(&node, &next)| graph.nodes.side(node as usize, tree.at(graph, next)))
            .collect();
        if tree.is_whole() {
            let arrival = |(&node, &side): (&u32, &Side)| graph.nodes.arrival(node as usize, side);
            let arrivals: Vec<_> = tree.node.iter().zip(&tree.side).map(arrival).collect();
            tree.sieve = Some(Sieve::new(&arrivals, graph.nodes.tolerance()));
        }
        tree
    }

    /// Whether it knows all ways.
    pub fn is_whole(&self) -> bool {
        matches!(self.scope, Scope::Everything)
    }

    /// The memory that it takes, bytes.
    pub fn bytes(&self) -> usize {
        let node = size_of::<u32>() + size_of::<f64>() + size_of::<Stop>() + size_of::<Side>();
        size_of::<Tree>() + node * self.node.len() + self.sieve.as_ref().map_or(0, Sieve::bytes)
    }

    /// The first stop on the shortest path from a place; none where there is no path.
    pub fn first_stop(&self, graph: &Graph, place: &Place) -> Result<Option<Stop>, Unknown> {
        let pressed = graph.space.is_pressed(place);
        let mut found = self.nearest_seen(graph, place, pressed, graph.space.keep());
        // Between walls that leave no room for the body: out of there, as far from walls as now.
        if found.is_none() && pressed && self.is_whole() {
            found = self.nearest_seen(graph, place, pressed, graph.space.pressed_keep(place));
        }
        match self.scope {
            Scope::Everything => Ok(found.map(|(_, stop)| stop)),
            // Over a node that is not known the way was longer from there, so from here it is by at most the distance
            // in between less.
            Scope::Near(there, complete_to) => match found {
                Some((length, stop)) if length + there.distance(place.at) <= complete_to => Ok(Some(stop)),
                _ => Err(Unknown),
            },
        }
    }

    /// The visible stop with the shortest path over it, and how long that is. The promising ones are looked at first; ties
    /// go by number.
    fn nearest_seen(&self, graph: &Graph, place: &Place, pressed: bool, keep: f64) -> Option<(f64, Stop)> {
        STOPS.with_borrow_mut(|stops| {
            self.list_stops(graph, place, pressed, stops);
            let mut eye = Eye::new(&graph.space, place, keep);
            let mut heap = BinaryHeap::from(std::mem::take(stops));
            let mut seen = None;
            while let (None, Some(Reverse((bits, stop)))) = (seen, heap.pop()) {
                let (length, is_weighed, stop) = (f64::from_bits(bits), stop & WEIGHED != 0, stop & !WEIGHED);
                let at = self.at(graph, Stop(stop));
                if is_weighed || eye.sees(at) {
                    // A jam makes a way count as longer and never as shorter, so it is asked for only here, where nothing
                    // is promising more.
                    let more = if is_weighed || !graph.is_jammed() { 0.0 } else { graph.delay(place.at, at) };
                    if more > 0.0 {
                        heap.push(entry(length + more, (stop | WEIGHED) as usize));
                    } else {
                        seen = Some((length, Stop(stop)));
                    }
                }
            }
            *stops = heap.into_vec();
            seen
        })
    }

    /// Every stop that may be the first, with the length of the path over it if nothing were in between.
    fn list_stops(&self, graph: &Graph, place: &Place, pressed: bool, stops: &mut Vec<Entry>) {
        let length = |at: DVec2| at.distance(place.at);
        let goals = self.goals.iter().enumerate();
        stops.clear();
        stops.extend(goals.map(|(goal, &at)| entry(length(at), self.node.len() + goal)));
        let add = |index: usize| {
            let arrival = graph.nodes.arrival(self.node[index] as usize, self.side[index]);
            // Inside of an arc no way is a tangent: an agent that is pressed there takes any way out.
            if pressed || graph.nodes.arrives(&arrival, place.at) {
                stops.push(entry(self.distance[index] + length(arrival.at), index));
            }
        };
        match &self.sieve {
            Some(sieve) if !pressed => sieve.each(place.at, add),
            _ => (0..self.node.len()).for_each(add),
        }
    }

    /// Where a stop is.
    pub fn at(&self, graph: &Graph, stop: Stop) -> DVec2 {
        match self.node.get(stop.0 as usize) {
            Some(&node) => graph.nodes.at[node as usize],
            None => self.goals[stop.0 as usize - self.node.len()],
        }
    }

    /// The stop after a stop; `None` after the goal.
    pub fn after(&self, stop: Stop) -> Option<Stop> {
        self.next.get(stop.0 as usize).copied()
    }

    /// The stop to head for: the one that is given, or what follows where an agent has as good as rounded it.
    pub fn heading(&self, graph: &Graph, place: &Place, stop: Stop) -> Stop {
        let (Some(next), Some(&node)) = (self.after(stop), self.node.get(stop.0 as usize)) else {
            return stop;
        };
        let past = graph.nodes.is_past(node as usize, place.at, self.at(graph, next));
        if past { next } else { stop }
    }
}

/// The goals where a body has room; all of them where it has none anywhere.
fn roomy(graph: &Graph, goals: Vec<DVec2>) -> Vec<DVec2> {
    let places: Vec<Place> = goals.into_iter().map(|goal| graph.space.place(goal)).collect();
    let any = places.iter().any(|place| !graph.space.is_pressed(place));
    let fit = places.iter().filter(|place| !any || !graph.space.is_pressed(place));
    fit.map(|place| place.at).collect()
}

/// Marks the number of a stop to which the way has been seen, and what delays on it counted.
const WEIGHED: u32 = 1 << 31;

/// The bits of a length and a stop's number. The bits of numbers that are not negative are in the order of the numbers.
pub(super) type Entry = Reverse<(u64, u32)>;

pub(super) fn entry(length: f64, stop: usize) -> Entry {
    Reverse((length.to_bits(), stop as u32))
}

thread_local! {
    /// Scratch memory of a query.
    static STOPS: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}
