//! Random maps of 100 m × 100 m with obstacles that stand and obstacles that move, a start and a goal.
//!
//! The paper says no more than that of its own. What was chosen follows from its rows 1 and 4: a way that knows only of walls
//! is free of collisions on 17 maps of 100, one that also knows where bodies are at the moment on 68. So of what can move, most
//! hardly does: [`STANDING`] bodies stay where they are for as long as the plan lasts, and [`WALKING`] walk. Blocks and
//! walls are as many as make a search in space-time alone fail about as often as the paper's.

use super::planning::Wall;
use super::planning::domain::occupancy::{Occupancy, Trajectory};
use super::planning::navmesh::{Search, Terrain};
use super::rng::{Purpose, Stream, stream};
use glam::{DVec2, Vec2};

pub const SIZE: f64 = 100.0;
/// Of the agent that plans, m.
pub const RADIUS: f64 = 0.25;
/// Blocks, and how long and wide half of one is, m.
const BLOCKS: usize = 20;
const BLOCK: [(f64, f64); 2] = [(0.8, 4.0), (0.8, 4.0)];
/// Walls, and how long and wide half of one is, m. Around long ones one has to see far ahead.
const WALLS: usize = 25;
const WALL: [(f64, f64); 2] = [(4.0, 12.0), (0.2, 0.2)];
/// Bodies that could move, and stand.
pub const STANDING: usize = 200;
/// Bodies that walk.
pub const WALKING: usize = 20;
/// Of both, m.
const MOVER_RADIUS: (f64, f64) = (0.4, 0.6);
/// Of those that walk, m/s.
const MOVER_SPEED: (f64, f64) = (0.7, 1.4);
/// They walk on for so long, s.
const HORIZON: f64 = 240.0;
/// As often may a mover want to go where it cannot.
const MOST_MISSES: u32 = 200;
/// The goal is no nearer than this, m.
const APART: f64 = 20.0;
/// No mover begins nearer to the start than this, m, and none stands nearer to the goal than that: a planner should have a
/// chance.
const HEAD_START: f64 = 3.0;
const OFF_GOAL: f64 = 1.5;
/// Blocks and walls.
pub const STATIC: usize = BLOCKS + WALLS;

/// A body that can move: radius, and where it is when.
pub struct Mover {
    pub radius: f64,
    pub path: Vec<(f64, DVec2)>,
}

pub struct Map {
    /// Corners of what stands, counter-clockwise.
    pub blocks: Vec<[DVec2; 4]>,
    pub movers: Vec<Mover>,
    pub start: DVec2,
    pub goal: DVec2,
}

impl Map {
    /// The map of a number; `None` where it has no path from start to goal, however long one tries.
    pub fn new(seed: u64, number: u32) -> Option<Map> {
        let mut numbers = stream(seed, number, 0, Purpose::Place);
        let sizes = [BLOCK; BLOCKS].into_iter().chain([WALL; WALLS]);
        let blocks: Vec<[DVec2; 4]> = sizes.map(|size| block(&mut numbers, size)).collect();
        let walls = walls(&blocks);
        let free = Terrain::between(&walls, RADIUS).ok()?;
        let for_movers = Terrain::between(&walls, MOVER_RADIUS.1).ok()?;
        let mut search = Search::default();
        let (start, goal) = (0..1_000).find_map(|_| {
            let (start, goal) = (place(&mut numbers), place(&mut numbers));
            (start.distance(goal) >= APART && search.find(free.mesh(), start, goal).is_some())
                .then_some((start, goal))
        })?;
        let mut movers = Vec::new();
        while movers.len() < STANDING {
            let body = standing(&mut numbers, &for_movers, start);
            movers.extend(body.filter(|body| body.path[0].1.distance(goal) > OFF_GOAL));
        }
        while movers.len() < STANDING + WALKING {
            movers.extend(walking(&mut numbers, &for_movers, &mut search, start));
        }
        Some(Map { blocks, movers, start, goal })
    }

    pub fn walls(&self) -> Vec<Wall> {
        walls(&self.blocks)
    }

    pub fn published(&self) -> Occupancy {
        let trajectory =
            |mover: &Mover| Trajectory { radius: mover.radius, path: mover.path.clone(), stays: true };
        Occupancy::new(self.movers.iter().map(trajectory))
    }
}

fn place(numbers: &mut Stream) -> DVec2 {
    DVec2::new(numbers.uniform(0.0, SIZE), numbers.uniform(0.0, SIZE))
}

/// A rectangle that lies in any direction, inside of the outline: what bounds a world does not cross itself.
fn block(numbers: &mut Stream, size: [(f64, f64); 2]) -> [DVec2; 4] {
    loop {
        let middle = place(numbers);
        let half = DVec2::from(size.map(|(least, most)| numbers.uniform(least, most)));
        let along = DVec2::from_angle(numbers.uniform(0.0, std::f64::consts::TAU));
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]
            .map(|(x, y)| middle + along * (x * half.x) + along.perp() * (y * half.y));
        if corners.iter().all(|at| at.min_element() > 0.0 && at.max_element() < SIZE) {
            return corners;
        }
    }
}

/// The outline with free space inside, and blocks with free space outside.
fn walls(blocks: &[[DVec2; 4]]) -> Vec<Wall> {
    let outline = [[0.0, 0.0], [SIZE, 0.0], [SIZE, SIZE], [0.0, SIZE]].map(DVec2::from);
    let ring = |corners: [Vec2; 4]| {
        (0..4).map(move |i| Wall { a: corners[i], b: corners[(i + 1) % 4], two_sided: false })
    };
    let outside = |&[a, b, c, d]: &[DVec2; 4]| ring([d, c, b, a].map(|at| at.as_vec2()));
    ring(outline.map(|at| at.as_vec2())).chain(blocks.iter().flat_map(outside)).collect()
}

/// A body that stands, where there is room.
fn standing(numbers: &mut Stream, terrain: &Terrain, start: DVec2) -> Option<Mover> {
    let radius = numbers.uniform(MOVER_RADIUS.0, MOVER_RADIUS.1);
    let at = place(numbers);
    terrain.mesh().locate(at).filter(|_| at.distance(start) > HEAD_START)?;
    Some(Mover { radius, path: vec![(0.0, at)] })
}

/// From place to place on shortest paths, until the horizon.
fn walking(numbers: &mut Stream, terrain: &Terrain, search: &mut Search, start: DVec2) -> Option<Mover> {
    let speed = numbers.uniform(MOVER_SPEED.0, MOVER_SPEED.1);
    let Mover { radius, mut path } = standing(numbers, terrain, start)?;
    let mut at = path[0].1;
    let (mut time, mut misses) = (0.0, 0);
    while time < HORIZON {
        let Some(way) = search.find(terrain.mesh(), at, place(numbers)) else {
            // Who is shut in between walls would look for a way for ever: another one is drawn.
            misses += 1;
            if misses > MOST_MISSES {
                return None;
            }
            continue;
        };
        for pair in way.stops.windows(2).filter(|pair| pair[0].at != pair[1].at) {
            time += pair[0].at.distance(pair[1].at) / speed;
            path.push((time, pair[1].at));
        }
        at = path[path.len() - 1].1;
    }
    Some(Mover { radius, path })
}
