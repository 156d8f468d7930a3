//! Random maps: a hall with stars and open walls in it.

use super::oracle::Map;
use super::{block, obstacle, outline};
use glam::{DVec2, Vec2};
use proptest::prelude::*;
use throng_core::space::Wall;

/// What stands in one of the squares of a random map.
#[derive(Clone, Debug)]
pub enum Piece {
    Nothing,
    /// A star of this many points: convex or not, as its radii come.
    Star(Vec<f64>, f64),
    OpenWall(f64, f64),
}

/// Squares of 4 m, and nothing nearer than 0.3 m to a square's edge.
const SQUARE: f64 = 4.0;
const SIDE: usize = 3;

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        1 => Just(Piece::Nothing),
        4 => (prop::collection::vec(0.3..1.7f64, 3..7), 0.0..6.0f64).prop_map(|(r, turn)| Piece::Star(r, turn)),
        1 => (0.3..1.7f64, 0.0..6.0f64).prop_map(|(half, turn)| Piece::OpenWall(half, turn)),
    ]
}

pub fn map() -> impl Strategy<Value = Map> {
    (prop::collection::vec(piece(), SIDE * SIDE), 0.5..3.0f64).prop_map(|(pieces, notch)| {
        let mut map = Map { outline: hall(notch), ..Map::default() };
        for (index, piece) in pieces.iter().enumerate() {
            let middle = DVec2::new((index % SIDE) as f64 + 0.5, (index / SIDE) as f64 + 0.5) * SQUARE;
            match piece {
                Piece::Nothing => {}
                Piece::Star(radii, turn) => map.solid.push(star(middle, radii, *turn)),
                Piece::OpenWall(half, turn) => {
                    let offset = DVec2::from_angle(*turn) * *half;
                    map.open.push([rounded(middle - offset), rounded(middle + offset)]);
                }
            }
        }
        map
    })
}

/// A hall around all squares, with a bay at the top where the outline has corners that stick out.
fn hall(notch: f64) -> Vec<DVec2> {
    let (low, high) = (-1.0, SQUARE * SIDE as f64 + 1.0);
    let ring = [(low, low), (high, low), (high, high), (9.0, high + notch), (8.0, high), (low, high)];
    ring.map(|(x, y)| rounded(DVec2::new(x, y))).to_vec()
}

pub fn star(middle: DVec2, radii: &[f64], turn: f64) -> Vec<DVec2> {
    let step = std::f64::consts::TAU / radii.len() as f64;
    let corner = |(i, &radius): (usize, &f64)| middle + DVec2::from_angle(turn + step * i as f64) * radius;
    radii.iter().enumerate().map(corner).map(rounded).collect()
}

/// As the model's walls hold it.
fn rounded(place: DVec2) -> DVec2 {
    place.as_vec2().as_dvec2()
}

pub fn walls(map: &Map) -> Vec<Wall> {
    let narrow = |ring: &[DVec2]| ring.iter().map(|place| place.as_vec2()).collect::<Vec<Vec2>>();
    let mut walls = outline(&narrow(&map.outline));
    walls.extend(map.solid.iter().flat_map(|ring| obstacle(&narrow(ring))));
    walls.extend(map.open.iter().map(|[a, b]| Wall { a: a.as_vec2(), b: b.as_vec2(), two_sided: true }));
    walls
}

pub fn place() -> impl Strategy<Value = Vec2> {
    let range = -0.9f32..SQUARE as f32 * SIDE as f32 + 0.9;
    (range.clone(), range).prop_map(|(x, y)| Vec2::new(x, y))
}

pub fn free(map: &Map, place: Vec2, room: f64) -> bool {
    map.is_free(place.as_dvec2()) && map.clearance(place.as_dvec2()) > room
}

/// A field of blocks, none like the next, in which one sees far.
pub fn blocks(side: usize) -> Vec<Wall> {
    let block = |i: usize| {
        let (x, y) = ((i % side) as f32 * 4.0, (i / side) as f32 * 4.0);
        let skew = ((i * 7919) % 13) as f32 / 10.0;
        obstacle(&[[x, y + skew], [x + 2.0 - skew, y], [x + 2.0, y + 2.0], [x, y + 2.2]].map(Vec2::from))
    };
    (0..side * side).flat_map(block).collect()
}

/// A wall from bottom to top of a hall with a door of 1 m at the bottom and one of 3 m at the top.
pub fn two_doors() -> Vec<Wall> {
    let mut walls = outline(&block([-10.0, -10.0], [10.0, 10.0]));
    walls.extend(obstacle(&block([-0.2, -9.0], [0.2, 7.0])));
    walls
}
