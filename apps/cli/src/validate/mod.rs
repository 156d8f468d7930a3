//! `throng validate`: verification suites and recorded experiments, each case with what is asked and what came out.

mod data;
mod figure;
mod outcome;
mod recorded;
mod trajectories;
mod trial;

use crate::changes::Changes;
use crate::findings::{self, Finding};
use crate::sweep::workers;
use crate::{output, watch};
use anyhow::bail;
use data::Data;
use outcome::Outcome;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use trial::Trials;

/// Seeds of each setting.
const SEEDS: u64 = 20;
/// Of the short version.
const FEW_SEEDS: u64 = 3;

/// Holds the engine to verification suites and recorded experiments
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A suite or a case; without a name, lists those there are
    name: Option<String>,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
    /// Where the recorded experiments are [default: ../shared/data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A short version: 3 seeds
    #[arg(long)]
    quick: bool,
    /// Runs of each setting [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000), conflicts_with = "quick")]
    seeds: Option<u64>,
    /// Runs at a time, 0 for as many as there are cores
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    changes: Changes,
}

/// What came out of all.
#[derive(Debug, Serialize)]
struct Validation {
    name: String,
    seeds: u64,
    cases: Vec<Outcome>,
    findings: Vec<Finding>,
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let name = args.name.clone().unwrap_or_default();
    let trials = Trials {
        changes: args.changes.overrides(),
        seeds: args.seeds.unwrap_or(if args.quick { FEW_SEEDS } else { SEEDS }),
        threads: workers::threads(args.threads),
        line: watch::Line::new(),
    };
    let cases = match name.as_str() {
        "recorded" => recorded::run(&trials, &Data::find(args.data.as_deref())?)?,
        _ => bail!("unknown suite or case `{name}`; known: recorded"),
    };
    trials.line.say("");
    let findings: Vec<Finding> = cases.iter().flat_map(|case| case.findings.clone()).collect();
    let validation = Validation { name, seeds: trials.seeds, cases, findings };
    let text = if args.json { format!("{}\n", serde_json::to_string_pretty(&validation)?) } else { validation.text() };
    output::show(&text)?;
    Ok(findings::exit_code(&validation.findings))
}

impl Validation {
    fn text(&self) -> String {
        let cases: Vec<String> = self.cases.iter().map(Outcome::text).collect();
        format!("{} ({} seeds)\n\n{}\n{}", self.name, self.seeds, cases.join("\n"), findings::text(&self.findings))
    }
}
