//! `throng bench`: throughput as agents grow, beside peers in the same run.
//!
//! The machine may be busy with other things, so the systems take turns, in rounds of a few steps, and of every system
//! the best round counts. All begin with the same crowd and take the same number of steps, and before a figure is
//! believed its crowd must be finite and closer to its goals.

mod dodgy;
mod facade;
mod ours;
mod pyrvo;
mod workload;

use crate::findings::{self, Finding, Side};
use crate::watch;
use serde::Serialize;
use std::process::ExitCode;
use workload::RandomCrossing;

/// Measures throughput as agents grow.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// JSON instead of text
    #[arg(long)]
    json: bool,
    /// A short version: small crowds, few steps
    #[arg(long)]
    quick: bool,
    /// How many agents, in place of 1000,10000,100000,1000000
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    agents: Vec<u32>,
    /// Only this engine on this many threads, as a process of its own whose memory is its own
    #[arg(long, hide = true)]
    alone: Option<usize>,
}

/// Crowds larger than this are run without peers, each in a process of its own.
const LARGEST_BESIDE_PEERS: usize = 100_000;
/// A round takes about this many agent-steps, if that is not too many steps.
const AGENT_STEPS: usize = 300_000;
/// The most steps in a round. All rounds together take 10 s of the crowd's time: of 1000 agents nine in ten are still on
/// their way then, and a crowd that stands would be another workload.
const MOST_STEPS: usize = 6;
/// The crowd in which agents come and go.
const CHURNED: usize = 10_000;
/// Steps before the first round: memory is allocated, the crowd has begun to walk.
const WARM_UP: usize = 5;

/// A figure of a system.
#[derive(Clone, Debug, Serialize)]
struct Row {
    agents: usize,
    system: &'static str,
    threads: usize,
    /// The best round.
    ns_per_agent_step: f64,
    agent_steps_per_s: f64,
    /// Of a process that did nothing else, MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_rss_mb: Option<f64>,
}

impl Row {
    fn new(agents: usize, system: &'static str, threads: usize, ns: f64) -> Row {
        let agent_steps_per_s = 1e9 / ns;
        Row { agents, system, threads, ns_per_agent_step: ns, agent_steps_per_s, peak_rss_mb: None }
    }
}

#[derive(Debug, Serialize)]
struct Outcome {
    rows: Vec<Row>,
    findings: Vec<Finding>,
    /// Why a peer was not run.
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
    if let Some(threads) = args.alone {
        let agents = args.agents.first().map_or(1_000_000, |&agents| agents as usize);
        crate::output::show(&format!("{}\n", serde_json::to_string(&alone(agents, threads, args.quick)?)?))?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = measure(&args)?;
    if args.json {
        crate::output::show(&format!("{}\n", serde_json::to_string_pretty(&outcome)?))?;
    } else {
        crate::output::show(&outcome.text(args.quick))?;
    }
    Ok(findings::exit_code(&outcome.findings))
}

fn measure(args: &Args) -> anyhow::Result<Outcome> {
    let line = watch::Line::new();
    let mut outcome = Outcome { rows: Vec::new(), findings: Vec::new(), skipped: Vec::new() };
    for agents in sizes(args) {
        line.say(&format!("{agents} agents"));
        if agents > LARGEST_BESIDE_PEERS {
            for threads in [1, 2] {
                outcome.rows.push(child(agents, threads, args.quick)?);
            }
        } else {
            beside_peers(agents, args.quick, &mut outcome)?;
        }
    }
    outcome.findings = judge(&outcome.rows, outcome.skipped.first().map(String::as_str));
    if sizes(args).contains(&CHURNED) {
        let mut facade = facade::Facade::new(&RandomCrossing::new(CHURNED), 1)?;
        let ns = facade.churn(if args.quick { 5 } else { 40 })?;
        let name = format!("ns that a spawn or despawn costs among {CHURNED} agents");
        outcome.findings.push(Finding::new(name, ns, Side::AtMost, 1000.0));
    }
    Ok(outcome)
}

fn sizes(args: &Args) -> Vec<usize> {
    match &args.agents[..] {
        [] if args.quick => vec![1_000, 10_000],
        [] => vec![1_000, 10_000, 100_000, 1_000_000],
        listed => listed.iter().map(|&agents| agents as usize).collect(),
    }
}

/// How many rounds, and of how many steps.
fn rounds(agents: usize, quick: bool) -> (usize, usize) {
    let steps = (AGENT_STEPS / agents).clamp(1, MOST_STEPS);
    if quick { (5, steps.div_ceil(2)) } else { ((90 / steps).min(30), steps) }
}

fn beside_peers(agents: usize, quick: bool, outcome: &mut Outcome) -> anyhow::Result<()> {
    let crowd = RandomCrossing::new(agents);
    let mut systems: Vec<Box<dyn System>> = vec![
        Box::new(ours::Ours::new(&crowd, 1)?),
        Box::new(ours::Ours::new(&crowd, 2)?),
        Box::new(facade::Facade::new(&crowd, 1)?),
        Box::new(dodgy::Dodgy::new(&crowd)),
    ];
    match pyrvo::Pyrvo::start(&crowd)? {
        Ok(pyrvo) => systems.push(Box::new(pyrvo)),
        Err(reason) if outcome.skipped.contains(&reason) => {}
        Err(reason) => outcome.skipped.push(reason),
    }
    let best = take_turns(&crowd, &mut systems, rounds(agents, quick))?;
    for (system, ns) in systems.iter().zip(best) {
        outcome.rows.push(Row::new(agents, system.name(), system.threads(), ns));
        if let Some((part, ns)) = system.part() {
            outcome.rows.push(Row::new(agents, part, system.threads(), ns));
        }
    }
    Ok(())
}

/// The best round of every system, ns per agent-step.
fn take_turns(
    crowd: &RandomCrossing,
    systems: &mut [Box<dyn System>],
    (rounds, steps): (usize, usize),
) -> anyhow::Result<Vec<f64>> {
    for system in systems.iter_mut() {
        system.run(WARM_UP)?;
    }
    let mut best = vec![f64::INFINITY; systems.len()];
    for _ in 0..rounds {
        for (system, best) in systems.iter_mut().zip(&mut best) {
            let ns = system.run(steps)? * 1e9 / (crowd.len() * steps) as f64;
            *best = best.min(ns);
        }
    }
    for system in systems.iter_mut() {
        check(crowd, &mut **system)?;
    }
    Ok(best)
}

/// A figure counts only where the crowd is finite and has moved towards its goals.
fn check(crowd: &RandomCrossing, system: &mut dyn System) -> anyhow::Result<()> {
    let (before, after) = (crowd.mean_distance(), system.mean_distance()?);
    anyhow::ensure!(
        after.is_finite() && after < before,
        "{} went wrong: mean distance to the goals {before} m before, {after} m after",
        system.name()
    );
    Ok(())
}

/// This engine by itself.
fn alone(agents: usize, threads: usize, quick: bool) -> anyhow::Result<Row> {
    let crowd = RandomCrossing::new(agents);
    let mut systems: Vec<Box<dyn System>> = vec![Box::new(ours::Ours::new(&crowd, threads)?)];
    let best = take_turns(&crowd, &mut systems, rounds(agents, quick))?;
    let peak_rss_mb = Some(throng::metrics::peak_rss_mb());
    Ok(Row { peak_rss_mb, ..Row::new(agents, ours::NAME, threads, best[0]) })
}

/// The same in a process of its own, whose memory is its own.
fn child(agents: usize, threads: usize, quick: bool) -> anyhow::Result<Row> {
    let mut command = std::process::Command::new(std::env::current_exe()?);
    command.args(["bench", "--agents", &agents.to_string(), "--alone", &threads.to_string()]);
    if quick {
        command.arg("--quick");
    }
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    anyhow::ensure!(output.status.success(), "the run with {agents} agents ended with {}", output.status);
    let row: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let ns = row["ns_per_agent_step"].as_f64().unwrap_or(f64::NAN);
    Ok(Row { peak_rss_mb: row["peak_rss_mb"].as_f64(), ..Row::new(agents, ours::NAME, threads, ns) })
}

/// Holds the figures against what we set ourselves; sizes that were not run are left out.
fn judge(rows: &[Row], skipped: Option<&str>) -> Vec<Finding> {
    let ns = |agents: usize, system: &str, threads: usize| {
        let row = rows.iter().find(|row| (row.agents, row.system, row.threads) == (agents, system, threads));
        row.map(|row| row.ns_per_agent_step)
    };
    let ours = |agents: usize| ns(agents, ours::NAME, 1);
    let mut findings = Vec::new();
    for agents in [1_000, 10_000, 100_000] {
        if let (Some(ours), Some(theirs)) = (ours(agents), ns(agents, dodgy::NAME, 1)) {
            let name = format!("times the throughput of dodgy_2d at {agents} agents");
            findings.push(Finding::new(name, theirs / ours, Side::AtLeast, 3.0));
        }
    }
    for (agents, bar) in [(10_000, 8.0), (100_000, 12.0)] {
        let name = format!("times the throughput of pyrvo at {agents} agents");
        match (ours(agents), ns(agents, pyrvo::NAME, 1), skipped) {
            (Some(ours), Some(theirs), _) => {
                findings.push(Finding::new(name, theirs / ours, Side::AtLeast, bar));
            }
            (Some(_), None, Some(reason)) => {
                findings.push(Finding::skipped(name, Side::AtLeast, bar, reason))
            }
            _ => {}
        }
    }
    if let (Some(one), Some(two)) = (ours(100_000), ns(100_000, ours::NAME, 2)) {
        let name = "times the throughput of one thread on two, at 100000 agents";
        findings.push(Finding::new(name, one / two, Side::AtLeast, 1.8));
    }
    if let (Some(few), Some(many)) = (ours(10_000), ours(100_000)) {
        let name = "time per agent-step at 100000 agents over that at 10000";
        findings.push(Finding::new(name, many / few, Side::AtMost, 1.2));
    }
    for agents in [10_000, 100_000] {
        if let (Some(scenario), Some(code)) = (ours(agents), ns(agents, facade::NAME, 1)) {
            let name = format!("time through the façade over that of a scenario, {agents} agents");
            findings.push(Finding::new(name, code / scenario, Side::AtMost, 1.02));
        }
    }
    let largest = rows.iter().filter(|row| row.agents == 1_000_000).filter_map(|row| row.peak_rss_mb);
    if let Some(peak) = largest.reduce(f64::max) {
        findings.push(Finding::new("peak memory of 1000000 agents, MB", peak, Side::AtMost, 1000.0));
    }
    findings
}

impl Outcome {
    fn text(&self, quick: bool) -> String {
        let line = |row: &Row| {
            vec![
                row.system.to_string(),
                row.agents.to_string(),
                row.threads.to_string(),
                format!("{:.0}", row.ns_per_agent_step),
                format!("{:.2}", row.agent_steps_per_s / 1e6),
                row.peak_rss_mb.map(|peak| format!("{peak:.0}")).unwrap_or_default(),
            ]
        };
        let mut text = String::from(
            "Random crossing, 0.25 agents/m², ORCA with 10 neighbours within 5 m, 3 s ahead, steps of 0.1 s.\n\
             Systems take turns; of each the best round counts. dodgy_2d searches with a grid of ours.\n",
        );
        if quick {
            text += "SHORT VERSION: small crowds, few steps. Run without --quick for the whole.\n";
        }
        self.skipped.iter().for_each(|reason| text += &format!("pyrvo {reason}\n"));
        let header = ["", "agents", "threads", "ns per agent-step", "million agent-steps/s", "peak MB"];
        text += "\n";
        text += &findings::table(1, &header, &self.rows.iter().map(line).collect::<Vec<_>>());
        text + "\n" + &findings::text(&self.findings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_is_not_there_is_skipped_and_never_passed() {
        let rows = [Row::new(10_000, ours::NAME, 1, 300.0), Row::new(10_000, dodgy::NAME, 1, 1200.0)];
        let findings = judge(&rows, Some("not installed"));
        let verdicts: Vec<Option<bool>> = findings.iter().map(|finding| finding.holds).collect();
        assert_eq!(verdicts, [Some(true), None]);
    }

    #[test]
    fn all_systems_walk_alike() {
        let crowd = RandomCrossing::new(500);
        let mut ours = ours::Ours::new(&crowd, 1).unwrap();
        let mut dodgy = dodgy::Dodgy::new(&crowd);
        ours.run(100).unwrap();
        dodgy.run(100).unwrap();
        let (ours, dodgy) = (ours.mean_distance().unwrap(), dodgy.mean_distance().unwrap());
        let walked = crowd.mean_distance() - dodgy;
        assert!(walked > 5.0, "{walked}");
        assert!((ours - dodgy).abs() < 0.1 * walked, "{ours} {dodgy}");
    }
}
