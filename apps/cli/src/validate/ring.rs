//! People who walk round and round: a corridor that repeats is single file where it is narrow, one without ends where it is wide.

use super::trial::Trials;
use crate::statistics::mean;
use throng::Simulation;

/// Time until waves have formed or gone, s; what comes after it is measured.
const SETTLE: f64 = 30.0;

/// Mean speed along x of all people of a scenario whose map repeats along it, m/s.
pub fn speed(trials: &Trials, name: &str, seed: u64, set: &[(&str, String)]) -> anyhow::Result<f64> {
    let scenario = trials.scenario(name, seed, set)?;
    let mut simulation = Simulation::with_threads(&scenario, 1)?;
    let mut speeds = Vec::new();
    while !simulation.is_done() {
        simulation.step();
        if simulation.time() > SETTLE {
            speeds.extend(simulation.frame().vx.iter().map(|&speed| f64::from(speed)));
        }
    }
    Ok(mean(&speeds))
}
