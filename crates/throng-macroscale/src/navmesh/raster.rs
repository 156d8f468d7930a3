//! Whole numbers for places: on them, touching and crossing are exact.

use glam::DVec2;
use throng_core::geom::overlay;
pub(super) use throng_core::geom::overlay::{FillRule, OverlayRule, Point, Ring, Shapes};

/// The grid that places are rounded to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Raster {
    /// What stands for zero, m.
    pub origin: DVec2,
    /// Grid lines per metre: a power of two, so that scaling is exact.
    pub per_metre: f64,
}

/// Places further from the middle than this many grid lines are too far: twice as many and a `f64` could not hold them.
pub(super) const FURTHEST: f64 = (1u64 << 51) as f64;
/// Half of a map's size, in grid lines, where the raster may choose. Room is left for what is added later.
const FINE: f64 = (1u64 << 44) as f64;
/// Smaller areas come from rounding, in squares of the grid.
const CRUMB: u128 = 4;

impl Raster {
    /// A grid of 60 nm around the world's origin. It does not depend on what is in the world, so nothing that is added
    /// to it or taken away moves anything else.
    pub fn of_world() -> Raster {
        Raster { origin: DVec2::ZERO, per_metre: (1u64 << 24) as f64 }
    }

    /// The finest grid that reaches from one corner of a map to the other.
    pub fn around(low: DVec2, high: DVec2) -> Raster {
        let half = ((high - low) / 2.0).max_element().max(f64::MIN_POSITIVE);
        // By the bits of the number, because logarithms differ between machines.
        let exponent = ((half.to_bits() >> 52) as i32) - 1022;
        let per_metre = 2f64.powi((44 - exponent).clamp(-200, 200));
        debug_assert!(half * per_metre <= FINE);
        Raster { origin: (low + high) / 2.0, per_metre }
    }

    pub fn snap(&self, place: DVec2) -> Point {
        let scaled = (place - self.origin) * self.per_metre;
        let line = |x: f64| x.round().clamp(-2.0 * FURTHEST, 2.0 * FURTHEST) as i64;
        Point::new(line(scaled.x), line(scaled.y))
    }

    /// A grid point in metres from the raster's origin.
    pub fn local(&self, point: Point) -> DVec2 {
        DVec2::new(point.x as f64, point.y as f64) / self.per_metre
    }

    pub fn reaches(&self, place: DVec2) -> bool {
        ((place - self.origin) * self.per_metre).abs().max_element() <= FURTHEST
    }

    /// A length in grid lines, rounded up.
    pub fn lines(&self, metres: f64) -> i64 {
        (metres * self.per_metre).ceil().min(FURTHEST) as i64
    }
}

/// A rectangle of grid points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rect {
    pub low: Point,
    pub high: Point,
}

impl Rect {
    /// The rectangle around points; `None` where there are none.
    pub fn around(points: impl IntoIterator<Item = Point>) -> Option<Rect> {
        points.into_iter().fold(None, |rect: Option<Rect>, point| {
            let rect = rect.unwrap_or(Rect { low: point, high: point });
            Some(rect.with(point))
        })
    }

    fn with(self, point: Point) -> Rect {
        let low = Point::new(self.low.x.min(point.x), self.low.y.min(point.y));
        let high = Point::new(self.high.x.max(point.x), self.high.y.max(point.y));
        Rect { low, high }
    }

    pub fn joined(self, other: Rect) -> Rect {
        self.with(other.low).with(other.high)
    }

    pub fn grown(self, by: i64) -> Rect {
        let low = Point::new(self.low.x - by, self.low.y - by);
        Rect { low, high: Point::new(self.high.x + by, self.high.y + by) }
    }

    pub fn contains(&self, other: &Rect) -> bool {
        self.low.x <= other.low.x
            && other.high.x <= self.high.x
            && self.low.y <= other.low.y
            && other.high.y <= self.high.y
    }

    /// Its corners, counter-clockwise.
    pub fn ring(&self) -> Ring {
        let (low, high) = (self.low, self.high);
        vec![low, Point::new(high.x, low.y), high, Point::new(low.x, high.y)]
    }
}

pub(super) fn overlay(subject: &[Ring], clip: &[Ring], rule: OverlayRule, fill: FillRule) -> Shapes {
    overlay::overlay(subject, clip, rule, fill, CRUMB)
}

/// The part of a ring that lies in a rectangle, for sums of windings: inside of the rectangle every place is wound around
/// as often as before, and whatever runs along its edges cancels out.
pub(super) fn clipped(ring: &[Point], to: &Rect) -> Ring {
    let turned = |point: Point| Point::new(point.y, point.x);
    let columns = between(ring, to.low.x, to.high.x);
    let lines: Ring = columns.into_iter().map(turned).collect();
    between(&lines, to.low.y, to.high.y).into_iter().map(turned).collect()
}

fn between(ring: &[Point], low: i64, high: i64) -> Ring {
    let mirrored = |point: Point| Point::new(-point.x, point.y);
    let above: Ring = not_below(ring, low).into_iter().map(mirrored).collect();
    not_below(&above, -high).into_iter().map(mirrored).collect()
}

/// What of a ring has an x of at least `low` (Sutherland & Hodgman 1974).
fn not_below(ring: &[Point], low: i64) -> Ring {
    let mut kept = Ring::with_capacity(ring.len());
    let mut previous = ring.last().copied();
    for &point in ring {
        if let Some(last) = previous.filter(|last| (last.x < low) != (point.x < low)) {
            kept.push(Point::new(low, height_at(last, point, low)));
        }
        if point.x >= low {
            kept.push(point);
        }
        previous = Some(point);
    }
    kept
}

/// Where a line has an x; the same from both ends.
fn height_at(a: Point, b: Point, x: i64) -> i64 {
    let (a, b) = if a.x <= b.x { (a, b) } else { (b, a) };
    let (run, rise) = (i128::from(b.x - a.x), i128::from(b.y - a.y));
    let part = i128::from(x - a.x) * rise;
    a.y + (2 * part + run).div_euclid(2 * run) as i64
}

/// Twice the signed area of the triangle, exactly.
pub(super) fn turn(a: Point, b: Point, c: Point) -> i128 {
    let (ux, uy) = (i128::from(b.x - a.x), i128::from(b.y - a.y));
    let (vx, vy) = (i128::from(c.x - a.x), i128::from(c.y - a.y));
    ux * vy - uy * vx
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raster_reaches_over_its_map_and_is_fine() {
        for half in [1e-3, 0.5, 1.0, 1.5, 37.0, 1e5, 2e7] {
            let raster = Raster::around(DVec2::splat(3.0 - half), DVec2::splat(3.0 + half));
            let lines = half * raster.per_metre;
            assert!((FINE / 2.0 - 1.0..=FINE).contains(&lines), "{half}: {lines}");
        }
    }

    #[test]
    fn a_clipped_ring_winds_around_what_is_left() {
        let ring = [(0, 0), (10, 0), (10, 10), (0, 10)].map(|(x, y)| Point::new(x, y));
        let to = Rect { low: Point::new(5, -3), high: Point::new(20, 4) };
        let clipped = clipped(&ring, &to);
        assert_eq!(
            Rect::around(clipped.iter().copied()),
            Some(Rect { low: Point::new(5, 0), high: Point::new(10, 4) })
        );
    }
}
