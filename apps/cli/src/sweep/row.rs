//! A row of the file: what was swept, how the run ended, and its report.

use super::grid::{Axis, Point};
use anyhow::bail;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use throng::report::Report;

/// Cells by column. What has none is empty.
pub type Row = BTreeMap<String, String>;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Whole numbers.
    Whole,
    /// Numbers.
    Number,
    /// `true` and `false`.
    Flag,
    /// Texts.
    Text,
}

/// A column of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds, where that does not follow from the cells.
    pub kind: Option<Kind>,
}

const SEED: &str = "seed";
const FINISHED: &str = "finished";

/// A row of a run that is over.
pub fn row(axes: &[Axis], point: &Point<'_>, finished: bool, report: &Report) -> anyhow::Result<Row> {
    let mut row: Row = figures(report)?.into_iter().map(|(name, value)| (name, cell(&value))).collect();
    row.extend(axes.iter().zip(&point.values).map(|(axis, value)| (axis.key.clone(), value.cell.clone())));
    row.insert(SEED.into(), point.seed.to_string());
    row.insert(FINISHED.into(), finished.to_string());
    Ok(row)
}

/// What tells a run from others: its values and its seed.
pub fn id(row: &Row, axes: &[Axis]) -> Vec<String> {
    let names = axes.iter().map(|axis| axis.key.as_str()).chain([SEED]);
    names.map(|name| row.get(name).cloned().unwrap_or_default()).collect()
}

/// The same of a place of the grid.
pub fn id_of(point: &Point<'_>) -> Vec<String> {
    point.values.iter().map(|value| value.cell.clone()).chain([point.seed.to_string()]).collect()
}

/// Whether all arrived.
pub fn finished(row: &Row) -> bool {
    row.get(FINISHED).is_some_and(|cell| cell == "true")
}

/// How long the run lasted, s.
pub fn simulated_s(row: &Row) -> Option<f64> {
    number(row, "simulated_s")
}

/// A figure; nothing where the run has none.
pub fn number(row: &Row, name: &str) -> Option<f64> {
    row.get(name)?.parse().ok()
}

/// The columns of a report, in its order. Whose values are not known yet are numbers.
pub fn columns(report: &Report) -> anyhow::Result<Vec<Column>> {
    let kind = |value: &Value| match value {
        Value::Bool(_) => Kind::Flag,
        Value::Number(number) if !number.is_f64() => Kind::Whole,
        Value::Number(_) | Value::Null => Kind::Number,
        _ => Kind::Text,
    };
    let column = |(name, value)| Column { kind: Some(kind(&value)), name };
    Ok(figures(report)?.into_iter().map(column).collect())
}

/// All columns: what is swept, how it ended, and what the reports have. Cohorts may have other names in other runs, so
/// that a report may have columns that others do not.
pub fn all_columns(axes: &[Axis], reports: &[Vec<Column>]) -> anyhow::Result<Vec<Column>> {
    let mut columns = vec![
        Column { name: SEED.into(), kind: Some(Kind::Whole) },
        Column { name: FINISHED.into(), kind: Some(Kind::Flag) },
    ];
    for report in reports {
        let mut place = 2;
        for column in report {
            match columns.iter().position(|other| other.name == column.name) {
                Some(found) => place = found + 1,
                None => {
                    columns.insert(place, column.clone());
                    place += 1;
                }
            }
        }
    }
    if let Some(axis) = axes.iter().find(|axis| columns.iter().any(|column| column.name == axis.key)) {
        bail!(
            "`--over {0}` cannot be told apart in the file, which has a column `{0}` of the report; sweep a key \
             within it, such as `{0}.0.count`",
            axis.key
        );
    }
    let swept = axes.iter().map(|axis| Column { name: axis.key.clone(), kind: None });
    Ok(swept.chain(columns).collect())
}

/// The figures of a report with dots in the names of nested ones, without the seed, which has its own column.
fn figures(report: &Report) -> anyhow::Result<Vec<(String, Value)>> {
    let text = serde_json::to_string(report)?;
    let fields = (&mut serde_json::Deserializer::from_str(&text)).deserialize_map(InOrder)?;
    let mut figures = Vec::new();
    for (name, value) in fields.into_iter().filter(|(name, _)| name != SEED) {
        flatten(name, value, &mut figures);
    }
    Ok(figures)
}

/// Nested figures one by one. Lists are series over time, which do not fit in a cell.
fn flatten(name: String, value: Value, figures: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(nested) => {
            nested.into_iter().for_each(|(key, value)| flatten(format!("{name}.{key}"), value, figures));
        }
        Value::Array(_) => {}
        value => figures.push((name, value)),
    }
}

/// A map's entries as they stand: `serde_json`'s own would sort them, and a report reads better as it was written.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Vec<(String, Value)>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        // To the sixth digit, as recordings write times: a multiple of 0.1 has a tail of digits that mean nothing.
        Value::Number(number) if number.is_f64() => {
            ((number.as_f64().unwrap_or_default() * 1e6).round() / 1e6).to_string()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use throng::metrics::Metrics;
    use throng::{Scenario, Simulation};

    fn report(cohort: &str) -> Report {
        let text = format!(
            "format = 1\n[[agents]]\nname = \"{cohort}\"\nplace = {{ points = [[0, 0]] }}\ngoal = {{ point = [9, 0] }}"
        );
        let scenario = Scenario::parse(&text, "one.toml", None).unwrap();
        Report::new(&Simulation::with_threads(&scenario, 1).unwrap(), &Metrics::default(), Duration::ZERO)
    }

    #[test]
    fn a_report_becomes_columns_in_its_own_order() {
        let columns = columns(&report("west")).unwrap();
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names[..4], ["scenario", "threads", "steps", "simulated_s"]);
        assert!(names.contains(&"path_length_by_cohort.west") && names.contains(&"stage_us.microscale"));
        assert_eq!(names.last(), Some(&"state_hash"));
        let kind =
            |name: &str| columns.iter().find(|column| column.name == name).and_then(|column| column.kind);
        assert_eq!(kind("steps"), Some(Kind::Whole));
        // 0 and unknown so far, and numbers all the same.
        assert_eq!((kind("simulated_s"), kind("mean_travel_s")), (Some(Kind::Number), Some(Kind::Number)));
        assert_eq!(kind("state_hash"), Some(Kind::Text));
    }

    #[test]
    fn columns_that_only_some_reports_have_stand_where_they_belong() {
        let reports = ["west", "east"].map(|cohort| columns(&report(cohort)).unwrap());
        let all = all_columns(&[], &reports).unwrap();
        let place = |name: &str| all.iter().position(|column| column.name == name).unwrap();
        assert_eq!(place("path_length_by_cohort.east"), place("path_length_m") + 1);
        assert_eq!(place("path_length_by_cohort.west"), place("path_length_m") + 2);
        assert_eq!(all.len(), reports[0].len() + 3);
    }

    #[test]
    fn numbers_have_no_tail() {
        assert_eq!(cell(&0.30000000000000004.into()), "0.3");
        assert_eq!(cell(&37.0.into()), "37");
        assert_eq!(cell(&0.0000973.into()), "0.000097");
        assert_eq!(cell(&12.into()), "12");
        assert_eq!(cell(&Value::Null), "");
    }
}
