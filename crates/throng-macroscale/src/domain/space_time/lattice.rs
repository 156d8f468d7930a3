//! Sixteen headings, and steps that end on the lattice.

use glam::{DVec2, IVec2};

pub(super) const HEADINGS: usize = 16;

/// The place of the lattice that is nearest to a vector, among the four around it that are no further than the longest.
pub(super) fn nearest_lines(vector: DVec2, longest: f64) -> IVec2 {
    let low = vector.floor();
    let around = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(|(x, y)| low + DVec2::new(x, y));
    let reached = around.into_iter().filter(|place| place.length() <= longest * (1.0 + 1e-9));
    let nearest = reached.min_by(|a, b| a.distance_squared(vector).total_cmp(&b.distance_squared(vector)));
    nearest.unwrap_or(vector.trunc()).as_ivec2()
}

pub(in crate::domain) fn turned(heading: u8, turn: i8) -> u8 {
    (heading as i8 + turn).rem_euclid(HEADINGS as i8) as u8
}

/// From one heading to another the short way.
pub(super) fn turn_between(from: u8, to: u8) -> i8 {
    let turn = (to as i8 - from as i8).rem_euclid(HEADINGS as i8);
    if turn > 8 { turn - 16 } else { turn }
}

/// The unit vector of a heading, from square roots only, so that all machines agree on every bit.
pub(crate) fn direction(heading: u8) -> DVec2 {
    let root = 2.0_f64.sqrt();
    let (wide, narrow) = ((2.0 + root).sqrt() / 2.0, (2.0 - root).sqrt() / 2.0);
    let quarter = [(1.0, 0.0), (wide, narrow), (root / 2.0, root / 2.0), (narrow, wide)];
    let (x, y) = quarter[heading as usize % 4];
    match heading / 4 % 4 {
        0 => DVec2::new(x, y),
        1 => DVec2::new(-y, x),
        2 => DVec2::new(-x, -y),
        _ => DVec2::new(y, -x),
    }
}

/// The heading nearest to a vector; the first one of none.
pub(in crate::domain) fn heading_of(vector: DVec2) -> u8 {
    let along = |heading: &u8| direction(*heading).dot(vector);
    (0..HEADINGS as u8).rev().max_by(|a, b| along(a).total_cmp(&along(b))).unwrap_or(0)
}
