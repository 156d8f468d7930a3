//! What an edit has to hold before anything is changed.

use crate::catalog::{self, Stage};
use crate::crowd::agent::{Agent, Cohort};
use crate::crowd::edit::EditError;
use crate::crowd::floor::{FARTHEST, is_within_reach};
use crate::map::{Map, without_repeats};
use crate::pipeline::{Models, Settings};
use glam::DVec2;
use throng_core::params;

pub(super) fn check_figures(agent: &Agent) -> Result<(), EditError> {
    check_number("radius", agent.radius, 0.0)?;
    check_number("speed", agent.preferred_speed, 0.0)?;
    check_number("max_speed", agent.top_speed(), 0.0)?;
    let share = agent.responsibility;
    if !(0.0..=1.0).contains(&share) {
        return Err(EditError::BadNumber { name: "responsibility", value: share, expected: "from 0 to 1" });
    }
    if !(agent.delay >= 0.0 && agent.delay <= FARTHEST) {
        return Err(EditError::BadNumber {
            name: "delay",
            value: agent.delay,
            expected: "0 or more, and finite",
        });
    }
    check_velocity(agent.velocity)
}

pub(in crate::crowd) fn check_cohort(cohort: &Cohort) -> Result<(), EditError> {
    check_number("goal_radius", cohort.goal_radius, 0.0)?;
    cohort.area.as_ref().map_or(Ok(()), |ring| checked_area(ring).map(drop))
}

pub(in crate::crowd) fn check_number(name: &'static str, value: f64, above: f64) -> Result<(), EditError> {
    // Not `<=` the other way round: that would let NaN through.
    if value > above && value <= FARTHEST {
        return Ok(());
    }
    Err(EditError::BadNumber { name, value, expected: "above 0 and finite" })
}

pub(super) fn check_velocity(velocity: DVec2) -> Result<(), EditError> {
    match [velocity.x, velocity.y].into_iter().find(|part| part.is_nan() || part.abs() > FARTHEST) {
        Some(value) => Err(EditError::BadNumber { name: "velocity", value, expected: "finite" }),
        None => Ok(()),
    }
}

pub(super) fn check_place(what: &'static str, place: DVec2) -> Result<(), EditError> {
    if is_within_reach(place) {
        return Ok(());
    }
    Err(EditError::NotFree { what, place, why: "not finite, or beyond 1e9 m".into() })
}

pub(super) fn checked_area(ring: &[DVec2]) -> Result<Vec<DVec2>, EditError> {
    let ring = without_repeats(ring);
    let is_sane = ring.len() >= 3 && ring.iter().all(|&corner| is_within_reach(corner));
    if is_sane { Ok(ring) } else { Err(EditError::BadRing { what: "a goal area", corners: 3 }) }
}

/// On a map that repeats, goals are points: an agent takes its own along when it comes round, and an area is everybody's.
pub(in crate::crowd) fn check_area(map: &Map, is_area: bool) -> Result<(), EditError> {
    if is_area && !map.repeat().is_none() { Err(EditError::PeriodicArea) } else { Ok(()) }
}

/// A model that knows nothing of seams does not work on a map that has some.
pub(in crate::crowd) fn check_periodic(map: &Map, models: &Models) -> Result<(), EditError> {
    if map.repeat().is_none() {
        return Ok(());
    }
    let pipeline = &models.pipeline;
    let mesoscale = pipeline.mesoscale.iter().map(|name| (Stage::Mesoscale, name));
    let all = [(Stage::Macroscale, &pipeline.macroscale), (Stage::Motion, &pipeline.motion)];
    let known = all.into_iter().chain(mesoscale).find(|(stage, name)| !catalog::is_periodic(*stage, name));
    match known {
        Some((stage, name)) => Err(EditError::NotPeriodic(catalog::not_periodic(stage, name))),
        None => Ok(()),
    }
}

/// Values of code are held to the same limits as those of files.
pub(in crate::crowd) fn check_settings(models: &Models) -> Result<(), EditError> {
    let all = std::iter::once(&models.params).chain(models.cohorts.iter().map(|cohort| &cohort.params));
    let blocks = catalog::blocks();
    for (name, values) in all.flat_map(Settings::iter) {
        let block = blocks.iter().find(|block| block.name == name);
        let (block, fields) = block.map_or(("", &[][..]), |block| (block.name, block.fields));
        if fields.is_empty() && !values.is_empty() {
            return Err(EditError::UnknownBlock(name.clone()));
        }
        for (key, &value) in values {
            params::check(block, fields, key, value)?;
        }
    }
    Ok(())
}
