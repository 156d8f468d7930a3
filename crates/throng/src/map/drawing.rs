//! Floor plans from files: WKT, GeoJSON, DXF.

use super::{Drawing, Polygon, dxf, signed_area, winds_around, wkt};
use glam::DVec2;
use std::io::{self, Read};
use std::path::Path;

/// Reads a drawing by the ending of its name.
pub(crate) fn load(path: &Path) -> Result<Drawing, String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    match ending.as_str() {
        "wkt" => wkt::parse(&read(path)?).map_err(|complaint| format!("is not valid: {complaint}")),
        #[cfg(feature = "scenario")]
        "geojson" | "json" => super::geojson::parse(&read(path)?),
        "dxf" => dxf(path),
        _ => Err("must be a .wkt, .geojson or .dxf file".into()),
    }
}

fn read(path: &Path) -> Result<String, String> {
    read_text(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("cannot be read: {}: {error}", path.display())
}

/// Closed polylines are areas, a ring inside another one its hole; open polylines and lines are walls.
///
/// Where a layer is called walkable, as JuPedSim's drawings have it, only layers that speak of the walkable area,
/// obstacles, holes or walls count; the others hold starts, exits and notes.
fn dxf(path: &Path) -> Result<Drawing, String> {
    let bytes = read_bytes(path).map_err(|error| unreadable(path, &error))?;
    let entities = dxf::parse(&bytes).map_err(|error| format!("is not valid DXF: {error}"))?;
    let (mut rings, mut lines) = (Vec::new(), Vec::new());
    let speaks_of =
        |layer: &str, words: &[&str]| words.iter().any(|word| layer.to_lowercase().contains(word));
    let sorted = entities.iter().any(|entity| speaks_of(&entity.layer, &["walkable"]));
    for entity in entities {
        if sorted && !speaks_of(&entity.layer, &["walkable", "obstacle", "hole", "wall"]) {
            continue;
        }
        let points = entity.points;
        if entity.closed || (points.len() > 3 && points.first() == points.last()) {
            rings.push(points);
        } else {
            lines.push(points);
        }
    }
    Ok(Drawing { polygons: nested(rings), lines })
}

/// Sorts rings into polygons with holes: a ring inside an odd number of others is a hole of the smallest of them.
fn nested(rings: Vec<Vec<DVec2>>) -> Vec<Polygon> {
    let area = |index: usize| signed_area(&rings[index]).abs();
    let around = |index: usize| {
        let inner = &rings[index];
        let holds = |&outer: &usize| {
            outer != index
                && area(outer) > area(index)
                && inner.iter().all(|&p| winds_around(&rings[outer], p))
        };
        (0..rings.len()).filter(holds).collect::<Vec<usize>>()
    };
    let outer: Vec<usize> = (0..rings.len()).filter(|&index| around(index).len() % 2 == 0).collect();
    let hole_of = |index: usize| around(index).into_iter().min_by(|&a, &b| area(a).total_cmp(&area(b)));
    let polygon = |&index: &usize| {
        let holes = (0..rings.len()).filter(|&hole| !outer.contains(&hole) && hole_of(hole) == Some(index));
        std::iter::once(index).chain(holes).map(|ring| rings[ring].clone()).collect()
    };
    outer.iter().map(polygon).collect()
}

/// A file larger than this is a mistake, such as a device file.
const LARGEST_FILE: u64 = 1 << 30;

/// A text file of a sane size.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LARGEST_FILE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(io::Error::other("larger than 1 GiB"));
    }
    Ok(bytes)
}
