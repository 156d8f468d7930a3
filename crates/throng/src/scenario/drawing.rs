//! Floor plans from files: WKT, GeoJSON, DXF.

use super::map::{Polygon, signed_area, winds_around};
use super::{dxf, wkt};
use glam::DVec2;
use serde_json::Value;
use std::path::Path;

/// What a drawing holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Drawing {
    /// Areas: an outer ring, then holes.
    pub polygons: Vec<Polygon>,
    /// Open walls.
    pub lines: Vec<Vec<DVec2>>,
}

/// Reads a drawing by the ending of its name.
pub(super) fn load(path: &Path) -> Result<Drawing, String> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    match ending.as_str() {
        "wkt" => wkt::parse(&read(path)?).map_err(|complaint| format!("is not valid: {complaint}")),
        "geojson" | "json" => geojson(&read(path)?),
        "dxf" => dxf(path),
        _ => Err("must be a .wkt, .geojson or .dxf file".into()),
    }
}

fn read(path: &Path) -> Result<String, String> {
    super::read(path).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("cannot be read: {}: {error}", path.display())
}

const GEOJSON_KINDS: &str = "Polygon, MultiPolygon, LineString, MultiLineString";

/// Polygons (areas) and line strings (walls). Coordinates are taken as metres, whatever GeoJSON says of degrees.
fn geojson(text: &str) -> Result<Drawing, String> {
    let root: Value = serde_json::from_str(text).map_err(|error| format!("is not valid GeoJSON: {error}"))?;
    let mut drawing = Drawing::default();
    geojson_object(&root, &mut drawing)?;
    Ok(drawing)
}

// The depth is bounded by serde_json's own limit.
fn geojson_object(object: &Value, drawing: &mut Drawing) -> Result<(), String> {
    let kind = object.get("type").and_then(Value::as_str).unwrap_or("");
    let coordinates = &object["coordinates"];
    match kind {
        "FeatureCollection" => {
            items(&object["features"])?.iter().try_for_each(|f| geojson_object(f, drawing))
        }
        "GeometryCollection" => {
            items(&object["geometries"])?.iter().try_for_each(|g| geojson_object(g, drawing))
        }
        "Feature" if object["geometry"].is_null() => Ok(()),
        "Feature" => geojson_object(&object["geometry"], drawing),
        "Polygon" => geojson_polygon(coordinates, drawing),
        "MultiPolygon" => items(coordinates)?.iter().try_for_each(|p| geojson_polygon(p, drawing)),
        "LineString" => geojson_line(coordinates, drawing),
        "MultiLineString" => items(coordinates)?.iter().try_for_each(|line| geojson_line(line, drawing)),
        _ => Err(format!("holds a GeoJSON `{kind}`; known: {GEOJSON_KINDS} and collections of them")),
    }
}

fn geojson_polygon(coordinates: &Value, drawing: &mut Drawing) -> Result<(), String> {
    let polygon = items(coordinates)?.iter().map(geojson_points).collect::<Result<_, _>>()?;
    drawing.polygons.push(polygon);
    Ok(())
}

fn geojson_line(coordinates: &Value, drawing: &mut Drawing) -> Result<(), String> {
    drawing.lines.push(geojson_points(coordinates)?);
    Ok(())
}

fn geojson_points(coordinates: &Value) -> Result<Vec<DVec2>, String> {
    let point = |position: &Value| match (position[0].as_f64(), position[1].as_f64()) {
        (Some(x), Some(y)) => Ok(DVec2::new(x, y)),
        _ => Err(format!("holds a GeoJSON position that is not two numbers: {position}")),
    };
    items(coordinates)?.iter().map(point).collect()
}

fn items(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| "holds a GeoJSON object without a list of coordinates or members".into())
}

/// Closed polylines are areas, a ring inside another one its hole; open polylines and lines are walls.
///
/// Where a layer is called walkable, as JuPedSim's drawings have it, only layers that speak of the walkable area,
/// obstacles, holes or walls count; the others hold starts, exits and notes.
fn dxf(path: &Path) -> Result<Drawing, String> {
    let bytes = super::read_bytes(path).map_err(|error| unreadable(path, &error))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geojson_in_all_its_wrappings() {
        let text = r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}},
            {"type":"Feature","geometry":null},
            {"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[0,0,9],[1,1,9]]}]}]}"#;
        let drawing = geojson(text).unwrap();
        assert_eq!((drawing.polygons[0].len(), drawing.lines.len()), (2, 1));
        assert!(geojson(r#"{"type":"Point","coordinates":[0,0]}"#).unwrap_err().contains("`Point`"));
        assert!(geojson(r#"{"type":"Polygon","coordinates":[[["a",0]]]}"#).is_err());
        assert!(geojson("3").is_err());
    }
}
