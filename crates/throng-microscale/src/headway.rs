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

use crate::around::{Around, Ego, MAX_OTHERS};
use crate::stage::Scene;
use crate::together::{Together, load, load_both, load_rank};
use fearless_simd::{Simd, f32x16, mask32x16, prelude::*};
use glam::Vec2;
use serde::{Deserialize, Serialize};
use throng_core::geom::{left, unit_or};
use throng_core::memory::{Change, Remembered, mix};
use throng_core::space::{LANES, Lane, Wall, lanes_below};
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
        /// For how long it waits in a queue before it looks for a way around, and how long it remembers to have been held up.
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
/// Added to the free way of every heading, m: where all are closed an agent presses straight on.
const PRESS: f32 = 0.1;
/// Cosines and sines of the headings that are tried, from 0 in steps of 10 degrees.
const HEADINGS: [(f32, f32); 10] = [
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

impl Headway {
    /// What an agent wants, where it wants to move at all; and updates what it remembers of being held up. One that gets on costs next
    /// to nothing here.
    #[inline(always)]
    pub(crate) fn want(
        &self,
        scene: Scene<'_>,
        around: &Around,
        ego: &mut Ego,
        held_up: &mut HeldUp,
    ) -> Option<Want> {
        let want = want(ego, around);
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
        let corner = if scene.planned { walks } else { around_corner(scene, around, ego, walks, before) };
        // Who walks around others at a corner gets on.
        let lag = lag(ego, walks.along, walks.speed).min(lag(ego, corner.along, walks.speed));
        held_up.waited = towards(before.waited, lag, ego.dt / self.trust);
        held_up.opposed = self.opposed(scene, around, ego, walks, before);
        if scene.planned {
            return want;
        }
        let aside = turn_aside(around, ego, corner, *held_up);
        if aside.along != walks.along {
            ego.preferred = aside.along * aside.speed;
        }
        Some(aside)
    }

    #[inline(never)]
    fn opposed(&self, scene: Scene<'_>, around: &Around, ego: &Ego, want: Want, before: HeldUp) -> f32 {
        let room = room_to_turn(around, ego, want.along, before.opposed);
        let heading = turned(want.along, before.opposed * room);
        let is_held = before.queued() > 0.0 && lag(ego, heading, want.speed) > before.opposed;
        let opposed = if is_held { opposition(scene, around, ego, want) } else { 0.0 };
        let time = if opposed > before.opposed { self.memory } else { CALM };
        towards(before.opposed, opposed, ego.dt / time)
    }

    /// What an agent asks its model for.
    #[inline(always)]
    pub(crate) fn ask(&self, scene: Scene<'_>, ego: &Ego, around: &Around, want: Option<Want>) -> Ask {
        if !self.on || around.others.len == 0 {
            return Ask::For(ego.preferred);
        }
        // Scripted bodies give way to none: them the model avoids.
        let takes = |velocity: Vec2| match has_movers(scene, around) {
            true => Ask::For(velocity),
            false => Ask::Nothing(velocity),
        };
        let status = scene.view.agents.status[ego.row];
        if status == Status::Waiting {
            return takes(Vec2::ZERO);
        }
        if status == Status::Arrived
            && let Some(aside) = self.step_aside(scene, ego.position, around)
        {
            return takes(aside * scene.view.agents.preferred_speed[ego.row]);
        }
        match want {
            Some(want) if !scene.planned && !has_movers(scene, around) => Ask::Opinion(want),
            _ => Ask::For(ego.preferred),
        }
    }

    /// What is made of an opinion: nothing else where no queue and no jam is in its way. An agent that has stood for long no longer
    /// trusts its model either.
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
        let lost = (1.0 - 2.0 * chosen.dot(want.along) / want.speed).min(1.0);
        let way = chosen + (want.along * want.speed - chosen) * lost.max(0.0);
        let closed = self.closed(simd, around, way);
        let doubted = lost * (1.0 - held_up.trust());
        if closed == 0 && doubted <= 0.0 {
            return chosen;
        }
        let doubted =
            if doubted > 0.0 && self.has_far_to_go(scene, ego, want, held_up) { doubted } else { 0.0 };
        let part = doubted.max(self.jam(scene, around, ego, way, held_up, closed));
        if part <= 0.0 {
            return chosen;
        }
        chosen + (self.dense_velocity(simd, scene, ego, around, want, held_up) - chosen) * part
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
        let (x, y, speed) = (splat(velocity.x), splat(velocity.y), splat(velocity.length()));
        let ways =
            Ways { x, y, speed, time: splat(self.time_gap), breadth: splat(self.breadth), none: splat(0.0) };
        let mut bits = 0;
        for block in (0..others.len).step_by(LANES) {
            let load = |column: &[f32]| f32x16::from_slice(simd, &column[block..block + LANES]);
            let [dx, dy] = [load(&others.dx), load(&others.dy)];
            let closed = ways.closes([dx, dy, load(&others.vx), load(&others.vy), load(&others.reach)]);
            bits |= u128::from(closed.to_bitmask() & lanes_below(others.len - block)) << block;
        }
        bits
    }

    /// How much an agent is in a queue or in a jam with those of the others that close its way: behind one that goes the same way and
    /// is held up, or holds it up, or kept by one that is held up as well. One that has arrived is kept from its goal by others that
    /// have.
    #[inline(never)]
    fn jam(
        &self,
        scene: Scene<'_>,
        around: &Around,
        ego: &Ego,
        way: Vec2,
        held_up: HeldUp,
        mut closed: u128,
    ) -> f32 {
        let (others, agents) = (&around.others, scene.view.agents);
        let (queued, trust) = (held_up.queued(), held_up.trust());
        let has_arrived = agents.status[ego.row] == Status::Arrived;
        let speed = way.length().max(1e-6);
        let way = Want { along: way / speed, speed };
        let mut most = 0.0f32;
        while closed != 0 {
            let i = closed.trailing_zeros() as usize;
            closed &= closed - 1;
            let row = others.row[i] as usize;
            let Some(&slot) = agents.slot.get(row) else { continue };
            let part = if has_arrived {
                f32::from(agents.status[row] == Status::Arrived)
            } else {
                let theirs = scene.memory.get(slot).queued();
                let (wish, velocity) = (wish(scene, others.row[i]), others.velocity(i));
                let late = 1.0 - velocity.dot(wish) / wish.length_squared().max(1e-6);
                let late = ((late - TOLERANCE) / (1.0 - TOLERANCE)).clamp(0.0, 1.0);
                // Its own loss counts as far as the one that it follows explains it.
                let slower = 1.0 - velocity.dot(way.along) / speed;
                let mine = queued * (slower / held_up.waited.max(BRIEF)).clamp(0.0, 1.0);
                let same_way = (wish.normalize_or_zero().dot(way.along) - SAME_WAY) / (1.0 - SAME_WAY);
                let goes_on = 1.0 + velocity.dot(way.along) / (TOLERANCE * speed);
                let follows = same_way.max(0.0) * goes_on.clamp(0.0, 1.0);
                (follows * theirs.max(late).max(mine)).max(queued.min(theirs))
            };
            if part > most {
                let gap = self.other(scene, around, i, way, trust).gap(around, i, way);
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
        around: &Around,
        want: Want,
        held_up: HeldUp,
    ) -> Vec2 {
        let has_arrived = scene.view.agents.status[ego.row] == Status::Arrived;
        if has_arrived && (scene.view.goal(ego.row) - ego.position).dot(ego.preferred) >= 0.0 {
            return Vec2::ZERO;
        }
        self.press_on(simd, scene, ego, around, want, held_up)
    }

    /// Out of the way of the nearest agent that wants to pass where this one has arrived, by how long that waits already.
    #[inline(never)]
    fn step_aside(&self, scene: Scene<'_>, position: Vec2, around: &Around) -> Option<Vec2> {
        let others = &around.others;
        (0..others.len).find_map(|i| {
            let row = others.row[i] as usize;
            let held_up = scene.memory.get(*scene.view.agents.slot.get(row)?);
            // Of those who want where it stands, or by their plan just there, one that waits for a moment is enough.
            let goal = || scene.view.goal(row) + scene.view.seam(position, row);
            let is_on_goal = || goal().distance(position) < others.reach[i];
            let hurry = match scene.planned || is_on_goal() {
                true => (HURRY * held_up.waited).min(1.0),
                false => held_up.queued(),
            };
            if hurry <= 0.0 {
                return None;
            }
            let (wish, from_them) = (wish(scene, others.row[i]), -others.towards(i));
            let stands =
                scene.planned && wish == Vec2::ZERO && scene.view.agents.status[row] == Status::Walking;
            // A plan that stands is one for which there is no room yet: its way tells where to.
            let wish = if stands { scene.intents.aim[row] - scene.view.position(row) } else { wish };
            let speed = wish.length().min(scene.view.agents.max_speed[row]);
            let forwards = wish.normalize_or_zero();
            let is_late = others.velocity(i).dot(forwards) < (1.0 - TOLERANCE) * speed;
            let reached = is_late && gap(from_them, others.reach[i], forwards) <= speed * self.time_gap;
            let aside = from_them - from_them.dot(forwards) * forwards;
            (speed > 1e-3 && reached).then(|| unit_or(aside, -left(forwards)) * hurry)
        })
    }

    /// The heading with the most progress before a body is met, as fast as the bodies along it allow.
    #[inline(always)]
    fn press_on<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        ego: &Ego,
        around: &Around,
        want: Want,
        held_up: HeldUp,
    ) -> Vec2 {
        simd.vectorize(
            #[inline(always)]
            || {
                let expected = self.expect(scene, ego, around, want, held_up);
                let mut best = (f32::NEG_INFINITY, want.along);
                for (i, &(cos, sin)) in HEADINGS.iter().enumerate() {
                    if best.0 >= (expected.sight + PRESS) * cos {
                        break;
                    }
                    // Right first: of two headings alike it is taken.
                    for sin in [-sin, sin].into_iter().take(1 + usize::from(i > 0)) {
                        let along = Vec2::new(cos, sin).rotate(want.along);
                        let free = expected.free_way(simd, ego, around, Want { along, ..want });
                        let turn = (along * want.speed - ego.velocity).length();
                        let progress = (free + PRESS) * cos - self.turning * turn;
                        if progress > best.0 + 1e-4 {
                            best = (progress, along);
                        }
                    }
                }
                let want = Want { along: best.1, ..want };
                want.along * want.speed.min(expected.allowed_speed(around, want, self.time_gap))
            },
        )
    }

    /// What the agent expects of others.
    #[inline(always)]
    fn expect(&self, scene: Scene<'_>, ego: &Ego, around: &Around, want: Want, held_up: HeldUp) -> Expected {
        let others = &around.others;
        let trust = held_up.trust();
        let furthest = (0..others.len).map(|i| others.towards(i).length_squared()).fold(0.0, f32::max);
        let mut expected = Expected {
            vx: [0.0; MAX_OTHERS],
            vy: [0.0; MAX_OTHERS],
            squeeze: [0.0; MAX_OTHERS],
            narrow: [1.0; MAX_OTHERS],
            alike: [0.0; MAX_OTHERS],
            sight: furthest.sqrt() + ego.radius,
        };
        for i in 0..others.len {
            let other = self.other(scene, around, i, want, trust);
            (expected.vx[i], expected.vy[i]) = other.velocity.into();
            (expected.narrow[i], expected.alike[i]) = (other.narrow, other.alike);
            let (towards, wish) = (others.towards(i), other.wish);
            let goes_first = want.along.dot(towards) < -wish.dot(towards);
            let presses = self.squeeze * 0.5 * (1.0 - wish.dot(want.along));
            expected.squeeze[i] = if goes_first { f32::INFINITY } else { presses };
        }
        expected
    }

    /// What the agent expects of one of the others.
    #[inline(always)]
    fn other(&self, scene: Scene<'_>, around: &Around, i: usize, want: Want, trust: f32) -> Other {
        let (wish, velocity) = (wish(scene, around.others.row[i]), around.others.velocity(i));
        let direction = wish.normalize_or_zero();
        let alike = direction.dot(want.along).max(0.0);
        Other {
            wish: direction,
            velocity: velocity + (wish - velocity) * (alike * trust),
            narrow: 1.0 / (SHOULDER + (self.breadth - SHOULDER) * alike),
            alike,
        }
    }
}

/// What agents want that choose together and whom nothing has held up, a lane an agent.
pub(crate) struct Wants<S: Simd> {
    along: [f32x16<S>; 2],
    speed: f32x16<S>,
    /// What each will remember to have lost.
    waited: f32x16<S>,
    /// By bits: the lanes that want to move.
    moving: u64,
}

/// Sixteen agents at once, among others and no walls: each lane does what one agent does above, and has the same bits.
impl Headway {
    /// Whether an agent has only to see whether it is held up from now on.
    #[inline(always)]
    pub(crate) fn is_free(&self, scene: Scene<'_>, row: usize, before: HeldUp) -> bool {
        let walks = || scene.view.agents.status[row] == Status::Walking;
        !self.on || walks() && before.queued() <= 0.0 && before.opposed <= 0.0
    }

    /// What agents want, as [`Headway::want`].
    #[inline(always)]
    pub(crate) fn want_together<S: Simd>(
        &self,
        simd: S,
        together: &Together,
        before: &Lane<f32>,
    ) -> Wants<S> {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (one, none) = (splat(1.0), splat(0.0));
        let ([x, y], [vx, vy]) = (load_both(simd, &together.preferred), load_both(simd, &together.velocity));
        let length = (x * x + y * y).sqrt();
        let (along, speed) = ([x / length, y / length], length.min(load(simd, &together.max_speed)));
        let lag = (one - (vx * along[0] + vy * along[1]) / speed).min(one);
        let lag = lag * (splat(2.0) * lag / splat(TOLERANCE) - one).max(none).min(one);
        let before = load(simd, before);
        let next = before + (lag - before) * splat((together.dt / self.trust).min(1.0));
        let forgets = next.simd_lt(before) & next.simd_lt(splat(FORGOTTEN));
        let moving = speed.simd_gt(splat(1e-3)).to_bitmask();
        Wants { along, speed, waited: forgets.select(none, next), moving }
    }

    /// By bits, the lanes in which a model's choice stands, as in [`Headway::weigh`]. Writes what they remember.
    #[inline(always)]
    pub(crate) fn agree_together<S: Simd>(
        &self,
        simd: S,
        together: &Together,
        wants: &Wants<S>,
        waited: &mut Lane<f32>,
    ) -> u64 {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (one, none) = (splat(1.0), splat(0.0));
        let ([x, y], [along_x, along_y]) = (load_both(simd, &together.chosen), wants.along);
        let made = splat(2.0) * (x * along_x + y * along_y) / wants.speed;
        let lost = (one - made).min(one);
        let part = lost.max(none);
        let way = [x + (along_x * wants.speed - x) * part, y + (along_y * wants.speed - y) * part];
        let trust = (splat(2.0) * (one - wants.waited)).min(one);
        let doubted = (lost * (one - trust)).simd_gt(none);
        let closed = self.closed_together(simd, together, way);
        wants.waited.store_slice(waited);
        wants.moving & !(closed | doubted.to_bitmask())
    }

    /// By bits, the lanes whose way any body closes, as in [`Headway::closed`].
    #[inline(always)]
    fn closed_together<S: Simd>(&self, simd: S, together: &Together, [x, y]: [f32x16<S>; 2]) -> u64 {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (time, breadth, none) = (splat(self.time_gap), splat(self.breadth), splat(0.0));
        let speed = (x * x + y * y).sqrt();
        let mut closed = 0;
        for rank in 0..together.deepest {
            let ways = Ways { x, y, speed, time, breadth, none };
            let ([dx, dy], [vx, vy]) =
                (load_rank(simd, &together.towards, rank), load_rank(simd, &together.other_velocity, rank));
            let closes = ways.closes([dx, dy, vx, vy, load(simd, &together.reach[rank])]);
            closed |= (closes & together.see(simd, rank)).to_bitmask();
        }
        closed
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

/// What an agent expects of others, one column per property, in the order of [`Others`](crate::Others).
struct Expected {
    /// The velocity that it will have, m/s.
    vx: [f32; MAX_OTHERS],
    /// The same.
    vy: [f32; MAX_OTHERS],
    /// The speed at which it is pressed past, m/s.
    squeeze: [f32; MAX_OTHERS],
    /// What distances aside from it are multiplied by: it is broader than deep.
    narrow: [f32; MAX_OTHERS],
    /// How much it wants what the agent wants: 1 the same, 0 across or against.
    alike: [f32; MAX_OTHERS],
    /// How far away the furthest of them is, m: nothing is known beyond.
    sight: f32,
}

/// What an agent expects of one other.
struct Other {
    /// The direction in which it would like to go; none where it stands because it wants to.
    wish: Vec2,
    velocity: Vec2,
    narrow: f32,
    alike: f32,
}

impl Expected {
    /// How far an agent gets along a heading before it meets a body or a wall, m.
    #[inline(always)]
    fn free_way<S: Simd>(&self, simd: S, ego: &Ego, around: &Around, want: Want) -> f32 {
        let others = &around.others;
        let splat = |value: f32| f32x16::splat(simd, value);
        let velocity = want.along * want.speed;
        let mut soonest = f32::INFINITY;
        for block in (0..others.len).step_by(LANES) {
            let load = |column: &[f32]| f32x16::from_slice(simd, &column[block..block + LANES]);
            let (dx, dy, reach) = (load(&others.dx), load(&others.dy), load(&others.reach));
            let (vx, vy) = (splat(velocity.x) - load(&self.vx), splat(velocity.y) - load(&self.vy));
            let (x, y, narrow) = (splat(want.along.x), splat(want.along.y), load(&self.narrow));
            let (dx, dy) = (dx * x + dy * y, (dy * x - dx * y) * narrow);
            let (vx, vy) = (vx * x + vy * y, (vy * x - vx * y) * narrow);
            let (closing, apart) = (dx * vx + dy * vy, dx * dx + dy * dy - reach * reach);
            let (speed, none) = (vx * vx + vy * vy, splat(0.0));
            let hit = closing * closing - speed * apart;
            let time = (closing - hit.max(none).sqrt()) / speed;
            let meets = closing.simd_gt(none) & (hit.simd_gt(none) | apart.simd_le(none));
            let time = meets.select(apart.simd_gt(none).select(time, none), splat(f32::INFINITY));
            let mut times = [0.0; LANES];
            time.store_slice(&mut times);
            // Lanes beyond the last one hold what was there before.
            soonest = times[..LANES.min(others.len - block)].iter().copied().fold(soonest, f32::min);
        }
        let walls = around.walls.iter().map(|wall| to_wall(wall, ego, want.along));
        walls.fold((soonest * want.speed).min(self.sight), f32::min)
    }

    /// The speed that bodies along a heading allow, m/s.
    #[inline(always)]
    fn allowed_speed(&self, around: &Around, want: Want, time_gap: f32) -> f32 {
        let allowed = |i: usize| (self.of(i).gap(around, i, want) / time_gap).max(self.squeeze[i]);
        (0..around.others.len).map(allowed).fold(f32::INFINITY, f32::min)
    }

    #[inline(always)]
    fn of(&self, i: usize) -> Other {
        let velocity = Vec2::new(self.vx[i], self.vy[i]);
        Other { wish: Vec2::ZERO, velocity, narrow: self.narrow[i], alike: self.alike[i] }
    }
}

impl Other {
    /// How far an agent can go along a heading before it touches this one, which leaves the way, or comes into it, meanwhile. How
    /// fast that goes along the heading does not count: one ahead is followed at the distance that there is now. Behind one that
    /// goes the same way shoulders do not interlock: its whole breadth is as deep as its middle.
    #[inline(always)]
    fn gap(&self, around: &Around, i: usize, want: Want) -> f32 {
        let (others, sideways) = (&around.others, left(want.along));
        let (towards, reach) = (others.towards(i), others.reach[i]);
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

/// What an agent wants, where it wants to move at all: of a way into a wall that it touches what the wall leaves.
#[inline(always)]
fn want(ego: &Ego, around: &Around) -> Option<Want> {
    let wish = if around.walls.is_empty() { ego.preferred } else { along_walls(ego, around) };
    let length = wish.length();
    // A caller may want more than legs can do, which does not hold an agent up.
    let speed = length.min(ego.max_speed);
    (speed > 1e-3).then(|| Want { along: wish / length, speed })
}

#[inline(never)]
fn along_walls(ego: &Ego, around: &Around) -> Vec2 {
    around.walls.iter().fold(ego.preferred, |wish, wall| {
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

/// The velocity that an agent would like to have; none of one that waits or has arrived, or of a scripted body.
#[inline(always)]
fn wish(scene: Scene<'_>, row: u32) -> Vec2 {
    match scene.view.agents.status.get(row as usize) {
        // As fast as legs can, whatever a caller wants.
        Some(Status::Walking) => {
            let most = scene.view.agents.max_speed[row as usize];
            scene.intents.velocity(row as usize).clamp_length_max(most)
        }
        _ => Vec2::ZERO,
    }
}

fn has_movers(scene: Scene<'_>, around: &Around) -> bool {
    let others = &around.others;
    others.len > 0 && others.row[others.len - 1] as usize >= scene.view.agents.len()
}

/// What an agent wants that is opposed: to turn from those who want past it.
#[inline(never)]
fn turn_aside(around: &Around, ego: &Ego, want: Want, HeldUp { opposed, .. }: HeldUp) -> Want {
    if opposed <= TOLERANCE {
        return want;
    }
    Want { along: turned(want.along, opposed * room_to_turn(around, ego, want.along, opposed)), ..want }
}

/// What an agent in a queue around a corner wants: not all fit through at the corner itself, so it aims as much further out as it is
/// away from it, but not beyond the middle of a passage.
#[inline(never)]
fn around_corner(scene: Scene<'_>, around: &Around, ego: &Ego, want: Want, held_up: HeldUp) -> Want {
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
    let queued = held_up.queued().min(queue_ahead(scene, around, want));
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
fn queue_ahead(scene: Scene<'_>, around: &Around, want: Want) -> f32 {
    let others = &around.others;
    let of = |i: usize| {
        let row = others.row[i];
        let goes_ahead = others.towards(i).dot(want.along) > 0.0 && wish(scene, row).dot(want.along) > 0.0;
        let slot = scene.view.agents.slot.get(row as usize).filter(|_| goes_ahead);
        slot.map_or(0.0, |&slot| scene.memory.get(slot).queued())
    };
    (0..others.len).map(of).fold(0.0, f32::max)
}

/// How much of a turn walls leave room for: none where one is reached at once, all where none is within sight.
fn room_to_turn(around: &Around, ego: &Ego, along: Vec2, opposed: f32) -> f32 {
    let heading = turned(along, opposed);
    let way = around.walls.iter().map(|wall| to_wall(wall, ego, heading)).fold(f32::INFINITY, f32::min);
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
fn opposition(scene: Scene<'_>, around: &Around, ego: &Ego, want: Want) -> f32 {
    let others = &around.others;
    let aim = |row: usize| scene.intents.aim[row] - ego.position;
    let most = |part: f32| (2.0 * part).clamp(0.0, 1.0);
    let of = |i: usize| {
        let (row, towards) = (others.row[i], others.towards(i));
        let forwards = towards.dot(want.along);
        let Some(&slot) = scene.view.agents.slot.get(row as usize).filter(|_| forwards > 0.0) else {
            return 0.0;
        };
        let (wish, squared, theirs) = (wish(scene, row), towards.length_squared(), scene.memory.get(slot));
        let alike = wish.normalize_or_zero().dot(want.along);
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
    (0..others.len).map(of).fold(0.0, f32::max)
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
