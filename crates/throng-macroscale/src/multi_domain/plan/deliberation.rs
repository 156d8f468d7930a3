//! One agent's turn: its tasks from coarse to fine, as far as events ask for them.

use crate::domain::Placed;
use crate::domain::dynamic_navmesh::{DynamicNavmesh, Gate};
use crate::domain::space_time::{APART, Exceptions, Goal, SpaceTime, Surroundings, Walk, direction};
use crate::multi_domain::conflicts::sharing::Destinations;
use crate::multi_domain::domain_map::{DomainMap, DomainMaps};
use crate::multi_domain::drafts::Drafts;
use crate::multi_domain::plan::crowding::{Ahead, Asker, Crowding};
use crate::multi_domain::plan::direct::{Found, Others};
use crate::multi_domain::plan::footsteps::Aims;
use crate::multi_domain::plan::kept::LiveSearch;
use crate::multi_domain::plan::remaining::RemainingDistance;
use crate::multi_domain::plan::window::{Ending, Window};
use crate::multi_domain::plan::{Plan, Plans};
use crate::multi_domain::reservations::Reservations;
use crate::multi_domain::schedule::budget::{Comparison, Share, TaskRecord};
use crate::multi_domain::schedule::tasks::{self, Event, PlanRequest};
use crate::multi_domain::{Known, MultiDomain, Session, wide};
use crate::navmesh::{Mesh, Terrain};
use crate::search::{Aim, AnytimeDynamicAstar, Budget, Reversed, Settings};
use crate::tunnel::{Guided, Line, Tunnel, Width};
use glam::DVec2;
use std::time::Instant;
use throng_core::geom::double::{cut, distance_to_segment, length};
use throng_core::memory::mix;
use throng_core::world::View;

/// What agents plan with: all that is known, frozen for a batch.
#[derive(Clone, Copy)]
pub(crate) struct Snapshot<'a> {
    pub view: View<'a>,
    pub params: &'a MultiDomain,
    pub maps: &'a DomainMaps,
    pub reservations: &'a Reservations,
    crowding: &'a Crowding,
    pub destinations: &'a Destinations,
    pub plans: &'a Plans,
    drafts: &'a Drafts,
    pub rows: &'a [u32],
}

/// The agent that plans.
pub(crate) struct Ego<'a> {
    pub row: usize,
    pub id: u32,
    pub slot: u32,
    pub body: u32,
    pub at: DVec2,
    pub velocity: DVec2,
    /// As wide as it is planned for, m.
    pub radius: f64,
    /// m/s.
    pub preferred: f64,
    pub max_speed: f64,
    pub map: &'a DomainMap,
    /// Bodies that are nearer than they may be already, and how near, m.
    pub touched: Vec<(u32, f64)>,
}

/// What an agent wants to do. Others may have to change their plans for it.
pub(crate) struct Proposal {
    pub request: PlanRequest,
    /// By slot.
    pub plans: Vec<(u32, Plan)>,
    pub spent: u64,
    pub served: TaskRecord,
    pub search: LiveSearch,
    /// How many others the agent would meet on its way, where that is another one than before.
    pub met: Option<f64>,
}

/// What a turn has used of its share.
pub(crate) struct Meter {
    pub share: Share,
    pub spent: u64,
    took: [f32; 5],
    searched: [u64; 5],
    /// The agent's search in Σ4, whether it was asked in this turn, and whether it has more to do before it can tell.
    pub search: LiveSearch,
    pub has_searched: bool,
    pub is_pending: bool,
    /// Whether it may find a better plan than it has.
    pub may_improve: bool,
    /// Whether its way is one of Σ1 that Σ2 has not been asked about.
    is_coarse: bool,
    pub compared: Option<Comparison>,
    /// Where searches looked, by task, if it is asked for.
    seen: Option<[Vec<DVec2>; 5]>,
}

impl Meter {
    fn new(share: Share, search: LiveSearch) -> Meter {
        Meter {
            share,
            spent: 0,
            took: [0.0; 5],
            searched: [0; 5],
            search,
            has_searched: false,
            is_pending: false,
            may_improve: false,
            is_coarse: false,
            compared: None,
            seen: None,
        }
    }

    /// A search tells where it looked.
    pub fn see(&mut self, task: tasks::Task, places: impl Iterator<Item = DVec2>) {
        if let Some(seen) = &mut self.seen {
            seen[task as usize].extend(places.take(MOST_SEEN));
        }
    }

    /// A search has expanded states, each of which is charged as a part of one in space and time.
    pub fn charge(&mut self, task: tasks::Task, expansions: u64, per_charge: u64) {
        self.searched[task as usize] += expansions;
        self.spent += expansions / per_charge;
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
/// Who meets more than were known of looks for another way.
const SURPRISE: f64 = 0.5;
/// Who stands as near has to move before one can, m between bodies.
const NEAR: f64 = 2.0;
/// A way that saves less is not taken in the place of a known one, m: densities are as coarse as polygons.
const SWITCH: f64 = 0.1;
/// What a way in Σ1 counts as.
const WAY: u64 = 2;
/// By how much ε falls from plan to plan.
pub(crate) const BETTER: f32 = 0.5;
/// Expansions without a plan after which a tunnel of the first width is too narrow.
const PATIENCE: u64 = 120;
/// An agent that gets no nearer to its goal within a horizon than it has been, by this, has no way on, m.
const NO_PROGRESS: f64 = 0.5;
/// Who is no nearer to its goal than it has been, but for this, has not got on, m.
const NO_NEARER: f64 = 1e-3;
/// What walking costs at least: see [`Walk::per_second`].
pub(crate) const PER_SECOND: f64 = 2.23;
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
        let Known { maps, reservations, crowding, destinations, rows } = &**known;
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
        self.drafts.get(slot).unwrap_or_else(|| self.plans.get(slot))
    }

    /// `None` for an agent that does not walk at all.
    pub fn ego(&self, row: usize) -> Option<Ego<'a>> {
        let (view, agents) = (self.view, self.view.agents);
        let walks = agents.preferred_speed[row] > 0.0 && agents.max_speed[row] > 0.0;
        let ground = self.maps.of(view, row).filter(|_| walks)?;
        let mut ego = Ego {
            row,
            id: agents.id[row],
            slot: agents.slot[row],
            body: self.reservations.body(agents.slot[row]),
            at: wide(view.position(row)),
            velocity: wide(view.velocity(row)),
            radius: ground.clearance.radius(),
            preferred: f64::from(agents.preferred_speed[row]),
            max_speed: f64::from(agents.max_speed[row]),
            map: ground,
            touched: Vec::new(),
        };
        ego.touched = self.touched(&ego);
        Some(ego)
    }

    /// Bodies that are nearer than planned ones may be.
    fn touched(&self, ego: &Ego<'_>) -> Vec<(u32, f64)> {
        let (view, margin) = (self.view, f64::from(self.params.margin));
        let near = |at: glam::Vec2, radius: f32| {
            let distance = wide(at).distance(ego.at);
            (distance < ego.radius + f64::from(radius) + margin + 2.0 * APART).then_some(distance)
        };
        // A little more: scripts are in single precision.
        let movers = self.movers_near(ego.at, ego.radius + margin + 3.0 * APART);
        let movers = movers.into_iter().filter_map(|mover| {
            let script = &view.scripts[mover as usize];
            Some((mover, near(script.state(view.now, view.tick).position, script.radius)?))
        });
        let furthest = ego.radius + f64::from(view.widest) + margin + 2.0 * APART;
        let others = self.rows_near(ego.at, furthest).into_iter().filter(|&row| row != ego.row);
        let others = others.filter_map(|row| {
            let distance = near(view.position(row), view.agents.radius[row])?;
            Some((self.reservations.body(view.agents.slot[row]), distance))
        });
        movers.chain(others).collect()
    }

    /// Scripted bodies whose discs are within a range of a place now, and some others, by number.
    pub fn movers_near(&self, at: DVec2, range: f64) -> Vec<u32> {
        let is_mover = |body| self.reservations.agent(body).is_none();
        let published = &self.reservations.published;
        published.some_within([at - range, at + range], [self.view.now; 2], is_mover)
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
        let (view, now) = (self.view, self.view.now);
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
    pub fn serve(&self, request: &PlanRequest, share: Share, search: LiveSearch) -> Proposal {
        let mut meter = Meter::new(share, search);
        let old = self.plan(request.slot);
        let plans = match self.ego(request.row) {
            // Another frame.
            _ if share.is_over() => Vec::new(),
            None => vec![(request.slot, self.without(request.row, old))],
            Some(ego) if request.event == Event::Agent && self.still_holds(request.slot, old, &[]) => {
                vec![(ego.slot, Plan { conflict: f64::INFINITY, served: self.view.now, ..old.clone() })]
            }
            Some(ego) if self.has_arrived(request.row) => self.stay(&ego, old, &mut meter),
            Some(ego) if request.event == Event::Crowded && self.met(request.row, &old.way) <= old.met => {
                vec![(ego.slot, Plan { met: self.met(request.row, &old.way), ..old.clone() })]
            }
            Some(ego) => match self.way(&ego, old, &mut meter) {
                // The path that it has leads along the same way.
                Some(way) if request.event == Event::Crowded && old.way.ends_with(&way) => {
                    vec![(ego.slot, Plan { met: self.met(request.row, &way), way, ..old.clone() })]
                }
                Some(way) => self.think(&ego, old, way, request.event, &mut meter),
                None => vec![(ego.slot, Plan { unreachable: true, ..self.without(request.row, old) })],
            },
        };
        let own = plans.iter().find(|(slot, plan)| *slot == request.slot && plan.way != old.way);
        let met = own.map(|(_, plan)| plan.met).filter(|_| !meter.is_coarse);
        let Meter { took, spent, searched, compared, search, .. } = meter;
        let searching = plans.iter().any(|(slot, plan)| *slot == request.slot && plan.searching);
        let waited = (self.view.now - request.since) as f32;
        let served =
            TaskRecord { id: request.id, took, waited, searching, expansions: spent, searched, compared };
        Proposal { request: *request, plans, spent, served, search, met }
    }

    /// Where the searches of an agent's tasks look when it plans now, by task. Nothing comes of it.
    pub fn seen(&self, row: usize, share: Share) -> [Vec<DVec2>; 5] {
        let mut meter = Meter { seen: Some(Default::default()), ..Meter::new(share, LiveSearch::default()) };
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
        let line = meter.time(tasks::Task::Grid, |meter| self.line(ego, &way, meter));
        let improves = event == Event::Improve;
        let is_held_up = old.blocked + f64::from(self.params.patience) <= self.view.now;
        let inflation = if improves { (old.inflation - BETTER).max(1.0) } else { self.params.inflation };
        let ending = self.ending(ego, &way);
        let others = Others::default();
        let reach = |ending: &Ending, meter: &mut Meter| {
            let found = self.walk_line(ego, &line, ending, others, meter);
            let found = found.filter(|found| !improves || found.inflation < old.inflation);
            let found = found.or_else(|| self.crossing(ego, &way, ending, others, meter));
            let found = found.or_else(|| self.reach_waypoint(ego, &line, ending, others, improves, meter));
            // Who has had no way on for a while looks closer: there are gaps between cells, and bays on the way to no waypoint.
            let begins_anew = is_held_up || !self.keeps_searches(ego, ending);
            let found = found.or_else(|| {
                begins_anew.then(|| self.search(ego, &line, ending, inflation, others, meter))?
            });
            let found = found.or_else(|| self.advance(ego, &line, meter));
            // An agent that others keep from being in time comes as soon as it can.
            let late = Ending { window: None, ..*ending };
            let is_late = found.is_none() && ending.window.is_some();
            found.or_else(|| is_late.then(|| self.search(ego, &line, &late, inflation, others, meter))?)
        };
        let found =
            meter.time(tasks::Task::SpaceTime, |meter| self.visit(ego, &ending, others, meter, reach));
        let remaining = RemainingDistance::along(&line[1..]);
        let aims = Aims { old, remaining: &remaining, ending: &ending };
        let found = meter.time(tasks::Task::Footsteps, |meter| {
            found.and_then(|found| self.stepped(ego, found, &aims, meter))
        });
        let searching = meter.is_pending && found.is_none();
        let plan =
            if searching { old.clone() } else { self.outcome(ego, old, (&way, &remaining), found, event) };
        let may_be_better = !improves && plan.inflation > tasks::GOOD_ENOUGH;
        let improvable = if meter.has_searched { meter.may_improve } else { may_be_better };
        let plan = Plan { searching, improvable, ..plan };
        let goal = wide(self.view.goal(ego.row));
        // Who has not asked Σ2 knows of nobody.
        let met = if meter.is_coarse { 0.0 } else { self.met(ego.row, &way) };
        let plan = Plan { way, line, goal, met, served: self.view.now, unreachable: false, ..plan };
        let patience = f64::from(self.params.patience);
        // No agent that walks on feet asks others to make room: where they would go is not known to have ground.
        let may_ask = self.view.legs.is_none() && !improves;
        if plan.blocked + patience <= self.view.now + 1e-9 && may_ask && !searching {
            let asked = meter.time(tasks::Task::SpaceTime, |meter| self.make_way(ego, &plan, &ending, meter));
            if let Some(plans) = asked {
                return plans;
            }
            if plan.failures > 0 {
                let led = !plan.valid && self.is_in_knot(ego.row);
                return vec![(ego.slot, Plan { led, heard: self.said_around(ego.row), ..plan })];
            }
        }
        vec![(ego.slot, plan)]
    }

    /// Whether an agent without a plan is in a knot: enough of those beside it have none either, or are led through it.
    pub fn is_in_knot(&self, row: usize) -> bool {
        let is_stuck = |&other: &usize| {
            let plan = self.plan(self.view.agents.slot[other]);
            let walks = self.view.agents.status[other] == throng_core::world::Status::Walking;
            walks && (plan.led || !plan.valid)
        };
        self.view.legs.is_none() && self.rows_beside(row).filter(is_stuck).count() >= self.params.knot
    }

    /// The rows of those who have to move before an agent can.
    fn rows_beside(&self, row: usize) -> impl Iterator<Item = usize> {
        let view = self.view;
        let (at, radius) = (wide(view.position(row)), f64::from(view.agents.radius[row]) + NEAR);
        let rows = self.rows_near(at, radius + f64::from(view.widest)).into_iter();
        rows.filter(move |&other| {
            let reach = radius + f64::from(view.agents.radius[other]);
            other != row && wide(view.position(other)).distance(at) <= reach
        })
    }

    /// Who is near an agent, and which of their paths they follow; never 0.
    pub fn said_around(&self, row: usize) -> u64 {
        let agents = self.view.agents;
        let said = self
            .rows_beside(row)
            .map(|other| u64::from(agents.id[other]) << 32 | u64::from(self.plan(agents.slot[other]).said));
        // A sum: rows may be in another order.
        said.fold(0, |sum: u64, said| sum.wrapping_add(mix(said))).max(1)
    }

    /// What becomes of a plan after a search.
    fn outcome(
        &self,
        ego: &Ego<'_>,
        old: &Plan,
        (way, remaining): (&[DVec2], &RemainingDistance),
        found: Option<Found>,
        event: Event,
    ) -> Plan {
        let now = self.view.now;
        let on_way = RemainingDistance::along(way);
        let left = |at: DVec2| on_way.distance(&ego.map.space, at);
        let before = if old.way.ends_with(way) { old.nearest } else { f64::INFINITY };
        let nearest = before.min(left(ego.at));
        let Some(found) = found else {
            if event == Event::Improve {
                return old.clone();
            }
            let blocked = old.blocked.min(now);
            return Plan { blocked, nearest, ..self.without(ego.row, old) };
        };
        let end = found.path.last().map_or(ego.at, |last| last.1);
        let arrive = self.view.cohorts[self.view.agents.cohort[ego.row] as usize].arrive;
        let has_time = arrive.is_some_and(|[_, to]| now < to);
        // A plan that is lost again and again, without getting nearer, is no way on either.
        let is_stuck = event == Event::Invalid && before - left(ego.at) < NO_NEARER;
        let leads_nowhere = !found.reaches && nearest - left(end) < NO_PROGRESS;
        let is_blocked = is_stuck || !has_time && leads_nowhere;
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
            nearest,
            failures: 0,
            led: false,
            heard: 0,
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
        let here = wide(self.view.position(row));
        let stands = old.path.len() == 1 && old.path[0].1 == here;
        Plan {
            valid: false,
            path: if stands { old.path.clone() } else { vec![(self.view.now, here)] },
            steps: Vec::new(),
            reaches: false,
            conflict: f64::INFINITY,
            failures: old.failures + 1,
            served: self.view.now,
            ..old.clone()
        }
    }

    /// Whether a plan keeps clear of every agent as things are, but for some whose plans change with it.
    pub fn still_holds(&self, slot: u32, plan: &Plan, but: &[u32]) -> bool {
        let Some(ego) = self.ego(self.rows[slot as usize] as usize) else { return false };
        let mut ignored: Vec<u32> = but.iter().map(|&other| self.reservations.body(other)).collect();
        ignored.sort_unstable();
        let leaves = self.view.bound(ego.row).leaves;
        let others = Others { ignored: &ignored, new: &[] };
        self.meeting(&ego, &self.ahead(plan), leaves && plan.reaches, others).is_none()
    }

    /// T(Σ1) and T(Σ2): the bends of the way to the goal. The old way does as long as it is in sight and leads on, unless those
    /// whom one meets there are worth another.
    fn way(&self, ego: &Ego<'_>, old: &Plan, meter: &mut Meter) -> Option<Vec<DVec2>> {
        let same_goal = tasks::has_area(self.view, ego.row) || old.goal == wide(self.view.goal(ego.row));
        let is_blocked = old.blocked + f64::from(self.params.patience) <= self.view.now;
        let known = (same_goal && !is_blocked).then(|| self.rest_of_way(ego, &old.way)).flatten();
        let known = match known {
            // Platforms that were chosen are taken.
            Some(rest) if ego.map.leaves_the_floor() => return Some(rest),
            Some(rest) => rest,
            None => self.static_way(ego, meter)?,
        };
        // Where time counts, those who have nothing yet walk by Σ1 first: T(Σ2) is further from T0 than what others wait for.
        meter.is_coarse = self.params.deadline > 0.0 && old.way.is_empty() && meter.seen.is_none();
        if meter.is_coarse {
            return Some(known);
        }
        let way = meter.time(tasks::Task::DynamicNavmesh, |meter| self.dynamic_way(ego, old, &known, meter));
        Some(way.unwrap_or(known))
    }

    /// T(Σ1).
    fn static_way(&self, ego: &Ego<'_>, meter: &mut Meter) -> Option<Vec<DVec2>> {
        meter.spent += WAY;
        meter.time(tasks::Task::Navmesh, |meter| {
            let is_shared = self.destinations.is_shared(self.view, self.plans, wide(self.view.goal(ego.row)));
            ego.map.way(self.view, ego.row, is_shared, |expanded, looked_at| {
                meter.charge(tasks::Task::Navmesh, expanded, u64::MAX);
                meter.see(tasks::Task::Navmesh, looked_at)
            })
        })
    }

    /// The bends that are left of a way: those that one has come past are done with. One that is still ahead is kept also where
    /// one sees beyond it, because Σ2 may have put it there.
    fn rest_of_way(&self, ego: &Ego<'_>, way: &[DVec2]) -> Option<Vec<DVec2>> {
        Some(way[ego.map.next_bend(ego.at, way)?..].to_vec())
    }

    /// How many others an agent meets on a way.
    pub fn met(&self, row: usize, way: &[DVec2]) -> f64 {
        let ground = self.maps.of(self.view, row);
        ground.map_or(0.0, |ground| self.crowding.met(self.view, ground, self.asker(row), way))
    }

    /// Whether others have chosen to come where an agent wants to go since it chose its way.
    pub fn is_met_by_more(&self, proposal: &Proposal) -> bool {
        let PlanRequest { row, slot, .. } = proposal.request;
        let own = proposal.plans.iter().find(|(other, _)| *other == slot);
        own.zip(proposal.met).is_some_and(|((_, plan), met)| self.met(row, &plan.way) > met + SURPRISE)
    }

    fn asker(&self, row: usize) -> Asker {
        let (view, agents) = (self.view, self.view.agents);
        Asker {
            class: self.maps.class(view, row),
            from: wide(view.position(row)),
            speed: f64::from(agents.preferred_speed[row]).max(0.1),
            slot: agents.slot[row],
        }
    }

    /// T(Σ2). Where one meets no other agent on the known way, there is no better one.
    fn dynamic_way(
        &self,
        ego: &Ego<'_>,
        old: &Plan,
        known: &[DVec2],
        meter: &mut Meter,
    ) -> Option<Vec<DVec2>> {
        let mesh = ego.map.fine.as_ref().map(Terrain::mesh)?;
        let held_up = (self.view.now - old.blocked).max(0.0);
        if held_up == 0.0 && self.met(ego.row, known) < tasks::WORTH_A_SEARCH {
            return None;
        }
        let mut density = self.crowding.density(self.view, self.asker(ego.row))?;
        self.hold_up(ego, mesh, held_up, &mut density);
        let goal = *known.last()?;
        let ends = [ego.map.room(mesh, ego.at)?, ego.map.room(mesh, goal)?];
        let domain = DynamicNavmesh::new(mesh, &density, self.params.crowding.into(), ends)?;
        let settings = Settings { inflation: 1.0, ..Settings::default() };
        let mut search = AnytimeDynamicAstar::new(settings, Aim::At(Gate::START), &[Gate::GOAL]);
        search.improve(&domain, Budget::expansions(MOST_GATES));
        meter.charge(tasks::Task::DynamicNavmesh, search.effort().expansions, GATES_OF_AN_EXPANSION);
        meter
            .see(tasks::Task::DynamicNavmesh, search.visited().filter_map(|(gate, _)| domain.place_of(gate)));
        let mut gates = Vec::new();
        search.path(&domain, &mut gates)?;
        let (mut route, _) = domain.route(&gates);
        // The search goes from side to side, which is not as straight as the ways are. What leaves the floor has a cost of its
        // own.
        let known: Vec<DVec2> = std::iter::once(ego.at).chain(known.iter().copied()).collect();
        let stays = domain.cost_along(&known);
        let (saves, others) = (stays - domain.cost_along(&route), stays - length(&known));
        // What saves more than others cost is a shorter way, which was left because there was no way on.
        let is_better = saves > SWITCH && saves <= others + SWITCH;
        if !ego.map.leaves_the_floor() && !is_better {
            return None;
        }
        if route.first() == Some(&ego.at) {
            route.remove(0);
        }
        route.extend((ends[1] != goal).then_some(goal));
        Some(route)
    }

    /// Makes polygons dearer in which bodies are that an agent cannot pass: by as far as it could walk while it waits for them.
    fn hold_up(&self, ego: &Ego<'_>, mesh: &Mesh, held_up: f64, density: &mut Ahead<'_>) {
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
            density.add(polygon, (wait * ego.preferred / across / f64::from(self.params.crowding)) as f32);
        }
    }

    /// Scripted bodies, and agents that stand, as near as Σ3 ever looks: where, how wide, m, and how long they will be there, s. Of a
    /// body that is parked the script says so; behind others one that has been held up for some time expects to be for as long
    /// again.
    fn in_the_way(&self, ego: &Ego<'_>, held_up: f64) -> Vec<(DVec2, f64, f64)> {
        let (view, reach) = (self.view, crate::multi_domain::conflicts::yielding::AHEAD[2]);
        let movers = self.movers_near(ego.at, reach).into_iter().map(|mover| {
            let script = &view.scripts[mover as usize];
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
        let exceptions = Exceptions { ignored: others.ignored, touched: &ego.touched };
        let around = Surroundings {
            clearance: &ego.map.clearance,
            published: &self.reservations.published,
            own: Some(ego.body),
        };
        let goal = Goal { at: ending.goal, radius: ending.goal_radius, window: (0.0, f64::INFINITY) };
        let now = self.view.now;
        let walk = SpaceTime::new(self.walk(ego), around, (now, ego.at), goal).ok()?;
        let remaining = RemainingDistance::along(&line[1..]);
        let window = Window {
            walk: walk
                .with_fovea(None)
                .with_exceptions(exceptions)
                .with_jumps(&ego.map.jumps)
                .with_ferries(ego.map.ferries()),
            remaining: &remaining,
            space: &ego.map.space,
            published: &self.reservations.published,
            exceptions,
            own: ego.body,
            radius: ego.radius,
            last: (self.horizon() / self.step()).round() as u16,
            ending: *ending,
            known: Default::default(),
        };
        let start = window.walk.moment(now, ego.at, ego.velocity);
        let width = Width { space: self.params.width.into(), time: self.horizon() };
        let near = cut(line, ego.max_speed * self.horizon());
        let tunnel = Tunnel {
            line: Line::timed(near, now, ego.preferred.max(0.05)),
            width,
            goal_radius: ending.goal_radius,
        };
        let settings = Settings { inflation, step: BETTER, anew_share: 1.0 };
        let mut search = Guided::new(settings, Aim::Ends, &[start], tunnel).with_patience(PATIENCE);
        let forward = Reversed(&window);
        search.improve(&forward, Budget::expansions(meter.share.left(meter.spent)));
        meter.charge(tasks::Task::SpaceTime, search.effort().expansions, 1);
        let visited = search.search().visited();
        meter.see(tasks::Task::SpaceTime, visited.filter_map(|(moment, _)| window.place_of(moment)));
        let mut states = Vec::new();
        search.path(&forward, &mut states)?;
        let mut path = Vec::new();
        window.walk.trajectory(&states, &mut path);
        let last = *states.last()?;
        let reaches = window.place_of(last)?.distance(ending.goal) <= ending.goal_radius;
        let inflation = search.search().inflation();
        let width = search.tunnel().width.space.min(1e6) as f32;
        Some(Found { path: self.taut(ego, &path, others), steps: Vec::new(), reaches, inflation, width })
    }
}

/// How far a place is from the rim of an area, m.
fn depth(area: &[glam::Vec2], place: DVec2) -> f64 {
    let next = area.iter().skip(1).chain(area.first());
    let sides = area.iter().zip(next).map(|(&a, &b)| distance_to_segment(place, wide(a), wide(b)));
    sides.fold(f64::INFINITY, f64::min)
}
