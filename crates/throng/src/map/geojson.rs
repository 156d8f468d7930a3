//! Floor plans from GeoJSON.

use super::Drawing;
use glam::DVec2;
use serde_json::Value;

const KINDS: &str = "Polygon, MultiPolygon, LineString, MultiLineString";

/// Polygons (areas) and line strings (walls). Coordinates are taken as metres, whatever GeoJSON says of degrees.
pub(super) fn parse(text: &str) -> Result<Drawing, String> {
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
        _ => Err(format!("holds a GeoJSON `{kind}`; known: {KINDS} and collections of them")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geojson_in_all_its_wrappings() {
        let text = r#"{"type":"FeatureCollection","features":[
            {"type":"Feature","properties":{},"geometry":{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]}},
            {"type":"Feature","geometry":null},
            {"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[0,0,9],[1,1,9]]}]}]}"#;
        let drawing = parse(text).unwrap();
        assert_eq!((drawing.polygons[0].len(), drawing.lines.len()), (2, 1));
        assert!(parse(r#"{"type":"Point","coordinates":[0,0]}"#).unwrap_err().contains("`Point`"));
        assert!(parse(r#"{"type":"Polygon","coordinates":[[["a",0]]]}"#).is_err());
        assert!(parse("3").is_err());
    }
}
