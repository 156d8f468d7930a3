//! Graphs to search, and a slow and plain answer for each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use throng_macroscale::search::Domain;

/// A domain that tests can change.
pub trait World: Domain<State = u32> {
    /// How many states there are; they are numbered from 0.
    fn len(&self) -> u32;

    /// Changes something at or between two states, and names every state whose outgoing edges may have changed.
    fn change(&mut self, a: u32, b: u32, how: u8) -> Vec<u32>;

    /// The same for those whose incoming edges may have changed.
    fn change_into(&mut self, a: u32, b: u32, how: u8) -> Vec<u32>;

    /// Changes the heuristic or the penalty, where there is something to change.
    fn change_heuristic(&mut self, _turn: u32) {}
}

/// Costs of the best ways from a state to all others in double precision (Dijkstra's algorithm, without a heuristic).
pub fn costs_from(world: &impl World, start: u32) -> Vec<f64> {
    let mut costs = vec![f64::INFINITY; world.len() as usize];
    costs[start as usize] = 0.0;
    let mut open = BinaryHeap::from([Reverse((0.0_f64.to_bits(), start))]);
    let mut edges = Vec::new();
    while let Some(Reverse((bits, state))) = open.pop() {
        if f64::from_bits(bits) > costs[state as usize] {
            continue;
        }
        edges.clear();
        world.successors(state, &mut edges);
        for &(next, cost) in &edges {
            let total = costs[state as usize] + f64::from(cost);
            if total < costs[next as usize] {
                costs[next as usize] = total;
                open.push(Reverse((total.to_bits(), next)));
            }
        }
    }
    costs
}

/// A sparse graph with directed edges between places in the plane. Costs are at least distances, which are the heuristic:
/// as tight as can be, so that rounding makes it inconsistent now and then.
#[derive(Clone, Debug)]
pub struct Network {
    pub places: Vec<(f32, f32)>,
    out: BTreeMap<(u32, u32), f32>,
    into: BTreeMap<(u32, u32), f32>,
    blocked: Vec<bool>,
    pub ends: Vec<u32>,
}

impl Network {
    pub fn new(places: Vec<(f32, f32)>, edges: &[(u32, u32, f32)]) -> Network {
        let blocked = vec![false; places.len()];
        let mut network =
            Network { places, out: BTreeMap::new(), into: BTreeMap::new(), blocked, ends: Vec::new() };
        for &(from, to, factor) in edges {
            network.set(from % network.len(), to % network.len(), Some(factor));
        }
        network
    }

    fn distance(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (self.places[a as usize], self.places[b as usize]);
        ((a.0 - b.0).powi(2) + (a.1 - b.1).powi(2)).sqrt()
    }

    fn set(&mut self, from: u32, to: u32, factor: Option<f32>) {
        // Never zero, also between two nodes at one place.
        let cost = factor.map(|factor| (self.distance(from, to) * factor).max(0.01));
        self.out.remove(&(from, to));
        self.into.remove(&(to, from));
        if let Some(cost) = cost {
            self.out.insert((from, to), cost);
            self.into.insert((to, from), cost);
        }
    }

    fn list(&self, edges: &BTreeMap<(u32, u32), f32>, state: u32, out: &mut Vec<(u32, f32)>) {
        if !self.blocked[state as usize] {
            let edges = edges.range((state, 0)..=(state, u32::MAX)).map(|(pair, cost)| (pair.1, *cost));
            out.extend(edges.filter(|edge| !self.blocked[edge.0 as usize]));
        }
    }

    fn neighbors(&self, edges: &BTreeMap<(u32, u32), f32>, state: u32) -> Vec<u32> {
        edges.range((state, 0)..=(state, u32::MAX)).map(|(pair, _)| pair.1).chain([state]).collect()
    }
}

impl Domain for Network {
    type State = u32;

    fn successors(&self, state: u32, out: &mut Vec<(u32, f32)>) {
        self.list(&self.out, state, out);
    }

    fn predecessors(&self, state: u32, out: &mut Vec<(u32, f32)>) {
        self.list(&self.into, state, out);
    }

    fn heuristic(&self, from: u32, to: u32) -> f32 {
        self.distance(from, to)
    }

    fn is_end(&self, state: u32) -> bool {
        self.ends.contains(&state)
    }

    fn to_end(&self, state: u32) -> f32 {
        self.ends.iter().map(|&end| self.distance(state, end)).fold(f32::INFINITY, f32::min)
    }
}

impl World for Network {
    fn len(&self) -> u32 {
        self.places.len() as u32
    }

    fn change(&mut self, a: u32, b: u32, how: u8) -> Vec<u32> {
        match how % 5 {
            0 => self.set(a, b, None),
            1 => self.set(a, b, Some(1.0)),
            2 => self.set(a, b, Some(1.0 + f32::from(how) * 0.037)),
            _ => {
                self.blocked[a as usize] = how % 5 == 3;
                return self.neighbors(&self.into, a);
            }
        }
        vec![a]
    }

    fn change_into(&mut self, a: u32, b: u32, how: u8) -> Vec<u32> {
        self.change(a, b, how);
        if how % 5 >= 3 { self.neighbors(&self.out, a) } else { vec![b] }
    }
}

/// A grid with eight neighbours, none across a corner. A cell makes steps on and off it dearer.
#[derive(Clone, Debug)]
pub struct Grid {
    pub width: u32,
    pub height: u32,
    /// By how much a cell makes steps dearer; infinite where it is blocked.
    pub extra: Vec<f32>,
    pub ends: Vec<u32>,
}

impl Grid {
    pub fn new(width: u32, height: u32) -> Grid {
        Grid { width, height, extra: vec![0.0; (width * height) as usize], ends: Vec::new() }
    }

    pub fn cell(&self, x: u32, y: u32) -> u32 {
        y * self.width + x
    }

    /// Sets a cell, and names all whose edges may have changed by that: it and its neighbours, who may cut its corner.
    pub fn set(&mut self, cell: u32, extra: f32) -> Vec<u32> {
        self.extra[cell as usize] = extra;
        self.around(cell)
    }

    /// A cell and its neighbours, free or not.
    pub fn around(&self, cell: u32) -> Vec<u32> {
        let (x, y) = (cell % self.width, cell / self.width);
        let columns = x.saturating_sub(1)..=(x + 1).min(self.width - 1);
        let rows = y.saturating_sub(1)..=(y + 1).min(self.height - 1);
        rows.flat_map(|y| columns.clone().map(move |x| (x, y))).map(|(x, y)| self.cell(x, y)).collect()
    }

    fn extra_at(&self, x: u32, y: u32) -> f32 {
        // A wrapped number is out of range as well.
        if x < self.width && y < self.height { self.extra[self.cell(x, y) as usize] } else { f32::INFINITY }
    }
}

impl Domain for Grid {
    type State = u32;

    #[inline]
    fn successors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        let (x, y) = (cell % self.width, cell / self.width);
        let here = self.extra[cell as usize];
        if here == f32::INFINITY {
            return;
        }
        let west = self.extra_at(x.wrapping_sub(1), y);
        let east = self.extra_at(x + 1, y);
        for row in [y.wrapping_sub(1), y, y + 1] {
            let beside = self.extra_at(x, row);
            if row != y && beside < f32::INFINITY {
                out.push((self.cell(x, row), 1.0 + (here + beside) / 2.0));
            }
            for (column, side) in [(x.wrapping_sub(1), west), (x + 1, east)] {
                if side < f32::INFINITY && beside < f32::INFINITY {
                    let extra = self.extra_at(column, row);
                    if extra < f32::INFINITY {
                        let length = if row == y { 1.0 } else { std::f32::consts::SQRT_2 };
                        out.push((self.cell(column, row), length * (1.0 + (here + extra) / 2.0)));
                    }
                }
            }
        }
    }

    #[inline]
    fn predecessors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        self.successors(cell, out);
    }

    #[inline]
    fn heuristic(&self, from: u32, to: u32) -> f32 {
        let dx = (from % self.width).abs_diff(to % self.width) as f32;
        let dy = (from / self.width).abs_diff(to / self.width) as f32;
        dx.max(dy) + (std::f32::consts::SQRT_2 - 1.0) * dx.min(dy)
    }

    fn is_end(&self, state: u32) -> bool {
        self.ends.contains(&state)
    }

    fn to_end(&self, state: u32) -> f32 {
        self.ends.iter().map(|&end| self.heuristic(state, end)).fold(f32::INFINITY, f32::min)
    }
}

impl World for Grid {
    fn len(&self) -> u32 {
        self.width * self.height
    }

    fn change(&mut self, a: u32, _: u32, how: u8) -> Vec<u32> {
        let extra = match how % 4 {
            0 | 1 => f32::INFINITY,
            2 => 0.0,
            _ => f32::from(how) * 0.013,
        };
        self.set(a, extra)
    }

    fn change_into(&mut self, a: u32, b: u32, how: u8) -> Vec<u32> {
        self.change(a, b, how)
    }
}

/// A grid with a tunnel: penalties are distances from a few cells, or anything at all.
#[derive(Clone, Debug)]
pub struct Tunnel {
    grid: Grid,
    cells: Vec<u32>,
    wild: bool,
}

impl Tunnel {
    pub fn new(grid: Grid, turn: u32, wild: bool) -> Tunnel {
        let mut tunnel = Tunnel { grid, cells: Vec::new(), wild };
        tunnel.change_heuristic(turn);
        tunnel
    }
}

impl Domain for Tunnel {
    type State = u32;

    fn successors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        self.grid.successors(cell, out);
    }

    fn predecessors(&self, cell: u32, out: &mut Vec<(u32, f32)>) {
        self.grid.predecessors(cell, out);
    }

    fn heuristic(&self, from: u32, to: u32) -> f32 {
        self.grid.heuristic(from, to)
    }

    fn penalty(&self, cell: u32) -> f32 {
        if self.wild {
            return (cell.wrapping_mul(self.cells[0] * 2 + 1) % 11) as f32 * 1.7;
        }
        self.cells.iter().map(|&inside| self.grid.heuristic(cell, inside)).fold(f32::INFINITY, f32::min)
    }

    fn looseness(&self) -> f32 {
        if self.wild { f32::INFINITY } else { 2.0 }
    }
}

impl World for Tunnel {
    fn len(&self) -> u32 {
        self.grid.len()
    }

    fn change(&mut self, a: u32, b: u32, how: u8) -> Vec<u32> {
        self.grid.change(a, b, how)
    }

    fn change_into(&mut self, a: u32, b: u32, how: u8) -> Vec<u32> {
        self.grid.change(a, b, how)
    }

    fn change_heuristic(&mut self, turn: u32) {
        let mut numbers = Numbers(turn.into());
        self.cells = (0..3).map(|_| numbers.below(self.grid.len())).collect();
    }
}

/// A stream of numbers for worlds that need not shrink (splitmix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % u64::from(limit)) as u32
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
}

/// A grid with this percentage of its cells blocked.
pub fn random_grid(width: u32, height: u32, percent: u32, numbers: &mut Numbers) -> Grid {
    let mut grid = Grid::new(width, height);
    for cell in 0..grid.len() {
        if numbers.chance(percent) {
            grid.extra[cell as usize] = f32::INFINITY;
        }
    }
    grid
}
