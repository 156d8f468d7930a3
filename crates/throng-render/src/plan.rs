//! A plan: the map, what was looked at on the way to it, the plans that guided it, and the plan itself.

use crate::Picture;
use crate::colour::{self, Theme};
use crate::layout::{MARGIN, round_below};
use crate::page::{Anchor, Page, Path, Shape};
use glam::{DVec2, Vec2};
use throng::map::{Map, boundary};

/// What a picture of a plan shows. Places are the scenario's, m.
#[derive(Clone, Debug)]
pub struct Planned<'a> {
    /// The map.
    pub map: &'a Map,
    /// Above the picture.
    pub title: String,
    /// Below the title.
    pub line: String,
    /// Where states were looked at.
    pub seen: &'a [DVec2],
    /// The plans with their names; the last one is the result.
    pub plans: &'a [(String, Vec<DVec2>)],
    /// Jumps: from where to where.
    pub links: &'a [[DVec2; 2]],
    /// Bodies that stand or move: places and radius.
    pub bodies: &'a [(Vec<DVec2>, f64)],
    /// From where to where.
    pub ends: [DVec2; 2],
    /// Width, px.
    pub width: u32,
}

const HEADER: f32 = 100.0;
const FOOTER: f32 = 64.0;
/// More dots than this hide one another, and make files large.
const MOST_DOTS: usize = 20_000;

/// Draws a plan.
pub fn plan_picture(planned: &Planned<'_>) -> Picture {
    let theme = Theme::LIGHT;
    let width = planned.width.clamp(160, 16_384);
    let unit = width as f32 / 1280.0;
    let (low, high) = extent(planned);
    let room = width as f32 - 2.0 * MARGIN * unit;
    let size = (high - low).as_vec2();
    let height = (room * size.y / size.x).clamp(0.2 * room, room);
    let scale = (room / size.x).min(height / size.y);
    let corner = Vec2::new(MARGIN * unit + (room - size.x * scale) / 2.0, HEADER * unit);
    let page_height = ((HEADER + FOOTER) * unit + height).round() as u32;
    let page = Page { width, height: page_height, background: theme.paper, shapes: Vec::new() };
    let mut drawing = Drawing { page, theme, unit, scale, corner, low, high };
    drawing.map(planned.map);
    drawing.links(planned.links);
    drawing.bodies(planned.bodies);
    drawing.seen(planned.seen);
    drawing.plans(planned.plans);
    drawing.ends(planned.ends);
    drawing.furniture(planned);
    Picture { page: drawing.page }
}

struct Drawing {
    page: Page,
    theme: Theme,
    unit: f32,
    /// px per m.
    scale: f32,
    /// Where the upper left corner of what is shown lies.
    corner: Vec2,
    low: DVec2,
    high: DVec2,
}

impl Drawing {
    fn at(&self, place: DVec2) -> [f32; 2] {
        let from = DVec2::new(place.x - self.low.x, self.high.y - place.y).as_vec2();
        (self.corner + from * self.scale).to_array()
    }

    fn line(&self, places: &[DVec2]) -> Path {
        let mut path = Path::default();
        let mut places = places.iter().map(|&place| self.at(place));
        if let Some(first) = places.next() {
            path.start(first);
            places.for_each(|place| path.line(place));
        }
        path
    }

    fn map(&mut self, map: &Map) {
        let boundary = boundary(map);
        let mut rings = Path::default();
        for ring in &boundary.rings {
            rings.ring(ring.iter().map(|&place| self.at(place)));
        }
        // Even-odd: free space inside an outline, obstacles on an endless plane.
        let fill = if boundary.bounded { self.theme.floor } else { self.theme.wall };
        let (edge, width) = (self.theme.wall_edge, 1.5 * self.unit);
        self.page.shapes.push(Shape::Area { path: rings.clone(), fill });
        self.page.shapes.push(Shape::Line { path: rings, colour: edge, width, round: true });
        for wall in &boundary.walls {
            let path = self.line(wall);
            self.page.shapes.push(Shape::Line { path, colour: edge, width, round: true });
        }
    }

    /// A line that ends with a dot where one lands.
    fn links(&mut self, links: &[[DVec2; 2]]) {
        let colour = self.theme.faint_ink;
        for link in links {
            let (path, centre) = (self.line(link), self.at(link[1]));
            self.page.shapes.push(Shape::Line { path, colour, width: 2.0 * self.unit, round: true });
            let radius = 4.0 * self.unit;
            self.page.shapes.push(Shape::Disc { centre, radius, fill: Some(colour), rim: None });
        }
    }

    fn bodies(&mut self, bodies: &[(Vec<DVec2>, f64)]) {
        let colour = self.theme.faint_ink;
        for (places, radius) in bodies {
            let path = self.line(places);
            let trail = colour.with_alpha(0.25);
            self.page.shapes.push(Shape::Line { path, colour: trail, width: self.unit, round: true });
            if let Some(&first) = places.first() {
                let (centre, radius) = (self.at(first), (*radius as f32 * self.scale).max(self.unit));
                let rim = Some((colour, self.unit));
                let fill = Some(colour.with_alpha(0.3));
                self.page.shapes.push(Shape::Disc { centre, radius, fill, rim });
            }
        }
    }

    /// What was looked at early is light, what was looked at late is dark.
    fn seen(&mut self, seen: &[DVec2]) {
        let every = seen.len().div_ceil(MOST_DOTS).max(1);
        let (early, late) = (colour::cohort(5, false), colour::cohort(0, false));
        for (index, &place) in seen.iter().enumerate().step_by(every) {
            let share = index as f32 / seen.len() as f32;
            let fill = Some(early.mixed(late, share).with_alpha(0.5));
            let (centre, radius) = (self.at(place), 2.0 * self.unit);
            self.page.shapes.push(Shape::Disc { centre, radius, fill, rim: None });
        }
    }

    fn plans(&mut self, plans: &[(String, Vec<DVec2>)]) {
        for (index, (_, places)) in plans.iter().enumerate() {
            let is_result = index + 1 == plans.len();
            let (colour, width) = (plan_colour(index, plans.len()), if is_result { 3.5 } else { 1.8 });
            let path = self.line(places);
            self.page.shapes.push(Shape::Line { path, colour, width: width * self.unit, round: true });
        }
    }

    fn ends(&mut self, [from, to]: [DVec2; 2]) {
        let (ink, radius) = (self.theme.ink, 6.0 * self.unit);
        let rim = Some((ink, 2.0 * self.unit));
        let (begin, end) = (self.at(from), self.at(to));
        self.page.shapes.push(Shape::Disc { centre: begin, radius, fill: Some(self.theme.paper), rim });
        self.page.shapes.push(Shape::Disc { centre: end, radius, fill: Some(ink), rim });
    }

    fn furniture(&mut self, planned: &Planned<'_>) {
        let unit = self.unit;
        let (ink, faint) = (self.theme.ink, self.theme.faint_ink);
        self.text([MARGIN * unit, 50.0 * unit], 26.0, true, ink, &planned.title);
        self.text([MARGIN * unit, 76.0 * unit], 15.0, false, faint, &planned.line);
        let bottom = self.page.height as f32 - 24.0 * unit;
        let metres = round_below(f64::from(0.16 * self.page.width as f32 / self.scale));
        let (left, right) = (MARGIN * unit, MARGIN * unit + metres as f32 * self.scale);
        let bar = Path::segment([left, bottom], [right, bottom]);
        self.page.shapes.push(Shape::Line { path: bar, colour: ink, width: 1.6 * unit, round: true });
        self.text([right + 10.0 * unit, bottom], 15.0, false, ink, &format!("{metres} m"));
        let mut x = right + 110.0 * unit;
        let plans = planned.plans.iter().enumerate();
        let names = plans.map(|(index, (name, _))| (plan_colour(index, planned.plans.len()), name.as_str()));
        for (colour, name) in names {
            let path = Path::segment([x, bottom - 5.0 * unit], [x + 24.0 * unit, bottom - 5.0 * unit]);
            self.page.shapes.push(Shape::Line { path, colour, width: 3.5 * unit, round: true });
            self.text([x + 32.0 * unit, bottom], 15.0, false, ink, name);
            x += 60.0 * unit + crate::font::width(name, 15.0 * unit);
        }
        for (place, colour) in [colour::cohort(5, false), colour::cohort(0, false)].into_iter().enumerate() {
            let centre = [x + (6.0 + 12.0 * place as f32) * unit, bottom - 5.0 * unit];
            self.page.shapes.push(Shape::Disc { centre, radius: 3.0 * unit, fill: Some(colour), rim: None });
        }
        self.text([x + 32.0 * unit, bottom], 15.0, false, ink, "looked at, early and late");
    }

    fn text(&mut self, at: [f32; 2], size: f32, bold: bool, colour: colour::Colour, text: &str) {
        let (size, anchor, text) = (size * self.unit, Anchor::Start, text.to_owned());
        self.page.shapes.push(Shape::Text { at, size, bold, anchor, colour, text });
    }
}

/// The result in one colour, whatever guided it in others.
fn plan_colour(index: usize, plans: usize) -> colour::Colour {
    if index + 1 == plans { colour::cohort(1, false) } else { colour::cohort(index + 2, false) }
}

/// What there is to see, with some air around it.
fn extent(planned: &Planned<'_>) -> (DVec2, DVec2) {
    let boundary = boundary(planned.map);
    let map = boundary.rings.iter().flatten().chain(boundary.walls.iter().flatten());
    let places = map.chain(planned.plans.iter().flat_map(|plan| &plan.1)).chain(&planned.ends);
    let (low, high) =
        places.fold((DVec2::MAX, DVec2::MIN), |(low, high), &place| (low.min(place), high.max(place)));
    let air = DVec2::splat(0.02 * (high - low).max_element().max(2.0));
    (low - air, high + air)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_drawn_in_both_formats() {
        let ring = [[0.0, 0.0], [20.0, 0.0], [20.0, 10.0], [0.0, 10.0]].map(DVec2::from).to_vec();
        let map = Map { walkable: vec![vec![ring]], ..Map::default() };
        let ends = [DVec2::new(1.0, 1.0), DVec2::new(19.0, 9.0)];
        let plans = [("grid".to_owned(), ends.to_vec()), ("space-time <&>".to_owned(), ends.to_vec())];
        let seen: Vec<DVec2> = (0..100).map(|i| DVec2::new(f64::from(i) / 6.0, 3.0)).collect();
        let bodies = [(vec![DVec2::new(5.0, 5.0)], 0.5)];
        let (title, line) = ("A plan".to_owned(), String::new());
        let picture = plan_picture(&Planned {
            map: &map,
            title,
            line,
            seen: &seen,
            plans: &plans,
            links: &[ends],
            bodies: &bodies,
            ends,
            width: 640,
        });
        let svg = picture.to_svg();
        assert!(svg.contains("space-time &lt;&amp;&gt;") && svg.contains("20 m") || svg.contains(" m<"));
        assert!(svg.matches("<circle").count() >= 104, "{}", svg.matches("<circle").count());
        assert_eq!(&picture.to_png()[1..4], b"PNG");
        assert_eq!(picture.size().0, 640);
    }
}
