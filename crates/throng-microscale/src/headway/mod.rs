//! # Headway: how fast a dense crowd lets an agent walk, and which way
//! Beyond the papers, and for all local models alike. VO, RVO, HRVO and ORCA see relative velocities: they follow at any distance,
//! so that their speed does not fall with density, and where all stand no velocity is left to avoid. What they lack are four
//! quantities, which `docs/dense-crowds.md` derives and holds against recorded crowds:
//!
//! - **Being held up.** An agent remembers which part of its speed it has lost over the last `trust` seconds, and agents see that of
//!   others. Who was held up for half a second is in a queue, or in a jam. Outside of those a model's choice stands, bit by bit.
//! - **The free distance ahead.** In a queue an agent walks no faster than covers the gap to the next body in its way in `time_gap`
//!   (Tordeux, Chraibi, Seyfried 2015; Moussaïd, Helbing, Theraulaz 2011).
//! - **Precedence.** Of two bodies in each other's way the one that has the other less ahead goes first, and is not slowed by it.
//!   So one of two wedged in a door gets through. Those who go another way are pressed past at up to `squeeze`.
//! - **What others are expected to do.** Those who want the same are expected to go on, so a queue stays a queue; all others to do
//!   what they do. The heading is the one with the most progress before a body is met (Moussaïd et al.): so lanes form.
//!   An agent that waits for longer than `trust` expects the queue to stay as it is, and looks for a way around.
//!
//! An agent held up by others who want past it, and are held up themselves, turns right, at most a quarter, and those who wait behind
//! it do so too: a jam in the open becomes a roundabout. Where all want the same, or the same place, none turns.

mod expected;
mod together;
mod wish;

pub use wish::{Wish, find_wishes};

use crate::around::{Around, Ego};
use crate::stage::Scene;
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};
use glam::Vec2;
use serde::{Deserialize, Serialize};
use throng_core::geom::{left, unit_or};
use throng_core::memory::{Change, Remembered, mix};
use throng_core::space::{LANES, Wall, lanes_below};
use throng_core::world::Status;

throng_core::params! {
    /// How fast a dense crowd lets an agent walk, and which way: distances kept, precedence, lanes.
    pub struct Headway("headway") {
        /// Whether it counts. The papers have nothing like it.
        on: bool = true, "", Limit::from(0.0);
        /// An agent needs at least this long to cover the gap to the next body in its way.
        time_gap: f32 = 0.62, "s", Limit::above(0.0).up_to(100.0);
        /// How much broader than deep bodies are that go the same way: shoulders turn for those who come the other way only.
        breadth: f32 = 1.05, "", Limit::from(1.0).up_to(10.0);
        /// The speed at which it presses past those who go another way.
        squeeze: f32 = 0.6, "m/s", Limit::from(0.0).up_to(10.0);
        /// What a change of velocity costs.
        turning: f32 = 0.3, "s", Limit::from(0.0).up_to(10.0);
        /// For how long it waits in a queue before it looks for a way seen, and how long it remembers to have been held up.
        trust: f32 = 5.0, "s", Limit::above(0.0).up_to(1000.0);
        /// How long it takes to begin to turn from those who want past it.
        memory: f32 = 0.5, "s", Limit::above(0.0).up_to(1000.0);
    }
}

/// What an agent remembers of being held up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldUp {
    /// The part of its speed that it has lost, averaged over the time that it trusts: 0 nothing, 1 has stood for good.
    pub waited: f32,
    /// How long others who want past it have kept it from its way: 0 not at all, 1 for good.
    pub opposed: f32,
}

impl HeldUp {
    /// How much it is in a queue or in a jam. To veer for another, or to let one pass, takes less time.
    #[inline(always)]
    fn queued(self) -> f32 {
        ((self.waited - BRIEF) / (QUEUED - BRIEF)).clamp(0.0, 1.0)
    }

    /// How much it expects a queue to move: no longer once it has lost more than half of the time.
    #[inline(always)]
    fn trust(self) -> f32 {
        (2.0 * (1.0 - self.waited)).min(1.0)
    }
}

impl Remembered for HeldUp {
    fn state_hash(&self) -> Option<u64> {
        let bits = u64::from(self.waited.to_bits()) << 32 | u64::from(self.opposed.to_bits());
        (*self != HeldUp::default()).then(|| mix(bits))
    }

    /// Only another goal makes an agent set off again.
    fn outlasts(change: Change) -> bool {
        change != Change::Retargeted
    }
}

/// The part of the wanted speed that may be missing before an agent is held up.
const TOLERANCE: f32 = 0.1;
/// The part of the time that it trusts that an agent must have lost to be in a queue: to be stopped for half a second, by default.
const BRIEF: f32 = 0.1;
/// The part from which on it is wholly in it.
const QUEUED: f32 = 0.15;
/// The cosine of the angle up to which two go the same way, and one follows the other.
const SAME_WAY: f32 = 0.9;
/// What is forgotten at once.
const FORGOTTEN: f32 = 1e-3;
/// How much sooner one that stands on another's goal makes way: at full speed when that has lost a fourth of the time it trusts.
const HURRY: f32 = 4.0;
/// How long an agent goes on turning that is no longer opposed, s.
const CALM: f32 = 5.0;
/// The part of the sum of radii within which a body is in the way: shoulders that graze one another turn.
const SHOULDER: f32 = 0.97;
/// What an agent in a dense crowd asks its model for.
pub(crate) enum Ask {
    /// Nothing: it takes this velocity.
    Nothing(Vec2),
    /// A choice for this preferred velocity.
    For(Vec2),
    /// A choice that is weighed against what the crowd allows.
    Opinion(Want),
}

/// What the agent wants now: where to, and how fast.
#[derive(Clone, Copy)]
pub(crate) struct Want {
    along: Vec2,
    speed: f32,
}

impl Want {
    /// The way that counts where a model chooses a velocity, which is straight on where that loses much; and how much it loses.
    #[inline(always)]
    fn way(self, chosen: Vec2) -> (Vec2, f32) {
        let lost = (1.0 - 2.0 * chosen.dot(self.along) / self.speed).min(1.0);
        (chosen + (self.along * self.speed - chosen) * lost.max(0.0), lost)
    }
}

/// What an agent sees of others and of walls, wherever that is kept.
pub(crate) trait Sight: Copy {
    /// How many others.
    fn count(self) -> usize;
    /// Towards one of them, m.
    fn towards(self, i: usize) -> Vec2;
    /// The velocity of one of them, m/s.
    fn velocity(self, i: usize) -> Vec2;
    /// The sum of radii with one of them, m.
    fn reach(self, i: usize) -> f32;
    /// The row of one of them; of a scripted body one that no agent has.
    fn row(self, i: usize) -> u32;
    /// Walls that face the agent, nearest first.
    fn walls<'a>(self) -> &'a [Wall]
    where
        Self: 'a;
}

impl Sight for &Around {
    #[inline(always)]
    fn count(self) -> usize {
        self.others.len
    }

    #[inline(always)]
    fn towards(self, i: usize) -> Vec2 {
        self.others.towards(i)
    }

    #[inline(always)]
    fn velocity(self, i: usize) -> Vec2 {
        self.others.velocity(i)
    }

    #[inline(always)]
    fn reach(self, i: usize) -> f32 {
        self.others.reach[i]
    }

    #[inline(always)]
    fn row(self, i: usize) -> u32 {
        self.others.row[i]
    }

    #[inline(always)]
    fn walls<'a>(self) -> &'a [Wall]
    where
        Self: 'a,
    {
        &self.walls
    }
}

/// Velocities that others may close, a lane a pair.
struct Ways<S: Simd> {
    x: f32x16<S>,
    y: f32x16<S>,
    speed: f32x16<S>,
    time: f32x16<S>,
    breadth: f32x16<S>,
    none: f32x16<S>,
}

impl<S: Simd> Ways<S> {
    /// Whether others close them: from towards them, their velocities and the sums of radii. Without a root, and in units of the
    /// speed: every agent asks in every step.
    #[inline(always)]
    fn closes(&self, [dx, dy, vx, vy, reach]: [f32x16<S>; 5]) -> mask32x16<S> {
        let (x, y) = (self.x, self.y);
        let (ahead, aside, crosses) = (dx * x + dy * y, dy * x - dx * y, vy * x - vx * y);
        let reach = reach * self.speed;
        ahead.simd_gt(self.none)
            & (ahead - reach).simd_lt(self.speed * self.speed * self.time)
            & (aside.abs() - crosses.abs() * self.time).simd_lt(reach * self.breadth)
    }
}

impl Headway {
    /// What an agent wants, where it wants to move at all; and updates what it remembers of being held up. One that gets on costs next
    /// to nothing here.
    #[inline(always)]
    pub(crate) fn want(
        &self,
        scene: Scene<'_>,
        seen: impl Sight,
        ego: &mut Ego,
        held_up: &mut HeldUp,
    ) -> Option<Want> {
        let want = want(ego, seen);
        // One that has arrived has what it wants, and is not held up.
        if scene.view.agents.status[ego.row] != Status::Walking {
            *held_up = HeldUp::default();
            return want;
        }
        let Some(walks) = want else {
            // A plan stands only for others; else an agent stands because it wants to.
            held_up.waited = towards(held_up.waited, f32::from(scene.planned), ego.dt / self.trust);
            held_up.opposed = 0.0;
            return want;
        };
        let before = *held_up;
        if before.queued() <= 0.0 && before.opposed <= 0.0 {
            held_up.waited = towards(before.waited, lag(ego, walks.along, walks.speed), ego.dt / self.trust);
            return want;
        }
        let corner = if scene.planned { walks } else { around_corner(scene, seen, ego, walks, before) };
        // Who walks around others at a corner gets on.
        let lag = lag(ego, walks.along, walks.speed).min(lag(ego, corner.along, walks.speed));
        held_up.waited = towards(before.waited, lag, ego.dt / self.trust);
        held_up.opposed = self.opposed(scene, seen, ego, walks, before);
        if scene.planned {
            return want;
        }
        let aside = turn_aside(seen, ego, corner, *held_up);
        if aside.along != walks.along {
            ego.preferred = aside.along * aside.speed;
        }
        Some(aside)
    }

    #[inline(never)]
    fn opposed(&self, scene: Scene<'_>, seen: impl Sight, ego: &Ego, want: Want, before: HeldUp) -> f32 {
        let room = room_to_turn(seen, ego, want.along, before.opposed);
        let heading = turned(want.along, before.opposed * room);
        let is_held = before.queued() > 0.0 && lag(ego, heading, want.speed) > before.opposed;
        let opposed = if is_held { opposition(scene, seen, ego, want) } else { 0.0 };
        let time = if opposed > before.opposed { self.memory } else { CALM };
        towards(before.opposed, opposed, ego.dt / time)
    }

    /// What an agent asks its model for.
    #[inline(always)]
    pub(crate) fn ask(&self, scene: Scene<'_>, ego: &Ego, seen: impl Sight, want: Option<Want>) -> Ask {
        if !self.on || seen.count() == 0 {
            return Ask::For(ego.preferred);
        }
        // Scripted bodies give way to none: them the model avoids.
        let takes = |velocity: Vec2| match has_movers(scene, seen) {
            true => Ask::For(velocity),
            false => Ask::Nothing(velocity),
        };
        let status = scene.view.agents.status[ego.row];
        if status == Status::Waiting {
            return takes(Vec2::ZERO);
        }
        if status == Status::Arrived
            && let Some(aside) = self.step_aside(scene, ego.position, seen)
        {
            return takes(aside * scene.view.agents.preferred_speed[ego.row]);
        }
        match want {
            Some(want) if !scene.planned && !has_movers(scene, seen) => Ask::Opinion(want),
            _ => Ask::For(ego.preferred),
        }
    }

    /// What is made of an opinion.
    #[inline(always)]
    pub(crate) fn weigh<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        ego: &Ego,
        around: &Around,
        (want, held_up): (Want, HeldUp),
        chosen: Vec2,
    ) -> Vec2 {
        let closed = self.closed(simd, around, want.way(chosen).0);
        self.give_in(simd, scene, ego, around, (want, held_up), (chosen, closed))
    }

    /// What is made of an opinion by those who close its way: nothing else where no queue and no jam is in it. An agent that has stood
    /// for long no longer trusts its model either.
    #[inline(always)]
    pub(crate) fn give_in<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        ego: &Ego,
        seen: impl Sight,
        (want, held_up): (Want, HeldUp),
        (chosen, closed): (Vec2, u128),
    ) -> Vec2 {
        let (way, lost) = want.way(chosen);
        let doubted = lost * (1.0 - held_up.trust());
        if closed == 0 && doubted <= 0.0 {
            return chosen;
        }
        let doubted =
            if doubted > 0.0 && self.has_far_to_go(scene, ego, want, held_up) { doubted } else { 0.0 };
        let part = doubted.max(self.jam(scene, seen, ego, way, held_up, closed));
        if part <= 0.0 {
            return chosen;
        }
        chosen + (self.dense_velocity(simd, scene, ego, seen, want, held_up) - chosen) * part
    }

    /// Whether an agent has further to go than it has lost: else it is as good as there, and lets others pass. Who leaves the world
    /// at its goal goes on from there.
    #[inline(never)]
    fn has_far_to_go(&self, scene: Scene<'_>, ego: &Ego, want: Want, held_up: HeldUp) -> bool {
        let left = scene.view.goal(ego.row).distance(ego.position);
        left > held_up.waited * self.trust * want.speed || scene.view.bound(ego.row).leaves
    }

    /// The bodies that may be in the way of a velocity within the time gap as they go now, by bits; [`Other::gap`] tells which are.
    #[inline(always)]
    fn closed<S: Simd>(&self, simd: S, around: &Around, velocity: Vec2) -> u128 {
        let others = &around.others;
        let splat = |value: f32| f32x16::splat(simd, value);
        let ways = self.ways(simd, [splat(velocity.x), splat(velocity.y)]);
        let mut bits = 0;
        for block in (0..others.len).step_by(LANES) {
            let load = |column: &[f32]| f32x16::from_slice(simd, &column[block..block + LANES]);
            let [dx, dy] = [load(&others.dx), load(&others.dy)];
            let closed = ways.closes([dx, dy, load(&others.vx), load(&others.vy), load(&others.reach)]);
            bits |= u128::from(closed.to_bitmask() & lanes_below(others.len - block)) << block;
        }
        bits
    }

    #[inline(always)]
    fn ways<S: Simd>(&self, simd: S, [x, y]: [f32x16<S>; 2]) -> Ways<S> {
        let splat = |value: f32| f32x16::splat(simd, value);
        let speed = (x * x + y * y).sqrt();
        Ways { x, y, speed, time: splat(self.time_gap), breadth: splat(self.breadth), none: splat(0.0) }
    }

    /// How much an agent is in a queue or in a jam with those of the others that close its way: behind one that goes the same way and
    /// is held up, or holds it up, or kept by one that is held up as well. One that has arrived is kept from its goal by others that
    /// have.
    #[inline(never)]
    fn jam(
        &self,
        scene: Scene<'_>,
        seen: impl Sight,
        ego: &Ego,
        way: Vec2,
        held_up: HeldUp,
        mut closed: u128,
    ) -> f32 {
        let (queued, trust) = (held_up.queued(), held_up.trust());
        let has_arrived = scene.view.agents.status[ego.row] == Status::Arrived;
        let speed = way.length().max(1e-6);
        let way = Want { along: way / speed, speed };
        let mut most = 0.0f32;
        while closed != 0 {
            let i = closed.trailing_zeros() as usize;
            closed &= closed - 1;
            let Some(other) = scene.wishes.get(seen.row(i) as usize) else { continue };
            let part = if has_arrived {
                f32::from(other.has_arrived)
            } else {
                let (theirs, velocity) = (other.held_up.queued(), seen.velocity(i));
                // Its own loss counts as far as the one that it follows explains it.
                let slower = 1.0 - velocity.dot(way.along) / speed;
                let mine = queued * (slower / held_up.waited.max(BRIEF)).clamp(0.0, 1.0);
                let same_way = (other.direction.dot(way.along) - SAME_WAY) / (1.0 - SAME_WAY);
                let goes_on = 1.0 + velocity.dot(way.along) / (TOLERANCE * speed);
                let follows = same_way.max(0.0) * goes_on.clamp(0.0, 1.0);
                (follows * theirs.max(other.late).max(mine)).max(queued.min(theirs))
            };
            if part > most {
                let gap = self.other(scene, seen, i, way, trust).gap(seen, i, way);
                let too_near = (1.0 - gap / (speed * self.time_gap)) / TOLERANCE;
                most = most.max(part * too_near.clamp(0.0, 1.0));
            }
        }
        most
    }

    /// Where the crowd leaves no choice. To get back to its goal is not worth a push to an agent that has arrived.
    #[inline(never)]
    fn dense_velocity<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        ego: &Ego,
        seen: impl Sight,
        want: Want,
        held_up: HeldUp,
    ) -> Vec2 {
        let has_arrived = scene.view.agents.status[ego.row] == Status::Arrived;
        if has_arrived && (scene.view.goal(ego.row) - ego.position).dot(ego.preferred) >= 0.0 {
            return Vec2::ZERO;
        }
        self.press_on(simd, scene, ego, seen, want, held_up)
    }

    /// Out of the way of the nearest agent that wants to pass where this one has arrived, by how long that waits already.
    #[inline(never)]
    fn step_aside(&self, scene: Scene<'_>, position: Vec2, seen: impl Sight) -> Option<Vec2> {
        (0..seen.count()).find_map(|i| {
            let row = seen.row(i) as usize;
            let theirs = scene.wishes.get(row)?;
            // Of those who want where it stands, or by their plan just there, one that waits for a moment is enough.
            let goal = || scene.view.goal(row) + scene.view.seam(position, row);
            let is_on_goal = || goal().distance(position) < seen.reach(i);
            let hurry = match scene.planned || is_on_goal() {
                true => (HURRY * theirs.held_up.waited).min(1.0),
                false => theirs.held_up.queued(),
            };
            if hurry <= 0.0 {
                return None;
            }
            let (wish, from_them) = (theirs.velocity, -seen.towards(i));
            let stands =
                scene.planned && wish == Vec2::ZERO && scene.view.agents.status[row] == Status::Walking;
            // A plan that stands is one for which there is no room yet: its way tells where to.
            let wish = if stands { scene.intents.aim[row] - scene.view.position(row) } else { wish };
            let speed = wish.length().min(scene.view.agents.max_speed[row]);
            let forwards = wish.normalize_or_zero();
            let is_late = seen.velocity(i).dot(forwards) < (1.0 - TOLERANCE) * speed;
            let reached = is_late && gap(from_them, seen.reach(i), forwards) <= speed * self.time_gap;
            let aside = from_them - from_them.dot(forwards) * forwards;
            (speed > 1e-3 && reached).then(|| unit_or(aside, -left(forwards)) * hurry)
        })
    }
}

/// What an agent wants, where it wants to move at all: of a way into a wall that it touches what the wall leaves.
#[inline(always)]
fn want(ego: &Ego, seen: impl Sight) -> Option<Want> {
    let wish = if seen.walls().is_empty() { ego.preferred } else { along_walls(ego, seen) };
    let length = wish.length();
    // A caller may want more than legs can do, which does not hold an agent up.
    let speed = length.min(ego.max_speed);
    (speed > 1e-3).then(|| Want { along: wish / length, speed })
}

#[inline(never)]
fn along_walls(ego: &Ego, seen: impl Sight) -> Vec2 {
    seen.walls().iter().fold(ego.preferred, |wish, wall| {
        let away = ego.position - wall.closest(ego.position);
        let distance = away.length();
        match distance <= ego.radius + 1e-3 {
            true => wish - away * (wish.dot(away).min(0.0) / (distance * distance).max(1e-9)),
            false => wish,
        }
    })
}

/// The part of its speed that an agent does not make along a heading; little does not count.
#[inline(always)]
fn lag(ego: &Ego, along: Vec2, speed: f32) -> f32 {
    let lag = (1.0 - ego.velocity.dot(along) / speed).min(1.0);
    lag * (2.0 * lag / TOLERANCE - 1.0).clamp(0.0, 1.0)
}

/// An exponential mean; an agent that gets on is in the end as one that never was held up.
#[inline(always)]
fn towards(from: f32, to: f32, part: f32) -> f32 {
    let next = from + (to - from) * part.min(1.0);
    if next < from && next < FORGOTTEN { 0.0 } else { next }
}

/// What an agent wants; nothing where it is a scripted body.
#[inline(always)]
fn wish(scene: Scene<'_>, row: u32) -> Wish {
    scene.wishes.get(row as usize).copied().unwrap_or_default()
}

fn has_movers(scene: Scene<'_>, seen: impl Sight) -> bool {
    seen.count() > 0 && seen.row(seen.count() - 1) as usize >= scene.view.agents.len()
}

/// What an agent wants that is opposed: to turn from those who want past it.
#[inline(never)]
fn turn_aside(seen: impl Sight, ego: &Ego, want: Want, HeldUp { opposed, .. }: HeldUp) -> Want {
    if opposed <= TOLERANCE {
        return want;
    }
    Want { along: turned(want.along, opposed * room_to_turn(seen, ego, want.along, opposed)), ..want }
}

/// What an agent in a queue around a corner wants: not all fit through at the corner itself, so it aims as much further out as it is
/// away from it, but not beyond the middle of a passage.
#[inline(never)]
fn around_corner(scene: Scene<'_>, seen: impl Sight, ego: &Ego, want: Want, held_up: HeldUp) -> Want {
    // Where space repeats walls end at seams too, which are no corners.
    if held_up.queued() <= 0.0 || scene.view.cells.period().repeats() {
        return want;
    }
    let aim = scene.intents.aim[ego.row];
    let walls = || scene.view.walls.near(aim);
    let away = |place: Vec2| place.distance_squared(aim);
    let nearest = walls().min_by(|a, b| away(a.closest(aim)).total_cmp(&away(b.closest(aim))));
    let Some(wall) = nearest else { return want };
    let corner = wall.closest(aim);
    let is_end = |end: Vec2| end.distance_squared(corner) < 1e-6;
    if !(is_end(wall.a) || is_end(wall.b)) || away(corner) >= 4.0 * ego.radius * ego.radius {
        return want;
    }
    let queued = held_up.queued().min(queue_ahead(scene, seen, want));
    if queued <= 0.0 {
        return want;
    }
    let outwards = (aim - corner).normalize_or_zero();
    let there = Ego { position: aim, ..*ego };
    let room = walls().map(|wall| to_wall(wall, &there, outwards)).fold(f32::INFINITY, f32::min);
    let further = (queued * aim.distance(ego.position)).min(0.5 * room);
    Want { along: unit_or(aim + outwards * further - ego.position, want.along), ..want }
}

/// How much those ahead that go the same way are in a queue.
fn queue_ahead(scene: Scene<'_>, seen: impl Sight, want: Want) -> f32 {
    let of = |i: usize| {
        let theirs = wish(scene, seen.row(i));
        let goes_ahead = seen.towards(i).dot(want.along) > 0.0 && theirs.velocity.dot(want.along) > 0.0;
        if goes_ahead { theirs.held_up.queued() } else { 0.0 }
    };
    (0..seen.count()).map(of).fold(0.0, f32::max)
}

/// How much of a turn walls leave room for: none where one is reached at once, all where none is within sight.
fn room_to_turn(seen: impl Sight, ego: &Ego, along: Vec2, opposed: f32) -> f32 {
    let heading = turned(along, opposed);
    let way = seen.walls().iter().map(|wall| to_wall(wall, ego, heading)).fold(f32::INFINITY, f32::min);
    (way / (ego.max_speed + ego.radius)).min(1.0)
}

/// A unit vector turned to the right: not at all below the tolerance, by a quarter at 1. By the tangent of half the angle, which
/// rounds alike on all machines.
#[inline(always)]
fn turned(along: Vec2, opposed: f32) -> Vec2 {
    let half = (opposed - TOLERANCE) / (1.0 - TOLERANCE);
    if half <= 0.0 {
        return along;
    }
    let scale = 1.0 / (1.0 + half * half);
    Vec2::new((1.0 - half * half) * scale, -2.0 * half * scale).rotate(along)
}

/// How far a body can move along a heading before it touches another one that grazes it no less than shoulders can turn, m.
#[inline(always)]
fn gap(towards: Vec2, reach: f32, along: Vec2) -> f32 {
    let (ahead, aside) = (towards.dot(along), towards.dot(left(along)));
    if ahead <= 0.0 || aside.abs() >= SHOULDER * reach {
        return f32::INFINITY;
    }
    (ahead - (reach * reach - aside * aside).sqrt()).max(0.0)
}

/// The same with a wall.
#[inline(always)]
fn to_wall(wall: &Wall, ego: &Ego, along: Vec2) -> f32 {
    let (a, b) = (wall.a - ego.position, wall.b - ego.position);
    // Less than the body, so that one beside a wall is not held by it; the motion stage keeps it out.
    let radius = 0.9 * ego.radius;
    let ends = gap(a, radius, along).min(gap(b, radius, along));
    let length = a.distance(b);
    let side = (b - a) / length.max(1e-6);
    let distance = a.dot(left(side));
    let away = if distance < 0.0 { -left(side) } else { left(side) };
    let closing = along.dot(away);
    if closing <= 1e-6 {
        return ends;
    }
    let reached = ((distance.abs() - radius) / closing).max(0.0);
    let at = (along * reached - a).dot(side);
    if (0.0..=length).contains(&at) { ends.min(reached) } else { ends }
}

/// How much others ahead, that are held up themselves, want past an agent that is held up: 1 against it, 0 with it or to the same
/// place. And how much those ahead that want the same are opposed.
fn opposition(scene: Scene<'_>, seen: impl Sight, ego: &Ego, want: Want) -> f32 {
    let aim = |row: usize| scene.intents.aim[row] - ego.position;
    let most = |part: f32| (2.0 * part).clamp(0.0, 1.0);
    let of = |i: usize| {
        let (row, towards) = (seen.row(i), seen.towards(i));
        let forwards = towards.dot(want.along);
        let Wish { direction, held_up: theirs, .. } = wish(scene, row);
        if forwards <= 0.0 || theirs == HeldUp::default() {
            return 0.0;
        }
        let (squared, alike) = (towards.length_squared(), direction.dot(want.along));
        let passes = || {
            let theirs = aim(row as usize) + scene.view.seam(ego.position, row as usize) - towards;
            aim(ego.row).dot(towards) > squared && theirs.dot(-towards) > squared
        };
        let strength = if alike > 0.0 {
            theirs.opposed * most(alike)
        } else if passes() {
            -alike * theirs.queued()
        } else {
            return 0.0;
        };
        most(forwards / squared.sqrt()) * strength
    };
    (0..seen.count()).map(of).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_be_held_up_takes_as_long_in_steps_of_any_length() {
        for dt in [1e-4, 1e-2, 0.1] {
            let steps = (2.0 / dt) as usize;
            let waited = (0..steps).fold(0.0, |waited, _| towards(waited, 1.0, dt / 5.0));
            assert!((waited - 0.33).abs() < 0.01, "{waited} after 2 s in steps of {dt} s");
            let forgets = (0..40 * steps).fold(waited, |waited, _| towards(waited, 0.0, dt / 5.0));
            assert_eq!(forgets, 0.0);
        }
    }
}
