//! # Footstep domain Σ5 (Kapadia et al. 2013, section 7.4, after Singh et al. 2011)
//! A state is a body at an exchange of feet: its place and velocity, the foot that it stands on, and which foot swings. An
//! action chooses how long the step takes, the heading and the speed of the body at its end, and how the foot is turned; the
//! foot's place follows, because the body is an inverted pendulum over it ([`throng_core::geom::Pendulum`]). There are about 35 from each
//! state. Steps that legs cannot make, that need ground where there is none, or that lead a body into a wall or into
//! an agent's published path are none.
//!
//! An agent that stands has both feet down. It sets off by shifting its weight, and then the left foot goes first; it may also
//! wait. Plans end standing, or where one vanishes. To stand before the horizon without having arrived is dear, but always a
//! plan: a search that has no time left has one that leads as near to the goal as it could see.
//!
//! Costs are the energies of Σ4: a price for every second, one that grows with the square of the step's mean speed, and one for changes of
//! velocity; and a little for steps that are longer, shorter or more turned than usual. The heuristic is the least that a metre can
//! cost at any speed, times the metres that are left; it is consistent.
//!
//! What makes states comparable: velocities at exchanges come from a few speeds and sixteen headings, so what leads from one state to
//! another does not depend on where it is. Places are rounded to a lattice that is finer than anything that matters
//! ([`LATTICE`]); from how a state was reached follows where its feet are, so a state is 20 bytes and needs no place for feet. A plan is then
//! replayed without rounding ([`Footstepping::replay`]).

mod actions;
mod stride;
#[cfg(test)]
mod tests;

pub use stride::Stride;

use super::Placed;
use super::occupancy::{Occupancy, Passage};
use super::space_time::{APART, Clearance, Exceptions, direction, heading_of, turned};
use crate::search::Domain;
use actions::{Action, STANDING, Turn, WALKING};
use glam::{DVec2, IVec2};
use stride::{Came, Stand};
use throng_core::geom::Swing;
use throng_core::world::{Footprint, Footstep, Gait, Gaps, Legs, PERIODS, Side};

/// Between the lines that places are rounded to, m: after thirty steps one is 2 mm off at most.
pub const LATTICE: f64 = 1.0 / 8192.0;
/// Ground that there must be around a foot, m: more than what rounding does.
const AROUND_FOOT: f64 = 0.004;
/// Steps between standing and the preferred speed.
const SPEED_STEPS: f64 = 3.0;
/// No more speeds above zero.
const MOST_SPEEDS: u8 = 4;

/// What footsteps are planned in.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// What legs can do.
    pub legs: &'a Legs,
    /// Where there is no ground.
    pub gaps: &'a Gaps,
    /// Walls around bodies of the walker's radius.
    pub clearance: &'a Clearance,
    /// Where others will be.
    pub published: &'a Occupancy,
    /// Who plans: its own path is not in its way.
    pub own: Option<u32>,
    /// Who counts less than others.
    pub exceptions: Exceptions<'a>,
}

/// Who walks, how fast, and what that costs.
#[derive(Clone, Copy, Debug)]
pub struct Walker {
    /// The cheapest speed, m/s. Above 0.
    pub preferred: f64,
    /// m/s.
    pub max_speed: f64,
    /// A second of standing, J/kg.
    pub per_second: f64,
    /// A change of velocity by 1 m/s, J/kg.
    pub per_change_squared: f64,
    /// A step of the simulation, s: feet are exchanged at these.
    pub tick: f64,
}

/// Where a plan begins: at an exchange of feet.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// s.
    pub time: f64,
    /// m.
    pub at: DVec2,
    /// m/s.
    pub velocity: DVec2,
    /// Left and right, where they were last.
    pub feet: [Footprint; 2],
    /// The foot that one stands on; none where one stands on both.
    pub support: Option<Side>,
}

impl Start {
    /// An agent that stands.
    pub fn standing(time: f64, at: DVec2, gait: &Gait) -> Start {
        Start { time, at, velocity: DVec2::ZERO, feet: gait.feet, support: None }
    }
}

/// Where a plan must end.
#[derive(Clone, Copy)]
pub struct Errand<'a> {
    /// m.
    pub goal: DVec2,
    /// As near to it one has arrived, m.
    pub radius: f64,
    /// Whether one vanishes there, so that one need not stand.
    pub leaves: bool,
    /// An agent that stands elsewhere before this pays for it, s.
    pub horizon: f64,
    /// Until when one must be able to stand where a plan ends, s.
    pub rest_until: f64,
    /// How far it is to the goal's edge from a place, m: no more than it is on any way.
    pub left: &'a dyn Fn(DVec2) -> f64,
}

/// A plan is at most this many times as long as its horizon: a river that was begun must be crossed.
const BEYOND: f64 = 2.0;
/// At least so long one must be able to stand at the end of a plan, s.
const REST: f64 = 6.0;
/// Around an agent that stands on the way there is ground for this many of the longest steps.
const RUN_UP: f64 = 1.5;
/// A second that one stands at the end of a plan, before the horizon, costs this many times one of standing.
const IDLE: f64 = 3.0;
/// What is further than one gets within the horizon at this many times the preferred speed is as far for all plans.
const FURTHEST: f64 = 1.2;

/// The footstep domain of one agent.
pub struct Footstepping<'a> {
    surroundings: Surroundings<'a>,
    walker: Walker,
    start: Start,
    errand: Errand<'a>,
    /// By period: whole steps of the simulation.
    ticks: [u16; PERIODS.len()],
    swings: [Swing; PERIODS.len()],
    /// How much faster than on average one is at exchanges of feet, and how fast one sways there, m/s.
    exchange_ratio: f64,
    sway: f64,
    /// The fastest of the speeds.
    fastest: u8,
    /// Nearest to what the start has.
    heading: u8,
    speed: u8,
    per_metre: f64,
    /// What is left of the path for all agents, m.
    spare: f64,
}

/// A plan without rounding.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// One after another.
    pub steps: Vec<Footstep>,
    /// Where the body is at each step of the simulation, from the start on.
    pub path: Vec<(f64, DVec2)>,
}

/// What an action does to a body, wherever it is.
#[derive(Clone, Copy, Debug)]
struct Made {
    way: DVec2,
    /// From where the body is at the beginning.
    pivot: DVec2,
    velocity: DVec2,
    leaves: DVec2,
    heading: u8,
    speed: u8,
    period: usize,
    cost: f64,
}

impl<'a> Footstepping<'a> {
    /// For a plan that begins at an exchange of feet, where the lattice has its zero.
    pub fn new(
        surroundings: Surroundings<'a>,
        walker: Walker,
        start: Start,
        errand: Errand<'a>,
    ) -> Footstepping<'a> {
        let (pendulum, exchange_ratio) = (surroundings.legs.pendulum(), surroundings.legs.exchange_ratio());
        let times =
            PERIODS.map(|share| surroundings.legs.whole(surroundings.legs.period * share, walker.tick));
        let step = walker.preferred / SPEED_STEPS * exchange_ratio;
        let fastest = (walker.max_speed / step + 1e-9).floor().clamp(1.0, f64::from(MOST_SPEEDS)) as u8;
        // Feet say where one looks: a body sways.
        let both = (start.feet[0].along + start.feet[1].along).normalize_or(start.feet[0].along);
        let along = start.support.map_or(both, |side| start.feet[side as usize].along);
        let speed = (start.velocity.dot(along) / step).round().clamp(0.0, f64::from(fastest)) as u8;
        Footstepping {
            surroundings,
            walker,
            start,
            errand,
            ticks: times.map(|time| (time / walker.tick).round() as u16),
            swings: times.map(|time| pendulum.swing(time)),
            exchange_ratio,
            sway: surroundings.legs.exchange(DVec2::ZERO, DVec2::X, Side::Right).y,
            fastest,
            heading: heading_of(along),
            speed: if start.support.is_some() { speed.max(1) } else { 0 },
            // At the preferred speed, where a metre is cheapest. A little less, for what rounding does.
            per_metre: 2.0 * walker.per_second / walker.preferred * (1.0 - 1e-3),
            spare: (errand.left)(start.at)
                - FURTHEST * walker.preferred * (errand.horizon - start.time).max(0.0),
        }
    }

    /// Where a search begins.
    pub fn root(&self) -> Stride {
        let support = self.start.support.unwrap_or(Side::Right);
        Stride { time: 0, x: 0, y: 0, heading: self.heading, speed: self.speed, support, came: Came::Start }
    }

    fn at(&self, stride: Stride) -> DVec2 {
        self.start.at + IVec2::new(stride.x, stride.y).as_dvec2() * LATTICE
    }

    fn seconds(&self, time: u16) -> f64 {
        self.start.time + f64::from(time) * self.walker.tick
    }

    /// The mean velocity that a heading and a speed stand for.
    fn mean(&self, heading: u8, speed: u8) -> DVec2 {
        direction(heading) * (f64::from(speed) * self.walker.preferred / SPEED_STEPS)
    }

    /// The velocity of the body at the end of a step on a foot.
    fn exchange(&self, heading: u8, speed: u8, support: Side) -> DVec2 {
        if speed == 0 {
            return DVec2::ZERO;
        }
        let along = direction(heading);
        self.mean(heading, speed) * self.exchange_ratio - along.perp() * (support.sign() * self.sway)
    }

    fn velocity(&self, stride: Stride) -> DVec2 {
        match stride.came {
            Came::Start => self.start.velocity,
            _ => self.exchange(stride.heading, stride.speed, stride.support),
        }
    }

    /// What an action does to an agent with a velocity, a heading and a speed, who stands on a foot next. `None` where it has no
    /// such speed.
    fn made(&self, velocity: DVec2, (heading, speed): (u8, u8), next: Side, action: Action) -> Option<Made> {
        let to_speed = match action.speed {
            Turn::By(change) => {
                u8::try_from(i16::from(speed) + i16::from(change)).ok().filter(|&to| to > 0)?
            }
            Turn::To(to) => to,
        };
        if to_speed > self.fastest {
            return None;
        }
        let to_heading = turned(heading, action.turn);
        let swing = &self.swings[action.period as usize];
        let leaves = self.exchange(to_heading, to_speed, next);
        let (pivot, way) = (swing.pivot(velocity, leaves), swing.way(velocity, leaves));
        let change = self.mean(to_heading, to_speed) - self.mean(heading, speed);
        let pace = way.length() / swing.time;
        let per_speed_squared = self.walker.per_second / (self.walker.preferred * self.walker.preferred);
        let cost = swing.time * (self.walker.per_second + per_speed_squared * pace * pace)
            + self.walker.per_change_squared * change.length_squared()
            + action.unusual();
        Some(Made {
            way,
            pivot,
            velocity,
            leaves,
            heading: to_heading,
            speed: to_speed,
            period: action.period as usize,
            cost,
        })
    }

    /// The feet of an agent that stands, whose body is at a place: as it began, or after a stop.
    fn stood(&self, stand: Stand, at: DVec2) -> [Footprint; 2] {
        let Stand::Stopped { heading, speed, support, action } = stand else { return self.start.feet };
        let Some(plant) = self.planted_by(at, (heading, speed), support, WALKING[action as usize]) else {
            return self.start.feet;
        };
        let close = plant.beside(self.surroundings.legs, 0.0);
        if support == Side::Left { [plant, close] } else { [close, plant] }
    }

    /// The foot of a step that has led a body to a place.
    fn planted_by(&self, to: DVec2, from: (u8, u8), support: Side, action: Action) -> Option<Footprint> {
        let velocity = self.exchange(from.0, from.1, support.other());
        let made = self.made(velocity, from, support, action)?;
        Some(self.plant(to - made.way + made.pivot, &made, support, action))
    }

    fn plant(&self, at: DVec2, made: &Made, side: Side, action: Action) -> Footprint {
        // Turned out is turned to the foot's own side.
        let toe = if side == Side::Left { action.toe } else { -action.toe };
        Footprint { at, along: direction(turned(made.heading, toe)), side, since: 0.0 }
    }

    /// The foot that an agent stands on.
    fn support_foot(&self, stride: Stride) -> Footprint {
        let at = self.at(stride);
        let side = stride.support;
        match stride.came {
            Came::Start => self.start.feet[side as usize],
            Came::First { action } => {
                let from = (self.heading, self.speed);
                let made = self.made(self.start.velocity, from, side, WALKING[action as usize]);
                let plant = made.map(|made| {
                    self.plant(at - made.way + made.pivot, &made, side, WALKING[action as usize])
                });
                plant.unwrap_or(self.start.feet[side as usize])
            }
            Came::Shift { heading, stand, action } => {
                let made = self.made(DVec2::ZERO, (heading, 0), Side::Right, STANDING[action as usize]);
                let way = made.map_or(DVec2::ZERO, |made| made.way);
                self.stood(stand, at - way)[side as usize]
            }
            Came::Step { heading, speed, action } => {
                let plant = self.planted_by(at, (heading, speed), side, WALKING[action as usize]);
                plant.unwrap_or(self.start.feet[side as usize])
            }
        }
    }

    /// How an agent that stands came to.
    fn stand(&self, stride: Stride) -> Stand {
        match stride.came {
            Came::Step { heading, speed, action } => {
                Stand::Stopped { heading, speed, support: stride.support, action }
            }
            // One step from a start that moves is not told apart: it stands as if it had begun so.
            _ => Stand::Began,
        }
    }

    /// The actions that a state has to choose from.
    fn actions(&self, stride: Stride) -> &'static [Action] {
        if stride.speed == 0 { &STANDING } else { &WALKING }
    }

    /// Where an action leads, and at what cost; `None` where it cannot be done.
    fn step(&self, stride: Stride, action: u8) -> Option<(Stride, f32)> {
        if stride.time >= self.last() {
            return None;
        }
        let next =
            if stride.speed == 0 { self.set_off(stride, action) } else { self.onto_foot(stride, action) };
        let (next, cost) = next?;
        let charge = if self.ends_on_the_way(next) { self.least(next) + self.idle(next) } else { 0.0 };
        Some((next, (cost + charge) as f32))
    }

    fn moved(&self, stride: Stride, made: &Made, support: Side, came: Came) -> Stride {
        let way = (made.way / LATTICE).round().as_ivec2();
        Stride {
            time: stride.time.saturating_add(self.ticks[made.period]),
            x: stride.x + way.x,
            y: stride.y + way.y,
            heading: made.heading,
            speed: made.speed,
            support,
            came,
        }
    }

    /// Waiting, or shifting one's weight to set off. The left foot swings first.
    fn set_off(&self, stride: Stride, index: u8) -> Option<(Stride, f64)> {
        let action = STANDING[index as usize];
        let at = self.at(stride);
        if action.speed == Turn::To(0) {
            let time = self.swings[0].time;
            let waited = Stride { time: stride.time.saturating_add(self.ticks[0]), ..stride };
            return self
                .is_free(at, at, &waited, stride.time, 0.0)
                .then_some((waited, time * self.walker.per_second));
        }
        let made = self.made(DVec2::ZERO, (stride.heading, 0), Side::Right, action)?;
        let stand = self.stand(stride);
        let feet = self.stood(stand, at);
        if !self.surroundings.legs.hold(&feet, at + made.pivot) {
            return None;
        }
        let came = Came::Shift { heading: stride.heading, stand, action: index };
        let next = self.moved(stride, &made, Side::Right, came);
        self.passes(at, &made, &next, stride.time).then_some((next, made.cost))
    }

    /// The next foot is put down, and the body goes over it.
    fn onto_foot(&self, stride: Stride, index: u8) -> Option<(Stride, f64)> {
        let action = WALKING[index as usize];
        let (at, side, from) = (self.at(stride), stride.support.other(), (stride.heading, stride.speed));
        let made = self.made(self.velocity(stride), from, side, action)?;
        let plant = self.plant(at + made.pivot, &made, side, action);
        if !self.surroundings.legs.reach(&plant, &self.support_foot(stride)) || !self.carries(&plant) {
            return None;
        }
        let is_first = stride.came == Came::Start;
        if made.speed == 0 {
            let close = plant.beside(self.surroundings.legs, 0.0);
            // The stand after a first step could not be told from others.
            if is_first
                || !self.carries(&close)
                || !self.surroundings.legs.hold(&[plant, close], at + made.way)
            {
                return None;
            }
        }
        let came = if is_first {
            Came::First { action: index }
        } else {
            Came::Step { heading: stride.heading, speed: stride.speed, action: index }
        };
        let next = self.moved(stride, &made, side, came);
        self.passes(at, &made, &next, stride.time).then_some((next, made.cost))
    }

    /// Whether a foot has ground, and is in no wall.
    fn carries(&self, foot: &Footprint) -> bool {
        let legs = self.surroundings.legs;
        legs.has_ground(foot, self.surroundings.gaps, AROUND_FOOT)
            && self.surroundings.clearance.clearance(foot.at)
                >= legs.foot_width.min(self.surroundings.clearance.radius())
    }

    /// Whether the body gets through: along two straight ways between walls, along one between others.
    fn passes(&self, at: DVec2, made: &Made, next: &Stride, begin: u16) -> bool {
        let swing = &self.swings[made.period];
        let (middle, to) = (at + swing.middle(made.pivot, made.way), at + made.way);
        let walls = self.surroundings.clearance;
        let bulge = swing.bulge(made.pivot, made.way);
        walls.lets_by(at, middle)
            && walls.lets_by(middle, to)
            && (self.is_free(at, to, next, begin, bulge) || self.is_free_by_and_by(at, made, begin))
    }

    /// The same for the way as it is, from one step of the simulation to the next: for an agent that is close to another.
    fn is_free_by_and_by(&self, at: DVec2, made: &Made, begin: u16) -> bool {
        let (pendulum, tick) = (self.surroundings.legs.pendulum(), self.walker.tick);
        let place = |ticks: u16| {
            let time = f64::from(ticks) * tick;
            pendulum.after(at + made.pivot, at, made.velocity, time).0
        };
        let radius = self.surroundings.clearance.radius() + APART;
        (0..self.ticks[made.period]).all(|piece| {
            let [from, to] = [piece, piece + 1].map(place);
            let [begin, end] = [piece, piece + 1].map(|piece| self.seconds(begin.saturating_add(piece)));
            !self.meets(&Passage { from, to, begin, end }, radius)
        })
    }

    fn meets(&self, passage: &Passage, radius: f64) -> bool {
        self.surroundings.published.meets(passage, radius, |body, path| {
            Some(body) != self.surroundings.own && self.surroundings.exceptions.count(body, path, passage)
        })
    }

    fn is_free(&self, from: DVec2, to: DVec2, next: &Stride, begin: u16, bulge: f64) -> bool {
        let passage = Passage { from, to, begin: self.seconds(begin), end: self.seconds(next.time) };
        !self.meets(&passage, self.surroundings.clearance.radius() + APART + bulge)
    }

    fn has_arrived(&self, stride: Stride) -> bool {
        self.at(stride).distance(self.errand.goal) <= self.errand.radius
    }

    /// Whether a plan may end here without having arrived.
    fn ends_on_the_way(&self, stride: Stride) -> bool {
        stride.speed == 0
            && stride.time > 0
            && !self.has_arrived(stride)
            && self.can_turn(stride)
            && self.can_rest(stride)
    }

    /// Whether there is ground for a few steps in any direction: who stands on a stone, or at the very edge of a bank, may have no way
    /// on, and an agent that comes to a river has to find its first stone from a run-up.
    fn can_turn(&self, stride: Stride) -> bool {
        let (at, room) = (self.at(stride), RUN_UP * self.surroundings.legs.longest);
        let corners = [(-room, -room), (room, -room), (room, room), (-room, room)];
        !self.surroundings.gaps.touch(&corners.map(|(x, y)| at + DVec2::new(x, y)))
    }

    /// What it costs to do nothing until the horizon.
    fn idle(&self, stride: Stride) -> f64 {
        IDLE * self.walker.per_second * (self.errand.horizon - self.seconds(stride.time)).max(0.0)
    }

    fn can_rest(&self, stride: Stride) -> bool {
        let (at, begin) = (self.at(stride), self.seconds(stride.time));
        let end = self.errand.rest_until.max(begin + REST);
        let passage = Passage { from: at, to: at, begin, end };
        !self.meets(&passage, self.surroundings.clearance.radius() + APART)
    }

    /// The last time at which any agent does anything.
    fn last(&self) -> u16 {
        let ticks = BEYOND * (self.errand.horizon - self.start.time) / self.walker.tick;
        ticks.clamp(0.0, f64::from(u16::MAX / 2)) as u16
    }

    /// At least so much costs what is left of the way, as far as plans differ.
    fn least(&self, stride: Stride) -> f64 {
        ((self.errand.left)(self.at(stride)) - self.spare.max(0.0)).max(0.0) * self.per_metre
    }

    /// The plan over some states without rounding. `None` where they do not follow from one another.
    pub fn replay(&self, plan: &[Stride]) -> Option<Replayed> {
        let mut at = self.start.at;
        let mut feet = self.start.feet;
        let mut replayed = Replayed { steps: Vec::new(), path: vec![(self.start.time, at)] };
        for pair in plan.windows(2) {
            let (begin, end) = (self.seconds(pair[0].time), self.seconds(pair[1].time));
            let stands = pair[0].speed == 0;
            if stands && pair[1].speed == 0 {
                replayed.path.push((end, at));
                continue;
            }
            let (made, action, side) = self.made_between(pair[0], pair[1])?;
            let pivot = at + made.pivot;
            let plant = (!stands).then(|| {
                let plant = self.plant(pivot, &made, side, action);
                Footprint { since: begin, ..plant }
            });
            let close =
                plant.filter(|_| made.speed == 0).map(|plant| plant.beside(self.surroundings.legs, end));
            for foot in plant.into_iter().chain(close) {
                feet[foot.side as usize] = foot;
            }
            let step = Footstep {
                begin,
                end,
                from: at,
                velocity: self.velocity(pair[0]),
                leaves: made.leaves,
                pivot,
                plant,
                close,
                support: side,
            };
            let ticks = pair[1].time - pair[0].time;
            let times = (1..=ticks).map(|tick| self.seconds(pair[0].time + tick));
            replayed.path.extend(times.map(|time| (time, step.at(self.surroundings.legs, time).0)));
            at = step.at(self.surroundings.legs, end).0;
            replayed.steps.push(step);
        }
        Some(replayed)
    }

    /// What has led from one state to the next.
    fn made_between(&self, from: Stride, to: Stride) -> Option<(Made, Action, Side)> {
        let (action, side) = match to.came {
            Came::Start => return None,
            Came::Shift { action, .. } => (STANDING[action as usize], Side::Right),
            Came::First { action } | Came::Step { action, .. } => {
                (WALKING[action as usize], from.support.other())
            }
        };
        Some((self.made(self.velocity(from), (from.heading, from.speed), side, action)?, action, side))
    }

    /// Every way in which an agent may have come to a heading and a speed at the end of a step on a foot.
    fn ways_to(&self, heading: u8, speed: u8, support: Side, mut found: impl FnMut(Came)) {
        found(Came::Start);
        for (index, action) in WALKING.iter().enumerate() {
            let before = turned(heading, -action.turn);
            let action = index as u8;
            found(Came::First { action });
            (1..=self.fastest).for_each(|speed| found(Came::Step { heading: before, speed, action }));
        }
        if speed == 0 || support == Side::Left {
            return;
        }
        for (index, action) in STANDING.iter().enumerate() {
            let before = turned(heading, -action.turn);
            let shift = |stand| Came::Shift { heading: before, stand, action: index as u8 };
            found(shift(Stand::Began));
            let stops = WALKING.iter().enumerate().filter(|(_, action)| action.speed == Turn::To(0));
            for (stop, _) in stops {
                for (speed, support) in
                    (1..=self.fastest).flat_map(|speed| [Side::Left, Side::Right].map(|side| (speed, side)))
                {
                    found(shift(Stand::Stopped { heading: before, speed, support, action: stop as u8 }));
                }
            }
        }
    }

    /// The state before the one action that has led here, but for how that one was reached; and the action.
    fn before(&self, stride: Stride) -> Option<(Stride, u8)> {
        let (from, side, index, made) = match stride.came {
            Came::Start => return None,
            Came::First { action } => {
                let (from, side) = ((self.heading, self.speed), stride.support);
                (
                    from,
                    side.other(),
                    action,
                    self.made(self.start.velocity, from, side, WALKING[action as usize])?,
                )
            }
            Came::Shift { heading, stand, action } => {
                let made = self.made(DVec2::ZERO, (heading, 0), Side::Right, STANDING[action as usize])?;
                let side = if let Stand::Stopped { support, .. } = stand { support } else { Side::Right };
                ((heading, 0), side, action, made)
            }
            Came::Step { heading, speed, action } => {
                let (from, side) = ((heading, speed), stride.support);
                let velocity = self.exchange(heading, speed, side.other());
                (from, side.other(), action, self.made(velocity, from, side, WALKING[action as usize])?)
            }
        };
        let way = (made.way / LATTICE).round().as_ivec2();
        let before = Stride {
            time: stride.time.checked_sub(self.ticks[made.period])?,
            x: stride.x - way.x,
            y: stride.y - way.y,
            heading: from.0,
            speed: from.1,
            support: side,
            came: Came::Start,
        };
        Some((before, index))
    }
}

impl Domain for Footstepping<'_> {
    type State = Stride;

    fn successors(&self, stride: Stride, out: &mut Vec<(Stride, f32)>) {
        out.extend((0..self.actions(stride).len() as u8).filter_map(|action| self.step(stride, action)));
    }

    fn predecessors(&self, stride: Stride, out: &mut Vec<(Stride, f32)>) {
        let mut add = |before: Stride, action: u8| {
            let step = self.step(before, action).filter(|step| step.0 == stride);
            out.extend(step.map(|(_, cost)| (before, cost)));
        };
        if stride.speed == 0 {
            let wait = STANDING.iter().position(|action| action.speed == Turn::To(0)).unwrap_or(0) as u8;
            if let Some(time) = stride.time.checked_sub(self.ticks[0]) {
                add(Stride { time, ..stride }, wait);
            }
        }
        let Some((before, action)) = self.before(stride) else { return };
        let is_start = before.x == 0 && before.y == 0;
        self.ways_to(before.heading, before.speed, before.support, |came| {
            let fits = match came {
                Came::Start => is_start && (before.time == 0 || self.speed == 0),
                _ => true,
            };
            if fits {
                add(Stride { came, ..before }, action);
            }
        });
    }

    fn heuristic(&self, from: Stride, to: Stride) -> f32 {
        if from == to {
            return 0.0;
        }
        if to.time <= from.time {
            return f32::INFINITY;
        }
        // Rounded places are a little nearer or further for each step between them.
        let rounding = f64::from(to.time - from.time) * LATTICE;
        ((self.at(from).distance(self.at(to)) - rounding).max(0.0) * self.per_metre) as f32
    }

    fn is_end(&self, stride: Stride) -> bool {
        if self.has_arrived(stride) {
            return self.errand.leaves || stride.speed == 0 && self.can_rest(stride);
        }
        self.ends_on_the_way(stride)
    }

    fn to_end(&self, stride: Stride) -> f32 {
        if self.is_end(stride) { 0.0 } else { self.least(stride) as f32 }
    }
}

impl Placed for Footstepping<'_> {
    fn place_of(&self, stride: Stride) -> Option<DVec2> {
        Some(self.at(stride))
    }

    fn time_of(&self, stride: Stride) -> Option<f64> {
        Some(self.seconds(stride.time))
    }

    fn cost_of_a_metre(&self) -> f32 {
        self.per_metre as f32
    }

    fn longest_step(&self) -> (f64, f64) {
        let longest = self.swings.iter().map(|swing| swing.time).fold(0.0, f64::max);
        (self.walker.max_speed * longest, longest)
    }
}
