//! Polyanya's map `arena` as a mesh: every way must be found, be as long as the shortest one that is known, and be found
//! at least as soon as by the `polyanya` crate on the same mesh; and larger maps of MovingAI's, where only time counts. Where the data are not there the test says so and counts
//! as skipped, never as passed.

use crate::common::peer::{Query, peer, speed_ratio};
use glam::DVec2;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use throng_macroscale::navmesh::{Geometry, Mesh, Search, Settings, Terrain};

const ALLOWED: f64 = 1e-3;

pub fn main() -> ExitCode {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/polyanya");
    let read = |name: &str| std::fs::read_to_string(folder.join(name));
    let Ok(reference) = read("arena_euclid_ref.csv") else {
        println!("test ways_on_polyanyas_meshes ... skipped: no {}", folder.display());
        return ExitCode::SUCCESS;
    };
    let mut failed = false;
    for name in ["arena.mesh", "arena-merged.mesh"] {
        let outcome = read(name).map_err(|error| error.to_string()).and_then(|mesh| check(&mesh, &reference));
        match outcome {
            Ok(figures) => println!("test ways_on_{name} ... ok: {figures}"),
            Err(reason) => {
                println!("test ways_on_{name} ... FAILED\n{reason}");
                failed = true;
            }
        }
    }
    for name in ["arena", "den312d", "16room_000"] {
        let Some((ours, queries)) = grid_map(&folder.join("../movingai"), name) else {
            println!("test time_on_{name} ... skipped: no such map");
            continue;
        };
        match compare(&ours, &queries) {
            Ok(figures) => println!("test time_on_{name} ... ok: {figures}"),
            Err(reason) => {
                println!("test time_on_{name} ... FAILED\n{reason}");
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn check(mesh: &str, reference: &str) -> Result<String, String> {
    let (vertices, polygons) = parse(mesh).ok_or("the mesh is not as its format says")?;
    let ours = Mesh::from_polygons(&vertices, &polygons).map_err(|error| error.to_string())?;
    let queries: Vec<Query> = reference.lines().skip(1).filter_map(query).collect();
    if queries.len() < 100 {
        return Err(format!("{} queries are too few", queries.len()));
    }
    let mut search = Search::default();
    let mut worst = 0f64;
    for Query { from, to, length } in &queries {
        let way = search.find(&ours, *from, *to).ok_or(format!("no way from {from} to {to}"))?;
        let walked: f64 = way.stops.windows(2).map(|pair| pair[0].at.distance(pair[1].at)).sum();
        worst = worst.max((way.length - length).abs()).max((walked - length).abs());
        if (way.length - length).abs() > ALLOWED || (walked - length).abs() > ALLOWED {
            return Err(format!("{from} to {to}: {} m, walked {walked} m, instead of {length}", way.length));
        }
    }
    let theirs = peer(&vertices, &polygons);
    let ratio = speed_ratio(&ours, &theirs, &queries);
    let figures = format!(
        "{} queries, at most {worst:.1e} m off, {ratio:.2} times as fast as the polyanya crate",
        queries.len()
    );
    if ratio >= 1.0 { Ok(figures) } else { Err(figures) }
}

/// A map of free and blocked squares as a mesh, and some of its queries.
fn grid_map(folder: &Path, name: &str) -> Option<(Mesh, Vec<Query>)> {
    let map = std::fs::read_to_string(folder.join(format!("{name}.map"))).ok()?;
    let scenario = std::fs::read_to_string(folder.join(format!("{name}.map.scen"))).ok()?;
    let lines: Vec<&[u8]> = map.lines().skip(4).map(str::as_bytes).collect();
    let (width, height) = (lines.first()?.len() as f64, lines.len() as f64);
    let rectangle = |x: f64, y: f64, right: f64, top: f64| {
        vec![DVec2::new(x, y), DVec2::new(right, y), DVec2::new(right, top), DVec2::new(x, top)]
    };
    let mut geometry =
        Geometry { walkable: vec![vec![rectangle(0.0, 0.0, width, height)]], ..Geometry::default() };
    for (y, line) in lines.iter().enumerate() {
        let mut x = 0;
        for run in line.chunk_by(|a, b| is_free(*a) == is_free(*b)) {
            if !is_free(run[0]) {
                geometry.obstacles.push(rectangle(
                    x as f64,
                    y as f64,
                    (x + run.len()) as f64,
                    y as f64 + 1.0,
                ));
            }
            x += run.len();
        }
    }
    let terrain = Terrain::new(&geometry, Settings { tiles: false, ..Settings::default() }).ok()?;
    let query = |line: &str| {
        let numbers: Vec<f64> =
            line.split_whitespace().skip(4).filter_map(|word| word.parse().ok()).collect();
        let [sx, sy, gx, gy, octile] = numbers[..] else { return None };
        let middle = |x: f64, y: f64| DVec2::new(x + 0.5, y + 0.5);
        Some(Query { from: middle(sx, sy), to: middle(gx, gy), length: octile })
    };
    let queries: Vec<Query> = scenario.lines().skip(1).filter_map(query).collect();
    let step = queries.len().div_ceil(160).max(1);
    Some((terrain.mesh().clone(), queries.into_iter().step_by(step).collect()))
}

fn is_free(square: u8) -> bool {
    matches!(square, b'.' | b'G' | b'S')
}

fn compare(ours: &Mesh, queries: &[Query]) -> Result<String, String> {
    let origin = ours.origin();
    let vertices: Vec<DVec2> = (0..ours.vertices()).map(|vertex| ours.vertex(vertex)).collect();
    let polygons: Vec<Vec<u32>> =
        (0..ours.polygons()).map(|polygon| ours.corner_numbers(polygon).to_vec()).collect();
    let theirs = peer(&vertices, &polygons);
    let mut search = Search::default();
    let mut odd = 0;
    for Query { from, to, length } in queries {
        let way = search.find(ours, *from, *to).ok_or(format!("no way from {from} to {to}"))?;
        // Eight directions are at most 8.3 % longer than all.
        if !(way.length <= length + 1e-3 && way.length >= from.distance(*to) - 1e-9) {
            return Err(format!("{from} to {to}: {} m, {length} m in eight directions", way.length));
        }
        let place = |at: DVec2| polyanya::Coords::from(at.as_vec2());
        let other =
            theirs.path(place(*from), place(*to)).map_or(f64::INFINITY, |path| f64::from(path.length));
        odd += usize::from((other - way.length).abs() > 1e-3 * way.length);
    }
    let began = Instant::now();
    let found = queries.iter().filter(|query| search.find(ours, query.from, query.to).is_some()).count();
    let each = began.elapsed().as_secs_f64() * 1e6 / queries.len() as f64;
    let ratio = speed_ratio(ours, &theirs, queries);
    let figures = format!(
        "{} polygons around {origin}, {} queries, {each:.1} µs each, {ratio:.2} times as fast as the polyanya crate, \
         which finds {odd} ways of another length",
        polygons.len(),
        found
    );
    if ratio >= 1.0 { Ok(figures) } else { Err(figures) }
}

fn query(line: &str) -> Option<Query> {
    let numbers: Vec<f64> = line.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [sx, sy, gx, gy, _, length] = numbers[..] else { return None };
    Some(Query { from: DVec2::new(sx, sy), to: DVec2::new(gx, gy), length })
}

fn parse(mesh: &str) -> Option<(Vec<DVec2>, Vec<Vec<u32>>)> {
    let mut words = mesh.split_whitespace().skip(2);
    let mut number = || words.next()?.parse::<f64>().ok();
    let (vertices, polygons) = (number()? as usize, number()? as usize);
    let mut places = Vec::new();
    for _ in 0..vertices {
        places.push(DVec2::new(number()?, number()?));
        for _ in 0..number()? as usize {
            number()?;
        }
    }
    let mut rings = Vec::new();
    for _ in 0..polygons {
        let corners = number()? as usize;
        rings.push((0..corners).map(|_| number().map(|index| index as u32)).collect::<Option<_>>()?);
        for _ in 0..corners {
            number()?;
        }
    }
    Some((places, rings))
}
