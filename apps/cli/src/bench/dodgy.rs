//! dodgy_2d, the port of RVO2 to Rust. It has no neighbour search, so it gets a good one: agents are sorted into cells in
//! every step and worked through in that order, so that neighbours are in the cache.

use super::System;
use super::workload::{self, RandomCrossing};
use dodgy_2d::{Agent, AvoidanceOptions, Vec2};
use std::borrow::Cow;
use std::time::Instant;

pub const NAME: &str = "dodgy_2d";
const WITHOUT_SEARCH: &str = "dodgy_2d, without its search";

/// Two cells each way reach as far as agents look.
const CELL: f32 = workload::NEIGHBOR_DISTANCE as f32 * 0.5001;
const REACH: usize = 2;
const REACH_SQUARED: f32 = (workload::NEIGHBOR_DISTANCE * workload::NEIGHBOR_DISTANCE) as f32;
const MOST: usize = workload::MAX_NEIGHBORS;

pub struct Dodgy {
    /// In the order of cells.
    agents: Vec<Agent>,
    goal: Vec<Vec2>,
    preferred: Vec<Vec2>,
    cells: Cells,
    neighbors: Vec<Nearest>,
    chosen: Vec<Vec2>,
    /// The velocities and the move, once the neighbours are known; ns per agent-step.
    best_without_search: f64,
}

/// Where each cell's agents begin.
#[derive(Default)]
struct Cells {
    low: Vec2,
    columns: usize,
    rows: usize,
    first: Vec<u32>,
    /// Cell of each agent before the sort.
    cell: Vec<u32>,
    agents: Vec<Agent>,
    goal: Vec<Vec2>,
}

/// The nearest others, nearest first.
#[derive(Clone)]
struct Nearest {
    count: usize,
    squared: [f32; MOST],
    index: [u32; MOST],
}

impl Dodgy {
    pub fn new(crowd: &RandomCrossing) -> Dodgy {
        let point = |place: &glam::DVec2| Vec2::new(place.x as f32, place.y as f32);
        let agent = |place| Agent {
            position: point(place),
            velocity: Vec2::ZERO,
            radius: workload::RADIUS as f32,
            avoidance_responsibility: 1.0,
        };
        let count = crowd.len();
        Dodgy {
            agents: crowd.position.iter().map(agent).collect(),
            goal: crowd.goal.iter().map(point).collect(),
            preferred: vec![Vec2::ZERO; count],
            cells: Cells::default(),
            neighbors: vec![Nearest::none(); count],
            chosen: vec![Vec2::ZERO; count],
            best_without_search: f64::INFINITY,
        }
    }

    /// One step; returns the seconds of the search and of the rest.
    fn step(&mut self) -> [f64; 2] {
        let begin = Instant::now();
        self.cells.sort(&mut self.agents, &mut self.goal);
        self.search();
        let searched = begin.elapsed();
        // Not timed: what an agent prefers is for its user to say.
        for ((preferred, agent), goal) in self.preferred.iter_mut().zip(&self.agents).zip(&self.goal) {
            *preferred = towards(agent.position, *goal);
        }
        let begin = Instant::now();
        self.choose();
        for (agent, &velocity) in self.agents.iter_mut().zip(&self.chosen) {
            agent.velocity = velocity;
            agent.position += velocity * workload::DT as f32;
        }
        [searched, begin.elapsed()].map(|time| time.as_secs_f64())
    }

    fn search(&mut self) {
        for (index, (nearest, agent)) in self.neighbors.iter_mut().zip(&self.agents).enumerate() {
            *nearest = Nearest::none();
            let mut range = REACH_SQUARED;
            self.cells.spans_around(agent.position, |span| {
                for other in span {
                    let squared = self.agents[other].position.distance_squared(agent.position);
                    if squared < range && other != index {
                        range = nearest.add(squared, other as u32).min(range);
                    }
                }
            });
        }
    }

    fn choose(&mut self) {
        let options = AvoidanceOptions {
            obstacle_margin: workload::RADIUS as f32,
            time_horizon: workload::TIME_HORIZON as f32,
            obstacle_time_horizon: 1.0,
        };
        let mut seen: Vec<Cow<'_, Agent>> = Vec::with_capacity(MOST);
        for (index, agent) in self.agents.iter().enumerate() {
            let nearest = &self.neighbors[index];
            seen.clear();
            seen.extend(
                nearest.index[..nearest.count]
                    .iter()
                    .map(|&other| Cow::Borrowed(&self.agents[other as usize])),
            );
            self.chosen[index] = agent.compute_avoiding_velocity(
                &seen,
                &[],
                self.preferred[index],
                workload::MAX_SPEED as f32,
                workload::DT as f32,
                &options,
            );
        }
    }
}

fn towards(position: Vec2, goal: Vec2) -> Vec2 {
    // dodgy_2d brings a glam of its own.
    let own = |vector: Vec2| glam::Vec2::new(vector.x, vector.y);
    let preferred = workload::preferred(own(position), own(goal));
    Vec2::new(preferred.x, preferred.y)
}

impl Nearest {
    const fn none() -> Nearest {
        Nearest { count: 0, squared: [f32::INFINITY; MOST], index: [0; MOST] }
    }

    /// Keeps another; returns how near the next one must be to count.
    #[inline]
    fn add(&mut self, squared: f32, index: u32) -> f32 {
        let mut place = self.count.min(MOST - 1);
        while place > 0 && self.squared[place - 1] > squared {
            (self.squared[place], self.index[place]) = (self.squared[place - 1], self.index[place - 1]);
            place -= 1;
        }
        (self.squared[place], self.index[place]) = (squared, index);
        self.count = (self.count + 1).min(MOST);
        self.squared[MOST - 1]
    }
}

impl Cells {
    /// A counting sort of all agents by cell.
    fn sort(&mut self, agents: &mut Vec<Agent>, goal: &mut Vec<Vec2>) {
        let (mut low, mut high) = (Vec2::MAX, Vec2::MIN);
        for agent in agents.iter() {
            (low, high) = (low.min(agent.position), high.max(agent.position));
        }
        self.low = low;
        (self.columns, self.rows) =
            (((high.x - low.x) / CELL) as usize + 1, ((high.y - low.y) / CELL) as usize + 1);
        self.first.clear();
        self.first.resize(self.columns * self.rows + 1, 0);
        self.cell.clear();
        for agent in agents.iter() {
            let (column, row) = self.place(agent.position);
            let cell = row * self.columns + column;
            self.cell.push(cell as u32);
            self.first[cell + 1] += 1;
        }
        for cell in 1..self.first.len() {
            self.first[cell] += self.first[cell - 1];
        }
        let mut next = self.first.clone();
        self.agents.clone_from(agents);
        self.goal.clone_from(goal);
        for (old, &cell) in self.cell.iter().enumerate() {
            let new = next[cell as usize] as usize;
            next[cell as usize] += 1;
            agents[new] = self.agents[old].clone();
            goal[new] = self.goal[old];
        }
    }

    fn place(&self, position: Vec2) -> (usize, usize) {
        let place = (position - self.low) / CELL;
        (place.x as usize, place.y as usize)
    }

    /// Agents in the cells around, one run of indices per row of cells.
    #[inline]
    fn spans_around(&self, position: Vec2, mut see: impl FnMut(std::ops::Range<usize>)) {
        let (column, row) = self.place(position);
        let (left, right) = (column.saturating_sub(REACH), (column + REACH).min(self.columns - 1));
        for row in row.saturating_sub(REACH)..=(row + REACH).min(self.rows - 1) {
            let start = row * self.columns;
            see(self.first[start + left] as usize..self.first[start + right + 1] as usize);
        }
    }
}

impl System for Dodgy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn run(&mut self, steps: usize) -> anyhow::Result<f64> {
        let [mut search, mut rest] = [0.0, 0.0];
        for _ in 0..steps {
            let times = self.step();
            search += times[0];
            rest += times[1];
        }
        let ns = rest * 1e9 / (self.agents.len() * steps) as f64;
        self.best_without_search = self.best_without_search.min(ns);
        Ok(search + rest)
    }

    fn mean_distance(&mut self) -> anyhow::Result<f64> {
        let places = self.agents.iter().zip(&self.goal);
        let sum: f64 = places.map(|(agent, goal)| f64::from(agent.position.distance(*goal))).sum();
        Ok(sum / self.agents.len() as f64)
    }

    fn part(&self) -> Option<(&'static str, f64)> {
        Some((WITHOUT_SEARCH, self.best_without_search))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::workload::Workload;

    #[test]
    fn the_search_finds_the_nearest() {
        let mut dodgy = Dodgy::new(&RandomCrossing::new(Workload::of(400)));
        dodgy.cells.sort(&mut dodgy.agents, &mut dodgy.goal);
        dodgy.search();
        for (index, agent) in dodgy.agents.iter().enumerate() {
            let squared = |other: usize| dodgy.agents[other].position.distance_squared(agent.position);
            let mut others: Vec<usize> =
                (0..400).filter(|&other| other != index && squared(other) < REACH_SQUARED).collect();
            others.sort_by(|&a, &b| squared(a).total_cmp(&squared(b)));
            others.truncate(MOST);
            let nearest = &dodgy.neighbors[index];
            let found: Vec<usize> =
                nearest.index[..nearest.count].iter().map(|&other| other as usize).collect();
            assert_eq!(found, others);
        }
    }
}
