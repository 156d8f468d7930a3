//! Ground that is harder to walk on than the rest.

use crate::geom::inside_ring;
use glam::Vec2;

/// A piece of ground on which a metre counts as more than one.
#[derive(Clone, Debug, PartialEq)]
pub struct Terrain {
    /// Its edge, m from the world's origin.
    pub ring: Vec<Vec2>,
    /// As how many metres one counts, 1 or more.
    pub cost: f32,
}

impl Terrain {
    /// As how many metres one counts at a place: the most that any of the pieces there says.
    pub fn cost_at(pieces: &[Terrain], place: Vec2) -> f32 {
        let there = pieces.iter().filter(|piece| piece.cost > 1.0 && inside_ring(place, &piece.ring).0);
        there.map(|piece| piece.cost).fold(1.0, f32::max)
    }
}
