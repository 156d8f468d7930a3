//! How dense the crowd is and how it flows: a field that the mesoscale describes and local models read.
//!
//! It is not laid out. Each agent reads one place a step, and from the neighbour index the few bodies that count there are at
//! hand: to lay all bodies out on a grid, each into four cells with three sums, and to look the cells up again costs several
//! times as much, and memory that grows with the room that people have.

use super::View;
use crate::space::{Blob, FOUR};
use glam::{IVec2, Vec2};
use std::f32::consts::SQRT_2;

/// Parts of a person per square metre that are told apart.
const PARTS: f32 = 4096.0;
/// As far from the middle of four cells, in cells along each axis, bodies can be that count in one of them, and a little
/// further.
const REACH: f32 = 1.6;

/// The crowd as a fluid.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Side of a cell, m.
    side: f32,
    /// As what every agent counts.
    blob: Blob,
}

/// What is read at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stream {
    /// 1/m².
    pub density: f32,
    /// The mean velocity, weighed by density, m/s.
    pub velocity: Vec2,
}

/// What a cell of the field holds, as whole numbers, so that no order of bodies can change a bit.
#[derive(Clone, Copy, Debug, Default)]
struct FlowCell {
    density: u32,
    momentum: [i32; 2],
}

/// The four cells whose middles are around a place.
#[derive(Clone, Copy, Debug)]
struct Four {
    lower: IVec2,
    /// Of each in what is read.
    share: [f32; 4],
    cells: [FlowCell; 4],
}

impl FlowCell {
    #[inline(always)]
    fn add(&mut self, weight: f32, velocity: Vec2) {
        self.density = self.density.wrapping_add(parts(weight) as u32);
        for (held, value) in self.momentum.iter_mut().zip((weight * velocity).to_array()) {
            *held = held.wrapping_add(parts(value));
        }
    }
}

#[inline(always)]
fn parts(value: f32) -> i32 {
    (value * PARTS).round_ties_even() as i32
}

impl Flow {
    /// One with cells of a side, m, in which every agent counts as a blob.
    pub fn new(side: f32, blob: Blob) -> Flow {
        Flow { side, blob }
    }

    /// Side of a cell, m.
    pub fn side(&self) -> f32 {
        self.side
    }

    /// What the crowd does at a place, between the middles of four cells, without one row, or with all of them.
    #[inline(always)]
    pub fn read(&self, view: View<'_>, place: Vec2, without: Option<usize>) -> Stream {
        let mut four = Four::around(place / self.side);
        let (middle, reach) = (four.lower.wrapping_add(IVec2::ONE).as_vec2() * self.side, REACH * self.side);
        let range = reach * SQRT_2;
        view.cells.runs(middle.x, middle.y, range, |start, end| {
            for row in (start..end).filter(|&row| Some(row) != without) {
                let offset = view.position(row) - middle;
                let shift = view.cells.period().shift(offset);
                if (offset + shift).abs().max_element() < reach {
                    four.add(self, view.position(row) + shift, view.velocity(row));
                }
            }
            range
        });
        four.stream()
    }
}

impl Four {
    /// Around a place in cells.
    #[inline(always)]
    fn around(place: Vec2) -> Four {
        let shifted = place - 0.5;
        let (lower, part) = (shifted.floor(), shifted - shifted.floor());
        let ([left, right], [low, high]) = ([1.0 - part.x, part.x], [1.0 - part.y, part.y]);
        let share = [left * low, right * low, left * high, right * high];
        Four { lower: lower.as_ivec2(), share, cells: [FlowCell::default(); 4] }
    }

    /// Adds a body at a place with a velocity.
    #[inline(always)]
    fn add(&mut self, flow: &Flow, place: Vec2, velocity: Vec2) {
        let splat = flow.blob.splat(place * (1.0 / flow.side));
        for (cell, offset) in self.cells.iter_mut().zip(FOUR) {
            let at = self.lower.wrapping_add(offset).wrapping_sub(splat.cell);
            if let Some(mine) = FOUR.iter().position(|&other| other == at) {
                cell.add(splat.weight[mine], velocity);
            }
        }
    }

    #[inline(always)]
    fn stream(&self) -> Stream {
        let (mut density, mut momentum) = (0.0, Vec2::ZERO);
        for (cell, share) in self.cells.iter().zip(self.share) {
            density += share * (cell.density as f32 / PARTS);
            momentum += share * Vec2::from(cell.momentum.map(|value| value as f32 / PARTS));
        }
        let velocity = if density > 0.0 { momentum / density } else { Vec2::ZERO };
        Stream { density, velocity }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Period;
    use crate::world::{Agent, Status, World};
    use glam::DVec2;
    use proptest::prelude::*;

    fn agent(id: u32, (place, velocity): (Vec2, Vec2)) -> Agent {
        Agent {
            id,
            slot: id,
            x: place.x,
            y: place.y,
            vx: velocity.x,
            vy: velocity.y,
            goal_x: 0.0,
            goal_y: 0.0,
            radius: 0.25,
            preferred_speed: 1.3,
            max_speed: 2.0,
            responsibility: 0.5,
            start: 0.0,
            arrival: -1.0,
            walked: 0.0,
            cohort: 0,
            destination: 0,
            status: Status::Walking,
        }
    }

    fn world(period: Period, bodies: impl IntoIterator<Item = (Vec2, Vec2)>) -> World {
        let mut world = World { period, furthest_look: 5.0, ..World::new(DVec2::ZERO, 0.1) };
        (0..).zip(bodies).for_each(|(id, body)| world.agents.push(agent(id, body)));
        world.sort_rows();
        world
    }

    fn flow() -> Flow {
        Flow::new(0.5, Blob::new(1.8, Vec2::splat(0.35), 0.5))
    }

    proptest! {
        /// At the middle of a cell, against the sums of the paper.
        #[test]
        fn a_reading_is_the_papers(
            bodies in proptest::collection::vec(((-6.0f32..6.0, -6.0f32..6.0), (-2.0f32..2.0, -2.0f32..2.0)), 1..60),
            at in (-12i32..12, -12i32..12),
        ) {
            let world = world(Period::default(), bodies.into_iter().map(|(x, v)| (x.into(), v.into())));
            let (view, flow, cell) = (world.view(), flow(), IVec2::from(at));
            let read = flow.read(view, (cell.as_vec2() + 0.5) * 0.5, Some(0));
            let (mut density, mut momentum) = (0.0, Vec2::ZERO);
            for row in 1..view.agents.len() {
                let splat = flow.blob.splat(view.position(row) / 0.5);
                let mine = FOUR.iter().position(|&offset| splat.cell + offset == cell);
                let weight = mine.map_or(0.0, |i| splat.weight[i]);
                density += weight;
                momentum += weight * view.velocity(row);
            }
            prop_assert!((read.density - density).abs() < 0.02, "{read:?} instead of {density}");
            prop_assert!((read.velocity * read.density - momentum).length() < 0.05, "{read:?} instead of {momentum}");
        }

        /// Who is beyond the seam counts as if a whole crowd were there once more.
        #[test]
        fn a_reading_reaches_across_a_seam(
            bodies in proptest::collection::vec(((0.0f32..8.0, 0.0f32..8.0), (-2.0f32..2.0, -2.0f32..2.0)), 1..60),
            at in (-1.0f32..9.0, -1.0f32..9.0),
        ) {
            let bodies: Vec<(Vec2, Vec2)> = bodies.into_iter().map(|(x, v)| (x.into(), v.into())).collect();
            let shifts = (0..9).map(|i| 8.0 * (IVec2::new(i % 3, i / 3) - 1).as_vec2());
            let images = shifts.flat_map(|shift| bodies.iter().map(move |&(place, velocity)| (place + shift, velocity)));
            let folded = world(Period::new(Vec2::ZERO, Vec2::splat(8.0)), bodies.iter().copied());
            let spread = world(Period::default(), images);
            let read = |world: &World| flow().read(world.view(), at.into(), None);
            prop_assert_eq!(read(&folded), read(&spread));
        }
    }

    #[test]
    fn a_person_is_a_person() {
        // One person on each square metre, in another place of each, counts as about one.
        let bodies = (0..3600).map(|i| {
            let cell = Vec2::new((i % 60) as f32, (i / 60) as f32);
            (cell + Vec2::new((i * 7 % 60) as f32, (i * 11 % 59) as f32) / 60.0, Vec2::X)
        });
        let world = world(Period::default(), bodies);
        let read = |i: i32| {
            let place = Vec2::new(10.0 + 0.5 * (i % 80) as f32, 10.0 + 0.5 * (i / 80) as f32);
            flow().read(world.view(), place, None)
        };
        let mean = (0..6400).map(|i| read(i).density).sum::<f32>() / 6400.0;
        assert!((0.95..1.05).contains(&mean), "{mean}");
        assert!(read(17).velocity.distance(Vec2::X) < 1e-2);
    }
}
