//! # The dynamic navigation mesh as a way to the goal (Kapadia et al. 2013, section 4.1, Σ2)
//! Every agent walks on a route over the mesh of small polygons ([`crate::domain::directed_navmesh`]) and publishes it. Every
//! so often it looks at the crowd ahead: where the routes of all others lead, at the time when it would get there. A route
//! through many of them costs more than its length, and another one may cost less.
//!
//! - **Routes are remembered** (`course.rs`), so that plans are known to all agents, and a run goes on from a checkpoint as if
//!   nothing had been. On another map they are followed as far as can be seen until their agents have looked again.
//! - **What is published counts until something else is** (`crowd.rs`): an agent says anew where it will be when it has looked, so
//!   what others know of it is as old as its last look.
//! - **A route is weighed before another is searched for**: one of which what is left costs at most `inflation` times what it was
//!   going to is kept, until `renewal`, and so is one that no search finds a better one for. So a way that has become better
//!   elsewhere is found late. Searches are no more exact than that either (weighted A*).
//! - **Not all look in one step**: those who look together do not know of each other's new routes, and would all leave the
//!   same way for the same other one.
//! - **A budget spreads what is to be done over steps**: those without a route come first, then those whose route was found on another
//!   map, then those whose turn it is, each time those who looked longest ago.
//! - **A stop is passed near it**, and not left out as soon as the next one is in sight: in open space a bend is there
//!   because of a crowd, and the next stop may well be seen through it.
//! - **A body that leaves no room in a passage** and is scripted, or stands, closes it (`closures.rs`): a polygon is larger than a
//!   body, and its density says nothing of whether it can be passed.
//! - On an open plane there is no mesh, and all go straight.

mod course;
mod crowd;

use crate::by_goal::Roadmap as _;
use crate::cached::Cached;
use crate::closures::{self, Closure};
use crate::domain::directed_navmesh::{Crossing, DirectedNavmesh, Entry, Layout};
use crate::domain::dynamic_navmesh::{Traveller, centre, polygon_at};
use crate::domain::forecast::{AROUND, Forecast};
use crate::heading::{Leg, PerCohort, goals, target, waits};
use crate::navmesh::{FreeSpace, Mesh, Search};
use crate::route::{Guide, Route};
use crate::search::{Aim, Astar, Budget, Inflated};
use crate::{Intent, Macroscale, MacroscaleModel, Meanwhile};
use course::{Course, Courses};
use crowd::Crowd;
use glam::{DVec2, Vec2};
use std::cell::Cell;
use std::time::{Duration, Instant};
use throng_core::CHUNK;
use throng_core::geom::inside_ring;
use throng_core::handover::Intents;
use throng_core::memory::Remember;
use throng_core::parallel::{self, for_chunks};
use throng_core::world::View;

throng_core::params! {
    /// Around obstacles and crowds, on a navigation mesh of small polygons that knows how many bodies are in each, now and later.
    pub struct DynamicNavmesh("dynamic-navmesh") {
        /// No polygon is wider. One for all: a cohort's own value does nothing.
        polygon: f32 = 5.0, "m", Limit::from(0.5).up_to(1000.0);
        /// As how many metres more a metre counts for each body per m2. 0: always the shortest path.
        density_weight: f32 = 4.0, "m2", Limit::from(0.0).up_to(1000.0);
        /// Time between looks at the crowd ahead.
        attention: f32 = 2.0, "s", Limit::above(0.0).up_to(1e6);
        /// How many times the best a route may cost when it is found, and how many times that before another one is searched for.
        inflation: f32 = 1.3, "", Limit::from(1.0).up_to(100.0);
        /// Time after which a better route is searched for though what is left of it costs no more than it was going to.
        renewal: f32 = 30.0, "s", Limit::above(0.0).up_to(1e6);
        /// States that all agents together may expand in a step of the simulation; who looks at the same time as the last of them is not cut off. 0: as many as it takes. One for all.
        budget: usize = 0, "", Limit::from(0.0).up_to(1e9);
        /// After as much time of a step no agent begins to look any more, in place of the budget; half of it is left for that at least. 0: the budget counts. A run with it is not reproducible. One for all.
        deadline: f32 = 0.0, "ms", Limit::from(0.0).up_to(60000.0);
        /// What an agent without a route does until the budget has one for it: `coarse`, walk by the mesh that knows no crowds, or `wait`.
        meanwhile: Meanwhile = Meanwhile::Coarse, "", Limit::from(0.0);
    }
}

/// Nearer than this to a stop, one can go on to the next, m.
const PASSED: f32 = 1.0;
/// The least speed that any agent plans with, m/s.
const SLOWEST: f64 = 0.1;
/// A route that saves less is not taken in the place of one that is followed, m.
const SWITCH: f32 = 0.1;
/// Agents that look at the same time where there is a budget. Fixed, so that no result depends on the number of threads.
const BATCH: usize = 16;

/// Follows routes, and looks for better ones.
#[derive(Debug)]
pub struct DynamicNavmeshPlanner {
    params: PerCohort<DynamicNavmesh>,
    maps: Cached<Maps>,
    courses: Courses,
    /// By row, in this step.
    next: Vec<Next>,
    unreachable: Vec<u32>,
}

/// What a row does next, which stop of its route is the next, and whether it wants to look ahead.
#[derive(Clone, Copy, Debug)]
struct Next {
    leg: Leg,
    stop: u32,
    wants: Option<Want>,
}

/// Why an agent looks ahead, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Want {
    /// It has no route that it can follow.
    Route,
    /// It has one that is provisional.
    Confirmation,
    /// It is its turn.
    Better,
}

/// Who wants to look: why, in which step it has last looked, its id, and its row.
type Waiting = (Want, u64, u32, usize);

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
    courses: &'a Courses,
}

/// What those who look for a route may meet.
struct Ahead<'a> {
    forecast: &'a Forecast,
    /// The polygons that nobody gets through, ascending.
    closed: Vec<u32>,
}

/// What has come of a look, and the states that it took.
struct Looked {
    /// What there is to be remembered and published; `None` where all is as it was said to be.
    course: Option<Course>,
    expansions: u64,
}

/// What all may still do in a step.
struct Frame {
    left: u64,
    deadline: Option<Instant>,
}

/// Free space for bodies of one radius.
#[derive(Debug)]
struct Map {
    radius: f32,
    /// With polygons small enough to tell where it is dense.
    fine: FreeSpace,
    /// With as few as there can be.
    coarse: FreeSpace,
    /// What searches need to know of the fine one, and who will be where on it: once any agent looks.
    layout: Option<Layout>,
    crowd: Crowd,
}

thread_local! {
    /// Scratch memory of a search.
    static SEARCH: Cell<Astar<Entry>> = Cell::default();
}

impl MacroscaleModel for DynamicNavmesh {
    fn planner(all: DynamicNavmesh, cohorts: Vec<DynamicNavmesh>) -> Box<dyn Macroscale> {
        Box::new(DynamicNavmeshPlanner {
            params: PerCohort { all, cohorts },
            maps: Cached::default(),
            courses: Courses::default(),
            next: Vec::new(),
            unreachable: Vec::new(),
        })
    }
}

impl Macroscale for DynamicNavmeshPlanner {
    fn run(&mut self, view: View<'_>, out: &mut Intents) {
        // The clock decides nothing unless a deadline was asked for.
        let begin = Instant::now();
        self.courses.note_map(view.map_version);
        self.follow(view);
        let found = self.look_ahead(view, begin);
        self.take_over(view, found, out);
    }

    fn intent(&self, view: View<'_>, row: usize) -> Intent {
        let mut maps = self.maps.lock();
        let navigator = self.navigator(view, &mut maps);
        let guide = navigator.course(view, row).route.guide;
        Intent { guide, ..Intent::new(navigator.next(view, row).leg.velocity(view, row)) }
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
        maps.learn(view, self.params.all.polygon.into());
        let (from, target) = (view.position(row), target(view, row));
        let course = self.courses.of(view.agents.slot[row]);
        let map = maps.all.iter_mut().find(|map| map.radius == view.planned_radius(row));
        let stops = match map {
            None => vec![target.aim],
            Some(_) if !course.provisional && leads_to_goal(view, row, &course.route) => {
                course.route.ahead().to_vec()
            }
            Some(map) => {
                map.learn_crowd(view, &self.courses);
                let navigator = self.navigator(view, &mut maps);
                let [ahead] = &navigator.ahead(view, &[view.planned_radius(row)])[..] else { return None };
                let looked = navigator.search(view, row, ahead.as_ref()?);
                Some(looked.course?.route.stops).filter(|stops| !stops.is_empty())?
            }
        };
        Some(std::iter::once(from).chain(stops).collect())
    }

    fn unreachable(&self) -> &[u32] {
        &self.unreachable
    }

    fn memory(&self) -> Option<&dyn Remember> {
        Some(&self.courses.0)
    }

    fn memory_mut(&mut self) -> Option<&mut dyn Remember> {
        Some(&mut self.courses.0)
    }

    fn is_reproducible(&self) -> bool {
        self.params.all.deadline == 0.0
    }
}

impl DynamicNavmeshPlanner {
    fn navigator<'a>(&'a self, view: View<'_>, maps: &'a mut Maps) -> Navigator<'a> {
        maps.learn(view, self.params.all.polygon.into());
        Navigator { params: &self.params, maps, courses: &self.courses }
    }

    /// What every agent does by what it remembers.
    fn follow(&mut self, view: View<'_>) {
        let maps = self.maps.get_mut();
        maps.learn(view, self.params.all.polygon.into());
        let navigator = Navigator { params: &self.params, maps, courses: &self.courses };
        self.next.resize(view.agents.len(), Next { leg: Leg::Wait, stop: 0, wants: None });
        for_chunks(CHUNK, &mut self.next[..], &|chunk, next| {
            for (i, next) in next.iter_mut().enumerate() {
                *next = navigator.next(view, chunk * CHUNK + i);
            }
        });
    }

    /// What those who look have found, by row, as far as the budget lasts: by what every agent has published before this step.
    fn look_ahead(&mut self, view: View<'_>, begin: Instant) -> Vec<(usize, Option<Course>)> {
        let rows = 0..view.agents.len();
        let wanting = rows.filter_map(|row| Some((self.next[row].wants?, row)));
        let mut waiting: Vec<Waiting> = wanting
            .map(|(want, row)| {
                (want, self.courses.of(view.agents.slot[row]).looked, view.agents.id[row], row)
            })
            .collect();
        if waiting.is_empty() {
            return Vec::new();
        }
        waiting.sort_unstable();
        let radii = view.radius_classes;
        let maps = self.maps.get_mut();
        let needs = |map: &Map| waiting.iter().any(|&(.., row)| view.planned_radius(row) == map.radius);
        let needed = maps.all.iter_mut().filter(|map| needs(map));
        needed.for_each(|map| map.learn_crowd(view, &self.courses));
        let navigator = Navigator { params: &self.params, maps, courses: &self.courses };
        let ahead = navigator.ahead(view, radii);
        let mut frame = Frame::begin(&self.params.all, begin);
        let batch = if frame.is_unlimited() { waiting.len() } else { BATCH };
        let mut found = Vec::new();
        for batch in waiting.chunks(batch) {
            let look = |i: usize| {
                let (want, .., row) = batch[i];
                let class = radii.iter().position(|&radius| radius == view.planned_radius(row))?;
                let ahead = ahead[class].as_ref()?;
                Some(navigator.look(view, row, (want, self.next[row].stop), ahead))
            };
            let looked = parallel::map(1, batch.len(), &look);
            for (&(.., row), looked) in batch.iter().zip(looked) {
                let looked = looked.unwrap_or_else(|| Looked::in_vain(0));
                frame.spend(looked.expansions);
                found.push((row, looked.course));
            }
            if frame.is_spent() {
                break;
            }
        }
        found
    }

    /// Remembers what was found, and heads every agent for what is next.
    fn take_over(&mut self, view: View<'_>, found: Vec<(usize, Option<Course>)>, out: &mut Intents) {
        for (row, next) in self.next.iter().enumerate() {
            let slot = view.agents.slot[row];
            if next.stop != self.courses.of(slot).route.next {
                self.courses.0.get_mut(slot).route.next = next.stop;
            }
        }
        for (row, new) in found {
            let course = self.courses.0.get_mut(view.agents.slot[row]);
            course.looked = view.step;
            let Some(new) = new else { continue };
            self.next[row].leg =
                if new.unreachable { Leg::Unreachable } else { Leg::along(&new.route.stops) };
            let (from, radius) = (view.position(row), view.planned_radius(row));
            *course = Course { from, since: view.now, looked: view.step, radius, ..new };
        }
        self.unreachable.clear();
        for (row, next) in self.next.iter().enumerate() {
            next.leg.head(view, row, out);
            if matches!(next.leg, Leg::Unreachable) {
                self.unreachable.push(view.agents.id[row]);
            }
        }
        self.unreachable.sort_unstable();
    }
}

impl Frame {
    /// Of a step that began at a time.
    fn begin(params: &DynamicNavmesh, begin: Instant) -> Frame {
        let deadline = Duration::from_secs_f64(f64::from(params.deadline) / 1000.0);
        // Half of it is left, however long it took to learn what has changed: else a large crowd would never look.
        let deadline = (!deadline.is_zero()).then(|| (begin + deadline).max(Instant::now() + deadline / 2));
        let is_counted = params.budget > 0 && deadline.is_none();
        Frame { left: if is_counted { params.budget as u64 } else { u64::MAX }, deadline }
    }

    fn is_unlimited(&self) -> bool {
        self.left == u64::MAX && self.deadline.is_none()
    }

    fn spend(&mut self, expansions: u64) {
        // To look costs something, also where nothing was searched.
        self.left = self.left.saturating_sub(expansions.max(1));
    }

    fn is_spent(&self) -> bool {
        self.left == 0 || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Looked {
    fn in_vain(expansions: u64) -> Looked {
        Looked { course: Some(Course { unreachable: true, ..Course::default() }), expansions }
    }

    fn found(stops: Vec<Vec2>, way: Vec<Crossing>, (searched, expansions): (u64, u64)) -> Looked {
        let route = Route { guide: Guide::Stops, next: 0, stops };
        Looked { course: Some(Course { route, way, searched, ..Course::default() }), expansions }
    }
}

impl Course {
    /// Whether its agent is where it has said, as exactly as others look at it.
    fn is_true(&self, view: View<'_>, row: usize) -> bool {
        let speed = f64::from(view.agents.preferred_speed[row]).max(SLOWEST);
        let said = self.published(speed).place(view.now);
        said.is_some_and(|said| said.distance(view.position(row).as_dvec2()) <= speed * AROUND)
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
            (map.layout, map.crowd) = Default::default();
        }
        for &radius in wanted {
            if self.of(radius).is_none() {
                let [fine, coarse] =
                    [polygon, f64::INFINITY].map(|widest| FreeSpace::between(walls, radius, widest));
                let (layout, crowd) = Default::default();
                self.all.push(Map { radius, fine, coarse, layout, crowd });
            }
        }
    }

    fn of(&self, radius: f32) -> Option<&Map> {
        self.all.iter().find(|map| map.radius == radius)
    }
}

impl<'a> Navigator<'a> {
    fn course(&self, view: View<'_>, row: usize) -> &'a Course {
        self.courses.of(view.agents.slot[row])
    }

    fn map(&self, view: View<'_>, row: usize) -> Option<&'a Map> {
        self.maps.of(view.planned_radius(row))
    }

    /// What a row does next by what it remembers, and whether it wants to look ahead.
    fn next(&self, view: View<'_>, row: usize) -> Next {
        let course = self.course(view, row);
        let route = &course.route;
        let keep = |leg: Leg| Next { leg, stop: route.next, wants: None };
        if waits(view, row) {
            return keep(Leg::Wait);
        }
        let (from, target) = (view.position(row), target(view, row));
        // Where nothing is in any agent's way there is no map.
        let Some(map) = self.map(view, row).map(|map| &map.fine) else { return keep(Leg::End(target.aim)) };
        let near = from.distance(target.reach) <= self.params.all.polygon;
        if target.reach == from || near && map.is_clear(from, target.reach) {
            return keep(Leg::End(target.aim));
        }
        let is_provisional = course.provisional || course.radius != view.planned_radius(row);
        let attention = self.params.of(view, row).attention;
        let turn = || is_turn(view, row, course.looked, attention).then_some(Want::Better);
        let wants = if is_provisional { Some(Want::Confirmation) } else { turn() };
        if course.unreachable {
            return Next { wants, ..keep(Leg::Unreachable) };
        }
        if !leads_to_goal(view, row, route) {
            return Next { wants: Some(Want::Route), ..keep(Leg::Wait) };
        }
        let stop = |index: u32| route.stops.get(index as usize).copied();
        let passed = |at: Vec2| from.distance(at) <= PASSED;
        let ahead = stop(route.next).filter(|&at| passed(at)).and_then(|_| stop(route.next + 1));
        match (ahead.filter(|&at| map.is_clear(from, at)), stop(route.next)) {
            (Some(at), _) => Next { leg: Leg::Through(at), stop: route.next + 1, wants },
            (None, Some(at)) if map.is_clear(from, at) => Next { wants, ..keep(Leg::Through(at)) },
            // It was pushed to where it does not see its path.
            (_, at) => Next { wants: Some(Want::Route), ..keep(at.map_or(Leg::Wait, Leg::Through)) },
        }
    }

    /// What bodies of some radii may meet.
    fn ahead(&self, view: View<'_>, radii: &[f32]) -> Vec<Option<Ahead<'a>>> {
        let closed = closures::list(view, radii.iter(), self.params.all.attention);
        let ahead = |(&radius, closed): (&f32, Vec<Closure>)| {
            let map = self.maps.of(radius)?;
            let mesh = map.fine.mesh()?;
            let mut closed: Vec<u32> = closed.iter().flat_map(|closure| closed_by(mesh, closure)).collect();
            closed.sort_unstable();
            Some(Ahead { forecast: map.crowd.forecast()?, closed })
        };
        radii.iter().zip(closed).map(ahead).collect()
    }

    /// A look at the crowd ahead. An agent that only waits for a better one walks by the coarse mesh, where it is told to.
    fn look(&self, view: View<'_>, row: usize, (want, stop): (Want, u32), ahead: &Ahead<'_>) -> Looked {
        let params = self.params.of(view, row);
        match want {
            Want::Route if self.is_limited() && params.meanwhile == Meanwhile::Coarse => {
                self.walk_coarsely(view, row).unwrap_or_else(|| Looked::in_vain(0))
            }
            Want::Route | Want::Confirmation => self.search(view, row, ahead),
            Want::Better => self.improve(view, row, stop, ahead),
        }
    }

    fn is_limited(&self) -> bool {
        self.params.all.budget > 0 || self.params.all.deadline > 0.0
    }

    /// The shortest path, whoever is there.
    fn walk_coarsely(&self, view: View<'_>, row: usize) -> Option<Looked> {
        let mesh = self.map(view, row)?.coarse.mesh()?;
        let ends = self.ends(view, row)?;
        Search::lent(|search| {
            let found = search.find(mesh, ends.from, ends.entry)?;
            let expansions = found.expanded as u64;
            let bends = found.stops.iter().map(|stop| stop.at);
            let stops = ends.stops(bends.skip(1).collect());
            let route = Route { guide: Guide::Stops, next: 0, stops };
            let course = Course { route, provisional: true, ..Course::default() };
            Some(Looked { course: Some(course), expansions })
        })
    }

    /// The cheapest route through the crowd, whatever it has been.
    fn search(&self, view: View<'_>, row: usize, ahead: &Ahead<'_>) -> Looked {
        let Some((ends, domain)) = self.domain(view, row, ahead) else { return Looked::in_vain(0) };
        let domain = domain.for_search();
        let (found, expansions) = self.find(view, row, &domain);
        let Some((entries, _)) = found else { return Looked::in_vain(expansions) };
        let stops = ends.stops(domain.route(&entries).split_off(1));
        Looked::found(stops, domain.crossings(&entries), (view.step, expansions))
    }

    /// The route that it has, from a stop on, as long as that costs about what it was going to; or another one that is cheaper.
    fn improve(&self, view: View<'_>, row: usize, stop: u32, ahead: &Ahead<'_>) -> Looked {
        let (course, params) = (self.course(view, row), self.params.of(view, row));
        let Some((ends, domain)) = self.domain(view, row, ahead) else { return Looked::in_vain(0) };
        let Some(rest) = domain.rest(&course.way) else { return self.search(view, row, ahead) };
        let ahead = || course.route.stops[stop as usize..].to_vec();
        let is_due = is_turn(view, row, course.searched, params.renewal);
        if rest.cost <= params.inflation * rest.expected && !is_due {
            if course.is_true(view, row) {
                return Looked { course: None, expansions: 0 };
            }
            return Looked::found(ahead(), course.way[rest.passed..].to_vec(), (course.searched, 0));
        }
        let domain = domain.for_search();
        let (found, expansions) = self.find(view, row, &domain);
        let better = found.filter(|(_, cost)| *cost < rest.cost - SWITCH);
        let stops = better.as_ref().map(|(entries, _)| ends.stops(domain.route(entries).split_off(1)));
        let kept = || course.way[rest.passed..].iter().map(|crossing| crossing.entry).collect();
        let entries = better.map_or_else(kept, |(entries, _)| entries);
        Looked::found(stops.unwrap_or_else(ahead), domain.crossings(&entries), (view.step, expansions))
    }

    /// What leads to the goal at a cost of at most `inflation` times the best, its cost, and the states that it took.
    fn find(
        &self,
        view: View<'_>,
        row: usize,
        domain: &DirectedNavmesh<'_>,
    ) -> (Option<(Vec<Entry>, f32)>, u64) {
        let inflation = self.params.of(view, row).inflation;
        let mut search = SEARCH.take();
        let before = search.effort().expansions;
        search.find(&Inflated(domain, inflation), Entry::START, Aim::At(Entry::GOAL), Budget::unlimited());
        let mut entries = Vec::new();
        let found = search.path(&mut entries).map(|cost| {
            // Without both ends.
            entries.truncate(entries.len() - 1);
            (entries.split_off(1), cost)
        });
        let expansions = search.effort().expansions - before;
        SEARCH.set(search);
        (found, expansions)
    }

    /// What a row searches, between the ends of its way; `None` where no way leads from one to the other.
    fn domain<'d>(
        &'d self,
        view: View<'_>,
        row: usize,
        ahead: &'d Ahead<'_>,
    ) -> Option<(Ends, DirectedNavmesh<'d>)> {
        let map = self.map(view, row)?;
        let mesh = (map.fine.mesh()?, map.layout.as_ref()?);
        let ends = self.ends(view, row)?;
        let traveller = Traveller {
            from: ends.from,
            begin: view.now,
            speed: f64::from(view.agents.preferred_speed[row]).max(SLOWEST),
            own: Some(Crowd::body(view, row)),
        };
        let expected = ahead.forecast.for_traveller(traveller, &ahead.closed);
        let weight = self.params.of(view, row).density_weight;
        let domain = DirectedNavmesh::new(mesh, expected, weight.into(), [ends.from, ends.entry])?;
        Some((ends, domain))
    }

    /// Where a row's way begins and ends. The part of an area that its route leads to stays the one.
    fn ends(&self, view: View<'_>, row: usize) -> Option<Ends> {
        let map = self.map(view, row)?;
        let here = view.position(row).as_dvec2();
        let from = map.fine.room(here)?;
        let route = &self.course(view, row).route;
        let known = route.stops.last().filter(|_| leads_to_goal(view, row, route));
        let known = known.and_then(|goal| Some((map.fine.room(goal.as_dvec2())?, goal.as_dvec2())));
        let (entry, goal) = known.or_else(|| map.nearest_entry(from, goals(view, row)))?;
        Some(Ends { here, from, entry, goal })
    }
}

/// The ends of a way, m: where an agent is and wants to be, and the nearest places to these with room in the mesh.
#[derive(Clone, Copy, Debug)]
struct Ends {
    here: DVec2,
    from: DVec2,
    entry: DVec2,
    goal: DVec2,
}

impl Ends {
    /// The stops of a way over the mesh that begins after its first place.
    fn stops(&self, mut way: Vec<DVec2>) -> Vec<Vec2> {
        // The mesh rounds places, and a goal may be nearer to a wall than the mesh is.
        way.pop();
        let before = (self.from != self.here).then_some(self.from);
        let after = (self.entry != self.goal).then_some(self.entry).into_iter().chain([self.goal]);
        before.into_iter().chain(way).chain(after).map(|at| at.as_vec2()).collect()
    }
}

/// The polygons that a closure closes: the one that it lies in, and all around it whose middles it holds, so that none beside it
/// leads past.
fn closed_by(mesh: &Mesh, closure: &Closure) -> Vec<u32> {
    let mut closed: Vec<u32> =
        polygon_at(mesh, closure.at).map(|polygon| polygon as u32).into_iter().collect();
    let mut looked = 0;
    while let Some(&polygon) = closed.get(looked) {
        looked += 1;
        for (neighbour, _) in mesh.neighbours(polygon as usize) {
            if closure.holds(centre(mesh, neighbour)) && !closed.contains(&(neighbour as u32)) {
                closed.push(neighbour as u32);
            }
        }
    }
    closed
}

/// Whether it is a row's turn to do something, or has been since a step in which it did. Turns of all agents are spread over the
/// time between them, s.
fn is_turn(view: View<'_>, row: usize, last: u64, every: f32) -> bool {
    let steps = (every / view.dt).clamp(1.0, 1e9) as u64;
    let turn = |step: u64| (step + u64::from(view.agents.id[row])) / steps;
    turn(view.step) > turn(last)
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
    fn learn_crowd(&mut self, view: View<'_>, courses: &Courses) {
        if let Some(mesh) = self.fine.mesh() {
            self.layout.get_or_insert_with(|| Layout::new(mesh));
            self.crowd.update(view, courses, mesh);
        }
    }

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
