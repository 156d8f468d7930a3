//! Every model of the catalog: what a step costs as density, walls, threads and crowds change.

use super::case::{Case, chosen, usual_walls};
use super::ours::{self, Ours};
use super::workload::{DENSITY, RandomCrossing, Walls, Workload};
use super::{Args, Outcome, Row};
use crate::findings;
use crate::statistics::lower_quartile;
use crate::watch;
use std::time::Instant;
use throng::catalog::{Entry, Stage};

pub const ABOUT: &str = "\
Each model in the place of the usual one of its stage (straight, or navmesh among blocks; orca; holonomic): ns per agent-step of the
lower quartile of steps, the first step, and the longest of the later ones over that quartile. Numbers of threads take turns, step by step.";

/// Steps before those that count; the first of them is told by itself.
const WARM_UP: usize = 3;
const MOST_STEPS: usize = 60;
/// A case takes about this long, s, or as long as a step takes.
const PATIENCE: f64 = 1.0;
/// A model whose first step takes longer than this is not asked for a larger crowd, ms.
const SLOW: f64 = 200.0;
/// A crowd whose first step takes longer than this, s, does not warm up.
const SLUGGISH: f64 = 0.5;

/// Measures those that are asked for; larger crowds only of models that can.
pub fn measure(args: &Args, line: &watch::Line, outcome: &mut Outcome) -> anyhow::Result<()> {
    let threads = or(&args.threads, &[1, 2]);
    let mut left_out = Vec::new();
    for entry in chosen(&args.models)? {
        for workload in workloads(args, entry.stage) {
            let case = Case::new(&entry, workload);
            let is_smaller = |row: &&Row| row.model == Some(entry.name) && row.agents < workload.agents;
            let slowest = outcome.rows.iter().filter(is_smaller).filter_map(|row| row.first_step_ms);
            if slowest.fold(0.0, f64::max) > SLOW {
                left_out.push(case.name());
                continue;
            }
            line.say(&case.name());
            measure_case(&case, &threads, outcome)?;
        }
    }
    if !left_out.is_empty() {
        let reason = format!("left out, because fewer take long at first: {}", left_out.join("; "));
        outcome.skipped.push(reason);
    }
    Ok(())
}

/// All that a stage's models are measured on, small crowds first.
fn workloads(args: &Args, stage: Stage) -> Vec<Workload> {
    let mut workloads = Vec::new();
    for agents in args.sizes(&[1_000, 10_000], &[1_000]) {
        for &walls in &or(&args.walls, &[usual_walls(stage)]) {
            for &density in &or(&args.density, &[DENSITY, 1.0, 2.0]) {
                workloads.push(Workload { agents, density, walls });
            }
        }
    }
    workloads
}

fn or<T: Clone>(asked: &[T], usual: &[T]) -> Vec<T> {
    if asked.is_empty() { usual.to_vec() } else { asked.to_vec() }
}

/// A crowd on a number of threads, and the time of its steps, s.
struct Timed {
    ours: Ours,
    threads: u32,
    first: f64,
    steps: Vec<f64>,
}

fn measure_case(case: &Case, threads: &[u32], outcome: &mut Outcome) -> anyhow::Result<()> {
    let crowd = RandomCrossing::new(case.workload);
    let begin = |&threads: &u32| -> anyhow::Result<Timed> {
        let mut ours = Ours::new(&crowd, &case.pipeline, threads as usize)?;
        let first = ours.step();
        Ok(Timed { ours, threads, first, steps: Vec::new() })
    };
    let mut timed = threads.iter().map(begin).collect::<anyhow::Result<Vec<_>>>()?;
    if timed.iter().all(|timed| timed.first < SLUGGISH) {
        timed.iter_mut().for_each(|timed| (1..WARM_UP).for_each(|_| timed.ours.simulation.step()));
    }
    let clock = Instant::now();
    for step in 0..MOST_STEPS {
        if step > 0 && clock.elapsed().as_secs_f64() > PATIENCE {
            break;
        }
        timed.iter_mut().for_each(|timed| timed.steps.push(timed.ours.step()));
    }
    let longest_step = longest_over_quartile(&timed);
    for timed in timed {
        let ours = row(case, timed)?;
        outcome.rows.push(Row { longest_step, ..ours });
    }
    Ok(())
}

/// Of each step the least of all numbers of threads: the same agents do the same in it, and what else a machine does only adds.
fn longest_over_quartile(timed: &[Timed]) -> Option<f64> {
    let least = |step: usize| timed.iter().map(|timed| timed.steps[step]).fold(f64::INFINITY, f64::min);
    let steps: Vec<f64> = (0..timed.first()?.steps.len()).map(least).collect();
    let longest = steps.iter().copied().reduce(f64::max)?;
    Some(longest / lower_quartile(steps))
}

fn row(case: &Case, timed: Timed) -> anyhow::Result<Row> {
    let Timed { ours, threads, first, steps } = timed;
    anyhow::ensure!(ours.simulation.put_aside() == 0, "{}: agents were put aside", case.name());
    let ns = lower_quartile(steps) * 1e9 / case.workload.agents as f64;
    Ok(Row {
        model: Some(case.model),
        first_step_ms: Some(first * 1e3),
        ..Row::new(case.workload, ours::NAME, threads as usize, ns)
    })
}

pub fn table(rows: &[Row]) -> String {
    let line = |row: &Row| {
        vec![
            row.model.unwrap_or_default().to_string(),
            (if row.walls == Walls::Blocks { "blocks" } else { "" }).to_string(),
            row.agents.to_string(),
            row.density.to_string(),
            row.threads.to_string(),
            format!("{:.0}", row.ns_per_agent_step),
            findings::number(row.first_step_ms),
            findings::number(row.longest_step),
        ]
    };
    let header =
        ["", "walls", "agents", "per m²", "threads", "ns per agent-step", "first step, ms", "longest/usual"];
    let rows = rows.iter().filter(|row| row.model.is_some());
    findings::table(2, &header, &rows.map(line).collect::<Vec<_>>())
}

/// Where a model stands in the table, for a page.
pub fn stage_of(model: &str) -> Option<Entry> {
    throng::catalog::entries().into_iter().find(|entry| entry.name == model)
}
