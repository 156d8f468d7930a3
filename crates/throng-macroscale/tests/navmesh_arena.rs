//! Polyanya's map `arena` as a mesh: every way must be found, be as long as the shortest one that is known, and be found
//! at least as soon as by the `polyanya` crate on the same mesh. Where the data are not there the test says so and counts
//! as skipped, never as passed.

mod common;

use common::peer::{Query, peer, speed_ratio};
use glam::DVec2;
use std::path::PathBuf;
use std::process::ExitCode;
use throng_macroscale::navmesh::{Mesh, Search};

const ALLOWED: f64 = 1e-3;

fn main() -> ExitCode {
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
