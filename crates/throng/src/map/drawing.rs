//! Floor plans from files: WKT, GeoJSON, DXF.

use super::{Drawing, wkt};
#[cfg(feature = "dxf")]
use super::{Polygon, signed_area, winds_around};
#[cfg(feature = "dxf")]
use glam::DVec2;
use std::io::Read;
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
    read_text(path).map_err(|error| format!("cannot be read: {}: {error}", path.display()))
}

#[cfg(not(feature = "dxf"))]
fn dxf(_path: &Path) -> Result<Drawing, String> {
    Err("is a DXF drawing, which this build cannot read: build with `--features dxf`, or convert it to WKT"
        .into())
}

/// Closed polylines are areas, a ring inside another one its hole; open polylines and lines are walls.
///
/// Where a layer is called walkable, as JuPedSim's drawings have it, only layers that speak of the walkable area,
/// obstacles, holes or walls count; the others hold starts, exits and notes.
#[cfg(feature = "dxf")]
fn dxf(path: &Path) -> Result<Drawing, String> {
    use ::dxf::entities::EntityType;
    let read = ::dxf::Drawing::load_file(path.to_string_lossy().as_ref());
    let file = read.map_err(|error| format!("cannot be read as DXF: {}: {error}", path.display()))?;
    let (mut rings, mut lines) = (Vec::new(), Vec::new());
    let speaks_of =
        |layer: &str, words: &[&str]| words.iter().any(|word| layer.to_lowercase().contains(word));
    let sorted = file.entities().any(|entity| speaks_of(&entity.common.layer, &["walkable"]));
    for entity in file.entities() {
        if sorted && !speaks_of(&entity.common.layer, &["walkable", "obstacle", "hole", "wall"]) {
            continue;
        }
        let (points, closed) = match &entity.specific {
            EntityType::LwPolyline(line) => {
                (line.vertices.iter().map(|v| DVec2::new(v.x, v.y)).collect::<Vec<_>>(), line.is_closed())
            }
            EntityType::Polyline(line) => {
                (line.vertices().map(|v| DVec2::new(v.location.x, v.location.y)).collect(), line.is_closed())
            }
            EntityType::Line(line) => {
                (vec![DVec2::new(line.p1.x, line.p1.y), DVec2::new(line.p2.x, line.p2.y)], false)
            }
            _ => continue,
        };
        if closed || (points.len() > 3 && points.first() == points.last()) {
            rings.push(points);
        } else {
            lines.push(points);
        }
    }
    Ok(Drawing { polygons: nested(rings), lines })
}

/// Sorts rings into polygons with holes: a ring inside an odd number of others is a hole of the smallest of them.
#[cfg(feature = "dxf")]
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

/// A text larger than this is a mistake, such as a device file.
const LARGEST_FILE: u64 = 1 << 30;

/// A text file of a sane size.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(LARGEST_FILE + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST_FILE {
        return Err(std::io::Error::other("larger than 1 GiB"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(feature = "dxf"))]
    fn dxf_names_its_feature() {
        assert!(load(Path::new("plan.dxf")).unwrap_err().contains("--features dxf"));
    }
}
