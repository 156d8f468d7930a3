//! The crowd at one moment: bodies in their true size, each with the way it came.

use crate::furniture::Key;
use crate::layout::Stage;
use crate::page::{Path, Shape};
use crate::trails::Paint;
use throng::record::Track;

/// How much of its way a body trails behind it, s.
const TAIL: f64 = 2.5;

/// A tail fades in so many steps.
const STEPS: usize = 8;

pub(crate) fn draw(stage: &mut Stage<'_>, time: f64) -> Key {
    let paint = Paint::new(stage);
    let frame = moment(stage, time);
    let present: Vec<(Track<'_>, usize)> =
        stage.run.tracks().filter_map(|track| Some((track, row_at(&track, frame)?))).collect();
    for (track, row) in &present {
        tail(stage, &paint, track, *row);
    }
    for (track, row) in &present {
        let centre = stage.view.page(track.x[*row], track.y[*row]);
        let radius = stage.radius(track).max(1.5 * stage.unit);
        let fill = Some(paint.agent(stage, track));
        stage.push(Shape::Disc { centre, radius, fill, rim: Some((stage.theme.floor, 0.8 * stage.unit)) });
    }
    let key = paint.key(stage, Vec::new());
    // Bodies and tails have their agents' colours only.
    Key { bar: None, ..key }
}

/// The frame of a time, held within the run.
pub(crate) fn moment(stage: &Stage<'_>, time: f64) -> u32 {
    let (first, last) = stage.frames;
    let after = (time.max(0.0) * stage.run.fps).round() as u32;
    first.saturating_add(after).min(last)
}

/// The row of a frame, or of the one just before it where a tracker missed one.
fn row_at(track: &Track<'_>, frame: u32) -> Option<usize> {
    let row = track.frame.partition_point(|other| *other <= frame).checked_sub(1)?;
    (frame - track.frame[row] <= 1).then_some(row)
}

fn tail(stage: &mut Stage<'_>, paint: &Paint, track: &Track<'_>, row: usize) {
    let rows = (TAIL * stage.run.fps).ceil() as usize;
    let first = row.saturating_sub(rows);
    let agent = paint.agent(stage, track);
    let width = (0.7 * stage.radius(track)).clamp(1.0 * stage.unit, 5.0 * stage.unit);
    for step in 0..STEPS {
        let cut = |step: usize| first + (row - first) * step / STEPS;
        let points: Vec<[f32; 2]> =
            (cut(step)..=cut(step + 1)).map(|row| stage.view.page(track.x[row], track.y[row])).collect();
        if points.len() < 2 {
            continue;
        }
        let fade = 0.92 - 0.5 * (step + 1) as f32 / STEPS as f32;
        let colour = agent.mixed(stage.theme.floor, fade);
        stage.push(Shape::Line { path: Path::smooth(&points), colour, width, round: true });
    }
}
