//! # Contact: bodies that would overlap part
//! Local models choose velocities that avoid overlaps as long as there are such velocities; in a dense crowd there are none, and
//! RVO2 then presses agents through one another. Here overlaps that a step would leave are taken back, pair by pair, a few times
//! over (position-based dynamics, Müller et al. 2007, in Jacobi form so that the result does not depend on the order).
//!
//! Who goes first in a queue goes first in a contact: of two, the one that has the other ahead of it is moved back, by the cosines
//! of what both want with the line between them. Those behind never push those in front, so a crowd at a door does not wedge, and
//! those who go opposite ways share alike and slip past one another. With equal shares a crowd that presses inwards moves those
//! who stand, layer by layer, and the middle is crushed. An agent that waits for its start keeps its place.

use crate::walls::pushed_out;
use fearless_simd::{Level, Simd};
use glam::Vec2;
use throng_core::CHUNK;
use throng_core::dispatch;
use throng_core::few::Few;
use throng_core::geom::{at_most, unit_or};
use throng_core::handover::{Commands, Intents, Moves, Near};
use throng_core::parallel::{PerChunk, for_chunks};
use throng_core::space::{Candidates, rows_within};
use throng_core::world::{Status, View};

throng_core::params! {
    /// Bodies that would overlap after a step are moved apart; of two, the one behind gives way.
    pub struct Contact("contact") {
        /// Whether it counts. The papers have nothing like it.
        on: bool = true, "", Limit::from(0.0);
        /// How often every pair is looked at in a step. More lets a dense crowd press less.
        iterations: usize = 50, "", Limit::from(1.0).up_to(200.0);
    }
}

/// Overlaps below this are left alone, m. A tenth of what counts as a collision.
const TOLERANCE: f32 = 1e-4;
/// Who cannot be parted to less than this is held back, m. Half of what counts as a collision.
const PACKED: f32 = 5e-4;
/// What a body behind can move one in front, at first.
const PUSHED: f32 = 0.02;
/// What going east is worth where two meet who have as far to go, in sums of radii.
const EASTBOUND: f32 = 0.25;
/// How much more in each round: a body that walls keep from giving way leaves it to the other.
const LESS_PRECEDENCE: f32 = 1.3;
/// How much of the sum of all corrections is applied where there are several: they overshoot together.
const TOGETHER: f32 = 1.5;
/// More neighbours than can touch one disc of about the same size; the nearest ones count.
const MAX_CONTACTS: usize = 24;

/// Another that can be touched.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    row: u32,
    /// Sum of radii, m.
    reach: f32,
}

type Touching = Few<Touch, MAX_CONTACTS>;

/// Overlapping rows that one thread moves in a round: they are few, and each is much work.
const ROUND: usize = 32;

/// None: an agent that cannot touch any other has no list.
const NONE: u32 = u32::MAX;

/// Who may touch whom in this step; kept for its memory only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    /// One for every [`CHUNK`] rows, so that they are found in parallel.
    chunks: Vec<Found>,
    /// From a row to its place in its chunk's lists.
    place: Vec<u32>,
    /// The round in which a row was last looked at, and the present one.
    looked_at: Vec<u32>,
    round: u32,
    /// Rows that overlap another now, and where they have to go.
    overlapping: Vec<u32>,
    corrected: Vec<Vec2>,
    /// Rows that may overlap another after a round, and whether they do.
    candidates: Vec<u32>,
    overlaps: Vec<bool>,
    /// All rows that have been moved.
    moved: Vec<u32>,
}

/// What was found in a chunk of rows.
#[derive(Clone, Debug)]
struct Found {
    /// Those that can touch another.
    listed: Vec<Listed>,
    /// Whom they can touch, one after the other.
    touches: Vec<Touch>,
    /// Rows that overlap another at first.
    overlapping: Vec<u32>,
}

/// One that can touch others.
#[derive(Clone, Copy, Debug)]
struct Listed {
    /// Which of its chunk's touches are its own.
    first: u32,
    count: u32,
    bearing: Bearing,
}

/// What a step has come to.
#[derive(Clone, Copy)]
struct Course<'a> {
    view: View<'a>,
    intents: &'a Intents,
    commands: &'a Commands,
}

impl Contact {
    pub(crate) fn run(
        &self,
        view: View<'_>,
        intents: &Intents,
        commands: &Commands,
        contacts: &mut Contacts,
        moves: &mut Moves,
    ) {
        contacts.find(Course { view, intents, commands }, moves);
        let mut pushed = PUSHED;
        for _ in 0..self.iterations {
            if contacts.overlapping.is_empty() {
                break;
            }
            contacts.part(view, Precedence { intents, pushed }, moves);
            contacts.find_overlapping(view, moves);
            pushed *= LESS_PRECEDENCE;
        }
        contacts.hold_back(view, moves);
        contacts.take_velocities(view, moves);
    }
}

impl Contacts {
    /// Lists who can touch another: only those whose nearest other is near enough, or whom a scripted body reaches.
    fn find(&mut self, course: Course<'_>, moves: &Moves) {
        let agents = course.view.agents;
        self.place.resize(agents.len(), NONE);
        self.looked_at.resize(agents.len(), 0);
        let chunks = agents.len().div_ceil(CHUNK);
        // Never fewer: memory of chunks that are not needed now may be needed again.
        self.chunks.resize_with(self.chunks.len().max(chunks), Found::default);
        let level = Level::new();
        let columns = (&mut self.place[..], PerChunk(&mut self.chunks));
        for_chunks(CHUNK, columns, &|chunk, (place, PerChunk(found))| {
            dispatch!(level, simd => found[0].search(simd, course, moves, chunk * CHUNK, place));
        });
        self.overlapping.clear();
        self.overlapping.extend(self.chunks[..chunks].iter().flat_map(|found| &found.overlapping));
        self.moved.clear();
    }

    /// Moves all agents that overlap another, all at once.
    fn part(&mut self, view: View<'_>, precedence: Precedence<'_>, moves: &mut Moves) {
        let mut corrected = std::mem::take(&mut self.corrected);
        corrected.resize(self.overlapping.len(), Vec2::ZERO);
        for_chunks(ROUND, (&mut corrected[..], &self.overlapping[..]), &|_, (to, rows)| {
            for (to, &row) in to.iter_mut().zip(rows) {
                *to = self.apart(view, precedence, moves, row as usize);
            }
        });
        for (&row, &to) in self.overlapping.iter().zip(&corrected) {
            (moves.x[row as usize], moves.y[row as usize]) = to.into();
        }
        self.corrected = corrected;
        self.moved.extend_from_slice(&self.overlapping);
    }

    /// Those who cannot be parted stay where they were. There they did not overlap, so this ends, with all of a packed crowd
    /// standing at worst.
    fn hold_back(&mut self, view: View<'_>, moves: &mut Moves) {
        loop {
            let mut packed = std::mem::take(&mut self.overlapping);
            // One that stands there already can do no more.
            packed.retain(|&row| {
                let row = row as usize;
                place(moves, row) != view.position(row)
                    && is_deeper(view, moves, row, self.touching(row as u32))
            });
            for &row in &packed {
                (moves.x[row as usize], moves.y[row as usize]) = view.position(row as usize).into();
            }
            self.overlapping = packed;
            if self.overlapping.is_empty() {
                return;
            }
            self.find_overlapping(view, moves);
        }
    }

    /// Only those who have moved, and those whom they may have moved into, can overlap another now.
    fn find_overlapping(&mut self, view: View<'_>, moves: &Moves) {
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        self.round = self.round.wrapping_add(1);
        for &moved in &self.overlapping {
            let touching = self.chunks[moved as usize / CHUNK].touching(self.place[moved as usize]);
            for row in std::iter::once(moved).chain(touching.iter().map(|touch| touch.row)) {
                let looked_at = std::mem::replace(&mut self.looked_at[row as usize], self.round);
                if looked_at != self.round && self.place[row as usize] != NONE {
                    candidates.push(row);
                }
            }
        }
        let mut found = std::mem::take(&mut self.overlaps);
        found.resize(candidates.len(), false);
        for_chunks(4 * ROUND, (&mut found[..], &candidates[..]), &|_, (found, rows)| {
            for (found, &row) in found.iter_mut().zip(rows) {
                *found = overlaps(view, moves, row as usize, self.touching(row));
            }
        });
        self.overlapping.clear();
        let those = candidates.iter().zip(&found).filter(|(_, overlaps)| **overlaps);
        self.overlapping.extend(those.map(|(&row, _)| row));
        (self.candidates, self.overlaps) = (candidates, found);
    }

    fn touching(&self, row: u32) -> &[Touch] {
        self.chunks[row as usize / CHUNK].touching(self.place[row as usize])
    }

    /// Where a row wants to go.
    #[inline(always)]
    fn bearing(&self, view: View<'_>, intents: &Intents, row: usize) -> Bearing {
        match self.place[row] {
            NONE => Bearing::of(view, intents, row),
            place => self.chunks[row / CHUNK].listed[place as usize].bearing,
        }
    }

    /// Where a body is once it has done its part for all its contacts.
    fn apart(&self, view: View<'_>, precedence: Precedence<'_>, moves: &Moves, row: usize) -> Vec2 {
        let agents = view.agents;
        let mine = self.bearing(view, precedence.intents, row);
        let at = place(moves, row);
        let (mut sum, mut count) = (Vec2::ZERO, 0.0f32);
        let mut push = |away: Vec2, reach: f32, fallback: Vec2, share: &dyn Fn(Vec2) -> f32| {
            let depth = reach - away.length();
            if depth > 0.0 {
                let direction = unit_or(away, fallback);
                sum += direction * (depth * share(direction));
                count += 1.0;
            }
        };
        for &Touch { row: other, reach } in self.touching(row as u32) {
            let other = other as usize;
            let part = if agents.id[row] < agents.id[other] { Vec2::X } else { Vec2::NEG_X };
            push(view.towards(place(moves, other), at), reach, part, &|direction| {
                let theirs = self.bearing(view, precedence.intents, other);
                precedence.share(view, (row, &mine), (other, &theirs), direction, reach)
            });
        }
        let mut struck = false;
        for mover in view.movers {
            let away = view.towards(mover.position + mover.velocity * view.dt, at);
            let reach = agents.radius[row] + mover.radius;
            struck |= away.length_squared() < reach * reach;
            push(away, reach, Vec2::X, &|_| 1.0);
        }
        let moved = at + if count > TOGETHER { sum * (TOGETHER / count) } else { sum };
        let from = view.position(row);
        // Bodies that overlap already part as fast as they can walk; a scripted body moves them at its own speed.
        let moved = match struck {
            true => moved,
            false => from + at_most(moved - from, (agents.max_speed[row] * view.dt).max(at.distance(from))),
        };
        pushed_out(view.walls.near(from), from, moved, agents.radius[row])
    }

    /// The velocity that others see is the one that a body really had.
    fn take_velocities(&self, view: View<'_>, moves: &mut Moves) {
        for row in self.moved.iter().map(|&row| row as usize) {
            let taken = (place(moves, row) - view.position(row)) / view.dt;
            (moves.vx[row], moves.vy[row]) = at_most(taken, view.agents.max_speed[row]).into();
        }
    }
}

/// Whether a scripted body can reach an agent in this step.
fn struck(view: View<'_>, row: usize) -> bool {
    view.movers.iter().any(|mover| {
        let speeds = view.fastest + mover.velocity.length();
        let reach = view.agents.radius[row] + mover.radius + speeds * view.dt;
        view.towards(view.position(row), mover.position).length_squared() < reach * reach
    })
}

impl Default for Found {
    /// With room for a thin crowd: as chunks become dense one after another, lists that begin with nothing would grow in every step.
    fn default() -> Found {
        Found {
            listed: Vec::with_capacity(CHUNK / 4),
            touches: Vec::with_capacity(CHUNK / 2),
            overlapping: Vec::with_capacity(CHUNK / 8),
        }
    }
}

impl Found {
    fn touching(&self, place: u32) -> &[Touch] {
        let Listed { first, count, .. } = self.listed[place as usize];
        &self.touches[first as usize..(first + count) as usize]
    }

    /// Looks through the rows from `first` on, and writes where in the lists they are.
    #[inline(always)]
    fn search<S: Simd>(
        &mut self,
        simd: S,
        Course { view, intents, commands }: Course<'_>,
        moves: &Moves,
        first: usize,
        place: &mut [u32],
    ) {
        self.listed.clear();
        self.touches.clear();
        self.overlapping.clear();
        let mut candidates = Candidates::default();
        for (row, place) in (first..).zip(place) {
            let near = &commands.near[row];
            *place = NONE;
            if !near.is_empty() || struck(view, row) {
                let touching = contacts(simd, view, moves, row, near, &mut candidates);
                let overlaps = overlaps(view, moves, row, &touching);
                if touching.is_empty() && !overlaps {
                    continue;
                }
                if overlaps {
                    self.overlapping.push(row as u32);
                }
                *place = self.listed.len() as u32;
                let (first, count) = (self.touches.len() as u32, touching.len() as u32);
                self.listed.push(Listed { first, count, bearing: Bearing::of(view, intents, row) });
                self.touches.extend_from_slice(&touching);
            }
        }
    }
}

/// Whom a row can touch in this step, the nearest of where all would be first.
#[inline(always)]
fn contacts<S: Simd>(
    simd: S,
    view: View<'_>,
    moves: &Moves,
    row: usize,
    near: &Near,
    candidates: &mut Candidates,
) -> Touching {
    let mut touching = Touching::new();
    let (at, from, radius) = (place(moves, row), view.position(row), &view.agents.radius);
    let mut look_at = |other: usize| {
        // Both may be pushed, from where they were, as far as they can walk.
        let reach = radius[row] + radius[other];
        let close = reach + 2.0 * view.fastest * view.dt;
        let squared = view.towards(from, view.position(other)).length_squared();
        if other != row && squared < close * close {
            insert_nearest_first(
                &mut touching,
                Touch { row: other as u32, reach },
                |Touch { row, .. }| {
                    let away = view.towards(at, place(moves, row as usize)).length_squared();
                    (away, view.agents.id[row as usize])
                },
            );
        }
    };
    if let Some(rows) = near.rows() {
        rows.iter().for_each(|&other| look_at(other as usize));
    } else {
        let [range, most] = [view.contact_range(row), view.contact_range(row) - radius[row] + view.widest];
        rows_within(simd, view.cells, row, [range, most], candidates, look_at);
    }
    touching
}

/// By distance, then by id: what contacts ask for is added up, and a sum has other bits in another order.
#[inline(always)]
fn insert_nearest_first(touching: &mut Touching, touch: Touch, key: impl Fn(Touch) -> (f32, u32)) {
    let mine = key(touch);
    let place = touching.iter().take_while(|&&other| key(other) < mine).count();
    if touching.is_full() {
        // The furthest one is left out.
        if place == touching.len() {
            return;
        }
        touching.pop();
    }
    touching.insert(place, touch);
}

/// Whether a body overlaps one of its contacts, or a scripted body, by more than is left alone.
fn overlaps(view: View<'_>, moves: &Moves, row: usize, touching: &[Touch]) -> bool {
    let agents = view.agents;
    let at = place(moves, row);
    let closer = |other: Vec2, reach: f32| {
        view.towards(at, other).length_squared() < (reach - TOLERANCE).max(0.0).powi(2)
    };
    touching.iter().any(|touch| closer(place(moves, touch.row as usize), touch.reach))
        || view
            .movers
            .iter()
            .any(|mover| closer(mover.position + mover.velocity * view.dt, agents.radius[row] + mover.radius))
}

/// Whether a body overlaps one of its contacts more than before the step.
fn is_deeper(view: View<'_>, moves: &Moves, row: usize, touching: &[Touch]) -> bool {
    touching.iter().any(|&Touch { row: other, reach }| {
        let other = other as usize;
        let before = view.towards(view.position(row), view.position(other)).length().min(reach);
        view.towards(place(moves, row), place(moves, other)).length() < before - PACKED
    })
}

/// Who gives way to whom.
#[derive(Clone, Copy)]
struct Precedence<'a> {
    intents: &'a Intents,
    /// What a body behind can move one in front.
    pushed: f32,
}

/// Where an agent wants to go, which lasts as long as a step.
#[derive(Clone, Copy, Debug)]
struct Bearing {
    /// None where it does not want to move.
    direction: Vec2,
    /// How far it is to where it turns next, m.
    left: f32,
}

impl Bearing {
    fn of(view: View<'_>, intents: &Intents, row: usize) -> Bearing {
        let direction = intents.velocity(row).normalize_or_zero();
        Bearing { direction, left: intents.aim[row].distance(view.position(row)) }
    }

    /// How much one of two who go opposite ways is nearer to where it turns next: 1 by its own width, 0.5 where they do not.
    #[inline(always)]
    fn is_nearer(&self, other: &Bearing, reach: f32, pushed: f32) -> f32 {
        let against = (-self.direction.dot(other.direction)).max(0.0);
        // Where both have as far to go a convention decides, as at a road's crossing: who goes east, or north.
        let apart = self.direction - other.direction;
        let tie = EASTBOUND * if apart.x == 0.0 { apart.y } else { apart.x }.signum();
        let ahead = ((other.left - self.left) / reach + tie).clamp(-1.0, 1.0);
        0.5 + 0.49 * against * ahead * (PUSHED / pushed)
    }
}

impl Precedence<'_> {
    /// The part of an overlap that one of two takes back, which lies in a direction as seen from the other.
    #[inline(always)]
    fn share(
        &self,
        view: View<'_>,
        (row, own): (usize, &Bearing),
        (other, its): (usize, &Bearing),
        direction: Vec2,
        reach: f32,
    ) -> f32 {
        if view.agents.status[row] == Status::Waiting && view.agents.status[other] != Status::Waiting {
            return 0.0;
        }
        let mine = self.gives_way(view, row, own, -direction);
        let theirs = self.gives_way(view, other, its, direction);
        let first = own.is_nearer(its, reach, self.pushed);
        let (mine, theirs) = (mine * (1.0 - first), theirs * first);
        if mine + theirs > 0.0 { mine / (mine + theirs) } else { 0.5 }
    }

    /// How much an agent gives way to a body that lies in a direction: most where that is straight ahead, little where it is behind.
    #[inline(always)]
    fn gives_way(&self, view: View<'_>, row: usize, bearing: &Bearing, direction: Vec2) -> f32 {
        let responsibility = view.agents.responsibility[row];
        match view.agents.status[row] {
            Status::Waiting => 0.0,
            Status::Walking => {
                let ahead = 0.5 * (1.0 + bearing.direction.dot(direction));
                responsibility * (ahead * ahead + self.pushed)
            }
            // It has what it wants, and makes way.
            Status::Arrived => responsibility,
        }
    }
}

#[inline(always)]
fn place(moves: &Moves, row: usize) -> Vec2 {
    Vec2::new(moves.x[row], moves.y[row])
}
