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

    /// m from the world's origin.
    #[inline(always)]
    pub fn position(&self) -> Vec2 {
        Vec2::new(self.0[0], self.0[1])
    }
}

impl<S: Simd> Columns<S> {
    /// The bodies of sixteen rows.
    #[inline(always)]
    pub fn gather(simd: S, bodies: &[Body], rows: &[u32; LANES]) -> Columns<S> {
        let body = |i: usize| f32x8::from_slice(simd, &bodies[rows[i] as usize].0);
        let mut vectors: [f32x16<S>; PROPERTIES] =
            std::array::from_fn(|pair| body(2 * pair).combine(body(2 * pair + 1)));
        // To interleave the first half with the second rotates a float's address by one bit. There are four bits of who
        // and three of what: after four rotations they have changed places.
        for _ in 0..LANES.trailing_zeros() {
            let mut next = vectors;
            for half in 0..PROPERTIES / 2 {
                (next[2 * half], next[2 * half + 1]) =
                    vectors[half].interleave(vectors[half + PROPERTIES / 2]);
            }
            vectors = next;
        }
        let [x, y, vx, vy, radius, responsibility, id, arrived] = vectors;
        Columns { x, y, vx, vy, radius, responsibility, id: id.bitcast(), arrived }
    }
}
