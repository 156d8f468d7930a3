//! Set operations on polygons in whole numbers: on them, touching and crossing are exact, and every answer is valid.
//!
//! Maps and navigation meshes share this one function: it is most of what is compiled of the library behind it.

pub use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay::{IntOverlayOptions, Overlay};
pub use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::i_float::int::point::IntPoint;

/// A corner on a grid.
pub type Point = IntPoint<i64>;
/// Corners one after the other, the last one joined to the first.
pub type Ring = Vec<Point>;
/// Polygons: an outer ring counter-clockwise, then its holes clockwise.
pub type Shapes = Vec<Vec<Ring>>;

/// What a rule makes of two sets of rings. Parts that are smaller than `least_area`, in squares of the grid, are left out.
pub fn overlay(
    subject: &[Ring],
    clip: &[Ring],
    rule: OverlayRule,
    fill: FillRule,
    least_area: u128,
) -> Shapes {
    let options = IntOverlayOptions { min_output_area: least_area, ..IntOverlayOptions::ogc() };
    Overlay::from_subj_and_clip_custom(subject, clip, options, Default::default()).overlay(rule, fill)
}
