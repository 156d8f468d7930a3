//! A smooth line for each agent, from a ring to a disc.

use crate::ColourBy;
use crate::colour::{self, Colour};
use crate::feet;
use crate::furniture::{Bar, Key};
use crate::layout::{Stage, round_above};
use crate::page::{Part, Path, Shape};
use glam::Vec2;
use std::cmp::Reverse;
use std::f32::consts::TAU;
use std::ops::Range;
use throng::record::Track;

/// Up to here lines are opaque and fade towards their beginning; more are drawn thin and let one another through.
const FEW: usize = 400;

/// A trail's points may be left out where the way past them is straight to within this many design pixels.
const STRAIGHT: f32 = 0.3;

/// Chords are at most this many design pixels long, so that colours can change along a trail ...
const CHORD: f32 = 20.0;

/// ... or so long where there are so many trails that theirs do not.
const LONG_CHORD: f32 = 60.0;

/// A point that is nearer to the last one says nothing but that the agent stood, design pixels.
const STANDING: f32 = 0.7;

/// The share of the picture that lines may cover before they have to become thinner.
const COVER: f32 = 0.35;

/// Steps of colour along a trail.
const LEVELS: f32 = 24.0;

/// Speeds are taken over this time, s, so that one frame's jitter does not colour a trail.
const SPEED_WINDOW: f64 = 0.4;

pub(crate) fn draw(stage: &mut Stage<'_>) -> Key {
    let paint = Paint::new(stage);
    let mut pieces: Vec<Piece> = Vec::new();
    for track in stage.run.tracks() {
        // Nobody walks back through the picture who comes in again at its other side.
        track.rounds().for_each(|rows| trail(stage, &paint, &track, rows, &mut pieces));
    }
    // What happened later lies on top. Among single-piece trails a mixed-up order keeps one cohort from hiding another.
    pieces.sort_by_key(|piece| (piece.end_level, piece.shuffle));
    for piece in pieces {
        stage.push(Shape::Line {
            path: piece.path,
            colour: piece.colour,
            width: paint.width,
            round: paint.few,
        });
    }
    let has_feet = feet::draw(stage, &paint);
    let mut marks = marks(stage, &paint);
    marks.extend(has_feet.then_some(Mark::Feet));
    paint.key(stage, marks)
}

struct Piece {
    path: Path,
    colour: Colour,
    end_level: u32,
    shuffle: u32,
}

/// Width of a line that has room, design pixels.
const LINE_WIDTH: f32 = 2.2;

/// The share of the picture that the trails would cover as lines that have room.
fn cover(stage: &Stage<'_>) -> f32 {
    let mut metres = 0.0;
    for track in stage.run.tracks() {
        metres += (1..track.frame.len()).map(|row| track.movement(row - 1, row).length()).sum::<f32>();
    }
    let area = (stage.view.high - stage.view.low) * stage.view.scale;
    metres * stage.view.scale * LINE_WIDTH * stage.unit / (area.x * area.y)
}

/// How trails are coloured.
pub(crate) struct Paint {
    by: ColourBy,
    pub(crate) few: bool,
    width: f32,
    alpha: f32,
    middle: Vec2,
    top_speed: f64,
    duration: f64,
    dark: bool,
}

impl Paint {
    pub(crate) fn new(stage: &Stage<'_>) -> Paint {
        let agents = stage.run.agents();
        let few = agents <= FEW;
        let by = stage.colour_by();
        let starts = stage.run.tracks().map(|track| Vec2::new(track.x[0], track.y[0]));
        let crowd = (cover(stage) / COVER).max(1.0);
        Paint {
            by,
            few,
            width: (LINE_WIDTH / crowd.powf(0.6)).max(0.8) * stage.unit,
            alpha: if few { 1.0 } else { (1.0 / crowd.powf(0.6)).clamp(0.05, 0.8) },
            middle: starts.sum::<Vec2>() / agents.max(1) as f32,
            top_speed: if by == ColourBy::Speed { top_speed(stage) } else { 1.0 },
            duration: stage.run.duration().max(1e-9),
            dark: stage.theme.dark,
        }
    }

    /// The colour of an agent as a whole: its marks.
    pub(crate) fn agent(&self, stage: &Stage<'_>, track: &Track<'_>) -> Colour {
        match self.by {
            ColourBy::Cohort => colour::cohort(usize::from(track.cohort), self.dark),
            ColourBy::Bearing => {
                let from_middle = Vec2::new(track.x[0], track.y[0]) - self.middle;
                colour::wheel(from_middle.to_angle() / TAU, self.dark)
            }
            ColourBy::Speed | ColourBy::Time => stage.theme.faint_ink,
        }
    }

    /// The colour of an agent at a row.
    pub(crate) fn body(&self, stage: &Stage<'_>, track: &Track<'_>, row: usize) -> Colour {
        match self.by {
            ColourBy::Speed => colour::ramp(stage.theme.lines(), self.level(stage, track, row)),
            _ => self.agent(stage, track),
        }
    }

    /// Where on the ramp an agent is at a row, 0 to 1: its speed, or the time, or how far through its trail it is.
    fn level(&self, stage: &Stage<'_>, track: &Track<'_>, row: usize) -> f32 {
        match self.by {
            ColourBy::Speed => (speed(track, row, stage.run.fps) / self.top_speed) as f32,
            ColourBy::Time => {
                (f64::from(track.frame[row] - stage.frames.0) / stage.run.fps / self.duration) as f32
            }
            ColourBy::Cohort | ColourBy::Bearing if self.few => row as f32 / track.frame.len().max(2) as f32,
            ColourBy::Cohort | ColourBy::Bearing => 1.0,
        }
    }

    fn colour(&self, stage: &Stage<'_>, agent: Colour, level: f32) -> Colour {
        let colour = match self.by {
            ColourBy::Speed | ColourBy::Time => colour::ramp(stage.theme.lines(), level),
            ColourBy::Cohort | ColourBy::Bearing => agent.mixed(stage.theme.floor, 0.65 * (1.0 - level)),
        };
        colour.with_alpha(self.alpha)
    }

    pub(crate) fn key(&self, stage: &Stage<'_>, marks: Vec<Mark>) -> Key {
        let ramp = stage.theme.lines();
        let bar = match self.by {
            ColourBy::Speed => Some(Bar { ramp, top: self.top_speed, label: "speed, m/s" }),
            ColourBy::Time => Some(Bar { ramp, top: self.duration, label: "time, s" }),
            ColourBy::Cohort | ColourBy::Bearing => None,
        };
        Key { bar, cohorts: self.by == ColourBy::Cohort, marks }
    }
}

/// A sign that the key explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Start,
    End,
    Goal,
    Feet,
}

fn trail(stage: &Stage<'_>, paint: &Paint, track: &Track<'_>, rows: Range<usize>, pieces: &mut Vec<Piece>) {
    let (points, rows) = sampled(stage, paint, track, rows);
    let path = Path::smooth(&points);
    let agent = paint.agent(stage, track);
    let shuffle = (track.id as u32).wrapping_mul(0x9e37_79b1);
    let step = |place: usize| (paint.level(stage, track, rows[place]).clamp(0.0, 1.0) * LEVELS).round();
    let mut start = 0;
    while start + 1 < points.len() {
        let level = step(start + 1);
        let mut end = start + 1;
        while end + 1 < points.len() && step(end + 1) == level {
            end += 1;
        }
        let mut parts = vec![Part::Start(points[start])];
        parts.extend_from_slice(&path.parts[start + 1..=end]);
        let colour = paint.colour(stage, agent, level / LEVELS);
        let end_level = if paint.few { rows[end] as u32 } else { 0 };
        pieces.push(Piece { path: Path { parts }, colour, end_level, shuffle });
        start = end;
    }
}

/// A trail's points on the page that a smooth curve needs, and the rows that they come from.
fn sampled(
    stage: &Stage<'_>,
    paint: &Paint,
    track: &Track<'_>,
    rows: Range<usize>,
) -> (Vec<[f32; 2]>, Vec<usize>) {
    let varied = paint.few || matches!(paint.by, ColourBy::Speed | ColourBy::Time);
    let longest = if varied { CHORD } else { LONG_CHORD } * stage.unit;
    let moved = moved(stage, track, rows);
    let (mut points, mut rows) = (Vec::new(), Vec::new());
    let mut start = 0;
    for (place, (_, point)) in moved.iter().enumerate() {
        let from = moved[start].1;
        let skipped = moved[start..place].iter().map(|(_, point)| *point);
        let straight = stays_near(skipped, from, *point, STRAIGHT * stage.unit);
        if place > start + 1 && (!straight || from.distance(*point) > longest) {
            start = place - 1;
        } else if place > 0 {
            continue;
        }
        points.push(moved[start].1.to_array());
        rows.push(moved[start].0);
    }
    if let Some((row, point)) = moved.last().filter(|(row, _)| rows.last() != Some(row)) {
        points.push(point.to_array());
        rows.push(*row);
    }
    (points, rows)
}

/// Rows with their points on the page, without those in which the agent only stood.
fn moved(stage: &Stage<'_>, track: &Track<'_>, rows: Range<usize>) -> Vec<(usize, Vec2)> {
    let mut moved: Vec<(usize, Vec2)> = Vec::new();
    for row in rows {
        let point = Vec2::from(stage.view.page(track.x[row], track.y[row]));
        if moved.last().is_none_or(|(_, last)| last.distance(point) >= STANDING * stage.unit) {
            moved.push((row, point));
        }
    }
    moved
}

/// Whether points lie within a distance of a chord.
fn stays_near(mut points: impl Iterator<Item = Vec2>, from: Vec2, to: Vec2, distance: f32) -> bool {
    let chord = to - from;
    let normal = chord.perp().normalize_or_zero();
    let length = chord.length();
    points.all(|point| {
        let along = (point - from).dot(chord);
        (point - from).dot(normal).abs() <= distance && (0.0..=length * length).contains(&along)
    })
}

/// Speed at a row, m/s.
pub(crate) fn speed(track: &Track<'_>, row: usize, fps: f64) -> f64 {
    let reach = ((SPEED_WINDOW / 2.0 * fps).round() as usize).max(1);
    let (from, to) = (row.saturating_sub(reach), (row + reach).min(track.frame.len() - 1));
    let time = f64::from(track.frame[to] - track.frame[from]) / fps;
    let way = track.movement(from, to).length();
    if time > 0.0 { f64::from(way) / time } else { 0.0 }
}

/// A round speed that few rows exceed.
fn top_speed(stage: &Stage<'_>) -> f64 {
    let mut speeds: Vec<f64> = stage
        .run
        .tracks()
        .flat_map(|track| (0..track.frame.len()).step_by(5).map(move |row| speed(&track, row, stage.run.fps)))
        .collect();
    round_above(high_quantile(&mut speeds, 0.98))
}

/// The value that a share of all values does not exceed.
pub(crate) fn high_quantile(values: &mut [f64], share: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let place = ((values.len() - 1) as f64 * share) as usize;
    *values.select_nth_unstable_by(place, f64::total_cmp).1
}

/// Starts, goals and ends; which of them there are is for the key.
fn marks(stage: &mut Stage<'_>, paint: &Paint) -> Vec<Mark> {
    let mut marks = Vec::new();
    let agents = stage.run.agents();
    if agents <= 2 * FEW {
        starts(stage, paint);
        marks.push(Mark::Start);
    }
    if agents <= 10 * FEW {
        ends(stage, paint);
        marks.push(Mark::End);
    }
    if goals(stage, paint) {
        marks.push(Mark::Goal);
    }
    marks
}

fn starts(stage: &mut Stage<'_>, paint: &Paint) {
    for track in stage.run.tracks() {
        let centre = stage.view.page(track.x[0], track.y[0]);
        // Round, not under, what may have ended here; but on a close view no bigger than a sign need be.
        let body = stage.radius(&track).max(LEAST_END * stage.unit);
        let radius = if body < 8.0 * stage.unit { body + 2.2 * stage.unit } else { 4.0 * stage.unit };
        let rim = paint.agent(stage, &track).mixed(stage.theme.floor, 0.35);
        stage.push(Shape::Disc { centre, radius, fill: None, rim: Some((rim, 1.2 * stage.unit)) });
    }
}

/// The least radius of an end that can be seen among few, design pixels.
const LEAST_END: f32 = 2.6;

/// True to scale, where that can be seen, for those who are there at the end; those who left were only seen last here.
fn end_radius(stage: &Stage<'_>, paint: &Paint, track: &Track<'_>) -> f32 {
    let least = if paint.few { LEAST_END } else { 1.4 } * stage.unit;
    let stayed = track.frame.last() == Some(&stage.frames.1);
    if stayed { stage.radius(track).max(least) } else { least }
}

fn ends(stage: &mut Stage<'_>, paint: &Paint) {
    for track in stage.run.tracks() {
        let last = track.frame.len() - 1;
        let centre = stage.view.page(track.x[last], track.y[last]);
        let radius = end_radius(stage, paint, &track);
        let fill = Some(paint.agent(stage, &track));
        stage.push(Shape::Disc { centre, radius, fill, rim: Some((stage.theme.floor, 0.9 * stage.unit)) });
    }
}

/// One cross for each place that is the goal of an agent that is not there; none where they would cover the picture.
fn goals(stage: &mut Stage<'_>, paint: &Paint) -> bool {
    let mut places: Vec<([i32; 2], i64, [f32; 2], Colour)> = Vec::new();
    for track in stage.run.tracks() {
        if let Some(goal) = track.goal {
            let [x, y] = stage.view.page_of(goal);
            let last = track.frame.len() - 1;
            let end = Vec2::from(stage.view.page(track.x[last], track.y[last]));
            if end.distance(Vec2::new(x, y)) < 2.0 * end_radius(stage, paint, &track) {
                continue;
            }
            places.push(([x as i32, y as i32], track.id, [x, y], paint.agent(stage, &track)));
        }
    }
    places.sort_by_key(|place| (place.0, Reverse(place.1)));
    places.dedup_by_key(|place| place.0);
    if places.is_empty() || places.len() > FEW {
        return false;
    }
    for (_, _, [x, y], colour) in places {
        cross(stage, [x, y], 3.2 * stage.unit, colour);
    }
    true
}

/// A cross that is seen on a disc of its own colour too.
pub(crate) fn cross(stage: &mut Stage<'_>, [x, y]: [f32; 2], arm: f32, colour: Colour) {
    let mut path = Path::segment([x - arm, y - arm], [x + arm, y + arm]);
    path.start([x - arm, y + arm]);
    path.line([x + arm, y - arm]);
    let halo = stage.theme.floor;
    stage.push(Shape::Line { path: path.clone(), colour: halo, width: 3.4 * stage.unit, round: true });
    let dark = if stage.theme.dark { colour } else { colour.mixed(stage.theme.ink, 0.35) };
    stage.push(Shape::Line { path, colour: dark, width: 1.5 * stage.unit, round: true });
}
