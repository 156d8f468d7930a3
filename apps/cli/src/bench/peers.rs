//! ORCA beside dodgy_2d and RVO2, and models beside JuPedSim's, on the same crowds in the same run.

use super::dodgy::Dodgy;
use super::facade::{self, Facade};
use super::ours::{self, Ours};
use super::python::{self, Peer, Python, jupedsim};
use super::workload::{RandomCrossing, Walls, Workload};
use super::{Args, Outcome, Row, System, case};
use crate::findings::{self, Finding, Side};
use crate::watch;
use throng::scenario::Pipeline;

/// Crowds larger than this are run without peers, each in a process of its own.
const LARGEST_BESIDE_PEERS: usize = 100_000;
/// A round takes about this many agent-steps, if that is not too many steps.
const AGENT_STEPS: usize = 300_000;
/// The most steps in a round. All rounds together take 10 s of the crowd's time: of 1000 agents nine in ten are still on
/// their way then, and a crowd that stands would be another workload.
const MOST_STEPS: usize = 6;
/// The crowd in which agents come and go, the one that stands denser, and the one beside JuPedSim.
pub const USUAL: usize = 10_000;
/// Steps before the first round: memory is allocated, the crowd has begun to walk.
const WARM_UP: usize = 5;
/// Densities beside the usual one, at which half-planes leave no velocity, 1/m².
pub const DENSE: [f64; 2] = [1.0, 2.0];
/// Ours and theirs of one law.
pub const SAME_MODELS: [(&str, Peer); 2] = [
    ("collision-free-speed", jupedsim("JuPedSim, collision-free speed", "CollisionFreeSpeedModel")),
    ("anticipation-velocity", jupedsim("JuPedSim, anticipation velocity", "AnticipationVelocityModel")),
];

/// Takes turns with all peers that are there.
pub fn measure(args: &Args, line: &watch::Line, outcome: &mut Outcome) -> anyhow::Result<()> {
    for agents in args.sizes(&[1_000, 10_000, 100_000, 1_000_000], &[1_000, 10_000]) {
        line.say(&format!("{agents} agents"));
        if agents > LARGEST_BESIDE_PEERS {
            for threads in [1, 2] {
                outcome.rows.push(child(agents, threads, args.quick)?);
            }
        } else {
            beside_peers(agents, args.quick, outcome)?;
        }
    }
    if !args.quick && args.agents.is_empty() {
        for density in DENSE {
            line.say(&format!("{density} agents/m²"));
            dense(density, outcome)?;
        }
        for (model, peer) in SAME_MODELS {
            line.say(peer.name);
            same_model(model, peer, outcome)?;
        }
    }
    Ok(())
}

/// How many rounds, and of how many steps.
fn rounds(agents: usize, quick: bool) -> (usize, usize) {
    let steps = (AGENT_STEPS / agents).clamp(1, MOST_STEPS);
    if quick { (5, steps.div_ceil(2)) } else { ((90 / steps).min(30), steps) }
}

fn beside_peers(agents: usize, quick: bool, outcome: &mut Outcome) -> anyhow::Result<()> {
    let workload = Workload::of(agents);
    let (crowd, usual) = (RandomCrossing::new(workload), case::usual(Walls::None));
    let mut systems: Vec<Box<dyn System>> = vec![
        Box::new(Ours::new(&crowd, &usual, 1)?),
        Box::new(Ours::new(&crowd, &usual, 2)?),
        Box::new(Facade::new(&crowd, 1)?),
        Box::new(Dodgy::new(&crowd)),
    ];
    systems.extend(started(python::PYRVO, &crowd, outcome)?);
    take_turns(workload, &crowd, systems, rounds(agents, quick), outcome)
}

fn dense(density: f64, outcome: &mut Outcome) -> anyhow::Result<()> {
    let workload = Workload { density, ..Workload::of(USUAL) };
    let crowd = RandomCrossing::new(workload);
    let systems: Vec<Box<dyn System>> =
        vec![Box::new(Ours::new(&crowd, &case::usual(Walls::None), 1)?), Box::new(Dodgy::new(&crowd))];
    take_turns(workload, &crowd, systems, rounds(USUAL, false), outcome)
}

fn same_model(model: &'static str, peer: Peer, outcome: &mut Outcome) -> anyhow::Result<()> {
    let crowd = RandomCrossing::apart(USUAL);
    let Some(theirs) = started(peer, &crowd, outcome)? else { return Ok(()) };
    let pipeline = Pipeline { microscale: model.into(), ..case::usual(Walls::None) };
    let ours = Box::new(Named(model, Ours::new(&crowd, &pipeline, 1)?));
    take_turns(Workload::of(USUAL), &crowd, vec![ours, theirs], rounds(USUAL, false), outcome)
}

/// This engine with another model than ORCA.
struct Named(&'static str, Ours);

impl System for Named {
    fn name(&self) -> &'static str {
        self.0
    }

    fn run(&mut self, steps: usize) -> anyhow::Result<f64> {
        self.1.run(steps)
    }

    fn mean_distance(&mut self) -> anyhow::Result<f64> {
        self.1.mean_distance()
    }
}

/// A peer that is installed; of any other it is noted why it is not run.
fn started(
    peer: Peer,
    crowd: &RandomCrossing,
    outcome: &mut Outcome,
) -> anyhow::Result<Option<Box<dyn System>>> {
    match Python::start(peer, crowd)? {
        Ok(system) => Ok(Some(Box::new(system))),
        Err(reason) => {
            let reason = format!("{} {reason}", peer.name);
            if !outcome.skipped.contains(&reason) {
                outcome.skipped.push(reason);
            }
            Ok(None)
        }
    }
}

/// Adds the best round of every system.
fn take_turns(
    workload: Workload,
    crowd: &RandomCrossing,
    mut systems: Vec<Box<dyn System>>,
    (rounds, steps): (usize, usize),
    outcome: &mut Outcome,
) -> anyhow::Result<()> {
    for system in &mut systems {
        system.run(WARM_UP)?;
    }
    let mut best = vec![f64::INFINITY; systems.len()];
    for _ in 0..rounds {
        for (system, best) in systems.iter_mut().zip(&mut best) {
            let ns = system.run(steps)? * 1e9 / (crowd.len() * steps) as f64;
            *best = best.min(ns);
        }
    }
    for (system, ns) in systems.iter_mut().zip(best) {
        check(crowd, &mut **system)?;
        outcome.rows.push(Row::new(workload, system.name(), system.threads(), ns));
        if let Some((part, ns)) = system.part() {
            outcome.rows.push(Row::new(workload, part, system.threads(), ns));
        }
    }
    Ok(())
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
pub fn alone(agents: usize, threads: usize, quick: bool) -> anyhow::Result<Row> {
    let (workload, mut outcome) = (Workload::of(agents), Outcome::default());
    let crowd = RandomCrossing::new(workload);
    let ours = Ours::new(&crowd, &case::usual(Walls::None), threads)?;
    take_turns(workload, &crowd, vec![Box::new(ours)], rounds(agents, quick), &mut outcome)?;
    Ok(Row { peak_rss_mb: Some(throng::metrics::peak_rss_mb()), ..outcome.rows.remove(0) })
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
    let peak_rss_mb = row["peak_rss_mb"].as_f64();
    Ok(Row { peak_rss_mb, ..Row::new(Workload::of(agents), ours::NAME, threads, ns) })
}

/// What it costs that agents come and go.
pub fn churn(args: &Args, outcome: &mut Outcome) -> anyhow::Result<()> {
    if args.sizes(&[USUAL], &[USUAL]).contains(&USUAL) {
        let mut facade = Facade::new(&RandomCrossing::new(Workload::of(USUAL)), 1)?;
        let ns = facade.churn(if args.quick { 5 } else { 40 })?;
        let name = format!("ns that a spawn or despawn costs among {USUAL} agents");
        outcome.findings.push(Finding::new(name, ns, Side::AtMost, 1000.0));
    }
    Ok(())
}

pub fn table(rows: &[Row]) -> String {
    let line = |row: &Row| {
        vec![
            row.system.to_string(),
            row.agents.to_string(),
            row.density.to_string(),
            row.threads.to_string(),
            format!("{:.0}", row.ns_per_agent_step),
            format!("{:.2}", row.agent_steps_per_s / 1e6),
            row.peak_rss_mb.map(|peak| format!("{peak:.0}")).unwrap_or_default(),
        ]
    };
    let header = ["", "agents", "per m²", "threads", "ns per agent-step", "million agent-steps/s", "peak MB"];
    let rows = rows.iter().filter(|row| row.model.is_none());
    findings::table(1, &header, &rows.map(line).collect::<Vec<_>>())
}

pub const FACADE: &str = facade::NAME;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_systems_walk_alike() {
        let crowd = RandomCrossing::new(Workload::of(500));
        let mut ours = Ours::new(&crowd, &case::usual(Walls::None), 1).unwrap();
        let mut dodgy = Dodgy::new(&crowd);
        ours.run(100).unwrap();
        dodgy.run(100).unwrap();
        let (ours, dodgy) = (ours.mean_distance().unwrap(), dodgy.mean_distance().unwrap());
        let walked = crowd.mean_distance() - dodgy;
        assert!(walked > 5.0, "{walked}");
        assert!((ours - dodgy).abs() < 0.1 * walked, "{ours} {dodgy}");
    }
}
