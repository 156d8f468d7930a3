//! One body as a blob on a grid: what it adds to the four cells whose middles are closest to it.

use fearless_simd::{Simd, f32x16, i32x16, prelude::*};
use glam::{IVec2, Vec2};

/// A Gaussian, of which only the four closest cells get something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blob {
    /// In its middle.
    amplitude: f32,
    /// By axis: the exponent at a distance of one cell.
    exponent: Vec2,
}

/// What a body adds, and where.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Splat {
    /// The lower left of the four cells.
    pub cell: IVec2,
    /// Lower left, lower right, upper left, upper right.
    pub weight: [f32; 4],
}

/// From the lower left cell to each of the four.
pub const FOUR: [IVec2; 4] = [IVec2::ZERO, IVec2::X, IVec2::Y, IVec2::ONE];

impl Blob {
    /// From its height, its standard deviations, m, and the side of cells, m.
    pub fn new(amplitude: f32, spread: Vec2, cell: f32) -> Blob {
        Blob { amplitude, exponent: -0.5 * (cell / spread) * (cell / spread) }
    }

    /// Of a body at a place in cells, where the middle of the first cell is at (0.5, 0.5).
    #[inline(always)]
    pub fn splat(&self, place: Vec2) -> Splat {
        let shifted = place - 0.5;
        let lower = shifted.floor();
        let (near, far) = (shifted - lower, Vec2::ONE - (shifted - lower));
        let fall = |offset: Vec2| offset * offset * self.exponent;
        let (near, far) = (fall(near), fall(far));
        let ([left, right], [low, high]) = ([near.x, far.x].map(exp), [near.y, far.y].map(exp));
        let weight = [left * low, right * low, left * high, right * high];
        Splat { cell: lower.as_ivec2(), weight: weight.map(|weight| weight * self.amplitude) }
    }
}

/// Sixteen splats, one column per property.
pub struct Splats {
    /// Of the lower left of the four cells.
    pub column: [i32; 16],
    /// Of the lower left of the four cells.
    pub line: [i32; 16],
    /// Of the two lower cells, left and right, and of the two upper ones.
    pub weight: [[[f32; 2]; 16]; 2],
}

impl Blob {
    /// Of sixteen bodies, as [`splat`](Blob::splat), each as often as it counts.
    #[inline(always)]
    pub fn splats<S: Simd>(&self, simd: S, [x, y]: [f32x16<S>; 2], counts: f32x16<S>) -> Splats {
        let splat = |value: f32| f32x16::splat(simd, value);
        let (column, left, right) = along(simd, x, self.exponent.x);
        let (line, low, high) = along(simd, y, self.exponent.y);
        let (low, high) = (low * splat(self.amplitude), high * splat(self.amplitude));
        let mut splats = Splats { column: [0; 16], line: [0; 16], weight: [[[0.0; 2]; 16]; 2] };
        for (lower, cells) in [(column, &mut splats.column), (line, &mut splats.line)] {
            i32x16::truncate_from_precise(lower).store_slice(cells);
        }
        for (height, held) in [low, high].into_iter().zip(&mut splats.weight) {
            let (first, last) = (left * height * counts).interleave(right * height * counts);
            let (low, high) = held.as_flattened_mut().split_at_mut(16);
            first.store_slice(low);
            last.store_slice(high);
        }
        splats
    }
}

/// Along one axis: the lower cell, and what it and the next one get.
#[inline(always)]
fn along<S: Simd>(simd: S, place: f32x16<S>, exponent: f32) -> (f32x16<S>, f32x16<S>, f32x16<S>) {
    let splat = |value: f32| f32x16::splat(simd, value);
    let shifted = place - splat(0.5);
    let lower = shifted.floor();
    let near = shifted - lower;
    let far = splat(1.0) - near;
    let exponent = splat(exponent);
    (lower, exps(simd, near * near * exponent), exps(simd, far * far * exponent))
}

/// As [`exp`].
#[inline(always)]
fn exps<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let splat = |value: f32| f32x16::splat(simd, value);
    let y = x.max(splat(-40.0)) * splat(1.0 / 16.0);
    let rest = splat(1.0 / 24.0) + y * splat(1.0 / 120.0);
    let once = splat(1.0) + y * (splat(1.0) + y * (splat(0.5) + y * (splat(1.0 / 6.0) + y * rest)));
    let twice = once * once;
    let four = twice * twice;
    let eight = four * four;
    eight * eight
}

/// e to the power of a number that is not above 0, within a ten-thousandth where that is not tiny: less exact than
/// [`geom::exp`](crate::geom::exp), and faster where sixteen are worked out at once.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // The series of a sixteenth, to the power of sixteen.
    let y = x.max(-40.0) * (1.0 / 16.0);
    let once = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0)))));
    let twice = once * once;
    let four = twice * twice;
    let eight = four * four;
    eight * eight
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_exponential_is_close() {
        for i in 0..4000 {
            let x = -0.01 * i as f32;
            assert!(
                (exp(x) - x.exp()).abs() < 1e-4 * x.exp() + 1e-6,
                "{x}: {} instead of {}",
                exp(x),
                x.exp()
            );
        }
    }

    proptest! {
        /// The paper's equation, cell by cell.
        #[test]
        fn a_splat_is_the_papers(
            place in (-50.0f32..50.0, -50.0f32..50.0),
            spread in (0.1f32..2.0, 0.1f32..2.0),
            cell in 0.1f32..2.0,
        ) {
            let (place, spread) = (Vec2::from(place), Vec2::from(spread));
            let splat = Blob::new(1.7, spread, cell).splat(place / cell);
            let mut distances = Vec::new();
            for (offset, weight) in FOUR.into_iter().zip(splat.weight) {
                let away = ((splat.cell + offset).as_vec2() + 0.5) * cell - place;
                let exact = 1.7 * (-(away / spread).powf(2.0).element_sum() / 2.0).exp();
                prop_assert!((weight - exact).abs() < 2e-3 * exact + 1e-6, "{} instead of {}", weight, exact);
                distances.push(away.abs().max_element());
            }
            // They are the closest: none is further than a cell along an axis.
            prop_assert!(distances.iter().all(|&away| away <= cell * 1.0001));
        }
    }
}
