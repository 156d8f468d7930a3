//! What is left of a path from wherever a search looks: the heuristic of T(Σ4) beyond its horizon.

use crate::space::Space;
use glam::DVec2;

/// The bends of a line to the goal, and how far the goal is from each.
#[derive(Debug)]
pub(crate) struct RemainingDistance {
    /// Without the beginning.
    bends: Vec<DVec2>,
    left: Vec<f64>,
}

/// What is added where no bend is in sight, m: it would not be a way to go straight to one.
const OUT_OF_SIGHT: f64 = 2.0;
/// Bends ahead that count: no agent gets beyond them within a horizon.
const MOST_BENDS: usize = 8;

impl RemainingDistance {
    /// From the bends of a line, the goal last and the beginning left out.
    pub fn along(bends: &[DVec2]) -> RemainingDistance {
        let mut left = vec![0.0; bends.len()];
        for index in (0..bends.len().saturating_sub(1)).rev() {
            left[index] = left[index + 1] + bends[index].distance(bends[index + 1]);
        }
        let count = bends.len().min(MOST_BENDS);
        RemainingDistance { bends: bends[..count].to_vec(), left: left[..count].to_vec() }
    }

    /// How far the goal is from a place: over the bend in sight that makes it shortest. It changes by no more than one moves as
    /// long as the same bends are in sight, so searches may rely on it.
    pub fn distance(&self, space: &Space, at: DVec2) -> f64 {
        let over = |index: usize| self.bends[index].distance(at) + self.left[index];
        let mut best = f64::INFINITY;
        // The last ones first: a way is shortest over the last bend that is in sight.
        for index in (0..self.bends.len()).rev() {
            let length = over(index);
            if length < best && space.is_clear(at, self.bends[index], space.keep()) {
                best = length;
            }
        }
        if best < f64::INFINITY {
            return best;
        }
        (0..self.bends.len()).map(over).fold(f64::INFINITY, f64::min) + OUT_OF_SIGHT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::space::Wall;

    #[test]
    fn a_way_around_a_wall_is_longer_than_through_it() {
        let wall = Wall { a: [5.0, -5.0].into(), b: [5.0, 5.0].into(), two_sided: true };
        let space = Space::new(&[wall], 0.25);
        let remaining = RemainingDistance::along(&[DVec2::new(5.0, 5.5), DVec2::new(10.0, 0.0)]);
        let around = DVec2::new(5.0, 5.5).length() + DVec2::new(5.0, -5.5).length();
        assert!((remaining.distance(&space, DVec2::ZERO) - around).abs() < 1e-9);
        assert!((remaining.distance(&space, DVec2::new(7.0, 0.0)) - 3.0).abs() < 1e-9);
    }
}
