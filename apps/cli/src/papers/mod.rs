//! `throng papers`: a paper's tables, theirs and ours side by side, and what follows from them.

mod density;
mod figures;
mod hybrid;
mod meso;
mod multi_domain;
mod snape;

use crate::findings::{self, Finding};
use anyhow::bail;
use figures::Figure;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use throng::Simulation;
use throng::preset::Preset;
use throng::scenario::Overrides;

/// Reproduces a paper's tables.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which paper; without a name, lists those there are
    name: Option<String>,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
    /// A short version: fewer and smaller runs
    #[arg(long)]
    quick: bool,
    /// Of multi-domain: the paper's scenarios instead of its table, with ORCA alone beside them
    #[arg(long)]
    scenarios: bool,
    /// The paper's figures instead of its tables, as .png files in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "scenarios", requires = "name")]
    pictures: Option<PathBuf>,
}

/// A paper that can be reproduced.
struct Paper {
    name: &'static str,
    title: &'static str,
    reproduce: fn(quick: bool) -> anyhow::Result<Reproduction>,
    /// What can be drawn of it.
    figures: &'static [Figure],
}

const PAPERS: &[Paper] = &[
    Paper { name: "snape", title: snape::TITLE, reproduce: snape::reproduce, figures: figures::snape::ALL },
    Paper { name: "meso", title: meso::TITLE, reproduce: meso::reproduce, figures: &[] },
    Paper { name: "density", title: density::TITLE, reproduce: density::reproduce, figures: &[] },
    Paper {
        name: "hybrid",
        title: hybrid::TITLE,
        reproduce: hybrid::reproduce,
        figures: figures::hybrid::ALL,
    },
    Paper {
        name: "multi-domain",
        title: multi_domain::TITLE,
        reproduce: multi_domain::reproduce,
        figures: figures::multi_domain::ALL,
    },
];

/// A figure of a paper and ours.
#[derive(Clone, Debug, Serialize)]
struct Row {
    table: &'static str,
    row: String,
    /// Whose figure and of what: `HRVO: collisions per step`.
    metric: String,
    unit: &'static str,
    /// Nothing where the paper has no figure.
    paper: Option<f64>,
    /// Nothing where the run never got there.
    ours: Option<f64>,
}

/// What came out.
#[derive(Debug, Serialize)]
struct Reproduction {
    paper: &'static str,
    /// How it was measured, for those who read the text.
    #[serde(skip)]
    notes: Vec<String>,
    rows: Vec<Row>,
    findings: Vec<Finding>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(name) = &args.name else {
        list(args.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(paper) = PAPERS.iter().find(|paper| paper.name == *name) else {
        let known: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
        bail!("unknown paper `{name}`; known: {}", known.join(", "));
    };
    if let Some(folder) = &args.pictures {
        return draw(paper, folder, &args);
    }
    if args.scenarios && paper.name != "multi-domain" {
        bail!("--scenarios: only multi-domain has such; leave it out");
    }
    let reproduction = if args.scenarios {
        multi_domain::scenarios::reproduce(args.quick)?
    } else {
        (paper.reproduce)(args.quick)?
    };
    if args.json {
        crate::output::show(&format!("{}\n", serde_json::to_string_pretty(&reproduction)?))?;
    } else {
        crate::output::show(&reproduction.text())?;
    }
    Ok(findings::exit_code(&reproduction.findings))
}

fn draw(paper: &Paper, folder: &Path, args: &Args) -> anyhow::Result<ExitCode> {
    if paper.figures.is_empty() {
        let drawn = PAPERS.iter().filter(|paper| !paper.figures.is_empty()).map(|paper| paper.name);
        let drawn = drawn.collect::<Vec<&str>>().join(", ");
        bail!("--pictures: there are none of {}; there are of {drawn}", paper.name);
    }
    figures::draw(paper.figures, folder, args.quick, args.json)?;
    Ok(ExitCode::SUCCESS)
}

fn list(json: bool) -> anyhow::Result<()> {
    if json {
        let papers: Vec<_> = PAPERS
            .iter()
            .map(|paper| serde_json::json!({ "name": paper.name, "title": paper.title }))
            .collect();
        crate::output::show(&format!("{}\n", serde_json::to_string_pretty(&papers)?))?;
    } else {
        let lines = PAPERS.iter().map(|paper| format!("{:<13} {}\n", paper.name, paper.title));
        crate::output::show(&lines.collect::<String>())?;
    }
    Ok(())
}

/// Without what the engine adds in dense crowds.
fn as_the_paper_has_it(mut changes: Overrides) -> Overrides {
    changes.set.push(("preset".into(), Preset::Paper.name().into()));
    changes
}

/// µs per step of two simulations, over the steps that both have: when nearly all have arrived a step costs next to
/// nothing, and whichever takes longer has more of those. In turns: a busy machine is slow for both alike.
fn time_together(both: &mut [Simulation; 2]) -> [f64; 2] {
    while !both.iter().any(Simulation::is_done) {
        for simulation in &mut *both {
            let mut left = ROUND;
            simulation.on_threads(|simulation| {
                while left > 0 && !simulation.is_done() {
                    simulation.step();
                    left -= 1;
                }
            });
        }
    }
    both.each_ref().map(step_us)
}

/// On the simulation's own thread: a frame of microseconds should not have to wake one.
fn run_through(simulation: &mut Simulation) {
    simulation.on_threads(|simulation| {
        while !simulation.is_done() {
            simulation.step();
        }
    });
}

fn step_us(simulation: &Simulation) -> f64 {
    let timings = simulation.timings();
    timings.sum().as_secs_f64() * 1e6 / timings.steps.max(1) as f64
}

/// Steps that one simulation takes before it is the other's turn.
const ROUND: usize = 10;

impl Reproduction {
    fn text(&self) -> String {
        let mut text = format!("{}\n", self.paper);
        self.notes.iter().for_each(|note| text += &format!("{note}\n"));
        let mut rows = &self.rows[..];
        while let Some(first) = rows.first() {
            let (table, rest) = rows.split_at(rows.iter().take_while(|row| row.table == first.table).count());
            text += &format!("\n{}\n{}", first.table, Reproduction::table(table));
            rows = rest;
        }
        text + "\n" + &findings::text(&self.findings)
    }

    /// One line for each row and quantity, and for every series what the paper has, if it has anything, and what we have.
    fn table(rows: &[Row]) -> String {
        let known = rows.iter().any(|row| row.paper.is_some());
        let mut series: Vec<&str> = Vec::new();
        let mut lines: Vec<Vec<String>> = Vec::new();
        for row in rows {
            let (name, quantity) = row.metric.split_once(": ").unwrap_or(("", &row.metric));
            if !series.contains(&name) {
                series.push(name);
            }
            let title = match row.unit {
                "" => quantity.to_string(),
                unit => format!("{quantity}, {unit}"),
            };
            if !lines.last().is_some_and(|line| line[0] == row.row && line[1] == title) {
                lines.push(vec![row.row.clone(), title]);
            }
            let figures = known.then_some(row.paper).into_iter().chain([row.ours]);
            lines.last_mut().into_iter().for_each(|line| line.extend(figures.clone().map(findings::number)));
        }
        let title = |name: &str, whose: &str| match (name, known) {
            ("", _) => whose.to_string(),
            (name, true) => format!("{name}, {whose}"),
            (name, false) => name.to_string(),
        };
        let whose = if known { &["paper", "ours"][..] } else { &["ours"] };
        let titles: Vec<String> =
            series.iter().flat_map(|name| whose.iter().map(|whose| title(name, whose))).collect();
        let header: Vec<&str> = ["", ""].into_iter().chain(titles.iter().map(String::as_str)).collect();
        findings::table(2, &header, &lines)
    }
}
