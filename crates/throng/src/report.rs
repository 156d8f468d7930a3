//! What a run of a scenario reports.

use crate::measure::Measures;
use crate::metrics::{Metrics, peak_rss_mb};
use crate::simulation::Simulation;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a run reports.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// Key of every random stream.
    pub seed: u64,
    /// Threads that the run used.
    pub threads: usize,
    /// Steps taken.
    pub steps: u64,
    /// Simulated time, s.
    pub simulated_s: f64,
    /// Agents in the scenario.
    pub agents: usize,
    /// Agents that have been at their goals.
    pub arrived: usize,
    /// Agents that have arrived within the window that their cohort has; 0 where none has one.
    pub in_window: usize,
    /// Agents that were put aside because their numbers stopped making sense.
    pub put_aside: usize,
    /// Agents that have no path to their goals at the end; 0 where the macroscale plans none.
    pub no_path: usize,
    /// People of sources who wait outside at the end because there is no room.
    pub waiting_outside: usize,
    /// People who have left by each exit.
    pub exits: BTreeMap<String, usize>,
    /// Mean time from an agent's start to its arrival, s; over those that arrived, `null` where no agent did.
    pub mean_travel_s: Option<f64>,
    /// The longest such time, s.
    pub max_travel_s: Option<f64>,
    /// Sum over agents, m.
    pub path_length_m: f64,
    /// The same by cohort, m.
    pub path_length_by_cohort: BTreeMap<String, f64>,
    /// How far those have walked who arrived, over how far it would have been straight from their starts to the rims of their first
    /// goals; `null` where no agent arrived, or all have journeys.
    pub path_over_straight: Option<f64>,
    /// How often an agent stood on another platform than the last one that it had stood on.
    pub platforms_changed: usize,
    /// Pairs closer than the sum of their radii by more than 1 mm, averaged over steps.
    pub collisions_per_step: f64,
    /// The deepest overlap of all, m.
    pub max_overlap_m: f64,
    /// Time on the clock, recording included, s.
    pub wall_s: f64,
    /// Time of a step, µs.
    pub step_us_mean: f64,
    /// The time that 99 of 100 steps stayed under, µs.
    pub step_us_p99: f64,
    /// The time of the longest step, µs.
    pub step_us_max: f64,
    /// Agents moved per second of stepping.
    pub agent_steps_per_s: f64,
    /// Time of each stage per step, µs.
    pub stage_us: BTreeMap<&'static str, f64>,
    /// The most memory that the process had, MB.
    pub peak_rss_mb: f64,
    /// What was measured, by the names of the scenario's measures.
    pub measures: Measures,
    /// A number that differs whenever the state differs in a bit.
    pub state_hash: String,
}

impl Report {
    /// Reports on a run that took `wall` so far.
    pub fn new(simulation: &Simulation, metrics: &Metrics, wall: Duration) -> Report {
        let no_path = simulation.unreachable().len();
        let timings = simulation.timings();
        let per_step = |time: Duration| time.as_secs_f64() * 1e6 / timings.steps.max(1) as f64;
        let (length, by_cohort) = simulation.path_lengths();
        Report {
            scenario: simulation.name().into(),
            seed: simulation.seed(),
            threads: simulation.threads(),
            steps: simulation.frame().step,
            simulated_s: simulation.frame().time,
            agents: simulation.agents(),
            arrived: simulation.arrived(),
            in_window: simulation.in_window(),
            put_aside: simulation.put_aside(),
            no_path,
            waiting_outside: simulation.waiting_outside(),
            exits: simulation.exits(),
            mean_travel_s: simulation.mean_travel(),
            max_travel_s: simulation.max_travel(),
            path_length_m: length,
            path_length_by_cohort: by_cohort,
            path_over_straight: simulation.path_over_straight(),
            platforms_changed: simulation.platforms_changed(),
            collisions_per_step: metrics.collisions_per_step(),
            max_overlap_m: f64::from(metrics.max_overlap),
            wall_s: wall.as_secs_f64(),
            step_us_mean: per_step(timings.sum()),
            step_us_p99: timings.percentile_us(0.99),
            step_us_max: timings.longest.as_secs_f64() * 1e6,
            agent_steps_per_s: timings.agent_steps as f64 / timings.sum().as_secs_f64().max(1e-9),
            stage_us: timings.total.named().map(|(name, time)| (name, per_step(time))).into(),
            peak_rss_mb: peak_rss_mb(),
            measures: simulation.measures(),
            state_hash: format!("{:016x}", simulation.state_hash()),
        }
    }
}
