//! The field of one agent: discomfort, cost and what is left of its way, in 16 by 16 cells along the way it wants to go.

use super::eikonal::{self, Asked, BLOCKED, Cells, Problem, Rim, SIDE, Sills};
use crate::around::Others;
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};
use glam::Vec2;
use throng_core::geom::{det, left};
use throng_core::handover::Mates;
use throng_core::space::{Blob, Wall};

/// Half of the cells a side: the agent stands in the middle, where four cells meet.
const HALF: f32 = SIDE as f32 / 2.0;
/// A place where the body would touch a wall counts as this many.
const TOUCHED: f32 = 3.0;

/// How an agent weighs its ways, see [`Hybrid`](super::Hybrid).
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    pub length: f32,
    pub time: f32,
    pub discomfort: f32,
    pub cohesion: f32,
}

impl Weights {
    /// Of a metre that no agent makes uncomfortable.
    pub fn cost_of_a_metre(&self, speed: f32) -> f32 {
        // An agent must get somewhere, whatever its weights are.
        (self.length + self.time / speed).max(1e-3)
    }
}

/// What an agent perceives. Lines lie across its way, the first one behind it; columns from its left to its right.
#[derive(Clone, Debug)]
pub struct Perception {
    /// Whether it was needed.
    pub used: bool,
    /// Side of a cell, m.
    pub cell: f32,
    /// The unit vector along the way that the agent wants to go.
    pub ahead: Vec2,
    /// Others, now and ahead, s/m².
    pub discomfort: Cells,
    /// Of crossing a cell.
    pub cost: Cells,
    /// What is left of the way from each cell.
    pub potential: Cells,
    /// Discomfort, with one cell more on all sides.
    around: [[f32; SIDE + 2]; SIDE + 2],
    sills: Sills,
    has_sills: bool,
    /// Around the field: whether a wall hides the next stop from there.
    hidden: Hidden,
    /// Of the four cells in the middle: whether a wall lies between them and the agent.
    apart: [bool; 4],
    cost_of_a_metre: f32,
}

/// By side of the field, in bits: above, before and behind it.
type Hidden = [u32; 3];
/// Behind the agent on both sides: no agent turns back because of what is ahead within a few metres. So all is hidden below.
const BEHIND: Hidden = [0, 0xff, 0xff];

/// Where another is at up to eight times, one after the other, in cells.
#[derive(Clone, Copy)]
struct Walk {
    at: Vec2,
    /// From one time to the next.
    step: Vec2,
    /// The first of the times, counted.
    first: usize,
    /// How many they are.
    times: usize,
    /// How much the one who walks counts.
    counts: f32,
}

impl Default for Perception {
    fn default() -> Perception {
        const NONE: Cells = [[0.0; SIDE]; SIDE];
        Perception {
            used: false,
            cell: 1.0,
            ahead: Vec2::Y,
            discomfort: NONE,
            cost: NONE,
            potential: NONE,
            around: [[0.0; SIDE + 2]; SIDE + 2],
            sills: Sills::NONE,
            has_sills: false,
            hidden: BEHIND,
            apart: [false; 4],
            cost_of_a_metre: 1.0,
        }
    }
}

impl Perception {
    /// Cells a side.
    pub const SIDE: usize = SIDE;
    /// A potential as high as this is one of a cell that cannot be reached.
    pub const UNREACHED: f32 = BLOCKED / 2.0;

    /// Begins another field. Others are added next.
    pub fn begin(&mut self, cell: f32, ahead: Vec2, cost_of_a_metre: f32) {
        (self.cell, self.ahead, self.cost_of_a_metre) = (cell, ahead, cost_of_a_metre);
        if std::mem::take(&mut self.has_sills) {
            (self.sills, self.hidden, self.apart) = (Sills::NONE, BEHIND, [false; 4]);
        }
    }

    /// From an offset in the world to one across and along the way.
    #[inline(always)]
    fn turned(&self, offset: Vec2) -> Vec2 {
        Vec2::new(-left(self.ahead).dot(offset), self.ahead.dot(offset))
    }

    /// Adds where others are and will be, each by how much it counts.
    #[inline(always)]
    pub fn add_others<S: Simd>(
        &mut self,
        simd: S,
        others: &Others,
        counts: impl Fn(usize) -> f32,
        (look, steps): (f32, usize),
    ) {
        if others.len == 0 {
            self.discomfort = [[0.0; SIDE]; SIDE];
            return;
        }
        self.around = [[0.0; SIDE + 2]; SIDE + 2];
        let per_step = look / steps as f32;
        let blob = Blob::new(AMPLITUDE * per_step.max(1e-3), Vec2::splat(SPREAD), self.cell);
        let mut waiting: Option<Walk> = None;
        for i in 0..others.len {
            let (at, velocity) = (self.turned(others.towards(i)), self.turned(others.velocity(i)));
            let (at, step) = (at / self.cell + HALF, velocity * (per_step / self.cell));
            let counts = counts(i);
            if others.reach[i] > WIDE * self.cell {
                let reach = others.reach[i] / self.cell;
                let weight = AMPLITUDE * per_step * counts;
                (0..steps).for_each(|time| self.cover(simd, at + step * time as f32, reach, weight));
                continue;
            }
            for first in (0..steps).step_by(TIMES) {
                let walk = Walk { at, step, first, times: (steps - first).min(TIMES), counts };
                match waiting.take() {
                    None => waiting = Some(walk),
                    Some(before) => self.add(simd, &blob, [before, walk]),
                }
            }
        }
        if let Some(last) = waiting {
            self.add(simd, &blob, [last, Walk { times: 0, ..last }]);
        }
        for (line, around) in self.discomfort.iter_mut().zip(&self.around[1..]) {
            line.copy_from_slice(&around[1..=SIDE]);
        }
    }

    /// Adds two others, or one at twice as many times: their places fill a vector together.
    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, blob: &Blob, walks: [Walk; 2]) {
        let is_first = mask32x16::from_bitmask(simd, (1 << TIMES) - 1);
        let both = |value: fn(&Walk) -> f32| {
            let [first, second] = walks.each_ref().map(|walk| f32x16::splat(simd, value(walk)));
            is_first.select(first, second)
        };
        let times = both(|walk| walk.first as f32) + f32x16::from_slice(simd, &COUNTED);
        let x = both(|walk| walk.at.x) + both(|walk| walk.step.x) * times;
        let y = both(|walk| walk.at.y) + both(|walk| walk.step.y) * times;
        let splats = blob.splats(simd, [x, y], both(|walk| walk.counts));
        for i in (0..walks[0].times).chain(TIMES..TIMES + walks[1].times) {
            // One cell beyond the field, which is never read, spares a question for each of the four.
            let (column, line) = (beside(splats.column[i]), beside(splats.line[i]));
            if line <= SIDE && column <= SIDE {
                for (around, weight) in self.around[line..].iter_mut().zip(&splats.weight) {
                    around[column] += weight[i][0];
                    around[column + 1] += weight[i][1];
                }
            }
        }
    }

    /// Adds an agent that covers many cells, all within a distance.
    #[inline(always)]
    fn cover<S: Simd>(&mut self, simd: S, place: Vec2, distance: f32, weight: f32) {
        let columns = f32x16::from_slice(simd, &MIDDLES);
        let across = columns - f32x16::splat(simd, place.x);
        for (line, middle) in self.around[1..].iter_mut().zip(MIDDLES) {
            let line = &mut line[1..=SIDE];
            let rest = distance * distance - (middle - place.y) * (middle - place.y);
            if rest > 0.0 {
                let inside = (across * across).simd_lt(f32x16::splat(simd, rest));
                let zero = f32x16::splat(simd, 0.0);
                let more = f32x16::from_slice(simd, line) + inside.select(f32x16::splat(simd, weight), zero);
                more.store_slice(line);
            }
        }
    }

    /// Whether no agent makes the straight way uncomfortable. No other can cost less then.
    pub fn is_free_ahead(&self) -> bool {
        let middle = SIDE / 2;
        self.discomfort[middle..].iter().all(|line| line[middle - 1] == 0.0 && line[middle] == 0.0)
    }

    /// Turns discomfort into cost, also of going away from the middle of those it walks together with.
    #[inline(always)]
    pub fn weigh<S: Simd>(&mut self, simd: S, weights: &Weights, speed: f32, mates: Option<Company>) {
        let splat = |value: f32| f32x16::splat(simd, value);
        let per_discomfort = splat(self.cell * weights.discomfort / speed);
        let base = splat(self.cell * self.cost_of_a_metre);
        let mates = mates.map(|Company { middle, room, closeness }| {
            let per_cell = self.cell * self.cell * weights.cohesion * closeness;
            (self.turned(middle) / self.cell + HALF, splat(room / self.cell), splat(per_cell))
        });
        for (y, (cost, discomfort)) in self.cost.iter_mut().zip(&self.discomfort).enumerate() {
            let mut line = base + per_discomfort * f32x16::from_slice(simd, discomfort);
            if let Some((mates, room, per_cell)) = mates {
                let across = f32x16::from_slice(simd, &MIDDLES) - splat(mates.x);
                let along = splat((MIDDLES[y] - mates.y).powi(2));
                let away = ((across * across + along).sqrt() - room).max(splat(0.0));
                line += (per_cell * away).min(base * splat(FAR));
            }
            line.store_slice(cost);
        }
    }

    /// Closes the way through walls, and makes it dear to touch one. The next stop lies so far straight on.
    #[inline(always)]
    pub fn add_walls<'w, S: Simd>(
        &mut self,
        simd: S,
        walls: impl Iterator<Item = &'w Wall>,
        from: Vec2,
        radius: f32,
        distance: f32,
    ) {
        let aim = Vec2::new(HALF, HALF + distance / self.cell);
        for wall in walls {
            let ends = [wall.a, wall.b].map(|end| self.turned(end - from) / self.cell + HALF);
            self.has_sills = true;
            self.close(simd, ends);
            self.keep_off(simd, ends, radius / self.cell);
            self.hide(simd, ends, aim);
            for (apart, cell) in self.apart.iter_mut().zip(MIDDLE_FOUR) {
                *apart |= crosses([Vec2::splat(HALF), cell], ends);
            }
        }
    }

    /// Notes from where around the field a wall hides the next stop: what is left from there is not known.
    #[inline(always)]
    fn hide<S: Simd>(&mut self, simd: S, ends: [Vec2; 2], aim: Vec2) {
        let splat = |value: f32| f32x16::splat(simd, value);
        let middles = f32x16::from_slice(simd, &MIDDLES);
        let (low, high) = (splat(-0.5), splat(SIDE as f32 + 0.5));
        let sides = [(middles, high), (low, middles), (high, middles)];
        for (hidden, (x, y)) in self.hidden.iter_mut().zip(sides) {
            *hidden |= hides(simd, ends, aim, [x, y]);
        }
    }

    /// Closes the way between two cells where a wall passes between their middles.
    #[inline(always)]
    fn close<S: Simd>(&mut self, simd: S, ends: [Vec2; 2]) {
        let (lines, x) = crossings(simd, ends);
        for line in ones(lines) {
            // Left of the middle of this column, right of the one before.
            match (x[line] - 0.5).floor() as i32 {
                -1 => self.sills.before[line] = BLOCKED,
                column @ 0..16 => self.sills.right[line][column as usize] = BLOCKED,
                _ => {}
            }
        }
        let (columns, y) = crossings(simd, ends.map(|end| Vec2::new(end.y, end.x)));
        for column in ones(columns) {
            if let below @ 0..17 = (y[column] + 0.5).floor() as i32 {
                self.sills.below[below as usize][column] = BLOCKED;
            }
        }
    }

    /// Raises the cost of cells closer to a wall than the body is wide.
    #[inline(always)]
    fn keep_off<S: Simd>(&mut self, simd: S, [a, b]: [Vec2; 2], radius: f32) {
        let splat = |value: f32| f32x16::splat(simd, value);
        let way = b - a;
        let per_length = 1.0 / way.length_squared().max(1e-12);
        let columns = f32x16::from_slice(simd, &MIDDLES) - splat(a.x);
        let (low, high) = (a.y.min(b.y) - radius, a.y.max(b.y) + radius);
        for (cost, middle) in self.cost.iter_mut().zip(MIDDLES).filter(|(_, y)| (low..=high).contains(y)) {
            let y = middle - a.y;
            let along = (columns * splat(way.x) + splat(y * way.y)) * splat(per_length);
            let along = along.max(splat(0.0)).min(splat(1.0));
            let (dx, dy) = (columns - along * splat(way.x), splat(y) - along * splat(way.y));
            let touched = (dx * dx + dy * dy).simd_lt(splat(radius * radius));
            let line = f32x16::from_slice(simd, cost);
            let dear = splat(TOUCHED * self.cell * self.cost_of_a_metre);
            touched.select(line.max(dear), line).store_slice(cost);
        }
    }

    /// Finds what is left of the way from where the agent stands, or from every cell, with the next stop so far straight on.
    #[inline(always)]
    pub fn solve<S: Simd>(&mut self, simd: S, distance: f32, whole: bool) {
        // Closer than this, where it lies would be a matter of rounding.
        let distance = (distance / self.cell).clamp(2.0, 1e6);
        let (aim, cost) = (Vec2::new(HALF, HALF + distance), self.cell * self.cost_of_a_metre);
        let rim = rim(simd, aim, cost, self.hidden);
        self.potential = [[BLOCKED; SIDE]; SIDE];
        if aim.y < SIDE as f32 {
            let nearest = aim.y.floor() as usize;
            for (line, x) in
                (nearest.saturating_sub(1)..=nearest + 1).flat_map(|line| (6..10).map(move |x| (line, x)))
            {
                if let Some(value) = self.potential.get_mut(line) {
                    value[x] = (Vec2::new(MIDDLES[x], line as f32 + 0.5).distance(aim) - distance) * cost;
                }
            }
        }
        let problem = Problem { cost: &self.cost, sills: &self.sills, rim: &rim };
        self.used = true;
        let asked = |potential: &Cells| {
            if whole { Asked::WHOLE } else { around_the_agent(potential, cost) }
        };
        let first = if whole { 0 } else { LOW };
        eikonal::solve(simd, problem, (first, asked), SETTLED * cost, &mut self.potential);
    }

    /// The unit vector in the world down the slope where the agent stands; `None` where there is none.
    #[inline(always)]
    pub fn downhill(&self) -> Option<Vec2> {
        let mut four = four(&self.potential);
        let known = |i: &usize| !self.apart[*i] && four[*i] < Self::UNREACHED;
        // What is beyond a wall attracts no agent.
        let most = (0..4).filter(known).map(|i| four[i]).reduce(f32::max)?;
        for (value, apart) in four.iter_mut().zip(self.apart) {
            *value = if apart { most } else { value.min(most) };
        }
        let slope = Vec2::new(four[1] + four[3] - four[0] - four[2], four[2] + four[3] - four[0] - four[1]);
        let downhill = -slope.try_normalize()?;
        Some(downhill.x * -left(self.ahead) + downhill.y * self.ahead)
    }
}

/// The lower of the two lines that meet where the agent stands, and the left one of two columns.
const LOW: usize = SIDE / 2 - 1;

/// What the potentials of the four cells around the agent can follow from: from a line this many cells behind it, more than so
/// many empty ones are left beyond what is left for the agent.
#[inline(always)]
fn around_the_agent(potential: &Cells, cost: f32) -> Asked {
    let level = four(potential).into_iter().fold(f32::MIN, f32::max);
    let line = (HALF + 0.5 - level / cost).floor() as usize;
    Asked { level, cost, line: line.min(LOW) }
}

/// Of the four cells around the agent.
#[inline(always)]
fn four(cells: &Cells) -> [f32; 4] {
    [cells[LOW][LOW], cells[LOW][LOW + 1], cells[LOW + 1][LOW], cells[LOW + 1][LOW + 1]]
}

/// Those whom an agent walks together with.
#[derive(Clone, Copy, Debug)]
pub struct Company {
    /// Their middle from where the agent is, m.
    pub middle: Vec2,
    /// What they take of room around it beyond what four do, m: for four the weights were chosen.
    pub room: f32,
    /// As how much a metre from it counts. Where many walk together, one is further from it and as much among them.
    pub closeness: f32,
}

impl Company {
    /// Those with whom an agent at a place walks.
    pub fn of(mates: Mates, from: Vec2) -> Company {
        let width = (mates.count.max(4) as f32).sqrt();
        Company { middle: mates.middle - from, room: 0.5 * (width - 2.0), closeness: 2.0 / width }
    }
}

/// A person, as in the world field: its height, 1/m², and its standard deviation, m.
const AMPLITUDE: f32 = 1.8;
const SPREAD: f32 = 0.35;
/// A metre far from those one walks together with costs at most this many empty ones more.
const FAR: f32 = 8.0;
/// A body that reaches further than this many cells counts in all that it covers.
const WIDE: f32 = 1.5;

/// As many times at once.
const TIMES: usize = SIDE / 2;
/// Those of two walks.
const COUNTED: [f32; SIDE] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// The middles of cells, in cells.
const MIDDLES: [f32; SIDE] = {
    let mut middles = [0.5; SIDE];
    let mut i = 0;
    while i < SIDE {
        middles[i] = i as f32 + 0.5;
        i += 1;
    }
    middles
};

/// How exactly the potential is found, in parts of what an empty cell costs.
const SETTLED: f32 = 1e-2;

/// What is left of the way from outside: straight to the next stop. Less what is left for the agent itself: far from its stop
/// rounding would leave nothing of the differences.
#[inline(always)]
fn rim<S: Simd>(simd: S, aim: Vec2, cost: f32, hidden: Hidden) -> Rim {
    let splat = |value: f32| f32x16::splat(simd, value);
    let offsets = f32x16::from_slice(simd, &MIDDLES) - splat(HALF);
    let (edge, distance, cost) = (splat(HALF + 0.5), aim.y - HALF, splat(cost));
    let above = detour(simd, offsets, edge, distance) * cost;
    // As far on both sides.
    let beside = detour(simd, edge, offsets, distance) * cost;
    let mut rim = Rim::CLOSED;
    let sides = [(&mut rim.above, above), (&mut rim.before, beside), (&mut rim.behind, beside)];
    for ((line, known), hidden) in sides.into_iter().zip(hidden) {
        let hidden = mask32x16::from_bitmask(simd, u64::from(hidden));
        hidden.select(splat(BLOCKED), known).store_slice(line);
    }
    rim
}

/// How much further than from the agent it is from a place at an offset from it to the stop at a distance straight on.
#[inline(always)]
fn detour<S: Simd>(simd: S, x: f32x16<S>, y: f32x16<S>, distance: f32) -> f32x16<S> {
    let splat = |value: f32| f32x16::splat(simd, value);
    let along = splat(distance) - y;
    let away = (x * x + along * along).sqrt();
    // The difference of two lengths as that of their squares over their sum.
    (x * x + y * y - splat(2.0 * distance) * y) / (away + splat(distance))
}

/// The place of a cell where there is one more on each side.
#[inline(always)]
fn beside(cell: i32) -> usize {
    cell.wrapping_add(1) as usize
}

/// The middles of the four cells around the agent, in cells.
const MIDDLE_FOUR: [Vec2; 4] = [
    Vec2::new(HALF - 0.5, HALF - 0.5),
    Vec2::new(HALF + 0.5, HALF - 0.5),
    Vec2::new(HALF - 0.5, HALF + 0.5),
    Vec2::new(HALF + 0.5, HALF + 0.5),
];

/// From which of sixteen places a wall hides another one, in bits.
#[inline(always)]
fn hides<S: Simd>(simd: S, [a, b]: [Vec2; 2], aim: Vec2, [x, y]: [f32x16<S>; 2]) -> u32 {
    let splat = |value: f32| f32x16::splat(simd, value);
    let (way, zero) = (b - a, splat(0.0));
    let (to_x, to_y) = (splat(aim.x) - x, splat(aim.y) - y);
    let side_a = to_x * (splat(a.y) - y) - to_y * (splat(a.x) - x);
    let side_b = to_x * (splat(b.y) - y) - to_y * (splat(b.x) - x);
    let side_here = splat(way.x) * (y - splat(a.y)) - splat(way.y) * (x - splat(a.x));
    let side_there = splat(det(way, aim - a));
    ((side_a * side_b).simd_lt(zero) & (side_here * side_there).simd_lt(zero)).to_bitmask() as u32
}

/// Whether two segments cross.
fn crosses([p, q]: [Vec2; 2], [a, b]: [Vec2; 2]) -> bool {
    let (way, wall) = (q - p, b - a);
    det(way, a - p) * det(way, b - p) < 0.0 && det(wall, p - a) * det(wall, q - a) < 0.0
}

/// Which of the lines through the middles of cells a segment crosses, in bits, and where.
#[inline(always)]
fn crossings<S: Simd>(simd: S, [a, b]: [Vec2; 2]) -> (u32, [f32; SIDE]) {
    let splat = |value: f32| f32x16::splat(simd, value);
    let heights = f32x16::from_slice(simd, &MIDDLES);
    let [above, below] = [a, b].map(|end| splat(end.y) - heights);
    // An end that lies on the line counts as above it, so that of two walls that meet there just one is crossed.
    let [first, second] = [above, below].map(|side| side.simd_ge(splat(0.0)).to_bitmask() as u32);
    let mut places = [0.0; SIDE];
    (splat(a.x) + splat(b.x - a.x) * (above / (above - below))).store_slice(&mut places);
    (first ^ second, places)
}

/// The places of ones among bits, the lowest first.
#[inline(always)]
fn ones(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (place < u32::BITS).then_some(place as usize)
    })
}
