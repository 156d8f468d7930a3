//! The map `arena` of Polyanya's test set: every way must be as long as the shortest one that is known. Where the data
//! are not there the test says so and counts as skipped, never as passed.

use crate::common::{Walker, length, routes, world};
use glam::Vec2;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use throng_core::space::Wall;
use throng_macroscale::VisibilityGraph;

/// Small enough that a way around all corners grows by less than what is allowed.
const RADIUS: f32 = 1e-5;
const ALLOWED: f64 = 1e-3;

pub fn main() -> ExitCode {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/polyanya");
    let read = |name: &str| std::fs::read_to_string(folder.join(name));
    let name = "ways_in_polyanyas_arena_are_the_shortest";
    let (Ok(mesh), Ok(reference)) = (read("arena.mesh"), read("arena_euclid_ref.csv")) else {
        println!("test {name} ... skipped: no {}", folder.display());
        return ExitCode::SUCCESS;
    };
    match check(&mesh, &reference) {
        Ok(figures) => {
            println!("test {name} ... ok: {figures}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            println!("test {name} ... FAILED\n{reason}");
            ExitCode::FAILURE
        }
    }
}

fn check(mesh: &str, reference: &str) -> Result<String, String> {
    let walls = boundary(mesh).ok_or("the mesh is not as its format says")?;
    let queries: Vec<(Walker, f64)> = reference
        .lines()
        .skip(1)
        .map(query)
        .collect::<Option<_>>()
        .ok_or("a line of the reference is odd")?;
    if walls.is_empty() || queries.len() < 100 {
        return Err(format!("{} walls and {} queries are too few", walls.len(), queries.len()));
    }
    let walkers: Vec<Walker> = queries.iter().map(|query| query.0).collect();
    let world = world(walls.clone(), &walkers);
    let began = Instant::now();
    let routes = routes::<VisibilityGraph>(&world);
    let took = began.elapsed();
    let mut worst = 0f64;
    let mut wrong = Vec::new();
    for ((walker, best), route) in queries.iter().zip(&routes) {
        let found = route.as_deref().map_or(f64::INFINITY, length);
        worst = worst.max((found - best).abs());
        if (found - best).abs() > ALLOWED {
            wrong.push(format!("{} to {}: {found} m instead of {best}", walker.from, walker.to));
        }
    }
    let figures =
        format!("{} queries, {} walls, {took:?}, at most {worst:.1e} m off", queries.len(), walls.len());
    if wrong.is_empty() { Ok(figures) } else { Err(format!("{figures}\n{}", wrong.join("\n"))) }
}

fn query(line: &str) -> Option<(Walker, f64)> {
    let numbers: Vec<f64> = line.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [sx, sy, gx, gy, _, euclid] = numbers[..] else { return None };
    let place = |x: f64, y: f64| Vec2::new(x as f32, y as f32);
    Some((Walker { from: place(sx, sy), to: place(gx, gy), radius: RADIUS }, euclid))
}

/// The edges that only one polygon of the mesh has, with the polygon on their left.
fn boundary(mesh: &str) -> Option<Vec<Wall>> {
    let mut words = mesh.split_whitespace().skip(2);
    let mut number = || words.next()?.parse::<f64>().ok();
    let (vertices, polygons) = (number()? as usize, number()? as usize);
    let mut vertex = Vec::new();
    for _ in 0..vertices {
        vertex.push(Vec2::new(number()? as f32, number()? as f32));
        for _ in 0..number()? as usize {
            number()?;
        }
    }
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for _ in 0..polygons {
        let corners = number()? as usize;
        let ring: Vec<usize> =
            (0..corners).map(|_| number().map(|index| index as usize)).collect::<Option<_>>()?;
        edges.extend((0..corners).map(|index| (ring[index], ring[(index + 1) % corners])));
        for _ in 0..corners {
            number()?;
        }
    }
    let mut count: HashMap<(usize, usize), u32> = HashMap::new();
    edges.iter().for_each(|&(a, b)| *count.entry((a.min(b), a.max(b))).or_default() += 1);
    let alone = edges.iter().filter(|&&(a, b)| count[&(a.min(b), a.max(b))] == 1);
    alone.map(|&(a, b)| Some(Wall { a: *vertex.get(a)?, b: *vertex.get(b)?, two_sided: false })).collect()
}
