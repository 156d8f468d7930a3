//! # Half-planes of permitted velocities (van den Berg et al. 2011)
//! Follows the construction of the paper's section 4: `u` is the smallest change of the relative velocity that
//! leaves the truncated velocity obstacle, and an agent takes on its share of `u`.
//!
//! Sixteen pairs at once: every case is worked out for all lanes and the right one selected, which is cheaper than
//! to branch on what is close to random.

use crate::around::{Ego, MAX_OTHERS, MAX_WALLS, Others};
use crate::together::{Together, load, load_both, load_rank};
use fearless_simd::{Simd, f32x16, prelude::*};
use glam::Vec2;
use throng_core::geom::det;
use throng_core::space::LANES;

/// Room for all walls and others.
const MAX_PLANES: usize = MAX_WALLS + MAX_OTHERS + LANES;

/// Half-planes, one column per property. Permitted is what lies on the line or to the left of its direction.
/// Those of walls come first. What stands behind the last one means nothing.
#[derive(Clone, Debug)]
pub struct Planes {
    /// How many.
    pub len: usize,
    /// How many of them are walls, which never give way.
    pub walls: usize,
    pub(super) px: [f32; MAX_PLANES],
    pub(super) py: [f32; MAX_PLANES],
    pub(super) dx: [f32; MAX_PLANES],
    pub(super) dy: [f32; MAX_PLANES],
}

impl Default for Planes {
    fn default() -> Planes {
        const NONE: [f32; MAX_PLANES] = [0.0; MAX_PLANES];
        Planes { len: 0, walls: 0, px: NONE, py: NONE, dx: NONE, dy: NONE }
    }
}

impl Planes {
    /// Forgets all.
    #[inline(always)]
    pub fn clear(&mut self) {
        (self.len, self.walls) = (0, 0);
    }

    /// Adds one.
    #[inline(always)]
    pub fn push(&mut self, point: Vec2, direction: Vec2) {
        if self.len < MAX_PLANES - LANES {
            (self.px[self.len], self.py[self.len]) = (point.x, point.y);
            (self.dx[self.len], self.dy[self.len]) = (direction.x, direction.y);
            self.len += 1;
        }
    }

    /// A point on the line.
    #[inline(always)]
    pub fn point(&self, i: usize) -> Vec2 {
        Vec2::new(self.px[i], self.py[i])
    }

    /// The line's unit direction.
    #[inline(always)]
    pub fn direction(&self, i: usize) -> Vec2 {
        Vec2::new(self.dx[i], self.dy[i])
    }

    /// How far a velocity lies on the forbidden side (negative: permitted), m/s.
    #[inline(always)]
    pub fn violation(&self, i: usize, velocity: Vec2) -> f32 {
        det(self.direction(i), self.point(i) - velocity)
    }
}

/// Adds a half-plane per other.
#[inline(always)]
pub fn peer_planes<S: Simd>(simd: S, ego: &Ego, others: &Others, time_horizon: f32, planes: &mut Planes) {
    let count = others.len.min(MAX_PLANES - LANES - planes.len);
    for block in (0..count).step_by(LANES) {
        let at = planes.len + block;
        let lanes = block_planes(simd, ego, others, block, time_horizon);
        for (column, lanes) in
            [&mut planes.px, &mut planes.py, &mut planes.dx, &mut planes.dy].into_iter().zip(lanes)
        {
            lanes.store_slice(&mut column[at..at + LANES]);
        }
    }
    planes.len += count;
}

#[inline(always)]
fn block_planes<S: Simd>(
    simd: S,
    ego: &Ego,
    others: &Others,
    block: usize,
    time_horizon: f32,
) -> [f32x16<S>; 4] {
    let load = |column: &[f32; MAX_OTHERS]| f32x16::from_slice(simd, &column[block..block + LANES]);
    let pairs = Pairs {
        ego: [f32x16::splat(simd, ego.velocity.x), f32x16::splat(simd, ego.velocity.y)],
        other: [load(&others.vx), load(&others.vy)],
        towards: [load(&others.dx), load(&others.dy)],
        reach: load(&others.reach),
        share: load(&others.share),
        part: load(&others.part),
    };
    pairs.planes(simd, time_horizon, ego.dt)
}

/// Adds a half-plane per other of every agent, a lane an agent.
#[inline(always)]
pub fn peer_planes_together<S: Simd>(simd: S, together: &mut Together, time_horizon: f32) {
    for rank in 0..together.deepest {
        let pairs = Pairs {
            ego: load_both(simd, &together.velocity),
            other: load_rank(simd, &together.other_velocity, rank),
            towards: load_rank(simd, &together.towards, rank),
            reach: load(simd, &together.reach[rank]),
            share: load(simd, &together.share[rank]),
            part: load(simd, &together.part[rank]),
        };
        let planes = pairs.planes(simd, time_horizon, together.dt);
        let (see, none) = (together.see(simd, rank), f32x16::splat(simd, 0.0));
        for (column, lanes) in together.planes.iter_mut().zip(planes) {
            see.select(lanes, none).store_slice(&mut column[rank]);
        }
    }
}

/// Agents and others, a lane a pair: velocities, towards the other, and as in [`Others`].
struct Pairs<S: Simd> {
    ego: [f32x16<S>; 2],
    other: [f32x16<S>; 2],
    towards: [f32x16<S>; 2],
    reach: f32x16<S>,
    share: f32x16<S>,
    part: f32x16<S>,
}

impl<S: Simd> Pairs<S> {
    /// The points and directions of their half-planes.
    #[inline(always)]
    fn planes(self, simd: S, time_horizon: f32, dt: f32) -> [f32x16<S>; 4] {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (ego, [dx, dy], radii) = (self.ego, self.towards, self.reach);
        let (rvx, rvy) = (ego[0] - self.other[0], ego[1] - self.other[1]);
        let distance_squared = dx * dx + dy * dy;
        let radii_squared = radii * radii;
        // In contact there is no time left to look ahead: part within this step.
        let apart = distance_squared.simd_gt(radii_squared);
        let per_second = apart.select(splat(1.0 / time_horizon), splat(1.0 / dt));

        // From the middle of the cut-off circle to the relative velocity.
        let (wx, wy) = (rvx - per_second * dx, rvy - per_second * dy);
        let w_squared = wx * wx + wy * wy;
        let dot = wx * dx + wy * dy;
        let front = dot.simd_lt(splat(0.0)) & (dot * dot).simd_gt(radii_squared * w_squared);
        let on_circle = front | !apart;

        let w_length = w_squared.sqrt();
        let has_direction = w_length.simd_gt(splat(1e-9));
        let per_w = splat(1.0) / has_direction.select(w_length, splat(1.0));
        let unit_x = has_direction.select(wx * per_w, self.part);
        let unit_y = has_direction.select(wy * per_w, splat(0.0));
        let push = radii * per_second - w_length;

        let leg = (distance_squared - radii_squared).max(splat(0.0)).sqrt();
        let is_left = (dx * wy - dy * wx).simd_gt(splat(0.0));
        let side = is_left.select(splat(1.0), splat(-1.0));
        let per_distance_squared = side / distance_squared.max(splat(1e-12));
        let leg_x = (dx * leg - side * (dy * radii)) * per_distance_squared;
        let leg_y = (side * (dx * radii) + dy * leg) * per_distance_squared;
        let along = rvx * leg_x + rvy * leg_y;

        let direction_x = on_circle.select(unit_y, leg_x);
        let direction_y = on_circle.select(-unit_x, leg_y);
        let ux = on_circle.select(push * unit_x, along * leg_x - rvx);
        let uy = on_circle.select(push * unit_y, along * leg_y - rvy);
        [ego[0] + self.share * ux, ego[1] + self.share * uy, direction_x, direction_y]
    }
}

#[cfg(test)]
mod tests {
    use super::super::oracle::levels;
    use super::*;
    use crate::around::Around;
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    /// One of the others: towards it, its velocity, sum of radii, share.
    type Other = (Vec2, Vec2, f32, f32);

    fn other() -> impl Strategy<Value = Other> {
        let vector = |most: f32| (-most..most, -most..most).prop_map(|(x, y)| Vec2::new(x, y));
        let share = prop_oneof![Just(0.0f32), Just(0.25), Just(0.5), Just(1.0)];
        let towards = prop_oneof![6 => vector(6.0), 1 => vector(0.5), 1 => Just(Vec2::ZERO)];
        (towards, vector(2.0), 0.1f32..1.5, share)
    }

    fn ego(velocity: Vec2, dt: f32) -> Ego {
        Ego {
            row: 0,
            position: Vec2::ZERO,
            velocity,
            preferred: Vec2::ZERO,
            radius: 0.25,
            max_speed: 2.0,
            dt,
        }
    }

    fn planes(level: Level, ego: &Ego, all: &[Other], time_horizon: f32) -> Planes {
        let mut others = Around::default().others;
        for (i, &(towards, velocity, reach, share)) in all.iter().enumerate() {
            (others.dx[i], others.dy[i]) = towards.into();
            (others.vx[i], others.vy[i]) = velocity.into();
            (others.reach[i], others.share[i], others.part[i]) = (reach, share, 1.0);
        }
        others.len = all.len();
        let mut planes = Planes::default();
        dispatch!(level, simd => peer_planes(simd, ego, &others, time_horizon, &mut planes));
        planes
    }

    /// The paper's construction, one other at a time: the point on the obstacle's edge that is nearest to the
    /// relative velocity, and the normal there. `None` where two parts of the edge are about equally near.
    fn by_the_paper(
        ego: &Ego,
        (towards, velocity, reach, share): Other,
        time_horizon: f32,
    ) -> Option<(Vec2, Vec2)> {
        let relative = ego.velocity - velocity;
        let distance = towards.length();
        let in_contact = distance <= reach;
        if (distance - reach).abs() < 1e-3 || distance < 1e-3 {
            return None;
        }
        let horizon = if in_contact { ego.dt } else { time_horizon };
        let (middle, radius) = (towards / horizon, reach / horizon);
        let outwards = (relative - middle).try_normalize()?;
        let on_circle = (middle + radius * outwards, outwards);
        let (u, normal) = if in_contact {
            (on_circle.0 - relative, on_circle.1)
        } else {
            // Legs leave the circle at the tangents from zero.
            let half = (reach / distance).asin();
            let legs = [1.0, -1.0].map(|side| {
                let along = Vec2::from_angle(side * half).rotate(towards / distance);
                (along * relative.dot(along), side * along.perp(), relative.dot(along))
            });
            let tangent = (middle.length_squared() - radius * radius).sqrt();
            let on_front = outwards.dot(towards / distance) < -(half.sin());
            let edge: Vec<(Vec2, Vec2)> = if on_front {
                vec![on_circle]
            } else {
                legs.iter().filter(|leg| leg.2 > 0.9 * tangent).map(|leg| (leg.0, leg.1)).collect()
            };
            let mut edge = edge;
            edge.sort_by(|a, b| a.0.distance(relative).total_cmp(&b.0.distance(relative)));
            let nearest = edge.first()?;
            // On the centre line, or where the front meets a leg, rounding decides.
            let boundary = (outwards.dot(towards / distance) + half.sin()).abs() < 1e-3;
            let tie = edge
                .get(1)
                .is_some_and(|next| next.0.distance(relative) - nearest.0.distance(relative) < 1e-3);
            if boundary || tie {
                return None;
            }
            (nearest.0 - relative, nearest.1)
        };
        // Permitted lies to the left of the direction, on the side of the normal.
        Some((ego.velocity + share * u, Vec2::new(normal.y, -normal.x)))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn eight_at_once_are_the_papers_planes(
            all in proptest::collection::vec(other(), 1..20), x in -2.0f32..2.0, y in -2.0f32..2.0, horizon in 0.5f32..5.0,
        ) {
            let ego = ego(Vec2::new(x, y), 0.1);
            let planes = planes(Level::new(), &ego, &all, horizon);
            prop_assert_eq!(planes.len, all.len());
            for (i, &other) in all.iter().enumerate() {
                let Some((point, direction)) = by_the_paper(&ego, other, horizon) else { continue };
                let off = planes.direction(i).distance(direction);
                prop_assert!(off < 5e-3, "{:?}: direction {} and not {direction}", other, planes.direction(i));
                // Any point of the line will do.
                let aside = det(direction, planes.point(i) - point).abs();
                prop_assert!(aside < 5e-3 * (1.0 + point.length()), "{:?}: {aside} m/s beside {point}", other);
            }
        }

        #[test]
        fn every_simd_level_gives_the_same_bits(
            all in proptest::collection::vec(other(), 0..40), x in -2.0f32..2.0, dt in 1e-3f32..1.0, horizon in 0.01f32..50.0,
        ) {
            let ego = ego(Vec2::new(x, 0.3), dt);
            let bits = |level| {
                let planes = planes(level, &ego, &all, horizon);
                let both = |i| [planes.point(i), planes.direction(i)].map(|v| v.to_array().map(f32::to_bits));
                (0..planes.len).map(both).collect::<Vec<_>>()
            };
            let answers: Vec<_> = levels().into_iter().map(bits).collect();
            prop_assert!(answers.iter().all(|answer| *answer == answers[0]));
        }
    }
}
