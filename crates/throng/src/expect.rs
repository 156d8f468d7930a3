//! What a scenario expects of its run: `[expect]`, held against the report.
//!
//! A key is a figure of the report, or of one of its measures as `measures.NAME.FIGURE`. A count must be met exactly, a cost is
//! a ceiling, a throughput a floor; `min_` and `max_` before any figure make it a floor or a ceiling.
//!
//! ```toml
//! [expect]
//! arrived = 150                     # exactly
//! mean_travel_s = 40.0              # at most
//! min_path_length_m = 900.0         # at least
//! "measures.door.crossings" = 150   # of a [[measure]]
//! "max_measures.hall.people" = 12
//! ```

use crate::measure::{AreaFigures, Figures, LineFigures, Measure, Place};
use crate::report::Report;
use std::collections::BTreeMap;
use std::fmt;

/// A figure, and what its bare name means in `[expect]`.
struct Figure<T> {
    name: &'static str,
    bound: Bound,
    of: fn(&T) -> Option<f64>,
}

/// Which side of the expected value a figure must lie on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Just there.
    Exactly,
    /// There or below.
    AtMost,
    /// There or above.
    AtLeast,
}

const FIGURES: &[Figure<Report>] = &[
    exactly("agents", |report| Some(report.agents as f64)),
    exactly("arrived", |report| Some(report.arrived as f64)),
    exactly("in_window", |report| Some(report.in_window as f64)),
    exactly("put_aside", |report| Some(report.put_aside as f64)),
    exactly("no_path", |report| Some(report.no_path as f64)),
    exactly("waiting_outside", |report| Some(report.waiting_outside as f64)),
    exactly("steps", |report| Some(report.steps as f64)),
    at_most("simulated_s", |report| Some(report.simulated_s)),
    at_most("mean_travel_s", |report| report.mean_travel_s),
    at_most("max_travel_s", |report| report.max_travel_s),
    at_most("path_length_m", |report| Some(report.path_length_m)),
    at_most("path_over_straight", |report| report.path_over_straight),
    exactly("platforms_changed", |report| Some(report.platforms_changed as f64)),
    at_most("collisions_per_step", |report| Some(report.collisions_per_step)),
    at_most("max_overlap_m", |report| Some(report.max_overlap_m)),
    at_most("wall_s", |report| Some(report.wall_s)),
    at_most("step_us_mean", |report| Some(report.step_us_mean)),
    at_most("step_us_p99", |report| Some(report.step_us_p99)),
    at_most("step_us_max", |report| Some(report.step_us_max)),
    at_least("agent_steps_per_s", |report| Some(report.agent_steps_per_s)),
    at_most("peak_rss_mb", |report| Some(report.peak_rss_mb)),
];

/// Those of a line.
const OF_LINES: &[Figure<LineFigures>] = &[
    exactly("crossings", |line| Some(line.crossings as f64)),
    exactly("to_left", |line| Some(line.to_left as f64)),
    exactly("to_right", |line| Some(line.to_right as f64)),
    exactly("against", |line| Some(line.against as f64)),
    at_least("first_s", |line| line.first_s),
    at_most("last_s", |line| line.last_s),
    at_least("flow", |line| line.flow),
    at_least("specific_flow", |line| line.specific_flow),
];

/// Those of an area.
const OF_AREAS: &[Figure<AreaFigures>] = &[
    exactly("people", |area| Some(area.people as f64)),
    at_most("density_mean", |area| area.density_mean),
    at_most("density_max", |area| area.density_max),
    at_most("voronoi_mean", |area| area.voronoi_mean),
    at_least("speed_mean", |area| area.speed_mean),
    at_least("specific_flow", |area| area.specific_flow),
];

const fn exactly<T>(name: &'static str, of: fn(&T) -> Option<f64>) -> Figure<T> {
    Figure { name, bound: Bound::Exactly, of }
}

const fn at_most<T>(name: &'static str, of: fn(&T) -> Option<f64>) -> Figure<T> {
    Figure { name, bound: Bound::AtMost, of }
}

const fn at_least<T>(name: &'static str, of: fn(&T) -> Option<f64>) -> Figure<T> {
    Figure { name, bound: Bound::AtLeast, of }
}

/// The figures that a scenario with some measures may expect, as a message lists them.
pub fn figures(measures: &[Measure]) -> impl Iterator<Item = String> {
    let of_measures = measures.iter().flat_map(|measure| {
        let names: Vec<&str> = match measure.place {
            Place::Line(_) => OF_LINES.iter().map(|figure| figure.name).collect(),
            Place::Area(_) => OF_AREAS.iter().map(|figure| figure.name).collect(),
        };
        names.into_iter().map(|name| format!("{MEASURES}{}.{name}", measure.name))
    });
    of_measures.chain(FIGURES.iter().map(|figure| figure.name.to_owned()))
}

/// How the figures of measures begin.
const MEASURES: &str = "measures.";

/// Whether `[expect]` of a scenario with some measures may hold a key.
pub fn is_known(key: &str, measures: &[Measure]) -> bool {
    let names: Vec<String> = figures(measures).collect();
    let is_figure = |name: &str| names.iter().any(|known| known == name);
    is_figure(key) || PREFIXES.iter().any(|(prefix, _)| key.strip_prefix(prefix).is_some_and(is_figure))
}

const PREFIXES: [(&str, Bound); 2] = [("min_", Bound::AtLeast), ("max_", Bound::AtMost)];

/// An expectation beside what a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// As written in `[expect]`.
    pub key: String,
    /// The figure that is meant.
    pub figure: String,
    /// On which side of `expected` it must lie.
    pub bound: Bound,
    /// As written in `[expect]`.
    pub expected: f64,
    /// What the run gave; none where it gave nothing to measure, such as a travel time when no agent arrived.
    pub got: Option<f64>,
}

impl Outcome {
    /// Whether the run did what was expected.
    pub fn holds(&self) -> bool {
        self.got.is_some_and(|got| self.accepts(got))
    }

    fn accepts(&self, got: f64) -> bool {
        match self.bound {
            Bound::Exactly => got == self.expected,
            Bound::AtMost => got <= self.expected,
            Bound::AtLeast => got >= self.expected,
        }
    }
}

impl fmt::Display for Outcome {
    /// `arrived = 150, got 148`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.bound {
            Bound::Exactly => "=",
            Bound::AtMost => "<=",
            Bound::AtLeast => ">=",
        };
        write!(f, "{} {sign} {}, got ", self.figure, self.expected)?;
        match self.got {
            None => f.write_str("none"),
            Some(got) => {
                let short = (got * 1e4).round() / 1e4;
                // Never rounded onto the bound that it misses.
                let shown = if self.accepts(short) == self.accepts(got) { short } else { got };
                write!(f, "{shown}")
            }
        }
    }
}

/// Holds a report against what was expected, in the order of the keys. Keys that are not [known](is_known) were
/// refused when the scenario was read, and are passed over.
pub fn compare(expect: &BTreeMap<String, f64>, report: &Report) -> Vec<Outcome> {
    let outcome = |(key, &expected): (&String, &f64)| {
        let (figure, bound, got) = find(key, report)?;
        Some(Outcome { key: key.clone(), figure: figure.into(), bound, expected, got })
    };
    expect.iter().filter_map(outcome).collect()
}

/// A figure's name, how it is bounded, and what the run gave.
type Found<'a> = (&'a str, Bound, Option<f64>);

/// Bare names first: `max_overlap_m` is a figure, not the ceiling of one.
fn find<'a>(key: &'a str, report: &Report) -> Option<Found<'a>> {
    let prefixed = |(prefix, bound): &(&str, Bound)| {
        let (name, _, got) = bare(key.strip_prefix(prefix)?, report)?;
        Some((name, *bound, got))
    };
    bare(key, report).or_else(|| PREFIXES.iter().find_map(prefixed))
}

fn bare<'a>(name: &'a str, report: &Report) -> Option<Found<'a>> {
    let Some((measure, figure)) = name.strip_prefix(MEASURES).and_then(|rest| rest.rsplit_once('.')) else {
        return named(FIGURES, name, report).map(|(bound, got)| (name, bound, got));
    };
    let (bound, got) = match report.measures.get(measure)? {
        Figures::Line(line) => named(OF_LINES, figure, line),
        Figures::Area(area) => named(OF_AREAS, figure, area),
    }?;
    Some((name, bound, got))
}

fn named<T>(figures: &[Figure<T>], name: &str, of: &T) -> Option<(Bound, Option<f64>)> {
    figures.iter().find(|figure| figure.name == name).map(|figure| (figure.bound, (figure.of)(of)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metrics;
    use crate::{Scenario, Simulation};
    use std::time::Duration;

    fn report() -> Report {
        let text = "
            format = 1
            [[agents]]
            place = { points = [[0, 0], [0, 9]] }
            goal = { offset = [2, 0] }
        ";
        run(&Scenario::parse(text, "two.toml", None).unwrap())
    }

    fn run(scenario: &Scenario) -> Report {
        let mut simulation = Simulation::with_threads(scenario, 1).unwrap();
        while !simulation.is_done() {
            simulation.step();
        }
        Report::new(&simulation, &Metrics::default(), Duration::from_secs(1))
    }

    fn outcome(key: &str, expected: f64) -> Outcome {
        compare(&BTreeMap::from([(key.to_owned(), expected)]), &report()).remove(0)
    }

    #[test]
    fn counts_are_met_exactly() {
        assert!(outcome("arrived", 2.0).holds());
        assert!(!outcome("arrived", 1.0).holds());
        assert!(!outcome("arrived", 3.0).holds());
        assert_eq!(outcome("arrived", 3.0).to_string(), "arrived = 3, got 2");
    }

    #[test]
    fn costs_are_ceilings() {
        assert!(outcome("mean_travel_s", 60.0).holds());
        assert!(!outcome("mean_travel_s", 0.1).holds());
        assert!(outcome("max_overlap_m", 0.0).holds());
        assert_eq!(outcome("collisions_per_step", 1.0).to_string(), "collisions_per_step <= 1, got 0");
    }

    #[test]
    fn prefixes_make_floors_and_ceilings() {
        assert!(outcome("min_arrived", 1.0).holds());
        assert!(!outcome("min_arrived", 3.0).holds());
        assert!(outcome("max_arrived", 2.0).holds());
        assert!(!outcome("max_arrived", 1.0).holds());
        assert!(outcome("max_max_overlap_m", 0.1).holds());
        assert_eq!(outcome("min_path_length_m", 100.0).bound, Bound::AtLeast);
    }

    #[test]
    fn what_was_not_measured_falls_short() {
        let none_arrived = Report { mean_travel_s: None, ..report() };
        let outcomes = compare(&BTreeMap::from([("mean_travel_s".into(), 60.0)]), &none_arrived);
        assert!(!outcomes[0].holds());
        assert_eq!(outcomes[0].to_string(), "mean_travel_s <= 60, got none");
    }

    #[test]
    fn a_near_miss_is_not_rounded_away() {
        let near = Report { path_length_m: 10.000_001, ..report() };
        let outcomes = compare(&BTreeMap::from([("path_length_m".into(), 10.0)]), &near);
        assert_eq!(outcomes[0].to_string(), "path_length_m <= 10, got 10.000001");
    }

    const MEASURED: &str = "
        format = 1
        [[agents]]
        place = { points = [[0, 0], [0, 9]] }
        goal = { offset = [4, 0] }
        [[measure]]
        name = \"a door\"
        line = [[1, -1], [1, 1]]
        [[measure]]
        name = \"hall\"
        area = [[1, -1], [3, -1], [3, 10], [1, 10]]
        [expect]
    ";

    /// Runs a scenario with two measures and some expectations.
    fn measured(expect: &str) -> Vec<Outcome> {
        let scenario = Scenario::parse(&format!("{MEASURED}{expect}"), "measured.toml", None).unwrap();
        let report = run(&scenario);
        compare(&scenario.expect, &report)
    }

    #[test]
    fn figures_of_measures_are_expected_by_name() {
        let outcomes = measured(
            "\"measures.a door.crossings\" = 1\n\"measures.hall.people\" = 2\n\"max_measures.a door.flow\" = 9",
        );
        let told: Vec<String> = outcomes.iter().map(Outcome::to_string).collect();
        // One crosses: there is no flow between the first and the last.
        let expected = [
            "measures.a door.flow <= 9, got none",
            "measures.a door.crossings = 1, got 1",
            "measures.hall.people = 2, got 2",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_figure_that_a_measure_has_not_is_refused() {
        for key in ["measures.hall.crossings", "measures.hal.people", "min_measures.hall.peeple"] {
            let text = format!("{MEASURED}\"{key}\" = 1");
            let error = Scenario::parse(&text, "typo.toml", None).unwrap_err().to_string();
            assert!(
                error.contains(&format!("unknown key `{key}`")) && error.contains("measures.hall.people"),
                "{error}"
            );
        }
    }

    #[test]
    fn every_number_of_the_report_can_be_expected() {
        let report = serde_json::to_value(report()).unwrap();
        let numbers = report.as_object().unwrap().iter().filter(|(_, value)| value.is_number());
        // These are given, not found out.
        for (key, _) in numbers.filter(|(key, _)| !["seed", "threads"].contains(&key.as_str())) {
            let keys = [key.clone(), format!("min_{key}"), format!("max_{key}")];
            assert!(keys.iter().all(|key| is_known(key, &[])), "{key}");
        }
        assert!(["arived", "min_", "state_hash"].iter().all(|key| !is_known(key, &[])));
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line() {
        let text = "format = 1\n[expect]\narived = 3\n";
        let error = Scenario::parse(text, "typo.toml", None).unwrap_err().to_string();
        assert!(error.starts_with("typo.toml:3:"), "{error}");
        assert!(
            error.contains("unknown key `arived`") && error.contains("did you mean `arrived`"),
            "{error}"
        );
    }
}
