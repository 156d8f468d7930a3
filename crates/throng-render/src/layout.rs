//! Where things stand on the page, and the map under them.

use crate::colour::Theme;
use crate::page::{Page, Path, Shape};
use crate::{ColourBy, Kind, PictureOptions, heat};
use glam::{DVec2, Vec2};
use throng::record::{Geometry, Mover, MoverState, Ring, Run, Track};

/// The radius of agents that no file tells, m.
const USUAL_RADIUS: f64 = 0.2;

/// A scripted body's way is drawn through its places at this many times.
const WAY_POINTS: u32 = 400;

/// Everything that the painters share.
pub(crate) struct Stage<'a> {
    pub(crate) run: &'a Run,
    pub(crate) options: PictureOptions,
    pub(crate) theme: Theme,
    pub(crate) page: Page,
    pub(crate) view: View,
    /// One design pixel: a 1280th of the width, or a 720th of a given height if that is less.
    pub(crate) unit: f32,
    pub(crate) geometry: Geometry,
    /// First and last frame.
    pub(crate) frames: (u32, u32),
    /// Of a film: seconds of the run in a second.
    pub(crate) pace: Option<f64>,
    movers: Vec<Mover>,
}

/// From metres (relative to the run's origin, y up) to pixels (y down).
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// px per m.
    pub(crate) scale: f32,
    /// What of the world is shown, m from the run's origin.
    pub(crate) low: Vec2,
    pub(crate) high: Vec2,
    /// Where `low.x` and `high.y` come to lie.
    pub(crate) corner: Vec2,
    origin: DVec2,
}

impl View {
    /// Whether a place, m from the run's origin, is shown.
    fn holds(&self, place: Vec2) -> bool {
        place.cmpge(self.low).all() && place.cmple(self.high).all()
    }

    pub(crate) fn page(&self, x: f32, y: f32) -> [f32; 2] {
        [self.corner.x + (x - self.low.x) * self.scale, self.corner.y + (self.high.y - y) * self.scale]
    }

    /// From the file's coordinates.
    pub(crate) fn page_of(&self, point: [f64; 2]) -> [f32; 2] {
        let relative = (DVec2::from_array(point) - self.origin).as_vec2();
        self.page(relative.x, relative.y)
    }
}

/// Distances in design pixels.
pub(crate) const MARGIN: f32 = 40.0;
const HEADER: f32 = 100.0;
const FOOTER: f32 = 84.0;

impl<'a> Stage<'a> {
    pub(crate) fn new(run: &'a Run, options: &PictureOptions, theme: Theme) -> Stage<'a> {
        let frames = run.frames();
        // A hair later, so that a time that was a frame's is that frame's again.
        let after = |time: f64| frames.0.saturating_add((time * run.fps + 1e-6) as u32);
        let mut geometry = geometry_at(run, options.at.map_or(frames.1, after));
        geometry.lines.extend(run.info.walls.iter().cloned());
        let width = options.width.clamp(160, 16_384);
        let given = options.height.map(|height| height.clamp(160, 16_384) as f32);
        let unit = given.map_or(width as f32 / 1280.0, |height| (width as f32 / 1280.0).min(height / 720.0));
        let (low, high) = extent(run, &geometry, options.kind);
        let room = width as f32 - 2.0 * MARGIN * unit;
        let size = high - low;
        // Flat runs keep some air, and tall ones do not run off the screen.
        let natural = (room * size.y / size.x).clamp(0.2 * room, 0.75 * room);
        let height = given.map_or(natural, |height| height - (HEADER + FOOTER) * unit);
        let scale = (room / size.x).min(height / size.y);
        let middle = Vec2::new(MARGIN * unit + room / 2.0, HEADER * unit + height / 2.0);
        let view = View { scale, low, high, corner: middle - size * scale / 2.0, origin: run.origin };
        let page_height = ((HEADER + FOOTER) * unit + height).round() as u32;
        let page = Page { width, height: page_height, background: theme.paper, shapes: Vec::new() };
        let options = options.clone();
        let movers = run.info.movers_around(run.origin);
        let mut stage = Stage { run, options, theme, page, view, unit, geometry, frames, pace: None, movers };
        stage.floor();
        stage.walls();
        if stage.options.at.is_none() {
            stage.paths();
        }
        stage
    }

    pub(crate) fn push(&mut self, shape: Shape) {
        self.page.shapes.push(shape);
    }

    pub(crate) fn radius(&self, track: &Track<'_>) -> f32 {
        let known = self.run.info.cohorts.get(usize::from(track.cohort)).map_or(0.0, |cohort| cohort.radius);
        (if known > 0.0 { known } else { USUAL_RADIUS }) as f32 * self.view.scale
    }

    pub(crate) fn colour_by(&self) -> ColourBy {
        let several = self.run.info.cohorts.len() > 1;
        self.options.colour.unwrap_or(if several { ColourBy::Cohort } else { ColourBy::Bearing })
    }

    fn floor(&mut self) {
        if self.run.info.open_plane {
            return;
        }
        let rings: Vec<&Ring> = self.geometry.polygons.iter().filter_map(|polygon| polygon.first()).collect();
        let path = self.rings(&rings);
        self.push(Shape::Area { path, fill: self.theme.floor });
    }

    /// Holes are obstacles; an outer ring is a wall unless it is only a frame round an endless plane.
    pub(crate) fn walls(&mut self) {
        let holes: Vec<&Ring> =
            self.geometry.polygons.iter().flat_map(|polygon| polygon.iter().skip(1)).collect();
        let holes = self.rings(&holes);
        let outer = if self.run.info.open_plane { 0 } else { 1 };
        let outer: Vec<&Ring> =
            self.geometry.polygons.iter().flat_map(|polygon| polygon.iter().take(outer)).collect();
        let outer = self.rings(&outer);
        let mut lines = Path::default();
        for line in &self.geometry.lines {
            let mut points = line.iter().map(|point| self.view.page_of(*point));
            if let Some(first) = points.next() {
                lines.start(first);
                points.for_each(|point| lines.line(point));
            }
        }
        let (edge, thin, thick) = (self.theme.wall_edge, 1.2 * self.unit, 2.0 * self.unit);
        self.push(Shape::Area { path: holes.clone(), fill: self.theme.wall });
        for (path, width) in [(holes, thin), (outer, thick), (lines, thick)] {
            self.push(Shape::Line { path, colour: edge, width, round: true });
        }
        self.gaps();
    }

    /// One by one: where they overlap, even and odd would make ground of it. Edges first, so that none show where gaps join.
    fn gaps(&mut self) {
        let gaps: Vec<Path> = self.run.info.gaps.iter().map(|ring| self.rings(&[ring])).collect();
        for path in &gaps {
            let (path, colour) = (path.clone(), self.theme.gap_edge);
            self.push(Shape::Line { path, colour, width: 2.4 * self.unit, round: true });
        }
        for path in gaps {
            self.push(Shape::Area { path, fill: self.theme.gap });
        }
    }

    /// The ways that scripted bodies take.
    fn paths(&mut self) {
        let colour = self.theme.wall.mixed(self.theme.floor, 0.6);
        let way = |mover: &Mover| {
            let places = (0..=WAY_POINTS).map(|part| {
                let frames = f64::from(self.frames.1 - self.frames.0);
                mover.state(frames / self.run.fps * f64::from(part) / f64::from(WAY_POINTS), 1.0).position
            });
            let mut path = Path::default();
            for (index, place) in places.filter(|&place| self.view.holds(place)).enumerate() {
                let point = self.view.page(place.x, place.y);
                if index == 0 { path.start(point) } else { path.line(point) }
            }
            Shape::Line { path, colour, width: 2.0 * mover.radius * self.view.scale, round: true }
        };
        let ways: Vec<Shape> = self.movers.iter().map(way).collect();
        self.page.shapes.extend(ways);
    }

    /// Scripted bodies at a time, as far as they are in the picture.
    pub(crate) fn movers_at(&self, time: f64) -> Vec<Shape> {
        let states = self.movers.iter().map(|mover| (mover.carries, mover.state(time, 1.0)));
        let shown = states.filter(|(_, state)| self.view.holds(state.position));
        let disc = |(carries, state): (bool, MoverState)| Shape::Disc {
            centre: self.view.page(state.position.x, state.position.y),
            radius: state.radius * self.view.scale,
            fill: Some(if carries { self.theme.floor } else { self.theme.wall }),
            rim: Some((self.theme.wall_edge, 1.2 * self.unit)),
        };
        shown.map(disc).collect()
    }

    fn rings(&self, rings: &[&Ring]) -> Path {
        let mut path = Path::default();
        for ring in rings {
            path.ring(ring.iter().map(|point| self.view.page_of(*point)));
        }
        path
    }
}

fn geometry_at(run: &Run, frame: u32) -> Geometry {
    run.geometry_at(frame).and_then(|wkt| Geometry::parse(wkt).ok()).unwrap_or_default()
}

/// What there is to see, with some air round it, m from the run's origin.
fn extent(run: &Run, geometry: &Geometry, kind: Kind) -> (Vec2, Vec2) {
    let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
    let mut add = |point: Vec2| {
        low = low.min(point);
        high = high.max(point);
    };
    for track in run.tracks() {
        track.x.iter().zip(track.y).for_each(|(x, y)| add(Vec2::new(*x, *y)));
        track.goal.into_iter().for_each(|goal| add((DVec2::from_array(goal) - run.origin).as_vec2()));
    }
    let outer = if run.info.open_plane { 1 } else { 0 };
    // Of all times, so that a film's frame does not jump when a wall comes or goes.
    let all: Vec<Geometry> = run.geometry.iter().map(|span| geometry_at(run, span.from_frame)).collect();
    let rings =
        all.iter().flat_map(|geometry| &geometry.polygons).flat_map(|polygon| polygon.iter().skip(outer));
    rings
        .chain(&geometry.lines)
        .chain(&run.info.gaps)
        .flatten()
        .for_each(|point| add((DVec2::from_array(*point) - run.origin).as_vec2()));
    let size = (high - low).max_element().max(2.0);
    let room = if kind == Kind::Trails { USUAL_RADIUS as f32 } else { 2.5 * heat::BLUR };
    let air = Vec2::splat(0.02 * size + room);
    (low - air, high + air)
}

/// The largest of 1, 2, 5, 10, 20, ... that is not above a number.
pub(crate) fn round_below(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor());
    [5.0, 2.0].into_iter().map(|step| step * power).find(|step| *step <= number * 1.000_001).unwrap_or(power)
}

/// The smallest of 1, 1.5, 2, 3, 4, 5, 6, 8, 10, ... that is not below a number.
pub(crate) fn round_above(number: f64) -> f64 {
    let number = number.max(1e-6);
    let power = 10_f64.powf(number.log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0].into_iter();
    steps.map(|step| step * power).find(|step| *step >= number * 0.999_999).unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers_are_round() {
        let below: Vec<f64> = [1.0, 1.9, 2.0, 7.0, 49.0, 0.3].map(round_below).to_vec();
        assert_eq!(below, [1.0, 1.0, 2.0, 5.0, 20.0, 0.2]);
        let above: Vec<f64> = [1.0, 1.34, 1.9, 7.0, 9.0, 41.0].map(round_above).to_vec();
        assert_eq!(above, [1.0, 1.5, 2.0, 8.0, 10.0, 50.0]);
    }
}
