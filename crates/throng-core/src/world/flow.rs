//! How dense the crowd is and how it flows: a field that the mesoscale hands on within a step.

use crate::CHUNK;
use crate::parallel::for_chunks;
use crate::space::{Blob, FOUR, RowGrid, Splat};
use glam::{IVec2, Vec2};
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// What a cell of the field holds, as whole numbers, so that no order of threads can change a bit.
#[derive(Debug, Default)]
pub struct FlowCell {
    density: AtomicU32,
    momentum: [AtomicI32; 2],
}

/// Parts of a person per square metre that are told apart.
const PARTS: f32 = 4096.0;

/// The crowd as a fluid.
#[derive(Debug)]
pub struct Flow {
    /// As what every agent counts.
    blob: Blob,
    /// By row four cells. Tiles are small: mostly people are further apart than a few cells.
    layout: RowGrid<FlowCell, 4>,
    /// By row, with its velocity.
    splats: Vec<(Splat, Vec2)>,
}

/// What is read at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stream {
    /// 1/m².
    pub density: f32,
    /// The mean velocity, weighed by density, m/s.
    pub velocity: Vec2,
}

impl FlowCell {
    fn add(&self, weight: f32, velocity: Vec2) {
        self.density.fetch_add(parts(weight) as u32, Ordering::Relaxed);
        for (held, value) in self.momentum.iter().zip((weight * velocity).to_array()) {
            held.fetch_add(parts(value), Ordering::Relaxed);
        }
    }

    fn read(&self) -> (u32, [i32; 2]) {
        let momentum = self.momentum.each_ref().map(|held| held.load(Ordering::Relaxed));
        (self.density.load(Ordering::Relaxed), momentum)
    }
}

fn parts(value: f32) -> i32 {
    (value * PARTS).round_ties_even() as i32
}

impl Flow {
    /// An empty one.
    pub fn new(side: f32, blob: Blob) -> Flow {
        Flow { blob, layout: RowGrid::new(side), splats: Vec::new() }
    }

    /// Side of a cell, m.
    pub fn side(&self) -> f32 {
        self.layout.side()
    }

    /// Fills it with rows at their places, with their velocities.
    pub fn fill(&mut self, rows: usize, body: impl Fn(usize) -> (Vec2, Vec2) + Sync) {
        let (blob, per_metre) = (self.blob, 1.0 / self.layout.side());
        self.splats.resize_with(rows, Default::default);
        for_chunks(CHUNK, &mut self.splats[..], &|chunk, splats| {
            for (i, splat) in splats.iter_mut().enumerate() {
                let (place, velocity) = body(chunk * CHUNK + i);
                *splat = (blob.splat(place * per_metre), velocity);
            }
        });
        let splats = &self.splats;
        let cell = |index: usize| splats[index / 4].0.cell.wrapping_add(FOUR[index % 4]);
        self.layout.lay_out_in(4 * rows, cell, |index, cell: &FlowCell| {
            let (splat, velocity) = splats[index / 4];
            cell.add(splat.weight[index % 4], velocity);
        });
    }

    /// What the crowd does at a place, between the middles of four cells, without one agent at a place.
    pub fn read(&self, place: Vec2, without: (Vec2, Vec2)) -> Stream {
        let side = self.layout.side();
        let own = self.blob.splat(without.0 * (1.0 / side));
        let shifted = place / side - 0.5;
        let (lower, part) = (shifted.floor().as_ivec2(), shifted - shifted.floor());
        let ([left, right], [low, high]) = ([1.0 - part.x, part.x], [1.0 - part.y, part.y]);
        let share = [left * low, right * low, left * high, right * high];
        let (mut density, mut momentum) = (0.0, Vec2::ZERO);
        for (offset, share) in FOUR.into_iter().zip(share) {
            let cell = lower.wrapping_add(offset);
            let (all, flow) = self.cell(cell, &own, without.1);
            density += share * all;
            momentum += share * flow;
        }
        let velocity = if density > 0.0 { momentum / density } else { Vec2::ZERO };
        Stream { density, velocity }
    }

    fn cell(&self, cell: IVec2, own: &Splat, velocity: Vec2) -> (f32, Vec2) {
        let (mut density, mut momentum) = self.layout.grid.get(cell).map_or((0, [0; 2]), FlowCell::read);
        if let Some(mine) = FOUR.iter().position(|&offset| own.cell.wrapping_add(offset) == cell) {
            let weight = own.weight[mine];
            density = density.saturating_sub(parts(weight) as u32);
            for (held, value) in momentum.iter_mut().zip((weight * velocity).to_array()) {
                *held = held.wrapping_sub(parts(value));
            }
        }
        (density as f32 / PARTS, Vec2::from(momentum.map(|value| value as f32 / PARTS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// At the middle of a cell, against the sums of the paper.
        #[test]
        fn a_reading_is_the_papers(
            bodies in proptest::collection::vec(((-6.0f32..6.0, -6.0f32..6.0), (-2.0f32..2.0, -2.0f32..2.0)), 1..60),
            at in (-12i32..12, -12i32..12),
        ) {
            let bodies: Vec<(Vec2, Vec2)> = bodies.into_iter().map(|(x, v)| (x.into(), v.into())).collect();
            let blob = Blob::new(1.8, Vec2::splat(0.35), 0.5);
            let mut flow = Flow::new(0.5, blob);
            flow.fill(bodies.len(), |row| bodies[row]);
            let cell = IVec2::from(at);
            let place = (cell.as_vec2() + 0.5) * 0.5;
            let read = flow.read(place, bodies[0]);
            let (mut density, mut momentum) = (0.0, Vec2::ZERO);
            for &(x, v) in &bodies[1..] {
                let splat = blob.splat(x / 0.5);
                let mine = FOUR.iter().position(|&offset| splat.cell + offset == cell);
                let weight = mine.map_or(0.0, |i| splat.weight[i]);
                density += weight;
                momentum += weight * v;
            }
            prop_assert!((read.density - density).abs() < 0.02, "{read:?} instead of {density}");
            prop_assert!((read.velocity * read.density - momentum).length() < 0.05, "{read:?} instead of {momentum}");
        }
    }

    #[test]
    fn a_person_is_a_person() {
        // One person on each square metre, in another place of each, counts as about one.
        let bodies: Vec<Vec2> = (0..3600)
            .map(|i| {
                let cell = Vec2::new((i % 60) as f32, (i / 60) as f32);
                cell + Vec2::new((i * 7 % 60) as f32, (i * 11 % 59) as f32) / 60.0
            })
            .collect();
        let mut flow = Flow::new(0.5, Blob::new(1.8, Vec2::splat(0.35), 0.5));
        flow.fill(bodies.len(), |row| (bodies[row], Vec2::X));
        let nowhere = (Vec2::splat(1e6), Vec2::ZERO);
        let read = |i: i32| {
            flow.read(Vec2::new(10.0 + 0.5 * (i % 80) as f32, 10.0 + 0.5 * (i / 80) as f32), nowhere)
        };
        let mean = (0..6400).map(|i| read(i).density).sum::<f32>() / 6400.0;
        assert!((0.95..1.05).contains(&mean), "{mean}");
        assert!(read(17).velocity.distance(Vec2::X) < 1e-2);
    }
}
