//! Findings: claims with a figure, a bar and a verdict, as `papers` and `bench` report them.

use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

/// On which side of its bar a figure must lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The figure must not be below the bar.
    AtLeast,
    /// The figure must not be above the bar.
    AtMost,
}

impl Side {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Side::AtLeast => ">=",
            Side::AtMost => "<=",
        }
    }
}

/// A claim, held against a figure.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What is claimed.
    pub name: String,
    /// What was measured; nothing where it was not, or where a run never got there.
    pub value: Option<f64>,
    /// What the value is held against.
    pub bar: f64,
    /// On which side of the bar it must lie.
    #[serde(skip)]
    pub side: Side,
    /// Whether it does; nothing where it could not be measured.
    pub holds: Option<bool>,
    /// Why it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Finding {
    /// Holds a figure against a bar. No figure means that the run never got there: it does not hold.
    pub fn new(name: impl Into<String>, value: impl Into<Option<f64>>, side: Side, bar: f64) -> Finding {
        let value = value.into().filter(|value| value.is_finite());
        let holds = value.is_some_and(|value| match side {
            Side::AtLeast => value >= bar,
            Side::AtMost => value <= bar,
        });
        Finding { name: name.into(), value, bar, side, holds: Some(holds), reason: None }
    }

    /// The same without a verdict, and why there is none.
    pub fn unjudged(self, reason: &str) -> Finding {
        Finding { holds: None, reason: Some(self.reason.unwrap_or_else(|| reason.into())), ..self }
    }

    /// A claim that could not be looked at.
    pub fn skipped(name: impl Into<String>, side: Side, bar: f64, reason: &str) -> Finding {
        Finding { name: name.into(), value: None, bar, side, holds: None, reason: Some(reason.into()) }
    }
}

/// 1 where a finding does not hold.
pub fn exit_code(findings: &[Finding]) -> ExitCode {
    let fell_short = findings.iter().any(|finding| finding.holds == Some(false));
    if fell_short { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Findings as text, a line each, and a summary.
pub fn text(findings: &[Finding]) -> String {
    let mut text = String::from("Findings\n");
    let width = findings.iter().map(|finding| finding.name.chars().count()).max().unwrap_or(0);
    for Finding { name, value, bar, side, holds, reason } in findings {
        let verdict = match holds {
            Some(true) => "holds",
            Some(false) => "DOES NOT HOLD",
            None if value.is_some() => "not judged",
            None => "skipped",
        };
        let value = number(*value);
        let bar = format!("{} {}", side.sign(), number(Some(*bar)));
        let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<width$}  {value:>8}  {bar:<9}  {verdict}{reason}");
    }
    let held = findings.iter().filter(|finding| finding.holds == Some(true)).count();
    let looked_at = findings.iter().filter(|finding| finding.holds.is_some()).count();
    if looked_at > 0 {
        let _ = writeln!(text, "{held} of {looked_at} hold.");
    }
    text
}

/// A figure with three digits that mean something.
pub fn number(value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(0.0) => "0".into(),
        Some(value) if value.abs() < 0.01 => format!("{value:.4}"),
        Some(value) if value.abs() < 10.0 => format!("{value:.2}"),
        Some(value) if value.abs() < 1000.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// Text in columns: the first `left` to the left, the others to the right.
pub fn table(left: usize, header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|&title| title.into()).collect();
    let lines = || std::iter::once(&header).chain(rows);
    let width_of =
        |column: usize| lines().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..header.len()).map(|column| width_of(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in lines() {
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let _ = if column < left {
                write!(text, "  {cell:<width$}")
            } else {
                write!(text, "  {cell:>width$}")
            };
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_held_against_its_bar() {
        assert_eq!(Finding::new("ratio", 2.0, Side::AtLeast, 2.0).holds, Some(true));
        assert_eq!(Finding::new("ratio", 1.9, Side::AtLeast, 2.0).holds, Some(false));
        assert_eq!(Finding::new("depth", 0.3, Side::AtMost, 0.3).holds, Some(true));
    }

    #[test]
    fn what_was_never_reached_does_not_hold() {
        assert_eq!(Finding::new("time", None, Side::AtMost, 1.0).holds, Some(false));
        assert_eq!(Finding::new("ratio", f64::NAN, Side::AtLeast, 1.0).holds, Some(false));
    }

    #[test]
    fn skipped_is_neither_held_nor_failed() {
        let skipped = Finding::skipped("peer", Side::AtLeast, 8.0, "not installed");
        assert_eq!(skipped.holds, None);
        assert_eq!(exit_code(std::slice::from_ref(&skipped)), ExitCode::SUCCESS);
        assert!(text(&[skipped]).contains("skipped: not installed"));
        let unjudged = Finding::new("ratio", 1.0, Side::AtLeast, 2.0).unjudged("too short");
        assert_eq!((unjudged.value, unjudged.holds), (Some(1.0), None));
        assert!(text(&[unjudged]).ends_with("not judged: too short\n"));
    }
}
