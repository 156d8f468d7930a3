//! The crowd at one moment: bodies in their true size, each with the way it came.

use crate::ColourBy;
use crate::feet;
use crate::furniture::Key;
use crate::layout::Stage;
use crate::page::{Path, Shape};
use crate::trails::Paint;
use glam::Vec2;
use throng::record::Track;

/// How much of its way a body trails behind it, s.
const TAIL: f64 = 2.5;

/// Steps in which a tail fades.
const STEPS: usize = 8;

/// Width of the rim that keeps bodies apart, design pixels.
pub(crate) const RIM: f32 = 0.8;

/// An agent that was not seen for longer than this is taken to have been away, s.
const MISSED: f64 = 0.5;

/// An agent at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    /// The last row before the moment.
    pub(crate) row: usize,
    /// Where it is on the page.
    pub(crate) at: [f32; 2],
}

pub(crate) fn draw(stage: &mut Stage<'_>, time: f64) -> Key {
    let paint = Paint::new(stage);
    let frame = f64::from(moment(stage, time));
    let present: Vec<(Track<'_>, Body)> =
        stage.run.tracks().filter_map(|track| Some((track, body_at(stage, &track, frame)?))).collect();
    let movers = stage.movers_at(time);
    stage.page.shapes.extend(movers);
    let mut tails = Vec::new();
    for (track, body) in &present {
        let (agent, width) = (paint.body(stage, track, body.row), tail_width(stage, track));
        tail(stage, track, body, |step, points| {
            let colour = agent.mixed(stage.theme.floor, fade(step));
            tails.push(Shape::Line { path: Path::smooth(points), colour, width, round: true });
        });
    }
    stage.page.shapes.extend(tails);
    let prints = feet::recent(stage, &paint, time);
    stage.page.shapes.extend(prints);
    for (track, body) in &present {
        let radius = radius(stage, track);
        let fill = Some(paint.body(stage, track, body.row));
        let rim = Some((stage.theme.floor, RIM * stage.unit));
        stage.push(Shape::Disc { centre: body.at, radius, fill, rim });
    }
    key(&paint, stage)
}

/// What of the colours has to be explained: bodies have one at a time, so time needs no ramp.
pub(crate) fn key(paint: &Paint, stage: &Stage<'_>) -> Key {
    let key = paint.key(stage, Vec::new());
    Key { bar: key.bar.filter(|_| stage.colour_by() == ColourBy::Speed), ..key }
}

/// The frame of a time, held within the run.
pub(crate) fn moment(stage: &Stage<'_>, time: f64) -> u32 {
    let (first, last) = stage.frames;
    let after = (time.max(0.0) * stage.run.fps).round() as u32;
    first.saturating_add(after).min(last)
}

/// An agent at a frame or between two, on the straight way from one row to the next.
pub(crate) fn body_at(stage: &Stage<'_>, track: &Track<'_>, frame: f64) -> Option<Body> {
    let row = track.frame.partition_point(|other| f64::from(*other) <= frame).checked_sub(1)?;
    let here = Vec2::new(track.x[row], track.y[row]);
    let since = frame - f64::from(track.frame[row]);
    let missed = (MISSED * stage.run.fps).max(1.0);
    let gap = track.frame.get(row + 1).map(|next| f64::from(next - track.frame[row]));
    let place = match gap.filter(|gap| *gap <= missed) {
        Some(gap) => here + track.movement(row, row + 1) * (since / gap) as f32,
        None if since <= 1.0 => here,
        None => return None,
    };
    Some(Body { row, at: stage.view.page(place.x, place.y) })
}

/// True to scale, where that can be seen, px.
pub(crate) fn radius(stage: &Stage<'_>, track: &Track<'_>) -> f32 {
    stage.radius(track).max(1.5 * stage.unit)
}

pub(crate) fn tail_width(stage: &Stage<'_>, track: &Track<'_>) -> f32 {
    (0.7 * stage.radius(track)).clamp(1.0 * stage.unit, 5.0 * stage.unit)
}

/// How much of the floor is mixed into a step of a tail.
pub(crate) fn fade(step: usize) -> f32 {
    0.92 - 0.5 * (step + 1) as f32 / STEPS as f32
}

/// The way that an agent came, in steps from its beginning to the body.
pub(crate) fn tail(
    stage: &Stage<'_>,
    track: &Track<'_>,
    body: &Body,
    mut draw: impl FnMut(usize, &[[f32; 2]]),
) {
    let rows = (TAIL * stage.run.fps).ceil() as usize;
    let first = body.row.saturating_sub(rows);
    // Not from the other side of the picture, where it has just come round.
    let first = (first + 1..=body.row).rev().find(|&row| track.comes_round(row)).unwrap_or(first);
    let mut points: Vec<[f32; 2]> = Vec::new();
    for step in 0..STEPS {
        let cut = |step: usize| first + (body.row - first) * step / STEPS;
        points.clear();
        for row in cut(step)..=cut(step + 1) {
            let point = stage.view.page(track.x[row], track.y[row]);
            // Where rows are many, most of them say nothing new.
            if row == cut(step + 1)
                || points.last().is_none_or(|last| Vec2::from(*last).distance(point.into()) > stage.unit)
            {
                points.push(point);
            }
        }
        if step + 1 == STEPS && body.at != *points.last().unwrap_or(&body.at) {
            points.push(body.at);
        }
        if points.len() > 1 {
            draw(step, &points);
        }
    }
}
