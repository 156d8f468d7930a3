//! Where the crowd will be: every agent a little ahead of itself, counted in the cells of a grid.

use glam::{IVec2, Vec2};
use std::sync::atomic::{AtomicU32, Ordering};
use throng_core::space::RowGrid;

/// An agent counts one in its own cell and a half in each of the eight around it. Counted in halves, so that readings are
/// whole numbers.
const HALVES: u32 = 2;
/// What an agent adds to all nine cells together.
const IN_ALL: f32 = 5.0;

/// How many will be where. Counts are whole numbers, so that no order of threads can change a bit.
#[derive(Debug, Default)]
pub struct Field(RowGrid<AtomicU32>);

impl Field {
    /// An empty one with cells of a side, m.
    pub fn new(side: f32) -> Field {
        Field(RowGrid::new(side))
    }

    /// Side of a cell, m.
    pub fn side(&self) -> f32 {
        self.0.side()
    }

    /// Counts rows at the places where they will be.
    pub fn count(&mut self, rows: usize, will_be: impl Fn(usize) -> Vec2 + Sync) {
        self.0.lay_out(rows, will_be, |_, count| {
            count.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// What a row reads at a place: every agent in its cell as one, in the eight around it as a half, but for the row
    /// itself.
    #[inline]
    pub fn read(&self, row: usize, place: Vec2) -> f32 {
        let cell = self.0.cell(place);
        let count = |count: &AtomicU32| count.load(Ordering::Relaxed);
        let inside = self.0.grid.get(cell).map_or(0, count);
        let all = (HALVES - 1) * inside + self.0.grid.around(cell).map(count).sum::<u32>();
        let apart = self.0.cells[row].wrapping_sub(cell);
        let near = apart.cmpge(IVec2::NEG_ONE).all() && apart.cmple(IVec2::ONE).all();
        let own = if apart == IVec2::ZERO { HALVES } else { u32::from(near) };
        (all - own) as f32 / HALVES as f32
    }

    /// What is read in a crowd of a density, persons per square metre.
    pub fn reading_of(&self, per_square_metre: f32) -> f32 {
        per_square_metre * IN_ALL * self.side() * self.side()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;
    use throng_core::space::cell_of;

    fn place() -> impl Strategy<Value = Vec2> {
        let near = (-40.0f32..40.0, -40.0f32..40.0);
        let far = prop_oneof![Just(0.0f32), Just(0.0), Just(3e5), Just(-1e9), Just(3e12)];
        (near, far).prop_map(|((x, y), far)| Vec2::new(x + far, y - far))
    }

    proptest! {
        /// The paper's figure 3, with a plain map: 1 in the own cell, a half in each of the eight around it.
        #[test]
        fn readings_are_the_papers(
            places in proptest::collection::vec(place(), 1..300),
            look in proptest::collection::vec(place(), 1..20),
            side in prop_oneof![Just(5.0f32), 0.5f32..20.0],
        ) {
            let mut field = Field::new(side);
            // Twice: the second time nothing of the first may be left.
            field.count(places.len() / 2, |row| places[row] + 1.0);
            field.count(places.len(), |row| places[row]);
            let cell = |place: Vec2| cell_of(place, 1.0 / side);
            for (row, place) in look.iter().chain(&places).enumerate() {
                let row = row % places.len();
                let mut density: HashMap<IVec2, f64> = HashMap::new();
                for (_, other) in places.iter().enumerate().filter(|&(other, _)| other != row) {
                    for x in -1..=1 {
                        for y in -1..=1 {
                            let around = cell(*other).wrapping_add(IVec2::new(x, y));
                            *density.entry(around).or_default() += if x == 0 && y == 0 { 1.0 } else { 0.5 };
                        }
                    }
                }
                let expected = density.get(&cell(*place)).copied().unwrap_or(0.0);
                prop_assert_eq!(f64::from(field.read(row, *place)), expected);
            }
        }
    }

    #[test]
    fn a_reading_can_be_told_as_persons_per_square_metre() {
        // One person in every square metre, read in the middle of cells of any size.
        let places: Vec<Vec2> =
            (0..3600).map(|i| Vec2::new((i % 60) as f32 + 0.5, (i / 60) as f32 + 0.5)).collect();
        for side in [2.0, 5.0, 10.0] {
            let mut field = Field::new(side);
            field.count(places.len(), |row| places[row]);
            assert_eq!(field.read(0, Vec2::splat(31.0)), field.reading_of(1.0), "cells of {side} m");
        }
    }
}
