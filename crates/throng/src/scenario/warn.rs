//! What passes every check and is still hardly meant: bodies that begin inside one another, and agents that look at nobody.

use super::Scenario;
use crate::catalog::{self, Ability};
use crate::pipeline::Settings;
use glam::{DVec2, IVec2};
use std::collections::HashMap;
use throng_core::params::Params;
use throng_microscale::Unaware;

/// Bodies that touch are not meant to be apart to the last bit, m.
const TOUCHES: f64 = 1e-3;

/// A body at the start.
#[derive(Clone, Copy)]
struct Body {
    cohort: usize,
    member: usize,
    at: DVec2,
    radius: f64,
}

/// Two bodies that are in one another, the deepest of all.
struct Overlap {
    pair: [Body; 2],
    depth: f64,
    /// How many pairs are.
    count: usize,
}

/// Tells of bodies that are in one another at the start.
pub(super) fn overlaps(scenario: &Scenario) -> Option<String> {
    let Overlap { pair, depth, count } = deepest(&bodies(scenario))?;
    let [one, other] =
        pair.map(|body| format!("agent {} of cohort `{}`", body.member, scenario.cohorts[body.cohort].name));
    let more = if count > 1 { format!(", and {} more pairs do", count - 1) } else { String::new() };
    let place = pair[0].at;
    Some(format!(
        "{one} and {other} overlap by {depth:.3} m at the start, near [{:.2}, {:.2}]{more}; they will be pushed apart: move \
         them, or make them smaller",
        place.x, place.y
    ))
}

fn bodies(scenario: &Scenario) -> Vec<Body> {
    let cohorts = scenario.cohorts.iter().enumerate();
    let members =
        cohorts.flat_map(|(cohort, one)| one.agents.iter().enumerate().map(move |agent| (cohort, agent)));
    members
        .map(|(cohort, (member, agent))| Body { cohort, member, at: agent.position, radius: agent.radius })
        .collect()
}

/// The deepest of all overlaps, the first where several are as deep.
fn deepest(bodies: &[Body]) -> Option<Overlap> {
    let widest = bodies.iter().map(|body| body.radius).fold(0.0, f64::max);
    let cell = |at: DVec2| (at / (2.0 * widest)).floor().as_ivec2();
    let mut cells: HashMap<IVec2, Vec<usize>> = HashMap::new();
    let mut deepest: Option<Overlap> = None;
    for (index, body) in bodies.iter().enumerate() {
        let own = cell(body.at);
        let around = (-1..=1).flat_map(|y| (-1..=1).map(move |x| own.saturating_add(IVec2::new(x, y))));
        for &other in around.filter_map(|cell| cells.get(&cell)).flatten() {
            let other = bodies[other];
            let depth = body.radius + other.radius - body.at.distance(other.at);
            if depth <= TOUCHES {
                continue;
            }
            let count = deepest.as_ref().map_or(0, |found| found.count) + 1;
            match &mut deepest {
                Some(found) if found.depth >= depth => found.count = count,
                _ => deepest = Some(Overlap { pair: [other, *body], depth, count }),
            }
        }
        cells.entry(own).or_default().push(index);
    }
    deepest
}

/// Tells of cohorts whose local model looks at nobody, or not as far as bodies reach.
pub(super) fn blind(scenario: &Scenario) -> Vec<String> {
    if scenario.agent_count() < 2 || scenario.plans_with(Ability::PlansInTime) {
        return Vec::new();
    }
    let widest = scenario.agents().map(|agent| agent.radius).fold(0.0, f64::max);
    let mut told: Vec<(&str, &Settings)> = Vec::new();
    let mut warnings = Vec::new();
    for cohort in &scenario.cohorts {
        let model = cohort.microscale.as_deref().unwrap_or(&scenario.pipeline.microscale);
        let params = &cohort.params;
        // Cohorts that are alike are told of once.
        if told.contains(&(model, params)) {
            continue;
        }
        told.push((model, params));
        let own = cohort.agents.iter().map(|agent| agent.radius).fold(0.0, f64::max);
        warnings.extend(blindness(scenario, (model, params), (&cohort.name, own), widest));
    }
    warnings
}

/// What a cohort's local model does not look at.
fn blindness(
    scenario: &Scenario,
    (model, params): (&str, &Settings),
    (cohort, radius): (&str, f64),
    widest: f64,
) -> Option<String> {
    const AFTER: &str = "bodies are kept apart only once they touch";
    if model == Unaware::BLOCK {
        return Some(format!("cohort `{cohort}` avoids nobody with `{model}` as its local model; {AFTER}"));
    }
    let reach = catalog::microscale(model, &[&scenario.params, params])?.reach();
    let touch = radius + widest;
    if reach.max_neighbors == 0 {
        return Some(format!(
            "cohort `{cohort}` avoids nobody with params.{model}.max_neighbors = 0; {AFTER}: 10 is usual"
        ));
    }
    (f64::from(reach.neighbor_distance) < touch).then(|| {
        format!(
            "cohort `{cohort}` looks no further than params.{model}.neighbor_distance = {}, and bodies touch at {touch:.2} m; \
             {AFTER}: make it a few metres",
            reach.neighbor_distance
        )
    })
}
