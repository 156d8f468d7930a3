//! Figures that are made of panels: maps, charts and layers with captions, side by side on one page.

use crate::Picture;
use crate::axis::Axis;
use crate::colour::{Colour, Theme};
use crate::font;
use crate::layout::{MARGIN, round_below};
use crate::page::{Anchor, Page, Path, Shape};
use glam::{DAffine2, DMat2, DVec2};
use throng::map::{Map, boundary};

/// A page of panels, with a title above and a legend below.
#[derive(Clone, Debug)]
pub struct Sheet {
    page: Page,
    lines: usize,
}

/// A rectangle of a page, px: what a panel and its caption have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    low: [f32; 2],
    size: [f32; 2],
}

/// A part of a sheet with coordinates of its own.
#[derive(Debug)]
pub struct Panel<'s> {
    page: &'s mut Page,
    to_page: DAffine2,
}

/// What stands before a name in a legend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Swatch {
    /// A line.
    Line(Colour),
    /// A filled square.
    Area(Colour),
    /// The edge of a square.
    Edge(Colour),
    /// A disc.
    Disc(Colour),
    /// A triangle.
    Triangle(Colour),
}

/// Sizes, px.
const TITLE: f32 = 24.0;
const TEXT: f32 = 14.0;
const SMALL: f32 = 12.5;
const TITLE_ROOM: f32 = 54.0;
const LINE_ROOM: f32 = 20.0;
const FOOTER: f32 = 48.0;
const GAP: f32 = 26.0;
const CAPTION: f32 = 22.0;
/// Around a chart for its numbers: left, top, right, bottom.
const AXES: [f32; 4] = [48.0, 22.0, 14.0, 40.0];
/// How a layer lies that is seen from the side: its x and y on the page.
const TILT: [[f64; 2]; 2] = [[1.0, 0.0], [0.42, 0.4]];

impl Sheet {
    /// An empty page. `about` stands below the title, line by line.
    pub fn new([width, height]: [u32; 2], title: &str, about: &str) -> Sheet {
        let page = Page { width, height, background: Theme::LIGHT.paper, shapes: Vec::new() };
        let mut sheet = Sheet { page, lines: about.lines().count() };
        sheet.text([MARGIN, 40.0], TITLE, true, Colour::INK, title);
        for (line, text) in about.lines().enumerate() {
            let y = TITLE_ROOM + LINE_ROOM * (line as f32 + 0.5);
            sheet.text([MARGIN, y], TEXT, false, Colour::FAINT, text);
        }
        sheet
    }

    /// All that is between the title and the legend.
    pub fn room(&self) -> Frame {
        let top = TITLE_ROOM + LINE_ROOM * self.lines as f32 + 10.0;
        let size = [self.page.width as f32 - 2.0 * MARGIN, self.page.height as f32 - top - FOOTER];
        Frame { low: [MARGIN, top], size }
    }

    /// A map with north up, as large as there is room. What is beyond `low` and `high`, m, is for the caller to leave out.
    pub fn map(&mut self, frame: Frame, caption: &str, [low, high]: [DVec2; 2]) -> Panel<'_> {
        let ([left, top], [width, height]) = self.captioned(frame, caption);
        let scale = (f64::from(width) / (high.x - low.x)).min(f64::from(height) / (high.y - low.y));
        let corner = DVec2::new(f64::from(left), f64::from(top));
        let turn = DMat2::from_diagonal(DVec2::new(scale, -scale));
        let to_page = DAffine2 { matrix2: turn, translation: corner - turn * DVec2::new(low.x, high.y) };
        Panel { page: &mut self.page, to_page }
    }

    /// Axes with names and units. Data stand where their numbers say.
    pub fn chart(&mut self, frame: Frame, caption: &str, [x, y]: [(&str, Axis); 2]) -> Panel<'_> {
        let ([left, top], [width, height]) = self.captioned(frame, caption);
        let [before, above, behind, below] = AXES;
        let low = DVec2::new(x.1.low(), y.1.low());
        let span = DVec2::new(x.1.high(), y.1.high()) - low;
        let size = DVec2::new((width - before - behind).into(), (height - above - below).into()) / span;
        let turn = DMat2::from_diagonal(DVec2::new(size.x, -size.y));
        let corner = DVec2::new((left + before).into(), (top + height - below).into());
        let to_page = DAffine2 { matrix2: turn, translation: corner - turn * low };
        let mut panel = Panel { page: &mut self.page, to_page };
        panel.axes([x, y]);
        panel
    }

    /// A layer of a map, seen from the side: its lower left corner lies at a place of the page, px.
    pub fn layer(&mut self, at: [f32; 2], scale: f64, low: DVec2) -> Panel<'_> {
        let [x, y] = TILT.map(|[x, y]| scale * DVec2::new(x, -y));
        let turn = DMat2::from_cols(x, y);
        let corner = DVec2::new(at[0].into(), at[1].into());
        Panel { page: &mut self.page, to_page: DAffine2 { matrix2: turn, translation: corner - turn * low } }
    }

    /// How wide and high a layer is on the page, px.
    pub fn layer_size(size: DVec2, scale: f64) -> DVec2 {
        let [x, y] = TILT.map(DVec2::from);
        scale * (x * size.x + y * size.y)
    }

    /// A caption without a panel, and what is left of its frame: its upper left corner and its size, px.
    pub fn captioned(&mut self, frame: Frame, caption: &str) -> ([f32; 2], [f32; 2]) {
        let ([left, top], [width, height]) = (frame.low, frame.size);
        for (line, text) in caption.lines().enumerate() {
            let colour = if line == 0 { Colour::INK } else { Colour::FAINT };
            let at = [left, top + 14.0 + 18.0 * line as f32];
            self.text(at, if line == 0 { TEXT } else { SMALL }, line == 0, colour, text);
        }
        let taken = CAPTION + 18.0 * caption.lines().count().saturating_sub(1) as f32;
        ([left, top + taken], [width, height - taken])
    }

    /// Names of what is drawn, below everything.
    pub fn legend(&mut self, entries: &[(Swatch, &str)]) {
        let (mut x, y) = (MARGIN, self.page.height as f32 - 20.0);
        for (swatch, name) in entries {
            self.swatch(*swatch, [x, y]);
            self.text([x + 24.0, y], TEXT, false, Colour::INK, name);
            x += 24.0 + font::width(name, TEXT) + 28.0;
        }
    }

    /// The ramp of densities up to a number, at the right end of the legend.
    pub fn density_bar(&mut self, top: f64, label: &str) {
        const STEPS: u32 = 64;
        let size = [150.0, 11.0];
        let (right, y) = (self.page.width as f32 - MARGIN, self.page.height as f32 - 30.0);
        let numbers = format!("{top}");
        let left = right - size[0] - 10.0 - font::width(&numbers, TEXT);
        let colour = |step: u32| Colour::of_density(step as f32 / (STEPS - 1) as f32).rgb;
        let rgba = (0..STEPS).flat_map(|step| [colour(step).as_slice(), &[255]].concat()).collect();
        self.page.shapes.push(Shape::Image {
            at: [left, y],
            size,
            columns: STEPS,
            rows: 1,
            rgba,
            smooth: false,
        });
        self.text([right - font::width(&numbers, TEXT), y + 10.0], TEXT, false, Colour::INK, &numbers);
        let name = format!("{label}  0");
        self.text([left - 8.0 - font::width(&name, TEXT), y + 10.0], TEXT, false, Colour::INK, &name);
    }

    /// The picture.
    pub fn finish(self) -> Picture {
        Picture { page: self.page }
    }

    fn swatch(&mut self, swatch: Swatch, [x, y]: [f32; 2]) {
        let square = || Path::rectangle([x + 2.0, y - 11.0], [13.0, 13.0]);
        let shape = match swatch {
            Swatch::Line(colour) => {
                let path = Path::segment([x, y - 5.0], [x + 17.0, y - 5.0]);
                Shape::Line { path, colour, width: 2.6, round: true }
            }
            Swatch::Area(fill) => Shape::Area { path: square(), fill },
            Swatch::Edge(colour) => Shape::Line { path: square(), colour, width: 1.8, round: false },
            Swatch::Disc(colour) => {
                Shape::Disc { centre: [x + 8.0, y - 5.0], radius: 5.5, fill: Some(colour), rim: None }
            }
            Swatch::Triangle(fill) => Shape::Area { path: triangle([x + 8.0, y - 5.0], 7.5), fill },
        };
        self.page.shapes.push(shape);
    }

    fn text(&mut self, at: [f32; 2], size: f32, bold: bool, colour: Colour, text: &str) {
        let (anchor, text) = (Anchor::Start, text.to_owned());
        self.page.shapes.push(Shape::Text { at, size, bold, anchor, colour, text });
    }
}

impl Frame {
    /// The part at a column and a line, counted from 0 from the upper left, of so many.
    pub fn part(&self, [column, line]: [usize; 2], [columns, lines]: [usize; 2]) -> Frame {
        let one = |size: f32, count: usize| (size - GAP * (count - 1) as f32) / count as f32;
        let size = [one(self.size[0], columns), one(self.size[1], lines)];
        let at = |low: f32, size: f32, place: usize| low + (size + GAP) * place as f32;
        let low = [at(self.low[0], size[0], column), at(self.low[1], size[1], line)];
        Frame { low, size }
    }
}

impl Panel<'_> {
    /// A filled ring.
    pub fn area(&mut self, ring: &[DVec2], fill: Colour) {
        let path = self.ring(ring);
        self.push(Shape::Area { path, fill });
    }

    /// The edge of a ring, px wide.
    pub fn edge(&mut self, ring: &[DVec2], colour: Colour, width: f32) {
        let path = self.ring(ring);
        self.push(Shape::Line { path, colour, width, round: false });
    }

    /// A line through places, px wide.
    pub fn line(&mut self, places: &[DVec2], colour: Colour, width: f32) {
        let mut path = Path::default();
        for (index, &place) in places.iter().enumerate() {
            let point = self.at(place);
            if index == 0 { path.start(point) } else { path.line(point) }
        }
        self.push(Shape::Line { path, colour, width, round: true });
    }

    /// A smooth line through places, of which those are left out that are within a few px of the last.
    pub fn trail(&mut self, places: &[DVec2], colour: Colour, width: f32) {
        const CLOSE: f32 = 3.0;
        let mut points: Vec<[f32; 2]> = Vec::new();
        for point in places.iter().map(|&place| self.at(place)) {
            let is_close = |last: &[f32; 2]| (point[0] - last[0]).hypot(point[1] - last[1]) < CLOSE;
            if !points.last().is_some_and(is_close) {
                points.push(point);
            }
        }
        self.push(Shape::Line { path: Path::smooth(&points), colour, width, round: true });
    }

    /// A straight line that is broken into dashes.
    pub fn dashes(&mut self, [from, to]: [DVec2; 2], colour: Colour, width: f32) {
        const DASH: f64 = 5.0;
        let length = self.to_page.transform_vector2(to - from).length();
        let parts = ((length / DASH) as usize).max(1);
        let at = |part: usize| from.lerp(to, part.min(parts) as f64 / parts as f64);
        for part in (0..parts).step_by(2) {
            self.line(&[at(part), at(part + 1)], colour, width);
        }
    }

    /// A line that ends in an arrow's head.
    pub fn arrow(&mut self, [from, to]: [DVec2; 2], colour: Colour, width: f32) {
        self.line(&[from, to], colour, width);
        let [a, b] = [from, to].map(|place| DVec2::from(self.at(place).map(f64::from)));
        let back = (a - b).normalize_or_zero() * f64::from(4.0 * width);
        let side = back.perp() * 0.6;
        let corners = [b, b + back + side, b + back - side].map(|corner| corner.as_vec2().to_array());
        let mut path = Path::default();
        path.ring(corners.into_iter());
        self.push(Shape::Area { path, fill: colour });
    }

    /// A disc of a radius in the panel's own unit, and no less than half a pixel.
    pub fn body(&mut self, centre: DVec2, radius: f64, fill: Colour) {
        let radius = self.to_page.transform_vector2(DVec2::X * radius).length().max(0.5) as f32;
        self.dot(centre, radius, fill);
    }

    /// A disc of so many px.
    pub fn dot(&mut self, centre: DVec2, radius: f32, fill: Colour) {
        let centre = self.at(centre);
        self.push(Shape::Disc { centre, radius, fill: Some(fill), rim: None });
    }

    /// A triangle of so many px.
    pub fn triangle(&mut self, centre: DVec2, radius: f32, fill: Colour) {
        let path = triangle(self.at(centre), radius);
        self.push(Shape::Area { path: path.clone(), fill });
        self.push(Shape::Line { path, colour: Colour::INK, width: 1.0, round: true });
    }

    /// A text beside a place: so many px to the right and down.
    pub fn text(
        &mut self,
        place: DVec2,
        [right, down]: [f32; 2],
        anchor: Anchor,
        colour: Colour,
        text: &str,
    ) {
        let [x, y] = self.at(place);
        let (at, text) = ([x + right, y + down], text.to_owned());
        self.push(Shape::Text { at, size: SMALL, bold: false, anchor, colour, text });
    }

    /// Walls and floor.
    pub fn floor(&mut self, map: &Map) {
        let boundary = boundary(map);
        let mut path = Path::default();
        for ring in &boundary.rings {
            path.ring(ring.iter().map(|&place| self.at(place)));
        }
        // Even-odd: free space inside an outline, obstacles on an endless plane.
        let fill = if boundary.bounded { Colour::FLOOR } else { Colour::WALL };
        let colour = Theme::LIGHT.wall_edge;
        self.push(Shape::Area { path: path.clone(), fill });
        self.push(Shape::Line { path, colour, width: 1.4, round: true });
        for wall in &boundary.walls {
            self.line(wall, colour, 1.4);
        }
    }

    /// The lines between cells of a side, from a corner on.
    pub fn grid(&mut self, low: DVec2, side: f64, [columns, lines]: [usize; 2], colour: Colour) {
        let high = low + DVec2::new(columns as f64, lines as f64) * side;
        for column in 0..=columns {
            let x = low.x + column as f64 * side;
            self.line(&[DVec2::new(x, low.y), DVec2::new(x, high.y)], colour, 0.8);
        }
        for line in 0..=lines {
            let y = low.y + line as f64 * side;
            self.line(&[DVec2::new(low.x, y), DVec2::new(high.x, y)], colour, 0.8);
        }
    }

    /// A bar of a round length, from a place on, with its length beside it.
    pub fn scale_bar(&mut self, from: DVec2, about: f64) {
        let length = round_below(about);
        let to = from + DVec2::X * length;
        self.line(&[from, to], Colour::INK, 2.0);
        self.text(to, [7.0, 4.0], Anchor::Start, Colour::INK, &format!("{length} m"));
    }

    fn axes(&mut self, [(x_name, x), (y_name, y)]: [(&str, Axis); 2]) {
        let pale = Theme::LIGHT.wall.with_alpha(0.6);
        for tick in x.ticks() {
            let foot = DVec2::new(tick, y.low());
            self.line(&[foot, DVec2::new(tick, y.high())], pale, 0.8);
            self.text(foot, [0.0, 16.0], Anchor::Middle, Colour::FAINT, &x.label(tick));
        }
        for tick in y.ticks() {
            let foot = DVec2::new(x.low(), tick);
            self.line(&[foot, DVec2::new(x.high(), tick)], pale, 0.8);
            self.text(foot, [-7.0, 4.0], Anchor::End, Colour::FAINT, &y.label(tick));
        }
        let [top, foot] = [y.high(), y.low()].map(|value| DVec2::new(x.low(), value));
        self.line(&[top, foot, DVec2::new(x.high(), y.low())], Colour::INK, 1.2);
        self.text(top, [-AXES[0] + 4.0, -10.0], Anchor::Start, Colour::INK, y_name);
        let middle = DVec2::new((x.low() + x.high()) / 2.0, y.low());
        self.text(middle, [0.0, 34.0], Anchor::Middle, Colour::INK, x_name);
    }

    fn at(&self, place: DVec2) -> [f32; 2] {
        self.to_page.transform_point2(place).as_vec2().to_array()
    }

    fn ring(&self, ring: &[DVec2]) -> Path {
        let mut path = Path::default();
        path.ring(ring.iter().map(|&place| self.at(place)));
        path
    }

    fn push(&mut self, shape: Shape) {
        self.page.shapes.push(shape);
    }
}

fn triangle([x, y]: [f32; 2], radius: f32) -> Path {
    let mut path = Path::default();
    let (side, foot) = (0.87 * radius, 0.6 * radius);
    path.ring([[x, y - radius], [x + side, y + foot], [x - side, y + foot]].into_iter());
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(page: &Page) -> Vec<[f32; 2]> {
        page.shapes
            .iter()
            .filter_map(|shape| match shape {
                Shape::Line { path, .. } => Some(path.points().collect::<Vec<_>>()),
                _ => None,
            })
            .flatten()
            .collect()
    }

    #[test]
    fn a_chart_stays_in_its_frame() {
        let mut sheet = Sheet::new([640, 480], "A title", "and what it is");
        let frame = sheet.room().part([1, 0], [2, 1]);
        let axis = || Axis::over([0.0, 20.0].into_iter());
        let mut chart = sheet.chart(frame, "(a)", [("x", axis()), ("y", axis())]);
        chart.line(&[DVec2::ZERO, DVec2::splat(20.0)], Colour::INK, 1.0);
        let ([left, top], [width, height]) = (frame.low, frame.size);
        for [x, y] in points(&sheet.page) {
            assert!((left..=left + width).contains(&x) && (top..=top + height).contains(&y), "{x}, {y}");
        }
    }

    #[test]
    fn parts_of_a_frame_share_it() {
        let frame = Frame { low: [10.0, 20.0], size: [126.0, 52.0] };
        let parts = [0, 1].map(|column| frame.part([column, 0], [2, 1]));
        assert_eq!(parts.map(|part| part.low), [[10.0, 20.0], [86.0, 20.0]]);
        assert_eq!(parts[1].low[0] + parts[1].size[0], 136.0);
    }

    #[test]
    fn north_is_up_and_metres_are_square() {
        let mut sheet = Sheet::new([640, 480], "", "");
        let room = sheet.room();
        let panel = sheet.map(room, "", [DVec2::ZERO, DVec2::new(20.0, 4.0)]);
        let [low, east, north] = [DVec2::ZERO, DVec2::X, DVec2::Y].map(|place| panel.at(place));
        assert!((east[0] - low[0] - (low[1] - north[1])).abs() < 1e-3 && north[1] < low[1]);
    }
}
