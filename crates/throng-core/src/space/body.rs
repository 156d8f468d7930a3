//! What others see of an agent, in half a cache line: an agent that looks at ten others touches ten lines and not seventy.

use super::LANES;
use crate::world::{Agents, Status};
use fearless_simd::{Simd, f32x8, f32x16, prelude::*, u32x16};
use glam::Vec2;

/// Properties of a body.
const PROPERTIES: usize = 8;

/// What others see of an agent. An array, so that many can be turned into columns by shuffles alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Body([f32; PROPERTIES]);

/// Sixteen bodies, one column per property.
#[derive(Clone, Copy, Debug)]
pub struct Columns<S: Simd> {
    /// m from the world's origin.
    pub x: f32x16<S>,
    /// m from the world's origin.
    pub y: f32x16<S>,
    /// m/s.
    pub vx: f32x16<S>,
    /// m/s.
    pub vy: f32x16<S>,
    /// m.
    pub radius: f32x16<S>,
    /// Its share of an avoidance, weighed against the other's.
    pub responsibility: f32x16<S>,
    /// Who.
    pub id: u32x16<S>,
    /// 1 where it has arrived, else 0.
    pub arrived: f32x16<S>,
}

impl Body {
    /// What others see of a row.
    #[inline(always)]
    pub(super) fn of(agents: &Agents, row: usize) -> Body {
        Body([
            agents.x[row],
            agents.y[row],
            agents.vx[row],
            agents.vy[row],
            agents.radius[row],
            agents.responsibility[row],
            // Never calculated with, only carried: the bits stay what they are.
            f32::from_bits(agents.id[row]),
            if agents.status[row] == Status::Arrived { 1.0 } else { 0.0 },
        ])
    }

    /// Fills what others see of the rows from `first` on.
    #[inline(always)]
    pub(super) fn fill<S: Simd>(simd: S, agents: &Agents, first: usize, bodies: &mut [Body]) {
        let (blocks, others) = bodies.as_chunks_mut::<LANES>();
        for (block, bodies) in blocks.iter_mut().enumerate() {
            Body::fill_block(simd, agents, first + block * LANES, bodies);
        }
        let rest = first + blocks.len() * LANES;
        for (body, row) in others.iter_mut().zip(rest..) {
            *body = Body::of(agents, row);
        }
    }

    #[inline(always)]
    fn fill_block<S: Simd>(simd: S, agents: &Agents, first: usize, bodies: &mut [Body; LANES]) {
        let rows = first..first + LANES;
        let mut arrived = [0.0; LANES];
        for (arrived, status) in arrived.iter_mut().zip(&agents.status[rows.clone()]) {
            *arrived = f32::from(u8::from(*status == Status::Arrived));
        }
        let load = |column: &[f32]| f32x16::from_slice(simd, &column[rows.clone()]);
        let mut vectors = [
            load(&agents.x),
            load(&agents.y),
            load(&agents.vx),
            load(&agents.vy),
            load(&agents.radius),
            load(&agents.responsibility),
            u32x16::from_slice(simd, &agents.id[rows.clone()]).bitcast(),
            f32x16::from_slice(simd, &arrived),
        ];
        // Of seven rotations `Columns::gather` makes four: the other three lead back.
        for _ in 0..PROPERTIES.trailing_zeros() {
            vectors = rotated(vectors);
        }
        for (pair, vector) in bodies.chunks_exact_mut(2).zip(vectors) {
            let (first, second) = vector.split();
            first.store_slice(&mut pair[0].0);
            second.store_slice(&mut pair[1].0);
        }
    }

    /// m from the world's origin.
    #[inline(always)]
    pub fn position(&self) -> Vec2 {
        Vec2::new(self.0[0], self.0[1])
    }
}

/// Interleaves the first half with the second, which rotates a float's address by one bit.
#[inline(always)]
fn rotated<S: Simd>(vectors: [f32x16<S>; PROPERTIES]) -> [f32x16<S>; PROPERTIES] {
    let mut next = vectors;
    for half in 0..PROPERTIES / 2 {
        (next[2 * half], next[2 * half + 1]) = vectors[half].interleave(vectors[half + PROPERTIES / 2]);
    }
    next
}

impl<S: Simd> Columns<S> {
    /// The bodies of sixteen rows.
    #[inline(always)]
    pub fn gather(simd: S, bodies: &[Body], rows: &[u32; LANES]) -> Columns<S> {
        let body = |i: usize| f32x8::from_slice(simd, &bodies[rows[i] as usize].0);
        let mut vectors: [f32x16<S>; PROPERTIES] =
            std::array::from_fn(|pair| body(2 * pair).combine(body(2 * pair + 1)));
        // There are four bits of who and three of what: after four rotations they have changed places.
        for _ in 0..LANES.trailing_zeros() {
            vectors = rotated(vectors);
        }
        let [x, y, vx, vy, radius, responsibility, id, arrived] = vectors;
        Columns { x, y, vx, vy, radius, responsibility, id: id.bitcast(), arrived }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch;
    use fearless_simd::Level;

    #[test]
    fn many_bodies_are_filled_as_each_is() {
        let column = |start: u32| (0..53).map(|row| (start + row) as f32).collect::<Vec<f32>>();
        let agents = Agents {
            id: (0..53).map(|row| u32::MAX - row).collect(),
            x: column(100),
            y: column(200),
            vx: column(300),
            vy: column(400),
            radius: column(500),
            responsibility: column(600),
            status: (0..53).map(|row| if row % 3 == 0 { Status::Arrived } else { Status::Walking }).collect(),
            ..Agents::default()
        };
        let mut bodies = vec![Body::default(); 50];
        dispatch!(Level::new(), simd => Body::fill(simd, &agents, 3, &mut bodies));
        let bits = |body: Body| body.0.map(f32::to_bits);
        for (body, row) in bodies.into_iter().zip(3..) {
            assert_eq!(bits(body), bits(Body::of(&agents, row)));
        }
    }
}
