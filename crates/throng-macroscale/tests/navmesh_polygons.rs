//! Polygons that break triangulators, and floor plans: the mesh must have their area, also turned, mirrored and far from
//! zero. Where the data are not there the test says so and counts as skipped, never as passed.

use crate::common::area::area_by_slabs;
use glam::{DAffine2, DVec2};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use throng_macroscale::navmesh::{Geometry, MeshError, Polygon, Settings, Terrain};

const ALLOWED: f64 = 1e-6;

pub fn main() -> ExitCode {
    let data = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let mut files: Vec<PathBuf> =
        ["polygons", "wkt"].iter().flat_map(|folder| files_in(&data.join(folder))).collect();
    files.sort();
    if files.is_empty() {
        println!("test areas_of_polygons ... skipped: no {}", data.display());
        return ExitCode::SUCCESS;
    }
    let mut failed = false;
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let polygons = if name.ends_with("json") { from_json(&text) } else { from_wkt(&text) };
        match check(&polygons) {
            Ok(figures) => println!("test area_of_{name} ... ok: {figures}"),
            Err(reason) => {
                println!("test area_of_{name} ... FAILED: {reason}");
                failed = true;
            }
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let wanted = |path: &PathBuf| path.extension().is_some_and(|end| end == "json" || end == "wkt");
    entries.map(|entry| entry.path()).filter(wanted).collect()
}

fn check(polygons: &[Polygon]) -> Result<String, String> {
    let best = area_by_slabs(polygons);
    let mut worst = 0f64;
    for (name, motion) in motions() {
        let moved: Vec<Polygon> = polygons
            .iter()
            .map(|polygon| {
                polygon
                    .iter()
                    .map(|ring| ring.iter().map(|&at| motion.transform_point2(at)).collect())
                    .collect()
            })
            .collect();
        for tiles in [false, true] {
            let geometry = Geometry { walkable: moved.clone(), ..Geometry::default() };
            let found = match Terrain::new(&geometry, Settings { tiles, ..Settings::default() }) {
                Ok(terrain) => {
                    (0..terrain.mesh().polygons()).map(|polygon| terrain.mesh().area(polygon)).sum()
                }
                Err(MeshError::NoGround) => 0.0,
                Err(error) => return Err(format!("{name}: {error}")),
            };
            let off: f64 = if best > 0.0 { (found / best - 1.0).abs() } else { found };
            worst = worst.max(off);
            if off > ALLOWED {
                return Err(format!("{name}, tiles {tiles}: {found} m² instead of {best}"));
            }
        }
    }
    Ok(format!("{best} m², at most {worst:.1e} off"))
}

fn motions() -> Vec<(&'static str, DAffine2)> {
    let mirror = DAffine2::from_scale(DVec2::new(-1.0, 1.0));
    let away = DAffine2::from_translation(DVec2::new(1e5, -1e5));
    vec![
        ("as it is", DAffine2::IDENTITY),
        ("turned", DAffine2::from_angle(0.7)),
        ("turned a quarter", DAffine2::from_angle(std::f64::consts::FRAC_PI_2)),
        ("mirrored", mirror),
        ("far away", away),
        ("all of it", away * DAffine2::from_angle(2.1) * mirror),
    ]
}

/// One polygon: a list of rings, each a list of places.
fn from_json(text: &str) -> Vec<Polygon> {
    let mut rings: Vec<Vec<DVec2>> = Vec::new();
    let (mut depth, mut word, mut numbers) = (0, String::new(), Vec::new());
    for letter in text.chars() {
        if !matches!(letter, '[' | ']' | ',') {
            word.push(letter);
            continue;
        }
        numbers.extend(word.trim().parse::<f64>().ok());
        word.clear();
        match letter {
            '[' => {
                depth += 1;
                if depth == 2 {
                    rings.push(Vec::new());
                }
            }
            ']' => {
                if depth == 3 && numbers.len() == 2 {
                    rings.last_mut().expect("a ring").push(DVec2::new(numbers[0], numbers[1]));
                }
                depth -= 1;
                numbers.clear();
            }
            _ => {}
        }
    }
    vec![rings]
}

/// Every polygon of a collection.
fn from_wkt(text: &str) -> Vec<Polygon> {
    let parts = text.split("POLYGON").skip(1);
    let ring = |ring: &str| -> Vec<DVec2> {
        let place = |place: &str| {
            let mut numbers = place.split_whitespace().filter_map(|number| number.parse().ok());
            Some(DVec2::new(numbers.next()?, numbers.next()?))
        };
        ring.split(',').filter_map(place).collect()
    };
    let polygon = |part: &str| -> Polygon {
        let end = part.find("))").map_or(part.len(), |end| end + 1);
        let rings = part[..end].split('(').skip(2);
        rings.map(|text| ring(text.split(')').next().unwrap_or_default())).collect()
    };
    parts.map(polygon).collect()
}
