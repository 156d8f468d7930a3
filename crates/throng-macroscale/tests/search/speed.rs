//! What an expansion costs in time and memory, on a grid that is worked out as it is asked.

use super::worlds::{Numbers, random_grid};
use std::time::Instant;
use throng_macroscale::search::{Aim, AnytimeDynamicAstar, Astar, Budget, Settings, Status};

const SIDE: u32 = 400;
const ROUNDS: usize = 15;

#[test]
#[ignore = "a bench"]
fn nanoseconds_per_expansion_and_bytes_per_node() {
    let mut numbers = Numbers(3);
    let mut grid = random_grid(SIDE, SIDE, 20, &mut numbers);
    let (start, goal) = (grid.cell(1, SIDE / 2), grid.cell(SIDE - 2, SIDE / 3));
    grid.set(start, 0.0);
    grid.set(goal, 0.0);
    let mut astar = Astar::default();
    for (name, inflation) in [("AD*, ε = 1", 1.0), ("AD*, ε from 2.5 to 1", 2.5)] {
        let settings = Settings { inflation, ..Settings::default() };
        let mut best = f64::INFINITY;
        let mut search = AnytimeDynamicAstar::new(settings, Aim::At(start), &[goal]);
        for _ in 0..ROUNDS {
            search.restart(Aim::At(start), &[goal]);
            let before = search.effort().expansions;
            let began = Instant::now();
            let status = search.solve(&grid, Budget::unlimited());
            let nanoseconds = began.elapsed().as_nanos() as f64;
            assert_eq!(status, Status::Optimal);
            best = best.min(nanoseconds / (search.effort().expansions - before) as f64);
        }
        assert_eq!(astar.find(&grid, start, Aim::At(goal), Budget::unlimited()), Status::Optimal);
        assert!((astar.cost().unwrap() - search.cost().unwrap()).abs() < 0.01);
        println!(
            "{name:22} {best:5.0} ns per expansion, {:6} expansions, {:6} nodes, {:4.1} branches, {:4.1} bytes per node",
            search.effort().expansions / ROUNDS as u64,
            search.nodes(),
            search.effort().branching(),
            search.bytes() as f64 / search.nodes() as f64,
        );
    }
    let mut best = f64::INFINITY;
    let mut expansions = 0;
    for _ in 0..ROUNDS {
        let before = astar.effort().expansions;
        let began = Instant::now();
        astar.find(&grid, start, Aim::At(goal), Budget::unlimited());
        expansions = astar.effort().expansions - before;
        best = best.min(began.elapsed().as_nanos() as f64 / expansions as f64);
    }
    println!("{:22} {best:5.0} ns per expansion, {expansions:6} expansions, {:6} nodes", "A*", astar.nodes());
}
