//! What one agent sees when it chooses: itself, others and walls, gathered into scratch memory.

use crate::models::Perception;
use crate::stage::Scene;
use crate::velocity_obstacle::{Cones, Planes};
use fearless_simd::{Simd, f32x16, prelude::*, u32x16};
use glam::Vec2;
use throng_core::few::Few;
use throng_core::handover::Near;
use throng_core::space::{
    Batch, Candidates, Columns, LANES, MAX_NEIGHBORS, Nearest, Period, Query, Wall, nearest,
};
use throng_core::world::{MoverState, View};

/// The most scripted bodies that one agent looks at, nearest surfaces first.
pub const MAX_MOVERS: usize = 16;
/// The most walls that one agent looks at, nearest first.
pub const MAX_WALLS: usize = 24;
/// The most others that one agent looks at.
pub const MAX_OTHERS: usize = MAX_NEIGHBORS + MAX_MOVERS;

/// The agent who chooses.
#[derive(Clone, Copy, Debug)]
pub struct Ego {
    /// Its row.
    pub row: usize,
    /// m.
    pub position: Vec2,
    /// m/s.
    pub velocity: Vec2,
    /// What it would like, m/s.
    pub preferred: Vec2,
    /// m.
    pub radius: f32,
    /// m/s.
    pub max_speed: f32,
    /// Step, s.
    pub dt: f32,
}

/// How far an agent looks.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// m.
    pub neighbor_distance: f32,
    /// At most this many others.
    pub max_neighbors: usize,
    /// How far ahead walls are seen, s.
    pub time_horizon_obstacles: f32,
    /// How far ahead they turn a velocity aside, s.
    pub walls_ahead: f32,
}

impl Reach {
    /// The walls that an agent sees: by its own horizon, whatever others' are.
    #[inline(always)]
    pub fn walls<'v>(&self, view: View<'v>, ego: &Ego) -> impl Iterator<Item = &'v Wall> + use<'v> {
        let range = self.time_horizon_obstacles * ego.max_speed + ego.radius;
        let from = ego.position;
        let seen = move |wall: &&Wall| wall.closest(from).distance_squared(from) < range * range;
        view.walls.near(from).filter(seen)
    }

    /// Whether a row sees any that faces it.
    pub(crate) fn sees_walls(&self, view: View<'_>, row: usize) -> bool {
        let position = view.position(row);
        let (range, agents) = (self.time_horizon_obstacles, view.agents);
        let range = range * agents.max_speed[row] + agents.radius[row];
        let seen = |wall: &Wall| {
            wall.closest(position).distance_squared(position) < range * range && wall.faces(position)
        };
        view.walls.near(position).any(seen)
    }
}

/// The part of an avoidance that one takes on, of what it and the other weigh in.
#[inline(always)]
pub(crate) fn shares<S: Simd>(simd: S, mine: f32x16<S>, theirs: f32x16<S>) -> f32x16<S> {
    let none = f32x16::splat(simd, 0.0);
    // All alike is the rule, and saves the division.
    if theirs.simd_eq(mine).all_true() {
        return mine.simd_gt(none).select(f32x16::splat(simd, 0.5), none);
    }
    let total = mine + theirs;
    total.simd_gt(none).select(mine / total, none)
}

/// Who was found for several at once, and which lane is the agent's who looks.
pub(crate) type Found<'a> = (&'a Batch, usize);

/// What of the agent who looks matters only in comparison with others.
#[derive(Clone, Copy)]
struct Me {
    id: u32,
    responsibility: f32,
}

/// Others, one column per property, relative to the agent who looks. Agents nearest first, then movers.
#[derive(Clone, Debug)]
pub struct Others {
    /// How many.
    pub len: usize,
    /// Towards the other, m.
    pub dx: [f32; MAX_OTHERS],
    /// Towards the other, m.
    pub dy: [f32; MAX_OTHERS],
    /// The other's velocity, m/s.
    pub vx: [f32; MAX_OTHERS],
    /// The other's velocity, m/s.
    pub vy: [f32; MAX_OTHERS],
    /// Sum of radii, m.
    pub reach: [f32; MAX_OTHERS],
    /// The part of an avoidance that the agent who looks takes on.
    pub share: [f32; MAX_OTHERS],
    /// Which way to part from another agent at the same place: 1 or -1, opposite for the other.
    pub part: [f32; MAX_OTHERS],
    /// The other's row; movers count from `u32::MAX` down.
    pub row: [u32; MAX_OTHERS],
}

impl Others {
    /// Writes sixteen agents; how many of them count is for the caller to say.
    #[inline(always)]
    fn put<S: Simd>(
        &mut self,
        simd: S,
        ego: &Ego,
        me: Me,
        at: usize,
        rows: &[u32; LANES],
        them: &Columns<S>,
    ) {
        let splat = |value: f32| f32x16::splat(simd, value);
        let one = splat(1.0);
        let (mine, theirs) = (splat(me.responsibility), them.responsibility);
        let share = shares(simd, mine, theirs);
        let part = them.id.simd_gt(u32x16::splat(simd, me.id)).select(one, -one);
        let columns = [
            (&mut self.dx, them.x - splat(ego.position.x)),
            (&mut self.dy, them.y - splat(ego.position.y)),
            (&mut self.vx, them.vx),
            (&mut self.vy, them.vy),
            (&mut self.reach, them.radius + splat(ego.radius)),
            (&mut self.share, share),
            (&mut self.part, part),
        ];
        for (column, lanes) in columns {
            lanes.store_slice(&mut column[at..at + LANES]);
        }
        self.row[at..at + LANES].copy_from_slice(rows);
    }

    /// Where space repeats: sees each of them where its nearest image is. Not inlined, because it rarely does.
    #[inline(never)]
    fn take_nearest_images(&mut self, period: &Period) {
        for i in 0..self.len {
            (self.dx[i], self.dy[i]) = period.nearest(self.towards(i)).into();
        }
    }

    /// Keeps those that `wanted` is true of, in order.
    fn retain(&mut self, wanted: impl Fn(u32) -> bool) {
        let all = std::mem::take(&mut self.len);
        for from in 0..all {
            if !wanted(self.row[from]) {
                continue;
            }
            let to = self.len;
            for column in self.columns_mut() {
                column[to] = column[from];
            }
            self.row[to] = self.row[from];
            self.len += 1;
        }
    }

    fn columns_mut(&mut self) -> [&mut [f32; MAX_OTHERS]; 7] {
        let Others { dx, dy, vx, vy, reach, share, part, .. } = self;
        [dx, dy, vx, vy, reach, share, part]
    }

    fn push_mover(&mut self, ego: &Ego, mover: &MoverState, towards: Vec2, row: u32) {
        let i = self.len;
        (self.dx[i], self.dy[i]) = towards.into();
        (self.vx[i], self.vy[i]) = mover.velocity.into();
        (self.reach[i], self.share[i], self.part[i], self.row[i]) =
            (ego.radius + mover.radius, 1.0, 1.0, row);
        self.len += 1;
    }

    /// Towards one of them, m.
    #[inline(always)]
    pub fn towards(&self, i: usize) -> Vec2 {
        Vec2::new(self.dx[i], self.dy[i])
    }

    /// The velocity of one of them, m/s.
    #[inline(always)]
    pub fn velocity(&self, i: usize) -> Vec2 {
        Vec2::new(self.vx[i], self.vy[i])
    }
}

/// Everything that one agent's choice needs; reused from agent to agent.
#[derive(Clone, Debug)]
pub struct Around {
    /// Who is near.
    pub others: Others,
    /// Walls that face the agent, nearest first.
    pub walls: Few<Wall, MAX_WALLS>,
    /// Half-planes that a choice was made from.
    pub planes: Planes,
    /// Memory of the linear program's dense case.
    pub projected: Planes,
    /// Cones that a choice was made from.
    pub cones: Cones,
    /// The field that a choice was made from.
    pub perception: Perception,
    candidates: Candidates,
    nearest: Nearest,
}

impl Default for Around {
    fn default() -> Around {
        const NONE: [f32; MAX_OTHERS] = [0.0; MAX_OTHERS];
        Around {
            others: Others {
                len: 0,
                dx: NONE,
                dy: NONE,
                vx: NONE,
                vy: NONE,
                reach: NONE,
                share: NONE,
                part: NONE,
                row: [0; MAX_OTHERS],
            },
            walls: Few::new(),
            planes: Planes::default(),
            projected: Planes::default(),
            cones: Cones::new(),
            perception: Perception::default(),
            candidates: Candidates::default(),
            nearest: Nearest::default(),
        }
    }
}

const _: () = assert!(MAX_OTHERS.is_multiple_of(LANES) && MAX_OTHERS <= throng_core::geom::MOST_CONES);

impl Around {
    /// Looks around from a row, which may be one of those that have found together who is near.
    #[inline(always)]
    pub fn sense<S: Simd>(
        &mut self,
        simd: S,
        scene: Scene<'_>,
        row: usize,
        reach: &Reach,
        found: Option<Found<'_>>,
    ) -> Ego {
        let Scene { view, intents, .. } = scene;
        let agents = view.agents;
        let ego = Ego {
            row,
            position: view.position(row),
            velocity: view.velocity(row),
            preferred: Vec2::new(intents.vx[row], intents.vy[row]),
            radius: agents.radius[row],
            max_speed: agents.max_speed[row],
            dt: view.dt,
        };
        self.find_walls(view, &ego, reach);
        match found {
            Some((batch, lane)) => self.nearest.take(view.cells, row, batch.rows(lane)),
            None => {
                let query = Query { row, range: reach.neighbor_distance, most: reach.max_neighbors };
                nearest(simd, view.cells, &agents.id, query, &mut self.candidates, &mut self.nearest);
            }
        }
        self.see_agents(simd, view, &ego);
        self.find_movers(view, &ego, reach);
        ego
    }

    /// Must be called when the neighbour index has changed.
    pub(crate) fn forget_candidates(&mut self) {
        self.candidates.forget();
    }

    /// Who is nearer than `range`, m, centre to centre.
    #[inline(always)]
    pub(crate) fn near(&self, reach: &Reach, all: bool, range: f32) -> Near {
        // Bodies have contact however few others a model looks at, unless it looks at none on purpose.
        if all && (reach.neighbor_distance < range || reach.max_neighbors <= Near::MOST) {
            return if reach.neighbor_distance > 0.0 { Near::many() } else { Near::default() };
        }
        let (rows, distances) = (self.nearest.rows(), self.nearest.distances_squared());
        if let (Some(&listed), Some(distances)) =
            (rows.first_chunk(), distances.first_chunk::<{ Near::MOST + 1 }>())
        {
            // Counted without a branch on what is close to random.
            let count = distances.iter().map(|&distance| usize::from(distance < range * range)).sum();
            return Near::new(listed, count);
        }
        match distances.iter().filter(|&&distance| distance < range * range).count() {
            0 => Near::default(),
            _ => Near::many(),
        }
    }

    #[inline(always)]
    fn see_agents<S: Simd>(&mut self, simd: S, view: View<'_>, ego: &Ego) {
        let agents = view.agents;
        let (bodies, others, period) = (view.cells.bodies(), &mut self.others, view.cells.period());
        let me = Me { id: agents.id[ego.row], responsibility: agents.responsibility[ego.row] };
        others.len = self.nearest.rows().len();
        for (block, rows) in self.nearest.padded_rows(ego.row as u32).enumerate() {
            others.put(simd, ego, me, block * LANES, rows, &Columns::gather(simd, bodies, rows));
        }
        if period.repeats() {
            others.take_nearest_images(period);
        }
        if !self.walls.is_empty() {
            let hidden = |row: u32| {
                let at = period.image(ego.position, bodies[row as usize].position());
                self.walls.iter().any(|wall| wall.blocks(ego.position, at))
            };
            others.retain(|row| !hidden(row));
        }
    }

    /// Scripted bodies count by their surface: a wide one must be seen before its middle is near.
    fn find_movers(&mut self, view: View<'_>, ego: &Ego, reach: &Reach) {
        for (index, mover) in view.movers.iter().enumerate() {
            let towards = view.towards(ego.position, mover.position);
            let seen = towards.length() - mover.radius < reach.neighbor_distance;
            if seen && self.others.len < MAX_OTHERS {
                self.others.push_mover(ego, mover, towards, u32::MAX - index as u32);
            }
        }
    }

    fn find_walls(&mut self, view: View<'_>, ego: &Ego, reach: &Reach) {
        self.walls.clear();
        if view.walls.all().is_empty() {
            return;
        }
        for wall in reach.walls(view, ego).filter(|wall| wall.faces(ego.position)) {
            let distance = wall.closest(ego.position).distance_squared(ego.position);
            let nearer =
                |other: &Wall| other.closest(ego.position).distance_squared(ego.position) <= distance;
            let place = self.walls.iter().position(|other| !nearer(other)).unwrap_or(self.walls.len());
            if self.walls.is_full() && place < MAX_WALLS {
                self.walls.pop();
            }
            if !self.walls.is_full() {
                self.walls.insert(place, *wall);
            }
        }
    }
}
