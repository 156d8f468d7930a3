//! The places where a shortest path can bend: around corners that stick out into free space.
//!
//! A body that rounds a corner follows an arc of its radius. The arc is replaced by the polygon around it, whose corners
//! are the nodes: its sides touch the arc, and the outermost two continue along the walls. Directions come from halving
//! angles, which takes square roots only, so that all machines agree on every bit.

use crate::corners::{corners, halfway, split};
use crate::space::Space;
use glam::DVec2;

/// Cosine of the widest turn that one node stands for: 22.5 degrees (and some rounding). A way around a corner is then at
/// most 1.3 % longer than along the arc.
const WIDEST_TURN: f64 = 0.9238;
/// The same for bodies so small that a detour around their arc is nothing: 90 degrees, most corners have one node.
const WIDEST_TURN_OF_POINTS: f64 = -1e-9;
/// Radius below which a body is a point, m.
const POINT: f64 = 1e-3;
/// How far off a node's tangents a place may be, as a share of the radius, and still count as on them.
const SLACK: f64 = 1e-3;
/// Within this many radii a node is looked at whatever its tangents say: between an arc and its polygon there is room to
/// stand, and no tangent leads out of it.
const NEAR: f64 = 1.5;

/// All nodes: one column per property.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub at: Vec<DVec2>,
    /// Unit vectors from the corner to where the sides before and after the node touch the arc.
    before: Vec<DVec2>,
    after: Vec<DVec2>,
    near_squared: f64,
    slack: f64,
}

impl Nodes {
    /// The nodes that a body of the space's radius can stand at.
    pub fn new(space: &Space) -> Nodes {
        let near = NEAR * space.radius;
        let mut nodes = Nodes { near_squared: near * near, slack: SLACK * space.radius, ..Nodes::default() };
        let widest = if space.radius < POINT { WIDEST_TURN_OF_POINTS } else { WIDEST_TURN };
        for corner in corners(&space.walls) {
            split(corner.before, corner.after, widest, &mut |before, after| {
                let middle = halfway(before, after);
                let at = corner.at + middle * (space.radius / middle.dot(before));
                if space.clearance(at) >= space.keep() {
                    nodes.at.push(at);
                    nodes.before.push(before);
                    nodes.after.push(after);
                }
            });
        }
        nodes
    }

    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether a straight way between a node and a place can be part of a shortest one: it must touch the polygon around
    /// the corner without cutting into it.
    #[inline(always)]
    pub fn is_taut(&self, node: usize, place: DVec2) -> bool {
        let (before, after) = (self.before[node], self.after[node]);
        let arrives = |outside, inside| self.arrives(&Arrival { at: self.at[node], outside, inside }, place);
        arrives(before, after) || arrives(after, before)
    }

    /// On which side of a node a shortest path arrives that goes on to `next`: on the other one.
    pub fn side(&self, node: usize, next: DVec2) -> Side {
        let [from_before, from_after] = [Side::Before, Side::After].map(|side| self.arrival(node, side));
        match (self.touches(&from_before, next), self.touches(&from_after, next)) {
            (false, true) => Side::Before,
            (true, false) => Side::After,
            _ => Side::Any,
        }
    }

    /// From where a shortest path may arrive at a node on a side.
    #[inline(always)]
    pub fn arrival(&self, node: usize, side: Side) -> Arrival {
        let (at, before, after) = (self.at[node], self.before[node], self.after[node]);
        match side {
            Side::Before => Arrival { at, outside: before, inside: after },
            Side::After => Arrival { at, outside: after, inside: before },
            Side::Any => Arrival { at, outside: DVec2::ZERO, inside: DVec2::ZERO },
        }
    }

    /// Whether a shortest path can lead straight from a place to an arrival.
    #[inline(always)]
    pub fn arrives(&self, arrival: &Arrival, place: DVec2) -> bool {
        self.touches(arrival, place) || arrival.at.distance_squared(place) <= self.near_squared
    }

    /// How far from being a tangent a way may be that [`Nodes::arrives`] lets pass, m.
    pub fn tolerance(&self) -> f64 {
        self.near_squared.sqrt() + self.slack
    }

    #[inline(always)]
    fn touches(&self, arrival: &Arrival, place: DVec2) -> bool {
        let offset = place - arrival.at;
        arrival.outside.dot(offset) >= -self.slack && arrival.inside.dot(offset) <= self.slack
    }

    /// Whether a place between the arc and the node lies on that side of the node where the way goes on to `next`.
    pub fn is_past(&self, node: usize, place: DVec2, next: DVec2) -> bool {
        let (place, next) = (place - self.at[node], next - self.at[node]);
        let (before, after) = (self.before[node], self.after[node]);
        let inside = before.dot(place) <= self.slack && after.dot(place) <= self.slack;
        let side = |offset: DVec2| (after - before).dot(offset);
        inside && place.length_squared() <= self.near_squared && side(place) * side(next) >= 0.0
    }
}

/// A side of the polygon around a node's corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    After,
    /// What follows is too near to have a side.
    Any,
}

/// From where a way may arrive at a node: outside of one side of the polygon around its corner, inside of the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub at: DVec2,
    pub outside: DVec2,
    pub inside: DVec2,
}
