//! Corners that stick out into free space, and how the arc of a body around one is cut into straight pieces.
//!
//! Directions come from halving angles, which takes square roots only, so that all machines agree on every bit.

use glam::DVec2;
use std::cmp::Ordering;

/// A wall in double precision; one-sided ones have free space on their left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Segment {
    pub a: DVec2,
    pub b: DVec2,
    pub two_sided: bool,
}

/// A corner that sticks out into free space, and the unit vectors between which a body rounds it, counter-clockwise.
pub(crate) struct Corner {
    pub at: DVec2,
    pub before: DVec2,
    pub after: DVec2,
}

/// A wall that ends at a corner, seen from there.
#[derive(Clone, Copy)]
struct Ray {
    from: DVec2,
    direction: DVec2,
    free_left: bool,
    free_right: bool,
}

/// The corners that walls have towards free space.
pub(crate) fn corners(walls: &[Segment]) -> Vec<Corner> {
    let mut rays: Vec<Ray> = (walls.iter())
        .flat_map(|wall| {
            let (along, open) = ((wall.b - wall.a).normalize(), wall.two_sided);
            [
                Ray { from: wall.a, direction: along, free_left: true, free_right: open },
                Ray { from: wall.b, direction: -along, free_left: open, free_right: true },
            ]
        })
        .collect();
    rays.sort_by(|a, b| by_place(a.from, b.from).then_with(|| by_angle(a.direction, b.direction)));
    rays.chunk_by(|a, b| a.from == b.from).filter_map(widest_gap).collect()
}

/// The free sector of more than half a turn between the walls that meet in a corner, if there is one.
fn widest_gap(rays: &[Ray]) -> Option<Corner> {
    let last = rays.len() - 1;
    (0..rays.len()).find_map(|index| {
        let (right, left) = (rays[index], rays[if index == last { 0 } else { index + 1 }]);
        let (cross, dot) = (right.direction.perp_dot(left.direction), right.direction.dot(left.direction));
        // All in one line, one upon another: the end of an open wall.
        let whole_turn = index == last && cross == 0.0 && dot > 0.0;
        let wide = cross < 0.0 || whole_turn;
        (wide && right.free_left && left.free_right).then(|| Corner {
            at: right.from,
            before: right.direction.perp(),
            after: -left.direction.perp(),
        })
    })
}

fn by_place(a: DVec2, b: DVec2) -> Ordering {
    a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y))
}

/// Counter-clockwise from the x axis.
fn by_angle(a: DVec2, b: DVec2) -> Ordering {
    let lower_half = |d: DVec2| d.y < 0.0 || (d.y == 0.0 && d.x < 0.0);
    lower_half(a).cmp(&lower_half(b)).then_with(|| 0.0.partial_cmp(&a.perp_dot(b)).unwrap_or(Ordering::Equal))
}

/// Halves the turn from one unit vector to another until no part is wider than the widest.
pub(crate) fn split(before: DVec2, after: DVec2, widest: f64, part: &mut impl FnMut(DVec2, DVec2)) {
    if before.dot(after) >= widest {
        return part(before, after);
    }
    let middle = halfway(before, after);
    split(before, middle, widest, part);
    split(middle, after, widest, part);
}

/// The unit vector in the middle of a counter-clockwise turn of at most half a circle.
pub(crate) fn halfway(before: DVec2, after: DVec2) -> DVec2 {
    let (sum, across) = (before + after, after - before);
    if sum.length_squared() > across.length_squared() {
        sum.normalize()
    } else {
        // Of two opposite directions the sum says nothing, but what lies across does.
        -across.perp().normalize()
    }
}
