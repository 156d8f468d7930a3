//! The seven ways of planning of table 1, on one map.

use super::checker::{Fault, GOAL_RADIUS, fault};
use super::maps::{Map, RADIUS, SIZE};
use super::planning::chain::{Atlas, Chain, Level, Problem, Site, Tuning, plan};
use super::planning::domain::space_time::Walk;
use super::planning::search::Settings;
use super::planning::tunnel::Width;
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
    /// Of the finest domain, over all legs.
    pub expansions: f64,
    /// Legs.
    pub searches: f64,
    pub milliseconds: f64,
    pub fault: Option<Fault>,
    /// The shortest static path over the path that was planned.
    pub quality: f64,
}

impl Result {
    /// As the paper counts: each leg is a task of its own.
    pub fn expansions_per_task(&self) -> f64 {
        self.expansions / self.searches.max(1.0)
    }
}

/// How table 1 is planned, the same for all rows.
pub fn tuning() -> Tuning {
    let default = Tuning::default();
    Tuning {
        goal_radius: GOAL_RADIUS,
        // The paper's limit.
        budget: 10_000,
        // So fine that a search in space-time alone seldom ends within the limit, as in the paper, and that all its 21 actions
        // are there at most speeds: with few speeds most states are at the lowest or the highest.
        walk: Walk { step: 0.5, speed_step: 0.2, lattice: 0.0625, ..default.walk },
        // The first plan is taken, in every domain.
        in_space: Settings::default(),
        in_time: Settings::default(),
        // Fine enough that a body fills a part of a polygon, and so dear that going round it pays.
        widest_polygon: 3.0,
        density_weight: 20.0,
        // Altogether as wide as a cell of the grid that it is made from: λ maps a cell to the places in it.
        width: Width { space: default.cell / 2.0, ..default.width },
        // Steps are short, so a plan takes many.
        leg_budget: 500,
        patience: 500,
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
