//! Figures, not a promise: what planning takes where every agent has a goal of its own, and how long the longest steps are with
//! and without a budget. `cargo run --release -p throng --example planners_at_scale`.

use std::time::Instant;
use throng::prelude::*;

/// Places as if drawn, the same in every run.
struct Places(u64);

impl Places {
    fn next(&mut self, side: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        side * (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    fn place(&mut self, side: f64) -> [f64; 2] {
        [self.next(side), self.next(side)]
    }
}

fn block([x, y]: [f64; 2], half: f64) -> [[f64; 2]; 4] {
    [[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]]
}

/// Blocks in lines, each a little aside, so that no two ways are as long.
fn crowd(
    blocks: usize,
    apart: f64,
    half: f64,
    agents: usize,
    planner: Navmesh,
) -> (Crowd, Vec<AgentId>, f64) {
    let side = blocks as f64 * apart;
    let mut places = Places(1);
    let mut builder = Crowd::builder()
        .dt(0.1)
        .threads(1)
        .walkable(&[[0.0, 0.0], [side, 0.0], [side, side], [0.0, side]])
        .macroscale(planner)
        .microscale(Orca::default());
    for index in 0..blocks * blocks {
        let middle = |line: usize| (line as f64 + 0.5) * apart;
        let aside = places.place(apart / 2.0 - half);
        let at = [middle(index % blocks) + aside[0] / 2.0, middle(index / blocks) + aside[1] / 2.0];
        builder = builder.obstacle(format!("block {index}"), &block(at, half));
    }
    let mut crowd = builder.build().expect("a sound map");
    let mut ids = Vec::new();
    while ids.len() < agents {
        let (from, to) = (places.place(side), places.place(side));
        let has_room =
            |[x, y]: [f64; 2]| block([x, y], 0.3).into_iter().all(|corner| crowd.is_walkable(corner));
        if has_room(from) && has_room(to) {
            ids.push(crowd.spawn(Agent::at(from).goal(to).radius(0.25)).expect("a place with room"));
        }
    }
    (crowd, ids, side)
}

fn step(crowd: &mut Crowd) -> f64 {
    let begin = Instant::now();
    crowd.step();
    begin.elapsed().as_secs_f64() * 1e3
}

fn tell(name: &str, times: &[f64]) {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (median, longest) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    let at = times.iter().position(|&time| time == longest).unwrap_or(0);
    println!(
        "{name}: median {median:.2} ms; first {:.1}, longest {:.1} medians (step {at})",
        times[0] / median,
        longest / median
    );
}

/// 2,000 among 25 blocks, with obstacles that come and go and agents that are sent elsewhere.
fn among_blocks(name: &str, planner: Navmesh) {
    let (mut crowd, ids, side) = crowd(5, 20.0, 5.0, 2_000, planner);
    crowd.prepare_paths();
    let mut places = Places(2);
    let times: Vec<f64> = (0..300)
        .map(|number| {
            match number % 60 {
                20 => crowd.add_obstacle("crate", &block([60.0, 60.0], 2.0)).expect("room for a crate"),
                40 => crowd.remove_obstacle("crate").expect("a crate"),
                50 => {
                    let goal = places.place(side);
                    ids[..500].iter().for_each(|&id| crowd.set_goal(id, goal).expect("an agent"));
                }
                55 => ids.iter().for_each(|&id| crowd.set_goal(id, places.place(side)).expect("an agent")),
                _ => {}
            }
            step(&mut crowd)
        })
        .collect();
    tell(name, &times);
}

/// 10,000 with goals of their own among 5,000 small obstacles.
fn in_a_forest(name: &str, planner: Navmesh) {
    let (mut crowd, _, _) = crowd(71, 7.0, 0.8, 10_000, planner);
    let begin = Instant::now();
    crowd.prepare_paths();
    let prepared = begin.elapsed().as_secs_f64() * 1e3;
    let times: Vec<f64> = (0..60)
        .map(|number| {
            match number {
                40 => crowd.remove_obstacle("block 1000").expect("a block"),
                50 => crowd.add_obstacle("block 1000", &block([200.0, 200.0], 1.0)).expect("room"),
                _ => {}
            }
            step(&mut crowd)
        })
        .collect();
    println!("{name}: free space took {prepared:.0} ms, the first step {:.0} ms", times[0]);
    tell(name, &times);
}

fn main() {
    let with = |budget: usize| Navmesh { budget, ..Navmesh::default() };
    among_blocks("25 blocks, all at once", with(0));
    among_blocks("25 blocks, budget 20,000", with(20_000));
    in_a_forest("forest, all at once", with(0));
    in_a_forest("forest, budget 100,000", with(100_000));
}
