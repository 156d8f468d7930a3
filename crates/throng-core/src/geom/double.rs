//! Segments, rings and lines of several pieces in double precision: for maps and planners.

use glam::DVec2;

/// The point of segment `a`–`b` closest to a place.
#[inline]
pub fn closest_on_segment(place: DVec2, a: DVec2, b: DVec2) -> DVec2 {
    let along = b - a;
    let length = along.length_squared();
    let share = if length > 0.0 { ((place - a).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
    a + along * share
}

/// How far a place is from segment `a`–`b`.
#[inline]
pub fn distance_to_segment(place: DVec2, a: DVec2, b: DVec2) -> f64 {
    place.distance(closest_on_segment(place, a, b))
}

/// Whether two segments cross. Those that only touch do not.
pub fn cross([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> bool {
    let side = |a: DVec2, b: DVec2, point: DVec2| (b - a).perp_dot(point - a);
    side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}

/// The edges of a ring, the last one back to its beginning.
pub fn edges(ring: &[DVec2]) -> impl Iterator<Item = [DVec2; 2]> + '_ {
    (0..ring.len()).map(|index| [ring[index], ring[(index + 1) % ring.len()]])
}

/// The area of a ring, positive where it runs counter-clockwise.
pub fn signed_area(ring: &[DVec2]) -> f64 {
    // Around the first corner, so that a small ring far from zero keeps its digits.
    let Some(&origin) = ring.first() else { return 0.0 };
    edges(ring).map(|[a, b]| (a - origin).perp_dot(b - origin)).sum::<f64>() / 2.0
}

/// Whether a ring winds around a point.
pub fn winds_around(ring: &[DVec2], point: DVec2) -> bool {
    let turn = |[a, b]: [DVec2; 2]| {
        let left = (b - a).perp_dot(point - a);
        if a.y <= point.y && b.y > point.y && left > 0.0 {
            1
        } else if a.y > point.y && b.y <= point.y && left < 0.0 {
            -1
        } else {
            0
        }
    };
    edges(ring).map(turn).sum::<i32>() != 0
}

/// How long a line of several pieces is.
pub fn length(line: &[DVec2]) -> f64 {
    line.windows(2).map(|pair| pair[0].distance(pair[1])).sum()
}

/// The beginning of a line of several pieces, as long as given.
pub fn cut(line: &[DVec2], longest: f64) -> Vec<DVec2> {
    let mut left = longest;
    let mut near: Vec<DVec2> = line.first().copied().into_iter().collect();
    for pair in line.windows(2) {
        let length = pair[0].distance(pair[1]);
        if length > left {
            near.push(pair[0].lerp(pair[1], left / length));
            break;
        }
        near.push(pair[1]);
        left -= length;
    }
    near
}

/// Where one is after a distance from a place along the line over some others; at its end beyond that.
pub fn after_distance(mut at: DVec2, line: &[DVec2], mut distance: f64) -> DVec2 {
    for &next in line {
        let length = at.distance(next);
        if length >= distance {
            return if length > 0.0 { at.lerp(next, distance / length) } else { at };
        }
        (at, distance) = (next, distance - length);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_it_is_as_long_as_given() {
        let line = [0.0, 4.0, 10.0].map(|x| DVec2::new(x, 0.0));
        assert_eq!(length(&line), 10.0);
        assert_eq!(cut(&line, 7.0), [0.0, 4.0, 7.0].map(|x| DVec2::new(x, 0.0)));
        assert_eq!(cut(&line, 99.0), line);
        let after = |distance| after_distance(line[0], &line[1..], distance).x;
        assert_eq!([after(0.0), after(7.0), after(99.0)], [0.0, 7.0, 10.0]);
    }

    #[test]
    fn a_ring_winds_around_what_is_inside_and_has_an_area() {
        let ring = [(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)].map(DVec2::from);
        assert!(winds_around(&ring, DVec2::ONE) && !winds_around(&ring, DVec2::splat(3.0)));
        assert_eq!((signed_area(&ring), signed_area(&[ring[2], ring[1], ring[0]])), (4.0, -2.0));
        assert!(
            cross([ring[0], ring[2]], [ring[1], ring[3]]) && !cross([ring[0], ring[1]], [ring[1], ring[2]])
        );
        assert_eq!(distance_to_segment(DVec2::new(1.0, -3.0), ring[0], ring[1]), 3.0);
    }
}
