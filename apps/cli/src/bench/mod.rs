//! `throng bench`: what a step costs, for every model, as crowds grow, and beside peers in the same run.
//!
//! The machine may be busy with other things, so the systems take turns, in rounds of a few steps, and of every system
//! the best round counts: others only ever add. All begin with the same crowd and take the same number of steps, and before a
//! figure is believed its crowd must be finite and, beside peers, closer to its goals.

mod case;
mod counted;
mod dodgy;
mod facade;
mod judge;
mod models;
mod ours;
mod page;
mod peers;
mod python;
pub mod threads;
pub mod workload;

use crate::findings::{self, Finding};
use crate::watch;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use workload::{DENSITY, Walls, Workload};

/// Measures what a step costs.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// JSON instead of text
    #[arg(long)]
    json: bool,
    /// A short version: small crowds, few steps, ORCA alone
    #[arg(long)]
    quick: bool,
    /// How many agents, in place of 1000,10000,100000,1000000 beside peers, and of 1000,10000 for models
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    agents: Vec<u32>,
    /// Only these models of `throng list models`, planners too, without peers
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    models: Vec<String>,
    /// Agents per m² that models are measured at, in place of 0.25,1,2
    #[arg(long, value_delimiter = ',', value_parser = density)]
    density: Vec<f64>,
    /// What stands in the way where models are measured; without it blocks for planners, and nothing for others
    #[arg(long, value_delimiter = ',')]
    walls: Vec<Walls>,
    /// Threads that models are measured on, in place of 1,2
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Vec<u32>,
    /// Also as a page, with its picture beside it
    #[arg(long, value_name = "FILE.md", conflicts_with = "quick")]
    write: Option<PathBuf>,
    /// Counts instructions under callgrind, and holds them against those in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "quick", "agents", "models", "density", "walls", "threads", "write"])]
    instructions: Option<PathBuf>,
    /// Writes the counts down: what they have become is wanted
    #[arg(long, requires = "instructions")]
    update: bool,
    /// Only this engine on this many threads, as a process of its own whose memory is its own
    #[arg(long, hide = true)]
    alone: Option<usize>,
    /// What is run under callgrind
    #[arg(long, hide = true)]
    counted: Option<String>,
}

fn density(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "it must be a number")?;
    (1e-3..=5.0).contains(&number).then_some(number).ok_or_else(|| "it must be from 0.001 to 5".into())
}

/// A figure of a system.
#[derive(Clone, Debug, Serialize)]
struct Row {
    agents: usize,
    system: &'static str,
    /// Which of this engine's models stands in for the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'static str>,
    density: f64,
    walls: Walls,
    threads: usize,
    /// The best round beside peers; of a model the lower quartile of steps, because others only ever add.
    ns_per_agent_step: f64,
    agent_steps_per_s: f64,
    /// What a model does at the beginning, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_step_ms: Option<f64>,
    /// Of a model's later steps, over the lower quartile.
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_step: Option<f64>,
    /// Of a process that did nothing else, MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_rss_mb: Option<f64>,
}

impl Row {
    fn new(workload: Workload, system: &'static str, threads: usize, ns: f64) -> Row {
        let Workload { agents, density, walls } = workload;
        Row {
            agents,
            system,
            model: None,
            density,
            walls,
            threads,
            ns_per_agent_step: ns,
            agent_steps_per_s: 1e9 / ns,
            first_step_ms: None,
            longest_step: None,
            peak_rss_mb: None,
        }
    }
}

#[derive(Debug, Default, Serialize)]
struct Outcome {
    rows: Vec<Row>,
    findings: Vec<Finding>,
    /// How a step is shared among threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    threads: Vec<threads::Shared>,
    /// Why a peer or a model was not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skipped: Vec<String>,
}

/// A system under test.
trait System {
    fn name(&self) -> &'static str;
    fn threads(&self) -> usize {
        1
    }
    /// Takes steps; returns the seconds that they took.
    fn run(&mut self, steps: usize) -> anyhow::Result<f64>;
    /// Mean distance to the goals now, m; not finite where a position is not.
    fn mean_distance(&mut self) -> anyhow::Result<f64>;
    /// A part of it that was timed too: its name, and its best round in ns per agent-step.
    fn part(&self) -> Option<(&'static str, f64)> {
        None
    }
}

/// Runs the command.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.instructions {
        return counted::run(path, args.update);
    }
    if let Some(name) = &args.counted {
        return counted::step_case(name);
    }
    if let Some(threads) = args.alone {
        let agents = args.agents.first().map_or(1_000_000, |&agents| agents as usize);
        let row = peers::alone(agents, threads, args.quick)?;
        crate::output::show(&format!("{}\n", serde_json::to_string(&row)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = measure(&args)?;
    if let Some(path) = &args.write {
        page::write(path, &outcome)?;
    }
    if args.json {
        crate::output::show(&format!("{}\n", serde_json::to_string_pretty(&outcome)?))?;
    } else {
        crate::output::show(&outcome.text(args.quick))?;
    }
    Ok(findings::exit_code(&outcome.findings))
}

fn measure(args: &Args) -> anyhow::Result<Outcome> {
    let line = watch::Line::new();
    let mut outcome = Outcome::default();
    if args.models.is_empty() {
        peers::measure(args, &line, &mut outcome)?;
        for agents in args.sizes(&[1_000, 10_000, 100_000], &[1_000, 10_000]) {
            line.say(&format!("threads: {agents} agents"));
            outcome.threads.push(threads::shared(agents, args.quick)?);
        }
        outcome.findings = judge::all(&outcome);
        peers::churn(args, &mut outcome)?;
    }
    if args.quick {
        let findings = outcome.findings.into_iter();
        outcome.findings = findings.map(|finding| finding.unjudged("the whole run says")).collect();
    }
    // The whole table takes minutes: a short run has none, unless models are asked for by name.
    if !(args.quick && args.models.is_empty()) {
        models::measure(args, &line, &mut outcome)?;
    }
    Ok(outcome)
}

impl Args {
    /// The sizes that were asked for, or the usual ones.
    fn sizes(&self, usual: &[usize], quick: &[usize]) -> Vec<usize> {
        match &self.agents[..] {
            [] if self.quick => quick.to_vec(),
            [] => usual.to_vec(),
            listed => listed.iter().map(|&agents| agents as usize).collect(),
        }
    }
}

impl Outcome {
    fn text(&self, quick: bool) -> String {
        let mut text = String::new();
        if quick {
            text += "SHORT VERSION: small crowds and few steps, to see that all runs and about how fast. What holds and what does\n\
                     not is for the whole run to say, on a machine that does nothing else.\n\n";
        }
        self.skipped.iter().for_each(|reason| text += &format!("{reason}\n"));
        if self.rows.iter().any(|row| row.model.is_none()) {
            text += &format!(
                "Random crossing, {DENSITY} agents/m² where nothing else is said, 10 neighbours within 5 m, 3 s ahead, steps of 0.1 s.\n\
                 Systems take turns; of each the best round counts. dodgy_2d searches with a grid of ours.\n\n{}\n",
                peers::table(&self.rows)
            );
        }
        if !self.threads.is_empty() {
            text += &format!("{}\n", threads::text(&self.threads));
        }
        if self.rows.iter().any(|row| row.model.is_some()) {
            text += &format!("{}\n{}\n", models::ABOUT, models::table(&self.rows));
        }
        if !self.findings.is_empty() {
            text += &findings::text(&self.findings);
        }
        text
    }
}
