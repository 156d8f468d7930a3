//! # Map field (Park, Cao, Quek 2012, Large scale crowd simulation using a hybrid agent model)
//! Sections 3.1, 4.1 and 4.3: a coarse grid of the map with obstacles and ground costs, A* routes that are made once and
//! followed, and individuals who differ in what they prefer and in what they know.
//!
//! - **Cells** are eight world cells a side, 4 m. The paper says nothing of walls that cut through one; here such a cell is
//!   split (`grid`), and what is narrower than that shows is found from the walls themselves (`passages`): every door that a
//!   body fits through, and none that it does not.
//! - **Routes** are remembered: made when an agent sets off, and again when its goal or the map
//!   has changed, when it was pushed to where it sees neither the next stop nor the last one, or when its preference asks for
//!   it. The search runs from the goal, so that all requests of one step for the same goal share it; a lone one gets A*.
//!   Cells' middles are not walked over: a way is pulled taut against walls (`routes`), and an agent heads for the first stop
//!   that it does not see past. An agent that sees its goal needs no search.
//! - **Path preference**: the paper searches again when "a waypoint is determined to be in congested area". Its waypoints
//!   are cells; ours are corners, so the route is looked at in every cell that it passes within the next 24 m. The new route
//!   is taken if it is a tenth cheaper than what is left of the old one, both at what cells cost now: without that people would
//!   turn back and forth. A cell's cost grows with its density from `threshold` on and not below: a loose crowd is no
//!   obstacle, and a cost for all agents would send all by another path.
//! - **Bodies that stand or are scripted**: the paper's field counts agents, and obstacles are static. A cart that leaves no room
//!   beside it closes a passage for everybody, whatever they prefer, and so does an agent that stands where two do not fit
//!   (`closures.rs`). Who finds its way closed looks for another one, and walks up to the body where there is none.
//! - **Knowledge**: see `individuals`. The paper has leaders register in the map field; they are found by the neighbour index,
//!   which has them anyway. Only one who wants to about the same place is a leader. Following is remembered for a moment,
//!   so that one who goes around a corner is followed to where it was seen last.
//! - The way around a crowd on an open plane is looked for within the starts and goals of all agents, if these are not too far
//!   apart for cells of that size.
//! - Jams that a mesoscale model tells of ([`throng_core::world::Jam`]) are not looked at: the map field has its own counts.
//!
//! Weighed and left: each connected part of a cell as one node (ten times fewer nodes, but then the length of a way is a guess,
//! and a second search has to find the way through the parts).

mod crowd_count;
mod grid;
mod individuals;
mod passages;
mod routes;

use crate::cached::Cached;
use crate::closures::{self, Closure};
use crate::heading::{GoalKey, Leg, PerCohort, Target, due, goal_key, goals, target, waits};
use crate::route::{Guide, Route, RouteChange, Routes};
use crate::{Intent, Macroscale, MacroscaleModel};
use crowd_count::CrowdCount;
use glam::{DVec2, Vec2};
use grid::{Grid, Node};
use individuals::{Naive, decides};
use routes::{Aversion, Costs, Entry, Scratch};
use std::sync::Mutex;
use throng_core::CHUNK;
use throng_core::handover::Intents;
use throng_core::memory::Remember;
use throng_core::parallel::{self, PerChunk, for_chunks};
use throng_core::params::Draw;
use throng_core::world::View;

throng_core::params! {
    /// Routes over a coarse grid of the map, made once and followed; some mind crowds, and some do not know the way.
    pub struct MapField("map-field") {
        /// Side of the map's cells: eight cells of the world field. One for all: a cohort's own value does nothing.
        cell: f32 = 4.0, "m", Limit::from(0.25).up_to(1000.0);
        /// How much a crowd on the way is minded: as how many metres more one counts at the threshold. 0: always the shortest path. What is drawn counts in eighths, so that those who are nearly alike share their searches.
        congestion: Draw = Draw::Fixed(0.0), "", Limit::from(0.0).up_to(1000.0);
        /// From this density on a place ahead is congested.
        threshold: f32 = 1.0, "1/m2", Limit::above(0.0).up_to(100.0);
        /// Time between looks at the crowd ahead.
        attention: f32 = 2.0, "s", Limit::from(0.0).up_to(1e6);
        /// Whether the map is known. Others follow those who know it, or a crowd, or try their luck.
        knows: bool = true, "", Limit::from(0.0);
        /// How far those who do not know the map look for an agent to follow.
        follow: f32 = 12.0, "m", Limit::above(0.0).up_to(100.0);
        /// Length of the mean heading from which on a crowd moves alike: 1 where all have one direction.
        coherence: f32 = 0.7, "", Limit::from(0.0).up_to(1.0);
        /// From this density on those in a cell are a crowd.
        crowd: f32 = 0.3, "1/m2", Limit::from(0.0).up_to(100.0);
    }
}

/// Time between checks whether the next stop is still in sight, and the one after that, s.
const INSPECTION_INTERVAL: f32 = 0.3;
/// Nearer than this to a stop it checks all the time, m.
const NEAR: f32 = 1.0;
/// Nearer than this it is at a stop, m. Where there is room, what it does next is in sight from everywhere so near to it.
const AT: f32 = 0.1;
/// Nearer than this it is on a stop, m: there it sees what the way was made for.
const ON: f32 = 0.01;
/// Nearer than this to a stop, an agent that minds ground or crowds may go on to the next one, m.
const PASSED: f32 = 2.0;
/// How far ahead a way is looked at for crowds, in cells.
const LOOK_AHEAD: f32 = 6.0;
/// A new way that costs more than this part of the old one is not worth it.
const WORTH_IT: f64 = 0.9;

/// Follows routes, and makes them where they are missing.
#[derive(Debug)]
pub struct MapFieldPlanner {
    params: PerCohort<MapField>,
    maps: Cached<Maps>,
    crowd: CrowdCount,
    routes: Routes,
    /// Memory of searches, one for each that runs at the same time.
    scratch: Mutex<Vec<Scratch>>,
    /// By chunk of rows.
    notes: Vec<Notes>,
    unreachable: Vec<u32>,
}

/// The map as grids.
#[derive(Debug, Default)]
struct Maps {
    /// What they were made for.
    made_for: Option<(u64, Option<[Vec2; 2]>)>,
    made_for_radii: Vec<f32>,
    /// By radius; few.
    grids: Vec<(f32, Grid)>,
    /// By grid: what bodies close now.
    closed: Vec<Vec<Closure>>,
}

/// What routes are followed and looked for with.
#[derive(Clone, Copy)]
struct Navigator<'a> {
    params: &'a PerCohort<MapField>,
    maps: &'a Maps,
    crowd: &'a CrowdCount,
    routes: &'a Routes,
    scratch: &'a Mutex<Vec<Scratch>>,
}

/// What comes up while a chunk of rows follows its routes.
#[derive(Debug, Default)]
struct Notes {
    /// By row: what it goes by.
    guides: Vec<Guide>,
    requests: Vec<RouteRequest>,
    /// By slot.
    changes: Vec<(u32, RouteChange)>,
}

/// Who needs a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RouteRequest {
    key: Key,
    row: usize,
    why: Why,
}

/// Those with one of these share a search. Numbers are told apart by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    radius: u32,
    goal: GoalKey,
    aversion: u32,
    threshold: u32,
}

impl Key {
    /// How much crowds are minded.
    fn aversion(&self) -> f32 {
        f32::from_bits(self.aversion)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// It has no path, or has lost it.
    NoRoute,
    /// Its way is congested.
    Congested,
}

/// One who knows the map.
#[derive(Clone, Copy)]
struct Walker<'a> {
    view: View<'a>,
    row: usize,
    grid: &'a Grid,
    target: Target,
    params: &'a MapField,
    /// What others close for it.
    closed: &'a [Closure],
}

impl MacroscaleModel for MapField {
    fn planner(all: MapField, cohorts: Vec<MapField>) -> Box<dyn Macroscale> {
        Box::new(MapFieldPlanner {
            params: PerCohort { all, cohorts },
            maps: Cached::default(),
            crowd: CrowdCount::new(all.cell),
            routes: Routes::default(),
            scratch: Mutex::default(),
            notes: Vec::new(),
            unreachable: Vec::new(),
        })
    }
}

impl Macroscale for MapFieldPlanner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        self.routes.note_map(view.map_version);
        self.maps.get_mut().learn(view, &self.params);
        self.count_crowd(view);
        self.follow(view, out);
        self.answer(view, out);
        let changes = self.notes.iter_mut().flat_map(|notes| notes.changes.drain(..));
        changes.for_each(|(slot, to)| self.routes.change(slot, to));
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        let mut maps = self.maps.lock();
        let navigator = self.navigator(view, &mut maps);
        let route = navigator.route(view, row);
        let (velocity, aim) = navigator.planned(view, row).velocity(view, row);
        Intent { velocity, aim, guide: route.guide, leader: route.leader() }
    }

    fn path(&self, view: View<'_>, from: Vec2, to: Vec2, radius: f32) -> Option<Vec<Vec2>> {
        let mut maps = self.maps.lock();
        let navigator = self.navigator(view, &mut maps);
        let straight = || Some(vec![from, to]);
        if navigator.maps.grids.is_empty() {
            return straight();
        }
        let own = || Grid::new(view, radius, self.params.all.cell);
        let wider;
        let grid = match navigator.maps.of(view.class_of(radius)) {
            Some(grid) => grid,
            None => {
                wider = own();
                &wider
            }
        };
        let costs = Costs { grid, crowd: None, closed: &[] };
        let is_plain =
            || costs.along(from.as_dvec2(), to.as_dvec2()) <= f64::from(from.distance(to)) * (1.0 + 1e-6);
        if grid.sees(from, to) && is_plain() {
            return straight();
        }
        let stops = navigator.ways(&costs, &[to.as_dvec2()], &[from]).remove(0)?;
        Some(std::iter::once(from).chain(stops).collect())
    }

    fn route(&self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        let mut maps = self.maps.lock();
        let navigator = self.navigator(view, &mut maps);
        let (from, target) = (view.position(row), target(view, row));
        let route = navigator.route(view, row);
        let stops = match (navigator.grid(view, row), route.guide) {
            (None, _) | (_, Guide::Goal) => vec![target.aim],
            (_, Guide::Stops) => route.ahead().to_vec(),
            (_, Guide::Leader | Guide::Crowd | Guide::Chance) => route.stops.clone(),
            (Some(grid), Guide::Nothing) if grid.sees(from, target.reach) => vec![target.aim],
            (Some(_), Guide::Nothing) => {
                let request = RouteRequest { key: key(view, row, 0.0, 0.0), row, why: Why::NoRoute };
                navigator.search(view, &[request]).remove(0)?
            }
        };
        Some(std::iter::once(from).chain(stops).collect())
    }

    fn unreachable(&self) -> &[u32] {
        &self.unreachable
    }

    fn memory(&self) -> Option<&dyn Remember> {
        Some(&self.routes.0)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.routes.0)
    }
}

impl MapFieldPlanner {
    fn navigator<'a>(&'a self, view: View<'_>, maps: &'a mut Maps) -> Navigator<'a> {
        maps.learn(view, &self.params);
        let MapFieldPlanner { params, crowd, routes, scratch, .. } = self;
        Navigator { params, maps, crowd, routes, scratch }
    }

    /// Counts the crowd in steps in which an agent that does not know the map looks at it.
    fn count_crowd(&mut self, view: View<'_>) {
        let MapFieldPlanner { params, maps, crowd, routes, .. } = self;
        if maps.get_mut().grids.is_empty() || params.cohorts.iter().all(|params| params.knows) {
            return;
        }
        let looks =
            |row: usize| !params.of(view, row).knows && decides(view, row, routes.of(view.agents.slot[row]));
        if parallel::any(CHUNK, view.agents.len(), &looks) {
            crowd.count(view);
        }
    }

    /// Every agent goes on where it has a way, and notes what it needs where it has none.
    fn follow(&mut self, view: View<'_>, out: &mut Intents) {
        let MapFieldPlanner { params, maps, crowd, routes, scratch, notes, .. } = self;
        let navigator = Navigator { params, maps: maps.get_mut(), crowd, routes, scratch };
        notes.resize_with(notes.len().max(view.agents.len().div_ceil(CHUNK)), Notes::default);
        let columns = (&mut out.vx[..], &mut out.vy[..], &mut out.aim[..], PerChunk(notes));
        for_chunks(CHUNK, columns, &|chunk, (vx, vy, aim, PerChunk(notes))| {
            let notes = &mut notes[0];
            let rows = chunk * CHUNK..chunk * CHUNK + aim.len();
            // Routes lie by slot, in no order. Asked for one right after the other, memory brings many of them at a time.
            notes.guides.clear();
            notes.guides.extend(rows.clone().map(|row| navigator.route(view, row).guide));
            for (i, row) in rows.enumerate() {
                let out = (&mut vx[i], &mut vy[i], &mut aim[i]);
                navigator.next(view, row, notes.guides[i], notes).write(view, row, out);
            }
        });
    }

    /// Searches for all agents that have asked, and lets them go on.
    fn answer(&mut self, view: View<'_>, out: &mut Intents) {
        self.unreachable.clear();
        let mut requests: Vec<RouteRequest> =
            self.notes.iter_mut().flat_map(|notes| notes.requests.drain(..)).collect();
        if requests.is_empty() {
            return;
        }
        requests.sort_unstable_by_key(|request| (request.key, view.agents.id[request.row]));
        if requests.iter().any(|request| request.key.aversion() > 0.0) {
            self.crowd.count(view);
        }
        let shared: Vec<&[RouteRequest]> = requests.chunk_by(|a, b| a.key == b.key).collect();
        let MapFieldPlanner { params, maps, crowd, routes, scratch, .. } = self;
        let navigator = Navigator { params, maps: maps.get_mut(), crowd, routes, scratch };
        let found = parallel::map(1, shared.len(), &|i| navigator.search(view, shared[i]));
        for (request, stops) in requests.iter().zip(found.into_iter().flatten()) {
            self.take(view, *request, stops, out);
        }
        self.unreachable.sort_unstable();
    }

    fn take(&mut self, view: View<'_>, request: RouteRequest, stops: Option<Vec<Vec2>>, out: &mut Intents) {
        let (row, slot) = (request.row, view.agents.slot[request.row]);
        // What it noted for a route that it leaves now.
        let Some(notes) = self.notes.get_mut(row / CHUNK) else { return };
        let next = match (stops, request.why) {
            (None, Why::Congested) => return,
            (None, Why::NoRoute) => {
                self.unreachable.push(view.agents.id[row]);
                if self.routes.of(slot).guide != Guide::Nothing {
                    notes.changes.push((slot, RouteChange::Nothing));
                }
                Leg::Unreachable
            }
            (Some(stops), _) => {
                let next = Leg::along(&stops);
                notes.changes.retain(|(other, _)| *other != slot);
                notes.changes.push((slot, RouteChange::Stops(stops)));
                next
            }
        };
        next.head(view, row, out);
    }
}

impl Maps {
    /// Takes over what there is: the map, and what bodies close of it.
    fn learn(&mut self, view: View<'_>, params: &PerCohort<MapField>) {
        self.learn_map(view, params);
        let radii = self.grids.iter().map(|(radius, _)| radius);
        self.closed = closures::list(view, radii, params.all.attention);
    }

    /// Makes the grids that any agent needs or has needed, once for a map: a resumed run must find those that it had.
    fn learn_map(&mut self, view: View<'_>, params: &PerCohort<MapField>) {
        let map = Some((view.map_version, view.extent));
        if self.made_for == map && self.made_for_radii == view.radius_classes {
            return;
        }
        self.made_for = map;
        self.made_for_radii = view.radius_classes.to_vec();
        self.grids.clear();
        let minded = params.cohorts.iter().any(|params| params.congestion.high() > 0.0);
        if view.walls.all().is_empty() && view.terrain.is_empty() && !minded {
            return;
        }
        let grid = |&radius: &f32| (radius, Grid::new(view, radius, params.all.cell));
        self.grids = view.radius_classes.iter().map(grid).collect();
    }

    /// The grid for bodies of a radius; `None` where nothing is in any agent's way.
    fn of(&self, radius: f32) -> Option<&Grid> {
        self.grids.get(self.class(radius)).map(|(_, grid)| grid)
    }

    /// What is closed for bodies of a radius.
    fn closed_for(&self, radius: f32) -> &[Closure] {
        self.closed.get(self.class(radius)).map_or(&[], |closed| closed)
    }

    fn class(&self, radius: f32) -> usize {
        self.grids.partition_point(|&(class, _)| class < radius)
    }
}

impl<'a> Navigator<'a> {
    fn route(&self, view: View<'_>, row: usize) -> &'a Route {
        self.routes.of(view.agents.slot[row])
    }

    fn grid(&self, view: View<'_>, row: usize) -> Option<&'a Grid> {
        self.maps.of(view.planned_radius(row))
    }

    /// What a row does by its route as it is.
    fn planned(&self, view: View<'_>, row: usize) -> Leg {
        if waits(view, row) {
            return Leg::Wait;
        }
        let (from, target) = (view.position(row), target(view, row));
        let Some(grid) = self.grid(view, row).filter(|_| target.reach != from) else {
            return Leg::End(target.aim);
        };
        let route = self.route(view, row);
        match (route.guide, route.ahead()) {
            (Guide::Goal, _) => Leg::End(target.aim),
            (Guide::Stops, stops) => Leg::along(stops),
            (Guide::Nothing, _) if grid.sees(from, target.reach) => Leg::End(target.aim),
            (Guide::Nothing, _) => Leg::Wait,
            (Guide::Leader | Guide::Crowd | Guide::Chance, _) => {
                route.stops.first().map_or(Leg::Wait, |&place| Leg::End(place))
            }
        }
    }

    /// What a row does next, as far as it knows, by what it goes by so far.
    #[inline]
    fn next(&self, view: View<'_>, row: usize, guide: Guide, notes: &mut Notes) -> Leg {
        if waits(view, row) {
            return Leg::Wait;
        }
        let target = target(view, row);
        let Some(grid) = self.grid(view, row).filter(|_| target.reach != view.position(row)) else {
            return Leg::End(target.aim);
        };
        let (params, slot) = (self.params.of(view, row), view.agents.slot[row]);
        let naive = Naive { view, row, grid, target, params, routes: self.routes };
        let (next, change) = if params.knows || naive.has_found_goal() {
            let closed = self.maps.closed_for(view.planned_radius(row));
            self.with_map(Walker { view, row, grid, target, params, closed }, guide, notes)
        } else {
            self.without_map(naive)
        };
        notes.changes.extend(change.map(|to| (slot, to)));
        next
    }

    fn with_map(&self, walker: Walker<'_>, guide: Guide, notes: &mut Notes) -> (Leg, Option<RouteChange>) {
        let Walker { view, row, target, .. } = walker;
        let route = self.route(view, row);
        let is_known = match guide {
            Guide::Goal => true,
            Guide::Stops => walker.leads_to_goal(route),
            Guide::Nothing | Guide::Leader | Guide::Crowd | Guide::Chance => false,
        };
        if !is_known {
            return if walker.sees_goal() {
                (Leg::End(target.aim), Some(RouteChange::Goal))
            } else {
                notes.requests.push(RouteRequest { key: key(view, row, 0.0, 0.0), row, why: Why::NoRoute });
                (Leg::Wait, None)
            };
        }
        let aware = |why: Why| RouteRequest {
            key: key(view, row, walker.aversion(), walker.params.threshold),
            row,
            why,
        };
        let Some(stop) = walker.stop(route) else {
            if walker.sees_goal() {
                return (Leg::End(target.aim), Some(RouteChange::Goal));
            }
            notes.requests.push(aware(Why::NoRoute));
            return (Leg::Wait, None);
        };
        if due(view, row, walker.params.attention)
            && (walker.finds_closed(route, stop)
                || walker.aversion() > 0.0 && self.is_congested(walker, route, stop))
        {
            notes.requests.push(aware(Why::Congested));
        }
        let change = (route.guide == Guide::Stops && stop != route.next).then_some(RouteChange::Next(stop));
        (walker.heading(route, stop), change)
    }

    /// Whether a place ahead on the way is congested.
    fn is_congested(&self, walker: Walker<'_>, route: &Route, stop: u32) -> bool {
        let Walker { view, row, params, .. } = walker;
        let mut at = view.position(row);
        let mut left = LOOK_AHEAD * self.params.all.cell;
        for &stop in walker.ahead(route, stop) {
            let length = at.distance(stop);
            let step = (stop - at) * (self.params.all.cell / length.max(self.params.all.cell * 1e-3));
            let cells = length.min(left) / self.params.all.cell;
            let places = cells.ceil() as usize;
            let crowded = |place: usize| {
                let place = at + step * cells.min(place as f32);
                self.crowd.density_beside(view, row, place) >= params.threshold
            };
            if (1..=places).any(crowded) {
                return true;
            }
            left -= length;
            if left <= 0.0 {
                return false;
            }
            at = stop;
        }
        false
    }

    /// The ways of those who share a search, in their order; `None` where there is none, or none that is worth it.
    fn search(&self, view: View<'_>, requests: &[RouteRequest]) -> Vec<Option<Vec<Vec2>>> {
        let RouteRequest { key, row: first, .. } = requests[0];
        let Some(grid) = self.grid(view, first) else { return vec![None; requests.len()] };
        let (weight, threshold) = (key.aversion(), f32::from_bits(key.threshold));
        let crowd = (weight > 0.0).then_some(Aversion { crowd: self.crowd, weight, threshold });
        let costs = Costs { grid, crowd, closed: self.maps.closed_for(view.planned_radius(first)) };
        let from: Vec<Vec2> = requests.iter().map(|request| view.position(request.row)).collect();
        let mut ways = self.ways(&costs, &goals(view, first), &from);
        for_chunks(1, (&mut ways[..], requests), &|_, (way, requests)| {
            let RouteRequest { why, row, .. } = requests[0];
            way[0].take_if(|stops| why != Why::NoRoute && !self.is_worth_it(view, row, &costs, stops));
        });
        ways
    }

    /// The stops of the cheapest paths from some places to wherever a goal can be entered.
    fn ways(&self, costs: &Costs<'_>, goals: &[DVec2], from: &[Vec2]) -> Vec<Option<Vec<Vec2>>> {
        let grid = costs.grid;
        let entries = entries(goals, grid);
        let mut regions: Vec<u32> = entries.iter().map(|entry| grid.region(entry.node)).collect();
        regions.sort_unstable();
        regions.dedup();
        let starts = parallel::map(1, from.len(), &|i| start(from[i], grid, &regions));
        let wanted: Vec<Node> = starts.iter().flatten().copied().collect();
        if wanted.is_empty() {
            return vec![None; from.len()];
        }
        let mut scratch = self.scratch.lock().ok().and_then(|mut pool| pool.pop()).unwrap_or_default();
        scratch.search(costs, &entries, &wanted);
        let ways = parallel::map(1, from.len(), &|i| {
            let from = grid.space.place(from[i].as_dvec2()).at;
            Some(scratch.stops(costs, &entries, from, starts[i]?))
        });
        if let Ok(mut pool) = self.scratch.lock() {
            pool.push(scratch);
        }
        ways
    }

    /// Whether a new way is enough cheaper than what is left of the old one.
    fn is_worth_it(&self, view: View<'_>, row: usize, costs: &Costs<'_>, stops: &[Vec2]) -> bool {
        let route = self.route(view, row);
        let from = view.position(row);
        let old = match route.guide {
            Guide::Stops => costs.of_way(from, route.ahead()),
            _ => costs.of_way(from, &[target(view, row).reach]),
        };
        costs.of_way(from, stops) <= WORTH_IT * old
    }
}

/// Where a goal is entered, and from which nodes.
fn entries(goals: &[DVec2], grid: &Grid) -> Vec<Entry> {
    let entry = |&goal: &DVec2| {
        let place = grid.space.place(goal);
        grid.around(&place).into_iter().map(move |node| Entry { node, at: goal })
    };
    goals.iter().flat_map(entry).collect()
}

/// The nearest node that can be gone to and that has a way to the goal, by the regions in which that is entered.
fn start(from: Vec2, grid: &Grid, regions: &[u32]) -> Option<Node> {
    let place = grid.space.place(from.as_dvec2());
    grid.around(&place).into_iter().find(|&node| regions.binary_search(&grid.region(node)).is_ok())
}

fn key(view: View<'_>, row: usize, aversion: f32, threshold: f32) -> Key {
    Key {
        radius: view.planned_radius(row).to_bits(),
        goal: goal_key(view, row),
        aversion: aversion.to_bits(),
        threshold: if aversion > 0.0 { threshold.to_bits() } else { 0 },
    }
}

/// Whether a row checks now where its next stops are: every so often, and near to one all the time.
fn inspects(view: View<'_>, row: usize, route: &Route) -> bool {
    let Some(stop) = route.stops.get(route.next as usize) else { return due(view, row, INSPECTION_INTERVAL) };
    let near = NEAR + 2.0 * view.agents.preferred_speed[row] * view.dt;
    due(view, row, INSPECTION_INTERVAL) || stop.distance_squared(view.position(row)) < near * near
}

impl Walker<'_> {
    /// How much it minds crowds. Drawn when it looks: most rows have no need of it in a step.
    fn aversion(&self) -> f32 {
        let congestion = self.params.congestion;
        if let Draw::Fixed(all) = congestion {
            return all as f32;
        }
        // In steps of an eighth, so that those who are nearly alike share their searches.
        (congestion.of(self.view.seed, self.view.agents.id[self.row], 0) * 8.0).round() / 8.0
    }

    /// What is left of its way from a stop on.
    fn ahead<'r>(&'r self, route: &'r Route, stop: u32) -> &'r [Vec2] {
        match route.guide {
            Guide::Goal => std::slice::from_ref(&self.target.reach),
            _ => route.stops.get(stop as usize..).unwrap_or_default(),
        }
    }

    /// Whether a body closes the way ahead.
    fn finds_closed(&self, route: &Route, stop: u32) -> bool {
        if self.closed.is_empty() {
            return false;
        }
        let mut at = self.view.position(self.row);
        self.ahead(route, stop).iter().any(|&stop| self.is_closed([std::mem::replace(&mut at, stop), stop]))
    }

    fn is_closed(&self, leg: [Vec2; 2]) -> bool {
        let leg = leg.map(Vec2::as_dvec2);
        self.closed.iter().any(|closure| closure.length_within(leg) > 0.0)
    }

    fn sees(&self, place: Vec2) -> bool {
        self.grid.sees(self.view.position(self.row), place)
    }

    /// Whether the goal is in sight, and nothing on the way to it a reason to take another.
    fn sees_goal(&self) -> bool {
        let (from, to) = (self.view.position(self.row).as_dvec2(), self.target.reach.as_dvec2());
        let ground = Costs { grid: self.grid, crowd: None, closed: self.closed };
        self.sees(self.target.reach)
            && (ground.are_plain() || ground.along(from, to) <= from.distance(to) * (1.0 + 1e-6))
    }

    /// Whether a route ends where the agent wants to. Of an area every entry is as good as another.
    fn leads_to_goal(&self, route: &Route) -> bool {
        let area = self.view.bound(self.row).area.is_some();
        route.stops.last().is_some_and(|&last| area || last == self.target.reach)
    }

    /// The stop to head for next; `None` where the agent has lost its way.
    fn stop(&self, route: &Route) -> Option<u32> {
        let next = route.next;
        if !inspects(self.view, self.row, route) {
            return Some(next);
        }
        if route.guide == Guide::Goal {
            return self.sees(self.target.reach).then_some(0);
        }
        let at = |stop: u32| route.stops.get(stop as usize).copied();
        if at(next + 1).is_some_and(|after| self.may_go_on(route.stops[next as usize], after)) {
            return Some(next + 1);
        }
        if at(next).is_some_and(|stop| self.sees(stop)) {
            // A stop that the next cannot be seen from, nor from past it: this way leads nowhere.
            let leads_on = at(next + 1).is_none_or(|after| !self.is_done(route.stops[next as usize], after));
            return leads_on.then_some(next);
        }
        // Pushed aside: often the last one is still in sight.
        let last = next.checked_sub(1)?;
        at(last).is_some_and(|stop| self.sees(stop)).then_some(last)
    }

    fn is_nearly_at(&self, stop: Vec2) -> bool {
        let step = self.view.agents.preferred_speed[self.row] * self.view.dt;
        stop.distance(self.view.position(self.row)) < step
    }

    /// Whether the agent is on a stop, or past it within a body's width: another one may stand there.
    fn is_done(&self, stop: Vec2, after: Vec2) -> bool {
        let from_stop = self.view.position(self.row) - stop;
        let (away, width) = (from_stop.length(), 2.0 * self.view.agents.radius[self.row]);
        away < ON || away < width && from_stop.dot(after - stop) > 0.0
    }

    /// Whether the agent may leave a stop out and head for the one after it. On a way around costly ground, a crowd or a
    /// closed passage only where it has come near, or is past it.
    fn may_go_on(&self, stop: Vec2, after: Vec2) -> bool {
        let here = self.view.position(self.row);
        let careful = self.grid.has_terrain() || self.aversion() > 0.0 || self.is_closed([here, after]);
        let passed =
            || here.distance_squared(stop) < PASSED * PASSED || (here - stop).dot(after - stop) > 0.0;
        (!careful || passed()) && self.sees(after)
    }

    fn heading(&self, route: &Route, stop: u32) -> Leg {
        match (route.guide, route.stops.get(stop as usize)) {
            // Nearly at a stop that it does not see past: in a narrow place one has to be right there.
            (Guide::Stops, Some(&place))
                if stop as usize + 1 < route.stops.len() && !self.is_nearly_at(place) =>
            {
                Leg::Through(place)
            }
            (Guide::Stops, Some(&place)) => Leg::End(place),
            _ => Leg::End(self.target.aim),
        }
    }
}
