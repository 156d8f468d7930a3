//! Mending after a local change against planning anew.

use super::worlds::{Grid, Numbers, World, random_grid};
use throng_macroscale::search::{Aim, AnytimeDynamicAstar, Budget, Settings, Status};

const SIDE: u32 = 200;
const WORLDS: u64 = 30;

/// The best path at once and no new beginning, so that expansions can be compared.
const MENDING: Settings = Settings { inflation: 1.0, step: 0.5, anew_share: f32::INFINITY };

fn solved(settings: Settings, grid: &Grid, start: u32, goal: u32) -> AnytimeDynamicAstar<u32> {
    let mut search = AnytimeDynamicAstar::new(settings, Aim::At(start), &[goal]);
    search.solve(grid, Budget::unlimited());
    search
}

/// Blocks or frees the cells around a place, and names all whose edges changed.
fn change_around(grid: &mut Grid, center: u32, reach: u32, free: bool, keep: [u32; 2]) -> Vec<u32> {
    let (x, y) = (center % SIDE, center / SIDE);
    let mut changed = Vec::new();
    for row in y.saturating_sub(reach)..=(y + reach).min(SIDE - 1) {
        for column in x.saturating_sub(reach)..=(x + reach).min(SIDE - 1) {
            let cell = grid.cell(column, row);
            if !keep.contains(&cell) {
                changed.extend(grid.set(cell, if free { 0.0 } else { f32::INFINITY }));
            }
        }
    }
    changed.sort_unstable();
    changed.dedup();
    changed
}

/// Expansions of mending over those of planning anew, after `change` on each of many grids.
fn ratios(
    settings: Settings,
    mut change: impl FnMut(&mut Grid, &[u32], &mut Numbers) -> Vec<u32>,
) -> Vec<f64> {
    let mut ratios = Vec::new();
    for seed in 0..WORLDS {
        let mut numbers = Numbers(seed);
        let mut grid = random_grid(SIDE, SIDE, 25, &mut numbers);
        let (start, goal) = (grid.cell(5, 5 + numbers.below(190)), grid.cell(194, 5 + numbers.below(190)));
        grid.set(start, 0.0);
        grid.set(goal, 0.0);
        let mut search = solved(settings, &grid, start, goal);
        let mut path = Vec::new();
        if search.path(&grid, &mut path).is_none() {
            continue;
        }
        let changed = change(&mut grid, &path, &mut numbers);
        let before = search.effort().expansions;
        search.edges_changed(&grid, &changed);
        let status = search.solve(&grid, Budget::unlimited());
        let anew = solved(MENDING, &grid, start, goal);
        assert_eq!(status == Status::Unreachable, anew.cost().is_none());
        if let (Some(mended), Some(cost)) = (search.cost(), anew.cost()) {
            assert!((mended - cost).abs() <= 1e-4 * cost, "mended {mended}, anew {cost}");
            let expansions = search.effort().expansions - before;
            ratios.push(expansions as f64 / anew.effort().expansions as f64);
        }
    }
    ratios.sort_by(f64::total_cmp);
    ratios
}

fn report(what: &str, ratios: &[f64]) -> f64 {
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize];
    let (low, median, high) = (at(0.1), at(0.5), at(0.9));
    println!("{what:46} {low:6.3} {median:6.3} {high:6.3}  of {}", ratios.len());
    median
}

/// Blocks 5 × 5 cells around a part of the way.
fn block_on_way(share: f64) -> impl FnMut(&mut Grid, &[u32], &mut Numbers) -> Vec<u32> {
    move |grid, path, _| {
        let center = path[((path.len() - 1) as f64 * share) as usize];
        change_around(grid, center, 2, false, [path[0], path[path.len() - 1]])
    }
}

#[test]
fn mending_a_local_change_expands_fewer_states_than_planning_anew() {
    println!("expansions of mending over planning anew:          10 %    50 %    90 %");
    for (what, share) in [("near the start", 0.05), ("in the middle", 0.5), ("three quarters along", 0.75)] {
        let median =
            report(&format!("5 × 5 cells blocked on the way {what}"), &ratios(MENDING, block_on_way(share)));
        assert!(median < 1.0, "mending expands {median} times what planning anew does");
    }
    let anywhere = ratios(MENDING, |grid, path, numbers| {
        let center = numbers.below(grid.len());
        change_around(grid, center, 2, numbers.chance(50), [path[0], path[path.len() - 1]])
    });
    assert!(report("5 × 5 cells blocked or freed anywhere", &anywhere) < 0.1);
    report("5 × 5 cells blocked on the way near the goal", &ratios(MENDING, block_on_way(0.95)));
}

/// With the default settings a search plans anew where that is cheaper, so a change costs little more than that at worst.
#[test]
fn planning_anew_is_chosen_where_mending_is_dearer() {
    println!("expansions of what is chosen over planning anew:   10 %    50 %    90 %");
    let choosing = Settings { inflation: 1.0, ..Settings::default() };
    for (what, share) in [("near the start", 0.05), ("in the middle", 0.5), ("near the goal", 0.95)] {
        let ratios = ratios(choosing, block_on_way(share));
        let median = report(&format!("5 × 5 cells blocked on the way {what}"), &ratios);
        assert!(median <= 1.01, "{median} times what planning anew expands");
    }
    for per_mille in [1, 10, 100] {
        for (what, settings) in [("mended", MENDING), ("chosen", choosing)] {
            let median = report(
                &format!("{per_mille} of 1000 cells blocked, {what}"),
                &ratios(settings, block_some(per_mille)),
            );
            assert!(settings == MENDING || median <= 1.2);
        }
    }
}

fn block_some(per_mille: u32) -> impl FnMut(&mut Grid, &[u32], &mut Numbers) -> Vec<u32> {
    move |grid, path, numbers| {
        let mut changed = Vec::new();
        for cell in 0..grid.len() {
            if numbers.below(1000) < per_mille && cell != path[0] && cell != path[path.len() - 1] {
                changed.extend(grid.set(cell, f32::INFINITY));
            }
        }
        changed
    }
}

/// A walk with an agent in the way now and then, and 200 expansions a step.
#[test]
fn a_walk_through_a_changing_grid_arrives() {
    let mut numbers = Numbers(7);
    let mut grid = random_grid(60, 60, 20, &mut numbers);
    let (mut start, goal) = (grid.cell(1, 1), grid.cell(58, 58));
    grid.set(start, 0.0);
    grid.set(goal, 0.0);
    let settings = Settings { inflation: 3.0, ..MENDING };
    let mut search = AnytimeDynamicAstar::new(settings, Aim::At(start), &[goal]);
    let mut path = Vec::new();
    let mut steps = 0;
    while start != goal && steps < 2_000 {
        let cell = numbers.below(grid.len());
        if cell != start && cell != goal {
            let extra = if numbers.chance(30) { f32::INFINITY } else { 0.0 };
            let changed = grid.set(cell, extra);
            search.edges_changed(&grid, &changed);
        }
        let status = search.improve(&grid, Budget::expansions(200));
        let cost = search.path(&grid, &mut path);
        assert_eq!(
            cost.is_some(),
            !matches!(status, Status::Unreachable | Status::OutOfBudget { bound: None })
        );
        if path.len() > 1 {
            start = path[1];
            search.move_start(start);
        }
        steps += 1;
    }
    assert_eq!(start, goal, "not there after {steps} steps");
}
