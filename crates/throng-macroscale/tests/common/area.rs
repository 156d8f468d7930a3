//! Areas, with nothing shared with the mesh.

use glam::DVec2;
use throng_macroscale::navmesh::Polygon;

/// The area of what lies in outer rings and in none of their holes, by cutting the plane at every corner and crossing:
/// between two cuts lines do not cross, and what is between them is a trapezium.
pub fn area_by_slabs(polygons: &[Polygon]) -> f64 {
    let mut edges: Vec<(DVec2, DVec2, usize, bool)> = Vec::new();
    let mut ring_number = 0;
    let mut rings_of: Vec<(usize, usize)> = Vec::new();
    for polygon in polygons {
        rings_of.push((ring_number, ring_number + polygon.len()));
        for ring in polygon {
            for index in 0..ring.len() {
                let (a, b) = (ring[index], ring[(index + 1) % ring.len()]);
                if a.x < b.x {
                    edges.push((a, b, ring_number, true));
                } else if b.x < a.x {
                    edges.push((b, a, ring_number, false));
                }
            }
            ring_number += 1;
        }
    }
    let mut cuts: Vec<f64> = edges.iter().flat_map(|edge| [edge.0.x, edge.1.x]).collect();
    for (index, one) in edges.iter().enumerate() {
        cuts.extend(edges[index + 1..].iter().filter_map(|other| crossing(one, other)));
    }
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut area = 0.0;
    for cut in cuts.windows(2) {
        let middle = (cut[0] + cut[1]) / 2.0;
        let height = |edge: &(DVec2, DVec2, usize, bool)| {
            edge.0.y + (edge.1.y - edge.0.y) * ((middle - edge.0.x) / (edge.1.x - edge.0.x))
        };
        let inside = edges.iter().filter(|edge| edge.0.x <= cut[0] && edge.1.x >= cut[1]);
        let mut lines: Vec<(f64, usize, bool)> = inside.map(|edge| (height(edge), edge.2, edge.3)).collect();
        lines.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut winding = vec![0i32; ring_number];
        for pair in lines.windows(2) {
            winding[pair[0].1] += if pair[0].2 { 1 } else { -1 };
            let free = rings_of.iter().any(|&(first, last)| {
                first < last
                    && winding[first] != 0
                    && winding[first + 1..last].iter().all(|&turns| turns == 0)
            });
            area += if free { (pair[1].0 - pair[0].0) * (cut[1] - cut[0]) } else { 0.0 };
        }
    }
    area
}

fn crossing(one: &(DVec2, DVec2, usize, bool), other: &(DVec2, DVec2, usize, bool)) -> Option<f64> {
    let (u, v) = (one.1 - one.0, other.1 - other.0);
    let cross = u.perp_dot(v);
    let offset = other.0 - one.0;
    let (s, t) = (offset.perp_dot(v) / cross, offset.perp_dot(u) / cross);
    (cross != 0.0 && (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)).then_some(one.0.x + u.x * s)
}
