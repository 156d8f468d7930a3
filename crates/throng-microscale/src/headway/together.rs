//! Headway of agents that choose together: what all of them ask is asked at once, a lane an agent, and what only those ask that are
//! held up, or have their way closed, each alone. The same sums in the same order as alone, so the same bits.

use super::{Ask, FORGOTTEN, Headway, HeldUp, Sight, TOLERANCE, Want};
use crate::stage::Scene;
use crate::together::{Together, load, load_both, load_rank};
use fearless_simd::{Simd, f32x16, prelude::*};
use glam::Vec2;
use throng_core::space::{LANES, Lane, MOST_TOGETHER, Wall, lanes_below};
use throng_core::world::Status;

/// What one of those that choose together sees.
#[derive(Clone, Copy)]
struct LaneSight<'a>(&'a Together, usize);

impl Sight for LaneSight<'_> {
    #[inline(always)]
    fn count(self) -> usize {
        self.0.batch.found[self.1] as usize
    }

    #[inline(always)]
    fn towards(self, i: usize) -> Vec2 {
        let [x, y] = &self.0.towards;
        Vec2::new(x[i][self.1], y[i][self.1])
    }

    #[inline(always)]
    fn velocity(self, i: usize) -> Vec2 {
        let [x, y] = &self.0.other_velocity;
        Vec2::new(x[i][self.1], y[i][self.1])
    }

    #[inline(always)]
    fn reach(self, i: usize) -> f32 {
        self.0.reach[i][self.1]
    }

    #[inline(always)]
    fn row(self, i: usize) -> u32 {
        self.0.batch.row[i][self.1]
    }

    #[inline(always)]
    fn walls<'a>(self) -> &'a [Wall]
    where
        Self: 'a,
    {
        &[]
    }
}

/// What agents want that choose together.
pub(crate) struct Wants {
    along: [Lane<f32>; 2],
    speed: Lane<f32>,
    /// By bits: those whose choice is weighed against what the crowd allows; those that take a velocity whatever a model says.
    weighed: u64,
    decided: u64,
}

impl Headway {
    /// What agents want, as [`Headway::want`] and [`Headway::ask`] tell it of each. Writes what they remember, what they
    /// prefer, and the velocities of those who have decided.
    #[inline(always)]
    pub(crate) fn want_together<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        together: &mut Together,
        remembered: &mut [HeldUp],
    ) -> Wants {
        let mut wants = Wants { along: [[0.0; LANES]; 2], speed: [1.0; LANES], weighed: 0, decided: 0 };
        let mut waited = [0.0; LANES];
        for (waited, held_up) in waited.iter_mut().zip(&*remembered) {
            *waited = held_up.waited;
        }
        let moving = wants.of_free(simd, self, together, &mut waited);
        let lanes = together.lanes;
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 > 0) {
            let (row, held_up) = (together.first + lane, &mut remembered[lane]);
            let walks = scene.view.agents.status[row] == Status::Walking && moving >> lane & 1 > 0;
            if walks && held_up.queued() <= 0.0 && held_up.opposed <= 0.0 && !scene.planned {
                held_up.waited = waited[lane];
                wants.weighed |= 1 << lane;
            } else {
                self.want_alone(scene, together, held_up, lane, &mut wants);
            }
        }
        wants
    }

    /// One that stands, waits, has arrived, or was held up.
    #[inline(never)]
    fn want_alone(
        &self,
        scene: Scene<'_>,
        together: &mut Together,
        held_up: &mut HeldUp,
        lane: usize,
        wants: &mut Wants,
    ) {
        let (mut ego, sight) = (together.ego(scene, lane), LaneSight(together, lane));
        let want = self.want(scene, sight, &mut ego, held_up);
        let preferred = match self.ask(scene, &ego, sight, want) {
            Ask::Nothing(velocity) => {
                wants.decided |= 1 << lane;
                (together.chosen[0][lane], together.chosen[1][lane]) = velocity.into();
                return;
            }
            Ask::For(preferred) => preferred,
            Ask::Opinion(want) => {
                wants.weighed |= 1 << lane;
                (wants.along[0][lane], wants.along[1][lane]) = want.along.into();
                wants.speed[lane] = want.speed;
                ego.preferred
            }
        };
        (together.preferred[0][lane], together.preferred[1][lane]) = preferred.into();
    }

    /// What is made of their choices, as [`Headway::give_in`] tells it of each.
    #[inline(always)]
    pub(crate) fn weigh_together<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        together: &mut Together,
        wants: &Wants,
        remembered: &[HeldUp],
    ) {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (one, none) = (splat(1.0), splat(0.0));
        let ([x, y], [along_x, along_y]) = (load_both(simd, &together.chosen), load_both(simd, &wants.along));
        let speed = load(simd, &wants.speed);
        let lost = (one - splat(2.0) * (x * along_x + y * along_y) / speed).min(one);
        let part = lost.max(none);
        let way = [x + (along_x * speed - x) * part, y + (along_y * speed - y) * part];
        let mut waited = [0.0; LANES];
        for (waited, held_up) in waited.iter_mut().zip(remembered) {
            *waited = held_up.waited;
        }
        let trust = (splat(2.0) * (one - load(simd, &waited))).min(one);
        let doubted = (lost * (one - trust)).simd_gt(none).to_bitmask();
        let (closed, by_rank) = self.closed_together(simd, together, way);
        let mut open = together.lanes & wants.weighed & (closed | doubted);
        while open != 0 {
            let lane = open.trailing_zeros() as usize;
            open &= open - 1;
            let mut closed = 0u64;
            for (rank, lanes) in by_rank.iter().enumerate().take(together.deepest) {
                closed |= (lanes >> lane & 1) << rank;
            }
            let want = Want {
                along: Vec2::new(wants.along[0][lane], wants.along[1][lane]),
                speed: wants.speed[lane],
            };
            let (ego, chosen) = (together.ego(scene, lane), together.chosen(lane));
            let sight = LaneSight(together, lane);
            let velocity =
                self.give_in(simd, scene, &ego, sight, (want, remembered[lane]), (chosen, closed.into()));
            (together.chosen[0][lane], together.chosen[1][lane]) = velocity.into();
        }
    }

    /// By bits, the lanes whose way any body closes, and those whose way the body of each rank does, as [`Headway::closed`] tells it.
    #[inline(always)]
    fn closed_together<S: Simd>(
        &self,
        simd: S,
        together: &Together,
        way: [f32x16<S>; 2],
    ) -> (u64, [u64; MOST_TOGETHER]) {
        let ways = self.ways(simd, way);
        let (mut any, mut by_rank) = (0, [0; MOST_TOGETHER]);
        for (rank, closed) in by_rank.iter_mut().enumerate().take(together.deepest) {
            let ([dx, dy], [vx, vy]) =
                (load_rank(simd, &together.towards, rank), load_rank(simd, &together.other_velocity, rank));
            let closes = ways.closes([dx, dy, vx, vy, load(simd, &together.reach[rank])]);
            *closed = (closes & together.see(simd, rank)).to_bitmask();
            any |= *closed;
        }
        (any, by_rank)
    }
}

impl Wants {
    /// What agents want whom nothing has held up, and what they will have lost. Returns by bits the lanes that want to move.
    #[inline(always)]
    fn of_free<S: Simd>(
        &mut self,
        simd: S,
        headway: &Headway,
        together: &Together,
        waited: &mut Lane<f32>,
    ) -> u64 {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (one, none) = (splat(1.0), splat(0.0));
        let ([x, y], [vx, vy]) = (load_both(simd, &together.preferred), load_both(simd, &together.velocity));
        let length = (x * x + y * y).sqrt();
        let (along_x, along_y, speed) = (x / length, y / length, length.min(load(simd, &together.max_speed)));
        let lag = (one - (vx * along_x + vy * along_y) / speed).min(one);
        let lag = lag * (splat(2.0) * lag / splat(TOLERANCE) - one).max(none).min(one);
        let before = load(simd, waited);
        let next = before + (lag - before) * splat((together.dt / headway.trust).min(1.0));
        let forgets = next.simd_lt(before) & next.simd_lt(splat(FORGOTTEN));
        forgets.select(none, next).store_slice(waited);
        along_x.store_slice(&mut self.along[0]);
        along_y.store_slice(&mut self.along[1]);
        speed.store_slice(&mut self.speed);
        speed.simd_gt(splat(1e-3)).to_bitmask() & lanes_below(together.count)
    }

    /// By bits, those who have decided.
    #[inline(always)]
    pub(crate) fn decided(&self) -> u64 {
        self.decided
    }
}
