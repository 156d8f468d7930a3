//! Where feet were put down: left ones filled, right ones drawn round.

use crate::colour::Colour;
use crate::layout::Stage;
use crate::page::{Part, Path, Shape};
use crate::trails::Paint;
use glam::Vec2;
use std::collections::BTreeMap;
use throng::record::FootprintRow;

/// Heel to toe, m.
const LENGTH: f32 = 0.26;
/// No foot is drawn smaller, design pixels.
const LEAST: f32 = 5.0;
/// More would only blacken the floor.
const MOST: usize = 20_000;
/// How long a footprint is shown in a moment's picture, s.
const SHOWN: f64 = 2.5;

/// All footprints of a run. Says whether there are any.
pub(crate) fn draw(stage: &mut Stage<'_>, paint: &Paint) -> bool {
    let shapes = shapes(stage, paint, f64::NEG_INFINITY, f64::INFINITY);
    let any = !shapes.is_empty();
    stage.page.shapes.extend(shapes);
    any
}

/// The footprints of the last seconds before a time, s from the run's start.
pub(crate) fn recent(stage: &Stage<'_>, paint: &Paint, time: f64) -> Vec<Shape> {
    let begin = f64::from(stage.frames.0) / stage.run.fps;
    shapes(stage, paint, begin + time - SHOWN, begin + time)
}

fn shapes(stage: &Stage<'_>, paint: &Paint, after: f64, until: f64) -> Vec<Shape> {
    let prints = &stage.run.footprints;
    if prints.len() > MOST || !paint.few {
        return Vec::new();
    }
    let colours: BTreeMap<i64, Colour> =
        stage.run.tracks().map(|track| (track.id, paint.agent(stage, &track))).collect();
    let shown = prints.iter().filter(|print| print.time > after && print.time <= until + 1e-6);
    shown
        .map(|print| {
            let colour = colours.get(&print.id).copied().unwrap_or(stage.theme.faint_ink);
            let along = Vec2::new(print.along[0] as f32, -print.along[1] as f32);
            shape(stage, stage.view.page_of(print.at), along, print, colour)
        })
        .collect()
}

fn shape(stage: &Stage<'_>, at: [f32; 2], along: Vec2, print: &FootprintRow, colour: Colour) -> Shape {
    let length = (LENGTH * stage.view.scale).max(LEAST * stage.unit);
    let path = sole(at.into(), along, length, print.left);
    let dark = colour.mixed(stage.theme.ink, 0.25);
    if print.left {
        Shape::Area { path, fill: dark }
    } else {
        let width = (0.07 * length).clamp(0.6 * stage.unit, 1.6 * stage.unit);
        Shape::Line { path, colour: dark, width, round: true }
    }
}

/// A sole: narrow at the heel, wide at the ball, the big toe towards the other foot. On a page y points down.
pub(crate) fn sole(at: Vec2, along: Vec2, length: f32, left: bool) -> Path {
    let outwards = if left { Vec2::new(along.y, -along.x) } else { Vec2::new(-along.y, along.x) };
    let place = |ahead: f32, out: f32| (at + (along * ahead + outwards * out) * length).to_array();
    let parts = vec![
        Part::Start(place(-0.5, 0.0)),
        Part::Curve(place(-0.5, 0.17), place(-0.1, 0.1), place(0.15, 0.2)),
        Part::Curve(place(0.3, 0.24), place(0.42, 0.12), place(0.5, -0.06)),
        Part::Curve(place(0.52, -0.2), place(0.3, -0.2), place(0.15, -0.16)),
        Part::Curve(place(-0.1, -0.1), place(-0.5, -0.17), place(-0.5, 0.0)),
        Part::Close,
    ];
    Path { parts }
}
