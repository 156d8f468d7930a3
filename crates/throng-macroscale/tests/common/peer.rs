//! The `polyanya` crate beside ours, on the same mesh.

use glam::DVec2;
use std::collections::BTreeSet;
use std::time::Instant;
use throng_macroscale::navmesh::{Mesh, Search};

/// A way that is asked for, and how long the shortest one is.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    pub from: DVec2,
    pub to: DVec2,
    pub length: f64,
}

/// Their time over ours: the median of rounds that take turns, so that what else the machine does hits both.
pub fn speed_ratio(ours: &Mesh, theirs: &polyanya::Mesh, queries: &[Query]) -> f64 {
    let mut search = Search::default();
    let rounds = 3_200 / queries.len();
    let mut ratios: Vec<f64> = (0..15)
        .map(|_| {
            let began = Instant::now();
            let mut found = 0;
            for _ in 0..rounds {
                found +=
                    queries.iter().filter(|query| search.find(ours, query.from, query.to).is_some()).count();
            }
            let our_time = began.elapsed();
            let began = Instant::now();
            for _ in 0..rounds {
                let place = |at: DVec2| polyanya::Coords::from(at.as_vec2());
                found += queries.iter().filter(|q| theirs.path(place(q.from), place(q.to)).is_some()).count();
            }
            let their_time = began.elapsed();
            assert!(2 * found >= 3 * rounds * queries.len(), "{found} ways");
            their_time.as_secs_f64() / our_time.as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

/// The same polygons for the crate, which wants to know what is around each vertex.
pub fn peer(vertices: &[DVec2], polygons: &[Vec<u32>]) -> polyanya::Mesh {
    let mut around: Vec<Vec<u32>> = vec![Vec::new(); vertices.len()];
    let mut sides = BTreeSet::new();
    for (index, polygon) in polygons.iter().enumerate() {
        for (place, &corner) in polygon.iter().enumerate() {
            around[corner as usize].push(index as u32);
            sides.insert((corner, polygon[(place + 1) % polygon.len()]));
        }
    }
    let is_wall = |a: u32, b: u32| !sides.contains(&(b, a));
    let middle = |polygon: u32| {
        let corners = &polygons[polygon as usize];
        corners.iter().map(|&corner| vertices[corner as usize]).sum::<DVec2>() / corners.len() as f64
    };
    for (corner, list) in around.iter_mut().enumerate() {
        let angle = |&polygon: &u32| (middle(polygon) - vertices[corner]).to_angle();
        list.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
    }
    for &(a, b) in sides.iter().filter(|&&(a, b)| is_wall(a, b)) {
        for corner in [a, b] {
            if !around[corner as usize].contains(&u32::MAX) {
                around[corner as usize].push(u32::MAX);
            }
        }
    }
    let vertex = |(at, around): (&DVec2, Vec<u32>)| polyanya::Vertex::new(at.as_vec2(), around);
    let polygon = |corners: &Vec<u32>| {
        let open =
            (0..corners.len()).filter(|&i| !is_wall(corners[i], corners[(i + 1) % corners.len()])).count();
        polyanya::Polygon::new(corners.clone(), open <= 1)
    };
    let mesh = polyanya::Mesh::new(
        vertices.iter().zip(around).map(vertex).collect(),
        polygons.iter().map(polygon).collect(),
    );
    let mut mesh = mesh.expect("a mesh");
    mesh.bake();
    mesh
}
