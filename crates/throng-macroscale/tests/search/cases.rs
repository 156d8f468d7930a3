//! Single cases that random ones seldom meet.

use super::worlds::{Grid, Network, Numbers, World, costs_from, random_grid};
use throng_macroscale::search::{Aim, AnytimeDynamicAstar, Astar, Blind, Budget, Effort, Settings, Status};

const EXACT: Settings = Settings { inflation: 1.0, step: 1.0, anew_share: 1.0 };

#[test]
fn the_start_may_be_a_goal() {
    let grid = Grid::new(3, 3);
    let mut search = AnytimeDynamicAstar::new(Settings::default(), Aim::At(4), &[8, 4]);
    assert_eq!(search.solve(&grid, Budget::unlimited()), Status::Optimal);
    let mut path = Vec::new();
    assert_eq!(search.path(&grid, &mut path), Some(0.0));
    assert_eq!(path, [4]);
}

#[test]
fn without_goals_there_is_no_way_until_one_comes() {
    let grid = Grid::new(3, 3);
    let mut search = AnytimeDynamicAstar::new(EXACT, Aim::At(0), &[]);
    assert_eq!(search.solve(&grid, Budget::unlimited()), Status::Unreachable);
    search.add_root(2);
    assert_eq!(search.solve(&grid, Budget::unlimited()), Status::Optimal);
    assert_eq!(search.cost(), Some(2.0));
}

#[test]
fn inflation_falls_by_steps_and_a_call_ends_one_round() {
    let mut numbers = Numbers(1);
    let mut grid = random_grid(40, 40, 20, &mut numbers);
    grid.set(0, 0.0);
    grid.set(grid.cell(39, 39), 0.0);
    let settings = Settings { inflation: 2.25, step: 0.5, anew_share: 1.0 };
    let mut search = AnytimeDynamicAstar::new(settings, Aim::At(0), &[grid.cell(39, 39)]);
    let mut next = || search.improve(&grid, Budget::unlimited());
    assert_eq!(next(), Status::Bounded(2.25));
    assert_eq!(next(), Status::Bounded(1.75));
    assert_eq!(next(), Status::Bounded(1.25));
    assert_eq!(next(), Status::Optimal);
    assert_eq!(next(), Status::Optimal);
}

#[test]
fn an_interrupted_search_goes_on_where_it_was() {
    let mut numbers = Numbers(2);
    let mut grid = random_grid(50, 50, 25, &mut numbers);
    let (start, goal) = (grid.cell(0, 0), grid.cell(49, 49));
    grid.set(start, 0.0);
    grid.set(goal, 0.0);
    let mut whole = AnytimeDynamicAstar::new(Settings::default(), Aim::At(start), &[goal]);
    assert_eq!(whole.solve(&grid, Budget::unlimited()), Status::Optimal);
    let mut slices = AnytimeDynamicAstar::new(Settings::default(), Aim::At(start), &[goal]);
    while let Status::OutOfBudget { .. } | Status::Bounded(_) = slices.improve(&grid, Budget::expansions(7)) {
    }
    assert_eq!(slices.effort(), whole.effort());
    assert_eq!(slices.cost(), whole.cost());
}

/// The rest of the best path is the best: walking along it costs nothing.
#[test]
fn walking_along_the_best_way_needs_no_search() {
    let mut numbers = Numbers(3);
    let mut grid = random_grid(50, 50, 20, &mut numbers);
    grid.set(0, 0.0);
    grid.set(grid.cell(49, 49), 0.0);
    let mut search = AnytimeDynamicAstar::new(Settings::default(), Aim::At(0), &[grid.cell(49, 49)]);
    assert_eq!(search.solve(&grid, Budget::unlimited()), Status::Optimal);
    let mut path = Vec::new();
    search.path(&grid, &mut path);
    let before = search.effort();
    for step in path.clone() {
        search.move_start(step);
        assert_eq!(search.improve(&grid, Budget::expansions(0)), Status::Optimal);
        let best = costs_from(&grid, step)[grid.cell(49, 49) as usize] as f32;
        assert!(search.cost().is_some_and(|cost| (cost - best).abs() <= 1e-4 * best));
    }
    assert_eq!(search.effort(), before);
}

/// A domain that changes behind the search's back is found out as soon as it matters for the way.
#[test]
fn a_change_that_nobody_told_of_is_found_when_the_way_is_looked_over() {
    let mut grid = Grid::new(20, 5);
    let goal = grid.cell(19, 2);
    let start = grid.cell(0, 2);
    let mut search = AnytimeDynamicAstar::new(EXACT, Aim::At(start), &[goal]);
    search.solve(&grid, Budget::unlimited());
    for row in 0..4 {
        let cell = grid.cell(10, row);
        grid.set(cell, f32::INFINITY);
    }
    search.move_start(grid.cell(0, 1));
    assert_eq!(search.solve(&grid, Budget::unlimited()), Status::Optimal);
    let best = costs_from(&grid, grid.cell(0, 1))[goal as usize] as f32;
    assert!(search.cost().is_some_and(|cost| (cost - best).abs() <= 1e-4 * best));
    assert_eq!(search.effort().restarts, 1);
}

/// A way outlives a new beginning. The nodes do not, so the search no longer knows the states along it when they change.
#[test]
fn a_way_from_before_a_new_beginning_is_given_up_when_it_is_cut() {
    let mut grid = Grid::new(60, 3);
    let (start, goal) = (grid.cell(0, 1), grid.cell(59, 1));
    let settings = Settings { inflation: 1.0, ..Settings::default() };
    let mut search = AnytimeDynamicAstar::new(settings, Aim::At(start), &[goal]);
    search.solve(&grid, Budget::unlimited());
    let mut near_goal = Vec::new();
    for row in 0..3 {
        near_goal.extend(grid.set(grid.cell(57, row), 1.0));
    }
    search.edges_changed(&grid, &near_goal);
    let bound = Some(f32::INFINITY);
    assert_eq!(search.improve(&grid, Budget::expansions(1)), Status::OutOfBudget { bound });
    assert_eq!(search.effort().restarts, 1);
    let mut near_start = Vec::new();
    for row in 0..3 {
        near_start.extend(grid.set(grid.cell(2, row), f32::INFINITY));
    }
    search.edges_changed(&grid, &near_start);
    assert_eq!(search.path(&grid, &mut Vec::new()), None);
    assert_eq!(search.improve(&grid, Budget::expansions(1)), Status::OutOfBudget { bound: None });
    assert_eq!(search.solve(&grid, Budget::unlimited()), Status::Unreachable);
}

/// Sums of thousands of costs that are no round numbers: rounding must not let a stale cost through.
#[test]
fn a_long_corridor_is_mended_without_beginning_anew() {
    let mut grid = Grid::new(3_000, 3);
    let mut numbers = Numbers(5);
    for cell in 0..grid.len() {
        grid.extra[cell as usize] = numbers.below(1_000) as f32 * 0.000_7;
    }
    let (start, goal) = (grid.cell(0, 1), grid.cell(2_999, 1));
    let mut search = AnytimeDynamicAstar::new(EXACT, Aim::At(start), &[goal]);
    search.solve(&grid, Budget::unlimited());
    for _ in 0..40 {
        let cell = grid.cell(1 + numbers.below(2_998), numbers.below(3));
        let extra = if numbers.chance(40) { f32::INFINITY } else { numbers.below(1_000) as f32 * 0.000_7 };
        let changed = grid.set(cell, extra);
        search.edges_changed(&grid, &changed);
        let status = search.solve(&grid, Budget::unlimited());
        let best = costs_from(&grid, start)[goal as usize];
        assert_eq!(status == Status::Unreachable, best == f64::INFINITY);
        assert!(
            best == f64::INFINITY
                || search.cost().is_some_and(|cost| (f64::from(cost) / best - 1.0).abs() < 1e-4)
        );
    }
    assert_eq!(search.effort().restarts, 0);
}

/// Costs that single precision loses beside the way's: no promise of an optimum, but a way, and an end.
#[test]
fn costs_that_are_lost_in_the_sum_lead_nobody_in_circles() {
    // 0 and 1 are far from the goal 6, by way of 5; 1 to 5 lie within a millimetre.
    let places = vec![(0.0, 0.0), (1e6, 0.0), (1e6, 0.01), (1e6, 0.02), (1e6, 0.03), (1e6, 0.04), (9e6, 0.0)];
    let mut edges = vec![(0, 1, 1.0), (5, 6, 1.0)];
    for a in 1..=5 {
        edges.extend((1..=5).filter(|&b| b != a).map(|b| (a, b, 1.0)));
    }
    let mut network = Network::new(places, &edges);
    let mut search = AnytimeDynamicAstar::new(EXACT, Aim::At(0), &[6]);
    for how in [4, 3, 4, 3, 4] {
        let changed = network.change(3, 3, how);
        search.edges_changed(&network, &changed);
        assert_eq!(search.solve(&network, Budget::expansions(10_000)), Status::Optimal);
        let mut path = Vec::new();
        assert!(search.path(&network, &mut path).is_some());
        assert_eq!((path[0], path[path.len() - 1]), (0, 6));
    }
}

/// Expansions are part of the results: another number on another machine would mean other ways there.
#[test]
fn the_work_is_the_same_everywhere() {
    let mut numbers = Numbers(11);
    let mut grid = random_grid(80, 80, 25, &mut numbers);
    let (start, goal) = (grid.cell(1, 1), grid.cell(78, 70));
    grid.set(start, 0.0);
    grid.set(goal, 0.0);
    let mut search = AnytimeDynamicAstar::new(Settings::default(), Aim::At(start), &[goal]);
    search.solve(&grid, Budget::unlimited());
    let changed = grid.set(grid.cell(40, 40), f32::INFINITY);
    search.edges_changed(&grid, &changed);
    search.solve(&grid, Budget::unlimited());
    let mut astar = Astar::default();
    astar.find(&grid, start, Aim::At(goal), Budget::unlimited());
    let astar_effort = astar.effort();
    astar.find(&Blind(&grid), start, Aim::At(goal), Budget::unlimited());
    assert!(astar.effort().expansions > 2 * astar_effort.expansions);
    assert_eq!(
        search.effort(),
        Effort { expansions: 2339, edges: 11378, reevaluations: 7, ..Effort::default() }
    );
    assert_eq!(astar_effort, Effort { expansions: 1579, edges: 7417, ..Effort::default() });
}
