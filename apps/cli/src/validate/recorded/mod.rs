//! Recorded experiments, run again: the same rooms, and people who come when and where the recorded ones came.

mod corridor;
mod doors;
mod free_speed;
mod one_way;

use super::data::Data;
use super::outcome::Outcome;
use super::trial::Trials;

/// Runs all of them.
pub fn run(trials: &Trials, data: &Data) -> anyhow::Result<Vec<Outcome>> {
    Ok(vec![doors::run(trials)?, one_way::run(trials, data)?])
}
