//! # A problem through a chain of domains (Kapadia et al. 2013, sections 5 and 6, figure 4)
//! One agent, one start, one goal: the coarsest domain of a chain plans first, and its plan guides the next. Two domains are
//! joined by a tunnel ([`crate::tunnel`]), or by waypoints ([`crate::waypoints`]), and then the finer ones plan leg by leg.
//!
//! This is the whole of a plan at once, for `throng plan`, for the paper's table 1 and for tests. Tasks that share the time
//! of a frame among many agents are another room's, with the same parts.

mod atlas;
mod legs;
mod order;
mod planner;

pub use atlas::{Atlas, AtlasError, Site};
pub use order::{Chain, ChainError, Joint, Level};

use crate::domain::occupancy::Occupancy;
use crate::domain::space_time::{Fovea, Walk};
use crate::search::{Effort, Settings, Status};
use crate::tunnel::Width;
use glam::DVec2;
use planner::ChainPlanner;

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
    /// Who is in sight in Σ4. `None`: all agents.
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
    /// Expansions without a plan after which a tunnel is too narrow, see [`Guided::with_patience`](crate::tunnel::Guided::with_patience). Default 100.
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

    /// Goes on with the plan of the next leg, which begins where this one ends.
    fn append(&mut self, leg: Outcome) {
        let again = usize::from(!self.trajectory.is_empty());
        self.trajectory.extend(leg.trajectory.into_iter().skip(again));
        self.status = leg.status;
        self.cost += leg.cost;
        self.spend(leg.effort);
        self.seen.extend(leg.seen);
    }

    /// How far it has come, to go back to.
    fn mark(&self) -> (usize, f64) {
        (self.trajectory.len(), self.cost)
    }

    /// Drops what came after a mark; what it took to find stays counted.
    fn go_back(&mut self, (points, cost): (usize, f64)) {
        self.trajectory.truncate(points);
        self.cost = cost;
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
/// Where one in between has none, the plan before it guides the next one: cells may be too wide for a door, and an agent
/// may stand in it just now.
pub fn plan(atlas: &Atlas, published: &Occupancy, chain: &Chain, problem: &Problem) -> Vec<Outcome> {
    let ways = atlas.ways(chain, problem.to);
    let planner = ChainPlanner { atlas, published, problem: *problem, ways };
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

#[cfg(test)]
mod tests;
