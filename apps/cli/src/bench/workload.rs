//! Random crossing: every agent somewhere in a square, on the way to somewhere else in it.

use glam::{DVec2, Vec2};
use serde::Serialize;
use std::collections::BTreeMap;
use throng::catalog;
use throng::map::Map;
use throng::params::Value;
use throng::scenario::{AgentStart, Cohort, Goal, Pipeline, Scenario, Settings};

/// Agents per square metre that can be walked on, where nothing else is asked for.
pub const DENSITY: f64 = 0.25;
/// m.
pub const RADIUS: f64 = 0.25;
/// m/s.
pub const PREFERRED_SPEED: f64 = 1.3;
/// m/s.
pub const MAX_SPEED: f64 = 1.5;
/// m.
pub const NEIGHBOR_DISTANCE: f64 = 5.0;
pub const MAX_NEIGHBORS: usize = 10;
/// s.
pub const TIME_HORIZON: f64 = 3.0;
/// s.
pub const DT: f64 = 0.1;
/// Side of a block, and of a block with its street, m: a quarter of a square with blocks cannot be walked on.
const BLOCK: f64 = 8.0;
const STREET: f64 = 16.0;

/// What stands in the square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Walls {
    /// Nothing.
    None,
    /// Blocks with streets between them.
    Blocks,
}

/// How many cross what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    pub agents: usize,
    /// Agents per square metre that can be walked on.
    pub density: f64,
    pub walls: Walls,
}

impl Workload {
    /// The usual one.
    pub fn of(agents: usize) -> Workload {
        Workload { agents, density: DENSITY, walls: Walls::None }
    }

    fn side(&self) -> f64 {
        let free = match self.walls {
            Walls::None => 1.0,
            Walls::Blocks => 1.0 - (BLOCK / STREET).powi(2),
        };
        (self.agents as f64 / self.density / free).sqrt()
    }

    /// The lower corners of all blocks, m.
    fn blocks(&self) -> Vec<DVec2> {
        let along = match self.walls {
            Walls::None => 0,
            Walls::Blocks => (self.side() / STREET).round() as usize,
        };
        let corner = |place: usize| place as f64 * STREET + (STREET - BLOCK) / 2.0;
        (0..along * along).map(|place| DVec2::new(corner(place % along), corner(place / along))).collect()
    }
}

/// Whether a body stands in a block.
fn is_blocked(place: DVec2, blocks: &[DVec2]) -> bool {
    !blocks.is_empty() && {
        // Blocks repeat, so that one need not look at all of them; those of the last streets may be missing, which leaves room.
        let beyond = (place / STREET - (place / STREET).floor()) * STREET - DVec2::splat(STREET / 2.0);
        beyond.abs().max_element() < BLOCK / 2.0 + RADIUS + 0.01
    }
}

/// Who is where, and wants to be where.
pub struct RandomCrossing {
    pub position: Vec<DVec2>,
    pub goal: Vec<DVec2>,
    blocks: Vec<DVec2>,
    side: f64,
}

impl RandomCrossing {
    pub fn new(workload: Workload) -> RandomCrossing {
        let (side, blocks) = (workload.side(), workload.blocks());
        let mut random = uniform(12345);
        let mut somewhere = || loop {
            let place = DVec2::new(random() * side, random() * side);
            if !is_blocked(place, &blocks) {
                return place;
            }
        };
        let (position, goal) = (0..workload.agents).map(|_| (somewhere(), somewhere())).unzip();
        RandomCrossing { position, goal, blocks, side }
    }

    /// The same, begun on a grid on which none overlaps another: some systems take no other crowds.
    pub fn apart(agents: usize) -> RandomCrossing {
        let crossing = RandomCrossing::new(Workload::of(agents));
        let columns = (agents as f64).sqrt().ceil() as usize;
        let spacing = crossing.side / columns as f64;
        let mut random = uniform(54321);
        let mut aside = || (random() - 0.5) * (spacing - 2.2 * RADIUS);
        let mut place = |i: usize| {
            let cell = DVec2::new((i % columns) as f64 + 0.5, (i / columns) as f64 + 0.5);
            cell * spacing + DVec2::new(aside(), aside())
        };
        RandomCrossing { position: (0..agents).map(&mut place).collect(), ..crossing }
    }

    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// The square's side, m.
    pub fn side(&self) -> f64 {
        self.side
    }

    pub fn mean_distance(&self) -> f64 {
        let places = self.position.iter().zip(&self.goal);
        places.map(|(place, goal)| place.distance(*goal)).sum::<f64>() / self.len() as f64
    }

    fn map(&self) -> Map {
        let ring = |&low: &DVec2| {
            let high = low + BLOCK;
            vec![low, DVec2::new(high.x, low.y), high, DVec2::new(low.x, high.y)]
        };
        let named = |(place, low)| (format!("block {place}"), ring(low));
        Map { obstacles: self.blocks.iter().enumerate().map(named).collect(), ..Map::default() }
    }

    /// Made in code: as JSON a million agents would need more memory than the run that is to be measured.
    pub fn scenario(&self, pipeline: &Pipeline) -> Scenario {
        let agent = |(&position, &goal): (&DVec2, &DVec2)| AgentStart {
            position,
            velocity: DVec2::ZERO,
            goal: Goal::Point(goal),
            radius: RADIUS,
            preferred_speed: PREFERRED_SPEED,
            max_speed: MAX_SPEED,
            start: 0.0,
        };
        Scenario {
            name: "random crossing".into(),
            seed: 0,
            dt: DT,
            until: f64::MAX,
            params: Settings::from([(pipeline.microscale.clone(), sight(&pipeline.microscale))]),
            pipeline: pipeline.clone(),
            map: self.map(),
            sources: Vec::new(),
            exits: Vec::new(),
            stages: Vec::new(),
            journeys: Vec::new(),
            cohorts: vec![Cohort {
                area: None,
                name: "crowd".into(),
                agents: self.position.iter().zip(&self.goal).map(agent).collect(),
                leaves: false,
                goal_radius: RADIUS,
                arrive: None,
                responsibility: 0.5,
                together: false,
                microscale: None,
                params: Settings::new(),
            }],
            areas: Vec::new(),
            movers: Vec::new(),
            links: Vec::new(),
            events: Vec::new(),
            measures: Vec::new(),
            expect: Default::default(),
            source: String::new(),
        }
    }
}

/// How far a local model looks, where it can be told: all look as far, and at as many.
fn sight(model: &str) -> BTreeMap<String, Value> {
    let blocks = catalog::blocks();
    let fields = blocks.iter().find(|block| block.name == model).map_or(&[][..], |block| block.fields);
    let asked = [
        ("time_horizon", TIME_HORIZON),
        ("neighbor_distance", NEIGHBOR_DISTANCE),
        ("max_neighbors", MAX_NEIGHBORS as f64),
    ];
    let known = asked.into_iter().filter(|(key, _)| fields.iter().any(|field| field.name == *key));
    known.map(|(key, value)| (key.to_string(), Value::Number(value))).collect()
}

/// The velocity that an agent would have by itself: straight to its goal, and not beyond it within a step.
pub fn preferred(position: Vec2, goal: Vec2) -> Vec2 {
    let to_goal = goal - position;
    let distance = to_goal.length();
    let speed = (PREFERRED_SPEED as f32).min(distance / DT as f32);
    if distance > 0.0 { to_goal * (speed / distance) } else { Vec2::ZERO }
}

/// Numbers from 0 to 1 (xorshift): the same crowd everywhere, whatever becomes of the engine's own streams.
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_begins_in_a_block_or_wants_into_one() {
        let workload = Workload { walls: Walls::Blocks, density: 1.0, agents: 3_000 };
        let crossing = RandomCrossing::new(workload);
        assert!(crossing.blocks.len() > 9);
        for place in crossing.position.iter().chain(&crossing.goal) {
            let inside = |low: &DVec2| {
                let beyond = (*place - *low - DVec2::splat(BLOCK / 2.0)).abs();
                beyond.max_element() < BLOCK / 2.0 + RADIUS
            };
            assert!(!crossing.blocks.iter().any(inside), "{place}");
        }
    }

    #[test]
    fn a_crowd_that_begins_apart_does_not_overlap() {
        let crossing = RandomCrossing::apart(1_000);
        for (index, place) in crossing.position.iter().enumerate() {
            assert!(crossing.position[..index].iter().all(|other| other.distance(*place) > 2.0 * RADIUS));
        }
    }
}
