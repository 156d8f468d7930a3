//! The seven ways of planning of table 1, on one map.

use super::checker::{Fault, GOAL_RADIUS, fault};
use super::maps::{Map, RADIUS, SIZE};
use super::planning::chain::{Atlas, Chain, Level, Problem, Site, Tuning, plan};
use super::planning::domain::space_time::Walk;
use super::planning::search::Settings;
use glam::DVec2;
use std::time::Instant;

/// A row of the table: its chain, and the paper's figures.
pub struct Variant {
    pub name: &'static str,
    pub chain: &'static str,
    /// Branching factor, nodes, ms, success, quality.
    pub paper: [f64; 5],
}

pub const VARIANTS: [Variant; 7] = [
    Variant { name: "T(Σ1)", chain: "navmesh", paper: [3.7, 43.0, 3.0, 0.17, 0.76] },
    Variant { name: "T(Σ2)", chain: "dynamic-navmesh", paper: [4.6, 85.0, 8.0, 0.23, 0.57] },
    Variant {
        name: "T(Σ2, Π(Σ1))", chain: "navmesh>dynamic-navmesh", paper: [2.1, 17.0, 5.0, 0.32, 0.65]
    },
    Variant { name: "T(Σ3)", chain: "grid", paper: [7.4, 187.0, 18.0, 0.68, 0.73] },
    Variant { name: "T(Σ4)", chain: "space-time", paper: [21.5, 1e4, 2487.0, 0.34, 0.26] },
    Variant {
        name: "T(Σ4, Π(Σ3, Σ2, Σ1))",
        chain: "navmesh>dynamic-navmesh>grid>space-time",
        paper: [5.6, 765.0, 136.0, 0.92, 0.64],
    },
    Variant {
        name: "ΣT(Σ4, Π(Σ3, Σ2, Σ1))",
        chain: "navmesh>dynamic-navmesh/grid>space-time",
        paper: [5.4, 75.0, 8.0, 0.86, 0.58],
    },
];

/// What a way of planning came to on a map.
#[derive(Clone, Copy, Debug)]
pub struct Result {
    pub branching: f64,
    pub expansions: f64,
    /// Legs.
    pub searches: f64,
    pub milliseconds: f64,
    pub fault: Option<Fault>,
    /// The shortest static path over the path that was planned.
    pub quality: f64,
}

/// How table 1 is planned, the same for all rows: for few expansions, as the paper has it, at the cost of some length.
pub fn tuning() -> Tuning {
    let default = Tuning::default();
    Tuning {
        goal_radius: GOAL_RADIUS,
        // The paper's limit.
        budget: 10_000,
        // Half as many steps make a way.
        walk: Walk { step: 2.0, ..default.walk },
        in_time: Settings { inflation: 8.0, ..default.in_time },
        // A leg that is not found soon is hardly ever found: another end helps more.
        leg_budget: 50,
        // Less than a step is hard to meet.
        waypoint_radius: 2.0,
        patience: 40,
        ..default
    }
}

/// Tries all ways of planning on a map.
pub fn attempt(map: &Map, tuning: Tuning) -> Option<[Result; 7]> {
    let (walls, published) = (map.walls(), map.published());
    let all: Chain = VARIANTS[5].chain.parse().ok()?;
    let (low, high) = (DVec2::ZERO, DVec2::splat(SIZE));
    let site = Site { walls: &walls, links: &[], low, high, radius: RADIUS };
    let atlas = Atlas::new(site, &all, tuning).ok()?;
    let problem =
        Problem { from: map.start, velocity: DVec2::ZERO, to: map.goal, begin: 0.0, arrive: None, own: None };
    let shortest = plan(&atlas, &published, &Chain::from(Level::Navmesh), &problem).first()?.length();
    let attempt = |way: &Variant| {
        let chain: Chain = way.chain.parse().ok()?;
        let began = Instant::now();
        let outcomes = plan(&atlas, &published, &chain, &problem);
        let milliseconds = began.elapsed().as_secs_f64() * 1e3;
        let last = outcomes.last().filter(|last| last.level == chain.last());
        let trajectory = last.map_or(&[][..], |last| &last.trajectory);
        let effort = last.map(|last| last.effort).unwrap_or_default();
        Some(Result {
            branching: effort.branching(),
            expansions: effort.expansions as f64,
            searches: last.map_or(0.0, |last| last.searches as f64),
            milliseconds,
            fault: fault(map, trajectory),
            quality: last.map_or(0.0, |last| shortest / last.length().max(shortest)),
        })
    };
    let results: Vec<Result> = VARIANTS.iter().filter_map(attempt).collect();
    results.try_into().ok()
}
