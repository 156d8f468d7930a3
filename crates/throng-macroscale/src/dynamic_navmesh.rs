//! # The dynamic navigation mesh as a way to the goal (Kapadia et al. 2013, section 4.1, Σ2)
//! Every agent walks on a route over the mesh of small polygons ([`crate::domain::dynamic_navmesh`]) and publishes it. Every
//! so often it looks at the crowd ahead: where the routes of all others lead, at the time when it would get there. A route
//! through many of them costs more than its length, and another one may cost less.
//!
//! - **Routes are remembered**, so that plans are known to all agents, and a run goes on from a checkpoint as if nothing had
//!   been. Another map voids them.
//! - **Not all look in one step**: those who look together do not know of each other's new routes, and would all leave the
//!   same way for the same other one.
//! - **A stop is passed near it**, and not left out as soon as the next one is in sight: in open space a bend is there
//!   because of a crowd, and the next stop may well be seen through it.
//! - **A body that leaves no room in a passage** and is scripted, or stands, closes it (`closures.rs`): a polygon is larger than a
//!   body, and its density says nothing of whether it can be passed.
//! - On an open plane there is no mesh, and all go straight.

use crate::by_goal::Roadmap as _;
use crate::cached::Cached;
use crate::closures::{self, Closure};
use crate::domain::dynamic_navmesh::{DynamicNavmesh as Domain, Forecast, Gate, Traveller};
use crate::domain::occupancy::Trajectory;
use crate::heading::{Leg, PerCohort, due, goals, target, waits};
use crate::navmesh::{FreeSpace, Search};
use crate::route::{Guide, Route, RouteChange, Routes};
use crate::search::{Aim, Astar, Budget};
use crate::{Intent, Macroscale, MacroscaleModel};
use glam::{DVec2, Vec2};
use throng_core::CHUNK;
use throng_core::geom::inside_ring;
use throng_core::handover::Intents;
use throng_core::memory::Remember;
use throng_core::parallel::{self, for_chunks};
use throng_core::world::{Status, View};

throng_core::params! {
    /// Around obstacles and crowds, on a navigation mesh of small polygons that knows how many bodies are in each, now and later.
    pub struct DynamicNavmesh("dynamic-navmesh") {
        /// No polygon is wider. One for all: a cohort's own value does nothing.
        polygon: f32 = 5.0, "m", Limit::from(0.5).up_to(1000.0);
        /// As how many metres more a metre counts for each body per m2. 0: always the shortest path.
        density_weight: f32 = 4.0, "m2", Limit::from(0.0).up_to(1000.0);
        /// Time between looks at the crowd ahead.
        attention: f32 = 2.0, "s", Limit::above(0.0).up_to(1e6);
    }
}

/// Nearer than this to a stop, one can go on to the next, m.
const PASSED: f32 = 1.0;
/// Scripted bodies go on as they do now for so long, s: their scripts are not known.
const GOES_ON: f64 = 10.0;
/// The least speed that any agent plans with, m/s.
const SLOWEST: f64 = 0.1;

/// Follows routes, and looks for better ones.
#[derive(Debug)]
pub struct DynamicNavmeshPlanner {
    params: PerCohort<DynamicNavmesh>,
    maps: Cached<Maps>,
    routes: Routes,
    /// By row, in this step.
    next: Vec<Option<Following>>,
    changes: Vec<(u32, RouteChange)>,
    unreachable: Vec<u32>,
}

/// What a row does next, and which stop of its route is the next.
type Following = (Leg, u32);

/// One for each class of radii.
#[derive(Debug, Default)]
struct Maps {
    made_for: Option<(u64, Vec<f32>)>,
    all: Vec<Map>,
}

/// What routes are followed and looked for with.
#[derive(Clone, Copy)]
struct Navigator<'a> {
    params: &'a PerCohort<DynamicNavmesh>,
    maps: &'a Maps,
    routes: &'a Routes,
}

/// What those who look for a route may meet.
struct Ahead {
    forecast: Forecast,
    closed: Vec<Closure>,
}

/// Free space for bodies of one radius.
#[derive(Debug)]
struct Map {
    radius: f32,
    /// With polygons small enough to tell where it is dense.
    fine: FreeSpace,
    /// With as few as there can be.
    coarse: FreeSpace,
}

impl MacroscaleModel for DynamicNavmesh {
    fn planner(all: DynamicNavmesh, cohorts: Vec<DynamicNavmesh>) -> Box<dyn Macroscale> {
        Box::new(DynamicNavmeshPlanner {
            params: PerCohort { all, cohorts },
            maps: Cached::default(),
            routes: Routes::default(),
            next: Vec::new(),
            changes: Vec::new(),
            unreachable: Vec::new(),
        })
    }
}

impl Macroscale for DynamicNavmeshPlanner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        self.routes.note_map(view.map_version);
        self.follow(view, out);
        self.check_ahead(view, out);
        self.changes.drain(..).for_each(|(slot, to)| self.routes.change(slot, to));
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        let mut maps = self.maps.lock();
        let navigator = self.navigator(view, &mut maps);
        let route = navigator.route(view, row);
        // What it would look for is not known yet: as far as it has a route, it goes on.
        let on = || route.ahead().first().filter(|_| leads_to_goal(view, row, route));
        let next = navigator.next(view, row).map(|(leg, _)| leg);
        let next = next.unwrap_or_else(|| on().map_or(Leg::Wait, |&at| Leg::Through(at)));
        Intent { guide: route.guide, ..Intent::new(next.velocity(view, row)) }
    }

    fn path(&self, view: View<'_>, from: Vec2, to: Vec2, radius: f32) -> Option<Vec<Vec2>> {
        if view.walls.all().is_empty() {
            return Some(vec![from, to]);
        }
        let mut maps = self.maps.lock();
        let radius = view.class_of(radius);
        match self.navigator(view, &mut maps).maps.of(radius) {
            Some(map) => map.coarse.path(from, to),
            None => FreeSpace::new(view.walls.all(), radius).path(from, to),
        }
    }

    fn route(&self, view: View<'_>, row: usize) -> Option<Vec<Vec2>> {
        let mut maps = self.maps.lock();
        let navigator = self.navigator(view, &mut maps);
        let (from, target) = (view.position(row), target(view, row));
        let route = navigator.route(view, row);
        let stops = match navigator.map(view, row) {
            None => vec![target.aim],
            Some(_) if leads_to_goal(view, row, route) => route.ahead().to_vec(),
            Some(map) => {
                navigator.search(view, row, &navigator.ahead(view, map, view.planned_radius(row)))?
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

impl DynamicNavmeshPlanner {
    fn navigator<'a>(&'a self, view: View<'_>, maps: &'a mut Maps) -> Navigator<'a> {
        maps.learn(view, self.params.all.polygon.into());
        Navigator { params: &self.params, maps, routes: &self.routes }
    }

    /// Every agent goes on where it has a route and need not look.
    fn follow(&mut self, view: View<'_>, out: &mut Intents) {
        let maps = self.maps.get_mut();
        maps.learn(view, self.params.all.polygon.into());
        let navigator = Navigator { params: &self.params, maps, routes: &self.routes };
        self.next.resize(view.agents.len(), None);
        for_chunks(CHUNK, &mut self.next[..], &|chunk, next| {
            for (i, next) in next.iter_mut().enumerate() {
                *next = navigator.next(view, chunk * CHUNK + i);
            }
        });
        for (row, &next) in self.next.iter().enumerate() {
            let slot = view.agents.slot[row];
            let before = self.routes.of(slot).next;
            let (leg, stop) = next.unwrap_or((Leg::Wait, before));
            if stop != before {
                self.changes.push((slot, RouteChange::Next(stop)));
            }
            leg.head(view, row, out);
        }
    }

    /// Gives a route to all who look, by what every agent has published before this step.
    fn check_ahead(&mut self, view: View<'_>, out: &mut Intents) {
        self.unreachable.clear();
        let open: Vec<usize> = (0..view.agents.len()).filter(|&row| self.next[row].is_none()).collect();
        let maps = self.maps.get_mut();
        let navigator = Navigator { params: &self.params, maps, routes: &self.routes };
        if open.is_empty() {
            return;
        }
        let radii = navigator.maps.all.iter().map(|map| &map.radius);
        let closed = closures::list(view, radii, self.params.all.attention);
        for (map, closed) in navigator.maps.all.iter().zip(closed) {
            let alike = open.iter().copied().filter(|&row| view.planned_radius(row) == map.radius);
            let alike: Vec<usize> = alike.collect();
            if alike.is_empty() {
                continue;
            }
            let ahead = Ahead { forecast: navigator.forecast(view, &map.fine), closed };
            let found = parallel::map(1, alike.len(), &|i| navigator.search(view, alike[i], &ahead));
            for (row, stops) in alike.into_iter().zip(found) {
                let to = match stops {
                    Some(stops) => {
                        Leg::along(&stops).head(view, row, out);
                        RouteChange::Stops(stops)
                    }
                    None => {
                        self.unreachable.push(view.agents.id[row]);
                        RouteChange::Nothing
                    }
                };
                self.changes.push((view.agents.slot[row], to));
            }
        }
        self.unreachable.sort_unstable();
    }
}

impl Maps {
    /// Brings the meshes up to date with the map; only what has changed of it is made anew.
    fn learn(&mut self, view: View<'_>, polygon: f64) {
        let is_made =
            |(version, radii): &(u64, Vec<f32>)| *version == view.map_version && radii == view.radius_classes;
        if self.made_for.as_ref().is_some_and(is_made) {
            return;
        }
        let map_changed = self.made_for.as_ref().is_none_or(|(version, _)| *version != view.map_version);
        self.made_for = Some((view.map_version, view.radius_classes.to_vec()));
        let walls = view.walls.all();
        let wanted = if walls.is_empty() { &[][..] } else { view.radius_classes };
        self.all.retain(|map| wanted.contains(&map.radius));
        for map in self.all.iter_mut().filter(|_| map_changed) {
            map.fine.set_walls(walls, map.radius);
            map.coarse.set_walls(walls, map.radius);
        }
        for &radius in wanted {
            if self.of(radius).is_none() {
                let [fine, coarse] =
                    [polygon, f64::INFINITY].map(|widest| FreeSpace::between(walls, radius, widest));
                self.all.push(Map { radius, fine, coarse });
            }
        }
    }

    fn of(&self, radius: f32) -> Option<&Map> {
        self.all.iter().find(|map| map.radius == radius)
    }
}

impl<'a> Navigator<'a> {
    fn route(&self, view: View<'_>, row: usize) -> &'a Route {
        self.routes.of(view.agents.slot[row])
    }

    /// The map that routes are looked for on; `None` where nothing is in any agent's way.
    fn map(&self, view: View<'_>, row: usize) -> Option<&'a FreeSpace> {
        self.maps.of(view.planned_radius(row)).map(|map| &map.fine)
    }

    /// What a row does next; `None` where it needs a route, or looks for a better one.
    fn next(&self, view: View<'_>, row: usize) -> Option<Following> {
        let route = self.route(view, row);
        let keep = |leg: Leg| Some((leg, route.next));
        if waits(view, row) {
            return keep(Leg::Wait);
        }
        let (from, target) = (view.position(row), target(view, row));
        let Some(map) = self.map(view, row) else { return keep(Leg::End(target.aim)) };
        let near = from.distance(target.reach) <= self.params.all.polygon;
        if target.reach == from || near && map.is_clear(from, target.reach) {
            return keep(Leg::End(target.aim));
        }
        if !leads_to_goal(view, row, route) || due(view, row, self.params.of(view, row).attention) {
            return None;
        }
        let stop = |index: u32| route.stops.get(index as usize).copied();
        let passed = |at: Vec2| from.distance(at) <= PASSED;
        let ahead = stop(route.next).filter(|&at| passed(at)).and_then(|_| stop(route.next + 1));
        match (ahead.filter(|&at| map.is_clear(from, at)), stop(route.next)) {
            (Some(at), _) => Some((Leg::Through(at), route.next + 1)),
            (None, Some(at)) if map.is_clear(from, at) => keep(Leg::Through(at)),
            // It was pushed to where it does not see its path.
            _ => None,
        }
    }

    /// What bodies of a radius may meet.
    fn ahead(&self, view: View<'_>, map: &FreeSpace, radius: f32) -> Ahead {
        let closed = closures::list(view, [radius].iter(), self.params.all.attention);
        let closed = closed.into_iter().flatten().collect();
        Ahead { forecast: self.forecast(view, map), closed }
    }

    /// Where every agent will be: on its route, or where it is as long as it has none.
    fn forecast(&self, view: View<'_>, map: &FreeSpace) -> Forecast {
        let Some(mesh) = map.mesh() else { return Forecast::default() };
        let agents = view.agents.len();
        let mover = |index: usize| {
            let (mover, begin) = (&view.movers[index], f64::from(view.time));
            let at = mover.position.as_dvec2();
            let then = at + mover.velocity.as_dvec2() * GOES_ON;
            Trajectory {
                radius: mover.radius.into(),
                path: vec![(begin, at), (begin + GOES_ON, then)],
                stays: true,
            }
        };
        let said = |body: usize| match body.checked_sub(agents) {
            None => (view.agents.id[body], self.published(view, body)),
            // Scripted bodies have no ids; no agent has one of these.
            Some(index) => (u32::MAX - 1 - index as u32, mover(index)),
        };
        Forecast::new(mesh, agents + view.movers.len(), said, view.time.into())
    }

    /// What a row has said of where it will be, at the speed that it likes.
    fn published(&self, view: View<'_>, row: usize) -> Trajectory {
        let route = self.route(view, row);
        let walks = view.agents.status[row] == Status::Walking && leads_to_goal(view, row, route);
        let ahead = if walks { route.ahead() } else { &[] };
        let speed = f64::from(view.agents.preferred_speed[row]).max(SLOWEST);
        let mut path = vec![(f64::from(view.time), view.position(row).as_dvec2())];
        for stop in ahead.iter().map(|stop| stop.as_dvec2()) {
            let (time, at) = path[path.len() - 1];
            path.push((time + at.distance(stop) / speed, stop));
        }
        Trajectory { radius: view.agents.radius[row].into(), path, stays: true }
    }

    /// The stops of the cheapest path through the crowd; `None` where there is no path.
    fn search(&self, view: View<'_>, row: usize, ahead: &Ahead) -> Option<Vec<Vec2>> {
        let maps = self.maps.of(view.planned_radius(row))?;
        let mesh = maps.fine.mesh()?;
        let here = view.position(row).as_dvec2();
        let from = maps.fine.room(here)?;
        let (entry, goal) = maps.nearest_entry(from, goals(view, row))?;
        let traveller = Traveller {
            from,
            begin: view.time.into(),
            speed: f64::from(view.agents.preferred_speed[row]).max(SLOWEST),
            own: Some(view.agents.id[row]),
        };
        let mut density = ahead.forecast.for_traveller(traveller);
        ahead.closed.iter().for_each(|closure| density.close(mesh, closure.at));
        let weight = self.params.of(view, row).density_weight;
        let domain = Domain::new(mesh, &density, weight.into(), [from, entry])?;
        let mut search = Astar::default();
        search.find(&domain, Gate::START, Aim::At(Gate::GOAL), Budget::unlimited());
        let mut gates = Vec::new();
        search.path(&mut gates)?;
        let (route, _) = domain.route(&gates);
        let mut stops: Vec<DVec2> = route.into_iter().skip(usize::from(from == here)).collect();
        // The mesh rounds places, and a goal may be nearer to a wall than the mesh is.
        stops.pop();
        stops.extend((entry != goal).then_some(entry).into_iter().chain([goal]));
        Some(stops.into_iter().map(|at| at.as_vec2()).collect())
    }
}

/// Whether a route ends at what its row wants to by now.
fn leads_to_goal(view: View<'_>, row: usize, route: &Route) -> bool {
    let agents = view.agents;
    let Some(&end) = route.stops.last().filter(|_| route.guide == Guide::Stops) else { return false };
    match view.bound(row).area {
        Some(ring) => inside_ring(end, ring).0,
        None => end == Vec2::new(agents.goal_x[row], agents.goal_y[row]),
    }
}

impl Map {
    /// The entry of a goal that is nearest where no agent is in the way, and the part of the goal that it belongs to. The
    /// coarse map says so much sooner.
    fn nearest_entry(&self, from: DVec2, goals: Vec<DVec2>) -> Option<(DVec2, DVec2)> {
        if let [goal] = goals[..] {
            return Some((self.fine.room(goal)?, goal));
        }
        let (mesh, from) = (self.coarse.mesh()?, self.coarse.room(from)?);
        Search::lent(|search| {
            let lengths = goals.into_iter().filter_map(|goal| {
                let length = search.find(mesh, from, self.coarse.room(goal)?)?.length;
                Some((length, self.fine.room(goal)?, goal))
            });
            lengths.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, entry, goal)| (entry, goal))
        })
    }
}
