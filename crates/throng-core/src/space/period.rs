//! Space that repeats, along one axis or both: who leaves a cell at one side comes in at the other.
//!
//! Of another body only the nearest of its images counts, so that a pair is one pair however short the period is. Two ways to find
//! it were weighed. *Ghost rows*: copies of all bodies near a seam, beside the rows that are there. A search needs no change, but
//! every column that a stage reads of another would need the copies too (wishes, memory, moves), contacts would have to push an
//! agent through its copies, and a period shorter than twice the look needs copies of copies. *The nearest image*, which is what
//! is done here: a difference of two places is brought to within half a period wherever one is taken. The [`Cells`](super::Cells)
//! are a torus already; here its circumference is the period, so a search finds every row once, across the seam or not. Where
//! nothing repeats that is a branch for each agent, which always goes the same way, and all bits stay what they were: the loop over
//! candidates is compiled once for each kind of space, because a branch in it costs a few percent of a step.
//!
//! Walls are seen from every cell: they have no rows that anything else is known of, so they are simply there several times.

use fearless_simd::{Simd, f32x16, prelude::*};
use glam::Vec2;

/// By which lengths space repeats. None by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Period {
    repeats: bool,
    low: Vec2,
    length: Vec2,
    per_length: Vec2,
}

impl Period {
    /// Space with a cell that begins at `low` and is as long as `length`, m; 0 along an axis that does not repeat.
    pub fn new(low: Vec2, length: Vec2) -> Period {
        let per_length = |length: f32| if length > 0.0 { 1.0 / length } else { 0.0 };
        Period {
            repeats: length.max_element() > 0.0,
            low,
            length: length.max(Vec2::ZERO),
            per_length: Vec2::new(per_length(length.x), per_length(length.y)),
        }
    }

    /// Whether anything repeats.
    #[inline(always)]
    pub fn repeats(&self) -> bool {
        self.repeats
    }

    /// Where the cell begins, m; 0 along an axis that does not repeat.
    pub(super) fn low(&self) -> Vec2 {
        Vec2::new(
            if self.length.x > 0.0 { self.low.x } else { 0.0 },
            if self.length.y > 0.0 { self.low.y } else { 0.0 },
        )
    }

    /// How long the cell is, m; 0 along an axis that does not repeat.
    #[inline(always)]
    pub fn length(&self) -> Vec2 {
        self.length
    }

    /// From one body to the nearest image of another, given the difference of their places.
    #[inline(always)]
    pub fn nearest(&self, offset: Vec2) -> Vec2 {
        if self.repeats { offset + self.shift(offset) } else { offset }
    }

    /// What has to be added to a body's place for its image nearest to another, given the difference of their places: a multiple
    /// of the period, and zero where nothing repeats.
    #[inline(always)]
    pub fn shift(&self, offset: Vec2) -> Vec2 {
        if self.repeats { -self.length * (offset * self.per_length + 0.5).floor() } else { Vec2::ZERO }
    }

    /// Another's place as it is seen from one: the nearest of its images.
    #[inline(always)]
    pub fn image(&self, from: Vec2, to: Vec2) -> Vec2 {
        if self.repeats { from + self.nearest(to - from) } else { to }
    }

    /// From a place to the image of it that is seen from another. Not inlined: where nothing repeats it would only be in the way.
    #[inline(never)]
    pub fn seam(&self, from: Vec2, place: Vec2) -> Vec2 {
        self.image(from, place) - place
    }

    /// The same as [`nearest`](Period::nearest) for sixteen at once, with the same bits.
    #[inline(always)]
    pub fn nearest_lanes<S: Simd>(&self, simd: S, [x, y]: [f32x16<S>; 2]) -> [f32x16<S>; 2] {
        if !self.repeats {
            return [x, y];
        }
        let splat = |value: f32| f32x16::splat(simd, value);
        let along = |offset: f32x16<S>, length: f32, per_length: f32| {
            offset - splat(length) * (offset * splat(per_length) + splat(0.5)).floor()
        };
        [along(x, self.length.x, self.per_length.x), along(y, self.length.y, self.per_length.y)]
    }

    /// A place in the cell, and what was added to get there: a multiple of the period.
    pub fn fold(&self, place: Vec2) -> (Vec2, Vec2) {
        let along = |place: f32, low: f32, length: f32| {
            if length <= 0.0 || (low..low + length).contains(&place) {
                return (place, 0.0);
            }
            let added = -length * ((place - low) / length).floor();
            // A hair below the cell is rounded to its end, which is its beginning.
            match place + added {
                folded if folded < low => (low, added),
                folded if folded >= low + length => (low, added - length),
                folded => (folded, added),
            }
        };
        let (x, added_x) = along(place.x, self.low.x, self.length.x);
        let (y, added_y) = along(place.y, self.low.y, self.length.y);
        (Vec2::new(x, y), Vec2::new(added_x, added_y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_nearest_image_is_the_nearest(
            offset in (-100.0f32..100.0, -100.0f32..100.0), length in (0.5f32..40.0, 0.5f32..40.0), axes in 0..4,
        ) {
            let used = |axis: i32, length: f32| if axes & (1 << axis) > 0 { length } else { 0.0 };
            let length = Vec2::new(used(0, length.0), used(1, length.1));
            let offset = Vec2::from(offset);
            let nearest = Period::new(Vec2::ZERO, length).nearest(offset);
            let images = |length: f32| (-250..250).map(move |k| k as f32 * length).take(if length > 0.0 { 500 } else { 1 });
            let along = |offset: f32, length: f32| match length {
                0.0 => offset.abs(),
                _ => images(length).map(|image| (offset + image).abs()).fold(f32::MAX, f32::min),
            };
            let best = Vec2::new(along(offset.x, length.x), along(offset.y, length.y));
            prop_assert!((nearest.abs() - best).abs().max_element() < 1e-4, "{nearest} instead of {best}");
        }

        #[test]
        fn a_folded_place_is_in_the_cell(place in -200.0f32..200.0, low in -50.0f32..50.0, length in 0.5f32..40.0) {
            let period = Period::new(Vec2::new(low, 0.0), Vec2::new(length, 0.0));
            let (folded, added) = period.fold(Vec2::new(place, place));
            prop_assert!((low..low + length).contains(&folded.x), "{folded}");
            prop_assert_eq!((folded.y, added.y), (place, 0.0));
            prop_assert!((place + added.x - folded.x).abs() < 1e-4);
            let turns = added.x / length;
            prop_assert!((turns - turns.round()).abs() < 1e-4, "{turns}");
        }
    }

    #[test]
    fn a_hair_below_the_cell_is_its_beginning() {
        let period = Period::new(Vec2::ZERO, Vec2::new(26.0, 0.0));
        assert_eq!(period.fold(Vec2::new(-1e-10, 0.0)), (Vec2::ZERO, Vec2::ZERO));
        assert_eq!(period.fold(Vec2::new(26.0, 0.0)), (Vec2::ZERO, Vec2::new(-26.0, 0.0)));
    }
}
