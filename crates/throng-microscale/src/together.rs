//! Agents that choose together: sixteen in consecutive rows, a lane each, and whom each sees, nearest first.
//!
//! What one agent works out from ten neighbours is ten lanes of sixteen, and a chain of decisions; what sixteen agents work out is
//! full lanes, and no branch on what is close to random. It is the same sums in the same order, so the same bits. Agents with walls
//! or scripted bodies around them choose alone.

use crate::around::{Ego, Reach, shares};
use crate::stage::Scene;
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};
use glam::Vec2;
use throng_core::geom::ConesTogether;
use throng_core::handover::Near;
use throng_core::space::{Batch, Columns, LANES, Lane, MOST_TOGETHER, Query, lanes_below};
use throng_core::world::View;

/// A column for each of the others that one sees, a lane an agent.
pub type Ranks = [Lane<f32>; MOST_TOGETHER];

/// Half-planes by rank: the coordinates of points, and of directions.
pub type PlanesByRank = [Ranks; 4];

/// Up to sixteen agents in consecutive rows, and whom they see.
#[derive(Clone, Debug)]
pub struct Together {
    /// Who is near.
    pub batch: Batch,
    /// The first of their rows.
    pub first: usize,
    /// How many they are.
    pub count: usize,
    /// By bits, those who choose together.
    pub lanes: u64,
    /// The most others that one of them sees.
    pub deepest: usize,
    /// Step, s.
    pub dt: f32,
    /// m/s.
    pub velocity: [Lane<f32>; 2],
    /// What they would like, m/s.
    pub preferred: [Lane<f32>; 2],
    /// m/s.
    pub max_speed: Lane<f32>,
    /// Towards others by rank, m. Behind the last stands the agent itself.
    pub towards: [Ranks; 2],
    /// Others' velocities, m/s.
    pub other_velocity: [Ranks; 2],
    /// Sums of radii, m.
    pub reach: Ranks,
    /// The part of an avoidance that the agent takes on.
    pub share: Ranks,
    /// Which way to part from another agent at the same place.
    pub part: Ranks,
    /// What they choose, m/s.
    pub chosen: [Lane<f32>; 2],
    /// Half-planes by rank: points and directions. All zero where there is none, which permits everything.
    pub planes: PlanesByRank,
    /// Memory of linear programs in dense crowds.
    pub projected: PlanesByRank,
    /// Cones by rank.
    pub cones: ConesTogether,
}

impl Default for Together {
    fn default() -> Together {
        const NONE: Ranks = [[0.0; LANES]; MOST_TOGETHER];
        const PAIR: [Lane<f32>; 2] = [[0.0; LANES]; 2];
        Together {
            batch: Batch::default(),
            first: 0,
            count: 0,
            lanes: 0,
            deepest: 0,
            dt: 0.0,
            velocity: PAIR,
            preferred: PAIR,
            max_speed: [0.0; LANES],
            towards: [NONE; 2],
            other_velocity: [NONE; 2],
            reach: NONE,
            share: NONE,
            part: NONE,
            chosen: PAIR,
            planes: [NONE; 4],
            projected: [NONE; 4],
            cones: ConesTogether::default(),
        }
    }
}

/// Some of a column, filled up with its last one.
#[inline(always)]
fn lanes<T: Copy>(column: &[T], first: usize, count: usize) -> Lane<T> {
    match column[first..].first_chunk() {
        Some(&all) => all,
        None => std::array::from_fn(|lane| column[first + lane.min(count - 1)]),
    }
}

/// One vector of each lane.
#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, lane: &Lane<f32>) -> f32x16<S> {
    f32x16::from_slice(simd, lane)
}

/// The same of both coordinates.
#[inline(always)]
pub(crate) fn load_both<S: Simd>(simd: S, [x, y]: &[Lane<f32>; 2]) -> [f32x16<S>; 2] {
    [load(simd, x), load(simd, y)]
}

/// The same of others of a rank.
#[inline(always)]
pub(crate) fn load_rank<S: Simd>(simd: S, [x, y]: &[Ranks; 2], rank: usize) -> [f32x16<S>; 2] {
    [load(simd, &x[rank]), load(simd, &y[rank])]
}

impl Together {
    /// Whether a model may let agents look around together.
    pub fn can_look(scene: Scene<'_>, reach: &Reach) -> bool {
        (1..=MOST_TOGETHER).contains(&reach.max_neighbors) && !scene.view.cells.period().repeats()
    }

    /// Whether they may choose together too: not where there are scripted bodies, nor where bodies can touch that are not looked at.
    pub fn can_choose(scene: Scene<'_>, reach: &Reach, have_contact: bool) -> bool {
        let view = scene.view;
        let range = 2.0 * view.widest + 2.0 * view.fastest * view.dt;
        let all_listed = reach.neighbor_distance >= range && reach.max_neighbors > Near::MOST;
        view.movers.is_empty() && (!have_contact || all_listed)
    }

    /// Finds who is near to `count` rows from `first` on.
    #[inline(always)]
    pub fn find<S: Simd>(&mut self, simd: S, scene: Scene<'_>, reach: &Reach, first: usize, count: usize) {
        (self.first, self.count) = (first, count);
        let query = Query { row: first, range: reach.neighbor_distance, most: reach.max_neighbors };
        self.batch.find(simd, scene.view.cells, &scene.view.agents.id, query, count);
        self.deepest = self.batch.found[..count].iter().copied().max().unwrap_or(0) as usize;
    }

    /// Sees those that were found as columns.
    #[inline(always)]
    pub fn look<S: Simd>(&mut self, simd: S, scene: Scene<'_>) {
        let Scene { view, intents, .. } = scene;
        let (agents, first, count) = (view.agents, self.first, self.count);
        let column = |column: &[f32]| lanes(column, first, count);
        self.dt = view.dt;
        self.velocity = [column(&agents.vx), column(&agents.vy)];
        self.preferred = [column(&intents.vx), column(&intents.vy)];
        self.max_speed = column(&agents.max_speed);
        let load = |column: &[f32]| f32x16::from_slice(simd, &lanes(column, first, count));
        let (x, y, radius) = (load(&agents.x), load(&agents.y), load(&agents.radius));
        let mine = load(&agents.responsibility);
        let id = u32x16::from_slice(simd, &lanes(&agents.id, first, count));
        let (one, bodies) = (f32x16::splat(simd, 1.0), view.cells.bodies());
        for rank in 0..self.deepest {
            let them = Columns::gather(simd, bodies, &self.batch.row[rank]);
            (them.x - x).store_slice(&mut self.towards[0][rank]);
            (them.y - y).store_slice(&mut self.towards[1][rank]);
            them.vx.store_slice(&mut self.other_velocity[0][rank]);
            them.vy.store_slice(&mut self.other_velocity[1][rank]);
            (them.radius + radius).store_slice(&mut self.reach[rank]);
            shares(simd, mine, them.responsibility).store_slice(&mut self.share[rank]);
            them.id.simd_gt(id).select(one, -one).store_slice(&mut self.part[rank]);
        }
    }

    /// One of the agents.
    pub(crate) fn ego(&self, scene: Scene<'_>, lane: usize) -> Ego {
        let row = self.first + lane;
        let both = |[x, y]: &[Lane<f32>; 2]| Vec2::new(x[lane], y[lane]);
        Ego {
            row,
            position: scene.view.position(row),
            velocity: both(&self.velocity),
            preferred: both(&self.preferred),
            radius: scene.view.agents.radius[row],
            max_speed: self.max_speed[lane],
            dt: self.dt,
        }
    }

    /// What one of them has chosen, m/s.
    pub(crate) fn chosen(&self, lane: usize) -> Vec2 {
        Vec2::new(self.chosen[0][lane], self.chosen[1][lane])
    }

    /// Lets some lanes, by bits, keep what was chosen for them.
    pub(crate) fn keep(&mut self, mut lanes: u64, chosen: &[Lane<f32>; 2]) {
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            (self.chosen[0][lane], self.chosen[1][lane]) = (chosen[0][lane], chosen[1][lane]);
        }
    }

    /// The lanes that see another of this rank.
    #[inline(always)]
    pub fn see<S: Simd>(&self, simd: S, rank: usize) -> mask32x16<S> {
        u32x16::from_slice(simd, &self.batch.found).simd_gt(u32x16::splat(simd, rank as u32))
    }

    /// By bits, those that see nothing but others.
    #[inline(always)]
    pub fn among_others(&self, scene: Scene<'_>, reach: &Reach) -> u64 {
        let view = scene.view;
        if view.walls.all().is_empty() {
            return lanes_below(self.count);
        }
        let bit = |lane: usize| u64::from(!reach.sees_walls(view, self.first + lane)) << lane;
        (0..self.count).map(bit).sum()
    }

    /// Who of a lane's nearest may come into contact with it in this step: of others that are fewer than can be listed, whether any
    /// may.
    #[inline(always)]
    pub fn near<S: Simd>(&self, simd: S, view: View<'_>) -> [Near; LANES] {
        let splat = |value: f32| f32x16::splat(simd, value);
        let radius = f32x16::from_slice(simd, &lanes(&view.agents.radius, self.first, self.count));
        // As `View::contact_range` has it.
        let range = radius + splat(view.widest) + splat(2.0 * view.fastest * view.dt);
        let (mut closer, one) = (u32x16::splat(simd, 0), u32x16::splat(simd, 1));
        for rank in 0..(Near::MOST + 1).min(self.deepest) {
            let [dx, dy] = load_rank(simd, &self.towards, rank);
            let is_closer = (dx * dx + dy * dy).simd_lt(range * range) & self.see(simd, rank);
            closer = is_closer.select(closer + one, closer);
        }
        let mut count = [0; LANES];
        closer.store_slice(&mut count);
        let mut near = [Near::default(); LANES];
        for (lane, near) in near.iter_mut().enumerate().filter(|(lane, _)| count[*lane] > 0) {
            let [first, second, third, ..] = &self.batch.row;
            *near = match self.batch.found[lane] as usize > Near::MOST {
                true => Near::new([first[lane], second[lane], third[lane]], count[lane] as usize),
                false => Near::many(),
            };
        }
        near
    }
}
