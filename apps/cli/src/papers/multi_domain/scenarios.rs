//! Sections 7.2 and 7.3: the paper's scenarios over many seeds, with ORCA alone beside them and without what Σ2 foresees, and what a
//! frame costs.

use super::super::{Reproduction, Row};
use super::scale;
use crate::findings::{Finding, Side};
use crate::progress::Runs;
use crate::statistics::mean;
use anyhow::Context;
use glam::Vec2;
use std::collections::BTreeMap;
use std::time::Instant;
use throng::expect::{self, Outcome};
use throng::geom::segments_meet;
use throng::measure::Figures;
use throng::metrics::Metrics;
use throng::report::Report;
use throng::scenario::Overrides;
use throng::{Scenario, Simulation, builtin};

const TABLE: &str = "Scenarios: runs that do what the scenario expects, and in which none collide";
const FRAMES: &str = "A frame with 100 agents, on one thread, with a deadline of 10 ms";
const SEEDS: u64 = 20;
const QUICK_SEEDS: u64 = 2;
/// The paper's: what an agent's planners may take.
const MOST_BYTES: f64 = 45_000.0;

/// The scenarios.
pub const NAMES: [&str; 10] = [
    "oncoming",
    "crossing",
    "intersection",
    "choke",
    "change",
    "road",
    "lanes",
    "four-way",
    "goals",
    "stepping-stones",
];

/// Where Σ2 keeps groups apart, by the scenarios' measures, and at most this part of those who mingle without it may with it.
const APART: [(&str, f64); 2] = [("lanes", 0.1), ("four-way", 0.8)];

/// Who plans.
#[derive(Clone, Copy, PartialEq)]
enum Planner {
    Ours,
    /// Without the density of Σ2.
    Blind,
    /// ORCA along static paths.
    Alone,
}

/// How a run went.
struct Run {
    arrived: f64,
    collisions: u64,
    walls_crossed: u64,
    /// Whether all holds that the scenario expects.
    as_expected: bool,
    /// Path length over the straight line.
    detour: f64,
    /// Who crosses a measured line against most, and who is in a measured area.
    mingled: f64,
    bytes: f64,
}

impl Run {
    fn solves(&self) -> bool {
        self.as_expected && self.collisions == 0 && self.walls_crossed == 0
    }
}

/// Runs all of it, or a short version.
pub fn reproduce(quick: bool) -> anyhow::Result<Reproduction> {
    let seeds = if quick { QUICK_SEEDS } else { SEEDS };
    let (mut rows, mut findings) = (Vec::new(), Vec::new());
    let progress = Runs::new("runs", NAMES.len() * seeds as usize * 2);
    let mut most_bytes: f64 = 0.0;
    for (index, name) in NAMES.into_iter().enumerate() {
        let runs = |planner: Planner| {
            let run = |seed: u64| {
                let before = index as u64 * 2 + u64::from(planner != Planner::Ours);
                progress.at((before * seeds + seed) as usize);
                go(name, seed, planner)
            };
            (1..=seeds).map(run).collect::<anyhow::Result<Vec<Run>>>()
        };
        let (ours, alone) = (runs(Planner::Ours)?, runs(Planner::Alone)?);
        most_bytes = ours.iter().map(|run| run.bytes).fold(most_bytes, f64::max);
        // A quantity's two figures side by side.
        let [ours_rows, alone_rows] =
            [("multi-domain", &ours), ("ORCA alone", &alone)].map(|(who, runs)| rows_of(name, who, runs));
        rows.extend(ours_rows.into_iter().zip(alone_rows).flat_map(|(ours, alone)| [ours, alone]));
        let solved = ours.iter().filter(|run| run.solves()).count();
        findings.push(Finding::new(
            format!("{name}: runs solved"),
            solved as f64,
            Side::AtLeast,
            seeds as f64,
        ));
        if name == "choke" {
            let detour = average(&ours, |run| run.detour);
            findings.push(Finding::new("choke: path length over straight", detour, Side::AtMost, 1.02));
        }
        if let Some(&(_, most)) = APART.iter().find(|(apart, _)| *apart == name) {
            let share =
                average(&ours, |run| run.mingled) / average(&runs(Planner::Blind)?, |run| run.mingled);
            let claim = format!("{name}: those who mingle, of those who do without what Σ2 foresees");
            findings.push(Finding::new(claim, share, Side::AtMost, most));
        }
    }
    progress.clear();
    findings.push(Finding::new("planner state per agent, bytes", most_bytes, Side::AtMost, MOST_BYTES));
    super::repair::compare(quick, &mut rows, &mut findings)?;
    frames(quick, &mut rows, &mut findings)?;
    scale::reproduce(quick, &mut rows, &mut findings)?;
    let mut notes = vec![
        format!(
            "{seeds} seeds for each scenario, which move the starts. Beside it: paths on the navigation mesh, and ORCA with a horizon of 3 s."
        ),
        "Times: this machine, with whatever else it does.".into(),
    ];
    if quick {
        notes.push(format!("SHORT VERSION: {QUICK_SEEDS} seeds. Run without --quick for the whole."));
    }
    Ok(Reproduction { paper: super::TITLE, notes, rows, findings })
}

/// One of the scenarios.
pub fn open(name: &str, overrides: &Overrides) -> anyhow::Result<Scenario> {
    let name = format!("multi-domain-{name}");
    let builtin = builtin::find(&name).with_context(|| format!("no scenario `{name}`"))?;
    Ok(builtin.open_with(overrides)?)
}

/// An ordinary crowd in the place of those who plan: paths on the navigation mesh, and ORCA.
pub fn with_orca_alone(mut overrides: Overrides) -> Overrides {
    let horizon = |key: &str, value: &str| (format!("params.orca.{key}"), value.to_owned());
    overrides.macroscale = Some("navmesh".into());
    overrides.set.extend([
        horizon("time_horizon", "3"),
        horizon("time_horizon_obstacles", "1"),
        ("pipeline.motion".into(), "holonomic".into()),
    ]);
    overrides
}

/// What a planner needs to be set.
fn overrides(seed: u64, planner: Planner) -> Overrides {
    let overrides = Overrides { seed: Some(seed), ..Overrides::default() };
    match planner {
        Planner::Ours => overrides,
        Planner::Blind => {
            Overrides { set: vec![("params.multi-domain.crowding".into(), "0".into())], ..overrides }
        }
        Planner::Alone => with_orca_alone(overrides),
    }
}

fn go(name: &str, seed: u64, planner: Planner) -> anyhow::Result<Run> {
    let scenario = open(name, &overrides(seed, planner))?;
    let (begin, mut simulation) = (Instant::now(), Simulation::with_threads(&scenario, 2)?);
    let mut metrics = Metrics::default();
    let (mut bytes, mut walls_crossed) = (0, 0);
    // An agent that steps onto a platform crosses the edge of the floor.
    let has_platforms = simulation.world().movers().iter().any(|mover| mover.carries);
    while !simulation.is_done() {
        let before = places(&simulation);
        simulation.step();
        metrics.observe(&simulation);
        walls_crossed += if has_platforms { 0 } else { crossed(&before, &simulation) };
        bytes = bytes.max(simulation.planner_bytes());
    }
    let report = Report::new(&simulation, &metrics, begin.elapsed());
    Ok(Run {
        arrived: simulation.arrived() as f64 / simulation.agents().max(1) as f64,
        collisions: metrics.collisions,
        walls_crossed,
        as_expected: expect::compare(&scenario.expect, &report).iter().all(Outcome::holds),
        detour: report.path_over_straight.unwrap_or(f64::INFINITY),
        mingled: report.measures.values().map(mingled).sum(),
        bytes: bytes as f64 / simulation.agents().max(1) as f64,
    })
}

fn mingled(figures: &Figures) -> f64 {
    match figures {
        Figures::Line(line) => line.against as f64,
        Figures::Area(area) => area.people as f64,
    }
}

fn average(runs: &[Run], of: fn(&Run) -> f64) -> f64 {
    mean(&runs.iter().map(of).collect::<Vec<_>>())
}

fn places(simulation: &Simulation) -> BTreeMap<u32, Vec2> {
    let agents = &simulation.world().agents;
    (0..agents.len()).map(|row| (agents.id[row], Vec2::new(agents.x[row], agents.y[row]))).collect()
}

/// How many have gone through a wall since.
fn crossed(before: &BTreeMap<u32, Vec2>, simulation: &Simulation) -> u64 {
    let walls = simulation.world().view().walls.all();
    let now = places(simulation);
    let through = |id: &u32, to: Vec2| {
        before.get(id).is_some_and(|&from| walls.iter().any(|wall| segments_meet(from, to, wall.a, wall.b)))
    };
    now.iter().filter(|(id, to)| through(id, **to)).count() as u64
}

fn rows_of(name: &str, who: &str, runs: &[Run]) -> Vec<Row> {
    let row = |metric: &str, unit, ours: f64| Row {
        table: TABLE,
        row: name.into(),
        metric: format!("{who}: {metric}"),
        unit,
        paper: None,
        ours: Some(ours),
    };
    let share = |count: usize| count as f64 / runs.len().max(1) as f64;
    vec![
        row("solved", "1", share(runs.iter().filter(|run| run.solves()).count())),
        row("arrived", "1", average(runs, |run| run.arrived)),
        row("collisions", "1", average(runs, |run| run.collisions as f64)),
        row("walls crossed", "1", average(runs, |run| run.walls_crossed as f64)),
    ]
}

/// What a frame's thinking costs with a deadline.
fn frames(quick: bool, rows: &mut Vec<Row>, findings: &mut Vec<Finding>) -> anyhow::Result<()> {
    let overrides =
        Overrides { set: vec![("params.multi-domain.deadline".into(), "10".into())], ..Overrides::default() };
    let scenario = open("four-way", &overrides)?;
    let mut simulation = Simulation::with_threads(&scenario, 1)?;
    let mut times: Vec<f64> = Vec::new();
    let most = if quick { 150 } else { usize::MAX };
    while !simulation.is_done() && times.len() < most {
        let before = simulation.timings().total.macroscale;
        simulation.step();
        times.push((simulation.timings().total.macroscale - before).as_secs_f64() * 1e3);
    }
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let p99 = sorted[((sorted.len() as f64 * 0.99).ceil() as usize).clamp(1, sorted.len()) - 1];
    let row = |metric: &str, ours: f64| Row {
        table: FRAMES,
        row: "deliberation".into(),
        metric: metric.into(),
        unit: "ms",
        paper: None,
        ours: Some(ours),
    };
    rows.extend([row("mean", mean(&times)), row("p99", p99)]);
    findings.push(Finding::new("deliberation, p99, ms", p99, Side::AtMost, 11.0));
    Ok(())
}
