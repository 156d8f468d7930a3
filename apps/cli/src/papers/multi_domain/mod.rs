//! # Multi-domain real-time planning in dynamic environments (Kapadia et al. 2013), section 7.1
//! Table 1: what domains cost, alone and guided by one another, and what becomes of their plans among obstacles that move.
//!
//! Deviations:
//! - The paper does not give its maps, nor how fine its domains are; `maps.rs` and [`trial::tuning`] say what was chosen and
//!   why. Both are the same for all rows.
//! - Success is not what a planner says of itself: `checker.rs` follows every plan among everything that stands and moves.
//!   Plans of domains without time are walked at an even speed.
//! - Quality is the mean over plans that succeed, and N over all maps. N is of one task, as the paper has it: it tells of 75 nodes
//!   in the grid and 350 visited in space-time, and of five such tasks for an agent. In row 7 each leg is a task; what
//!   all legs take stands in a row of its own.
//! - A plan is the first that a search finds, and no plan in space-time takes more than 10⁴ expansions, as in the paper.
//! - The branching factor counts successors that are possible (the paper's equation 1). The paper's 21.5 is more than the 21
//!   actions of Σ4, as if none were ever forbidden; here the highest speed, standing, walls and bodies forbid some. In Σ1 it is
//!   that of Polyanya, whose nodes are no polygons.

mod checker;
mod maps;
mod repair;
mod scale;
pub mod scenarios;
mod trial;

use throng::{planning, rng};

use super::{Reproduction, Row};
use crate::findings::{Finding, Side};
use crate::progress::Runs;
use crate::statistics::mean;
use std::sync::atomic::{AtomicUsize, Ordering};
use trial::{Result, VARIANTS};

pub const TITLE: &str = "Kapadia et al. 2013, Multi-domain real-time planning in dynamic environments";

const TABLE: &str = "Table 1: domains, and the use of several";
const SEED: u64 = 2013;
const MAPS: u32 = 1_000;
const QUICK_MAPS: u32 = 60;
const THREADS: usize = 2;

/// Runs all of it, or a short version.
pub fn reproduce(quick: bool) -> anyhow::Result<Reproduction> {
    let maps = if quick { QUICK_MAPS } else { MAPS };
    let results = attempt_all(maps);
    let columns: Vec<Vec<Result>> =
        (0..VARIANTS.len()).map(|way| results.iter().map(|results| results[way]).collect()).collect();
    let rows = VARIANTS.iter().zip(&columns).flat_map(|(way, results)| rows(way, results)).collect();
    Ok(Reproduction {
        paper: TITLE,
        notes: notes(maps as usize, results.len(), quick),
        rows,
        findings: findings(&columns),
    })
}

/// All ways of planning on all maps, in the order of maps, whichever thread had which.
fn attempt_all(maps: u32) -> Vec<[Result; 7]> {
    let progress = Runs::new("maps", maps as usize);
    let done = AtomicUsize::new(0);
    let share = |thread: usize| {
        let numbers = (thread as u32..maps).step_by(THREADS);
        let attempt = |number: u32| {
            let map = maps::Map::new(SEED, number);
            let results = map.and_then(|map| trial::attempt(&map, trial::tuning()));
            progress.at(done.fetch_add(1, Ordering::Relaxed) + 1);
            results.map(|results| (number, results))
        };
        numbers.filter_map(attempt).collect::<Vec<_>>()
    };
    let mut results: Vec<(u32, [Result; 7])> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || share(thread))).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.flat_map(|results| results.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    });
    progress.clear();
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, results)| results).collect()
}

fn notes(asked: usize, maps: usize, quick: bool) -> Vec<String> {
    let mut notes = vec![
        format!(
            "{maps} maps of 100 m × 100 m, seed {SEED}: {} blocks and walls, {} bodies that could move and stand, {} that walk.",
            maps::STATIC,
            maps::STANDING,
            maps::WALKING
        ),
        "The paper does not give its maps. Where a grid that knows where bodies are now succeeds so much oftener than a mesh that"
            .into(),
        "knows of none, most bodies hardly move: that many stand and walk here, so that rows 1 and 4 succeed as often as the paper's."
            .into(),
        "Success: free of collisions when followed step by step, found without any of the planners' code.".into(),
        "Nodes: of one search in the row's finest domain; in the last row each leg has one, and their sum is told too.".into(),
        "Times: of all domains and legs, one thread; the paper's machine had 2.8 GHz. Meshes and grids are made beforehand."
            .into(),
    ];
    if maps < asked {
        let left_out = asked - maps;
        notes.push(format!(
            "{left_out} maps are left out: no path leads from any start to any goal that was drawn."
        ));
    }
    if quick {
        notes.push(format!("SHORT VERSION: {QUICK_MAPS} maps. Run without --quick for the whole."));
    }
    notes
}

fn average(results: &[Result], of: impl Fn(&Result) -> f64) -> f64 {
    mean(&results.iter().map(of).collect::<Vec<_>>())
}

fn success(results: &[Result]) -> f64 {
    average(results, |result| f64::from(u8::from(result.fault.is_none())))
}

/// Of those that succeed; none where none does.
fn quality(results: &[Result]) -> Option<f64> {
    let sound: Vec<Result> = results.iter().copied().filter(|result| result.fault.is_none()).collect();
    (!sound.is_empty()).then(|| average(&sound, |result| result.quality))
}

/// Of one task.
fn expansions(results: &[Result]) -> f64 {
    average(results, Result::expansions_per_task)
}

/// Of a whole plan.
fn all_expansions(results: &[Result]) -> f64 {
    average(results, |result| result.expansions)
}

fn branching(results: &[Result]) -> f64 {
    average(results, |result| result.branching)
}

fn rows(way: &trial::Variant, results: &[Result]) -> Vec<Row> {
    let row = |metric: &str, unit, paper: Option<f64>, ours: Option<f64>| Row {
        table: TABLE,
        row: way.name.into(),
        metric: metric.into(),
        unit,
        paper,
        ours,
    };
    let [branches, nodes, time, succeeds, good] = way.paper.map(Some);
    let mut rows = vec![
        row("effective branching factor", "1", branches, Some(branching(results))),
        row("nodes expanded", "1", nodes, Some(expansions(results))),
        row("time", "ms", time, Some(average(results, |result| result.milliseconds))),
        row("success", "1", succeeds, Some(success(results))),
        row("quality", "1", good, quality(results)),
    ];
    if way.chain.contains('/') {
        rows.insert(2, row("nodes expanded, all legs", "1", None, Some(all_expansions(results))));
    }
    rows
}

fn findings(columns: &[Vec<Result>]) -> Vec<Finding> {
    let [.., alone, tunnel, legs] = columns else { return Vec::new() };
    let more = |of: f64, than: f64| of / than.max(1.0);
    let mut findings = vec![
        Finding::new(
            "static mesh alone: success (the maps are as hard as the paper's)",
            success(&columns[0]),
            Side::AtMost,
            0.30,
        ),
        Finding::new("tunnels: success", success(tunnel), Side::AtLeast, 0.95),
        Finding::new("tunnels and waypoints: success", success(legs), Side::AtLeast, 0.93),
        Finding::new("tunnels: quality", quality(tunnel), Side::AtLeast, 0.75),
        Finding::new("tunnels and waypoints: quality", quality(legs), Side::AtLeast, 0.70),
        Finding::new(
            "branching, tunnels over space-time alone",
            branching(tunnel) / branching(alone),
            Side::AtMost,
            0.5,
        ),
        Finding::new(
            "expansions, space-time alone over one leg",
            more(expansions(alone), expansions(legs)),
            Side::AtLeast,
            100.0,
        ),
        Finding::new(
            "waypoints against tunnels: expansions, one leg over a tunnel",
            more(expansions(legs), expansions(tunnel)),
            Side::AtMost,
            1.0 / 3.0,
        ),
        Finding::new(
            "waypoints against tunnels: expansions, all legs over a tunnel",
            more(all_expansions(legs), expansions(tunnel)),
            Side::AtMost,
            1.0,
        ),
    ];
    findings.extend(VARIANTS.iter().zip(columns).take(4).map(|(way, results)| matched(way, results)));
    findings
}

/// How far a row's success is from the paper's, which says whether the maps are like the paper's.
fn matched(way: &trial::Variant, results: &[Result]) -> Finding {
    let [_, _, _, paper, _] = way.paper;
    let name = format!("{}: success, apart from the paper's {paper:.2}", way.name);
    Finding::new(name, (success(results) - paper).abs(), Side::AtMost, 0.15)
}
