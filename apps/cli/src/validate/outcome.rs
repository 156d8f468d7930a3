//! What a case asks, and what came out.

use super::figure::Figure;
use crate::findings::{self, Finding};
use serde::Serialize;

/// A case that has been run.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// As it is called on the command line.
    pub name: String,
    /// In a line.
    pub title: String,
    /// How it went.
    pub status: Status,
    /// The built-in scenario that is run, by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<&'static str>,
    /// What is set up, and how it is measured.
    pub set_up: String,
    /// What must come out.
    pub asked: String,
    /// Why it fails, or what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Figures side by side.
    pub table: Table,
    /// Claims with their bars.
    pub findings: Vec<Finding>,
    /// What a page draws.
    #[serde(skip)]
    pub figures: Vec<Figure>,
}

/// How a case went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All that is asked came out.
    Passed,
    /// Something did not.
    Failed,
    /// The engine cannot do it yet, so nothing was run.
    Waiting,
}

impl Status {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Waiting => "waiting",
        }
    }
}

/// Figures in rows, under their titles.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// Titles of the columns, the first one of the rows' names.
    pub header: Vec<String>,
    /// Names and figures.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with titles and no rows yet.
    pub fn new<const N: usize>(header: [&str; N]) -> Table {
        Table { header: header.map(String::from).to_vec(), rows: Vec::new() }
    }

    /// Adds a row: its name and figures.
    pub fn row(&mut self, name: impl Into<String>, figures: impl IntoIterator<Item = Option<f64>>) {
        let figures = figures.into_iter().map(|figure| match figure {
            Some(whole) if whole.fract() == 0.0 => format!("{whole:.0}"),
            figure => findings::number(figure),
        });
        self.rows.push(std::iter::once(name.into()).chain(figures).collect());
    }
}

impl Outcome {
    /// Says how it went by its findings, and why where something does not hold.
    pub fn judged(mut self, because: impl Into<String>) -> Outcome {
        let failed = self.findings.iter().any(|finding| finding.holds == Some(false));
        self.status = if failed { Status::Failed } else { Status::Passed };
        let because: String = because.into();
        self.because = (failed && !because.is_empty()).then_some(because);
        self
    }

    /// A recorded experiment whose data are not at hand.
    pub fn without_data(name: &str, title: &str, error: &anyhow::Error) -> Outcome {
        Outcome {
            name: name.into(),
            title: title.into(),
            status: Status::Waiting,
            scenario: None,
            set_up: "A recorded experiment, run again.".into(),
            asked: "What was recorded.".into(),
            because: Some(error.to_string()),
            table: Table::default(),
            findings: Vec::new(),
            figures: Vec::new(),
        }
    }

    /// As text.
    pub fn text(&self) -> String {
        let status = self.status.name();
        let mut text = format!(
            "{}: {} [{status}]\n  set-up: {}\n  asked:  {}\n",
            self.name, self.title, self.set_up, self.asked
        );
        if let Some(scenario) = self.scenario {
            text += &format!("  file:   throng show {scenario}\n");
        }
        if let Some(because) = &self.because {
            text += &format!("  because: {because}\n");
        }
        if !self.table.rows.is_empty() {
            let header: Vec<&str> = self.table.header.iter().map(String::as_str).collect();
            text += &findings::table(1, &header, &self.table.rows);
        }
        text
    }
}
