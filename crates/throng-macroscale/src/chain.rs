//! # A problem through a chain of domains (Kapadia et al. 2013, sections 5 and 6, figure 4)
//! One agent, one start, one goal: the coarsest domain of a chain plans first, and its plan guides the next. Two domains are
//! joined by a tunnel ([`crate::tunnel`]), or by waypoints ([`crate::waypoints`]), and then the finer ones plan leg by leg.
//!
//! This is the whole of a plan at once, for `throng plan`, for the paper's table 1 and for tests. Tasks that share the time
//! of a frame among many agents are another room's, with the same parts.

use crate::domain::dynamic_navmesh::{Density, DynamicNavmesh, Gate, Traveller};
use crate::domain::grid::{self, Grid, GridError};
use crate::domain::published::Published;
use crate::domain::space_time::{
    Clearance, Compass, Fovea, Goal, Jump, Moment, SpaceTime, SpaceTimeError, Surroundings, Walk,
};
use crate::navmesh::{self, Mesh, MeshError, Terrain, Ways};
use crate::search::{Aim, AnytimeDynamicAstar, Budget, Effort, Reversed, Settings, Status};
use crate::tunnel::{Guided, Line, Tunnel, Width};
use crate::waypoints::Legs;
use glam::DVec2;
use std::fmt;
use std::str::FromStr;
use throng_core::space::Wall;

/// A domain of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Σ1.
    Navmesh,
    /// Σ2.
    DynamicNavmesh,
    /// Σ3.
    Grid,
    /// Σ4.
    SpaceTime,
}

impl Level {
    /// From coarse to fine.
    pub const ALL: [Level; 4] = [Level::Navmesh, Level::DynamicNavmesh, Level::Grid, Level::SpaceTime];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Level::Navmesh => "navmesh",
            Level::DynamicNavmesh => "dynamic-navmesh",
            Level::Grid => "grid",
            Level::SpaceTime => "space-time",
        }
    }
}

/// How a domain uses the plan of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// It searches around the plan.
    Tunnel,
    /// It goes from waypoint to waypoint of the plan.
    Waypoints,
}

/// Domains from coarse to fine, and how they are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    first: Level,
    rest: Vec<(Joint, Level)>,
}

/// A text that is no chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// No such domain.
    #[error("unknown domain `{name}`; known: navmesh, dynamic-navmesh, grid, space-time")]
    Unknown {
        /// As written.
        name: String,
    },
    /// In another order.
    #[error(
        "`{after}` cannot follow `{before}`: a chain goes from coarse to fine (navmesh, dynamic-navmesh, grid, space-time)"
    )]
    Order {
        /// The one before.
        before: &'static str,
        /// The one that is no finer.
        after: &'static str,
    },
    /// Waypoints twice.
    #[error("`/` stands more than once: legs between waypoints are not cut again")]
    Waypoints,
}

impl FromStr for Chain {
    type Err = ChainError;

    /// `navmesh>grid`: the grid is searched around the mesh's way. `navmesh/grid`: from waypoint to waypoint of it.
    fn from_str(text: &str) -> Result<Chain, ChainError> {
        let level = |name: &str| {
            let name = name.trim();
            let known = Level::ALL.into_iter().find(|level| level.name() == name);
            known.ok_or_else(|| ChainError::Unknown { name: name.to_owned() })
        };
        let mut names = text.split_inclusive(['>', '/']);
        let first = names.next().unwrap_or_default();
        let mut joint = first.chars().last();
        let mut chain = Chain { first: level(first.trim_end_matches(['>', '/']))?, rest: Vec::new() };
        for name in names {
            let (before, after) = (chain.last(), level(name.trim_end_matches(['>', '/']))?);
            if after <= before {
                return Err(ChainError::Order { before: before.name(), after: after.name() });
            }
            let how = if joint == Some('/') { Joint::Waypoints } else { Joint::Tunnel };
            chain.rest.push((how, after));
            joint = name.chars().last();
        }
        if matches!(joint, Some('>' | '/')) {
            return Err(ChainError::Unknown { name: String::new() });
        }
        if chain.rest.iter().filter(|(how, _)| *how == Joint::Waypoints).count() > 1 {
            return Err(ChainError::Waypoints);
        }
        Ok(chain)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.first.name())?;
        for (joint, level) in &self.rest {
            f.write_str(if *joint == Joint::Tunnel { ">" } else { "/" })?;
            f.write_str(level.name())?;
        }
        Ok(())
    }
}

impl From<Level> for Chain {
    fn from(first: Level) -> Chain {
        Chain { first, rest: Vec::new() }
    }
}

impl Chain {
    /// The finest domain.
    pub fn last(&self) -> Level {
        self.rest.last().map_or(self.first, |(_, level)| *level)
    }

    fn levels(&self) -> impl Iterator<Item = Level> + '_ {
        std::iter::once(self.first).chain(self.rest.iter().map(|(_, level)| *level))
    }
}

/// How fine the domains are and how they are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// No polygon of Σ2 is wider, m. Default 5.
    pub widest_polygon: f64,
    /// As how many metres more a metre counts for each body per m². Default 4.
    pub density_weight: f64,
    /// Side of a cell of Σ3, m. Default 0.5.
    pub cell: f64,
    /// How agents walk in Σ4.
    pub walk: Walk,
    /// Who is in sight in Σ4. `None`: everybody.
    pub fovea: Option<Fovea>,
    /// Of searches in the plane: Σ2 and Σ3. Default: at once the best plan.
    pub in_space: Settings,
    /// Of searches in Σ4. Default: first a plan that may cost four times the best; of all states of space and time only few
    /// are ever looked at.
    pub in_time: Settings,
    /// Expansions for a whole plan in one domain. Default 10,000.
    pub budget: u64,
    /// Whether a plan is improved as long as there is budget, or the first one taken. Default false.
    pub improve: bool,
    /// The width of tunnels at the first inflation.
    pub width: Width,
    /// Expansions without a plan after which a tunnel is too narrow, see [`Guided::with_patience`]. Default 100.
    pub patience: u64,
    /// Legs are no longer, m. Default 8.
    pub leg: f64,
    /// Expansions after which a leg has no plan, and is joined with its neighbour; each join in a row doubles them. Default 200.
    pub leg_budget: u64,
    /// As near to a waypoint a leg ends, m. Default 1.
    pub waypoint_radius: f64,
    /// As near to the goal one has arrived, m. Default 0.5.
    pub goal_radius: f64,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            widest_polygon: 5.0,
            density_weight: 4.0,
            cell: 0.5,
            walk: Walk::default(),
            fovea: Some(Fovea::default()),
            in_space: Settings { inflation: 1.0, ..Settings::default() },
            in_time: Settings { inflation: 4.0, step: 1.0, ..Settings::default() },
            budget: 10_000,
            improve: false,
            width: Width { space: 1.5, time: 20.0 },
            patience: 100,
            leg: 8.0,
            leg_budget: 200,
            waypoint_radius: 1.0,
            goal_radius: 0.5,
        }
    }
}

/// A map as all domains see it, for bodies of one radius.
#[derive(Debug)]
pub struct Atlas {
    coarse: Option<Terrain>,
    fine: Option<Terrain>,
    grid: Option<Grid>,
    clearance: Clearance,
    jumps: Vec<Jump>,
    tuning: Tuning,
}

/// Why a map has no atlas.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AtlasError {
    /// No mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// No grid.
    #[error(transparent)]
    Grid(#[from] GridError),
}

/// A jump takes off as near to a link's beginning as this, m.
const TAKE_OFF: f64 = 0.4;

/// What an atlas is made of.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Walls.
    pub walls: &'a [Wall],
    /// Jumps and the like.
    pub links: &'a [navmesh::Link],
    /// The corners of what a grid covers, m.
    pub low: DVec2,
    /// m.
    pub high: DVec2,
    /// Radius of whoever plans, m.
    pub radius: f64,
}

impl Atlas {
    /// Works out what the domains of a chain need.
    pub fn new(site: Site<'_>, chain: &Chain, tuning: Tuning) -> Result<Atlas, AtlasError> {
        let Site { walls, links, low, high, radius } = site;
        let needs = |level| chain.levels().any(|other| other == level);
        let terrain = |widest: f64| {
            let mut terrain =
                Terrain::between_with(walls, navmesh::Settings { radius, widest, ..Default::default() })?;
            terrain.set_links(links)?;
            Ok::<_, MeshError>(terrain)
        };
        let layout = grid::Layout { low, high, side: tuning.cell, radius };
        Ok(Atlas {
            coarse: needs(Level::Navmesh).then(|| terrain(f64::INFINITY)).transpose()?,
            fine: needs(Level::DynamicNavmesh).then(|| terrain(tuning.widest_polygon)).transpose()?,
            grid: needs(Level::Grid).then(|| Grid::between(walls, layout)).transpose()?,
            clearance: Clearance::new(walls, radius as f32),
            jumps: links.iter().flat_map(jumps).collect(),
            tuning,
        })
    }

    /// Whether a body has room at a place: between walls, and in the mesh where there is one.
    pub fn has_room(&self, at: DVec2) -> bool {
        let meshes = [&self.coarse, &self.fine].into_iter().flatten();
        self.clearance.has_room(at) && meshes.into_iter().all(|terrain| terrain.mesh().locate(at).is_some())
    }

    /// The shortest ways to a goal, where a chain leads from the static mesh to space-time: what the one knows of distances
    /// guides the other.
    fn ways(&self, chain: &Chain, goal: DVec2) -> Option<Ways> {
        let guides = chain.first == Level::Navmesh && chain.last() == Level::SpaceTime;
        let mesh = self.mesh().filter(|_| guides && self.jumps.is_empty())?;
        Some(Ways::new(mesh, &[goal]))
    }

    /// The static mesh, where the chain has one.
    pub fn mesh(&self) -> Option<&Mesh> {
        self.coarse.as_ref().map(Terrain::mesh)
    }
}

/// A link as Σ4 has it: what it costs more than to stand for as long.
fn jumps(link: &navmesh::Link) -> impl Iterator<Item = Jump> + use<> {
    let there = Jump { from: link.from, to: link.to, cost: link.cost, reach: TAKE_OFF };
    let back = Jump { from: link.to, to: link.from, ..there };
    std::iter::once(there).chain(link.both_ways.then_some(back))
}

/// What is to be planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Problem {
    /// m.
    pub from: DVec2,
    /// m/s.
    pub velocity: DVec2,
    /// m.
    pub to: DVec2,
    /// When it begins, s.
    pub begin: f64,
    /// When to arrive, s. `None`: any time.
    pub arrive: Option<(f64, f64)>,
    /// Who plans, among those who have published.
    pub own: Option<u32>,
}

impl Problem {
    /// From one place to another, from standing, now, at any time.
    pub fn between(from: DVec2, to: DVec2) -> Problem {
        Problem { from, velocity: DVec2::ZERO, to, begin: 0.0, arrive: None, own: None }
    }
}

/// What a domain made of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Which domain.
    pub level: Level,
    /// Whether there is a plan, and how good.
    pub status: Status,
    /// Time (s) and place (m). Domains that know no time pass places at an even speed.
    pub trajectory: Vec<(f64, DVec2)>,
    /// In the domain's own measure: m, or J/kg in space-time.
    pub cost: f64,
    /// What was done, over all legs.
    pub effort: Effort,
    /// How many searches there were: the legs, where there are any.
    pub searches: usize,
    /// Where states were looked at.
    pub seen: Vec<DVec2>,
}

impl Outcome {
    fn none(level: Level) -> Outcome {
        Outcome {
            level,
            status: Status::Unreachable,
            trajectory: Vec::new(),
            cost: 0.0,
            effort: Effort::default(),
            searches: 0,
            seen: Vec::new(),
        }
    }

    /// Whether there is a plan.
    pub fn is_found(&self) -> bool {
        !self.trajectory.is_empty()
    }

    /// m.
    pub fn length(&self) -> f64 {
        self.trajectory.windows(2).map(|pair| pair[0].1.distance(pair[1].1)).sum()
    }

    /// Its places.
    pub fn places(&self) -> impl Iterator<Item = DVec2> + '_ {
        self.trajectory.iter().map(|point| point.1)
    }

    fn spend(&mut self, effort: Effort) {
        self.effort.expansions += effort.expansions;
        self.effort.edges += effort.edges;
        self.effort.restarts += effort.restarts;
        self.searches += 1;
    }

    /// Takes a way that is passed at an even speed.
    fn pass(&mut self, places: &[DVec2], begin: f64, speed: f64) {
        let mut time = begin;
        let mut last = None;
        for &at in places {
            time += last.map_or(0.0, |last: DVec2| last.distance(at) / speed);
            self.trajectory.push((time, at));
            last = Some(at);
        }
    }
}

/// Plans through a chain. The outcomes of its domains, as far as it came: where the first has no plan, it is the last.
/// Where one in between has none, the plan before it guides the next one: cells may be too wide for a door, and somebody
/// may stand in it just now.
pub fn plan(atlas: &Atlas, published: &Published, chain: &Chain, problem: &Problem) -> Vec<Outcome> {
    let ways = atlas.ways(chain, problem.to);
    let mut planner = Planner { atlas, published, problem: *problem, ways };
    let mut outcomes = vec![planner.plan(chain.first, None)];
    let mut way: Vec<DVec2> = outcomes[0].places().collect();
    for (index, &(joint, level)) in chain.rest.iter().enumerate() {
        if way.is_empty() {
            break;
        }
        if joint == Joint::Waypoints {
            let levels: Vec<Level> = chain.rest[index..].iter().map(|(_, level)| *level).collect();
            outcomes.extend(planner.plan_legs(&levels, &way));
            break;
        }
        let outcome = planner.plan(level, Some(&way));
        if outcome.is_found() {
            way = outcome.places().collect();
        }
        outcomes.push(outcome);
    }
    outcomes
}

/// The parts of a plan.
struct Planner<'a> {
    atlas: &'a Atlas,
    published: &'a Published,
    problem: Problem,
    /// To the goal on the static mesh, where space-time follows it in the chain.
    ways: Option<Ways>,
}

/// What one leg, or the whole way where there are no legs, is to do in space-time.
struct Stretch {
    begin: f64,
    from: DVec2,
    velocity: DVec2,
    goal: Goal,
    budget: u64,
}

impl Planner<'_> {
    fn tuning(&self) -> &Tuning {
        &self.atlas.tuning
    }

    fn compass(&self) -> Option<Compass<'_>> {
        Some(Compass { mesh: self.atlas.mesh()?, ways: self.ways.as_ref()? })
    }

    /// As fast as one walks where nothing else is said.
    fn speed(&self, length: f64) -> f64 {
        let walk = self.tuning().walk;
        let cheapest = (walk.per_second / walk.per_speed_squared).sqrt().min(walk.max_speed);
        let Some((from, to)) = self.problem.arrive else { return cheapest };
        // To arrive in time, no faster and no slower than that takes.
        let bounds = [from, to].map(|time| length / (time - self.problem.begin).max(walk.step));
        cheapest.clamp(bounds[1], bounds[0].max(bounds[1])).clamp(0.05, walk.max_speed)
    }

    fn plan(&mut self, level: Level, guide: Option<&[DVec2]>) -> Outcome {
        let ends = [self.problem.from, self.problem.to];
        match level {
            Level::Navmesh => self.on_mesh(ends),
            Level::DynamicNavmesh => self.on_dynamic_mesh(ends, guide),
            Level::Grid => self.on_grid(ends, self.problem.begin, guide),
            Level::SpaceTime => self.in_space_time(guide),
        }
    }

    fn on_mesh(&self, ends: [DVec2; 2]) -> Outcome {
        let mut outcome = Outcome::none(Level::Navmesh);
        let Some(mesh) = self.atlas.mesh() else { return outcome };
        let mut search = navmesh::Search::default();
        let found = search.find(mesh, ends[0], ends[1]).map(|way| {
            let places: Vec<DVec2> = way.stops.iter().map(|stop| stop.at).collect();
            (
                places,
                way.length,
                Effort { expansions: way.expanded as u64, edges: way.found as u64, restarts: 0 },
            )
        });
        let Some((places, length, effort)) = found else { return outcome };
        outcome.seen = search.looked_at(mesh).collect();
        outcome.spend(effort);
        outcome.pass(&places, self.problem.begin, self.speed(length));
        (outcome.status, outcome.cost) = (Status::Optimal, length);
        outcome
    }

    fn on_dynamic_mesh(&self, ends: [DVec2; 2], guide: Option<&[DVec2]>) -> Outcome {
        let mut outcome = Outcome::none(Level::DynamicNavmesh);
        let Some(mesh) = self.atlas.fine.as_ref().map(Terrain::mesh) else { return outcome };
        let speed = self.speed(ends[0].distance(ends[1]));
        let traveller = Traveller { from: ends[0], begin: self.problem.begin, speed, own: self.problem.own };
        let density = Density::ahead(mesh, self.published, traveller);
        let Some(domain) = DynamicNavmesh::new(mesh, &density, self.tuning().density_weight, ends) else {
            return outcome;
        };
        let mut gates = Vec::new();
        // As wide as a polygon, or the middles of sides would not be inside.
        let width = self.tuning().widest_polygon;
        let found =
            self.search_plane(&domain, [Gate::START, Gate::GOAL], guide, width, &mut gates, &mut outcome);
        if let Some(cost) = found {
            let (route, length) = domain.route(&gates);
            outcome.cost = cost.into();
            outcome.pass(&route, self.problem.begin, self.speed(length));
        }
        outcome
    }

    fn on_grid(&self, ends: [DVec2; 2], time: f64, guide: Option<&[DVec2]>) -> Outcome {
        let mut outcome = Outcome::none(Level::Grid);
        let Some(grid) = &self.atlas.grid else { return outcome };
        let mut grid = grid.clone();
        let others = self.published.iter().filter(|&(body, _)| Some(body) != self.problem.own);
        for (_, path) in others {
            if let Some(at) = path.place(time) {
                grid.add_body(at, path.radius, &mut Vec::new());
            }
        }
        let reach = NEAREST_CELL * grid.side();
        // A goal that somebody passes right now is still the goal: the nearest free cell stands for it.
        let [Some(start), Some(goal)] = ends.map(|end| grid.nearest(end, reach)) else { return outcome };
        let mut cells = Vec::new();
        let width = self.tuning().width.space.max(2.0 * grid.side());
        let found = self.search_plane(&grid, [start, goal], guide, width, &mut cells, &mut outcome);
        if let Some(cost) = found {
            outcome.cost = cost.into();
            let mut places: Vec<DVec2> = cells.iter().map(|&cell| grid.place(cell)).collect();
            places.insert(0, ends[0]);
            places.push(ends[1]);
            let line = Line::through(places);
            outcome.pass(line.points(), time, self.speed(line.length()));
        }
        outcome
    }

    /// A search against the direction of travel between two states of a spatial domain, in a tunnel where there is a guide.
    fn search_plane<D: crate::domain::Placed>(
        &self,
        domain: &D,
        [start, goal]: [D::State; 2],
        guide: Option<&[DVec2]>,
        width: f64,
        out: &mut Vec<D::State>,
        outcome: &mut Outcome,
    ) -> Option<f32> {
        let settings = self.tuning().in_space;
        let budget = Budget::expansions(self.tuning().budget);
        let Some(guide) = guide else {
            let mut search = AnytimeDynamicAstar::new(settings, Aim::At(start), &[goal]);
            outcome.status = search.improve(domain, budget);
            outcome.spend(search.effort());
            outcome.seen.extend(search.visited().filter_map(|(state, _)| domain.place_of(state)));
            return search.path(domain, out);
        };
        let ends = [start, goal].map(|end| domain.place_of(end));
        let places = ends[0].into_iter().chain(guide.iter().copied()).chain(ends[1]);
        let width = Width { space: width, time: f64::INFINITY };
        let tunnel = Tunnel { line: Line::through(places), width, goal_radius: 0.0 };
        // In the plane a tunnel without a plan is searched to its end soon enough.
        let mut search =
            Guided::new(settings, Aim::At(start), &[goal], tunnel).with_patience(self.tuning().budget);
        outcome.status = search.improve(domain, budget);
        outcome.spend(search.effort());
        outcome.seen.extend(search.search().visited().filter_map(|(state, _)| domain.place_of(state)));
        search.path(domain, out)
    }

    fn in_space_time(&self, guide: Option<&[DVec2]>) -> Outcome {
        let Problem { from, velocity, to, begin, arrive, .. } = self.problem;
        let window = arrive.unwrap_or((begin, f64::INFINITY));
        let goal = Goal { at: to, radius: self.tuning().goal_radius, window };
        let stretch = Stretch { begin, from, velocity, goal, budget: self.tuning().budget };
        let mut outcome = Outcome::none(Level::SpaceTime);
        self.walk(&stretch, guide, &mut outcome);
        outcome
    }

    /// Plans one stretch in space-time and adds it to an outcome. The velocity at its end, if there is a plan.
    fn walk(&self, stretch: &Stretch, guide: Option<&[DVec2]>, outcome: &mut Outcome) -> Option<DVec2> {
        let around = Surroundings {
            clearance: &self.atlas.clearance,
            published: self.published,
            own: self.problem.own,
        };
        let begin = (stretch.begin, stretch.from);
        let domain = SpaceTime::new(self.tuning().walk, around, begin, stretch.goal)
            .ok()?
            .with_fovea(self.tuning().fovea)
            .with_jumps(&self.atlas.jumps)
            .with_compass(self.compass());
        let start = domain.moment(stretch.begin, stretch.from, stretch.velocity);
        let mut states = Vec::new();
        let cost = match guide {
            Some(guide) => self.search_tunnel(&domain, start, guide, stretch, &mut states, outcome),
            None => self.search_open(&domain, start, stretch, &mut states, outcome),
        }?;
        let mut points = Vec::new();
        domain.trajectory(&states, &mut points);
        let again = usize::from(!outcome.trajectory.is_empty());
        outcome.trajectory.extend(points.into_iter().skip(again));
        outcome.cost += f64::from(cost);
        let last = states.iter().rev().find(|&&state| state != Moment::THERE)?;
        Some(domain.velocity(*last))
    }

    fn search_open(
        &self,
        domain: &SpaceTime<'_>,
        start: Moment,
        stretch: &Stretch,
        states: &mut Vec<Moment>,
        outcome: &mut Outcome,
    ) -> Option<f32> {
        let settings = self.tuning().in_time;
        let mut search = AnytimeDynamicAstar::new(settings, Aim::Ends, &[start]);
        let forward = Reversed(domain);
        outcome.status = if self.tuning().improve {
            search.solve(&forward, Budget::expansions(stretch.budget))
        } else {
            search.improve(&forward, Budget::expansions(stretch.budget))
        };
        outcome.spend(search.effort());
        outcome.seen.extend(search.visited().filter_map(|(state, _)| place(domain, state)));
        search.path(&forward, states)
    }

    fn search_tunnel(
        &self,
        domain: &SpaceTime<'_>,
        start: Moment,
        guide: &[DVec2],
        stretch: &Stretch,
        states: &mut Vec<Moment>,
        outcome: &mut Outcome,
    ) -> Option<f32> {
        let places = place(domain, start).into_iter().chain(guide.iter().copied()).chain([stretch.goal.at]);
        let places: Vec<DVec2> = places.collect();
        let speed = self.speed(Line::through(places.iter().copied()).length());
        let tunnel = Tunnel {
            line: Line::timed(places, stretch.begin, speed),
            width: self.tuning().width,
            goal_radius: stretch.goal.radius,
        };
        let settings = self.tuning().in_time;
        let mut search =
            Guided::new(settings, Aim::Ends, &[start], tunnel).with_patience(self.tuning().patience);
        let forward = Reversed(domain);
        loop {
            let left = stretch.budget.saturating_sub(search.effort().expansions);
            outcome.status = search.improve(&forward, Budget::expansions(left));
            let better = matches!(outcome.status, Status::Bounded(_)) && search.search().inflation() > 1.0;
            if !(self.tuning().improve && better) {
                break;
            }
        }
        outcome.spend(search.effort());
        outcome.seen.extend(search.search().visited().filter_map(|(state, _)| place(domain, state)));
        search.path(&forward, states)
    }

    /// Plans from waypoint to waypoint in one domain, or in one around the plan of another.
    fn plan_legs(&mut self, levels: &[Level], way: &[DVec2]) -> Vec<Outcome> {
        let mut legs = Legs::along(way, self.tuning().leg);
        let mut outcomes: Vec<Outcome> = levels.iter().map(|&level| Outcome::none(level)).collect();
        // What the plan was at the beginning of each leg, to go back to.
        let mut before = Vec::new();
        let mut now = Progress { begin: self.problem.begin, at: way[0], velocity: self.problem.velocity };
        let mut leg = 0;
        let mut joins = 0;
        while let Some(way) = legs.get(leg) {
            before.truncate(leg);
            before.push((
                now,
                outcomes.iter().map(|outcome| (outcome.trajectory.len(), outcome.cost)).collect(),
            ));
            let task = Task { way, is_last: leg + 1 == legs.len(), joins };
            if let Some(next) = self.plan_leg(&mut outcomes, now, &task) {
                (now, leg, joins) = (next, leg + 1, 0);
                continue;
            }
            joins += 1;
            // Of the finest domain alone: the others begin anew with each leg, and each of their searches has its bound.
            let spent = outcomes.last().map_or(0, |outcome| outcome.effort.expansions);
            if spent >= self.tuning().budget || joins > MOST_JOINS {
                return give_up(outcomes);
            }
            // Where nothing is left to join, there is still budget.
            if legs.join(leg) {
                leg -= 1;
            } else {
                legs.join_next(leg);
            }
            let marks: &Vec<(usize, f64)>;
            (now, marks) = (before[leg].0, &before[leg].1);
            for (outcome, &(points, cost)) in outcomes.iter_mut().zip(marks) {
                outcome.trajectory.truncate(points);
                outcome.cost = cost;
            }
        }
        outcomes
    }

    fn plan_leg(&self, outcomes: &mut [Outcome], now: Progress, task: &Task<'_>) -> Option<Progress> {
        let to = task.to();
        let mut guide: Option<Vec<DVec2>> = None;
        let mut end = None;
        for outcome in outcomes {
            match outcome.level {
                Level::SpaceTime => {
                    let stretch = self.stretch(outcome, now, task);
                    let velocity = self.walk(&stretch, guide.as_deref(), outcome)?;
                    let &(begin, at) = outcome.trajectory.last()?;
                    end = Some(Progress { begin, at, velocity });
                }
                level => {
                    let part = match level {
                        Level::Navmesh => self.on_mesh([now.at, to]),
                        Level::DynamicNavmesh => self.on_dynamic_mesh([now.at, to], guide.as_deref()),
                        _ => self.on_grid([now.at, to], now.begin, guide.as_deref()),
                    };
                    outcome.status = part.status;
                    outcome.spend(part.effort);
                    outcome.seen.extend(&part.seen);
                    // Somebody may stand on a waypoint just now: finer domains can still follow the plan before.
                    let found = part.is_found();
                    let places = if found {
                        part.places().collect()
                    } else {
                        guide.unwrap_or_else(|| task.way.to_vec())
                    };
                    outcome.cost += part.cost;
                    let again = usize::from(!outcome.trajectory.is_empty());
                    outcome.trajectory.extend(part.trajectory.iter().skip(again));
                    let arrival = part.trajectory.last().map_or(now.begin, |last| last.0);
                    end = found.then_some(Progress { begin: arrival, at: to, velocity: DVec2::ZERO });
                    guide = Some(places);
                }
            }
        }
        end
    }

    fn stretch(&self, outcome: &Outcome, now: Progress, task: &Task<'_>) -> Stretch {
        let tuning = self.tuning();
        let radius = if task.is_last { tuning.goal_radius } else { tuning.waypoint_radius };
        let window = self.problem.arrive.filter(|_| task.is_last).unwrap_or((now.begin, f64::INFINITY));
        let left = tuning.budget.saturating_sub(outcome.effort.expansions);
        Stretch {
            begin: now.begin,
            from: now.at,
            velocity: now.velocity,
            goal: Goal { at: task.to(), radius, window },
            budget: left.min(tuning.leg_budget.saturating_mul(1 << task.joins.min(32))),
        }
    }
}

/// What a leg is to do.
struct Task<'a> {
    /// What the plan before says of it.
    way: &'a [DVec2],
    is_last: bool,
    /// How often it was joined with others since the last leg that had a plan.
    joins: u32,
}

impl Task<'_> {
    fn to(&self) -> DVec2 {
        self.way[self.way.len() - 1]
    }
}

/// How far a plan of legs has come.
#[derive(Clone, Copy, Debug)]
struct Progress {
    begin: f64,
    at: DVec2,
    velocity: DVec2,
}

/// A part of a way is no plan.
fn give_up(mut outcomes: Vec<Outcome>) -> Vec<Outcome> {
    if let Some(last) = outcomes.last_mut() {
        last.trajectory.clear();
    }
    outcomes
}

/// After so many legs in a row without a plan there is none: the last had 64 times the budget of the first.
const MOST_JOINS: u32 = 6;

/// As many cells around a place are looked at for one that is free.
const NEAREST_CELL: f64 = 6.0;

fn place(domain: &SpaceTime<'_>, state: Moment) -> Option<DVec2> {
    crate::domain::Placed::place_of(domain, state)
}

/// Whether numbers make a space-time domain.
pub fn check_walk(walk: Walk) -> Result<(), SpaceTimeError> {
    let (clearance, published) = (Clearance::new(&[], 0.1), Published::default());
    let around = Surroundings { clearance: &clearance, published: &published, own: None };
    let goal = Goal { at: DVec2::ZERO, radius: 0.0, window: (0.0, 0.0) };
    SpaceTime::new(walk, around, (0.0, DVec2::ZERO), goal).map(|_| ())
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
