//! Geometry of a run as files hold it: the WKT that JuPedSim writes and PedPy reads.

use crate::map::wkt;
use glam::DVec2;

/// A ring or polyline.
pub type Ring = Vec<[f64; 2]>;

/// What a WKT text holds, flattened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Geometry {
    /// Polygons: an outer ring, then its holes. Rings do not repeat their first point.
    pub polygons: Vec<Vec<Ring>>,
    /// Open lines.
    pub lines: Vec<Ring>,
}

impl Geometry {
    /// Reads POLYGON, MULTIPOLYGON, LINESTRING, MULTILINESTRING and GEOMETRYCOLLECTION; a third coordinate is dropped.
    pub fn parse(text: &str) -> Result<Geometry, String> {
        let drawing = wkt::parse(text)?;
        let line = |points: &Vec<DVec2>| points.iter().map(DVec2::to_array).collect::<Ring>();
        let ring = |points: &Vec<DVec2>| {
            let mut ring = line(points);
            if ring.len() > 1 && ring.first() == ring.last() {
                ring.pop();
            }
            ring
        };
        let polygon = |rings: &Vec<Vec<DVec2>>| rings.iter().map(ring).collect();
        let polygons = drawing.polygons.iter().map(polygon).collect();
        Ok(Geometry { polygons, lines: drawing.lines.iter().map(line).collect() })
    }

    /// Every corner.
    pub fn points(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        self.polygons.iter().flatten().chain(&self.lines).flatten().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_flatten_and_heights_are_dropped() {
        let wkt = "geometrycollection(POLYGON Z ((0 0 9, 1 0 9, 1 1 9, 0 0 9)), LINESTRING (0 0, 5e-1 1), POLYGON EMPTY)";
        let geometry = Geometry::parse(wkt).unwrap();
        assert_eq!(geometry.polygons, [vec![vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]]]);
        assert_eq!(geometry.lines, [vec![[0.0, 0.0], [0.5, 1.0]]]);
    }
}
