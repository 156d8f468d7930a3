//! Which way and how fast where the crowd leaves no choice: what an agent expects of others, and the heading with the most progress
//! before a body is met.

use super::{Headway, HeldUp, SHOULDER, Sight, Want, Wish, to_wall, wish};
use crate::around::{Ego, MAX_OTHERS};
use crate::stage::Scene;
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};
use glam::Vec2;
use throng_core::geom::left;
use throng_core::space::{LANES, lanes_below};

/// Added to the free way of every heading, m: where all are closed an agent presses straight on.
const PRESS: f32 = 0.1;
/// How many headings are tried.
const TRIED: usize = 19;
/// Cosines and sines of the headings that are tried, from 0 in steps of 10 degrees, right before left: of two headings alike the
/// first one is taken. Filled up to whole vectors.
const HEADINGS: [[f32; 2 * LANES]; 2] = headings();

const fn headings() -> [[f32; 2 * LANES]; 2] {
    const STEPS: [(f32, f32); 10] = [
        (1.0, 0.0),
        (0.984_807_7, 0.173_648_18),
        (0.939_692_6, 0.342_020_14),
        (0.866_025_4, 0.5),
        (0.766_044_4, 0.642_787_6),
        (0.642_787_6, 0.766_044_4),
        (0.5, 0.866_025_4),
        (0.342_020_14, 0.939_692_6),
        (0.173_648_18, 0.984_807_7),
        (0.0, 1.0),
    ];
    let mut headings = [[0.0; 2 * LANES]; 2];
    let mut i = 0;
    while i < TRIED {
        let (cos, sin) = STEPS[i.div_ceil(2)];
        (headings[0][i], headings[1][i]) = (cos, if i % 2 == 1 { -sin } else { sin });
        i += 1;
    }
    headings
}

impl Headway {
    /// The heading with the most progress before a body is met, as fast as the bodies along it allow.
    #[inline(always)]
    pub(super) fn press_on<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        ego: &Ego,
        seen: impl Sight,
        want: Want,
        held_up: HeldUp,
    ) -> Vec2 {
        simd.vectorize(
            #[inline(always)]
            || {
                let expected = self.expect(scene, ego, seen, want, held_up);
                let along = self.best_heading(simd, ego, seen, want, &expected);
                let speed = expected.allowed_speed(simd, Want { along, ..want }, self.time_gap);
                along * want.speed.min(speed)
            },
        )
    }

    #[inline(always)]
    fn best_heading<S: Simd>(
        &self,
        simd: S,
        ego: &Ego,
        seen: impl Sight,
        want: Want,
        expected: &Expected,
    ) -> Vec2 {
        let (mut best, mut heading) = (f32::NEG_INFINITY, want.along);
        for block in (0..TRIED).step_by(LANES) {
            let ways = self.ways_along(simd, ego, seen, want, expected, block);
            for (i, progress) in ways.progress.into_iter().enumerate().take(TRIED - block) {
                // No later one can be better.
                if best >= (expected.sight + PRESS) * HEADINGS[0][block + i] {
                    return heading;
                }
                if progress > best + 1e-4 {
                    (best, heading) = (progress, Vec2::new(ways.x[i], ways.y[i]));
                }
            }
        }
        heading
    }

    /// Sixteen headings, and the progress that each promises, m.
    #[inline(always)]
    fn ways_along<S: Simd>(
        &self,
        simd: S,
        ego: &Ego,
        seen: impl Sight,
        want: Want,
        expected: &Expected,
        block: usize,
    ) -> Ways {
        let splat = |value: f32| f32x16::splat(simd, value);
        let cos = f32x16::from_slice(simd, &HEADINGS[0][block..block + LANES]);
        let sin = f32x16::from_slice(simd, &HEADINGS[1][block..block + LANES]);
        let (along_x, along_y, speed) = (splat(want.along.x), splat(want.along.y), splat(want.speed));
        let (x, y) = (cos * along_x - sin * along_y, sin * along_x + cos * along_y);
        let free = (expected.soonest(simd, [x, y], speed) * speed).min(splat(expected.sight));
        let mut ways = Ways { x: [0.0; LANES], y: [0.0; LANES], progress: [0.0; LANES] };
        x.store_slice(&mut ways.x);
        y.store_slice(&mut ways.y);
        let free = match seen.walls() {
            [] => free,
            walls => {
                let mut lanes = [0.0; LANES];
                free.store_slice(&mut lanes);
                for (i, free) in lanes.iter_mut().enumerate().take(TRIED - block) {
                    let along = Vec2::new(ways.x[i], ways.y[i]);
                    *free = walls.iter().map(|wall| to_wall(wall, ego, along)).fold(*free, f32::min);
                }
                f32x16::from_slice(simd, &lanes)
            }
        };
        let (turn_x, turn_y) = (x * speed - splat(ego.velocity.x), y * speed - splat(ego.velocity.y));
        let turn = (turn_x * turn_x + turn_y * turn_y).sqrt();
        let progress = (free + splat(PRESS)) * cos - splat(self.turning) * turn;
        progress.store_slice(&mut ways.progress);
        ways
    }

    /// What the agent expects of others.
    #[inline(always)]
    fn expect(&self, scene: Scene<'_>, ego: &Ego, seen: impl Sight, want: Want, held_up: HeldUp) -> Expected {
        let trust = held_up.trust();
        let mut expected = Expected::of(seen.count());
        let mut furthest = 0.0f32;
        for i in 0..seen.count() {
            let (towards, other) = (seen.towards(i), self.other(scene, seen, i, want, trust));
            furthest = furthest.max(towards.length_squared());
            (expected.dx[i], expected.dy[i], expected.reach[i]) = (towards.x, towards.y, seen.reach(i));
            (expected.vx[i], expected.vy[i]) = other.velocity.into();
            (expected.narrow[i], expected.alike[i]) = (other.narrow, other.alike);
            let goes_first = want.along.dot(towards) < -other.wish.dot(towards);
            let presses = self.squeeze * 0.5 * (1.0 - other.wish.dot(want.along));
            expected.squeeze[i] = if goes_first { f32::INFINITY } else { presses };
        }
        expected.sight = furthest.sqrt() + ego.radius;
        expected
    }

    /// What the agent expects of one of the others.
    #[inline(always)]
    pub(super) fn other(
        &self,
        scene: Scene<'_>,
        seen: impl Sight,
        i: usize,
        want: Want,
        trust: f32,
    ) -> Other {
        let (Wish { velocity: wish, direction, .. }, velocity) = (wish(scene, seen.row(i)), seen.velocity(i));
        let alike = direction.dot(want.along).max(0.0);
        Other {
            wish: direction,
            velocity: velocity + (wish - velocity) * (alike * trust),
            narrow: 1.0 / (SHOULDER + (self.breadth - SHOULDER) * alike),
            alike,
        }
    }
}

/// Headings, and the progress along each, m.
struct Ways {
    x: [f32; LANES],
    y: [f32; LANES],
    progress: [f32; LANES],
}

/// What an agent expects of one other.
pub(super) struct Other {
    /// The direction in which it would like to go; none where it stands because it wants to.
    wish: Vec2,
    velocity: Vec2,
    narrow: f32,
    alike: f32,
}

impl Other {
    /// How far an agent can go along a heading before it touches this one, which leaves the way, or comes into it, meanwhile. How
    /// fast that goes along the heading does not count: one ahead is followed at the distance that there is now. Behind one that
    /// goes the same way shoulders do not interlock: its whole breadth is as deep as its middle.
    #[inline(always)]
    pub(super) fn gap(&self, seen: impl Sight, i: usize, want: Want) -> f32 {
        let sideways = left(want.along);
        let (towards, reach) = (seen.towards(i), seen.reach(i));
        let (ahead, aside) = (towards.dot(want.along), towards.dot(sideways) * self.narrow);
        let crosses = self.velocity.dot(sideways) * self.narrow;
        let closing = ahead * want.speed - aside * crosses;
        let apart = ahead * ahead + aside * aside - reach * reach;
        let speed = want.speed * want.speed + crosses * crosses;
        let hit = closing * closing - speed * apart;
        if ahead <= 0.0 || closing <= 0.0 || hit <= 0.0 {
            return f32::INFINITY;
        }
        let round = ((closing - hit.sqrt()) / speed).max(0.0) * want.speed;
        let square = (ahead - reach).max(0.0);
        round + (square - round) * self.alike
    }
}

/// A column with room for whole vectors.
type Column = [f32; MAX_OTHERS];

/// What an agent expects of others, one column per property.
struct Expected {
    count: usize,
    /// Towards each, m.
    dx: Column,
    dy: Column,
    /// Sums of radii, m.
    reach: Column,
    /// The velocity that each will have, m/s.
    vx: Column,
    vy: Column,
    /// The speed at which it is pressed past, m/s.
    squeeze: Column,
    /// What distances aside from it are multiplied by: it is broader than deep.
    narrow: Column,
    /// How much it wants what the agent wants: 1 the same, 0 across or against.
    alike: Column,
    /// How far away the furthest of them is, m: nothing is known beyond.
    sight: f32,
}

impl Expected {
    fn of(count: usize) -> Expected {
        const NONE: Column = [0.0; MAX_OTHERS];
        Expected {
            count,
            dx: NONE,
            dy: NONE,
            reach: NONE,
            vx: NONE,
            vy: NONE,
            squeeze: NONE,
            narrow: NONE,
            alike: NONE,
            sight: 0.0,
        }
    }

    /// When an agent meets a body along each of sixteen headings, s.
    #[inline(always)]
    fn soonest<S: Simd>(&self, simd: S, [x, y]: [f32x16<S>; 2], speed: f32x16<S>) -> f32x16<S> {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (none, never) = (splat(0.0), splat(f32::INFINITY));
        let (velocity_x, velocity_y) = (x * speed, y * speed);
        let mut soonest = never;
        for i in 0..self.count {
            let (dx, dy, reach) = (splat(self.dx[i]), splat(self.dy[i]), splat(self.reach[i]));
            let (vx, vy) = (velocity_x - splat(self.vx[i]), velocity_y - splat(self.vy[i]));
            let narrow = splat(self.narrow[i]);
            let (dx, dy) = (dx * x + dy * y, (dy * x - dx * y) * narrow);
            let (vx, vy) = (vx * x + vy * y, (vy * x - vx * y) * narrow);
            let (closing, apart) = (dx * vx + dy * vy, dx * dx + dy * dy - reach * reach);
            let speed = vx * vx + vy * vy;
            let hit = closing * closing - speed * apart;
            let time = (closing - hit.max(none).sqrt()) / speed;
            let meets = closing.simd_gt(none) & (hit.simd_gt(none) | apart.simd_le(none));
            let time = apart.simd_gt(none).select(time, none);
            soonest = meets.select(soonest.min(time), soonest);
        }
        soonest
    }

    /// The speed that bodies along a heading allow, m/s: by [`Other::gap`].
    #[inline(always)]
    fn allowed_speed<S: Simd>(&self, simd: S, want: Want, time_gap: f32) -> f32 {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (x, y, wanted) = (splat(want.along.x), splat(want.along.y), splat(want.speed));
        let (none, free) = (splat(0.0), splat(f32::INFINITY));
        let mut allowed = free;
        for block in (0..self.count).step_by(LANES) {
            let load = |column: &Column| f32x16::from_slice(simd, &column[block..block + LANES]);
            let (dx, dy, reach, narrow) =
                (load(&self.dx), load(&self.dy), load(&self.reach), load(&self.narrow));
            let (ahead, aside) = (dx * x + dy * y, (dx * -y + dy * x) * narrow);
            let crosses = (load(&self.vx) * -y + load(&self.vy) * x) * narrow;
            let closing = ahead * wanted - aside * crosses;
            let apart = ahead * ahead + aside * aside - reach * reach;
            let speed = wanted * wanted + crosses * crosses;
            let hit = closing * closing - speed * apart;
            let round = ((closing - hit.sqrt()) / speed).max(none) * wanted;
            let square = (ahead - reach).max(none);
            let gap = round + (square - round) * load(&self.alike);
            let is_ahead = ahead.simd_gt(none) & closing.simd_gt(none) & hit.simd_gt(none);
            let gap = is_ahead.select(gap, free);
            let there = mask32x16::from_bitmask(simd, lanes_below(self.count - block));
            allowed = there.select(allowed.min((gap / splat(time_gap)).max(load(&self.squeeze))), allowed);
        }
        allowed.reduce_min()
    }
}
