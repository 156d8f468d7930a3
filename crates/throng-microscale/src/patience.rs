//! # Patience: what an agent does when it is held up
//! Beyond the papers. VO, RVO, HRVO and ORCA see only velocities, and a standing crowd has none: exact symmetry, a
//! jam in the middle of a circle, two people in one doorway stand for ever. Here an agent notices that it does not get
//! what it wants and changes what it wants:
//!
//! - In the open it turns to the right, the more the longer it is held up. All turn the same way, so two who meet
//!   pass each other, and a jam becomes a roundabout that empties itself. Progress is measured along the turned
//!   velocity: an agent that walks round freely calms down, so none circles for ever (measured along the preferred
//!   velocity, a turn of a quarter circle never ends).
//! - In a queue beside walls all want the same, and none turns: a turn leads along the wall and away from the door
//!   (through one of a metre went half as many).
//! - Between walls there is nowhere to turn. Then of two who face each other the one with the higher id backs off and
//!   steps aside, and the other waits for that instead of turning into a wall.
//! - An agent that has arrived steps aside for one who is held up and wants to pass, and then goes back to its goal. The other
//!   does not turn meanwhile but goes on, and neither looks far ahead: with a long horizon none comes close enough for
//!   the one who stands to make way (four blocks of 500 who change places never do; like this in ten minutes).
//!
//! A crowd that is not held up is not changed in a bit: below `tolerance` nothing happens, which keeps ORCA equal to
//! RVO2 in a sparse crowd.
//!
//! Weighed and left: turning towards the emptier side (neighbours disagree and block one another), random detours
//! (slower, and the paper's tables need many seeds), no turn but a time limit for yielding (the middle still jams).

use crate::around::{Around, Ego, Reach};
use crate::stage::Scene;
use crate::velocity_obstacle::{closest, wall_planes};
use fearless_simd::{Simd, f32x16, prelude::*};
use glam::Vec2;
use throng_core::geom::{det, left, unit_or};
use throng_core::handover::Intents;
use throng_core::space::{LANES, lanes_below};
use throng_core::world::{Status, View};

throng_core::params! {
    /// What agents do when they are held up: turn right in the open, back off between walls.
    pub struct Patience("patience") {
        /// Whether being held up changes anything. The papers have nothing like it.
        on: bool = true, "", Limit::from(0.0);
        /// How long it takes to lose patience in a crowd or in a narrow place.
        memory: f32 = 0.5, "s", Limit::above(0.0).up_to(1000.0);
        /// The same where there is room: most encounters resolve without.
        composure: f32 = 40.0, "s", Limit::above(0.0).up_to(1000.0);
        /// How long it takes to calm down.
        forget: f32 = 5.0, "s", Limit::above(0.0).up_to(1000.0);
        /// The part of the wanted speed that may be missing before anything happens.
        tolerance: f32 = 0.1, "", Limit::from(0.0).up_to(0.99);
        /// How far an agent turns that is held up for good.
        max_turn: f32 = 1.57, "rad", Limit::from(0.0).up_to(3.1);
        /// How far ahead collisions count with an agent that has arrived and is in the way.
        arrived_horizon: f32 = 0.25, "s", Limit::above(0.0).up_to(1000.0);
    }
}

/// Backing off begins at this frustration.
pub(crate) const YIELD: f32 = 0.3;
/// Two who pass side by side need this many sums of radii on each side of the middle between them.
const BESIDE: f32 = 1.02;
/// Another agent within this many sums of radii is met in a narrow place, not only seen.
const CLOSE: f32 = 4.0;

/// Fewer others than this within [`CROWD_REACH`] sums of radii are no crowd.
const CROWD: u32 = 4;
/// How close others must be to count for a crowd, in sums of radii.
const CROWD_REACH: f32 = 2.0;
/// Another agent within this many sums of radii is met, where it wants something else.
const MET: f32 = 3.0;
/// Something else: the cosine of both wishes is below this.
const ACROSS: f32 = 0.25;
/// The same: it is above this.
const SAME: f32 = 0.5;
/// Two within this many sums of radii press against one another, if the cosine of their wishes is below the other.
const PRESSED: f32 = 1.6;
const OPPOSITE: f32 = -0.7;
/// An agent that has arrived keeps this many sums of radii from the way of one who is held up.
const MAKE_ROOM: f32 = 1.1;
/// And looks for such a one within this many of them.
const MAKE_ROOM_AHEAD: f32 = 2.0;
/// How long before its goal an agent turns less, s.
const APPROACH: f32 = 2.0;

/// Who has to make way.
enum RightOfWay {
    /// There is room to pass.
    Open,
    /// The place is narrow, and the other has to.
    Mine,
    /// The place is narrow, and it is the other's, who wants to go along this unit vector.
    Theirs(Vec2),
}

impl Patience {
    /// The least part of a collision's time that counts where one has arrived and one is held up, 1/s.
    #[inline(always)]
    pub(crate) fn arrived_rate(&self) -> f32 {
        if self.on { 1.0 / self.arrived_horizon } else { 0.0 }
    }

    /// Turns what the agent wants by how much it has been held up. Returns what it will remember.
    #[inline(always)]
    pub(crate) fn turn<S: Simd>(
        &self,
        simd: S,
        scene: Scene<'_>,
        around: &mut Around,
        ego: &mut Ego,
        reach: &Reach,
        frustration: f32,
    ) -> f32 {
        let view = scene.view;
        if !self.on {
            return 0.0;
        }
        if view.agents.status[ego.row] == Status::Arrived
            && let Some(aside) = step_aside(scene, around)
        {
            ego.preferred = aside * view.agents.preferred_speed[ego.row];
            return 0.0;
        }
        if view.agents.status[ego.row] == Status::Waiting {
            return frustration;
        }
        // What nearly every agent does nearly always must cost nearly nothing: no root, no division.
        let wanted = ego.preferred.length_squared();
        if frustration <= self.tolerance
            && wanted - ego.velocity.dot(ego.preferred) <= self.tolerance * wanted
        {
            return self.calm(frustration, ego.dt);
        }
        self.turn_held_up(simd, scene, around, ego, reach, frustration)
    }

    fn turn_held_up<S: Simd>(
        &self,
        simd: S,
        Scene { view, intents, .. }: Scene<'_>,
        around: &mut Around,
        ego: &mut Ego,
        reach: &Reach,
        frustration: f32,
    ) -> f32 {
        let way = right_of_way(view, intents, around, ego);
        let tried = self.turned(view, ego, frustration);
        let lag = match way {
            RightOfWay::Open if around.walls.is_empty() => lag(ego, tried),
            RightOfWay::Open => lag_beside_walls(simd, around, ego, reach, tried),
            // In a narrow place neither has turned, and it is not the walls that one of two waits for.
            RightOfWay::Mine | RightOfWay::Theirs(_) => lag(ego, ego.preferred),
        };
        let next = if lag <= self.tolerance.max(frustration) {
            self.calm(frustration, ego.dt)
        } else {
            let crowded = !matches!(way, RightOfWay::Open) || is_crowded(simd, around);
            let pace = if crowded { self.memory } else { self.composure };
            frustration + (lag - frustration) * (ego.dt / pace).min(1.0)
        };
        match way {
            RightOfWay::Open if is_behind_arrived(view, around, ego) => return next,
            // In a queue all want the same, and a turn leads only along the wall.
            RightOfWay::Open if queues(view, intents, around, ego) => {
                return self.calm(frustration, ego.dt).max(next.min(self.tolerance));
            }
            RightOfWay::Open => {
                ego.preferred = self.turned(view, ego, next);
                return next;
            }
            RightOfWay::Theirs(forwards) if next >= YIELD => {
                // Along with the other, and aside as soon as the walls allow.
                let aside = Vec2::from_angle(-std::f32::consts::FRAC_PI_4);
                ego.preferred = aside.rotate(forwards) * ego.preferred.length();
            }
            RightOfWay::Mine | RightOfWay::Theirs(_) => {}
        }
        // An agent that waits at a door has not tried to turn, and is not to turn once the door is free.
        next.min(YIELD)
    }

    #[inline(always)]
    fn calm(&self, frustration: f32, dt: f32) -> f32 {
        frustration - frustration * (dt / self.forget).min(1.0)
    }

    /// What the agent wants, turned to the right.
    #[inline(always)]
    fn turned(&self, view: View<'_>, ego: &Ego, frustration: f32) -> Vec2 {
        if frustration <= self.tolerance {
            return ego.preferred;
        }
        let most = self.max_turn * from_goal(view, ego);
        let angle = -most * (frustration - self.tolerance) / (1.0 - self.tolerance);
        Vec2::from_angle(angle).rotate(ego.preferred)
    }
}

/// Whether the agent is one of several beside walls who want the same, and none wants to come past.
fn queues(view: View<'_>, intents: &Intents, around: &Around, ego: &Ego) -> bool {
    let others = &around.others;
    let wants_the_same = |i: usize| {
        let (row, close) = (others.row[i] as usize, MET * others.reach[i]);
        row < view.agents.len()
            && others.towards(i).length_squared() < close * close
            && cosine(ego.preferred, Vec2::new(intents.vx[row], intents.vy[row])) > SAME
    };
    !around.walls.is_empty() && (0..others.len).any(wants_the_same) && !is_met(view, intents, around, ego)
}

fn cosine(a: Vec2, b: Vec2) -> f32 {
    a.dot(b) / (a.length() * b.length()).max(1e-9)
}

/// Whether another agent close ahead wants something else, past the agent. At a door many come from both sides to the same place
/// between them, which is a queue, unless two of them wedge one another in.
fn is_met(view: View<'_>, intents: &Intents, around: &Around, ego: &Ego) -> bool {
    let others = &around.others;
    (0..others.len).any(|i| {
        let (row, towards) = (others.row[i] as usize, others.towards(i));
        let distance = towards.length();
        if distance > MET * others.reach[i] || towards.dot(ego.preferred) <= 0.0 {
            return false;
        }
        if row >= view.agents.len() {
            return true;
        }
        let theirs = Vec2::new(intents.vx[row], intents.vy[row]);
        let cosine = cosine(ego.preferred, theirs);
        let passes = |row: usize, from: Vec2, to_other: Vec2| {
            (intents.aim[row] + view.seam(ego.position, row) - from).dot(to_other) > distance * distance
        };
        let past = || passes(ego.row, ego.position, towards) && passes(row, ego.position + towards, -towards);
        distance < PRESSED * others.reach[i] && cosine < OPPOSITE || cosine < ACROSS && past()
    })
}

/// Whether so many others are close that waiting is not likely to help.
fn is_crowded<S: Simd>(simd: S, around: &Around) -> bool {
    let others = &around.others;
    let mut close = 0;
    for block in (0..others.len).step_by(LANES) {
        let load = |column: &[f32]| f32x16::from_slice(simd, &column[block..block + LANES]);
        let (dx, dy) = (load(&others.dx), load(&others.dy));
        let reach = load(&others.reach) * f32x16::splat(simd, CROWD_REACH);
        let is_close = (dx * dx + dy * dy).simd_lt(reach * reach).to_bitmask();
        close += (is_close & lanes_below(others.len - block)).count_ones();
    }
    close >= CROWD
}

/// The unit vector out of the way of the nearest one who is held up and wants to pass here.
fn step_aside(scene: Scene<'_>, around: &Around) -> Option<Vec2> {
    let (agents, intents, others) = (scene.view.agents, scene.intents, &around.others);
    (0..others.len).find_map(|i| {
        let (row, reach) = (others.row[i] as usize, others.reach[i]);
        if row >= agents.len() || scene.frustration(row) < YIELD || agents.status[row] != Status::Walking {
            return None;
        }
        let forwards = Vec2::new(intents.vx[row], intents.vy[row]).normalize_or_zero();
        let aside = in_the_way(-others.towards(i), forwards, reach)?;
        Some(unit_or(aside, -left(forwards)))
    })
}

/// Whether another that has arrived, and will step aside, is in the agent's way.
fn is_behind_arrived(view: View<'_>, around: &Around, ego: &Ego) -> bool {
    let (agents, others) = (view.agents, &around.others);
    let forwards = ego.preferred.normalize_or_zero();
    (0..others.len).any(|i| {
        let row = others.row[i] as usize;
        row < agents.len()
            && agents.status[row] == Status::Arrived
            && in_the_way(others.towards(i), forwards, others.reach[i]).is_some()
    })
}

/// How far aside of the way of an agent that walks forwards a place is, where it is in the way.
fn in_the_way(from_them: Vec2, forwards: Vec2, reach: f32) -> Option<Vec2> {
    let ahead = from_them.dot(forwards);
    let aside = from_them - ahead * forwards;
    (ahead > 0.0 && ahead < MAKE_ROOM_AHEAD * reach && aside.length() < MAKE_ROOM * reach).then_some(aside)
}

/// 1 far from the goal, less within the last [`APPROACH`] seconds: an agent that turns there circles around it.
#[inline(always)]
fn from_goal(view: View<'_>, ego: &Ego) -> f32 {
    let agents = view.agents;
    if view.bound(ego.row).area.is_some() {
        return 1.0;
    }
    let goal = Vec2::new(agents.goal_x[ego.row], agents.goal_y[ego.row]);
    (goal.distance(ego.position) / (APPROACH * agents.preferred_speed[ego.row]).max(1e-3)).min(1.0)
}

/// The part of the preferred speed that is missing along a velocity.
#[inline(always)]
fn lag(ego: &Ego, along: Vec2) -> f32 {
    let (wanted, preferred) = (along.length(), ego.preferred.length());
    // Who wants to stand is not held up, though walls may ask it to move.
    if wanted.min(preferred) > 1e-3 {
        ((wanted - ego.velocity.dot(along) / wanted) / preferred).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// The same along what walls leave of a velocity: who is held up by a wall has a question for the planner, and turning
/// is no answer to it.
fn lag_beside_walls<S: Simd>(simd: S, around: &mut Around, ego: &Ego, reach: &Reach, tried: Vec2) -> f32 {
    let Around { walls, planes, projected, .. } = around;
    planes.clear();
    // A model that knows of no walls looks no time ahead, and a cone cannot be cut off there.
    let horizon = if reach.walls_ahead > 0.0 { reach.walls_ahead } else { ego.dt };
    wall_planes(ego, walls, horizon, planes);
    lag(ego, closest(simd, planes, projected, tried, ego.max_speed))
}

fn right_of_way(view: View<'_>, intents: &Intents, around: &Around, ego: &Ego) -> RightOfWay {
    let others = &around.others;
    let mut way = RightOfWay::Open;
    if around.walls.is_empty() {
        return way;
    }
    for i in 0..others.len {
        let (row, towards) = (others.row[i] as usize, others.towards(i));
        let ahead = towards.dot(ego.preferred) > 0.0;
        if row >= view.agents.len() || !ahead || !narrow(around, ego, towards, others.reach[i]) {
            continue;
        }
        let theirs = Vec2::new(intents.vx[row], intents.vy[row]);
        if ego.preferred.dot(theirs) > -0.25 * ego.preferred.length() * theirs.length() {
            continue;
        }
        if view.agents.id[row] < view.agents.id[ego.row] {
            return RightOfWay::Theirs(theirs.normalize_or_zero());
        }
        way = RightOfWay::Mine;
    }
    way
}

/// Whether two who meet half-way cannot pass there side by side, because there are walls on both sides.
fn narrow(around: &Around, ego: &Ego, towards: Vec2, reach: f32) -> bool {
    if towards.length_squared() > (CLOSE * reach).powi(2) {
        return false;
    }
    let middle = ego.position + 0.5 * towards;
    let (mut on_left, mut on_right) = (false, false);
    for wall in &around.walls {
        let to_wall = wall.closest(middle) - middle;
        if to_wall.length_squared() < (BESIDE * reach).powi(2) {
            let is_left = det(towards, to_wall) > 0.0;
            on_left |= is_left;
            on_right |= !is_left;
        }
    }
    on_left && on_right
}
