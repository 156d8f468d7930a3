//! Where there is no ground: no foot can be there, and what walks without feet takes its edges for walls.

use crate::geom::double::{cross, edges};
use glam::DVec2;

/// Every gap in the ground.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gaps {
    gaps: Vec<Gap>,
}

/// A ring, m from the world's origin, and the box around it.
#[derive(Clone, Debug, PartialEq)]
struct Gap {
    ring: Vec<DVec2>,
    low: DVec2,
    high: DVec2,
}

impl Gaps {
    /// Within rings, which may touch and overlap.
    pub fn new(rings: impl IntoIterator<Item = Vec<DVec2>>) -> Gaps {
        let gap = |ring: Vec<DVec2>| {
            let low = ring.iter().fold(DVec2::MAX, |low, corner| low.min(*corner));
            let high = ring.iter().fold(DVec2::MIN, |high, corner| high.max(*corner));
            Gap { ring, low, high }
        };
        Gaps { gaps: rings.into_iter().filter(|ring| ring.len() > 2).map(gap).collect() }
    }

    /// Whether there is ground everywhere.
    pub fn is_empty(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Whether a place is over one.
    pub fn holds(&self, place: DVec2) -> bool {
        self.gaps.iter().any(|gap| gap.holds(place))
    }

    /// Whether any part of a convex outline, counter-clockwise, is over one.
    pub fn touch(&self, outline: &[DVec2]) -> bool {
        let low = outline.iter().fold(DVec2::MAX, |low, corner| low.min(*corner));
        let high = outline.iter().fold(DVec2::MIN, |high, corner| high.max(*corner));
        let near = self.gaps.iter().filter(|gap| gap.low.cmplt(high).all() && gap.high.cmpgt(low).all());
        near.into_iter().any(|gap| gap.touches(outline))
    }
}

impl Gap {
    fn holds(&self, place: DVec2) -> bool {
        if place.cmplt(self.low).any() || place.cmpgt(self.high).any() {
            return false;
        }
        let crosses = |[a, b]: [DVec2; 2]| {
            (a.y > place.y) != (b.y > place.y)
                && place.x < (b.x - a.x) * ((place.y - a.y) / (b.y - a.y)) + a.x
        };
        edges(&self.ring).filter(|&edge| crosses(edge)).count() % 2 == 1
    }

    fn touches(&self, outline: &[DVec2]) -> bool {
        let inside = |place: DVec2| edges(outline).all(|[a, b]| (b - a).perp_dot(place - a) > 0.0);
        outline.iter().any(|&corner| self.holds(corner))
            || self.ring.iter().any(|&corner| inside(corner))
            || edges(&self.ring).any(|edge| edges(outline).any(|other| cross(edge, other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(x: f64, y: f64, side: f64) -> Vec<DVec2> {
        [(0.0, 0.0), (side, 0.0), (side, side), (0.0, side)].map(|(dx, dy)| DVec2::new(x + dx, y + dy)).into()
    }

    #[test]
    fn a_foot_touches_a_gap_with_a_corner_with_an_edge_and_around_it() {
        let gaps = Gaps::new([square(0.0, 0.0, 2.0), square(5.0, 5.0, 0.01)]);
        let touch = |x, y| gaps.touch(&square(x, y, 0.3));
        assert!(touch(1.0, 1.0) && touch(1.9, 1.0) && touch(-0.2, -0.2));
        assert!(touch(4.9, 4.9), "the gap is smaller than the foot");
        assert!(!touch(2.0, 1.0) && !touch(-0.4, 0.0) && !touch(4.6, 4.6));
        let narrow = Gaps::new([[(0.0, 0.1), (9.0, 0.1), (9.0, 0.2), (0.0, 0.2)].map(DVec2::from).to_vec()]);
        assert!(narrow.touch(&square(3.0, 0.0, 0.3)), "no corner of either is inside the other");
    }

    #[test]
    fn either_winding_is_the_same_gap() {
        let mut ring = square(0.0, 0.0, 2.0);
        ring.reverse();
        let gaps = Gaps::new([ring]);
        assert!(gaps.holds(DVec2::new(1.0, 0.5)) && !gaps.holds(DVec2::new(1.0, 2.5)));
    }
}
