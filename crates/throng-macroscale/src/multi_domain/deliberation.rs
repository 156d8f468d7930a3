//! One agent's turn: its tasks from coarse to fine, as far as events ask for them.

use super::budget::{Share, TaskRecord};
use super::crowding::{Asker, Crowding};
use super::direct::{Found, Others};
use super::domain_map::{DomainMap, DomainMaps};
use super::plan::{Plan, Plans};
use super::remaining::RemainingDistance;
use super::reservations::Reservations;
use super::sharing::Destinations;
use super::stepping::Aims;
use super::tasks::{self, Event, PlanRequest};
use super::turn::{Part, Root, Turn};
use super::window::{Ending, Window};
use super::{Known, MultiDomain, Session, wide};
use crate::domain::Placed;
use crate::domain::dynamic_navmesh::{Density, DynamicNavmesh, Gate};
use crate::domain::space_time::{APART, Exceptions, Goal, Moment, SpaceTime, Surroundings, Walk, direction};
use crate::navmesh::{Mesh, Terrain};
use crate::search::{Aim, AnytimeDynamicAstar, Budget, Domain, Reversed, Settings, Status};
use crate::tunnel::{Guided, Line, Tunnel, Width};
use glam::DVec2;
use std::collections::BTreeMap;
use std::time::Instant;
use throng_core::geom::double::{cut, distance_to_segment};
use throng_core::world::View;

/// What agents plan with: all that is known, frozen for a batch.
#[derive(Clone, Copy)]
pub(super) struct Snapshot<'a> {
    pub view: View<'a>,
    pub params: &'a MultiDomain,
    pub maps: &'a DomainMaps,
    pub reservations: &'a Reservations,
    crowding: &'a Crowding,
    pub destinations: &'a Destinations,
    pub plans: &'a Plans,
    drafts: &'a BTreeMap<u32, Plan>,
    pub rows: &'a [u32],
}

/// The agent that plans.
pub(super) struct Ego<'a> {
    pub row: usize,
    pub id: u32,
    pub slot: u32,
    pub body: u32,
    /// Where its plan begins, and when, s.
    pub at: DVec2,
    pub velocity: DVec2,
    pub begin: f64,
    /// How it gets there: empty where the plan begins now.
    before: Vec<(f64, DVec2)>,
    /// As wide as it is planned for, m.
    pub radius: f64,
    /// m/s.
    pub preferred: f64,
    pub max_speed: f64,
    pub map: &'a DomainMap,
    /// Bodies that are nearer than they may be already, and how near, m.
    pub touched: Vec<(u32, f64)>,
}

/// Where an agent is led, and what it may cost.
struct Course<'a> {
    way: &'a [DVec2],
    line: &'a [DVec2],
    ending: &'a Ending,
    inflation: f32,
}

/// What an agent wants to do. Others may have to change their plans for it.
pub(super) struct Proposal {
    pub request: PlanRequest,
    /// By slot.
    pub plans: Vec<(u32, Plan)>,
    pub spent: u64,
    pub served: TaskRecord,
    /// What it has come to, where the clock has cut it.
    pub turn: Option<Turn>,
}

impl Ego<'_> {
    /// A path from where the plan begins, and before it the one that leads there.
    pub fn from_now(&self, path: Vec<(f64, DVec2)>) -> Vec<(f64, DVec2)> {
        self.before.iter().copied().chain(path).collect()
    }
}

/// What a turn has used of its share.
pub(super) struct Meter {
    pub share: Share,
    pub spent: u64,
    /// Of that, expansions of searches.
    pub searched: u64,
    took: [f32; 5],
    /// Where searches looked, by task, if it is asked for.
    seen: Option<[Vec<DVec2>; 5]>,
    turn: Turn,
    /// The part that is being done.
    part: Option<Part>,
    /// Whether the clock has cut the turn.
    cut: bool,
    /// Whether searches have to end with what they have.
    late: bool,
}

impl Meter {
    fn new(share: Share, turn: Turn) -> Meter {
        let turn = turn.replay();
        Meter {
            share,
            spent: turn.spent,
            searched: 0,
            took: [0.0; 5],
            seen: None,
            turn,
            part: None,
            cut: false,
            late: false,
        }
    }

    /// Does a part of the turn, unless an earlier step has done it. Nothing is done any more once the turn is cut.
    pub fn part<R: Clone + Default + Send + Sync + 'static>(
        &mut self,
        part: Part,
        work: impl FnOnce(&mut Meter) -> R,
    ) -> R {
        if self.cut {
            return R::default();
        }
        if let Some(told) = self.turn.told(part) {
            return told;
        }
        self.part = Some(part);
        let result = work(self);
        if !self.cut {
            self.turn.note(part, result.clone());
        }
        result
    }

    /// What this part has left behind, where it was cut.
    pub fn resume<P: 'static>(&mut self) -> Option<P> {
        self.turn.resume()
    }

    /// Whether time is up. Then the turn is cut, and goes on with what this part leaves behind.
    pub fn is_over(&mut self) -> bool {
        self.cut |= self.share.is_over();
        self.cut
    }

    /// Whether the clock has cut the turn.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// What this part leaves behind, as the turn is cut.
    pub fn leave<P: Send + Sync + 'static>(&mut self, half: P) {
        if let Some(part) = self.part {
            self.turn.cut(part, half);
        }
    }

    /// A search tells where it looked.
    pub fn see(&mut self, task: tasks::Task, places: impl Iterator<Item = DVec2>) {
        if let Some(seen) = &mut self.seen {
            seen[task as usize].extend(places.take(MOST_SEEN));
        }
    }

    /// What a search may expand before it looks at the clock again; nothing once time is up.
    pub fn slice(&mut self) -> u64 {
        if self.is_over() || self.late { 0 } else { self.share.slice(self.spent) }
    }

    /// A search has expanded states.
    pub fn searched(&mut self, expansions: u64) {
        self.spent += expansions;
        self.searched += expansions;
    }

    /// Does a task's work, and notes how long it takes.
    fn time<R>(&mut self, task: tasks::Task, work: impl FnOnce(&mut Meter) -> R) -> R {
        let begin = Instant::now();
        let result = work(self);
        self.took[task as usize] += begin.elapsed().as_secs_f32();
        result
    }
}

/// Places that are told of a search: more are a blot on a picture.
const MOST_SEEN: usize = 4_000;
/// Expansions for a way in Σ2.
const MOST_GATES: u64 = 5_000;
/// As many of them count as one in space and time.
const GATES_OF_AN_EXPANSION: u64 = 64;
/// As long a body is taken to stand whose script ends, s: longer than any way around it takes.
const FOR_EVER: f64 = 1e5;
/// What a way in Σ1 counts as.
const WAY: u64 = 2;
/// Expansions of coarse domains between looks at the clock.
const COARSE_SLICE: u64 = 250;
/// By how much ε falls from plan to plan.
const BETTER: f32 = 0.5;
/// Expansions without a plan after which a tunnel of the first width is too narrow.
const PATIENCE: u64 = 120;
/// An agent that gets no nearer to its goal than this within a horizon has no way on, m.
const NO_PROGRESS: f64 = 0.5;
/// What walking costs at least: see [`Walk::per_second`].
const PER_SECOND: f64 = 2.23;
/// Speeds between standing and the preferred one.
const SPEED_STEPS: f64 = 3.0;
/// No more times the preferred speed is planned with: speeds are numbered in four bits.
const MOST_TIMES_PREFERRED: f64 = 4.9;
/// A goal is aimed at a little within its radius, so that rounding does not keep any agent from arriving.
const INSIDE: f64 = 0.9;
/// No goal is smaller, m.
const LEAST_RADIUS: f64 = 0.02;

impl<'a> Snapshot<'a> {
    pub fn new(view: View<'a>, session: &'a Session<'_>) -> Snapshot<'a> {
        let Session { params, plans, known, drafts } = session;
        let Known { maps, reservations, crowding, destinations, rows, .. } = &**known;
        Snapshot { view, params, maps, reservations, crowding, destinations, plans, drafts, rows }
    }

    /// How far ahead plans go, s: whole steps.
    pub fn horizon(&self) -> f64 {
        (f64::from(self.params.horizon) / self.step()).round().max(1.0) * self.step()
    }

    /// A step of plans, s: whole steps of the simulation.
    pub fn step(&self) -> f64 {
        (f64::from(self.params.step) / self.view.tick).round().max(1.0) * self.view.tick
    }

    pub fn plan(&self, slot: u32) -> &'a Plan {
        self.drafts.get(&slot).unwrap_or_else(|| self.plans.of(slot))
    }

    /// `None` for an agent that does not walk at all.
    pub fn ego(&self, row: usize) -> Option<Ego<'a>> {
        self.ego_from(row, None)
    }

    /// One whose plan begins at a time.
    pub fn ego_at(&self, row: usize, begin: f64) -> Option<Ego<'a>> {
        if begin <= self.view.now {
            return self.ego(row);
        }
        self.ego_from(row, Some(self.root(row, begin)?))
    }

    /// One whose plan begins at a root, or where it is.
    fn ego_from(&self, row: usize, root: Option<Root>) -> Option<Ego<'a>> {
        let (view, agents) = (self.view, self.view.agents);
        let walks = agents.preferred_speed[row] > 0.0 && agents.max_speed[row] > 0.0;
        let ground = self.maps.of(view, row).filter(|_| walks)?;
        let mut ego = Ego {
            row,
            id: agents.id[row],
            slot: agents.slot[row],
            body: self.reservations.body(agents.slot[row]),
            at: root.map_or(wide(view.position(row)), |root| root.at),
            velocity: root.map_or(wide(view.velocity(row)), |root| root.velocity),
            begin: root.map_or(view.now, |root| root.time),
            before: root.map_or(Vec::new(), |root| self.until(row, root)),
            radius: ground.clearance.radius(),
            preferred: f64::from(agents.preferred_speed[row]),
            max_speed: f64::from(agents.max_speed[row]),
            map: ground,
            touched: Vec::new(),
        };
        ego.touched = self.touched(&ego);
        Some(ego)
    }

    /// Where an agent will be at a time. `None` where it cannot plan from there: it walks on feet, jumps, or is carried.
    pub fn root(&self, row: usize, time: f64) -> Option<Root> {
        let view = self.view;
        let plan = self.plan(view.agents.slot[row]);
        let (here, goal) = (wide(view.position(row)), wide(view.goal(row)));
        let ground = self.maps.of(view, row).filter(|_| view.legs.is_none())?;
        let root = Root::ahead(plan, (view.now, here), time, goal);
        let takes_off = plan.valid && ground.take_off(view, plan).is_some_and(|begin| begin < root.time);
        let is_carried = [(here, view.now), (root.at, root.time)]
            .iter()
            .any(|&(at, time)| ground.carrier(at, time).is_some());
        (!takes_off && !is_carried).then_some(root)
    }

    /// What an agent does until its new plan begins: its path as it is.
    fn until(&self, row: usize, root: Root) -> Vec<(f64, DVec2)> {
        let (now, here) = (self.view.now, wide(self.view.position(row)));
        let plan = self.plan(self.view.agents.slot[row]);
        let bends = plan.path.iter().copied().filter(|bend| plan.valid && bend.0 > now && bend.0 < root.time);
        std::iter::once((now, plan.place(now).filter(|_| plan.valid).unwrap_or(here))).chain(bends).collect()
    }

    /// Bodies that are nearer than planned ones may be.
    fn touched(&self, ego: &Ego<'_>) -> Vec<(u32, f64)> {
        let (view, margin) = (self.view, f64::from(self.params.margin));
        let here = wide(view.position(ego.row));
        let near = |at: glam::Vec2, radius: f32| {
            let distance = wide(at).distance(here);
            (distance < ego.radius + f64::from(radius) + margin + 2.0 * APART).then_some(distance)
        };
        let movers = view.scripts.iter().enumerate().filter(|(_, script)| !script.carries);
        let movers = movers.filter_map(|(mover, script)| {
            Some((mover as u32, near(script.state(view.now, view.tick).position, script.radius)?))
        });
        let furthest = ego.radius + f64::from(view.widest) + margin + 2.0 * APART;
        let others = self.rows_near(here, furthest).into_iter().filter(|&row| row != ego.row);
        let others = others.filter_map(|row| {
            let distance = near(view.position(row), view.agents.radius[row])?;
            Some((self.reservations.body(view.agents.slot[row]), distance))
        });
        movers.chain(others).collect()
    }

    /// The rows of all who are within a range of a place, ascending, and of some others.
    pub fn rows_near(&self, at: DVec2, range: f64) -> Vec<usize> {
        // A little more: the index rounds to single precision.
        let range = (range * 1.001) as f32 + 1e-3;
        let mut rows = Vec::new();
        self.view.cells.runs(at.x as f32, at.y as f32, range, |first, end| {
            rows.extend(first..end);
            range
        });
        rows.sort_unstable();
        rows
    }

    /// The rows of all whom an agent can meet within the horizon.
    pub fn rows_within_reach(&self, ego: &Ego<'_>) -> Vec<usize> {
        let meeting = (ego.max_speed + f64::from(self.view.fastest)) * self.horizon();
        let mut rows = self.rows_near(ego.at, meeting + ego.radius + f64::from(self.view.widest));
        rows.retain(|&row| row != ego.row);
        rows
    }

    /// Where and when an agent's plans may end.
    fn ending(&self, ego: &Ego<'_>, way: &[DVec2]) -> Ending {
        let (view, now) = (self.view, ego.begin);
        let (cohort, bound) = (&view.cohorts[view.agents.cohort[ego.row] as usize], view.bound(ego.row));
        let goal = way.last().copied().unwrap_or(ego.at);
        let radius = match bound.area {
            // An agent that stops within it is inside the area.
            Some(area) => {
                (INSIDE * depth(area, goal)).clamp(LEAST_RADIUS, ego.radius.max(2.0 * LEAST_RADIUS) / 2.0)
            }
            None => INSIDE * f64::from(bound.goal_radius),
        };
        let places = std::iter::once(&ego.at).chain(way);
        let length: f64 = places.zip(way).map(|(from, to)| from.distance(*to)).sum();
        let soonest = now + (length - radius) / ego.max_speed.max(1e-3);
        Ending {
            goal,
            goal_radius: radius,
            // An agent that is late comes as soon as it can.
            window: cohort.arrive.map(|[from, to]| (from, to)).filter(|window| window.1 > soonest),
            leaves: bound.leaves,
            rest_until: now + self.horizon(),
        }
    }

    /// One agent's turn.
    pub fn serve(&self, request: &PlanRequest, share: Share, turn: Turn) -> Proposal {
        let root = turn.root;
        let late = turn.is_late(self.view.now);
        let mut meter = Meter { late, ..Meter::new(share, turn) };
        let old = self.plan(request.slot);
        let plans = match self.ego_from(request.row, root) {
            // Another frame.
            _ if meter.is_over() => Vec::new(),
            None => vec![(request.slot, self.without(request.row, old))],
            Some(ego) if request.event == Event::Agent && self.still_holds(request.slot, old, &[]) => {
                vec![(ego.slot, Plan { conflict: f64::INFINITY, served: self.view.now, ..old.clone() })]
            }
            Some(ego) if self.has_arrived(request.row) => self.stay(&ego, old, &mut meter),
            Some(ego) => {
                match meter.part(Part::of("way", &[ego.at], 0), |meter| self.way(&ego, old, meter)) {
                    Some(way) => self.think(&ego, old, way, request.event, &mut meter),
                    None => vec![(ego.slot, Plan { unreachable: true, ..self.without(request.row, old) })],
                }
            }
        };
        let Meter { took, spent, searched, mut turn, cut, .. } = meter;
        let expansions = spent - std::mem::replace(&mut turn.spent, spent);
        let plans = if cut { Vec::new() } else { plans };
        let turn = (cut && root.is_some()).then_some(turn);
        let served = TaskRecord {
            id: request.id,
            took,
            expansions,
            searched,
            event: Some(request.event),
            waited: 0.0,
        };
        Proposal { request: *request, plans, spent: expansions, served, turn }
    }

    /// Where the searches of an agent's tasks look when it plans now, by task. Nothing comes of it.
    pub fn seen(&self, row: usize, share: Share) -> [Vec<DVec2>; 5] {
        let mut meter = Meter { seen: Some(Default::default()), ..Meter::new(share, Turn::default()) };
        if let Some(ego) = self.ego(row) {
            let old = Plan { way: Vec::new(), ..self.plan(ego.slot).clone() };
            if let Some(way) = self.way(&ego, &old, &mut meter) {
                self.think(&ego, &old, way, Event::Ending, &mut meter);
            }
        }
        meter.seen.unwrap_or_default()
    }

    /// T(Σ3), T(Σ4), and where there is no way on, a request to those who are in the way.
    fn think(
        &self,
        ego: &Ego<'_>,
        old: &Plan,
        way: Vec<DVec2>,
        event: Event,
        meter: &mut Meter,
    ) -> Vec<(u32, Plan)> {
        let line = meter.time(tasks::Task::Grid, |meter| {
            meter.part(Part::of("line", &way, 0), |meter| self.line(ego, &way, meter))
        });
        if meter.is_cut() {
            return Vec::new();
        }
        let inflation = match event {
            Event::Improve => (old.inflation - BETTER).max(1.0),
            _ => self.params.inflation,
        };
        let ending = self.ending(ego, &way);
        let course = Course { way: &way, line: &line, ending: &ending, inflation };
        let remaining = RemainingDistance::along(&line[1..]);
        let known = Plan { way: way.clone(), ..old.clone() };
        let patience = f64::from(self.params.patience);
        // No agent that walks on feet asks others to make room: where they would go is not known to have ground.
        let may_ask = |plan: &Plan| {
            let has_waited = plan.blocked + patience <= self.view.now + 1e-9;
            has_waited && self.view.legs.is_none() && event != Event::Improve
        };
        let ask = |plan: &Plan, meter: &mut Meter| {
            meter.time(tasks::Task::SpaceTime, |meter| self.make_way(ego, plan, &ending, meter))
        };
        let mut found = self.without_search(ego, &course, meter);
        // To search has not helped it lately. With time enough it is tried once more: to ask is dear for others.
        let asks = found.is_none() && may_ask(&known) && meter.share.has_deadline();
        if let Some(plans) = asks.then(|| ask(&known, meter)).flatten() {
            return plans;
        }
        found = found.or_else(|| self.with_search(ego, &course, meter));
        let aims = Aims { old, remaining: &remaining, ending: &ending };
        let found = meter.time(tasks::Task::Footsteps, |meter| {
            found.and_then(|found| self.stepped(ego, found, &aims, meter))
        });
        let found = found.map(|found| Found { path: ego.from_now(found.path), ..found });
        let plan = self.outcome(ego, old, &remaining, found, event);
        let goal = wide(self.view.goal(ego.row));
        let plan = Plan { way, line, goal, served: self.view.now, unreachable: false, ..plan };
        let asked = (!asks && may_ask(&plan)).then(|| ask(&plan, meter)).flatten();
        asked.unwrap_or_else(|| vec![(ego.slot, plan)])
    }

    /// T(Σ4) where it is plain how to get there.
    fn without_search(&self, ego: &Ego<'_>, course: &Course<'_>, meter: &mut Meter) -> Option<Found> {
        let others = Others::default();
        let plainly = |ending: &Ending, meter: &mut Meter| {
            let found = self.walk_line(ego, course.line, ending, others, meter);
            found.or_else(|| self.crossing(ego, course.way, ending, others, meter))
        };
        meter.time(tasks::Task::SpaceTime, |meter| self.visit(ego, course.ending, others, meter, plainly))
    }

    /// T(Σ4) where it is not.
    fn with_search(&self, ego: &Ego<'_>, course: &Course<'_>, meter: &mut Meter) -> Option<Found> {
        let others = Others::default();
        let search = |ending: &Ending, meter: &mut Meter| {
            let found = self.search(ego, course.line, ending, course.inflation, others, meter);
            // An agent that others keep from being in time comes as soon as it can.
            let late = Ending { window: None, ..*ending };
            let is_late = found.is_none() && ending.window.is_some();
            found.or_else(|| {
                is_late.then(|| self.search(ego, course.line, &late, course.inflation, others, meter))?
            })
        };
        meter.time(tasks::Task::SpaceTime, |meter| self.visit(ego, course.ending, others, meter, search))
    }

    /// What becomes of a plan after a search.
    fn outcome(
        &self,
        ego: &Ego<'_>,
        old: &Plan,
        remaining: &RemainingDistance,
        found: Option<Found>,
        event: Event,
    ) -> Plan {
        let now = self.view.now;
        let Some(found) = found else {
            if event == Event::Improve {
                return old.clone();
            }
            let blocked = old.blocked.min(now);
            return Plan { blocked, ..self.without(ego.row, old) };
        };
        let left = |at: DVec2| remaining.distance(&ego.map.space, at);
        let end = found.path.last().map_or(ego.at, |last| last.1);
        let arrive = self.view.cohorts[self.view.agents.cohort[ego.row] as usize].arrive;
        let has_time = arrive.is_some_and(|[_, to]| now < to);
        let is_blocked = !found.reaches && !has_time && left(ego.at) - left(end) < NO_PROGRESS;
        if event == Event::Improve
            && self.cost(ego, remaining, &found.path) >= self.cost(ego, remaining, &self.ahead(old))
        {
            // The bound has fallen: the plan is better than was known.
            return Plan { inflation: found.inflation.min(old.inflation), ..old.clone() };
        }
        Plan {
            valid: true,
            path: found.path,
            steps: found.steps,
            reaches: found.reaches,
            width: found.width,
            inflation: found.inflation,
            conflict: f64::INFINITY,
            blocked: if is_blocked { old.blocked.min(now) } else { f64::INFINITY },
            failures: 0,
            ..old.clone()
        }
    }

    /// What is left of a plan's path.
    fn ahead(&self, plan: &Plan) -> Vec<(f64, DVec2)> {
        let now = self.view.now;
        let here = plan.place(now).map(|at| (now, at));
        here.into_iter().chain(plan.path.iter().copied().filter(|point| point.0 > now)).collect()
    }

    /// What a path costs, and what is left after it.
    fn cost(&self, ego: &Ego<'_>, remaining: &RemainingDistance, path: &[(f64, DVec2)]) -> f64 {
        let walk = self.walk(ego);
        let pieces = path.windows(2).map(|pair| {
            let time = pair[1].0 - pair[0].0;
            let speed = pair[0].1.distance(pair[1].1) / time;
            time * (walk.per_second + walk.per_speed_squared * speed * speed)
        });
        let left = path.last().map_or(0.0, |last| remaining.distance(&ego.map.space, last.1));
        pieces.sum::<f64>() + left * 2.0 * walk.per_second / ego.preferred.max(0.05)
    }

    /// What becomes of a plan where there is no other: it stays as long as it can be walked. Others rely on it, so no agent
    /// stops here; where it must, the guard sees to that, and warns them.
    pub fn without(&self, row: usize, old: &Plan) -> Plan {
        if old.valid {
            return Plan { failures: old.failures + 1, served: self.view.now, ..old.clone() };
        }
        Plan {
            valid: false,
            path: vec![(self.view.now, wide(self.view.position(row)))],
            steps: Vec::new(),
            reaches: false,
            conflict: f64::INFINITY,
            failures: old.failures + 1,
            served: self.view.now,
            ..old.clone()
        }
    }

    /// Whether a plan that took several steps to make can be walked from here: no piece of it is faster than the agent, and no bend in
    /// a wall, unless the agent is in one.
    pub fn can_walk(&self, slot: u32, plan: &Plan) -> bool {
        let row = self.rows[slot as usize] as usize;
        let Some(ground) = self.maps.of(self.view, row) else { return false };
        let here = wide(self.view.position(row));
        let (ahead, fastest) = (self.ahead(plan), f64::from(self.view.agents.max_speed[row]));
        let is_slow = |pair: &[(f64, DVec2)]| {
            pair[0].1.distance(pair[1].1) <= (pair[1].0 - pair[0].0) * fastest * 1.01 + 1e-3
        };
        let has_room = |at: DVec2| ground.clearance.has_room(at) || ground.leaves_the_floor();
        let begins_here =
            ahead.first().is_some_and(|first| first.1.distance(here) <= f64::from(self.params.tolerance));
        let is_free = !has_room(here) || ahead.iter().skip(1).all(|bend| has_room(bend.1));
        begins_here && is_free && ahead.windows(2).all(is_slow)
    }

    /// Whether a plan keeps clear of every agent as things are, but for some whose plans change with it.
    pub fn still_holds(&self, slot: u32, plan: &Plan, but: &[u32]) -> bool {
        let Some(ego) = self.ego(self.rows[slot as usize] as usize) else { return false };
        let mut ignored = Vec::new();
        for &other in but {
            let body = self.reservations.body(other) as usize;
            ignored.resize(ignored.len().max(body + 1), false);
            ignored[body] = true;
        }
        let leaves = self.view.bound(ego.row).leaves;
        let others = Others { ignored: &ignored, new: &[] };
        self.meeting(&ego, &self.ahead(plan), leaves && plan.reaches, others).is_none()
    }

    /// T(Σ1) and T(Σ2): the bends of the way to the goal. The old way does as long as it is in sight and leads on.
    fn way(&self, ego: &Ego<'_>, old: &Plan, meter: &mut Meter) -> Option<Vec<DVec2>> {
        let same_goal = tasks::has_area(self.view, ego.row) || old.goal == wide(self.view.goal(ego.row));
        let is_blocked = old.blocked + f64::from(self.params.patience) <= self.view.now;
        let rest = (same_goal && !is_blocked).then(|| self.rest_of_way(ego, &old.way)).flatten();
        if rest.is_some() {
            return rest;
        }
        meter.spent += WAY;
        let static_way = meter.time(tasks::Task::Navmesh, |meter| {
            let begin = (ego.begin, ego.at);
            ego.map.way(self.view, ego.row, begin, |looked_at| meter.see(tasks::Task::Navmesh, looked_at))
        })?;
        let way =
            meter.time(tasks::Task::DynamicNavmesh, |meter| self.dynamic_way(ego, old, &static_way, meter));
        Some(way.unwrap_or(static_way))
    }

    /// The bends that are left of a way: up to the last one that is in sight nothing has to be passed.
    fn rest_of_way(&self, ego: &Ego<'_>, way: &[DVec2]) -> Option<Vec<DVec2>> {
        let sees = |bend: &DVec2| ego.map.sees(ego.at, *bend);
        let first = (0..way.len().min(4)).rev().find(|&bend| sees(&way[bend]))?;
        Some(way[first..].to_vec())
    }

    /// T(Σ2). Where no agent will be on the static path, there is no better one.
    fn dynamic_way(
        &self,
        ego: &Ego<'_>,
        old: &Plan,
        static_way: &[DVec2],
        meter: &mut Meter,
    ) -> Option<Vec<DVec2>> {
        let mesh = ego.map.fine.as_ref().map(Terrain::mesh)?;
        let class = self.maps.class(self.view, ego.row);
        let asker = Asker { class, from: ego.at, speed: ego.preferred.max(0.1), slot: ego.slot };
        let held_up = (self.view.now - old.blocked).max(0.0);
        if held_up == 0.0 && !self.crowding.is_on(self.view, ego.map, asker, static_way) {
            return None;
        }
        let mut density = self.crowding.density(self.view, asker)?;
        self.hold_up(ego, mesh, held_up, &mut density);
        let goal = *static_way.last()?;
        let ends = [ego.map.room(mesh, ego.at)?, ego.map.room(mesh, goal)?];
        let domain = DynamicNavmesh::new(mesh, &density, self.params.crowding.into(), ends)?;
        let settings = Settings { inflation: 1.0, ..Settings::default() };
        let anew = || AnytimeDynamicAstar::new(settings, Aim::At(Gate::START), &[Gate::GOAL]);
        let mut search = meter.resume().unwrap_or_else(anew);
        let before = search.effort().expansions;
        improve(&mut search, &domain, MOST_GATES, meter);
        meter.spent += (search.effort().expansions - before) / GATES_OF_AN_EXPANSION;
        if meter.is_cut() {
            meter.leave(search);
            return None;
        }
        meter
            .see(tasks::Task::DynamicNavmesh, search.visited().filter_map(|(gate, _)| domain.place_of(gate)));
        let mut gates = Vec::new();
        search.path(&domain, &mut gates)?;
        let (mut route, _) = domain.route(&gates);
        // The search goes from side to side, which is not as straight as the ways are. What leaves the floor has a cost of its
        // own.
        let known: Vec<DVec2> = std::iter::once(ego.at).chain(static_way.iter().copied()).collect();
        if !ego.map.leaves_the_floor() && domain.cost_along(&known) <= domain.cost_along(&route) {
            return None;
        }
        if route.first() == Some(&ego.at) {
            route.remove(0);
        }
        route.extend((ends[1] != goal).then_some(goal));
        Some(route)
    }

    /// Makes polygons dearer in which bodies are that an agent cannot pass: by as far as it could walk while it waits for them.
    fn hold_up(&self, ego: &Ego<'_>, mesh: &Mesh, held_up: f64, density: &mut Density) {
        if held_up == 0.0 {
            return;
        }
        let mut held: Vec<(usize, f64)> = Vec::new();
        for (at, radius, wait) in self.in_the_way(ego, held_up) {
            let rim = (0..8).map(|eighth| at + direction(2 * eighth) * radius);
            held.extend(rim.chain([at]).filter_map(|place| Some((mesh.locate(place)?, wait))));
        }
        held.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        held.dedup_by_key(|held| held.0);
        for (polygon, wait) in held {
            let across = mesh.area(polygon).sqrt().max(ego.radius);
            density.phi[polygon] += (wait * ego.preferred / across / f64::from(self.params.crowding)) as f32;
        }
    }

    /// Scripted bodies, and agents that stand, as near as Σ3 ever looks: where, how wide, m, and how long they will be there, s. Of a
    /// body that is parked the script says so; behind others one that has been held up for some time expects to be for as long
    /// again.
    fn in_the_way(&self, ego: &Ego<'_>, held_up: f64) -> Vec<(DVec2, f64, f64)> {
        let (view, reach) = (self.view, super::yielding::AHEAD[2]);
        let movers = view.scripts.iter().filter(|script| !script.carries).map(|script| {
            let at = script.state(view.now, view.tick).position;
            let leaves = script.path.iter().find(|bend| bend.0 > view.now && bend.1 != at);
            let parked = script
                .path
                .iter()
                .take_while(|bend| bend.0 <= view.now)
                .last()
                .is_none_or(|bend| bend.1 == at);
            let wait = leaves.map_or(FOR_EVER, |bend| bend.0 - view.now);
            (at, script.radius, if parked { wait.max(held_up) } else { held_up })
        });
        let stands =
            |&row: &usize| row != ego.row && self.plan(view.agents.slot[row]).end() <= view.now + 1.0;
        let standing = self.rows_near(ego.at, reach).into_iter().filter(stands);
        let standing = standing.map(|row| (view.position(row), view.agents.radius[row], held_up));
        let all = movers.chain(standing).map(|(at, radius, wait)| (wide(at), f64::from(radius), wait));
        all.filter(|&(at, radius, _)| at.distance(ego.at) < reach + radius).collect()
    }

    pub fn walk(&self, ego: &Ego<'_>) -> Walk {
        let preferred = ego.preferred.max(0.05);
        Walk {
            step: self.step(),
            lattice: self.params.lattice.into(),
            speed_step: preferred / SPEED_STEPS,
            max_speed: ego.max_speed.min(MOST_TIMES_PREFERRED * preferred),
            per_second: PER_SECOND,
            // So that the preferred speed is the cheapest.
            per_speed_squared: PER_SECOND / (preferred * preferred),
            per_change_squared: 0.5,
        }
    }

    /// T(Σ4): a search in a tunnel around a line.
    pub fn search(
        &self,
        ego: &Ego<'_>,
        line: &[DVec2],
        ending: &Ending,
        inflation: f32,
        others: Others<'_>,
        meter: &mut Meter,
    ) -> Option<Found> {
        meter.part(others.part("search", line), |meter| {
            let remaining = RemainingDistance::along(&line[1..]);
            let window = self.window(ego, &remaining, ending, others)?;
            let search = self.guided(ego, &window, line, inflation, meter)?;
            self.found(ego, &window, search, others)
        })
    }

    /// Space and time as an agent sees it.
    fn window<'b>(
        &'b self,
        ego: &'b Ego<'_>,
        remaining: &'b RemainingDistance,
        ending: &Ending,
        others: Others<'b>,
    ) -> Option<Window<'b>> {
        let exceptions = Exceptions { ignored: others.ignored, touched: &ego.touched };
        let published = &self.reservations.published;
        let around = Surroundings { clearance: &ego.map.clearance, published, own: Some(ego.body) };
        let goal = Goal { at: ending.goal, radius: ending.goal_radius, window: (0.0, f64::INFINITY) };
        let walk = SpaceTime::new(self.walk(ego), around, (ego.begin, ego.at), goal).ok()?;
        Some(Window {
            walk: walk
                .with_fovea(None)
                .with_exceptions(exceptions)
                .with_jumps(&ego.map.jumps)
                .with_ferries(ego.map.ferries()),
            remaining,
            space: &ego.map.space,
            published,
            exceptions,
            own: ego.body,
            radius: ego.radius,
            last: (self.horizon() / self.step()).round() as u16,
            ending: *ending,
            known: Default::default(),
        })
    }

    /// Searches until there is a plan or the share is spent. `None` where the clock has cut it.
    fn guided(
        &self,
        ego: &Ego<'_>,
        window: &Window<'_>,
        line: &[DVec2],
        inflation: f32,
        meter: &mut Meter,
    ) -> Option<Guided<Moment>> {
        let mut search = meter.resume().unwrap_or_else(|| {
            let start = window.walk.moment(ego.begin, ego.at, ego.velocity);
            let near = cut(line, ego.max_speed * self.horizon());
            let tunnel = Tunnel {
                line: Line::timed(near, ego.begin, ego.preferred.max(0.05)),
                width: Width { space: self.params.width.into(), time: self.horizon() },
                goal_radius: window.ending.goal_radius,
            };
            let settings = Settings { inflation, step: BETTER, anew_share: 1.0 };
            Guided::new(settings, Aim::Ends, &[start], tunnel).with_patience(PATIENCE)
        });
        let forward = Reversed(window);
        loop {
            let slice = meter.slice();
            let before = search.effort().expansions;
            let status = search.improve(&forward, Budget::expansions(slice));
            meter.searched(search.effort().expansions - before);
            if meter.is_cut() {
                meter.leave(search);
                return None;
            }
            if slice == 0 || !matches!(status, Status::OutOfBudget { bound: None }) {
                break;
            }
        }
        let visited = search.search().visited();
        meter.see(tasks::Task::SpaceTime, visited.filter_map(|(moment, _)| window.place_of(moment)));
        Some(search)
    }

    /// The plan that a search has found.
    fn found(
        &self,
        ego: &Ego<'_>,
        window: &Window<'_>,
        mut search: Guided<Moment>,
        others: Others<'_>,
    ) -> Option<Found> {
        let (mut states, mut path) = (Vec::new(), Vec::new());
        search.path(&Reversed(window), &mut states)?;
        window.walk.trajectory(&states, &mut path);
        let end = window.place_of(*states.last()?)?;
        let reaches = end.distance(window.ending.goal) <= window.ending.goal_radius;
        let inflation = search.search().inflation();
        let width = search.tunnel().width.space.min(1e6) as f32;
        Some(Found { path: self.taut(ego, &path, others), steps: Vec::new(), reaches, inflation, width })
    }
}

/// Searches a coarse domain until there is a way, or expansions or time are up.
pub(super) fn improve<D: Domain>(
    search: &mut AnytimeDynamicAstar<D::State>,
    domain: &D,
    most: u64,
    meter: &mut Meter,
) {
    for _ in 0..most.div_ceil(COARSE_SLICE) {
        let status = search.improve(domain, Budget::expansions(COARSE_SLICE));
        if meter.is_over() || !matches!(status, Status::OutOfBudget { .. }) {
            break;
        }
    }
}

/// How far a place is from the rim of an area, m.
fn depth(area: &[glam::Vec2], place: DVec2) -> f64 {
    let next = area.iter().skip(1).chain(area.first());
    let sides = area.iter().zip(next).map(|(&a, &b)| distance_to_segment(place, wide(a), wide(b)));
    sides.fold(f64::INFINITY, f64::min)
}
