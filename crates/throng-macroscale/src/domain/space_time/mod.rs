//! # Space-time domain Σ4 (Kapadia et al. 2013, section 4.1)
//! A state is a place, a velocity and a time. In a step an agent changes its speed by one of {0, ±a} and its heading by one of
//! {0, ±π/8, ±π/4, ±π/2}, and goes straight for Δt at the speed that it has then. A step is possible where the disc of
//! the agent touches no wall and meets no other whose path is published; of those, only who is in sight counts
//! ([`Fovea`]). Costs are energies: a price for every second, standing ones too, one that grows with the speed's square, and one for
//! changes of velocity.
//!
//! Deviations:
//! - **Places lie on a lattice**, and a step of a speed and heading always leads by the same vector of it. So steps can be
//!   turned round exactly, a search goes either way, and a state is 8 bytes. A step's direction is off by what rounding to
//!   the lattice does, at most half of [`Walk::lattice`]; whatever is tested and told is the step as it is.
//! - **The new velocity holds from the beginning of the step**, so that its vector does not depend on the state before.
//! - **The heuristic** is the least energy with which any agent could cover the distance within the time that is left, with
//!   no walls and no agent in the way: e_s·T + e_w·d²/T for the best T, and no less than the best step makes of each metre.
//!   The paper adds up a distance and a penalty for the deviation from the needed speed with weights; this is what
//!   such a sum approximates, and it is consistent, so that the search's bounds hold.
//! - **Distances may be those of shortest paths** instead of straight lines, where a [`Compass`] knows them from the static mesh.
//!   They are lower bounds too, and lead around walls, where a straight line leads a search into every corner.
//! - **Searches go in the direction of travel** (over [`Reversed`](crate::search::Reversed), from the start towards
//!   [`Aim::Ends`](crate::search::Aim::Ends)): the time of arrival is not known, and states near the goal at all times are
//!   too many to begin from. Where the window is short, [`SpaceTime::backward`] adds a state of having arrived
//!   ([`Moment::THERE`]) that a search can begin from, and then the start may move.
//! - **A jump** leads from anywhere near its beginning by a fixed vector to as near to its end; walls and bodies in between
//!   do not count, those at its end do.

mod around;
mod lattice;
mod walk;

use crate::navmesh::Mesh;
pub use around::{Clearance, Compass, Surroundings};
pub use walk::{Fovea, Goal, Jump, SpaceTimeError, Walk};

use super::Placed;
use super::occupancy::{Occupancy, Passage, Trajectory};
use crate::search::Domain;
use glam::{DVec2, IVec2};
pub(crate) use lattice::direction;
use lattice::{HEADINGS, nearest_lines, turn_between};
pub(super) use lattice::{heading_of, turned};
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use walk::{MOST_SPEEDS, check};

/// A place of the lattice, a velocity and a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// In steps of the walk, from the domain's beginning.
    pub time: u16,
    /// In lines of the lattice, from the domain's origin.
    pub x: i16,
    /// In lines of the lattice, from the domain's origin.
    pub y: i16,
    /// In sixteenths of a turn, counter-clockwise from the x axis.
    pub heading: u8,
    /// In speed steps of the walk.
    pub speed: u8,
}

impl Moment {
    /// To have arrived.
    pub const THERE: Moment = Moment { time: u16::MAX, x: 0, y: 0, heading: u8::MAX, speed: 0 };

    fn place(self) -> IVec2 {
        IVec2::new(self.x.into(), self.y.into())
    }
}

impl Hash for Moment {
    /// One number: five would take five times as long.
    #[inline(always)]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let place = u64::from(self.x as u16) << 16 | u64::from(self.y as u16);
        let velocity = u64::from(self.heading) << 8 | u64::from(self.speed);
        hasher.write_u64(place << 32 | velocity << 16 | u64::from(self.time));
    }
}

/// Changes of heading in sixteenths of a turn, the straightest first: the order decides between plans of equal cost.
const TURNS: [i8; 7] = [0, 1, -1, 2, -2, 4, -4];
/// Steps of a window that are listed for searches from the goal.
pub const LONGEST_WINDOW: u16 = 64;
/// What arriving costs, J/kg: as good as nothing, but no edge is free.
const ARRIVING: f32 = 0.01;
/// What a plan may lack of a distance from bodies, m. Negative: they keep a little more than that apart, so that rounding
/// never makes them touch.
pub(crate) const APART: f64 = 1e-3;

/// The space-time domain of one agent.
#[derive(Debug)]
pub struct SpaceTime<'a> {
    walk: Walk,
    fovea: Option<Fovea>,
    space: &'a Clearance,
    published: &'a Occupancy,
    /// Who plans: its own path is not in its way.
    own: Option<u32>,
    exceptions: Exceptions<'a>,
    /// Where the lattice has its zero, m, and time, s.
    origin: DVec2,
    begin: f64,
    goal: Goal,
    /// By speed and heading.
    vectors: Vec<[IVec2; HEADINGS]>,
    costs: Vec<[f32; HEADINGS]>,
    jumps: Vec<Leap>,
    /// The least that a metre costs.
    per_metre: f64,
    cosine: f64,
    has_arrival: bool,
    ferries: Option<Ferries<'a>>,
    compass: Option<Compass<'a>>,
    /// What the compass says at the goal, m.
    beyond: f64,
}

/// A jump on the lattice.
#[derive(Clone, Copy, Debug)]
struct Leap {
    from: IVec2,
    vector: IVec2,
    reach: i32,
    steps: u16,
    heading: u8,
    cost: f32,
}

/// Platforms that move, and the floor beside them.
#[derive(Clone, Copy, Debug)]
pub struct Ferries<'a> {
    /// Where one can stand without them.
    pub floor: &'a Mesh,
    /// A body's middle must be within the radius of one.
    pub platforms: &'a [Trajectory],
}

impl Ferries<'_> {
    /// Whether one can stand there at a time.
    pub fn carry(&self, at: DVec2, time: f64) -> bool {
        self.platforms.iter().any(|platform| is_on(platform, at, time))
    }
}

/// Whether a platform is under a place at a time.
pub(crate) fn is_on(platform: &Trajectory, at: DVec2, time: f64) -> bool {
    platform.place(time).is_some_and(|middle| middle.distance(at) <= platform.radius)
}

/// Bodies that count less than others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exceptions<'a> {
    /// These do not count at all. Ascending.
    pub ignored: &'a [u32],
    /// Who is nearer than bodies may be already, and how near, m: only to come still nearer counts as meeting them.
    pub touched: &'a [(u32, f64)],
}

impl Exceptions<'_> {
    /// Whether to pass another agent nearer than bodies may be is to meet it.
    pub fn count(&self, body: u32, path: &Trajectory, passage: &Passage) -> bool {
        if self.ignored.binary_search(&body).is_ok() {
            return false;
        }
        let touched = self.touched.iter().find(|touched| touched.0 == body);
        touched.is_none_or(|&(_, distance)| path.nearest(passage) < distance - NO_NEARER)
    }
}

/// What rounding may take from a distance that must not become smaller, m.
const NO_NEARER: f64 = 1e-6;

impl<'a> SpaceTime<'a> {
    /// For a plan that begins at a place and a time, where the lattice has its zero. It reaches 32,767 lines from there.
    pub fn new(
        walk: Walk,
        around: Surroundings<'a>,
        begin: (f64, DVec2),
        goal: Goal,
    ) -> Result<SpaceTime<'a>, SpaceTimeError> {
        check(&walk, begin, &goal)?;
        let count = (walk.max_speed / walk.speed_step + 1e-9).floor() + 1.0;
        if count > MOST_SPEEDS as f64 {
            return Err(SpaceTimeError::Speeds { count });
        }
        let longest = walk.max_speed * walk.step / walk.lattice;
        let vector = |speed: usize, heading: usize| {
            let length = speed as f64 * walk.speed_step * walk.step / walk.lattice;
            nearest_lines(direction(heading as u8) * length, longest)
        };
        let vectors: Vec<[IVec2; HEADINGS]> =
            (0..count as usize).map(|speed| std::array::from_fn(|heading| vector(speed, heading))).collect();
        let length = |vector: IVec2| vector.as_dvec2().length() * walk.lattice;
        let energy = |vector: IVec2| {
            let speed = length(vector) / walk.step;
            walk.step * (walk.per_second + walk.per_speed_squared * speed * speed)
        };
        let costs = vectors.iter().map(|headings| headings.map(|vector| energy(vector) as f32)).collect();
        let moving = vectors.iter().flatten().filter(|vector| **vector != IVec2::ZERO);
        let per_metre = moving.map(|&vector| energy(vector) / length(vector)).fold(f64::INFINITY, f64::min);
        Ok(SpaceTime {
            walk,
            fovea: Some(Fovea::default()),
            space: around.clearance,
            published: around.published,
            own: around.own,
            exceptions: Exceptions::default(),
            origin: begin.1,
            begin: begin.0,
            goal,
            vectors,
            costs,
            jumps: Vec::new(),
            // A little less, for what single precision does to the sums of costs.
            per_metre: per_metre * (1.0 - 1e-6),
            cosine: 0.0,
            has_arrival: false,
            ferries: None,
            compass: None,
            beyond: 0.0,
        }
        .with_fovea(Some(Fovea::default())))
    }

    /// Who is in sight. `None`: all agents.
    pub fn with_fovea(mut self, fovea: Option<Fovea>) -> SpaceTime<'a> {
        self.fovea = fovea;
        self.cosine = fovea.map_or(-1.0, |fovea| (fovea.angle / 2.0).min(std::f64::consts::PI).cos());
        self
    }

    /// With platforms that move: one steps onto them, stands on them and steps off, and nowhere else beside the floor.
    pub fn with_ferries(mut self, ferries: Option<Ferries<'a>>) -> SpaceTime<'a> {
        self.ferries = ferries;
        self
    }

    /// Whether a step leads over the floor or platforms.
    fn is_walkable(&self, (from, a): (Moment, DVec2), (to, b): (Moment, DVec2)) -> bool {
        let on_floor = || from.place() == to.place() || self.space.is_clear(a, b);
        let Some(ferries) = self.ferries else { return on_floor() };
        let [begins, ends] = [a, b].map(|at| ferries.floor.locate(at).is_some());
        if begins && ends {
            return on_floor();
        }
        let carried = |moment: Moment, at: DVec2| ferries.carry(at, self.seconds(moment.time));
        // The start is free, whatever rounding says.
        (begins || from.time == 0 || carried(from, a)) && (ends || carried(to, b))
    }

    /// Whether a place needs no platform to stand on.
    pub(crate) fn is_floor(&self, at: DVec2) -> bool {
        self.ferries.is_none_or(|ferries| ferries.floor.locate(at).is_some())
    }

    /// By how much a platform moves in a step, in lines of the lattice.
    fn drift(&self, platform: &Trajectory, time: u16) -> Option<IVec2> {
        let places = [time, time + 1].map(|time| platform.place(self.seconds(time)));
        let [Some(from), Some(to)] = places else { return None };
        Some(((to - from) / self.walk.lattice).round().as_ivec2())
    }

    /// Where one is carried to who stands on a platform.
    fn platform_moves(&self, moment: Moment, out: &mut Vec<(Moment, f32)>) {
        let at = self.at(moment.place());
        for platform in self.ferries.iter().flat_map(|ferries| ferries.platforms) {
            if moment.speed > 1 || !is_on(platform, at, self.seconds(moment.time)) {
                continue;
            }
            let drift = self.drift(platform, moment.time).filter(|drift| *drift != IVec2::ZERO);
            let next = drift.and_then(|drift| Self::moved(Moment { speed: 0, ..moment }, drift, 1));
            out.extend(next.filter(|&next| self.is_free(moment, next)).map(|next| (next, self.standing())));
        }
    }

    /// The same, backwards.
    fn platform_moves_to(&self, moment: Moment, out: &mut Vec<(Moment, f32)>) {
        if moment.speed > 0 || moment.time == 0 {
            return;
        }
        for platform in self.ferries.iter().flat_map(|ferries| ferries.platforms) {
            let drift = self.drift(platform, moment.time - 1).filter(|drift| *drift != IVec2::ZERO);
            let Some(before) = drift.and_then(|drift| Self::moved(moment, -drift, -1)) else { continue };
            let stands = is_on(platform, self.at(before.place()), self.seconds(before.time));
            let befores = [0, 1].map(|speed| Moment { speed, ..before }).into_iter();
            let able = befores.filter(|&before| stands && self.is_free(before, moment));
            out.extend(able.map(|before| (before, self.standing())));
        }
    }

    /// What a step without one costs.
    fn standing(&self) -> f32 {
        (self.walk.step * self.walk.per_second) as f32
    }

    /// With bodies that count less than others.
    pub fn with_exceptions(mut self, exceptions: Exceptions<'a>) -> SpaceTime<'a> {
        self.exceptions = exceptions;
        self
    }

    /// With distances of shortest paths. They lead to the goal, or to somewhere beyond it.
    pub fn with_compass(mut self, compass: Option<Compass<'a>>) -> SpaceTime<'a> {
        let beyond = compass.and_then(|compass| compass.length(self.goal.at));
        // Jumps may be shorter than any way.
        self.compass = compass.filter(|_| beyond.is_some() && self.jumps.is_empty());
        self.beyond = beyond.unwrap_or(0.0);
        self
    }

    /// At least so far it is from a place to the goal, m.
    fn distance(&self, at: DVec2) -> f64 {
        let straight = at.distance(self.goal.at);
        let around = self.compass.and_then(|compass| compass.length(at)).map_or(0.0, |all| all - self.beyond);
        (straight.max(around) - self.goal.radius).max(0.0)
    }

    /// With a state of having arrived, which follows all states near the goal within the window: for searches that begin
    /// there. Of a window only the first [`LONGEST_WINDOW`] steps count then.
    pub fn backward(mut self) -> SpaceTime<'a> {
        self.has_arrival = true;
        self
    }

    /// With jumps.
    pub fn with_jumps(mut self, jumps: &[Jump]) -> SpaceTime<'a> {
        let leap = |jump: &Jump| {
            let vector = ((jump.to - jump.from) / self.walk.lattice).round().as_ivec2();
            let length = vector.as_dvec2().length() * self.walk.lattice;
            // No agent jumps further in a second than it can run.
            let steps = (length / (self.walk.max_speed * self.walk.step)).ceil().max(1.0);
            let alone = self.energy(length, steps * self.walk.step..=steps * self.walk.step);
            Leap {
                from: self.lines(jump.from),
                vector,
                reach: (jump.reach / self.walk.lattice).floor() as i32,
                steps: steps as u16,
                heading: heading_of(vector.as_dvec2()),
                cost: (alone + jump.cost.max(0.0)) as f32,
            }
        };
        self.jumps = jumps.iter().map(leap).collect();
        self
    }

    /// Where plans must end, from now on. A search over it has to begin anew.
    pub fn set_goal(&mut self, goal: Goal) {
        self.goal = goal;
    }

    /// The state of an agent; the nearest place of the lattice, the nearest speed and heading, the next time.
    pub fn moment(&self, time: f64, at: DVec2, velocity: DVec2) -> Moment {
        let lines = self.lines(at).clamp(IVec2::splat(i16::MIN.into()), IVec2::splat(i16::MAX.into()));
        let speed = (velocity.length() / self.walk.speed_step).round() as usize;
        Moment {
            time: ((time - self.begin) / self.walk.step - 1e-6).ceil().clamp(0.0, f64::from(u16::MAX - 1))
                as u16,
            x: lines.x as i16,
            y: lines.y as i16,
            heading: heading_of(velocity),
            speed: speed.min(self.vectors.len() - 1) as u8,
        }
    }

    fn lines(&self, at: DVec2) -> IVec2 {
        ((at - self.origin) / self.walk.lattice).round().as_ivec2()
    }

    /// Where a place of the lattice is, m.
    fn at(&self, place: IVec2) -> DVec2 {
        self.origin + place.as_dvec2() * self.walk.lattice
    }

    fn seconds(&self, time: u16) -> f64 {
        self.begin + f64::from(time) * self.walk.step
    }

    /// The trajectory of a plan: a bend at every state. A jump is straight.
    pub fn trajectory(&self, plan: &[Moment], out: &mut Vec<(f64, DVec2)>) {
        out.clear();
        let states = plan.iter().filter(|&&moment| moment != Moment::THERE);
        out.extend(states.map(|moment| (self.seconds(moment.time), self.at(moment.place()))));
    }

    /// The velocity of a state, m/s.
    pub fn velocity(&self, moment: Moment) -> DVec2 {
        direction(moment.heading) * (f64::from(moment.speed) * self.walk.speed_step)
    }

    /// How an agent moves.
    pub fn walk(&self) -> &Walk {
        &self.walk
    }

    /// Whether a state's steps, there and back, can be changed by a path: for telling a search of what has changed.
    pub fn is_near(&self, moment: Moment, path: &Trajectory) -> bool {
        if moment == Moment::THERE {
            return false;
        }
        let at = self.at(moment.place());
        let time = self.seconds(moment.time);
        let around = Passage { from: at, to: at, begin: time - self.walk.step, end: time + self.walk.step };
        let furthest = (self.walk.max_speed * self.walk.step).max(self.furthest_leap());
        path.nearest(&around) < furthest + path.radius + self.space.radius() + APART
    }

    fn furthest_leap(&self) -> f64 {
        let length = |leap: &Leap| leap.vector.as_dvec2().length() * self.walk.lattice;
        self.jumps.iter().map(length).fold(0.0, f64::max)
    }

    /// Whether one has arrived.
    fn is_arrived(&self, moment: Moment) -> bool {
        let time = self.seconds(moment.time);
        let in_time = time >= self.goal.window.0 - 1e-9 && time <= self.goal.window.1 + 1e-9;
        in_time && self.at(moment.place()).distance(self.goal.at) <= self.goal.radius
    }

    /// Whether a step can be made.
    fn is_free(&self, from: Moment, to: Moment) -> bool {
        let (a, b) = (self.at(from.place()), self.at(to.place()));
        self.is_walkable((from, a), (to, b)) && !self.meets(from, a, b, to.time)
    }

    fn meets(&self, from: Moment, a: DVec2, b: DVec2, end: u16) -> bool {
        let passage = Passage { from: a, to: b, begin: self.seconds(from.time), end: self.seconds(end) };
        let radius = self.space.radius() + APART;
        self.published.meets(&passage, radius, |body, path| {
            Some(body) != self.own && self.sees(from, a, path) && self.exceptions.count(body, path, &passage)
        })
    }

    /// Whether an agent on a path counts for one that is in a state.
    fn sees(&self, moment: Moment, at: DVec2, path: &Trajectory) -> bool {
        let Some(fovea) = self.fovea else { return true };
        let Some(other) = path.place(self.seconds(moment.time)) else { return false };
        let offset = other - at;
        let distance = offset.length();
        let ahead = direction(moment.heading).dot(offset) >= self.cosine * distance;
        distance <= fovea.near || (distance <= fovea.reach && ahead)
    }

    /// What a step costs beside its energy.
    fn change(&self, from: Moment, to: Moment) -> f32 {
        let change = self.velocity(to) - self.velocity(from);
        (self.walk.per_change_squared * change.length_squared()) as f32
    }

    /// Whether a change of velocity is one that can be made: on the spot one turns by quarters only, because an agent that starts
    /// can turn anyway.
    fn is_turn(speed: u8, turn: i8) -> bool {
        speed > 0 || turn % 4 == 0
    }

    /// Speeds that one can have after or before another.
    fn speeds(&self, speed: u8) -> RangeInclusive<u8> {
        speed.saturating_sub(1)..=(speed + 1).min(self.vectors.len() as u8 - 1)
    }

    fn moved(moment: Moment, by: IVec2, steps: i32) -> Option<Moment> {
        let place = moment.place() + by;
        let time = i32::from(moment.time) + steps;
        let fits = place.abs().max_element() < i16::MAX.into() && time >= 0 && time < u16::MAX.into();
        fits.then_some(Moment { x: place.x as i16, y: place.y as i16, time: time as u16, ..moment })
    }

    fn can_take_off(&self, leap: &Leap, moment: Moment) -> bool {
        // Links may be so far away that squares of whole numbers would not do.
        let near = (moment.place() - leap.from).as_dvec2().length() <= f64::from(leap.reach);
        let turn = turn_between(moment.heading, leap.heading);
        near && moment.speed > 0 && turn.abs() <= 2
    }

    /// Where a jump leads, if it can be made.
    fn landing(&self, leap: &Leap, moment: Moment) -> Option<Moment> {
        let landed = Moment { heading: leap.heading, ..Self::moved(moment, leap.vector, leap.steps.into())? };
        let (from, at) = (self.at(moment.place()), self.at(landed.place()));
        (self.space.has_room(at) && !self.meets(moment, from, at, landed.time)).then_some(landed)
    }

    /// The first and the last time at which arriving is listed.
    fn listed_times(&self) -> (u16, u16) {
        let steps = |time: f64| ((time - self.begin) / self.walk.step).clamp(0.0, f64::from(u16::MAX - 1));
        let first = steps(self.goal.window.0 - 1e-9).ceil() as u16;
        let last = steps(self.goal.window.1 + 1e-9) as u16;
        (first, last.min(first.saturating_add(LONGEST_WINDOW)))
    }

    /// The states from which a step leads to having arrived.
    fn arrivals(&self, out: &mut Vec<(Moment, f32)>) {
        let (first, last) = self.listed_times();
        let middle = self.lines(self.goal.at);
        let reach = (self.goal.radius / self.walk.lattice).ceil() as i32 + 1;
        for (dy, dx) in (-reach..=reach).flat_map(|dy| (-reach..=reach).map(move |dx| (dy, dx))) {
            let start = Moment { time: 0, x: 0, y: 0, heading: 0, speed: 0 };
            let Some(place) = Self::moved(start, middle + IVec2::new(dx, dy), 0) else { continue };
            for time in first..=last {
                for (heading, speed) in
                    (0..HEADINGS as u8).flat_map(|h| (0..self.vectors.len() as u8).map(move |s| (h, s)))
                {
                    let moment = Moment { time, heading, speed, ..place };
                    if self.is_arrived(moment) {
                        out.push((moment, ARRIVING));
                    }
                }
            }
        }
    }

    /// The least energy from a place at a time to the goal.
    fn least(&self, moment: Moment) -> f64 {
        let time = self.seconds(moment.time);
        let distance = self.distance(self.at(moment.place()));
        let left = (self.goal.window.0 - time).max(0.0)..=self.goal.window.1 - time + 1e-9;
        self.energy(distance, left)
    }

    /// The least energy that a distance takes within a range of times.
    pub(crate) fn energy(&self, distance: f64, left: RangeInclusive<f64>) -> f64 {
        let Walk { per_second, per_speed_squared, max_speed, .. } = self.walk;
        if *left.end() < 0.0 || distance > max_speed * left.end() + 1e-6 {
            return f64::INFINITY;
        }
        let best = distance * (per_speed_squared / per_second).sqrt();
        let time = best.clamp(*left.start(), left.end().max(*left.start()));
        let smooth =
            if time > 0.0 { per_second * time + per_speed_squared * distance * distance / time } else { 0.0 };
        (smooth * (1.0 - 1e-6)).max(distance * self.per_metre)
    }
}

impl Domain for SpaceTime<'_> {
    type State = Moment;

    fn successors(&self, moment: Moment, out: &mut Vec<(Moment, f32)>) {
        if moment == Moment::THERE {
            return;
        }
        if self.has_arrival && self.is_arrived(moment) && moment.time <= self.listed_times().1 {
            out.push((Moment::THERE, ARRIVING));
        }
        for speed in self.speeds(moment.speed) {
            for turn in TURNS.into_iter().filter(|&turn| Self::is_turn(speed, turn)) {
                let heading = turned(moment.heading, turn);
                let vector = self.vectors[speed as usize][heading as usize];
                let Some(next) = Self::moved(Moment { heading, speed, ..moment }, vector, 1) else {
                    continue;
                };
                if self.is_free(moment, next) {
                    let energy = self.costs[speed as usize][heading as usize];
                    out.push((next, energy + self.change(moment, next)));
                }
            }
        }
        self.platform_moves(moment, out);
        for leap in self.jumps.iter().filter(|leap| self.can_take_off(leap, moment)) {
            out.extend(self.landing(leap, moment).map(|landed| (landed, leap.cost)));
        }
    }

    fn predecessors(&self, moment: Moment, out: &mut Vec<(Moment, f32)>) {
        if moment == Moment::THERE {
            return self.arrivals(out);
        }
        let vector = self.vectors[moment.speed as usize][moment.heading as usize];
        let energy = self.costs[moment.speed as usize][moment.heading as usize];
        if let Some(before) = Self::moved(moment, -vector, -1) {
            for speed in self.speeds(moment.speed) {
                for turn in TURNS.into_iter().filter(|&turn| Self::is_turn(moment.speed, turn)) {
                    let before = Moment { heading: turned(moment.heading, -turn), speed, ..before };
                    if self.is_free(before, moment) {
                        out.push((before, energy + self.change(before, moment)));
                    }
                }
            }
        }
        self.platform_moves_to(moment, out);
        for leap in self.jumps.iter().filter(|leap| leap.heading == moment.heading) {
            let Some(before) = Self::moved(moment, -leap.vector, -i32::from(leap.steps)) else { continue };
            let headings = (-2..=2).map(|turn| Moment { heading: turned(leap.heading, turn), ..before });
            let able = headings.filter(|&before| {
                self.can_take_off(leap, before) && self.landing(leap, before) == Some(moment)
            });
            out.extend(able.map(|before| (before, leap.cost)));
        }
    }

    fn heuristic(&self, from: Moment, to: Moment) -> f32 {
        if from == to {
            return 0.0;
        }
        if to == Moment::THERE {
            return self.least(from) as f32;
        }
        if from == Moment::THERE || to.time <= from.time {
            return f32::INFINITY;
        }
        let time = f64::from(to.time - from.time) * self.walk.step;
        let distance = (to.place() - from.place()).as_dvec2().length() * self.walk.lattice;
        self.energy(distance, time..=time) as f32
    }

    fn is_end(&self, moment: Moment) -> bool {
        moment != Moment::THERE && self.is_arrived(moment)
    }

    fn to_end(&self, moment: Moment) -> f32 {
        if moment == Moment::THERE { 0.0 } else { self.least(moment) as f32 }
    }
}

impl Placed for SpaceTime<'_> {
    fn place_of(&self, moment: Moment) -> Option<DVec2> {
        (moment != Moment::THERE).then(|| self.at(moment.place()))
    }

    fn time_of(&self, moment: Moment) -> Option<f64> {
        (moment != Moment::THERE).then(|| self.seconds(moment.time))
    }

    fn cost_of_a_metre(&self) -> f32 {
        self.per_metre as f32
    }

    fn longest_step(&self) -> (f64, f64) {
        let steps = self.jumps.iter().map(|leap| leap.steps).fold(1, u16::max);
        let walked = self.walk.max_speed * self.walk.step;
        (walked.max(self.furthest_leap()), f64::from(steps) * self.walk.step)
    }
}

#[cfg(test)]
mod tests;
