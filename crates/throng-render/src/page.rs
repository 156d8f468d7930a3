//! The drawing list: shapes in pixels of the page, origin top left. Both back ends draw the same list.

use crate::colour::Colour;
use glam::Vec2;

/// A page of shapes, drawn in order.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) background: Colour,
    pub(crate) shapes: Vec<Shape>,
}

#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A filled area, even-odd.
    Area { path: Path, fill: Colour },
    /// A drawn line.
    Line { path: Path, colour: Colour, width: f32, round: bool },
    /// A disc or ring.
    Disc { centre: [f32; 2], radius: f32, fill: Option<Colour>, rim: Option<(Colour, f32)> },
    /// A line of text on its baseline.
    Text { at: [f32; 2], size: f32, bold: bool, anchor: Anchor, colour: Colour, text: String },
    /// A grid of colours (RGBA, top row first) stretched over a rectangle.
    Image { at: [f32; 2], size: [f32; 2], columns: u32, rows: u32, rgba: Vec<u8>, smooth: bool },
}

/// Which end of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// Lines and curves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    pub(crate) parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Start([f32; 2]),
    Line([f32; 2]),
    /// Two handles and an end.
    Curve([f32; 2], [f32; 2], [f32; 2]),
    Close,
}

impl Path {
    pub(crate) fn start(&mut self, point: [f32; 2]) {
        self.parts.push(Part::Start(point));
    }

    pub(crate) fn line(&mut self, point: [f32; 2]) {
        self.parts.push(Part::Line(point));
    }

    pub(crate) fn close(&mut self) {
        self.parts.push(Part::Close);
    }

    pub(crate) fn segment(from: [f32; 2], to: [f32; 2]) -> Path {
        Path { parts: vec![Part::Start(from), Part::Line(to)] }
    }

    pub(crate) fn rectangle([x, y]: [f32; 2], [width, height]: [f32; 2]) -> Path {
        let mut path = Path::default();
        path.ring([[x, y], [x + width, y], [x + width, y + height], [x, y + height]].into_iter());
        path
    }

    pub(crate) fn ring(&mut self, mut points: impl Iterator<Item = [f32; 2]>) {
        let Some(first) = points.next() else { return };
        self.start(first);
        points.for_each(|point| self.line(point));
        self.close();
    }

    /// A smooth curve through points.
    ///
    /// It passes a point in the direction from the one before to the one after, and its handles are a third of a chord,
    /// so that it stays calm where points lie unevenly.
    pub(crate) fn smooth(points: &[[f32; 2]]) -> Path {
        let mut path = Path::default();
        let Some(first) = points.first() else { return path };
        path.start(*first);
        let at = |place: usize| Vec2::from(points[place.min(points.len() - 1)]);
        let direction = |place: usize| (at(place + 1) - at(place.saturating_sub(1))).normalize_or_zero();
        for place in 1..points.len() {
            let (from, to) = (at(place - 1), at(place));
            let third = from.distance(to) / 3.0;
            let leave = from + direction(place - 1) * third;
            let arrive = to - direction(place) * third;
            path.parts.push(Part::Curve(leave.to_array(), arrive.to_array(), to.to_array()));
        }
        path
    }

    #[cfg(test)]
    pub(crate) fn points(&self) -> impl Iterator<Item = [f32; 2]> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Start(point) | Part::Line(point) | Part::Curve(_, _, point) => Some(*point),
            Part::Close => None,
        })
    }
}
