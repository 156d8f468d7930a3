//! One problem in one domain, alone or around the plan of another.

use super::atlas::Atlas;
use super::order::Level;
use super::{Outcome, Problem, Tuning};
use crate::domain::Placed;
use crate::domain::dynamic_navmesh::{Density, DynamicNavmesh, Gate, Traveller};
use crate::domain::occupancy::Occupancy;
use crate::domain::space_time::{Compass, Goal, Moment, SpaceTime, Surroundings};
use crate::navmesh::{self, PathTree, Terrain};
use crate::search::{Aim, AnytimeDynamicAstar, Budget, Effort, Reversed, Status};
use crate::tunnel::{Guided, Line, Tunnel, Width};
use glam::DVec2;

/// The parts of a plan.
pub(super) struct ChainPlanner<'a> {
    pub atlas: &'a Atlas,
    pub published: &'a Occupancy,
    pub problem: Problem,
    /// To the goal on the static mesh, where space-time follows it in the chain.
    pub ways: Option<PathTree>,
}

/// How far a plan has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub begin: f64,
    pub at: DVec2,
    pub velocity: DVec2,
}

/// What one leg, or the whole path where there are no legs, is to do in space-time.
pub(super) struct Stretch {
    pub now: Progress,
    pub goal: Goal,
    pub budget: u64,
}

impl ChainPlanner<'_> {
    pub fn tuning(&self) -> &Tuning {
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

    /// How far a plan has come before its first leg.
    pub fn start(&self) -> Progress {
        let Problem { from, velocity, begin, .. } = self.problem;
        Progress { begin, at: from, velocity }
    }

    pub fn plan(&self, level: Level, guide: Option<&[DVec2]>) -> Outcome {
        let ends = [self.problem.from, self.problem.to];
        match level {
            Level::Navmesh => self.on_mesh(ends),
            Level::DynamicNavmesh => self.on_dynamic_mesh(ends, guide),
            Level::Grid => self.on_grid(ends, self.problem.begin, guide),
            Level::SpaceTime => self.in_space_time(guide),
        }
    }

    pub fn on_mesh(&self, ends: [DVec2; 2]) -> Outcome {
        let mut outcome = Outcome::none(Level::Navmesh);
        let Some(mesh) = self.atlas.mesh() else { return outcome };
        let mut search = navmesh::Search::default();
        let Some(way) = search.find(mesh, ends[0], ends[1]) else { return outcome };
        let places: Vec<DVec2> = way.stops.iter().map(|stop| stop.at).collect();
        outcome.spend(Effort {
            expansions: way.expanded as u64,
            edges: way.found as u64,
            ..Effort::default()
        });
        outcome.pass(&places, self.problem.begin, self.speed(way.length));
        (outcome.status, outcome.cost) = (Status::Optimal, way.length);
        outcome.seen = search.looked_at(mesh).collect();
        outcome
    }

    pub fn on_dynamic_mesh(&self, ends: [DVec2; 2], guide: Option<&[DVec2]>) -> Outcome {
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

    pub fn on_grid(&self, ends: [DVec2; 2], time: f64, guide: Option<&[DVec2]>) -> Outcome {
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
        // A goal that an agent passes right now is still the goal: the nearest free cell stands for it.
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
    fn search_plane<D: Placed>(
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
        let Problem { to, begin, arrive, .. } = self.problem;
        let window = arrive.unwrap_or((begin, f64::INFINITY));
        let goal = Goal { at: to, radius: self.tuning().goal_radius, window };
        self.walk(&Stretch { now: self.start(), goal, budget: self.tuning().budget }, guide).0
    }

    /// Plans one stretch in space-time, and tells the velocity at its end, if there is a plan.
    pub fn walk(&self, stretch: &Stretch, guide: Option<&[DVec2]>) -> (Outcome, Option<DVec2>) {
        let around = Surroundings {
            clearance: &self.atlas.clearance,
            published: self.published,
            own: self.problem.own,
        };
        let mut outcome = Outcome::none(Level::SpaceTime);
        let Progress { begin, at, velocity } = stretch.now;
        let Ok(domain) = SpaceTime::new(self.tuning().walk, around, (begin, at), stretch.goal) else {
            return (outcome, None);
        };
        let domain =
            domain.with_fovea(self.tuning().fovea).with_jumps(&self.atlas.jumps).with_compass(self.compass());
        let start = domain.moment(begin, at, velocity);
        let mut states = Vec::new();
        let cost = match guide {
            Some(guide) => self.search_tunnel(&domain, start, guide, stretch, &mut states, &mut outcome),
            None => self.search_open(&domain, start, stretch, &mut states, &mut outcome),
        };
        outcome.cost = cost.map_or(0.0, f64::from);
        domain.trajectory(&states, &mut outcome.trajectory);
        let last = states.iter().rev().find(|&&state| state != Moment::THERE);
        (outcome, last.map(|&state| domain.velocity(state)))
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
        outcome.seen.extend(search.visited().filter_map(|(state, _)| domain.place_of(state)));
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
        let places = domain.place_of(start).into_iter().chain(guide.iter().copied()).chain([stretch.goal.at]);
        let places: Vec<DVec2> = places.collect();
        let speed = self.speed(Line::through(places.iter().copied()).length());
        let tunnel = Tunnel {
            line: Line::timed(places, stretch.now.begin, speed),
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
        outcome.seen.extend(search.search().visited().filter_map(|(state, _)| domain.place_of(state)));
        search.path(&forward, states)
    }
}

/// As many cells around a place are looked at for one that is free.
const NEAREST_CELL: f64 = 6.0;
