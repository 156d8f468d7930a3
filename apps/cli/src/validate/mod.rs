//! `throng validate`: verification suites and recorded experiments, each case with what is asked and what came out.

pub mod data;
mod figure;
mod outcome;
mod page;
mod plan;
mod recorded;
mod ring;
mod standards;
mod trajectories;
mod trial;

use crate::changes::Changes;
use crate::files::Promised;
use crate::findings::{self, Finding};
use crate::sweep::workers;
use crate::{output, watch};
use anyhow::bail;
use data::Data;
use outcome::{Outcome, Status};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use trial::Trials;

/// Seeds of each setting.
const SEEDS: u64 = 20;
/// Of the short version.
const FEW_SEEDS: u64 = 3;

/// Hold the engine to verification suites and recorded experiments
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Args {
    /// A suite, a case, or `all`; without a name, lists those there are
    name: Option<String>,
    /// JSON instead of text
    #[arg(long)]
    json: bool,
    /// Write a page with figures, complete in one file
    #[arg(long, value_name = "OUT.html")]
    html: Option<PathBuf>,
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

const AFTER_HELP: &str = "\
Suites: rimea (1 to 16), imo (MSC.1/Circ.1533, 1 to 11), nist (TN 1822), iso (ISO 20414), recorded.

Examples:
  throng validate rimea --quick
  throng validate rimea-9 --microscale hybrid
  throng validate recorded --data ../shared/data --html recorded.html

Exit code 0: all that could be looked at holds. 1: something does not. 2: bad input.";

/// What came out of all.
#[derive(Debug, Serialize)]
struct Validation {
    name: String,
    seeds: u64,
    /// What the command line changes in every scenario.
    changes: Vec<String>,
    cases: Vec<Outcome>,
    findings: Vec<Finding>,
}

/// Something that can be run.
enum Job {
    Standard(&'static standards::Case),
    Recorded(&'static str, &'static str, recorded::Experiment),
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(name) = args.name.clone() else {
        list(args.json)?;
        return Ok(ExitCode::SUCCESS);
    };
    let jobs = jobs(&name)?;
    let data = Data::find(args.data.as_deref());
    if let Err(error) = &data
        && (args.data.is_some() || name.starts_with("recorded"))
    {
        bail!("{error}");
    }
    let html = args.html.as_deref().map(Promised::new).transpose()?;
    let trials = Trials {
        changes: args.changes.overrides(),
        seeds: args.seeds.unwrap_or(if args.quick { FEW_SEEDS } else { SEEDS }),
        threads: workers::threads(args.threads),
        line: watch::Line::new(),
    };
    let mut cases = Vec::new();
    for job in jobs {
        cases.push(match (job, &data) {
            (Job::Standard(case), _) => {
                trials.line.say(case.name);
                case.run(&trials)?
            }
            (Job::Recorded(.., experiment), Ok(data)) => experiment(&trials, data)?,
            (Job::Recorded(name, title, _), Err(error)) => Outcome::without_data(name, title, error),
        });
    }
    trials.line.say("");
    let findings: Vec<Finding> = cases.iter().flat_map(|case| case.findings.clone()).collect();
    let changes = args.changes.written();
    let validation = Validation { name, seeds: trials.seeds, changes, cases, findings };
    if let Some(html) = html {
        html.write(page::page(&validation, &trials.changes).as_bytes())?;
    }
    let text = if args.json {
        format!("{}\n", serde_json::to_string_pretty(&validation)?)
    } else {
        validation.text()
    };
    output::show(&text)?;
    Ok(findings::exit_code(&validation.findings))
}

/// What a name stands for. A case that another suite has too is run once.
fn jobs(name: &str) -> anyhow::Result<Vec<Job>> {
    let recorded = |wanted: &str| {
        let wanted =
            recorded::ALL.into_iter().filter(move |(name, ..)| wanted == "recorded" || *name == wanted);
        wanted.map(|(name, title, experiment)| Job::Recorded(name, title, experiment)).collect::<Vec<_>>()
    };
    let standard = |case: &'static standards::Case| match case.same_as() {
        Some(other) if other.starts_with("recorded") => recorded(other),
        _ => vec![Job::Standard(case)],
    };
    if name == "all" {
        let own = standards::SUITES
            .iter()
            .flat_map(|(_, cases)| cases.iter())
            .filter(|case| case.same_as().is_none());
        return Ok(own.map(Job::Standard).chain(recorded("recorded")).collect());
    }
    if let Some((_, cases)) = standards::SUITES.iter().find(|(suite, _)| *suite == name) {
        return Ok(cases.iter().flat_map(standard).collect());
    }
    let jobs = standards::find(name).map_or_else(|| recorded(name), standard);
    if jobs.is_empty() {
        bail!(
            "unknown suite or case `{name}`; known: all, rimea, imo, nist, iso, recorded, and cases such as rimea-9: \
             `throng validate` lists them"
        );
    }
    Ok(jobs)
}

fn list(json: bool) -> anyhow::Result<()> {
    let standard = standards::SUITES
        .iter()
        .flat_map(|(suite, cases)| cases.iter().map(move |case| (*suite, case.name, case.title)));
    let recorded = recorded::ALL.iter().map(|(name, title, _)| ("recorded", *name, *title));
    let all = standard.chain(recorded);
    if json {
        let entry =
            |(suite, name, title)| serde_json::json!({ "suite": suite, "name": name, "title": title });
        return output::show(&format!(
            "{}\n",
            serde_json::to_string_pretty(&all.map(entry).collect::<Vec<_>>())?
        ));
    }
    let rows: Vec<[String; 3]> =
        all.map(|(suite, name, title)| [suite, name, title].map(String::from)).collect();
    output::show(&output::table(0, &rows))
}

impl Validation {
    fn text(&self) -> String {
        let cases: Vec<String> = self.cases.iter().map(Outcome::text).collect();
        let count = |status| self.cases.iter().filter(|case| case.status == status).count();
        let (passed, failed, waiting) =
            (count(Status::Passed), count(Status::Failed), count(Status::Waiting));
        let findings = if self.findings.is_empty() { String::new() } else { findings::text(&self.findings) };
        let changes = match self.changes.is_empty() {
            true => String::new(),
            false => format!(", with {}", self.changes.join(" ")),
        };
        format!(
            "{} ({} seeds{changes})\n\n{}\n{findings}{passed} cases passed, {failed} failed, {waiting} waiting.\n",
            self.name,
            self.seeds,
            cases.join("\n")
        )
    }
}
