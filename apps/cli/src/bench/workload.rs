//! Random crossing: every agent somewhere in a square, on the way to somewhere else in it.

use glam::{DVec2, Vec2};
use throng::map::Map;
use throng::params::Value;
use throng::scenario::{AgentStart, Cohort, Goal, Pipeline, Scenario, Settings};

/// Agents per square metre.
const DENSITY: f64 = 0.25;
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

/// Who is where, and wants to be where.
pub struct RandomCrossing {
    pub position: Vec<DVec2>,
    pub goal: Vec<DVec2>,
}

impl RandomCrossing {
    pub fn new(agents: usize) -> RandomCrossing {
        let side = (agents as f64 / std::env::var("DENS").map_or(DENSITY, |d| d.parse().unwrap())).sqrt();
        let mut random = uniform(12345);
        let mut somewhere = || DVec2::new(random() * side, random() * side);
        let (position, goal) = (0..agents).map(|_| (somewhere(), somewhere())).unzip();
        RandomCrossing { position, goal }
    }

    pub fn len(&self) -> usize {
        self.position.len()
    }

    pub fn mean_distance(&self) -> f64 {
        let places = self.position.iter().zip(&self.goal);
        places.map(|(place, goal)| place.distance(*goal)).sum::<f64>() / self.len() as f64
    }

    /// Made in code: as JSON a million agents would need more memory than the run that is to be measured.
    pub fn scenario(&self) -> Scenario {
        let agent = |(&position, &goal): (&DVec2, &DVec2)| AgentStart {
            position,
            velocity: DVec2::ZERO,
            goal: Goal::Point(goal),
            radius: RADIUS,
            preferred_speed: PREFERRED_SPEED,
            max_speed: MAX_SPEED,
            start: 0.0,
        };
        let number = |key: &str, value: f64| (key.to_string(), Value::Number(value));
        let orca = [
            number("time_horizon", TIME_HORIZON),
            number("neighbor_distance", NEIGHBOR_DISTANCE),
            number("max_neighbors", MAX_NEIGHBORS as f64),
        ];
        Scenario {
            name: "random crossing".into(),
            seed: 0,
            dt: DT,
            until: f64::MAX,
            pipeline: Pipeline {
                macroscale: "straight".into(),
                mesoscale: Vec::new(),
                microscale: "orca".into(),
                motion: "holonomic".into(),
            },
            params: Settings::from([("orca".into(), orca.into())]),
            map: Map::default(),
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
