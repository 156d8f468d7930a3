//! Shortest paths by brute force, with nothing shared with the model: every pair of points is held against every wall.

use glam::DVec2;
use throng_core::space::Wall;

/// A map as its maker knows it.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// Rings with free space outside.
    pub solid: Vec<Vec<DVec2>>,
    /// The ring with free space inside.
    pub outline: Vec<DVec2>,
    pub open: Vec<[DVec2; 2]>,
}

impl Map {
    fn edges(&self) -> Vec<[DVec2; 2]> {
        let rings = self.solid.iter().chain([&self.outline]);
        rings.flat_map(|ring| ring_edges(ring)).chain(self.open.iter().copied()).collect()
    }

    pub fn is_free(&self, place: DVec2) -> bool {
        inside(&self.outline, place) && !self.solid.iter().any(|ring| inside(ring, place))
    }

    pub fn clearance(&self, place: DVec2) -> f64 {
        self.edges().iter().map(|&[a, b]| to_segment(place, a, b)).fold(f64::INFINITY, f64::min)
    }

    /// The length of the shortest path of a point.
    pub fn shortest_of_point(&self, from: DVec2, to: DVec2) -> f64 {
        let edges = self.edges();
        let corners = edges.iter().flatten().copied();
        let places: Vec<DVec2> = [from, to].into_iter().chain(corners).collect();
        dijkstra(&places, |a, b| self.point_sees(&edges, a, b))
    }

    fn point_sees(&self, edges: &[[DVec2; 2]], a: DVec2, b: DVec2) -> bool {
        let crosses = |&[c, d]: &[DVec2; 2]| {
            let apart = |p: DVec2, q: DVec2, r: DVec2, s: DVec2| {
                (q - p).perp_dot(r - p) * (q - p).perp_dot(s - p) < 0.0
            };
            a != c && a != d && b != c && b != d && apart(a, b, c, d) && apart(c, d, a, b)
        };
        let is_edge = |&[c, d]: &[DVec2; 2]| (a, b) == (c, d) || (a, b) == (d, c);
        !edges.iter().any(crosses) && (edges.iter().any(is_edge) || self.is_free((a + b) / 2.0))
    }

    /// The length of the shortest path of a disc whose arcs have 64 corners a turn.
    pub fn shortest_of_disc(&self, radius: f64, from: DVec2, to: DVec2) -> f64 {
        let edges = self.edges();
        let mut corners: Vec<DVec2> = edges.iter().flatten().copied().collect();
        corners.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        corners.dedup();
        let keep = radius * (1.0 - 1e-6);
        let half = std::f64::consts::PI / 64.0;
        let circle = |corner: DVec2| {
            (0..64).map(move |i| corner + DVec2::from_angle(2.0 * half * i as f64) * (radius / half.cos()))
        };
        let around = corners.into_iter().flat_map(circle);
        let around = around.filter(|&place| self.is_free(place) && self.clearance(place) >= keep);
        let places: Vec<DVec2> = [from, to].into_iter().chain(around).collect();
        dijkstra(&places, |a, b| edges.iter().all(|&[c, d]| gap(a, b, c, d) >= keep))
    }
}

/// From the first place to the second.
fn dijkstra(places: &[DVec2], sees: impl Fn(DVec2, DVec2) -> bool) -> f64 {
    let mut distance = vec![f64::INFINITY; places.len()];
    let mut done = vec![false; places.len()];
    distance[0] = 0.0;
    loop {
        let nearest = (0..places.len()).filter(|&i| !done[i] && distance[i].is_finite());
        let Some(here) = nearest.min_by(|&a, &b| distance[a].total_cmp(&distance[b])) else {
            return f64::INFINITY;
        };
        if here == 1 {
            return distance[1];
        }
        done[here] = true;
        for there in 0..places.len() {
            let way = distance[here] + places[here].distance(places[there]);
            if !done[there] && way < distance[there] && sees(places[here], places[there]) {
                distance[there] = way;
            }
        }
    }
}

pub fn ring_edges(ring: &[DVec2]) -> Vec<[DVec2; 2]> {
    (0..ring.len()).map(|i| [ring[i], ring[(i + 1) % ring.len()]]).collect()
}

fn inside(ring: &[DVec2], place: DVec2) -> bool {
    ring_edges(ring).iter().fold(false, |inside, &[a, b]| {
        let spans = (a.y > place.y) != (b.y > place.y);
        inside ^ (spans && place.x < a.x + (place.y - a.y) / (b.y - a.y) * (b.x - a.x))
    })
}

/// How far two segments are apart.
pub fn gap(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> f64 {
    let left = |p: DVec2, q: DVec2, r: DVec2| (q - p).perp_dot(r - p);
    if left(a, b, c) * left(a, b, d) < 0.0 && left(c, d, a) * left(c, d, b) < 0.0 {
        return 0.0;
    }
    to_segment(a, c, d).min(to_segment(b, c, d)).min(to_segment(c, a, b)).min(to_segment(d, a, b))
}

fn to_segment(place: DVec2, a: DVec2, b: DVec2) -> f64 {
    let share = ((place - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
    place.distance(a + (b - a) * share)
}

/// How far a way is from the nearest wall.
pub fn route_clearance(route: &[glam::Vec2], walls: &[Wall]) -> f64 {
    let wide = |place: glam::Vec2| place.as_dvec2();
    let leg =
        |pair: &[glam::Vec2], wall: &Wall| gap(wide(pair[0]), wide(pair[1]), wide(wall.a), wide(wall.b));
    let gaps = route.windows(2).flat_map(|pair| walls.iter().map(move |wall| leg(pair, wall)));
    gaps.fold(f64::INFINITY, f64::min)
}
