//! What a scenario expects of its run: `[expect]`, held against the report.
//!
//! A key is a figure of the report. A count must be met exactly, a cost is a ceiling, a throughput a floor; `min_` and
//! `max_` before any figure make it a floor or a ceiling.
//!
//! ```toml
//! [expect]
//! arrived = 150               # exactly
//! mean_travel_s = 40.0        # at most
//! min_path_length_m = 900.0   # at least
//! ```

use crate::report::Report;
use std::collections::BTreeMap;
use std::fmt;

/// A figure of the report, and what its bare name means in `[expect]`.
struct Figure {
    name: &'static str,
    bound: Bound,
    of: fn(&Report) -> Option<f64>,
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

const FIGURES: &[Figure] = &[
    Figure { name: "agents", bound: Bound::Exactly, of: |report| Some(report.agents as f64) },
    Figure { name: "arrived", bound: Bound::Exactly, of: |report| Some(report.arrived as f64) },
    Figure { name: "in_window", bound: Bound::Exactly, of: |report| Some(report.in_window as f64) },
    Figure { name: "put_aside", bound: Bound::Exactly, of: |report| Some(report.put_aside as f64) },
    Figure { name: "no_path", bound: Bound::Exactly, of: |report| Some(report.no_path as f64) },
    Figure {
        name: "waiting_outside",
        bound: Bound::Exactly,
        of: |report| Some(report.waiting_outside as f64),
    },
    Figure { name: "steps", bound: Bound::Exactly, of: |report| Some(report.steps as f64) },
    Figure { name: "simulated_s", bound: Bound::AtMost, of: |report| Some(report.simulated_s) },
    Figure { name: "mean_travel_s", bound: Bound::AtMost, of: |report| report.mean_travel_s },
    Figure { name: "path_length_m", bound: Bound::AtMost, of: |report| Some(report.path_length_m) },
    Figure {
        name: "collisions_per_step",
        bound: Bound::AtMost,
        of: |report| Some(report.collisions_per_step),
    },
    Figure { name: "max_overlap_m", bound: Bound::AtMost, of: |report| Some(report.max_overlap_m) },
    Figure { name: "wall_s", bound: Bound::AtMost, of: |report| Some(report.wall_s) },
    Figure { name: "step_us_mean", bound: Bound::AtMost, of: |report| Some(report.step_us_mean) },
    Figure { name: "step_us_p99", bound: Bound::AtMost, of: |report| Some(report.step_us_p99) },
    Figure { name: "agent_steps_per_s", bound: Bound::AtLeast, of: |report| Some(report.agent_steps_per_s) },
    Figure { name: "peak_rss_mb", bound: Bound::AtMost, of: |report| Some(report.peak_rss_mb) },
];

/// The figures that may be expected, as a message lists them.
pub fn figures() -> impl Iterator<Item = &'static str> {
    FIGURES.iter().map(|figure| figure.name)
}

/// Whether `[expect]` may hold a key.
pub fn is_known(key: &str) -> bool {
    find(key).is_some()
}

/// An expectation beside what a run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// As written in `[expect]`.
    pub key: String,
    /// The figure that is meant.
    pub figure: &'static str,
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
        let (figure, bound) = find(key)?;
        Some(Outcome { key: key.clone(), figure: figure.name, bound, expected, got: (figure.of)(report) })
    };
    expect.iter().filter_map(outcome).collect()
}

/// Bare names first: `max_overlap_m` is a figure, not the ceiling of one.
fn find(key: &str) -> Option<(&'static Figure, Bound)> {
    let named = |name: &str| FIGURES.iter().find(|figure| figure.name == name);
    let bounded = |prefix, bound| key.strip_prefix(prefix).and_then(named).map(|figure| (figure, bound));
    let bare = named(key).map(|figure| (figure, figure.bound));
    bare.or_else(|| bounded("min_", Bound::AtLeast)).or_else(|| bounded("max_", Bound::AtMost))
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
        let scenario = Scenario::parse(text, "two.toml", None).unwrap();
        let mut simulation = Simulation::with_threads(&scenario, 1).unwrap();
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

    #[test]
    fn every_number_of_the_report_can_be_expected() {
        let report = serde_json::to_value(report()).unwrap();
        let numbers = report.as_object().unwrap().iter().filter(|(_, value)| value.is_number());
        // These are given, not found out.
        for (key, _) in numbers.filter(|(key, _)| !["seed", "threads"].contains(&key.as_str())) {
            assert!(
                is_known(key) && is_known(&format!("min_{key}")) && is_known(&format!("max_{key}")),
                "{key}"
            );
        }
        assert!(!is_known("arived") && !is_known("min_") && !is_known("state_hash"));
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
