//! MovingAI's maps: lengths of shortest paths on the grid as they are known, and space-time plans of many that do not collide.
//! Where the data are not there the tests say so and count as skipped, never as passed.

use glam::{DVec2, Vec2};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use throng_core::space::Wall;
use throng_macroscale::chain::{Atlas, Chain, Problem, Site, Tuning, plan};
use throng_macroscale::domain::grid::Grid;
use throng_macroscale::domain::occupancy::{Occupancy, Trajectory};
use throng_macroscale::domain::space_time::Walk;
use throng_macroscale::search::{Aim, AnytimeDynamicAstar, Budget, Settings, Status};

/// What lengths may differ by, as a share.
const ALLOWED: f64 = 1e-4;
/// Of agents on cells of 1 m, m.
const RADIUS: f64 = 0.3;
const AGENTS: usize = 20;
const MOST_QUERIES: usize = 500;

pub fn main() -> ExitCode {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/movingai");
    if !folder.is_dir() {
        println!("test movingai ... skipped: no {}", folder.display());
        return ExitCode::SUCCESS;
    }
    let mut code = ExitCode::SUCCESS;
    let mut report = |name: String, outcome: Result<String, String>| match outcome {
        Ok(figures) => println!("test {name} ... ok: {figures}"),
        Err(reason) => {
            println!("test {name} ... FAILED\n{reason}");
            code = ExitCode::FAILURE;
        }
    };
    for (map, queries) in [
        ("arena.map", "arena.map.scen"),
        ("den312d.map", "den312d.map.scen"),
        ("16room_000.map", "16room_000.map.scen"),
        ("random-32-32-20.map", "random-32-32-20-random-1.scen"),
        ("empty-16-16.map", "empty-16-16-random-1.scen"),
    ] {
        report(format!("octile_lengths_are_the_known_ones: {map}"), lengths(&folder, map, queries));
    }
    for (map, queries) in [
        ("empty-16-16.map", "empty-16-16-random-1.scen"),
        ("random-32-32-20.map", "random-32-32-20-random-1.scen"),
        ("arena.map", "arena.map.scen"),
        ("den312d.map", "den312d.map.scen"),
    ] {
        report(format!("plans_of_twenty_do_not_conflict: {map}"), twenty(&folder, map, queries));
    }
    code
}

struct Map {
    width: usize,
    free: Vec<bool>,
}

impl Map {
    fn read(path: &Path) -> Result<Map, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let lines: Vec<&str> = text.lines().skip(4).collect();
        let width = lines.first().ok_or("a map without lines")?.len();
        let free = lines.iter().flat_map(|line| line.bytes().map(|cell| matches!(cell, b'.' | b'G' | b'S')));
        Ok(Map { width, free: free.collect() })
    }

    fn height(&self) -> usize {
        self.free.len() / self.width
    }

    fn is_free(&self, x: i32, y: i32) -> bool {
        let inside = x >= 0 && y >= 0 && (x as usize) < self.width && (y as usize) < self.height();
        inside && self.free[y as usize * self.width + x as usize]
    }

    /// Edges between free and blocked cells, with free space on their left.
    fn walls(&self) -> Vec<Wall> {
        let mut walls = Vec::new();
        let corner = |x: i32, y: i32| Vec2::new(x as f32, y as f32);
        for (x, y) in (0..self.height() as i32).flat_map(|y| (0..self.width as i32).map(move |x| (x, y))) {
            if !self.is_free(x, y) {
                continue;
            }
            let sides = [
                ((0, -1), corner(x, y), corner(x + 1, y)),
                ((1, 0), corner(x + 1, y), corner(x + 1, y + 1)),
                ((0, 1), corner(x + 1, y + 1), corner(x, y + 1)),
                ((-1, 0), corner(x, y + 1), corner(x, y)),
            ];
            let blocked = sides.into_iter().filter(|((dx, dy), ..)| !self.is_free(x + dx, y + dy));
            walls.extend(blocked.map(|(_, a, b)| Wall { a, b, two_sided: false }));
        }
        walls
    }
}

/// From, to, and the known length.
type Query = ([u32; 2], [u32; 2], f64);

fn queries(path: &Path) -> Result<Vec<Query>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let query = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |index: usize| words.get(index)?.parse::<u32>().ok();
        let length = words.get(8)?.parse::<f64>().ok()?;
        Some(([number(4)?, number(5)?], [number(6)?, number(7)?], length))
    };
    let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines.map(|line| query(line).ok_or(format!("odd line: {line}"))).collect()
}

fn lengths(folder: &Path, map: &str, scenario: &str) -> Result<String, String> {
    let map = Map::read(&folder.join(map))?;
    let free = |column: u32, line: u32| map.is_free(column as i32, line as i32);
    let grid = Grid::of_cells(map.width as u32, map.height() as u32, 1.0, free).map_err(|e| e.to_string())?;
    let all = queries(&folder.join(scenario))?;
    // Of a thousand alike a few hundred say as much.
    let queries: Vec<_> = all.iter().step_by(all.len().div_ceil(MOST_QUERIES)).collect();
    let settings = Settings { inflation: 1.0, ..Settings::default() };
    let cell = |[x, y]: [u32; 2]| y * grid.columns() + x;
    let mut search = AnytimeDynamicAstar::new(settings, Aim::At(0), &[0]);
    let (mut worst, began) = (0f64, Instant::now());
    for &&(from, to, length) in &queries {
        search.restart(Aim::At(cell(from)), &[cell(to)]);
        let status = search.solve(&grid, Budget::unlimited());
        let found = search.cost().map_or(f64::INFINITY, f64::from);
        let off = (found - length).abs() / length.max(1.0);
        worst = worst.max(off);
        if status != Status::Optimal || off > ALLOWED {
            return Err(format!("{from:?} to {to:?}: {found}, known {length}"));
        }
    }
    Ok(format!("{} queries in {:?}, off by at most {worst:.1e}", queries.len(), began.elapsed()))
}

fn twenty(folder: &Path, map: &str, scenario: &str) -> Result<String, String> {
    let map = Map::read(&folder.join(map))?;
    let walls = map.walls();
    let chain: Chain = "navmesh>grid>space-time".parse().map_err(|error| format!("{error}"))?;
    let high = DVec2::new(map.width as f64, map.height() as f64);
    let site = Site { walls: &walls, links: &[], low: DVec2::ZERO, high, radius: RADIUS };
    // Short steps, and cells with a middle in the middle of corridors of 1 m. Every agent counts: one that comes from behind is
    // planned around as well.
    let walk = Walk { step: 0.5, lattice: 0.25, speed_step: 0.5, max_speed: 1.0, ..Walk::default() };
    let tuning =
        Tuning { walk, fovea: None, budget: 50_000, goal_radius: 0.4, cell: 1.0 / 3.0, ..Tuning::default() };
    let atlas = Atlas::new(site, &chain, tuning).map_err(|error| error.to_string())?;
    let middle = |[x, y]: [u32; 2]| DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5);
    let mut published = Occupancy::default();
    let mut plans: Vec<Vec<(f64, DVec2)>> = Vec::new();
    let mut taken: Vec<[u32; 2]> = Vec::new();
    let began = Instant::now();
    let all = queries(&folder.join(scenario))?;
    // From the end, where the longest are, and back where these are too few. No two begin in one cell.
    let (there, back) = (all.iter().rev().map(|q| (q.0, q.1)), all.iter().rev().map(|q| (q.1, q.0)));
    for (from, to) in there.chain(back) {
        if plans.len() == AGENTS || taken.contains(&from) {
            continue;
        }
        taken.push(from);
        let problem = Problem::between(middle(from), middle(to));
        let outcomes = plan(&atlas, &published, &chain, &problem);
        let last = outcomes.last().filter(|last| last.level == chain.last() && last.is_found());
        let Some(last) = last else {
            return Err(format!("agent {} from {from:?} to {to:?} has no plan", plans.len()));
        };
        let path = last.trajectory.clone();
        // An agent that has arrived leaves: in a corridor no other could pass it.
        let trajectory = Trajectory { radius: RADIUS, path: path.clone(), stays: false };
        published.publish(plans.len() as u32, trajectory);
        plans.push(path);
    }
    if plans.len() < AGENTS {
        return Err(format!("only {} agents", plans.len()));
    }
    let took = began.elapsed();
    let nearest = nearest_pair(&plans);
    if nearest < 2.0 * RADIUS - 1e-3 {
        return Err(format!("two agents come as near as {nearest} m"));
    }
    Ok(format!("{AGENTS} plans in {took:?}, never nearer than {nearest:.3} m"))
}

/// How near any two come while both are there, looked at every 20 ms.
fn nearest_pair(plans: &[Vec<(f64, DVec2)>]) -> f64 {
    let place = |plan: &[(f64, DVec2)], time: f64| {
        let next = plan.iter().position(|point| point.0 > time)?;
        let ((t0, a), (t1, b)) = (plan[next.checked_sub(1)?], plan[next]);
        Some(a + (b - a) * ((time - t0) / (t1 - t0)))
    };
    let end = plans.iter().filter_map(|plan| plan.last()).map(|last| last.0).fold(0.0, f64::max);
    let mut nearest = f64::INFINITY;
    for look in 0..(end / 0.02) as u32 {
        let time = f64::from(look) * 0.02;
        let places: Vec<DVec2> = plans.iter().filter_map(|plan| place(plan, time)).collect();
        for (index, a) in places.iter().enumerate() {
            nearest = places[index + 1..].iter().map(|b| a.distance(*b)).fold(nearest, f64::min);
        }
    }
    nearest
}
